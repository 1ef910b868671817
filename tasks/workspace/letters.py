"""How like a language a text is, by its letters beyond ASCII and those beside them."""

import unicodedata
from functools import cache
from math import log
from pathlib import Path

_SHARES = [log(share) for share in (1 / 8, 1 / 24, 1 / 72, 1 / 216, 1 / 648, 1 / 1944)]
_SELDOM = log(1 / 6000)  # of a pair that the lists of words have not
_COMMON = (-5.0, -6.5, -8.0)  # of a character among the 60, 300, 900 commonest of an East Asian language
_SYMBOLS = "€£§°²³µ·½«»„“”‘’‚–—…•™®©±×¿¡ªº№‰\xa0"
_BEFORE_LETTERS = "«„“‘’‚¿¡–—•°µ№\xa0"
_BEHIND_LETTERS = "»“”’–—…²³ªº™®\xa0"
_SYMBOL, _FOREIGN, _UNUSUAL, _CONTROL, _BROKEN = -7.0, -12.0, -14.0, -25.0, -60.0
_CASE = -6.0  # of a capital behind a small letter
_DIGIT = -3.0  # of a letter beside a digit
_BESIDE_LATIN = -4.0
_STANDARDS = {"ja": ("euc_jp", 0xCF), "zh_cn": ("gb2312", 0xD7), "zh_tw": ("big5", 0xC6), "ko": ("euc_kr", 0xC8)}


def likeness(text: str, language: str) -> float:
    """Return the logarithm of how likely the characters beyond ASCII are in a language, near those beside them.

    Example:
        >>> likeness("Müller", "de") > likeness("Mьller", "ru")
        True
    """
    character = _east_asian if language in _STANDARDS else _alphabetic
    around = f" {text} "
    return sum(character(language, *around[i - 1 : i + 2]) for i, c in enumerate(around) if c > "\x7f")


def _alphabetic(language: str, before: str, letter: str, behind: str) -> float:
    pairs = _pairs(language).get(letter.lower())
    if pairs is None:
        return _other(before, letter, behind)
    found = pairs[0].get(_edge(before), _SELDOM)
    if behind <= "\x7f":
        found += pairs[1].get(_edge(behind), _SELDOM)
    return found + _odd(before, letter, behind)


def _edge(letter: str) -> str:
    return letter.lower() if letter.isalpha() else "^"


def _odd(before: str, letter: str, behind: str) -> float:
    """Return what a capital within a word costs, and a digit beside a letter."""
    lost = before.isupper() and letter.islower() and behind.isupper()
    case = _CASE if lost or (before.islower() and letter.isupper()) else 0.0
    return case + _DIGIT * (before.isdigit() + behind.isdigit())


def _other(before: str, letter: str, behind: str) -> float:
    """Return what a character that is no letter of the language costs."""
    if letter == "\ufffd":
        return _BROKEN
    if unicodedata.category(letter) in ("Cc", "Cn", "Co"):
        return _CONTROL
    if letter.isalpha() and letter not in _SYMBOLS:
        is_latin = unicodedata.name(letter, "").startswith("LATIN")
        return (_FOREIGN if is_latin else _UNUSUAL) + _odd(before, letter, behind)
    stands_well = (letter in _BEHIND_LETTERS or not before.isalpha()) and (
        letter in _BEFORE_LETTERS or not behind.isalpha()
    )
    return _SYMBOL if letter in _SYMBOLS and stands_well else _UNUSUAL


def _east_asian(language: str, before: str, letter: str, behind: str) -> float:
    if letter == "\ufffd":
        return _BROKEN
    code = ord(letter)
    latin = sum(c.isalpha() and c <= "\x7f" for c in (before, behind))
    found = _commonness(language).get(letter)
    if found is None:
        if 0x3000 <= code <= 0x303F or 0xFF00 <= code <= 0xFF5E:
            found, latin = -7.0, 0
        elif 0x3040 <= code <= 0x30FF:
            found = -5.5 if language == "ja" else -9.0
        elif 0xFF61 <= code <= 0xFF9F:
            found = -9.0
        else:
            found = -9.5 if _is_everyday(language, letter) else _UNUSUAL
            found = _CONTROL if unicodedata.category(letter) in ("Cc", "Cn", "Co") else found
    return found + latin * _BESIDE_LATIN


@cache
def _is_everyday(language: str, letter: str) -> bool:
    """Tell whether a character stands in the part of its national standard that holds the common ones."""
    standard, last = _STANDARDS[language]
    try:
        return letter.encode(standard)[0] <= last and unicodedata.category(letter) == "Lo"
    except UnicodeEncodeError:
        return False


@cache
def _lines() -> dict[str, list[list[str]]]:
    lines: dict[str, list[list[str]]] = {}
    for line in Path(__file__).with_name("letters.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            language, *rest = line.split(" ")
            lines.setdefault(language, []).append(rest)
    return lines


@cache
def _pairs(language: str) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    return {
        letter: (_levels(before, _SHARES), _levels(behind, _SHARES)) for letter, before, behind in _lines()[language]
    }


@cache
def _commonness(language: str) -> dict[str, float]:
    return _levels(_lines()[language][0][0], _COMMON)


def _levels(text: str, values: "tuple[float, ...] | list[float]") -> dict[str, float]:
    return {letter: value for part, value in zip(text.split("|"), values, strict=True) for letter in part}
