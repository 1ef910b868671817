"""Correct attribution probability and its relatives: a value guessed from equal or nearest keys."""
