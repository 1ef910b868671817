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


def release_lines(result: StudyResult) -> list[Table | Text]:
    """Return a table of all releases, and a line for each thing that is wrong or worth knowing of a synthesizer.

    Of a reference generator only the numbers are told: a copy is meant to look like one.
    """
    if not result.releases:
        return []
    title = Text("the releases before they are judged: rows that are real records, and members near to them")
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    table.add_column("synthesizer", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    lines: list[Table | Text] = [table]
    for name, each in result.releases.items():
        role = result.settings.get(name, {}).get("role", "synthesizer")
        table.add_row(Text(name), *_cells(each), style=style_of(role))
        if role != "reference":
            lines += _words(name, each)
    return lines


def _cells(each: ReleaseSummary) -> Sequence[str]:
    return (
        _count(each.rows),
        f"{_count(each.rows_of_members)} ({_count(each.rows_of_members_expected, 1)})",
        f"{_count(each.rows_of_controls)} ({_count(each.rows_of_controls_expected, 1)})",
        f"{number(each.nearer_members.mean)} ({number(each.nearer_expected.mean)})",
    )


def _words(name: str, each: ReleaseSummary) -> list[Table | Text]:
    lines: list[Table | Text] = []
    for word, text, style in (("Broken", each.invalid, "bold magenta"), ("Copy?", each.suspicious, "bold red")):
        if text:
            lines.append(Text.assemble((f"{word:<13}", style), f"{name}: {text}\n"))
    lines += [Text(f"Mind         {name}: {text}\n", style="yellow") for text in each.notes[:_NOTES]]
    if len(each.notes) > _NOTES:
        lines.append(Text(f"Mind         {name}: {len(each.notes) - _NOTES} more are in the report\n", style="yellow"))
    return lines


def _count(found: Spread, decimals: int = 0) -> str:
    return "-" if math.isnan(found.mean) else f"{found.mean:,.{decimals}f}"
