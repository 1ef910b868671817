"""Who is at risk, why, and what would help."""
