"""Whether reference generators, whose answer is known, behave: a study whose own references fail is INVALID."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import Estimate, spelled
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.empty_measures import empty_measures
from synthrisk.metrics.study.findings import Finding

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
    cannot but be hit: a measure that a copy always satisfies (``Metric.copied``), or one whose ceiling is 1, for
    every key class holds one sensitive value. Where key classes are mixed, or a model is trained, no number is
    known beforehand, and none is checked. ideal: memorization's interval holds 0. independent: no gain over the
    guess, or over the null where noise alone puts records at risk (``Metric.uninformed``), save where claims are
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
    detail = METRICS[f.measure.metric].uninformed
    return (f.guess, "guess") if detail == "guess" else (f.details.get(detail, (float("nan"),))[0], "null")


def _beaten_by_luck(metric: Metric, entities: bool) -> bool:
    """Tell whether independent columns may beat the guess; a claim of membership is about a record, not its entity."""
    return metric.by_release or (entities and metric.claims and "control" not in metric.needs)


def _copied(f: Finding) -> bool:
    """Tell whether an attack on the members of a copy succeeds always."""
    metric = METRICS[f.measure.metric]
    return metric.copied == 1 or (metric.ceiling is not None and f.details.get(metric.ceiling, (0.0,))[0] == 1)


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
