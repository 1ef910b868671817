"""Exact nearest records of mixed types."""
