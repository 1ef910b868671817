"""How useful a release is, beside its ceiling; no measure of risk."""
