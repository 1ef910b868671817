"""What the study can see: the limits and who chose them, planted leaks, and whether the reference generators behave."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from synthrisk.metrics.atlas import dose_in_words, shipped
from synthrisk.metrics.verdicts.references import PlantedLeak
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.tables import limits_table
from synthrisk.metrics.verdicts.verdicts import LOOK
from synthrisk.tasks.pages.section import Section, Shown


class Reached(NamedTuple):
    """One limit, and what the generators reach in its quantity."""

    name: str
    limit: Limit
    rows: Sequence[Mapping[str, Any]]  # of ``limits_table``, or of the verdicts of the look
    copies: Sequence[Mapping[str, Any]]  # of these the rows of the copy
    near_copies: Sequence[Mapping[str, Any]]  # and of the near copy


def _context(shown: Shown) -> Mapping[str, Any]:
    result = shown.result
    rows = [{str(name): cell for name, cell in row.items()} for row in limits_table(result).to_dict("records")]
    rows += _of_look(result)
    reached = []
    for name, limit in result.judged_limits.items():
        own = [row for row in rows if row["name"] == name]
        copies, near = ([r for r in own if result.answers.get(r["synthesizer"]) == a] for a in ("copy", "near_copy"))
        reached.append(Reached(name, limit, own, copies, near))
    return {"reached": reached}


def _of_look(result: StudyResult) -> list[dict[str, Any]]:
    """Return a row for each synthesizer of which the look at its releases says something."""
    looks = [v for v in result.verdicts if v.quantity == LOOK]
    told = ("synthesizer", "limit", "value", "lower", "upper", "word")
    return [
        {name: getattr(v, name) for name in told} | {"role": "synthesizer", "name": LOOK, "note": ""} for v in looks
    ]


THRESHOLDS = Section("thresholds", "Limits: who chose them, and what they can see", "thresholds.html", _context)


def _context_leaks(shown: Shown) -> Mapping[str, Any] | None:
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


LEAKS = Section("leaks", "Which leak would this study have seen?", "leaks.html", _context_leaks)


REFERENCES = Section(
    "references", "Reference generators: does this study see what it should?", "references.html", lambda shown: {}
)
