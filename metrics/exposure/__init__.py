"""Who is at risk, why, and what would help: models of the records' risk, groups, single records."""
