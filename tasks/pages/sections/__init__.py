"""The sections of a report: one ``NAME.py`` with its ``NAME.html`` each; ``register`` says in which order."""
