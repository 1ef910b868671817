"""What the words of the page mean."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.register import METRICS
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any]:
    found = shown.result.findings
    together = any(METRICS[f.measure.metric].together and "rapid_max" in f.details for f in found)
    return {"population": any("population" in f.yardsticks for f in found), "together": together}


DEFINITIONS = Section("definitions", "How to read this", "definitions.html", _context)
