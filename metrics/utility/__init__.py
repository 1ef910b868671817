"""How useful a release is, beside its ceiling."""
