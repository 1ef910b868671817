"""Words without the accents and capitals in which languages and files differ."""

import unicodedata

_PLAIN = str.maketrans({"ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i", "ð": "d", "þ": "th"})


def folded(text: str) -> str:
    """Return a text in small letters without accents.

    Example:
        >>> folded("Płeć"), folded("Größe"), folded("ÂGE"), folded("나이")
        ('plec', 'grosse', 'age', '나이')
    """
    parts = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(letter for letter in parts if not unicodedata.combining(letter)))
