"""What a study concludes: a verdict for each synthesizer and limit, which claims only what the study could have seen.

NO EVIDENCE is a word about the study as much as about the release. It is given only where a copy of the training rows,
attacked beside the release, lies above the limit, where some limited measure has a near copy above its own limit, where
the attack could answer for the members at all, and where the release lies no nearer to its members than to others.
RISK is no word for a value that a copy shares with independent columns: see ``empty_measures``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import Estimate, spelled
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.empty_measures import empty_measures, same_place
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planted_leaks import PlantedLeak, missed, planted_leaks
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.study.quantities import (
    AGAINST_CONTROL,
    GROUPS,
    NOTHING,
    OF_GROUPS,
    QUANTITIES,
    Limited,
    limited,
    quantity_of,
)
from synthrisk.metrics.study.reference_checks import Check

# Half widths above 0 at which 80 % of studies see a leak: (z.975 + z.90)/z.975, for half widths vary too;
# measured in tests/metrics/study/test_verdicts.py.
_SEEN = 1.65
_HALF = 0.5  # of a copy's distance from no information: from there a limit allows too much of a copy
REACH = 0.1
"""Share of the members that an attack must have an answer for, or what it does not find says nothing."""

_MORE = "more repetitions or records"

Word = Literal["RISK", "NO EVIDENCE", "INCONCLUSIVE", "INVALID RELEASE", "INVALID"]


@dataclass(frozen=True)
class Verdict:
    """A verdict on one synthesizer and one limit, with the reason in a sentence."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    limit: float
    word: Word
    reason: str
    value: float = float("nan")  # the quantity, and the limits of its interval
    lower: float = float("nan")
    upper: float = float("nan")
    brief: str = ""  # the reason in a few words
    advice: str = ""  # what the study lacks for another word, where that is known


@dataclass(frozen=True)
class Beside:
    """What verdicts are given beside."""

    answers: Mapping[str, Answer] = field(default_factory=dict)  # what each reference generator declares, by its name
    # what leak the study detects, by key of the measure, where its ``power`` option told; elsewhere the leak is
    # reckoned from the copy
    powers: Mapping[str, Power] = field(default_factory=dict)
    # by synthesizer: why its releases are too broken to be measured
    broken: Mapping[str, str] = field(default_factory=dict)
    # by synthesizer: why its releases look as if they held members, whatever is judged
    near: Mapping[str, str] = field(default_factory=dict)
    # share of training rows in the releases of each reference generator that leaks, by its name
    leaked: Mapping[str, float] = field(default_factory=dict)


class _Said(NamedTuple):
    word: Word
    reason: str
    brief: str
    advice: str = ""


class _Unseen(NamedTuple):
    reason: str
    brief: str
    advice: str


@dataclass(frozen=True)
class _Limit:
    """A limit as it stands on one measure, with what the reference generators reach there."""

    what: Limited
    value: float
    copies: Sequence[Estimate]
    near_copies: Sequence[Estimate]
    empty: str = ""  # why the measure says nothing of any release
    planted: Sequence[PlantedLeak] = ()

    @property
    def sees_copies(self) -> bool:
        return any(e.lower > self.value for e in self.copies)

    @property
    def sees_near_copies(self) -> bool:
        return any(e.lower > self.value for e in self.near_copies)


def judge(
    findings: Sequence[Finding], limits: Mapping[str, float], checks: Sequence[Check], beside: Beside | None = None
) -> list[Verdict]:
    """Return a verdict for each synthesizer and limit.

    RISK: the interval lies above the limit. NO EVIDENCE: below it, and the study has shown that it would have seen a
    copy and a near copy; the reason names the smallest leak that would have been seen, or says why none is known.
    INCONCLUSIVE: the interval straddles the limit, or there is none, or nothing shows that a copy would have been
    seen, or the measure cannot vary in this study. INVALID RELEASE: the releases are too broken to be
    measured. INVALID: a reference generator misbehaved.
    ``limits``: ``<quantity>/<measure>[@<group>]`` -> limit.
    """
    known = beside or Beside()
    on = {
        (name, f.measure): _on(limited(name, (f.measure.key, f.measure.label)), limit, f.measure, findings, known)
        for name, limit in limits.items()
        for f in findings
        if holds_for(name, f.measure)
    }
    sees_near = any(each.sees_near_copies for each in on.values())
    failed = next((c.words for c in checks if not c.passed), "")
    verdicts = []
    for name in limits:
        for f in findings:
            if f.role != "synthesizer" or (name, f.measure) not in on:
                continue
            limit = on[name, f.measure]
            found = quantity_of(f, limit.what.quantity, limit.what.group)
            said = _conclude(found, limit)
            if said.word == "NO EVIDENCE":
                said = _shown(f, said, limit, sees_near, known)
            if limit.empty and not np.isnan(found.lower) and not _stands_alone(said.word, limit):
                empty = f"{limit.what.words} {spelled(found)} says nothing: {limit.empty}"
                said = _Said("INCONCLUSIVE", empty, "the measure is empty", "another measure")
            if broken := known.broken.get(f.synthesizer):
                said = _Said("INVALID RELEASE", broken, "broken releases")
            if failed:
                said = _Said("INVALID", failed, "references misbehaved")
            whose = f.synthesizer, limit.what.name, limit.value
            verdicts.append(
                Verdict(*whose, said.word, said.reason, found.value, found.lower, found.upper, said.brief, said.advice)
            )
    return verdicts


def holds_for(name: str, measure: Measure) -> bool:
    """Tell whether a limit is one on this measure; without an attribute it holds for all attributes."""
    names = (measure.key, measure.label)
    return limited(name, names).key in names


def check_limits(limits: Sequence[str], measures: Sequence[Measure]) -> None:
    """Refuse a limit on a quantity, group or measure that the study does not have, or that is no privacy claim."""
    keys = {name: METRICS[m.metric] for m in measures for name in (m.key, m.label)}
    for name in limits:
        what = limited(name, keys)
        if what.quantity == "utility" or (what.key in keys and keys[what.key].is_utility):
            raise InputError(f"thresholds must be on risks, of which too much is bad, got {name!r}, a utility")
        if what.quantity not in QUANTITIES:
            raise InputError(
                f"thresholds must be <quantity>/<measure> with a quantity of {', '.join(QUANTITIES)}, got {name!r}"
            )
        if what.key not in keys:
            raise InputError(
                f"thresholds must name a measure of the study, got {name!r}{nearest(what.key, keys)}; "
                f"it has {', '.join(keys)}"
            )
        _check_group(name, what, keys[what.key])
        _check_quantity(name, what, keys[what.key])


def _check_group(name: str, what: Limited, metric: Metric) -> None:
    if not what.group:
        return
    if what.group not in GROUPS:
        raise InputError(f"thresholds take the groups @{', @'.join(GROUPS)}, got {name!r}")
    if what.quantity not in OF_GROUPS:
        raise InputError(f"thresholds on a group must be on {', '.join(OF_GROUPS)}, got {name!r}")
    if metric.by_release or metric.weight:
        raise InputError(f"{metric.name} has no value of a group of records, so no threshold can be set on {name!r}")
    if what.group == "classes" and "sensitive" not in metric.needs:
        raise InputError(f"{metric.name} guesses no sensitive attribute, whose classes {name!r} could speak of")


def _check_quantity(name: str, what: Limited, metric: Metric) -> None:
    if not is_signal(metric, what.quantity):
        raise InputError(
            f"thresholds must be on signals; of {metric.name} only the member/control difference is one "
            f"(memorization/{what.key}), got {name!r}"
            if metric.label == "signal"
            else f"thresholds must be on signals, got {name!r}, a sanity check"
        )
    if what.quantity.startswith("tpr") and not metric.ranking:
        raise InputError(f"{metric.name} ranks no records, so it has no {what.quantity}, got {name!r}")
    if what.quantity == "population_gain" and not metric.has_population:
        raise InputError(f"{metric.name} has no population yardstick, so it has no population_gain, got {name!r}")


def is_signal(metric: Metric, quantity: str) -> bool:
    """Tell whether a quantity of a metric says something of privacy: no sanity check does, and some values do not."""
    return metric.label == "signal" and (not metric.difference_only or quantity in AGAINST_CONTROL)


def worst(words: Sequence[str]) -> str:
    """Return the word that a synthesizer is summed up by; empty where there is no limit."""
    order = ("INVALID", "FAILED", "INVALID RELEASE", "RISK", "INCONCLUSIVE", "NO EVIDENCE")
    return next((w for w in order if w in words), "")


def _on(what: Limited, limit: float, measure: Measure, findings: Sequence[Finding], beside: Beside) -> _Limit:
    """Return a limit on one measure, and what the copies and near copies of the study reach in its quantity."""

    def reached(answer: Answer) -> list[Estimate]:
        own = [f for f in findings if f.measure == measure and beside.answers.get(f.synthesizer) == answer]
        return [quantity_of(f, what.quantity, what.group) for f in own]

    spelled_out = Limited(what.quantity, measure.key, what.group)
    planted = planted_leaks(findings, beside.answers, beside.leaked, [(spelled_out.name, measure)])
    empty = _empty(what, measure, findings, beside)
    return _Limit(spelled_out, limit, reached("copy"), reached("near_copy"), empty, planted)


def _empty(what: Limited, measure: Measure, findings: Sequence[Finding], beside: Beside) -> str:
    """Return why a quantity of a measure says nothing of any release; empty where it may."""
    own = [f for f in findings if f.measure == measure]
    if what.quantity in NOTHING:
        return empty_measures(own, beside.answers).get(measure, "")
    return same_place(own, beside.answers, what.group)


def _stands_alone(word: Word, limit: _Limit) -> bool:
    """Tell whether a release is shown to remember its members, which needs no reference generator to be so."""
    return word == "RISK" and limit.what.quantity in NOTHING


def _conclude(found: Estimate, limit: _Limit) -> _Said:
    if np.isnan(found.lower) or np.isnan(found.upper):
        reason = f"{limit.what.words} has no interval: {found.note or 'not scored'}"
        return _Said("INCONCLUSIVE", reason, "no interval", _MORE)
    where = f"{limit.what.words} {spelled(found)}"
    if found.lower > limit.value:
        return _Said("RISK", f"{where} lies above {limit.value:g}", f"above {limit.value:g}")
    if found.upper < limit.value:
        return _Said("NO EVIDENCE", f"{where} lies below {limit.value:g}", f"below {limit.value:g}")
    return _Said("INCONCLUSIVE", f"{where} straddles {limit.value:g}", "interval holds the limit", _MORE)


def _shown(f: Finding, said: _Said, limit: _Limit, sees_near: bool, beside: Beside) -> _Said:
    """Return the verdict on an interval below its limit: NO EVIDENCE only where a copy would not lie there too."""
    if unseen := _unseen(f, limit, sees_near, beside):
        return _Said("INCONCLUSIVE", f"{said.reason}, but {unseen.reason}", unseen.brief, unseen.advice)
    own = "" if limit.sees_near_copies else "; this measure sees exact copies, another limited one near copies"
    told = beside.powers.get(f.measure.key) if limit.what.quantity == "memorization" and not limit.what.group else None
    return said._replace(reason=said.reason + own + (f"; {told.words}" if told else _leak(f, limit)))


def _unseen(f: Finding, limit: _Limit, sees_near: bool, beside: Beside) -> _Unseen | None:
    """Return why an interval below the limit shows nothing; None where it does."""
    if f.reach < REACH:
        reason = f"the attack could answer for {f.reach:.1%} of the members only"
        return _Unseen(reason, f"attack reaches {f.reach:.1%}", "a measure that has an answer for more members")
    copies = [e for e in limit.copies if not np.isnan(e.value)]
    if not limit.copies:
        reason = "nothing shows what it sees: no copy of the training rows was attacked beside it"
        return _Unseen(reason, "no copy beside it", "the reference generators copy and near_copy")
    if not limit.sees_copies:
        reaches = f"a full copy reaches {spelled(copies[0])}" if copies else "it has no value for a full copy"
        return _Unseen(f"the limit is out of reach: {reaches}", "a copy keeps it too", "a lower limit")
    if not sees_near:
        ran = "near_copy" in beside.answers.values()
        seen = "none has a near copy above its limit" if ran else "no near copy was attacked"
        advice = "a measure of nearest records, such as membership"
        return _Unseen(f"the limits cover exact copies only, for {seen}; add {advice}", "blind to near copies", advice)
    if near := beside.near.get(f.synthesizer):
        return _Unseen(near, "nearness not ruled out", "a look at how near the releases are to their members")
    much = _much_of_a_copy(f, limit)
    return _Unseen(much, "may be half a copy", "a lower limit") if much else None


def _leak(f: Finding, limit: _Limit) -> str:
    """Return what the quantity says of a leak, reckoned on the line from no information (0) to the copy (1)."""
    quantity = limit.what.quantity
    if quantity not in NOTHING:
        return ""
    found, nothing = quantity_of(f, quantity, limit.what.group), NOTHING[quantity]
    span = next(e for e in limit.copies if e.lower > limit.value).value - nothing
    shown = (found.value - nothing) / span
    above = f"; it is above {nothing:g}, by {shown:.1%} of what a copy shows" if found.lower > nothing else ""
    half_width = found.upper - found.value
    share = _SEEN * half_width / span
    if share > 1:
        return f"{above}; a leak of a part of the training rows might have been missed"
    if share <= 0:
        return above
    though = missed(limit.planted, share, half_width)
    seen = f"{above}; a leak of about {share:.1%} of the training rows would have been seen"
    return f"{seen}, though {though}" if though else seen


def _much_of_a_copy(f: Finding, limit: _Limit) -> str:
    """Return why a quantity below its limit may still be that of half a copy; empty where it is not."""
    quantity = limit.what.quantity
    if quantity not in NOTHING or not limit.sees_copies:
        return ""
    found, nothing = quantity_of(f, quantity, limit.what.group), NOTHING[quantity]
    copied = next(e for e in limit.copies if e.lower > limit.value).value
    if found.upper - nothing <= _HALF * (copied - nothing):
        return ""
    return f"it may be more than half of what a full copy reaches, {copied:+.3f}: set a lower limit"
