"""The league table on the terminal, of a study that has just ended or of runs in MLflow."""

import math
import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.league import BRIEF, LeagueRow, interval_text

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


def table_of_generators(title: str, numbers: Sequence[str]) -> Table:
    """Return a table with a row a generator to come, and columns of numbers, that fits 80 columns."""
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    table.add_column("synthesizer", overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


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
    """Return three decimals without a leading zero, as statisticians print shares.

    Example:
        >>> number(0.25), number(0.25, signed=True), number(-0.5), number(10.25)
        ('.250', '+.250', '-.500', '10.250')
    """
    sign = "+" if signed else ""
    return "-" if math.isnan(value) else re.sub(r"^([+-]?)0\.", r"\1.", f"{value:{sign}.3f}")
