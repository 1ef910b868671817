"""Limits: on what one may be set, and what it can tell in a study.

Whether a copy crosses it, whether fresh people keep it, and what would decide.

A limit decides where the study can tell a copy of the training rows from fresh people by it. Two things show that: the
copy's interval lies above the limit, and the half width that fresh people have is at most half of it, so that nine
fresh releases of ten are shown to keep it. Any other limit is said to be unable to tell. It vetoes nothing, and it
hides nothing: what lies wholly beyond it is a risk all the same, and what lies wholly above 0 and may lie far beyond it
leaves the word open.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor, isnan
from typing import NamedTuple

from scipy.optimize import brentq

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import Estimate, decimals, spelled
from synthrisk.metrics.intervals.proportions import expected_share, share_difference
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.quantities import (
    AGAINST_CONTROL,
    GROUPS,
    NOTHING,
    OF_GROUPS,
    QUANTITIES,
    RATES,
    Limited,
    empty_measures,
    is_signed,
    limited,
    quantity_of,
    same_place,
)
from synthrisk.metrics.verdicts.references import PlantedLeak, planted_leaks

REACH = 0.1
"""Share of the members that an attack must have an answer for, or what it does not find says nothing."""

HARDLY = 20
"""Times the data from which on more of them hardly decide."""

_HALF = 0.5  # of a copy's distance from no information: from there a limit allows too much of a copy
_QUIET = 0.5  # of a limit: with this half width nine fresh releases of ten are shown to keep it (z.95/(z.95 + z.95))
_FAR = 1.5  # limits: what an interval wholly above 0 may reach, for a limit that cannot tell to leave the word open
_INSIDE = 0.95  # of the way from the value to the limit: the interval shall lie inside, not at the limit
_STEP = 0.01  # between limits that are proposed
_RATES = 0.95  # confidence of a rate's interval: the larger of two directions is told, each at half the error
_PEOPLE = 1e9  # more than stand behind any rate


class Size(NamedTuple):
    """How large a study is; 0 where it is not known."""

    members: int = 0  # records that a release is made from
    controls: int = 0  # real records that it is not made from
    repetitions: int = 1
    is_one_release: bool = False  # whether members and control records are different people, given as they are


class SetLimit(NamedTuple):
    """A limit as it stands on one measure, with what the reference generators reach there."""

    what: Limited
    value: float
    copies: Sequence[Estimate] = ()
    near_copies: Sequence[Estimate] = ()
    ideals: Sequence[Estimate] = ()  # what new people reach
    empty: str = ""  # why the measure says nothing of any release
    planted: Sequence[PlantedLeak] = ()
    size: Size = Size()
    attempts: float = 0.0  # drawn from the released rows, where an attack makes no more; 0 where it is asked of all

    @property
    def is_difference(self) -> bool:
        """Whether the quantity sets members against other people, so that it is known what it is without any leak."""
        return self.what.quantity in NOTHING

    @property
    def is_two_sided(self) -> bool:
        """Whether members may stand out by what is missing, too; a true-positive rate counts both sides itself."""
        return NOTHING.get(self.what.quantity) == 0

    @property
    def nothing(self) -> float:
        """What the quantity is without any leak; 0 where that is not known."""
        return NOTHING.get(self.what.quantity, 0.0)

    @property
    def room(self) -> float:
        """How far the limit lies from what the quantity is without any leak."""
        return self.value - self.nothing

    @property
    def is_signed(self) -> bool:
        """Whether the quantity may be below 0: a share has no sign."""
        return is_signed(self.what.name)

    @property
    def copied(self) -> Estimate | None:
        """What the first copy that lies above the limit reaches; None where none does."""
        return next((e for e in self.copies if e.lower > self.value), None)

    @property
    def sees_near_copies(self) -> bool:
        """Whether a near copy lies above the limit."""
        return any(e.lower > self.value for e in self.near_copies)

    @property
    def sees_leaks(self) -> bool:
        """Whether a planted leak of some rows was seen, or none was planted."""
        leaks = [each for each in self.planted if each.answer == "leak"]
        return not leaks or any(each.seen for each in leaks)

    def crossed(self, found: Estimate) -> str:
        """Return on which side an interval lies wholly beyond the limit: ``above``, ``below`` or an empty string."""
        if isnan(found.lower) or isnan(found.upper):
            return ""
        if found.lower > self.value:
            return "above"
        return "below" if self.is_two_sided and found.upper < -self.value else ""

    def kept(self, found: Estimate) -> bool:
        """Tell whether an interval lies wholly inside the limit, on both sides where there are two."""
        return bool(found.upper < self.value and (not self.is_two_sided or found.lower > -self.value))

    def cannot_tell(self, found: Estimate, reach: float) -> tuple[str, str, str] | None:
        """Return why the limit decides nothing of a release: the reason, in a few words, and what it would take.

        None where it decides. ``found`` is the release's own estimate, ``reach`` the share of the members that the
        attack had an answer for on it.
        """
        if self.empty:
            told = spelled(found, self.is_signed)
            return f"{self.what.words} {told} says nothing: {self.empty}", "cannot vary", "another measure"
        if not self.copies:
            reason = "nothing shows what it sees: no copy of the training rows was attacked beside it"
            return reason, "no copy beside it", "the reference generators copy and near_copy"
        if self.copied is None:
            return self._out_of_reach()
        if reach < REACH:
            reason = f"the release gives it nothing to work on: it could answer for {reach:.1%} of the members"
            return reason, f"attack reaches {reach:.1%}", "a measure that has an answer for more members"
        if not self.is_difference or isnan(found.lower) or isnan(found.upper):
            return None
        if self.kept(found) and not self.half_of_a_copy(found):
            return None
        return self._noisy(found, self.copied)

    def as_if_copied(self, found: Estimate) -> tuple[float, float]:
        """Return the share of people whose copying would show as much, and at most as much; NaN where it is not known.

        The value over what the copy shows; the upper end over the copy's lower end. Both less what the quantity is
        without any leak. In [0, 1].
        """
        copied, nothing = self.copied, self.nothing
        if copied is None or not self.is_difference or isnan(found.value):
            return float("nan"), float("nan")
        shares = (found.value - nothing) / (copied.value - nothing), (found.upper - nothing) / (copied.lower - nothing)
        first, most = (min(max(share, 0.0), 1.0) for share in shares)
        return first, most

    def half_of_a_copy(self, found: Estimate) -> str:
        """Return why a quantity below its limit may still be that of half a copy; empty where it is not."""
        copied = self.copied
        if not self.is_difference or copied is None:
            return ""
        if found.upper - self.nothing <= _HALF * (copied.value - self.nothing):
            return ""
        full = decimals(copied.value, signed=self.is_signed)
        return f"it may be more than half of what a full copy reaches, {full}: set a lower limit"

    def would_decide(self, found: Estimate) -> str:
        """Return what would decide where the interval holds the limit, if the value stays; empty where it is not known.

        A number to bring, or the least limit that this interval is shown to keep.
        """
        if isnan(found.lower) or isnan(found.upper):
            return ""
        value = -found.value if self.is_two_sided and abs(found.lower) > abs(found.upper) else found.value
        above = value > self.value  # then the lower end is to come beyond the limit
        reach = (found.upper - found.lower) / 2
        if not self.is_two_sided:
            reach = value - found.lower if above else found.upper - value
        brought = self._bring(found, self._times(value, reach, _INSIDE * abs(self.value - value), above=above))
        least = max(found.upper, -found.lower) if self.is_two_sided else found.upper
        limit = f"a limit of {(floor(least / _STEP) + 1) * _STEP:.2g}"
        return f"{brought}, or {limit}" if brought else limit

    def _out_of_reach(self) -> tuple[str, str, str]:
        known = [e for e in self.copies if not isnan(e.value)]
        if not known:
            note = next((e.note for e in self.copies if e.note), "")
            few = f" ({note})" if note else ""
            return f"it has no value for a full copy{few}", "no value for a copy", "more records"
        reason = f"even a full copy reaches only {spelled(known[0], self.is_signed)}"
        brief = f"a copy reaches {decimals(known[0].value, signed=self.is_signed)}"
        return reason, brief, "a lower limit, or another measure"

    def _noisy(self, found: Estimate, copied: Estimate) -> tuple[str, str, str] | None:
        """Return that fresh people could not be shown to keep the limit either; None where they could.

        Noise is the half width of fresh people, or of the release where it has less. A true-positive rate cannot be
        below what chance gives, so that intervals end there, and half of one says little: its noise is how far the
        upper end lies above the value, of fresh people or of the release, whichever has more.
        """
        noise = self._noise(found)
        room = _QUIET * min(self.room, 2 * _HALF * (copied.value - self.nothing))
        if not noise > room or self._may_be_far(found):
            return None
        brought = self._bring(found, self._times(self.value - self.room, noise, room))
        more = f": {brought} would do" if brought else ""
        who = f"fresh people show ±{noise:.3f}" if self.is_two_sided else f"chance alone may add {noise:.3f}"
        return f"{who} here{more}", f"noise of {noise:.3f}", brought or "another measure"

    def _noise(self, found: Estimate) -> float:
        sides = [(e.upper - e.lower) / 2 if self.is_two_sided else e.upper - e.value for e in (*self.ideals, found)]
        known = [side for side in sides if not isnan(side)]
        if not known:
            return float("nan")
        return min(known) if self.is_two_sided else max(known)

    def _may_be_far(self, found: Estimate) -> bool:
        """Tell whether an interval is wholly above what there is without any leak, and reaches far beyond the limit."""
        far = _FAR * self.room
        above = found.lower > self.nothing and found.upper - self.nothing > far
        return above or (self.is_two_sided and found.upper < 0 and -found.lower > far)

    def _times(self, value: float, reach: float, wanted: float, *, above: bool = False) -> float:
        """Return how many times the data would make an interval reach no further than is wanted; NaN where none would.

        The reach shrinks with the root of the data. That of a true-positive rate shrinks faster where few people stand
        behind it: Newcombe's limit of the rate of members less that of control records, for groups of equal size, the
        upper one or, where the value lies ``above`` the limit, the lower one.
        """
        if not 0 < wanted < reach:
            return float("nan")

        def beyond(people: float, beside: float) -> float:
            rates = (
                expected_share(value * people, people, _RATES),
                expected_share(self.nothing * people, people, _RATES),
            )
            found = share_difference(*rates)
            return (found.value - found.lower if above else found.upper - found.value) - beside

        if self.what.quantity not in RATES or not beyond(1, reach) > 0 or not beyond(_PEOPLE, wanted) < 0:
            return (reach / wanted) ** 2
        now, then = (brentq(beyond, 1, _PEOPLE, args=(beside,)) for beside in (reach, wanted))
        return float(then / now)

    def _bring(self, found: Estimate, times: float) -> str:
        """Return what makes the data so many times as large: so many control records, repetitions or records."""
        if not times <= HARDLY or not self.size.members:
            return ""
        n, c, repetitions = self.size.members, self.size.controls, self.size.repetitions
        if self.attempts:
            return self._attempts(self.attempts * times)
        if self.size.is_one_release and c:
            share = (1 / n + 1 / c) / times - 1 / n
            if share > 0 and 1 / share <= HARDLY * c and self.what.quantity not in RATES:  # members make a rate's reach
                return f"{_rounded(1 / share):,} control records (there are {c:,})"
            both = f"{_rounded(n * times):,} members and {_rounded(c * times):,} control records"
            return f"{both} (there are {n:,} and {c:,})"
        if found.parts is not None:
            more = more_repetitions(found, times)
            if more <= HARDLY:
                return f"{max(ceil(repetitions * more), repetitions + 1)} repetitions (there are {repetitions})"
        return f"{_rounded((n + c) * times):,} records (there are {n + c:,})"

    def _attempts(self, wanted: float) -> str:
        """Return how many attempts are to be made: more records alone bring none, where a fixed number is drawn."""
        n, c, made = self.size.members, self.size.controls, f"{self.attempts:,.0f}"
        if wanted <= n:
            return f"{_rounded(wanted):,} attempts (there are {made})"
        more = f"{_rounded(wanted):,} attempts on as many members and {_rounded(c * wanted / n):,} control records"
        return f"{more} (there are {made} on {n:,} and {c:,})"


def set_limit(
    name: str,
    value: float,
    measure: Measure,
    findings: Sequence[Finding],
    answers: Mapping[str, Answer],
    leaked: Mapping[str, float],
    size: Size,
) -> SetLimit:
    """Return a limit on one measure, with what the reference generators of the study reach in its quantity."""
    what = limited(name, (measure.key, measure.label))
    own = [f for f in findings if f.measure == measure]

    def reached(answer: Answer) -> list[Estimate]:
        return [quantity_of(f, what.quantity, what.group) for f in own if answers.get(f.synthesizer) == answer]

    spelled_out = Limited(what.quantity, measure.key, what.group)
    planted = planted_leaks(findings, answers, leaked, [(spelled_out.name, measure)])
    if what.quantity in NOTHING:
        empty = empty_measures(own, answers).get(measure, "")
    else:
        empty = same_place(own, answers, what.group)
    copies, near_copies, ideals = reached("copy"), reached("near_copy"), reached("ideal")
    return SetLimit(spelled_out, value, copies, near_copies, ideals, empty, planted, size, _drawn(own, size))


def _drawn(own: Sequence[Finding], size: Size) -> float:
    """Return how many attempts were drawn for a measure that names predicates; 0 where all rows made one."""
    naming = [f for f in own if METRICS[f.measure.metric].study.isolated]
    made = [f.details["attempts"][0] for f in naming if "attempts" in f.details]
    drawn = max((each for each in made if not isnan(each)), default=0.0)
    return drawn if 0 < drawn < size.members else 0.0


def more_repetitions(found: Estimate, times: float) -> float:
    """Return how many times the repetitions would make the variance of an estimate so many times smaller.

    The choice of records stays in it however many repetitions there are: infinity where that part alone is too large.
    NaN where the parts are not known.

    Example:
        >>> from synthrisk.metrics.intervals.estimates import Variances
        >>> parts = Variances(records=1.0, between=8.0, noise=2.0, count=100, repetitions=2)
        >>> more_repetitions(Estimate(0.1, 0.0, 0.2, parts=parts), 2.0)
        3.0
    """
    if found.parts is None or isnan(times):
        return float("nan")
    records, repetitions = found.parts.terms
    left = (records + repetitions) / times - records
    return repetitions / left if left > 0 else float("inf")


def _rounded(number: float) -> int:
    """Return a number of records, rounded up to two digits: more would promise what nobody knows."""
    step = 10 ** max(0, len(str(int(number))) - 2)
    return ceil(number / step) * step


def check_limits(limits: Sequence[str], measures: Sequence[Measure]) -> None:
    """Refuse a limit on a quantity, group or measure that the study does not have, or that is no privacy claim."""
    keys = {name: METRICS[m.metric] for m in measures for name in (m.key, m.label)}
    for name in limits:
        what = limited(name, keys)
        if what.quantity == "utility" or (what.key in keys and keys[what.key].is_utility):
            raise InputError(f"limits must be on risks, of which too much is bad, got {name!r}, a utility")
        if what.quantity not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise InputError(f"limits must be <quantity>/<measure> with a quantity of {known}, got {name!r}")
        if what.key not in keys:
            told = f"got {name!r}{nearest(what.key, keys)}; it has {', '.join(keys)}"
            raise InputError(f"limits must name a measure of the study, {told}")
        _check_group(name, what, keys[what.key])
        _check_quantity(name, what, keys[what.key])


def _check_group(name: str, what: Limited, metric: Metric) -> None:
    if not what.group:
        return
    if what.group not in GROUPS:
        raise InputError(f"limits take the groups @{', @'.join(GROUPS)}, got {name!r}")
    if what.quantity not in OF_GROUPS:
        raise InputError(f"limits on a group must be on {', '.join(OF_GROUPS)}, got {name!r}")
    if metric.by_release or metric.records.weight:
        raise InputError(f"{metric.name} has no value of a group of records, so no limit can be set on {name!r}")
    if what.group == "classes" and "sensitive" not in metric.needs:
        raise InputError(f"{metric.name} guesses no sensitive attribute, whose classes {name!r} could speak of")


def _check_quantity(name: str, what: Limited, metric: Metric) -> None:
    if not is_signal(metric, what.quantity):
        if metric.label != "signal":
            raise InputError(f"limits must be on signals, got {name!r}, a sanity check")
        only = f"of {metric.name} only the member/control difference is one (memorization/{what.key})"
        raise InputError(f"limits must be on signals; {only}, got {name!r}")
    if what.quantity.startswith("tpr") and not metric.study.ranking:
        raise InputError(f"{metric.name} ranks no records, so it has no {what.quantity}, got {name!r}")
    if what.quantity == "population_gain" and not metric.has_population:
        raise InputError(f"{metric.name} has no population yardstick, so it has no population_gain, got {name!r}")


def is_signal(metric: Metric, quantity: str) -> bool:
    """Tell whether a quantity of a metric says something of privacy: no sanity check does, and some values do not."""
    return metric.label == "signal" and (not metric.study.difference_only or quantity in AGAINST_CONTROL)
