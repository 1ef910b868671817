"""What several tests share: tables, references and plain definitions to hold the product against."""
