"""Rows in columns that fit a terminal: texts are folded, numbers and verdicts never are; the league table's cells."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from synthrisk.metrics.intervals.estimates import Estimate, decimals
from synthrisk.metrics.verdicts.quantities import is_signed, limited
from synthrisk.metrics.verdicts.results import BRIEF, LeagueRow, interval_text

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


_MARKS = "_-. /@"  # behind which a name may be broken


def folded(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` cells, broken behind a mark between its words where there is one.

    Example:
        >>> folded("distance_to_closest_record", 23), folded("cart", 10)
        (['distance_to_closest_', 'record'], ['cart'])
    """
    isolated, rest, lines = text.startswith(_ISOLATE), text.strip(_ISOLATE + _END), list[str]()
    while cell_len(rest) > width:
        end = next((at for at in range(1, len(rest)) if cell_len(rest[: at + 1]) > width), 1)
        end = max(rest.rfind(c, 0, end) for c in _MARKS) + 1 or end
        lines.append(rest[:end])
        rest = rest[end:]
    return [f"{_ISOLATE}{line}{_END}" if isolated else line for line in (*lines, rest)]


def in_lines(text: str, width: int, indent: int = 0) -> list[str]:
    """Return a text in lines of whole words, all but the first indented; only a name that is longer than a line breaks.

    Example:
        >>> in_lines("Known  age and occupation", 17, 7), in_lines("of distance_to_closest_record", 20)
        (['Known  age and', '       occupation'], ['of', 'distance_to_closest_', 'record'])
    """
    space = " " * indent
    lines = wrap(text, width, subsequent_indent=space, break_long_words=False, break_on_hyphens=False)
    return [part for line in lines for part in _long(line, width, space)]


def print_words(text: str, style: str = "", indent: int = 0) -> None:
    """Print a text: on a terminal in lines of whole words, elsewhere in one line."""
    console = Console(highlight=False)
    for line in in_lines(text, console.width, indent) if console.is_terminal else [text]:
        console.print(Text(line, style), soft_wrap=True)


def _long(line: str, width: int, space: str) -> list[str]:
    if cell_len(line) <= width:
        return [line]
    bare = line.lstrip(" ")
    before = line[: len(line) - len(bare)]
    first, *rest = folded(bare, width - max(len(before), len(space)))
    return [before + first, *(space + part for part in rest)]


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
        if cell_len(front + c) > width // 2:
            break
        front += c
    for c in reversed(inner):
        if cell_len(front + c + back) > width - 1:
            break
        back = c + back
    short = f"{front}…{back}"
    return f"{_ISOLATE}{short}{_END}" if isolated else short


_LEAST = 10  # cells that a text keeps at least
_MOST = 5  # lines of a text
_GAP = 2
_BELOW = "  "  # before what stands below a row


@dataclass(frozen=True)
class Column:
    """A column: what stands above it, on which side it is even, and whether its texts may be folded."""

    head: str
    right: bool = False
    folds: bool = False


@dataclass(frozen=True)
class Line:
    """A row; names and other texts as they are, numbers and verdicts as ``Text``. One cell alone is a heading."""

    cells: Sequence[str | Text]
    style: str = ""
    below: Sequence[Text] = ()  # what stands below it, over all columns: folded where it is longer than a line


def in_columns(columns: Sequence[Column], lines: Sequence[Line], width: int) -> list[Text]:
    """Return the lines of a table, no wider than ``width`` unless the numbers alone are.

    Where a name would have to be broken inside a word, it has a line of its own above its numbers.
    """
    head, rows = _laid_out(columns, lines, width)
    return [*head, *(text for row in rows for text in row)]


def _laid_out(columns: Sequence[Column], lines: Sequence[Line], width: int) -> tuple[list[Text], list[list[Text]]]:
    """Return what stands above a table, and what each of its rows is told in."""
    rows = [line.cells for line in lines if len(line.cells) == len(columns)]
    heads = [_broken(c.head, max((_width(r[at]) for r in rows), default=0)) for at, c in enumerate(columns)]
    wanted = [max([*map(cell_len, heads[at]), *(_width(row[at]) for row in rows)]) for at, column in enumerate(columns)]
    room = width - _GAP * (len(columns) - 1)
    least = [
        max(map(_longest, [c.head, *(str(r[at]) for r in rows)])) if c.folds else wanted[at]
        for at, c in enumerate(columns)
    ]
    if sum(least) > room and columns[0].folds and len(columns) > 2:
        below = [Line(line.cells[1:] or line.cells, line.style, line.below) for line in lines]
        head, told = _laid_out(columns[1:], below, width)
        names = [folded(inert(str(line.cells[0])), width) if len(line.cells) > 1 else [] for line in lines]
        above = [[Text(part, line.style) for part in own] for own, line in zip(names, lines, strict=True)]
        return [Text(columns[0].head), *head], [[*own, *row] for own, row in zip(above, told, strict=True)]
    widths = _shared(columns, wanted, least, room)
    short = {at: fitted([str(r[at]) for r in rows], _MOST * widths[at]) for at, c in enumerate(columns) if c.folds}
    high = max(map(len, heads))
    above_all = [[""] * (high - len(head)) + head for head in heads]
    head = [_joined(columns, widths, [Text(each[level]) for each in above_all]) for level in range(high)]
    head.append(Text("─" * min(width, sum(widths) + _GAP * (len(columns) - 1))))
    return head, [_row(columns, line, widths, short, width) for line in lines]


def _row(
    columns: Sequence[Column], line: Line, widths: Sequence[int], short: Mapping[int, Mapping[str, str]], width: int
) -> list[Text]:
    if len(line.cells) != len(columns):
        return [Text(_cut(inert(str(line.cells[0])), width), line.style)]
    parts = [
        [Text(part) for part in folded(short[at][str(cell)], widths[at])] if columns[at].folds else [_text(cell)]
        for at, cell in enumerate(line.cells)
    ]
    told = []
    for level in range(max(map(len, parts))):
        joined = _joined(columns, widths, [each[level] if level < len(each) else Text() for each in parts])
        joined.style = line.style
        told.append(joined)
    return told + [part for text in line.below for part in _below(text, width)]


def _below(text: Text, width: int) -> list[Text]:
    """Return a text in lines, indented; how its beginning looks is kept as far as the first line goes."""
    first, *rest = (Text(part) for part in in_lines(f"{_BELOW}{text.plain}", width, len(_BELOW)))
    for span in text.spans:
        first.stylize(span.style, len(_BELOW) + span.start, len(_BELOW) + span.end)
    return [first, *rest]


def _longest(text: str) -> int:
    """Return the width of the longest word of a name, with the mark behind it."""
    return max(cell_len(part) for part in re.split(r"(?<=[-_. /@])", inert(text)))


def _shared(columns: Sequence[Column], wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: what is left by those that never fold goes to the others, the first first."""
    room -= sum(w for w, c in zip(wanted, columns, strict=True) if not c.folds)
    widths, later = list(wanted), [at for at, c in enumerate(columns) if c.folds]
    while later:
        at = later.pop(0)
        spare = room - sum(least[each] for each in later)
        widths[at] = max(min(wanted[at], spare), min(wanted[at], _LEAST))
        room -= widths[at]
    return widths


def _joined(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Text]) -> Text:
    line = Text()
    for at, (column, width, cell) in enumerate(zip(columns, widths, cells, strict=True)):
        space = " " * (width - cell_len(cell.plain))
        line.append(" " * _GAP if at else "")
        line.append_text(Text.assemble(space, cell) if column.right else cell)
        line.append("" if column.right or at == len(columns) - 1 else space)
    return line


def _broken(head: str, width: int) -> list[str]:
    """Return the lines of a head, broken between its last words where it is wider than what stands below it."""
    first, space, last = head.rpartition(" ")
    return [first, last] if space and cell_len(head) > width else [head]


def _width(cell: str | Text) -> int:
    return cell_len(_text(cell).plain)


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(inert(cell))


COLOURS = {
    "RISK": "bold red",
    "NO EVIDENCE": "green",
    "CANNOT TELL": "dim",
    "INCONCLUSIVE": "yellow",
    "INVALID RELEASE": "bold magenta",
    "INVALID": "bold magenta",
    "FAILED": "bold red",
}
HEADS = tuple(column.name for column in BRIEF)


class Generators:
    """A table with a row a generator, that fits the terminal: names break between words, numbers never do."""

    def __init__(self, title: str, numbers: Sequence[str]) -> None:
        self._title = title
        self._columns = [Column("synthesizer", folds=True), *(Column(name, right=True) for name in numbers)]
        self._lines: list[Line] = []

    def add_column(self, name: str, *, right: bool = False, folds: bool = False) -> None:
        """Add a column behind those that are there, before the first row."""
        self._columns.append(Column(name, right, folds))

    def add_row(self, *cells: str | Text, style: str = "", below: Sequence[Text] = ()) -> None:
        """Add a row, and what stands below it."""
        self._lines.append(Line(cells, style, below))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Say how rich prints it."""
        yield from (Text(line, "bold") for line in in_lines(self._title, options.max_width))
        for line in in_columns(self._columns, self._lines, options.max_width):
            line.no_wrap, line.overflow = True, "ignore"
            yield line
        yield Text()


def league_cells(row: LeagueRow) -> Sequence[Text]:
    """Return the numbers of a row, one a head, and its verdict; of a generator that failed the verdict alone.

    A measure without a limit has a dash for a verdict: more would not fit 80 columns.
    """
    cells = [
        interval(row.cells[c.name], c.signed) if c.has_interval else Text(number(row.cells[c.name].value, c.signed))
        for c in (BRIEF if row.cells else ())
    ]
    word = row.verdict if row.word or row.role == "reference" else "-"
    return *(cells or [Text()] * len(BRIEF)), Text(word, style=COLOURS.get(word, ""))


@dataclass(frozen=True)
class OnLimit:
    """What one generator reaches in a limited quantity, and the verdict on it."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    limit: float
    found: Estimate
    word: str


_IN_LEAGUE = ("risk", "memorization")  # quantities that a league table shows with their interval


def limits_in_head(limits: Iterable[tuple[str, float]], keys: Collection[str]) -> str:
    """Return the limits on one measure for the head of its table, by their names; empty where there is none.

    Example:
        >>> limits_in_head({"memorization/cap": 0.05, "tpr/cap": 0.06}.items(), ["cap"])
        'limit 0.05 on memorization, 0.06 on tpr'
    """
    told = dict.fromkeys(f"{value:g} on {limited(name, keys).words}" for name, value in limits)
    return f"limit {', '.join(told)}" if told else ""


def judged_lines(row: LeagueRow, judged: Iterable[OnLimit], keys: Collection[str]) -> list[Text]:
    """Return what stands below a row of a league table: on what each verdict is, with number and limit.

    Those that the word of the row is on come first. A number that the row shows is not said again. Nothing where the
    one limit of the measure is on such a number: the head of the table says so.
    """
    own = [(limited(each.quantity, keys), each) for each in judged]
    if all(what.words in _IN_LEAGUE for what, _ in own) and len(own) < 2:
        return []
    lines = []
    for what, each in sorted(own, key=lambda pair: pair[1].word != row.word):
        shown = "" if what.words in _IN_LEAGUE else f" {interval(each.found, is_signed(each.quantity)).plain}"
        word = Text(each.word, COLOURS.get(each.word, ""))
        lines.append(Text.assemble(word, f" on {what.words}{shown}, limit {each.limit:g}"))
    return lines


def style_of(role: str) -> str:
    """Return the style of a row: reference generators step back."""
    return "dim" if role == "reference" else ""


def interval(found: Estimate, signed: bool = False) -> Text:
    """Return a value with its interval in brackets."""
    if math.isnan(found.value):
        return Text("-")
    limits = interval_text(found.lower, found.upper, lambda value: number(value, signed))
    return Text(f"{number(found.value, signed)} {limits}")


def number(value: float, signed: bool = False) -> str:
    """Return three decimals without a leading zero, as statisticians print shares; a dash where there is no number.

    The minus sign is a true one, as in reports, and a zero has no sign.

    Example:
        >>> number(0.25), number(0.25, signed=True), number(-0.5), number(10.25), number(-0.0001, signed=True)
        ('.250', '+.250', '−.500', '10.250', '.000')
    """
    if math.isnan(value):
        return "-"
    return re.sub(r"^([+−]?)0\.", r"\1.", decimals(value, signed=signed))
