"""Defaults that a study's settings and a task share."""

LEAKY_SHARE = 0.1
"""Share of training rows in a release of ``leaky``."""
