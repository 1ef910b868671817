"""Correct attribution probability and its relatives."""
