"""What the study would have seen: planted leaks, by measure."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from synthrisk.metrics.digest import dose_in_words, shipped
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
        "atlas": _blind(shown),
        "power_shares": sorted({share for power in result.powers.values() for share, _ in power.seen}),
    }


def _blind(shown: Shown) -> Mapping[str, Any] | None:
    """Return what the atlas says of this study's measures: leaks that they see, by the smallest dose, and others."""
    digest = shipped()
    found = digest.smallest({f.measure.metric for f in shown.result.findings}) if digest else {}
    if digest is None or not found:
        return None
    words = {leak: digest.leaks[leak]["words"] for leak in found}
    seen = [(words[leak], dose_in_words(leak, dose)) for leak, dose in found.items() if not isnan(dose)]
    return {"ran": digest.words, "seen": seen, "blind": [words[leak] for leak, dose in found.items() if isnan(dose)]}


def _by_quantity(leaks: Sequence[PlantedLeak]) -> dict[str, dict[str, PlantedLeak]]:
    """Return what was seen of each reference generator, by quantity of a measure."""
    found: dict[str, dict[str, PlantedLeak]] = {}
    for each in leaks:
        found.setdefault(each.quantity, {})[each.reference] = each
    return found


LEAKS = Section("leaks", "Which leak would this study have seen?", "leaks.html", _context)
