"""Whether reference generators, whose answer is known, behave: a study whose own references fail is INVALID.

Which planted leak a study has seen: releases that hold training rows on purpose, attacked beside the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import Estimate, spelled
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.quantities import NOTHING, Limited, empty_measures, limited, quantity_of

_ROUNDING = 1e-9
_TOO_WIDE = 0.1  # an interval that holds 0 and more than this tells nothing of a copy


@dataclass(frozen=True)
class Check:
    """One thing that the study expects of a reference generator, and what it saw."""

    reference: str
    measure: str
    expectation: str
    passed: bool
    seen: str

    @property
    def words(self) -> str:
        """All of it in a phrase."""
        return f"reference {self.reference} on {self.measure}: expected {self.expectation}, seen {self.seen}"


def check_references(
    findings: Sequence[Finding], answers: Mapping[str, Answer], confidence: float = 0.95, *, entities: bool = False
) -> list[Check]:
    """Return what the reference generators should show and did or did not.

    copy: some measure sees members (memorization above 0), which is not asked of a study so small that its
    intervals hold both 0 and plain memorization, nor of measures that cannot vary (``empty_measures``), which say
    nothing and give no verdict; and memorization = 1 - success on control records where members
    cannot but be hit: a measure that a copy always satisfies (``Yardsticks.copied``), or one whose ceiling is 1, for
    every key class holds one sensitive value. Where key classes are mixed, or a model is trained, no number is
    known beforehand, and none is checked. ideal: memorization's interval holds 0. independent: no gain over the
    guess, or over the null where noise alone puts records at risk (``Yardsticks.uninformed``), save where claims are
    made of whole releases: independent columns still hold rare values, which single out by themselves; and where
    claims are about entities with several records: of one with more records more is claimed, and more is right, so
    that any claims beat S (``entities`` tells whether some entity has several). leak: not clearly below ideal nor above
    copy. Limits are widened so that all checks together fail about 1 sound study of 100. ``answers`` holds what each
    reference generator declares, by its name.
    """
    own = [f for f in findings if f.synthesizer in answers and not np.isnan(f.memorization.lower)]

    def of(answer: Answer) -> list[Finding]:
        return [f for f in own if answers[f.synthesizer] == answer]

    copies, ideal, independent = of("copy"), [*of("ideal"), *of("identifiers")], of("independent")
    empty = empty_measures(findings, answers)
    tests = max(1, len(ideal) + len(independent))
    widen = normal_quantile(1 - 0.01 / tests / 2) / normal_quantile(0.5 + confidence / 2)
    checks = []
    if copies:
        seen = [f.measure.key for f in copies if f.memorization.lower > 0]
        text = f"seen by {', '.join(seen)}" if seen else "seen by none"
        asked = [f for f in copies if f.measure not in empty]
        if seen or (asked and not any(f.memorization.upper > _TOO_WIDE for f in asked)):
            expected = "a copy of the training rows shows memorization"
            checks.append(Check(copies[0].synthesizer, "all", expected, bool(seen), text))
    checks.extend(_hit_always(f, widen) for f in copies if _copied(f))
    for f in ideal:
        low, high = _widened(f.memorization, widen)
        passed, seen_text = bool(low <= 0 <= high), spelled(f.memorization)
        checks.append(Check(f.synthesizer, f.measure.key, "memorization around 0", passed, seen_text))
    for f in independent:
        metric, (bar, name) = METRICS[f.measure.metric], _uninformed(f)
        if not (np.isnan(bar) or _beaten_by_luck(metric, entities)):
            low, _ = _widened(f.risk, widen)
            seen_text = f"risk {f.risk.value:.3f}, {name} {bar:.3f}"
            checks.append(Check(f.synthesizer, f.measure.key, f"no gain over the {name}", bool(low <= bar), seen_text))
    for f in of("leak"):
        checks.extend(_between(f, ideal, copies, widen))
    return checks


def _uninformed(f: Finding) -> tuple[float, str]:
    """Return what an attacker without information reaches, and what that is called; NaN where it is not known."""
    detail = METRICS[f.measure.metric].yardsticks.uninformed
    return (f.guess, "guess") if detail == "guess" else (f.details.get(detail, (float("nan"),))[0], "null")


def _beaten_by_luck(metric: Metric, entities: bool) -> bool:
    """Tell whether independent columns may beat the guess; a claim of membership is about a record, not its entity."""
    return metric.by_release or (entities and metric.claims and "control" not in metric.needs)


def _copied(f: Finding) -> bool:
    """Tell whether an attack on the members of a copy succeeds always."""
    stated = METRICS[f.measure.metric].yardsticks
    return stated.copied == 1 or (stated.ceiling is not None and f.details.get(stated.ceiling, (0.0,))[0] == 1)


def _hit_always(f: Finding, widen: float) -> Check:
    low, high = _widened(f.memorization, widen)
    expected = 1 - f.risk_control.value
    passed = bool(low - _ROUNDING <= expected <= high + _ROUNDING)
    seen = f"{spelled(f.memorization)}, 1 - control {expected:.3f}"
    return Check(f.synthesizer, f.measure.key, "memorization is 1 - success on control records", passed, seen)


def _between(f: Finding, fresh: Sequence[Finding], copies: Sequence[Finding], widen: float) -> list[Check]:
    low, high = _widened(f.memorization, widen)
    checks = []
    for other, below in ((fresh, True), (copies, False)):
        for o in (o for o in other if o.measure == f.measure):
            o_low, o_high = _widened(o.memorization, widen)
            passed = bool(high >= o_low if below else low <= o_high)
            words = f"memorization not {'below' if below else 'above'} {o.synthesizer}"
            seen = f"{spelled(f.memorization)} and {spelled(o.memorization)}"
            checks.append(Check(f.synthesizer, f.measure.key, words, passed, seen))
    return checks


def _widened(found: Estimate, factor: float) -> tuple[float, float]:
    return found.value - factor * (found.value - found.lower), found.value + factor * (found.upper - found.value)


LEAKS: tuple[Answer, ...] = ("copy", "near_copy", "leak")
"""What reference generators declare that hold training rows."""

REFERENCES = {
    "copy": "the training rows themselves",
    "near_copy": "the training rows, each a little changed",
    "leak": "new records among which training rows are hidden",
    "part": "new records among which something of training rows is hidden",
    "repelled": "new records without those near to training rows",
    "ideal": "new records of the same population",
    "identifiers": "new records of the same population, with the members' identifiers",
    "independent": "columns that know nothing of each other",
}
"""What the releases of a reference generator are, by what it declares."""


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
