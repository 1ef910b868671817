"""Prefect tasks: one verb a file, each thin."""
