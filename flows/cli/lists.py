"""Lists for the terminal: the register of metrics, and the league table of an experiment."""

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.league_lines import COLOURS, HEADS, league_cells, number, style_of, table_of_generators
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
    from synthrisk.tasks.tracking.keys import metric_key
    from synthrisk.tasks.tracking.league import league, league_rows, measures_of

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
        _print_utilities(runs, utilities)


def _print_risks(rows: Sequence[LeagueRow], experiment: str) -> None:
    """Print one table a study and measure: intervals are not broken at 80 columns."""
    console = Console(highlight=False)
    for study in dict.fromkeys(row.study for row in rows):
        own = [row for row in rows if row.study == study]
        console.print(Text(f"Experiment {experiment}, study {study}", "bold"))
        for measure in dict.fromkeys(row.measure for row in own if row.measure):
            table = table_of_generators(measure, HEADS)
            table.add_column("verdict", no_wrap=True)
            for row in (each for each in own if each.measure == measure):
                table.add_row(Text(row.synthesizer), *league_cells(row), style=style_of(row.role))
            console.print(table)
        for row in (each for each in own if each.failure):
            console.print(Text(f"FAILED       {row.synthesizer}: {row.failure}", COLOURS["FAILED"]))


def _print_utilities(runs: pd.DataFrame, measures: Sequence[str]) -> None:
    console = Console(highlight=False)
    for study, own in runs.groupby("study_id", sort=False):
        console.print(Text(f"Utility, study {study}: high is good", "bold"))
        for key in measures:
            table = table_of_generators(key, ("utility", "ceiling"))
            for _, run in own.iterrows():
                shown = (number(run.get(f"{quantity}/{key}", math.nan)) for quantity in ("utility", "utility_ceiling"))
                table.add_row(*map(Text, (run["synthesizer"], *shown)), style=style_of(run["role"]))
            console.print(table)


def _ordered() -> list[Metric]:
    return sorted(METRICS.values(), key=lambda m: (m.group, m.name))


def _facts(metric: Metric) -> tuple[str, ...]:
    said = (metric.function.__doc__ or "").strip().splitlines()[0].rstrip(".")
    kind = f"{metric.label}, as member/control difference" if metric.difference_only else metric.label
    scores = "release" if metric.is_utility else metric.scores
    return metric.name, said, ", ".join(metric.needs) or "-", scores, kind, metric.reference
