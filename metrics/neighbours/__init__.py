"""Exact nearest records of mixed types: distances, and how they are searched. No measure."""
