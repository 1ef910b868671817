"""Lists for the terminal: the register of metrics, and the league table of an experiment."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.conf.study import Tracking
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.metrics.errors import nearest

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
            f"needs {needs}; scores {scored}; {', '.join(_own_options(metric)) or 'no options'}",
            source,
        ):
            console.print(Padding(Text(text), (0, 0, 0, 4)))


def print_comparison(
    experiment: str, measure: str | None, history: bool, tracking_uri: str | None, workspace: str
) -> None:
    """Print the runs of an experiment, one row a synthesizer and measure."""
    from synthrisk.tasks.log import league, metric_key

    runs = league(Tracking(uri=tracking_uri), Path(workspace), experiment)
    if not len(runs):
        raise InputError(f"the experiment must have runs of synthesizers, got none in {experiment!r}")
    if not history:
        runs = runs[runs["study_id"] == runs.sort_values("start")["study_id"].iloc[-1]]
    measures = [c.partition("/")[2] for c in runs.columns if c.startswith("risk/")]
    useful = [c.partition("/")[2] for c in runs.columns if c.startswith("utility/")]
    measure = metric_key("", measure)[1:] if measure else None
    known = [*measures, *useful]
    if measure is not None and measure not in known:
        raise InputError(f"--measure must be one of {', '.join(known)}, got {measure!r}{nearest(measure, known)}")
    runs = runs.sort_values(["study_id", "role", "start"], ascending=[True, False, True])
    if risks := [m for m in measures if measure in (None, m)]:
        _print_risks(runs, risks, experiment)
    if utilities := [m for m in useful if measure in (None, m)]:
        _print_utilities(runs, utilities, experiment)


def _print_risks(runs: pd.DataFrame, measures: Sequence[str], experiment: str) -> None:
    table = Table(header_style="bold", pad_edge=False, title=f"Experiment {experiment}", title_justify="left")
    for name in ("study", "synthesizer", "measure"):
        table.add_column(name, no_wrap=True)
    for name in ("risk", "control", "memorization"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for _, run in runs.iterrows():
        for key in measures:
            memorization = _interval(run, "memorization", key, "+.3f")
            shown = (
                _interval(run, "risk", key, ".3f"),
                _value(run, f"risk_control/{key}", ".3f"),
                memorization,
            )
            style = "dim" if run["role"] == "reference" else ""
            table.add_row(*map(Text, (run["study_id"], run["synthesizer"], key, *shown, run["verdict"])), style=style)
    Console().print(table)


def _print_utilities(runs: pd.DataFrame, measures: Sequence[str], experiment: str) -> None:
    table = Table(
        header_style="bold", pad_edge=False, title=f"Utility in experiment {experiment}", title_justify="left"
    )
    for name in ("study", "synthesizer", "measure"):
        table.add_column(name, no_wrap=True)
    for name in ("utility", "ceiling"):
        table.add_column(name, justify="right")
    for _, run in runs.iterrows():
        for key in measures:
            cells = run["study_id"], run["synthesizer"], key
            shown = _value(run, f"utility/{key}", ".3f"), _value(run, f"utility_ceiling/{key}", ".3f")
            table.add_row(*map(Text, (*cells, *shown)), style="dim" if run["role"] == "reference" else "")
    Console().print(table)


def _own_options(metric: Metric) -> list[str]:
    return [f"{o}=" for o in metric.choices]


def _ordered() -> list[Metric]:
    return sorted(METRICS.values(), key=lambda m: (m.group, m.name))


def _facts(metric: Metric) -> tuple[str, ...]:
    said = (metric.function.__doc__ or "").strip().splitlines()[0].rstrip(".")
    kind = f"{metric.label}, as member/control difference" if metric.difference_only else metric.label
    scores = "release" if metric.is_utility else metric.scores
    return metric.name, said, ", ".join(metric.needs) or "-", scores, kind, metric.reference


def _interval(run: pd.Series, quantity: str, key: str, form: str) -> str:
    value, lower, upper = (
        _value(run, f"{q}/{key}", form) for q in (quantity, f"{quantity}_lower", f"{quantity}_upper")
    )
    return value if lower == "-" else f"{value} [{lower}, {upper}]"


def _value(run: pd.Series, key: str, form: str) -> str:
    value = run.get(key, float("nan"))
    return "-" if pd.isna(value) else f"{value:{form}}"
