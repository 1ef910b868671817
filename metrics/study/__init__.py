"""From ledgers to findings, comparisons, power, verdicts and results."""
