"""What a study concludes: a verdict for each synthesizer and limit, which claims only what the study could have seen.

NO EVIDENCE is a word about the study as much as about the release. It is given where every limit that can decide here
is kept, where these together see a copy, a near copy and the planted leak, and where they cover both what is learnt
about people and who is found. A limit that cannot decide (``limits``) is named; it vetoes nothing and hides nothing.

Which limits would have been kept, in a study that sets none: a help for those who choose limits, and no verdict.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, spelled
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.release.nearness import MISSING, first_signs
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.limits import SetLimit, Size, set_limit
from synthrisk.metrics.verdicts.quantities import (
    EXPOSED,
    NOTHING,
    Limited,
    is_signed,
    limited,
    quantity_of,
)
from synthrisk.metrics.verdicts.references import Check, missed

# Half widths above 0 at which 80 % of studies see a leak: (z.95 + z.90)/z.95, for half widths vary too;
# measured in tests/metrics/study/test_verdicts.py.
_SEEN = 1.78
_SIGNS = 3  # of a near copy that a reason names

STRADDLES = "interval holds the limit"
"""What is said in a few words where more data would decide."""

NO_INTERVAL = "no interval"
"""What is said in a few words where a quantity has none."""

LOOK = "look/nearness"
"""The quantity of the verdict that the look at the releases gives: see ``release.nearness``."""

Word = Literal["RISK", "NO EVIDENCE", "INCONCLUSIVE", "CANNOT TELL", "INVALID RELEASE", "INVALID"]


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
    as_if: float = float("nan")  # share of people whose copying would show as much; NaN where it is not known
    as_if_upper: float = float("nan")  # and at most as much
    measure: str = ""  # key of the measure that it is on; empty where it is on none
    metric: str = ""  # name of the metric that the measure uses

    @property
    def reach(self) -> float:
        """How far the interval reaches, in units of the limit: 1 where its farther end lies at the limit."""
        end = max(self.upper, -self.lower) if self.quantity.startswith(_SIGNED) else self.upper
        return float(end / self.limit) if self.limit else float("inf")

    @property
    def excess(self) -> float:
        """How far the nearer end lies beyond the limit, in units of the limit: above 1 where it is crossed."""
        nearer = max(self.lower, -self.upper) if self.quantity.startswith(_SIGNED) else self.lower
        return float(nearer / self.limit) if self.limit else float("inf")


_SIGNED = tuple(f"{name}/" for name, nothing in NOTHING.items() if nothing == 0)


@dataclass(frozen=True)
class Beside:
    """What verdicts are given beside."""

    answers: Mapping[str, Answer] = field(default_factory=dict)  # what each reference generator declares, by its name
    # what leak the study detects, by key of the measure, where its ``power`` option told; elsewhere the leak is
    # reckoned from the copy
    powers: Mapping[str, Power] = field(default_factory=dict)
    # by synthesizer: why its releases are too broken to be measured
    broken: Mapping[str, str] = field(default_factory=dict)
    # by synthesizer: why a near copy could not have been seen in its releases, whatever is judged
    near: Mapping[str, str] = field(default_factory=dict)
    # by synthesizer: how many more members lie near its releases than other people do, as a share of the members, with
    # its interval and in words (``note``); below 0 where they are met less often
    excess: Mapping[str, Estimate] = field(default_factory=dict)
    # share of training rows in the releases of each reference generator that leaks, by its name
    leaked: Mapping[str, float] = field(default_factory=dict)
    size: Size = field(default_factory=Size)
    # by synthesizer: whose values columns hold that nothing attacks
    released: Mapping[str, str] = field(default_factory=dict)


class _Said(NamedTuple):
    word: Word
    reason: str
    brief: str
    advice: str = ""


class _Lacking(NamedTuple):
    """What limits that are kept have not shown."""

    reason: str
    brief: str
    advice: str


class _Judged(NamedTuple):
    """One limit on one finding, as far as it is judged."""

    finding: Finding
    limit: SetLimit
    found: Estimate
    said: _Said


def judge(
    findings: Sequence[Finding], limits: Mapping[str, float], checks: Sequence[Check], beside: Beside | None = None
) -> list[Verdict]:
    """Return a verdict for each synthesizer and limit.

    RISK: the interval lies beyond the limit, on either side of 0 where the quantity is a difference; it stands whatever
    else is wrong. NO EVIDENCE: it lies inside, the study can tell a copy from fresh people by this limit, and all its
    deciding limits together see what they must (``_lacking``). CANNOT TELL: this study cannot decide by this limit; the
    reason says why and what it would take. INCONCLUSIVE: the interval holds the limit, or the deciding limits together
    have not shown enough. INVALID RELEASE: the releases are too broken to be measured. INVALID: a reference generator
    misbehaved.
    ``limits``: ``<quantity>/<measure>[@<group>]`` -> limit.
    """
    known = beside or Beside()
    own = [f for f in findings if f.role == "synthesizer"]
    judged = [
        _concluded(f, set_limit(name, limit, f.measure, findings, known.answers, known.leaked, known.size))
        for name, limit in limits.items()
        for f in own
        if holds_for(name, f.measure)
    ]
    if failed := next((c.words for c in checks if not c.passed), ""):
        invalid = _Said("INVALID", failed, "references misbehaved")
        return [*(_verdict(each, invalid) for each in judged), *identifiers_released(known)]
    names = dict.fromkeys(each.finding.synthesizer for each in judged)
    lacking = {name: _lacking([j for j in judged if j.finding.synthesizer == name], name, known) for name in names}
    verdicts = [_verdict(each, _together(each, lacking[each.finding.synthesizer], known)) for each in judged]
    return [*verdicts, *_looks(verdicts, known), *identifiers_released(known)]


def identifiers_released(beside: Beside) -> list[Verdict]:
    """Return a RISK for each synthesizer whose releases hold values of members that nothing attacks: see ``RELEASED``.

    It needs no limit: no number of names or addresses of real people is meant to be released.
    """
    brief = "real values released"
    return [
        Verdict(name, RELEASED, 0.0, "RISK", sentence, brief=brief)
        for name, sentence in beside.released.items()
        if sentence
    ]


def holds_for(name: str, measure: Measure) -> bool:
    """Tell whether a limit is one on this measure; without an attribute it holds for all attributes."""
    names = (measure.key, measure.label)
    return limited(name, names).key in names


def worst(words: Sequence[str]) -> str:
    """Return the word that a synthesizer is summed up by; empty where there is no limit.

    Limits that cannot tell have no part in it, unless there is no other: then nothing is decided.
    """
    order = ("INVALID", "FAILED", "RISK", "INVALID RELEASE", "INCONCLUSIVE", "NO EVIDENCE")
    return next((w for w in order if w in words), "INCONCLUSIVE" if "CANNOT TELL" in words else "")


def _concluded(f: Finding, limit: SetLimit) -> _Judged:
    found = quantity_of(f, limit.what.quantity, limit.what.group)
    return _Judged(f, limit, found, _said(found, limit, f.reach))


def _said(found: Estimate, limit: SetLimit, reach: float) -> _Said:
    """Return what a limit says of one estimate by itself."""
    where = f"{limit.what.words} {spelled(found, is_signed(limit.what.name))}"
    side = limit.crossed(found)
    if side and (limit.is_difference or not limit.empty):
        beyond = f"above {limit.value:g}" if side == "above" else f"below {-limit.value:g}"
        told = f"{MISSING}: " if side == "below" or MISSING in found.note else ""
        return _Said("RISK", f"{told}{where} lies {beyond}", beyond)
    if reasons := limit.cannot_tell(found, reach):
        return _Said("CANNOT TELL", *reasons)
    if np.isnan(found.lower) or np.isnan(found.upper):
        reason = f"{limit.what.words} has no interval: {found.note or 'not scored'}"
        return _Said("INCONCLUSIVE", reason, NO_INTERVAL, "more repetitions or records")
    inside = f"inside ±{limit.value:g}" if limit.is_two_sided else f"below {limit.value:g}"
    if not limit.kept(found):
        straddles = f"{where} is not wholly {inside}"
        return _Said("INCONCLUSIVE", straddles, STRADDLES, limit.would_decide(found))
    if much := limit.half_of_a_copy(found):
        return _Said("INCONCLUSIVE", f"{where}: {much}", "may be half a copy", "a lower limit")
    return _Said("NO EVIDENCE", f"{where} lies {inside}", inside)


def _together(each: _Judged, lacking: _Lacking | None, beside: Beside) -> _Said:
    """Return what a limit says beside all others: what is kept counts where enough was shown (``_lacking``)."""
    words = each.said
    if broken := beside.broken.get(each.finding.synthesizer):
        return words if words.word == "RISK" else _Said("INVALID RELEASE", broken, "broken releases")
    if words.word != "NO EVIDENCE":
        return words
    if lacking is None:
        return words._replace(reason=words.reason + _shown(each, beside))
    return _Said("INCONCLUSIVE", f"{words.reason}, but {lacking.reason}", lacking.brief, lacking.advice)


def _lacking(judged: Sequence[_Judged], name: str, beside: Beside) -> _Lacking | None:
    """Return what the deciding limits on a synthesizer have not shown; None where that is enough for NO EVIDENCE.

    One of them must see a near copy, one must have seen the planted leak where one was planted, and they must cover
    both what is learnt about people (guesses, links, who is singled out) and who is found (membership, copies). Where
    limits are set on the most exposed, one must decide of those on outliers, and one of those on rare keys: the others
    speak of everybody.
    """
    deciding = [each for each in judged if each.said.word != "CANNOT TELL"]
    limits = [each.limit for each in deciding]
    if not limits:
        return None
    if not any(limit.sees_near_copies for limit in limits):
        if undecided := [each for each in judged if each.limit.sees_near_copies and not each.limit.empty]:
            own = undecided[0].said
            reason = "the limits that decide here cover exact copies only, and one that sees near copies cannot tell"
            return _Lacking(f"{reason}: {own.reason}", "near copies not judged", own.advice)
        ran = "near_copy" in beside.answers.values()
        seen = "none has a near copy above its limit" if ran else "no near copy was attacked"
        advice = "a measure of nearest records, such as membership"
        return _Lacking(f"the limits cover exact copies only, for {seen}; add {advice}", "blind to near copies", advice)
    if not any(limit.sees_leaks for limit in limits):
        leak = next(p.words for limit in limits for p in limit.planted if p.answer == "leak")
        reason = f"no deciding limit has seen the planted {leak}"
        return _Lacking(reason, "planted leak not seen", "more repetitions or records")
    kinds = {learns(METRICS[each.finding.measure.metric]) for each in deciding}
    if len(kinds) == 1:
        what, advice = _OTHER_KIND[kinds.pop()]
        return _Lacking(f"no limit that decides here speaks of {what}; add {advice}", f"{what} not judged", advice)
    for group in EXPOSED:
        exposed = [each for each in judged if each.limit.what.group == group]
        if exposed and not any(each in deciding for each in exposed):
            reason = f"no limit that decides here speaks of the most exposed, by @{group}: {exposed[0].said.reason}"
            return _Lacking(reason, "most exposed not judged", exposed[0].said.advice)
    if near := beside.near.get(name):
        return _Lacking(near, "nearness not ruled out", "a look at how near the releases are to their members")
    return None


_OTHER_KIND = {
    True: ("who is found", "a measure of membership or copies, such as membership"),
    False: ("what is learnt", "a measure that guesses or singles out, such as singling_out"),
}
"""What no limit speaks of where all say what is learnt (``learns``), or none does, and what to add."""


def learns(metric: Metric) -> bool:
    """Tell whether a measure says what is learnt about people (guessed, linked, singled out), not who is found."""
    return "sensitive" in metric.needs or (metric.group == "claims" and "control" not in metric.needs)


def _looks(verdicts: Sequence[Verdict], beside: Beside) -> list[Verdict]:
    """Return a verdict on each synthesizer whose releases hold, or may hold, more or fewer members than a limit allows.

    One that shows fewer members than chance explains is a RISK at any size: among the few who lie nearest no more can
    be missing than all of them, and nothing but a filter by distance to the members makes them so. A look that shows
    more of them, but fewer than the limit, is told in the headline.
    """
    nothing = [(v.limit, NOTHING.get(limited(v.quantity).quantity)) for v in verdicts]
    rooms = [limit - chance for limit, chance in nothing if chance is not None]
    judged = dict.fromkeys(v.synthesizer for v in verdicts)
    looked = [name for name in judged if rooms and name in beside.excess]
    looks = [_look(name, beside.excess[name], min(rooms), beside.size) for name in looked]
    return [each for each in looks if each is not None]


def _look(name: str, excess: Estimate, limit: float, size: Size) -> Verdict | None:
    own = excess.value, excess.lower, excess.upper
    if excess.lower > limit:
        copied = f"as if {as_people(excess.value)} people had been copied"
        reason = f"the release lies on members: {first_signs(excess.note, _SIGNS)}"
        return Verdict(name, LOOK, limit, "RISK", reason, *own, copied)
    if excess.upper < 0 and excess.note:
        missing = "; ".join(sign for sign in excess.note.split("; ") if MISSING in sign)
        reason = first_signs(missing or f"{MISSING}: {excess.note}", _SIGNS)
        return Verdict(name, LOOK, limit, "RISK", reason, *own, "members are missing")
    if excess.lower > 0 and excess.upper >= limit:
        reason = f"the release may lie on more members than {as_people(limit)}: {first_signs(excess.note, _SIGNS)}"
        advice = _clearer_look(excess, limit, size)
        return Verdict(name, LOOK, limit, "INCONCLUSIVE", reason, *own, "nearness not ruled out", advice)
    return None


def _clearer_look(excess: Estimate, limit: float, size: Size) -> str:
    """Return what would decide a look that holds its limit: so many records or repetitions, or another limit.

    Its limit is the smallest of the study's.
    Its longer side counts, or an interval that is not symmetric would ask for fewer records than there are.
    """
    half = max(excess.upper - excess.value, excess.value - excess.lower)
    whole = replace(excess, lower=excess.value - half, upper=excess.value + half)
    needs = SetLimit(Limited(*LOOK.split("/")), limit, size=size).would_decide(whole)
    return needs.replace("a limit of", "no limit below")


def as_people(share: float, *beside: float) -> str:
    """Return a share of people in words, in units that serve those told beside it, too.

    Example:
        >>> as_people(0.131), as_people(0.004), as_people(0.131, 0.004), as_people(0.0, 0.131)
        ('13 of 100', '4 of 1,000', '131 of 1,000', '0 of 100')
    """
    if any(0 < each < 0.0095 for each in (share, *beside)):
        return f"{max(bool(share), round(1000 * share)):,} of 1,000"
    return f"{round(100 * share)} of 100"


def _verdict(each: _Judged, said: _Said) -> Verdict:
    found, limit = each.found, each.limit
    as_if = limit.as_if_copied(found)
    own = each.finding.synthesizer, limit.what.name, limit.value
    ends, measure = (found.value, found.lower, found.upper), each.finding.measure
    return Verdict(*own, said.word, said.reason, *ends, said.brief, said.advice, *as_if, measure.key, measure.metric)


def _shown(each: _Judged, beside: Beside) -> str:
    """Return what a limit that is kept would have seen."""
    f, limit = each.finding, each.limit
    own = "" if limit.sees_near_copies else "; a near copy crosses another limit, and may keep this one"
    told = beside.powers.get(f.measure.key) if limit.what.quantity == "memorization" and not limit.what.group else None
    return own + (f"; {told.words}" if told else _leak(each))


def _leak(each: _Judged) -> str:
    """Return which leak would have been seen, reckoned on the line from no information (0) to the copy (1)."""
    found, limit = each.found, each.limit
    if not limit.is_difference:
        return ""
    span = next(e for e in limit.copies if e.lower > limit.value).value - NOTHING[limit.what.quantity]
    half_width = (found.upper - found.lower) / 2
    share = _SEEN * half_width / span
    if share > 1:
        return "; a leak of a part of the training rows might have been missed"
    if share <= 0:
        return ""
    though = missed(limit.planted, share, half_width)
    seen = f"; a leak of about {share:.1%} of the training rows would have been seen"
    return f"{seen}, though {though}" if though else seen


_STEP = 0.001  # between limits


@dataclass(frozen=True)
class Kept:
    """The least limit that one synthesizer would have been shown to keep."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>``
    least: float  # NaN where the study could show it of none
    reason: str  # what the verdict would have said


def quantity_to_limit(metric: Metric) -> str:
    """Return the quantity of a metric that a limit is best set on: what members add to what is learnt of anybody.

    Of guesses ``control_gain``, of claims of membership ``tpr``, else ``memorization``; empty where the metric is no
    signal.
    """
    if metric.label != "signal" or metric.is_utility:
        return ""
    if "sensitive" in metric.needs:
        return "control_gain"
    return "tpr" if metric.study.ranking and "control" in metric.needs else "memorization"


def limits_kept(findings: Sequence[Finding], checks: Sequence[Check], beside: Beside) -> list[Kept]:
    """Return the least limits that each synthesizer would have kept, all of them set at once.

    The least limit is the end of the interval that lies farther from 0, rounded up to .001. It counts only where the
    same study gives NO EVIDENCE at it: a copy lies above, a near copy is seen by one of them at least.
    """
    kept = []
    for name in dict.fromkeys(f.synthesizer for f in findings if f.role == "synthesizer"):
        own = [f for f in findings if f.synthesizer == name and not f.measure.variant_of]
        limits = dict(filter(None, map(_least, own)))
        for verdict in judge(findings, limits, checks, replace(beside, released={}, excess={})):
            if verdict.synthesizer == name:
                least = verdict.limit if verdict.word == "NO EVIDENCE" else float("nan")
                kept.append(Kept(name, verdict.quantity, least, verdict.reason))
    return kept


def _least(finding: Finding) -> tuple[str, float] | None:
    quantity = quantity_to_limit(METRICS[finding.measure.metric])
    found = quantity_of(finding, quantity) if quantity else NOT_ESTIMABLE
    if math.isnan(found.lower) or math.isnan(found.upper):
        return None
    end = max(found.upper, -found.lower) if NOTHING.get(quantity) == 0 else found.upper
    return Limited(quantity, finding.measure.key).name, max(math.floor(end / _STEP) + 1, 0) * _STEP
