"""How results and registers show themselves in a console and a notebook: short, and without a record."""

import inspect
from collections.abc import Callable, Sequence
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthrisk.metrics.metric import Metric
    from synthrisk.metrics.score import Score

YARDSTICKS = ("control", "population", "guess", "ceiling")
"""Yardsticks of a score, in the order in which they are read."""
_DEFAULTS = {"binning": "quantile", "seed": 0}  # of options that the function itself does not take; else None


def number(value: float) -> str:
    """Return a number as it is shown: three decimals, or that there is none."""
    return "none" if isnan(value) else f"{value:.3f}"


def score_text(score: "Score") -> str:
    """Return a score in one line: no record, no cell, no setting."""
    told = [score.metric, f"value={number(score.value)}"]
    told += [f"{name}={number(score.details[name])}" for name in YARDSTICKS if name in score.details]
    told += [] if score.records is None else [f"{len(score.records):,} records"]
    told += [f"({score.reason})"] if score.reason else []
    return f"<Score {' '.join(told)}>"


def score_html(score: "Score") -> str:
    """Return a score as a table of its numbers."""
    rows = [("value", number(score.value)), ("published", number(score.published))]
    told = {name: v for name, v in score.details.items() if not name.startswith("ceiling_") and "curve_" not in name}
    rows += [(name, number(value)) for name, value in told.items()]  # curves are drawn by ``plot``
    rows += [] if score.records is None else [("records", f"{len(score.records):,}")]
    rows += [("reason", score.reason)] if score.reason else []
    rows += [("warning", score.warning)] if score.warning else []
    return table([score.metric, ""], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in HTML, whatever its texts hold."""
    top = "".join(f"<th style='text-align:left'>{escape(str(each))}</th>" for each in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def said_of(function: Callable[..., Any]) -> str:
    """Return what a function says of itself in one line: the first of its docstring."""
    return ((function.__doc__ or "").strip().splitlines() or [""])[0].rstrip(".")


def signature_of(metric: "Metric") -> inspect.Signature:
    """Return how a metric is called: with two tables, and with its options by name."""
    own = inspect.signature(metric.function).parameters
    both = inspect.Parameter.POSITIONAL_OR_KEYWORD
    frames = [inspect.Parameter(name, both, annotation="pd.DataFrame") for name in ("real", "synthetic")]
    named = []
    for option in metric.options:
        known = own.get(option)
        if known is not None:
            named.append(known.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            must = option in metric.needs and not (option == "control" and metric.without_control)
            default = inspect.Parameter.empty if must else _DEFAULTS.get(option)
            named.append(inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default))
    return inspect.Signature([*frames, *named], return_annotation="Score")


def documentation_of(metric: "Metric") -> str:
    """Return what a metric says of itself: how it is called, its function's docstring, range and source."""
    low, high = metric.range
    about = inspect.getdoc(metric.function) or ""
    source = f"\n\nSource: {metric.reference}" if metric.reference else ""
    return (
        f"METRICS[{metric.name!r}]{signature_of(metric)}\n\n{about}\n\nRange of the value: {low:g} to {high:g}.{source}"
    )
