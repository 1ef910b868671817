"""Names that fit into a column of a terminal, and that no terminal takes for anything but text."""

import unicodedata
from collections.abc import Iterable

from rich.cells import cell_len

_RIGHT_TO_LEFT = ("R", "AL", "AN")
_ISOLATE, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def inert(text: str) -> str:
    r"""Return a text on one line, without control characters; its direction is kept to itself.

    Example:
        >>> inert("a\tb\x1b[31mc")
        'a b [31mc'
    """
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in plain):
        return f"{_ISOLATE}{plain}{_END}"
    return plain


def fitted(names: Iterable[str], width: int) -> dict[str, str]:
    """Return each name in at most ``width`` cells: start and end of a longer one, numbered where two look alike.

    Example:
        >>> fitted(["cart", "a_very_long_name_1", "a_very_long_name_2"], 10)
        {'cart': 'cart', 'a_very_long_name_1': 'a_ver…me_1', 'a_very_long_name_2': 'a_ver…me_2'}
        >>> fitted(["abcdefgh_xyz", "abcdEFGh_xyz"], 6)
        {'abcdefgh_xyz': 'ab…z~1', 'abcdEFGh_xyz': 'ab…z~2'}
    """
    every = list(dict.fromkeys(names))
    short = {name: _cut(inert(name), width) for name in every}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    for own in (each for each in alike.values() if len(each) > 1):
        for place, name in enumerate(own, 1):
            number = f"~{place}"
            short[name] = _cut(inert(name), width - len(number), force=True) + number
    return short


def folded(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` cells, broken behind a mark between its words where there is one.

    Example:
        >>> folded("distance_to_closest_record", 23), folded("cart", 10)
        (['distance_to_closest_', 'record'], ['cart'])
    """
    isolated, rest, lines = text.startswith(_ISOLATE), text.strip(_ISOLATE + _END), list[str]()
    while cell_len(rest) > width:
        end = next((at for at in range(1, len(rest)) if cell_len(rest[: at + 1]) > width), 1)
        mark = max(rest.rfind(c, 0, end) for c in "_-. /") + 1
        end = mark if mark > end // 2 else end
        lines.append(rest[:end])
        rest = rest[end:]
    return [f"{_ISOLATE}{line}{_END}" if isolated else line for line in (*lines, rest)]


def _cut(text: str, width: int, force: bool = False) -> str:
    """Return start and end of a text that is wider than ``width``."""
    if cell_len(text) <= width and not force:
        return text
    isolated = text.startswith(_ISOLATE)
    inner = text.strip(_ISOLATE + _END)
    if cell_len(inner) <= width:
        return text
    front, back = "", ""
    for c in inner:
        if cell_len(front + c) > (width - 1 + 1) // 2:
            break
        front += c
    for c in reversed(inner):
        if cell_len(front + c + back) > width - 1:
            break
        back = c + back
    short = f"{front}…{back}"
    return f"{_ISOLATE}{short}{_END}" if isolated else short
