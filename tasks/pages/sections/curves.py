"""The share of members at risk, by threshold of the attack."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import curves_figure, svg
from synthrisk.tasks.pages.panel import Panel, drawn_rows
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = []
    for measure in shown.measures:
        rows = drawn_rows(shown, measure)
        lines = [r.name for r in rows if r.finding and r.finding.curve]
        if lines:
            drawing = svg(curves_figure(rows), f"curves/{measure.key}")
            panels.append(Panel(measure.key, f"curves by {measure.key}: {', '.join(lines)}", drawing))
    return {"curves": panels} if panels else None


CURVES = Section("curves", "Share at risk, by threshold of the attack", "curves.html", _context, folded=True)
