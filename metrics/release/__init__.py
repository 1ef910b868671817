"""What a release is, before any attack: broken columns, verbatim rows, nearness, k-anonymity."""
