"""Estimates with their uncertainty; nothing here knows a table or an attack."""
