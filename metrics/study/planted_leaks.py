"""Which planted leak a study has seen: releases that hold training rows on purpose, attacked beside the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.quantities import NOTHING, Limited, limited, quantity_of

LEAKS: tuple[Answer, ...] = ("copy", "near_copy", "leak")
"""What reference generators declare that hold training rows."""


@dataclass(frozen=True)
class PlantedLeak:
    """What one measure made of the releases of one reference generator that hold training rows."""

    reference: str  # name of the reference generator
    answer: Answer  # one of ``LEAKS``
    share: float  # of training rows in its releases; NaN where it is not known
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    found: Estimate  # the quantity; memorization where the quantity says nothing of members
    seen: bool  # whether the interval lies above what the quantity is without any leak

    @property
    def words(self) -> str:
        """What was planted, in words.

        Example:
            >>> PlantedLeak("leaky", "leak", 0.1, "tpr/membership", Estimate(0.1, 0.1, 0.1), True).words
            'leak of 10.0%'
        """
        if self.answer == "leak":
            return "leak" if isnan(self.share) else f"leak of {self.share:.1%}"
        return "copy" if self.answer == "copy" else "near copy"


def planted_leaks(
    findings: Sequence[Finding],
    answers: Mapping[str, Answer],
    leaked: Mapping[str, float],
    on: Sequence[tuple[str, Measure]],
) -> list[PlantedLeak]:
    """Return what the study saw of each planted leak, a copy first, in each of the limited quantities.

    Args:
        findings: All findings of the study.
        answers: What each reference generator declares, by its name.
        leaked: Share of training rows in the releases of a reference generator that leaks, by its name.
        on: Names of limits, ``<quantity>/<measure>[@<group>]``, each with a measure that it holds for.
    """
    planted = [f for f in findings if answers.get(f.synthesizer) in LEAKS]
    planted.sort(key=lambda f: (LEAKS.index(answers[f.synthesizer]), -leaked.get(f.synthesizer, 1.0)))
    return [
        _planted(f, answers[f.synthesizer], leaked, _told_members(limited(name, (measure.key, measure.label)), measure))
        for name, measure in on
        for f in planted
        if f.measure == measure
    ]


def missed(leaks: Sequence[PlantedLeak], share: float, half_width: float) -> str:
    """Return why a leak that was planted was not seen, where one as large as ``share`` is said to be seen.

    ``half_width`` is that of the release's own interval, from which the share is reckoned. Empty where no such leak was
    planted, or all were seen.
    """
    overlooked = [each for each in leaks if each.answer == "leak" and each.share >= share and not each.seen]
    if not overlooked:
        return ""
    one = overlooked[0]
    own = one.found.upper - one.found.value
    told = f"the planted {one.words} was not seen"
    if own > half_width:
        return f"{told}, for its own interval is wider: half width {own:.3f}, here {half_width:.3f}"
    return f"{told}: one such leak in five is missed by chance"


def _told_members(what: Limited, measure: Measure) -> Limited:
    return Limited(what.quantity if what.quantity in NOTHING else "memorization", measure.key, what.group)


def _planted(f: Finding, answer: Answer, leaked: Mapping[str, float], what: Limited) -> PlantedLeak:
    found = quantity_of(f, what.quantity, what.group)
    share = leaked.get(f.synthesizer, 1.0 if answer == "copy" else float("nan"))
    return PlantedLeak(f.synthesizer, answer, share, what.name, found, found.lower > NOTHING[what.quantity])
