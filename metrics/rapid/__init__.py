"""RAPID: the share of records whose sensitive value a model guesses better than it should; its null."""
