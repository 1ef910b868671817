"""Each measure: what its attack does, where it is from, and its charts."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.pages.figures import memorization_figure, risk_figure, svg
from synthrisk.tasks.pages.panel import Panel, rows_of, told
from synthrisk.tasks.pages.section import Section, Shown


@dataclass(frozen=True)
class Measured:
    """What the section says of one measure."""

    measure: Measure
    panels: list[Panel]


def _context(shown: Shown) -> Mapping[str, Any] | None:
    result = shown.result
    if not shown.measures:
        return None
    return {
        "measures": [Measured(m, _panels(shown, m)) for m in shown.measures],
        "claims": any(f.is_of_claims and not isnan(f.guess) for f in result.findings),
        "population": any("population" in f.yardsticks for f in result.findings),
    }


def _panels(shown: Shown, measure: Measure) -> list[Panel]:
    rows = rows_of(shown, shown.names, measure)
    panels = []
    for kind, draw in (("memorization", memorization_figure), ("risk", risk_figure)):
        limit = shown.result.limits.get(f"{kind}/{measure.key}")
        drawing = svg(draw(rows, limit.value if limit else None), f"{kind}/{measure.key}")
        panels.append(Panel(kind, f"{kind} by {measure.key}: {told(rows, kind)}", drawing))
    return panels


MEASURES = Section("measures", "Each measure, and what it found", "measures.html", _context)
