"""Single records: how memorization is spread over them, and what an attacker finds who picks his targets."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import spread_figure, svg
from synthrisk.tasks.pages.panel import Panel, drawn_rows
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import number


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = []
    for measure in shown.measures:
        rows = drawn_rows(shown, measure)
        spreads = [f"{r.name} median {number(r.finding.spread[3])}" for r in rows if r.finding and r.finding.spread]
        if spreads:
            drawing = svg(spread_figure(rows), f"spread/{measure.key}")
            panels.append(Panel(measure.key, f"spread by {measure.key}: {'; '.join(spreads)}", drawing))
    apart = [f for f in shown.result.findings if f.groups and f.role == "synthesizer"]
    return {"spread": panels, "apart": apart} if panels else None


RECORDS = Section("records", "Single records, and those an attacker would pick", "records.html", _context, folded=True)
