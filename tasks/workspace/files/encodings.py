"""The encoding of a file: told by its first bytes, by being UTF-8 or UTF-16, else guessed by its letters.

How like a language a text is, by its letters beyond ASCII and those beside them.
"""

import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from functools import cache
from math import log
from pathlib import Path

import numpy as np

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
_LETTERS = {  # of the languages with a script of their own: at least 1/25, 1/70, and less of the letters
    "he": "יהולארתבשמ|נםקעחדכפט|ןגצסזךףץ", "ar": "اليمنترو|بعدهسفةكحقأجش|خصذطىضغإزثئآءظؤ"
}  # fmt: skip
_RARITY = [log(share) for share in (1 / 13, 1 / 40, 1 / 150)]
_AT_THE_END, _ALONE = "ךםןףץةى", -4.0  # letters that end a word, and what one costs elsewhere, and a word of one letter
_STANDARDS = {"ja": ("euc_jp", 0xCF), "zh_cn": ("gb2312", 0xD7), "zh_tw": ("big5", 0xC6), "ko": ("euc_kr", 0xC8)}


def likeness(text: str, language: str) -> float:
    """Return the logarithm of how likely the characters beyond ASCII are in a language, near those beside them.

    Example:
        >>> likeness("Müller", "de") > likeness("Mьller", "ru")
        True
    """
    character = _east_asian if language in _STANDARDS else _of_a_script if language in _LETTERS else _alphabetic
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


def _of_a_script(language: str, before: str, letter: str, behind: str) -> float:
    """Return how likely a letter of a script is by how often it is used, and where it stands in its word."""
    found = _rarity(language).get(letter)
    if found is None:
        return _other(before, letter, behind)
    misplaced = letter in _AT_THE_END and behind.isalpha()
    latin = sum(c.isalpha() and c <= "\x7f" for c in (before, behind))
    return found + _ALONE * (misplaced + (not before.isalpha() and not behind.isalpha())) + latin * _BESIDE_LATIN


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


@cache
def _rarity(language: str) -> dict[str, float]:
    return _levels(_LETTERS[language], _RARITY)


def _levels(text: str, values: "tuple[float, ...] | list[float]") -> dict[str, float]:
    return {letter: value for part, value in zip(text.split("|"), values, strict=True) for letter in part}


_MARKS = (
    (BOM_UTF8, "utf-8-sig"),
    (BOM_UTF32_LE, "utf-32"),  # begins as UTF-16 does
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF16_LE, "utf-16"),
    (BOM_UTF16_BE, "utf-16"),
)
_WEST = ("Western European", "da de es et fi fr is it nl no pt sv")
_CENTRAL = ("Central European", "cs hr hu pl ro sk sl")
_BALTIC = ("Baltic", "et lt lv")
_CYRILLIC = ("Cyrillic", "bg ru uk")
_GREEK, _TURKISH = ("Greek", "el"), ("Turkish", "tr")
_ARABIC, _HEBREW = ("Arabic", "ar"), ("Hebrew", "he")
_JAPANESE, _KOREAN = ("Japanese", "ja"), ("Korean", "ko")
_CHINESE, _TRADITIONAL = ("Chinese", "zh_cn"), ("Chinese", "zh_tw")
_GUESSES = {  # encoding: logarithm of how usual it is, the languages written in it
    "cp1252": (0, _WEST),
    "cp1250": (-1, _CENTRAL),
    "cp1251": (-0.5, _CYRILLIC),
    "cp1253": (-1, _GREEK),
    "cp1254": (-1, _TURKISH),
    "cp1255": (-9, _HEBREW),
    "cp1256": (-9, _ARABIC),
    "cp1257": (-4, _BALTIC),
    "iso8859_2": (-1.5, _CENTRAL),
    "iso8859_5": (-4, _CYRILLIC),
    "iso8859_7": (-2, _GREEK),
    "iso8859_15": (-1.5, _WEST),
    "latin_1": (-3, _WEST),
    "koi8_r": (-1, _CYRILLIC),
    "koi8_u": (-2, _CYRILLIC),
    "cp850": (-5, _WEST),
    "cp852": (-5, _CENTRAL),
    "cp866": (-3, _CYRILLIC),
    "mac_roman": (-5, _WEST),
    "cp932": (0, _JAPANESE),
    "euc_jp": (-2, _JAPANESE),
    "gb18030": (0, _CHINESE),
    "big5": (0, _TRADITIONAL),
    "cp950": (-1, _TRADITIONAL),
    "cp949": (-2, _KOREAN),
}
_SMALL = {"et": 3.0, "is": 3.0}  # languages of few tables, and what that costs
_PLACES = 1000  # of bytes beyond ASCII that are looked at
_NEAR = 1000  # bytes around such a place
_OTHER_LANGUAGE = 4.0  # what a piece in another language of the encoding costs
_DAMAGED = 4  # times as many characters beyond ASCII as bytes that are none, from which a file is damaged UTF-8
_LIKELY = -16.0  # mean of a character, below which a file is no text in any language that is known here
_BETWEEN = re.compile(rb"[\x00-\x2f;]")  # bytes that are no part of a character in any encoding here
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x7f]")


def encoding_of(raw: bytes) -> tuple[str, bool] | None:
    r"""Return the encoding that the whole file can be read in, and whether it is a guess; None where it is no text.

    A guess is by what the letters beyond ASCII are beside in each language; it is the same at each call.

    Example:
        >>> encoding_of("Straße;Köln\nGäßchen;Düren\n".encode("latin-1"))
        ('cp1252', True)
    """
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if marked:
        return (marked, False) if _decodes(raw, marked) else None
    if b"\0" in raw:
        wide = next((name for name in ("utf-16-le", "utf-16-be") if _is_wide(raw, name)), None)
        return None if wide is None else (wide, False)
    if _decodes(raw, "utf-8"):
        return "utf-8", False
    if _CONTROLS.search(raw) or beside_utf8(raw):
        return None
    guess = next((name for name in _guesses(raw) if _decodes(raw, name)), None)
    return None if guess is None else (guess, True)


def spoken(encoding: str) -> str:
    """Return the name of a guessed encoding, and what is written in it.

    Example:
        >>> spoken("cp1252")
        'cp1252 (Western European)'
    """
    return f"{encoding} ({_GUESSES[encoding][1][0]})"


def _decodes(raw: bytes, encoding: str) -> bool:
    if encoding == "utf-8" and raw.isascii():
        return True
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def beside_utf8(raw: bytes) -> int:
    """Return how many bytes of a file are not UTF-8 where it is UTF-8 for the most part, damaged or mixed; else 0."""
    text = raw.decode("utf-8", errors="replace")
    others = text.count("\ufffd")
    beyond = len(text) - len(text.encode("ascii", errors="ignore"))
    return others if beyond > _DAMAGED * others else 0


def _is_wide(raw: bytes, encoding: str) -> bool:
    """Tell whether a file with NUL bytes is UTF-16 without a mark: its lines end as such, and no NUL is left."""
    end = "\n".encode(encoding)
    if len(raw) % 2 or end not in raw or not _decodes(raw, encoding):
        return False
    text = raw.decode(encoding)
    return "\0" not in text and 2 * text.count("\n") >= raw.count(b"\n")


def _guesses(raw: bytes) -> list[str]:
    """Return encodings in which the bytes beyond ASCII are likely letters, the likeliest first."""
    pieces = _pieces(raw)
    found: dict[str, float] = {}
    first: dict[tuple[str, ...], str] = {}  # of encodings that give the same text
    for name, (usual, (_, languages)) in _GUESSES.items():
        texts = tuple(piece.decode(name, errors="replace") for piece in pieces)
        beyond = sum(character > "\x7f" for text in texts for character in text)
        like = _best(texts, languages.split())
        if like >= _LIKELY * beyond:
            found[name] = usual + like
            same = first.setdefault(texts, name)
            found[same] = max(found[same], found[name])
    return sorted(found, key=lambda name: -found[name])


def _best(texts: tuple[str, ...], languages: list[str]) -> float:
    """Return how like the likeliest language the texts are; a few of them may be of another one."""
    likely = np.array([[likeness(text, language) for text in texts] for language in languages])
    mixed = np.maximum(likely, likely.max(axis=0) - _OTHER_LANGUAGE).sum(axis=1)
    return float((mixed - [_SMALL.get(language, 0.0) for language in languages]).max())


def _pieces(raw: bytes) -> list[bytes]:
    """Return the pieces around some bytes beyond ASCII, each once, cut where no character is cut."""
    places = np.flatnonzero(np.frombuffer(raw, np.uint8) > 0x7F)
    pieces: dict[bytes, None] = {}
    for place in places[np.linspace(0, len(places) - 1, min(_PLACES, len(places))).astype(int)].tolist():
        start = max(0, place - _NEAR)
        cuts = [match.end() for match in _BETWEEN.finditer(raw, start, place)]
        if cuts or start == 0:
            end = _BETWEEN.search(raw, place, place + _NEAR)
            pieces[raw[cuts[-1] if cuts else 0 : end.start() if end else place + _NEAR]] = None
    return list(pieces) or [raw[:_NEAR]]
