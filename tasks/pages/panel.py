"""One figure of the report with its words, and the rows that the figures of a measure are drawn of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan

from markupsafe import Markup
from matplotlib.figure import Figure

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda_view import AttackView
from synthrisk.metrics.study.league import is_reference
from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.pages.figures import Row, svg, words_of
from synthrisk.tasks.pages.section import Shown
from synthrisk.tasks.pages.templates import cut


@dataclass(frozen=True)
class Panel:
    """One figure of one measure, or of one attack with its ``views``."""

    title: str
    text: str  # what it shows, for those who do not see it
    drawing: Markup
    views: Sequence[AttackView] = ()


def rows_of(shown: Shown, names: Sequence[str], measure: Measure) -> list[Row]:
    """Return a row a name: its finding in a measure, or why there is none."""
    found = {f.synthesizer: f for f in shown.result.findings if f.measure == measure}
    absent = {n: "failed" if n in shown.result.failures else "not estimable" for n in names}
    return [Row(n, is_reference(shown.result, n), found.get(n), absent[n]) for n in names]


def drawn_rows(shown: Shown, measure: Measure, quantity: str = "memorization") -> list[Row]:
    """Return the rows of a figure: all, or of many synthesizers the highest and the reference generators."""
    own = rows_of(shown, shown.own, measure)
    high = set(sorted(range(len(own)), key=lambda i: -_height(own[i], quantity))[: shown.most])
    kept = {own[i].name for i in high}
    drawn = rows_of(shown, [n for n in shown.names if n in kept or n not in shown.own], measure)
    return [replace(row, name=cut(row.name)) for row in drawn]


def _height(row: Row, quantity: str) -> float:
    """Return the place of a row among others; one that failed or has no value stands last."""
    value = getattr(row.finding, quantity).value if row.finding else float("nan")
    return float("-inf") if isnan(value) else float(value)


def panel(title: str, kind: str, key: str, figure: Figure) -> Panel:
    """Return a figure of one measure, with its numbers in words."""
    return Panel(title, f"{kind} by {key}: {words_of(figure)}", svg(figure, f"{kind}/{key}"))


def panels_of(
    shown: Shown,
    kind: str,
    has: Callable[[Finding], bool],
    draw: Callable[[Sequence[Row]], Figure],
    quantity: str = "memorization",
) -> list[Panel]:
    """Return a figure of each measure in which some generator drawn has what the figure shows."""
    every = ((measure.key, drawn_rows(shown, measure, quantity)) for measure in shown.measures)
    return [panel(key, kind, key, draw(rows)) for key, rows in every if any(r.finding and has(r.finding) for r in rows)]
