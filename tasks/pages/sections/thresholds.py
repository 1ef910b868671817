"""The limits: who chose them, and what they can see."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.study.result_tables import limits_table
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any]:
    rows = limits_table(shown.result).to_dict("records")
    by_name = [(name, [row for row in rows if row["name"] == name]) for name in shown.result.limits]
    return {"limits": [(name, own) for name, own in by_name if own]}


THRESHOLDS = Section(
    "thresholds", "Thresholds: who chose them, and what they can see", "thresholds.html", _context, folded=True
)
