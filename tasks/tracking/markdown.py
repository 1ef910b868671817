"""Markdown in which every value is text: nothing that a column or a reason holds becomes markup."""

import unicodedata
from collections.abc import Sequence

LONGEST = 120  # characters of a value, for a page to stay readable
_INERT = frozenset(" .,+-=%;'\"?$()/")  # of what is neither a letter nor a digit; a - or + never starts a line here


def literal(text: str) -> str:
    """Return a value as Markdown that shows it as it is: marks as entities, direction kept to itself.

    Example:
        >>> literal("a|b <script>"), literal("*x*")
        ('a&#124;b &#60;script&#62;', '&#42;x&#42;')
    """
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in short)
    shown = "".join(c if c.isalnum() or c in _INERT or ord(c) > 127 else f"&#{ord(c)};" for c in plain)
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in plain):
        return f"\N{FIRST STRONG ISOLATE}{shown}\N{POP DIRECTIONAL ISOLATE}"
    return shown


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table; heads and cells are Markdown. MLflow's pages leave no room between its columns."""
    apart, rule = "&emsp; | ", " | ".join(["---"] * len(heads))
    first, *others = (f"| {apart.join(cells)} |" for cells in (heads, *rows))
    return [first, f"| {rule} |", *others]


def link(text: str, address: str) -> str:
    """Return a link."""
    return f"[{literal(text)}]({address})"


def fitting(lines: Sequence[str], limit: int, end: str) -> str:
    """Return as many whole lines as fit into ``limit`` characters; if some do not, ``end`` as the last paragraph."""
    whole = "\n".join(lines)
    if len(whole) <= limit:
        return whole
    room, kept = limit - len(end) - 2, list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, "", end])
