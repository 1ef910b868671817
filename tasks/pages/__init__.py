"""Pages for a browser: the report, a notebook's pictures, who is at risk. Chapters of the report: ``sections``."""
