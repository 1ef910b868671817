"""What the study would have seen: planted leaks, by measure."""

from collections.abc import Mapping, Sequence
from typing import Any

from synthrisk.metrics.study.planted_leaks import PlantedLeak
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    result, leaks = shown.result, shown.overview.leaks
    if not result.powers and not leaks:
        return None
    return {
        "planted": list(dict.fromkeys((each.reference, each.words) for each in leaks)),
        "seen": _by_quantity(leaks),
        "said": [v for v in result.verdicts if v.word == "NO EVIDENCE"] if result.valid else [],
        "power_shares": sorted({share for power in result.powers.values() for share, _ in power.seen}),
    }


def _by_quantity(leaks: Sequence[PlantedLeak]) -> dict[str, dict[str, PlantedLeak]]:
    """Return what was seen of each reference generator, by quantity of a measure."""
    found: dict[str, dict[str, PlantedLeak]] = {}
    for each in leaks:
        found.setdefault(each.quantity, {})[each.reference] = each
    return found


LEAKS = Section("leaks", "Which leak would this study have seen?", "leaks.html", _context)
