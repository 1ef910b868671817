"""The chapters of the report: a file holds the sections of one; each section has its ``NAME.html``."""
