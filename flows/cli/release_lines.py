"""What the releases have shown before they were judged, as the terminal tells it."""

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from synthrisk.flows.cli.league_lines import number, style_of
from synthrisk.metrics.release.summary import ReleaseSummary, Spread
from synthrisk.metrics.study.results import StudyResult

_NOTES = 3
_COLUMNS = ("rows", "equal a member (by twins)", "equal a control record (by twins)", "nearer members (expected)")


def release_table(result: StudyResult) -> list[Table]:
    """Return a table of all releases; none where none was looked at."""
    if not result.releases:
        return []
    title = Text("the releases before they are judged: rows that are real records, and members near to them")
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    table.add_column("synthesizer", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for name, each in result.releases.items():
        table.add_row(Text(name), *_cells(each), style=style_of(_role(result, name)))
    return [table]


def release_lines(result: StudyResult) -> list[Text]:
    """Return a line for each thing that is wrong or worth knowing of the releases of a synthesizer.

    Of a reference generator nothing is told: a copy is meant to look like one.
    """
    own = [(name, each) for name, each in result.releases.items() if _role(result, name) != "reference"]
    return [line for name, each in own for line in _words(name, each)]


def _role(result: StudyResult, name: str) -> str:
    return str(result.settings.get(name, {}).get("role", "synthesizer"))


def _cells(each: ReleaseSummary) -> Sequence[str]:
    return (
        _count(each.rows),
        f"{_count(each.rows_of_members)} ({_count(each.rows_of_members_expected, 1)})",
        f"{_count(each.rows_of_controls)} ({_count(each.rows_of_controls_expected, 1)})",
        f"{number(each.nearer_members.mean)} ({number(each.nearer_expected.mean)})",
    )


def _words(name: str, each: ReleaseSummary) -> list[Text]:
    lines: list[Text] = []
    for word, text, style in (("Broken", each.invalid, "bold magenta"), ("Copy?", _first_sign(each), "bold red")):
        if text:
            lines.append(Text.assemble((f"{word:<13}", style), f"{name}: {text}"))
    lines += [Text(f"Mind         {name}: {text}", style="yellow") for text in each.notes[:_NOTES]]
    if len(each.notes) > _NOTES:
        lines.append(Text(f"Mind         {name}: {len(each.notes) - _NOTES} more are in the report", style="yellow"))
    return lines


def _first_sign(each: ReleaseSummary) -> str:
    """Return by what a copy of the members was seen first, and how many signs more there are."""
    first, *others = each.suspicious.split("; ")
    return first + (f"; {len(others)} more signs are in the report" if len(others) > 1 else "; ".join(("", *others)))


def _count(found: Spread, decimals: int = 0) -> str:
    return "-" if math.isnan(found.mean) else f"{found.mean:,.{decimals}f}"
