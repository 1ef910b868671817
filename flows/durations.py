"""How long something takes, in words."""


def in_words(seconds: float) -> str:
    """Return a duration as one would say it.

    Example:
        >>> in_words(7), in_words(44), in_words(170), in_words(9000)
        ('about 10 seconds', 'about 40 seconds', 'about 3 minutes', 'about 2.5 hours')
    """
    if seconds < 90:
        return f"about {max(round(seconds / 10) * 10, 10)} seconds"
    return f"about {round(seconds / 60)} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"
