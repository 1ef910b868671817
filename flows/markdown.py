"""Markdown that shows any text as it is: no label of somebody's table becomes markup, a link or a new line."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 80
"""Letters of a text that a cell of a table has room for."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "|": "&#124;", "`": "&#96;", "\\": "&#92;"}
_ENTITIES |= {each: f"&#{ord(each)};" for each in "*_{}[]#!~@$^"}
_LINKS = re.compile(r"(?<=[A-Za-z]):(?=//)|(?<=www)\.", re.IGNORECASE)  # where a bare address would become a link
_BLOCK = re.compile(r"^([-+=]|\d+(?=[.)]))")  # where a line would become a list or a heading
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # which are spelling, not layout
_FIRST_STRONG, _POP = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def plain(text: object, longest: int | None = None) -> str:
    """Return a text in one line of Markdown that reads as the text does; a long one loses its middle.

    Control and direction characters are dropped, and right-to-left text is kept from turning what stands beside it.

    Example:
        >>> plain("a|b <script>"), plain("0123456789", longest=6)
        ('a&#124;b &lt;script&gt;', '012…89')
    """
    shown = "".join(c for c in " ".join(str(text).split()) if c in _JOINERS or unicodedata.category(c)[0] != "C")
    if longest is not None and len(shown) > longest:
        head = longest // 2
        shown = f"{shown[:head]}…{shown[head + 1 - longest :]}"
    turned = any(unicodedata.bidirectional(c) in ("R", "AL") for c in shown)
    escaped = "".join(_ENTITIES.get(c, c) for c in shown)
    escaped = _LINKS.sub(lambda found: f"&#{ord(found[0])};", escaped)
    escaped = _BLOCK.sub(lambda found: f"&#{ord(found[0][0])};{found[0][1:]}", escaped)
    return f"{_FIRST_STRONG}{escaped}{_POP}" if turned else escaped


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Return a table of cells that are Markdown already, the last ``numbers`` columns aligned to the right."""
    rule = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))
