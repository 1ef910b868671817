"""Where a study keeps its work: tables, releases, ledgers, and references to them."""
