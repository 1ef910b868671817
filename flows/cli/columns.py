"""Rows in columns that fit a terminal: texts are folded, numbers and verdicts never are."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from synthrisk.flows.cli.fitting import fitted, folded, inert

_LEAST = 10  # cells that a text keeps at least
_MOST = 3  # lines of a text
_GAP = 2


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


def in_columns(columns: Sequence[Column], lines: Sequence[Line], width: int) -> list[Text]:
    """Return the lines of a table, no wider than ``width`` unless the numbers alone are."""
    rows = [line.cells for line in lines if len(line.cells) == len(columns)]
    heads = [_broken(c.head, max((_width(r[at]) for r in rows), default=0)) for at, c in enumerate(columns)]
    wanted = [max([*map(cell_len, heads[at]), *(_width(row[at]) for row in rows)]) for at, column in enumerate(columns)]
    widths = _shared(columns, wanted, width - _GAP * (len(columns) - 1))
    short = {at: fitted([str(r[at]) for r in rows], _MOST * widths[at]) for at, c in enumerate(columns) if c.folds}
    high = max(map(len, heads))
    above = [[""] * (high - len(head)) + head for head in heads]
    told = [_joined(columns, widths, [Text(head[level]) for head in above]) for level in range(high)]
    told.append(Text("─" * min(width, sum(widths) + _GAP * (len(columns) - 1))))
    for line in lines:
        if len(line.cells) != len(columns):
            told.append(Text(_cut(str(line.cells[0]), width), line.style))
            continue
        parts = [
            [Text(part) for part in folded(short[at][str(cell)], widths[at])] if columns[at].folds else [_text(cell)]
            for at, cell in enumerate(line.cells)
        ]
        for level in range(max(map(len, parts))):
            joined = _joined(columns, widths, [each[level] if level < len(each) else Text() for each in parts])
            joined.style = line.style
            told.append(joined)
    return told


def _shared(columns: Sequence[Column], wanted: Sequence[int], width: int) -> list[int]:
    """Return the width of each column: what is left by those that never fold goes to the others, the first first."""
    room = width - sum(w for w, c in zip(wanted, columns, strict=True) if not c.folds)
    widths, later = list(wanted), [at for at, c in enumerate(columns) if c.folds]
    while later:
        at = later.pop(0)
        spare = room - sum(min(wanted[each], _LEAST) for each in later)
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


def _cut(text: str, width: int) -> str:
    return fitted([text], width)[text]


def _width(cell: str | Text) -> int:
    return cell_len(_text(cell).plain)


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(inert(cell))
