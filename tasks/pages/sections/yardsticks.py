"""The gain over each yardstick, with intervals."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.beside import cause
from synthrisk.tasks.pages.panel import rows_of
from synthrisk.tasks.pages.section import Section, Shown

_MOST = 120  # findings that the table holds, of each measure its share
_WORDS = {"guess": "best constant guess", "control": "same attack on control records", "population": "population"}


def _context(shown: Shown) -> Mapping[str, Any] | None:
    """Return the findings of synthesizers that stand beside a yardstick, by measure.

    Those of reference generators are in the artifact.
    """
    found = [(m, [r.finding for r in rows_of(shown, shown.own, m) if r.finding]) for m in shown.measures]
    beside = [(m, [f for f in every if f.yardsticks]) for m, every in found]
    told = [(m, every) for m, every in beside if every]
    if not told:
        return None
    most = max(1, _MOST // len(told))
    left = sum(max(0, len(every) - most) for _, every in told)
    isolated = any(y.attack for f in shown.result.findings for y in f.yardsticks.values())
    return {
        "yardsticks": [(m, every[:most]) for m, every in told],
        "left": left,
        "yardstick_words": _WORDS,
        "isolated": isolated,
        "cause": cause,
    }


YARDSTICKS = Section("yardsticks", "Each yardstick, with the gain over it", "yardsticks.html", _context)
