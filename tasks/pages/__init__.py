"""The report and its parts: one file a section, with figures and templates."""
