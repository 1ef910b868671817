"""Where a study keeps its work: tables, releases, ledgers, findings, references to them. Files of others: ``files``."""
