"""The limits: who chose them, and what they can see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synthrisk.metrics.study.result_tables import limits_table
from synthrisk.metrics.study.results import Limit
from synthrisk.tasks.pages.section import Section, Shown


@dataclass(frozen=True)
class Reached:
    """One limit, and what the generators reach in its quantity."""

    name: str
    limit: Limit
    rows: Sequence[Mapping[str, Any]]  # of ``limits_table``
    copies: Sequence[Mapping[str, Any]]  # of these the rows of the copy
    near_copies: Sequence[Mapping[str, Any]]  # and of the near copy


def _context(shown: Shown) -> Mapping[str, Any]:
    result = shown.result
    rows = [{str(name): cell for name, cell in row.items()} for row in limits_table(result).to_dict("records")]
    reached = []
    for name, limit in result.limits.items():
        own = [row for row in rows if row["name"] == name]
        copies, near = ([r for r in own if result.answers.get(r["synthesizer"]) == a] for a in ("copy", "near_copy"))
        reached.append(Reached(name, limit, own, copies, near))
    return {"reached": reached}


THRESHOLDS = Section("thresholds", "Limits: who chose them, and what they can see", "thresholds.html", _context)
