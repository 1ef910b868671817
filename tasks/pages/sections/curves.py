"""The share of members at risk, by threshold of the attack."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import curves_figure
from synthrisk.tasks.pages.panel import drawn_rows, panel
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = []
    for measure in shown.measures:
        rows = drawn_rows(shown, measure)
        if any(r.finding and r.finding.curve for r in rows):
            panels.append(panel(measure.key, "curves", measure.key, curves_figure(rows)))
    return {"curves": panels} if panels else None


CURVES = Section("curves", "Share at risk, by threshold of the attack", "curves.html", _context, folded=True)
