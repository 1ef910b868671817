"""Single records: how memorization is spread over them, and what an attacker finds who picks his targets."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import spread_figure
from synthrisk.tasks.pages.panel import panels_of
from synthrisk.tasks.pages.section import Section, Shown

_MOST = 120  # findings in the table of vulnerable records


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = panels_of(shown, "spread", lambda f: bool(f.spread), spread_figure)
    apart = [f for f in shown.result.findings if f.groups and f.role == "synthesizer"]
    return {"spread": panels, "apart": apart, "most": _MOST} if panels else None


RECORDS = Section("records", "Single records, and those an attacker would pick", "records.html", _context)
