"""Single records: how memorization is spread over them, and what an attacker finds who picks his targets."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import spread_figure, svg, words_of
from synthrisk.tasks.pages.panel import Panel, drawn_rows
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = []
    for measure in shown.measures:
        rows = drawn_rows(shown, measure)
        if any(r.finding and r.finding.spread for r in rows):
            figure = spread_figure(rows)
            text = f"spread by {measure.key}: {words_of(figure)}"
            panels.append(Panel(measure.key, text, svg(figure, f"spread/{measure.key}")))
    apart = [f for f in shown.result.findings if f.groups and f.role == "synthesizer"]
    return {"spread": panels, "apart": apart} if panels else None


RECORDS = Section("records", "Single records, and those an attacker would pick", "records.html", _context, folded=True)
