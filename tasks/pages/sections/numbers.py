"""All numbers: the table measure by measure, and all that the measures say besides."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.league import COLUMNS, league
from synthrisk.metrics.study.result_tables import BESIDE, copy_share, details_table
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import number


def beside(finding: Finding) -> str:
    """Return in words what must stand beside a value: unseen keys, ceiling, null, accuracy; on control in brackets.

    Of several releases the worst is told too, with its simultaneous interval.
    """
    texts = []
    for name, words in BESIDE.items():
        members, controls = finding.details.get(name, (float("nan"), float("nan")))
        if not isnan(members):
            apart = not isnan(controls) and number(controls) != number(members)
            texts.append(f"{words} {number(members)}" + (f" (control {number(controls)})" if apart else ""))
    if len(finding.release_risk) > 1 and not isnan(finding.worst.value):
        limits = f" [{number(finding.worst.lower)}, {number(finding.worst.upper)}]"
        known = not isnan(finding.worst.upper)
        texts.append(f"worst of {len(finding.release_risk)} releases {number(finding.worst.value)}{limits * known}")
    return ", ".join(texts)


def _context(shown: Shown) -> Mapping[str, Any] | None:
    result = shown.result
    if not shown.measures:
        return None
    return {
        "columns": COLUMNS,
        "league": league(result),
        "empty": result.empty,
        "beside": beside,
        "copy_share": lambda f: copy_share(result, f),
        "details": details_table(result).to_dict("records"),
    }


NUMBERS = Section("numbers", "All numbers", "numbers.html", _context, folded=True)
