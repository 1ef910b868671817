"""Lists for the terminal: the register of metrics, and the league table of an experiment."""

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.league_lines import HEADS, league_cells, number, style_of
from synthrisk.flows.reach import check_tracking
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.study.league import LeagueRow

_HEADS = ("metric", "what it says", "needs", "scores", "kind", "source")


def markdown_table() -> str:
    """Return the register as the Markdown table of the README."""
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    return "\n".join([*lines, *(f"| {' | '.join(_facts(m))} |" for m in _ordered())])


def print_metrics() -> None:
    """Print the register, a paragraph a metric."""
    console = Console(highlight=False)
    for metric in _ordered():
        name, said, needs, scores, kind, source = _facts(metric)
        console.print(f"[bold]{name}[/bold]  {kind}")
        scored = scores if metric.is_utility else f"{scores} records"
        for text in (
            said,
            f"needs {needs}; scores {scored}; {', '.join(f'{o}=' for o in metric.choices) or 'no options'}",
            source,
        ):
            console.print(Padding(Text(text), (0, 0, 0, 4)))


def print_comparison(
    experiment: str, measure: str | None, history: bool, tracking_uri: str | None, workspace: str
) -> None:
    """Print the league table of an experiment, read back from its runs."""
    from synthrisk.tasks.log import league, league_rows, measures_of, metric_key

    tracking = Tracking(uri=tracking_uri)
    check_tracking(tracking)
    runs = league(tracking, Path(workspace), experiment)
    if not len(runs):
        raise InputError(f"the experiment must have runs of synthesizers, got none in {experiment!r}")
    if not history:
        runs = runs[runs["study_id"] == runs.sort_values("start")["study_id"].iloc[-1]]
        runs = runs.dropna(axis="columns", how="all")
    useful = [c.partition("/")[2] for c in runs.columns if c.startswith("utility/")]
    known = [*measures_of(runs), *useful]
    wanted = [metric_key("", measure)[1:]] if measure else known
    if not set(wanted) <= set(known):
        got = wanted[0]
        raise InputError(f"--measure must be one of {', '.join(known)}, got {got!r}{nearest(got, known)}")
    if not set(wanted) <= set(useful):
        _print_risks([row for row in league_rows(runs) if row.failure or row.measure in wanted], experiment)
    if utilities := [m for m in useful if m in wanted]:
        runs = runs.sort_values(["study_id", "role", "start"], ascending=[True, False, True])
        _print_utilities(runs, utilities, experiment)


def _print_risks(rows: Sequence[LeagueRow], experiment: str) -> None:
    table = _table(f"Experiment {experiment}", HEADS)
    table.add_column("verdict")
    for row in rows:
        names = row.study, row.synthesizer, row.measure or "all"
        table.add_row(*map(Text, names), *league_cells(row), style=style_of(row.role))
    Console().print(table)


def _print_utilities(runs: pd.DataFrame, measures: Sequence[str], experiment: str) -> None:
    table = _table(f"Utility in experiment {experiment}", ("utility", "ceiling"))
    for _, run in runs.iterrows():
        for key in measures:
            names = run["study_id"], run["synthesizer"], key
            shown = (number(run.get(f"{quantity}/{key}", math.nan)) for quantity in ("utility", "utility_ceiling"))
            table.add_row(*map(Text, (*names, *shown)), style=style_of(run["role"]))
    Console().print(table)


def _table(title: str, numbers: Sequence[str]) -> Table:
    """Return a table with a row a study, synthesizer and measure to come, and columns of numbers."""
    table = Table(header_style="bold", pad_edge=False, title=title, title_justify="left")
    for name in ("study", "synthesizer", "measure"):
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _ordered() -> list[Metric]:
    return sorted(METRICS.values(), key=lambda m: (m.group, m.name))


def _facts(metric: Metric) -> tuple[str, ...]:
    said = (metric.function.__doc__ or "").strip().splitlines()[0].rstrip(".")
    kind = f"{metric.label}, as member/control difference" if metric.difference_only else metric.label
    scores = "release" if metric.is_utility else metric.scores
    return metric.name, said, ", ".join(metric.needs) or "-", scores, kind, metric.reference
