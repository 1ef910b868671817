"""Markdown that shows any text as it is: no label of somebody's table becomes markup, a link or a new line."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 80
"""Letters of a text that a cell of a table has room for."""
# Prefect's older pages show entities as they are written; both take backslashes.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&#~!|]")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")  # what would begin a list or underline a heading
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)  # what would become a link
_LONG = re.compile(r"(\w{60})(?=\w)")  # what would run out of the page
_BREAK = "\N{ZERO WIDTH SPACE}"
_SPELLED = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # letters need them: they are no layout
_SPLIT, _FIRST_STRONG, _POP = "\N{WORD JOINER}", "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def plain(text: object, longest: int | None = None) -> str:
    r"""Return a text in one line of Markdown that reads as the text does; a long one loses its middle.

    Control and direction characters are dropped, and right-to-left text is kept from turning what stands beside it.

    Example:
        >>> print(plain("a|b <script>"), plain("0123456789", longest=6))
        a\|b \<script\> 012…89
    """
    shown = "".join(c for c in " ".join(str(text).split()) if c in _SPELLED or unicodedata.category(c)[0] != "C")
    if longest is not None and len(shown) > longest:
        shown = f"{shown[: longest // 2]}…{shown[longest // 2 + 1 - longest :]}"
    escaped = _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", _LONG.sub(rf"\1{_BREAK}", shown)))
    split = _ADDRESS.sub(_SPLIT, escaped)
    turned = any(unicodedata.bidirectional(c) in ("R", "AL") for c in shown)
    return f"{_FIRST_STRONG}{split}{_POP}" if turned else split


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Return a table of cells that are Markdown already, the last ``numbers`` columns aligned to the right."""
    rule = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))
