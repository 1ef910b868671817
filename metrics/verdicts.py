"""What a study concludes: whether its controls behave, and a verdict for each threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import norm

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.estimates import Estimate
from synthrisk.metrics.findings import Finding
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.power import Power
from synthrisk.metrics.register import METRICS

# Half widths above 0 at which 80 % of studies see a leak: (z.975 + z.90)/z.975, for half widths vary too;
# measured in tests/metrics/test_verdicts.py.
_SEEN = 1.65

_ROUNDING = 1e-9
_UNKNOWN = "; which leak would have been seen is not known: "

Word = Literal["RISK", "NO EVIDENCE", "INCONCLUSIVE", "INVALID"]
QUANTITIES = ("risk", "risk_control", "risk_gain", "memorization")


@dataclass(frozen=True)
class Check:
    """One thing that the study expects of its controls, and what it saw."""

    control: str
    measure: str
    expectation: str
    passed: bool
    seen: str

    @property
    def words(self) -> str:
        """All of it in a phrase."""
        return f"control {self.control} on {self.measure}: expected {self.expectation}, seen {self.seen}"


@dataclass(frozen=True)
class Verdict:
    """A verdict on one synthesizer and one threshold, with the reason in a sentence."""

    synthesizer: str
    quantity: str  # <quantity>/<measure>
    limit: float
    word: Word
    reason: str


def check_controls(
    findings: Sequence[Finding], kinds: dict[str, str], confidence: float = 0.95, *, entities: bool = False
) -> list[Check]:
    """Return what the controls should show and did or did not.

    copy: some measure sees members (memorization above 0); and memorization = 1 - success on control records where
    members cannot but be hit: a measure that a copy always satisfies (``Metric.copied``), or one whose ceiling is 1,
    for every key class holds one sensitive value. Where key classes are mixed, or a model is trained, no number is
    known beforehand, and none is checked. fresh: memorization's interval holds 0. marginals: no gain over the guess,
    save where claims are made of whole releases: independent columns still hold rare values, which single out by
    themselves; and where claims are about entities with several records: of one with more records more is claimed, and
    more is right, so that any claims beat S. leaky: not clearly below fresh nor above copy. Limits are widened so that
    all checks together fail about 1 sound study of 100.

    Args:
        findings: All findings of the study.
        kinds: Kind (copy, leaky, fresh, marginals) of each control's name.
        confidence: Confidence level of the findings' intervals.
        entities: Whether some entity has several records.
    """
    own = [f for f in findings if f.synthesizer in kinds and not np.isnan(f.memorization.lower)]
    tests = max(1, sum(kinds[f.synthesizer] in ("fresh", "marginals") for f in own))
    widen = _bonferroni(tests, confidence)
    checks = []
    by_kind = {k: [f for f in own if kinds[f.synthesizer] == k] for k in ("copy", "leaky", "fresh", "marginals")}
    if by_kind["copy"]:
        seen = [f.measure.key for f in by_kind["copy"] if f.memorization.lower > 0]
        text = f"seen by {', '.join(seen)}" if seen else "seen by none"
        checks.append(Check("copy", "all", "a copy of the training rows shows memorization", bool(seen), text))
    checks.extend(_hit_always(f, widen) for f in by_kind["copy"] if _copied(f))
    for f in by_kind["fresh"]:
        low, high = _widened(f.memorization, widen)
        checks.append(
            Check(
                f.synthesizer,
                f.measure.key,
                "memorization around 0",
                bool(low <= 0 <= high),
                _spell(f.memorization),
            )
        )
    for f in by_kind["marginals"]:
        if not (np.isnan(f.guess) or _beaten_by_luck(METRICS[f.measure.metric], entities)):
            low, _ = _widened(f.risk, widen)
            seen_text = f"risk {f.risk.value:.3f}, guess {f.guess:.3f}"
            checks.append(
                Check(f.synthesizer, f.measure.key, "no gain over the guess", bool(low <= f.guess), seen_text)
            )
    for f in by_kind["leaky"]:
        checks.extend(_between(f, by_kind["fresh"], by_kind["copy"], widen))
    return checks


def _beaten_by_luck(metric: Metric, entities: bool) -> bool:
    """Tell whether independent columns may beat the guess; a claim of membership is about a record, not its entity."""
    return metric.by_release or (entities and metric.group == "claims" and "control" not in metric.needs)


def judge(
    findings: Sequence[Finding],
    limits: dict[str, float],
    checks: Sequence[Check],
    copies: Sequence[str] = (),
    powers: Mapping[str, Power] | None = None,
) -> list[Verdict]:
    """Return a verdict for each synthesizer and limit.

    RISK: the interval lies above the limit. NO EVIDENCE: below it; the reason names the smallest leak that
    the study would have seen, or says why none is known. INCONCLUSIVE: it straddles, or there is no interval.
    INVALID: a control failed.

    Args:
        findings: Findings of the study.
        limits: ``<quantity>/<measure>`` -> limit.
        checks: ``check_controls``.
        copies: Names of the controls that copy.
        powers: What the study detects, by key of the measure, where its ``power`` option told; elsewhere the leak is
            reckoned from the copy's memorization.
    """
    failed = [c for c in checks if not c.passed]
    verdicts = []
    for name, limit in limits.items():
        quantity, _, key = name.partition("/")
        for f in findings:
            if holds_for(key, f.measure) and f.role == "synthesizer":
                word, reason = _conclude(getattr(f, quantity), limit, quantity)
                if failed:
                    word, reason = "INVALID", failed[0].words
                elif word == "NO EVIDENCE":
                    told = (powers or {}).get(f.measure.key)
                    own = [c for c in findings if c.synthesizer in copies and c.measure == f.measure]
                    reason += f"; {told.words}" if told else _power(f, own)
                verdicts.append(Verdict(f.synthesizer, f"{quantity}/{f.measure.key}", limit, word, reason))
    return verdicts


def holds_for(key: str, measure: Measure) -> bool:
    """Tell whether a limit on ``key`` is one on this measure; without an attribute it holds for all attributes."""
    return key in (measure.key, measure.label)


def check_limits(limits: Sequence[str], measures: Sequence[Measure]) -> None:
    """Refuse a threshold on a quantity or measure that the study does not have, or that is no privacy claim."""
    keys = {name: METRICS[m.metric] for m in measures for name in (m.key, m.label)}
    for name in limits:
        quantity, _, key = name.partition("/")
        if quantity == "utility" or (key in keys and keys[key].is_utility):
            raise InputError(f"thresholds must be on risks, of which too much is bad, got {name!r}, a utility")
        if quantity not in QUANTITIES:
            raise InputError(
                f"thresholds must be <quantity>/<measure> with a quantity of {', '.join(QUANTITIES)}, got {name!r}"
            )
        if key not in keys:
            raise InputError(
                f"thresholds must name a measure of the study, got {name!r}{nearest(key, keys)}; "
                f"it has {', '.join(keys)}"
            )
        if not is_signal(keys[key], quantity):
            raise InputError(
                f"thresholds must be on signals; of {keys[key].name} only the member/control difference is one "
                f"(memorization/{key}), got {name!r}"
                if keys[key].label == "signal"
                else f"thresholds must be on signals, got {name!r}, a sanity check"
            )


def is_signal(metric: Metric, quantity: str) -> bool:
    """Tell whether a quantity of a metric says something of privacy: no sanity check does, and some values do not."""
    return metric.label == "signal" and (not metric.difference_only or quantity == "memorization")


def worst(words: Sequence[str]) -> str:
    """Return the word that a synthesizer is summed up by; empty where there is no threshold."""
    order = ("INVALID", "FAILED", "RISK", "INCONCLUSIVE", "NO EVIDENCE")
    return next((w for w in order if w in words), "")


def _conclude(found: Estimate, limit: float, quantity: str) -> tuple[Word, str]:
    if np.isnan(found.lower) or np.isnan(found.upper):
        return "INCONCLUSIVE", f"{quantity} has no interval: {found.note or 'not scored'}"
    where = f"{quantity} {_spell(found)}"
    if found.lower > limit:
        return "RISK", f"{where} lies above {limit:g}"
    if found.upper < limit:
        return "NO EVIDENCE", f"{where} lies below {limit:g}"
    return "INCONCLUSIVE", f"{where} straddles {limit:g}"


def _power(f: Finding, copies: Sequence[Finding]) -> str:
    if not copies:
        return f"{_UNKNOWN}no copy of the training rows was released to compare with"
    if np.isnan(f.memorization.lower):
        return f"{_UNKNOWN}memorization has no interval"
    if not copies[0].memorization.lower > 0:
        return "; this measure does not see even a copy"
    half = f.memorization.upper - f.memorization.value
    share = _SEEN * half / copies[0].memorization.value
    if share > 1:
        return "; even a copy of the training rows might have been missed"
    return f"; a leak of about {share:.1%} of the training rows would have been seen"


def _copied(f: Finding) -> bool:
    """Tell whether an attack on the members of a copy succeeds always."""
    return METRICS[f.measure.metric].copied == 1 or f.details.get("ceiling", (0.0,))[0] == 1


def _hit_always(f: Finding, widen: float) -> Check:
    low, high = _widened(f.memorization, widen)
    expected = 1 - f.risk_control.value
    passed = bool(low - _ROUNDING <= expected <= high + _ROUNDING)
    seen = f"{_spell(f.memorization)}, 1 - control {expected:.3f}"
    return Check(f.synthesizer, f.measure.key, "memorization is 1 - success on control records", passed, seen)


def _between(f: Finding, fresh: Sequence[Finding], copies: Sequence[Finding], widen: float) -> list[Check]:
    low, high = _widened(f.memorization, widen)
    checks = []
    for other, below in ((fresh, True), (copies, False)):
        for o in (o for o in other if o.measure == f.measure):
            o_low, o_high = _widened(o.memorization, widen)
            passed = bool(high >= o_low if below else low <= o_high)
            words = f"memorization not {'below' if below else 'above'} {o.synthesizer}"
            checks.append(
                Check(
                    f.synthesizer,
                    f.measure.key,
                    words,
                    passed,
                    f"{_spell(f.memorization)} and {_spell(o.memorization)}",
                )
            )
    return checks


def _bonferroni(tests: int, confidence: float) -> float:
    return float(norm.ppf(1 - 0.01 / tests / 2) / norm.ppf(0.5 + confidence / 2))


def _widened(found: Estimate, factor: float) -> tuple[float, float]:
    return (
        found.value - factor * (found.value - found.lower),
        found.value + factor * (found.upper - found.value),
    )


def _spell(found: Estimate) -> str:
    return f"{found.value:+.3f} [{found.lower:+.3f}, {found.upper:+.3f}]"
