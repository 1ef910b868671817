"""What a study says of one synthesizer and one measure: risk, yardsticks, memorization, each with interval.

What a study says of how useful a synthesizer's releases are: value, interval, and the ceiling beside it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.adjusted_differences import ADJUSTED, RAW, adjusted_difference, adjusted_gain
from synthrisk.metrics.intervals.epsilon import EpsilonBound
from synthrisk.metrics.intervals.estimates import (
    NOT_ESTIMABLE,
    ONE_REPETITION,
    Estimate,
    Interval,
    across_repetitions,
    effects,
    estimate,
    estimates,
    of_groups,
    paired,
)
from synthrisk.metrics.intervals.proportions import share, share_difference, worst_release, worst_value
from synthrisk.metrics.intervals.value_scale import SHARE, MetricTransform, ValueScale, linearised
from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES, Yardstick, gain, over_known
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.score import mean_of_known
from synthrisk.metrics.study.ledger import NO_REASONS, Contributions, Measure, OfUtility, Reasons, ReleasedValues


@dataclass(frozen=True, eq=False)
class Attacked:
    """All scores of one measure on the releases of one synthesizer."""

    scores: np.ndarray  # (R, K, n) risk-directed scores, NaN where not scored
    member: np.ndarray  # (R, K, n) records that the synthesizer was fitted on
    control: np.ndarray  # (R, K, n) records that it never saw
    # (R, K, n) the quantity whose mean makes the metric's value, where it is not the score
    contribution: np.ndarray | None = None
    transform: MetricTransform | None = None  # the monotone function from that mean to the value
    # success of the best constant guess; of claims S, how often such claims are right by luck; NaN where nothing is
    # guessed
    guess: float = float("nan")
    entities: np.ndarray | None = None  # (n,) entity of each record, or None
    gain: np.ndarray | None = None  # (R, K, n) normalised gains, for measures that have a threshold curve
    # what else the measure says of members and of control records: means over releases
    details: dict[str, tuple[float, float]] = field(default_factory=dict)
    warning: str = ""  # what makes the value hard to read, or an empty string
    reasons: Reasons = NO_REASONS  # why members and why control records have no value
    reach: float = float("nan")  # share of the members that the attack had an answer for
    # (R, K, n) how likely each record is a member, where the metric ranks records (``InStudy.ranking``): NaN where not
    # scored, -inf where the attack abstains
    ranking: np.ndarray | None = None
    range: tuple[float, float] = SHARE.range  # range of the value and of the scores
    # (R, K, n) errors of a guessed number, for measures that have a curve over its tolerance (``details``)
    error: np.ndarray | None = None
    # (n, p) what foretells the scores without membership (``covariates``), or None: then no difference is adjusted
    covariates: np.ndarray | None = None

    @property
    def scale(self) -> ValueScale:
        """The scale of the value."""
        return ValueScale(*self.range, self.transform)

    @property
    def is_plain_mean(self) -> bool:
        """Whether the value is the mean of the scores, of which memorization is the difference."""
        return self.contribution is None and self.transform is None

    @property
    def amount(self) -> np.ndarray:
        """What the metric's value is the mean of, (R, K, n)."""
        return self.scores if self.contribution is None else self.contribution

    @cached_property
    def of_scores(self) -> tuple[np.ndarray, np.ndarray]:
        """The contributions of members and of control records to their mean scores, (R, n) each."""
        return effects(self.scores, self.member), effects(self.scores, self.control)

    @cached_property
    def of_amount(self) -> tuple[np.ndarray, np.ndarray]:
        """Their contributions to the metric's value."""
        if self.contribution is None:
            return self.of_scores
        return effects(self.contribution, self.member), effects(self.contribution, self.control)

    @cached_property
    def of_memorization(self) -> np.ndarray:
        """The contributions of records to memorization, (R, n)."""
        return paired(*self.of_scores)


@dataclass(frozen=True)
class Finding:
    """One line of the league table."""

    synthesizer: str
    role: str
    measure: Measure
    risk: Estimate  # attack success on members (mean over releases); where it is NaN its ``note`` says why
    risk_control: Estimate  # the same attack on records that the synthesizer never saw
    # mean over records of success as member minus success as non-member: what a record's presence adds to its own risk
    memorization: Estimate
    guess: float = float("nan")  # success of the best constant guess, or of claims S: as in ``Attacked``
    risk_gain: Estimate = NOT_ESTIMABLE  # gain over the guess: (x - s)/(1 - s), unclipped
    control_gain: float = float("nan")  # gain over control, the same formula
    release_risk: tuple[float, ...] = ()  # value of each release, in order of repetition and fold
    # members' risk at each threshold of the gain, or tolerance of the error (``curve_at``), with a pointwise interval
    curve: tuple[Estimate, ...] = ()
    # what else the measure says of members and of control records: means over releases
    details: dict[str, tuple[float, float]] = field(default_factory=dict)
    warning: str = ""  # what makes the value hard to read, or an empty string
    # all interval methods for ``risk`` and ``memorization``
    intervals: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    change: Estimate = NOT_ESTIMABLE  # of a what-if: members' mean score minus that of the measure it varies
    # ``guess``, ``control`` and ``population``, those that there are: s, gain and difference with intervals
    yardsticks: Mapping[str, Yardstick] = field(default_factory=dict)
    # the same for the vulnerable records alone, by the name of their group
    groups: Mapping[str, "Finding"] = field(default_factory=dict)
    spread: tuple[float, ...] = ()  # quantiles of the single records' memorization (``exposure.QUANTILES``), or nothing
    # share of the members that the attack had an answer for; NaN where it is asked of whole releases
    reach: float = float("nan")
    # of metrics that rank records: the pooled true-positive rate at each false-positive rate
    tpr: Mapping[float, Estimate] = field(default_factory=dict)
    epsilon: EpsilonBound | None = None  # of the same: the lower bound of epsilon that the releases show, or None
    # key of another measure of which the memorization is this very number, or an empty string
    same_difference_as: str = ""
    # the largest value of a release, with limits that hold for all releases at once (``worst_release``)
    worst: Estimate = NOT_ESTIMABLE

    @property
    def is_of_claims(self) -> bool:
        """Whether the attack claims or abstains, so that the guess is S, not a constant one."""
        return METRICS[self.measure.metric].claims

    @property
    def tolerance(self) -> float:
        """The tolerance of the error where the curve is that of a number, in units of its error; NaN elsewhere."""
        return self.details.get("tolerance", (float("nan"),))[0]

    @property
    def curve_at(self) -> np.ndarray:
        """Where the points of the curve lie: at thresholds of the gain, or at tolerances of the error."""
        places = CURVE if np.isnan(self.tolerance) else TOLERANCES * self.tolerance
        return np.array(places[: len(self.curve)])

    @property
    def population(self) -> Estimate:
        """Success of the same attack with real non-members in place of the release."""
        return self.yardsticks["population"].success if "population" in self.yardsticks else NOT_ESTIMABLE


def find(
    synthesizer: str, role: str, measure: Measure, attacked: Attacked, interval: Interval, methods: tuple[str, ...] = ()
) -> Finding:
    """Return the finding of one measure on one synthesizer; ``methods`` are further intervals to make."""
    scale, apart = attacked.scale, attacked.scale.of_differences
    members, controls = attacked.of_amount
    further = {
        "risk": estimates(members, methods, interval, attacked.entities, scale),
        "memorization": estimates(attacked.of_memorization, methods, interval, attacked.entities, apart),
    }
    if _is_right_or_wrong(attacked) and interval.method in ("crossed", "moderated"):
        risk, control = (_share(attacked, chosen, interval) for chosen in (attacked.member, attacked.control))
        memorization = share_difference(risk, control)
    else:
        risk, control = (
            estimates(each, (interval.method,), interval, attacked.entities, scale)[interval.method]
            for each in (members, controls)
        )
        memorization = of_groups(*attacked.of_scores, interval, entities=attacked.entities, scale=apart)
    adjusted = _adjusted(attacked, interval, apart, memorization.note)
    if adjusted is not None:
        further["memorization"][RAW], memorization = memorization, adjusted
    why = attacked.reasons
    risk, control = _explained(risk, why.members), _explained(control, why.controls)
    memorization = _explained(memorization, why.members, why.controls)
    if not attacked.control.any():
        control = memorization = replace(NOT_ESTIMABLE, note="no control records")
    own = attacked.amount, attacked.member
    return Finding(
        synthesizer,
        role,
        measure,
        risk,
        control,
        memorization,
        attacked.guess,
        gained(risk, attacked.guess),
        _over_control(risk, control, memorization, attacked.is_plain_mean),
        tuple(release_values(*own, attacked.transform).ravel().tolist()),
        curve(attacked, interval),
        attacked.details,
        attacked.warning,
        further,
        reach=attacked.reach,
        worst=worst_release(*own, interval.confidence, attacked.transform, attacked.entities),
    )


def curve(attacked: Attacked, interval: Interval) -> tuple[Estimate, ...]:
    """Return the share of members with a gain above 0.00, 0.05 ... 0.95, each with the study's crossed interval.

    Of a number the share with an error below 0.25, 0.50 ... 5.00 times the tolerance. The intervals are pointwise: each
    holds at its threshold, not all at once. Empty where there are neither gains nor errors.
    """
    flags: Iterator[np.ndarray]
    if attacked.gain is not None:
        gains, scored = attacked.gain, ~np.isnan(attacked.gain)
        flags = (np.where(scored, gains > t, np.nan) for t in CURVE)
    elif attacked.error is not None:
        errors, known, (tolerance, _) = attacked.error, ~np.isnan(attacked.error), attacked.details["tolerance"]
        flags = (np.where(known, errors < t, np.nan) for t in TOLERANCES * tolerance)
    else:
        return ()
    return tuple(
        estimate(effects(f, attacked.member), interval.confidence, entities=attacked.entities, scale=SHARE)
        for f in flags
    )


def curve_together(curves: Sequence[Sequence[Estimate]], envelope: str) -> tuple[Estimate, ...]:
    """Return the curve of several attacker models from that of each: at each threshold the largest, or the mean.

    The largest of their means over releases has the interval of the model that has it; the mean has none. Empty where
    a model has no curve.
    """
    points = list(zip(*curves, strict=True)) if curves and all(curves) else []
    if envelope == "max":
        return tuple(max(each, key=lambda e: e.value) for each in points)
    values = [float(np.mean([e.value for e in each])) for each in points]
    return tuple(Estimate(value, float("nan"), float("nan")) for value in values)


def find_released(
    synthesizer: str,
    role: str,
    measure: Measure,
    released: ReleasedValues,
    interval: Interval,
    reasons: Reasons = NO_REASONS,
    details: Mapping[str, tuple[float, float]] | None = None,
) -> Finding:
    """Return the finding of a metric that has no score a real record, but values a release.

    Its intervals are always over repetitions. The guess is that of the ``details`` which the metric declares.
    """
    metric, told = METRICS[measure.metric], dict(details or {})
    scale = ValueScale(*metric.range)
    risk, risk_control, memorization = (
        _explained(across_repetitions(values, interval.confidence, on), why)
        for values, on, why in (
            (released.value, scale, reasons.members),
            (released.control, scale, reasons.controls),
            (released.difference, scale.of_differences, reasons.difference),
        )
    )
    guess = float("nan") if metric.yardsticks.guess is None else told.get(metric.yardsticks.guess, (float("nan"),))[0]
    return Finding(
        synthesizer,
        role,
        measure,
        risk,
        risk_control,
        memorization,
        guess,
        gained(risk, guess),
        control_gain=gain(risk.value, risk_control.value),
        release_risk=tuple(released.value.ravel().tolist()),
        details=told,
        worst=worst_value(released.value),
    )


def contributions_of(attacked: Attacked) -> Contributions:
    """Return the contributions behind a finding's risk, control value and memorization.

    Where a measure is a function T of a mean m, its contributions are linear ones: T(m) + T'(m)(e - m).
    """
    risk, control = (linearised(each, attacked.transform) for each in attacked.of_amount)
    return Contributions(risk, control, attacked.of_memorization)


def gained(risk: Estimate, guess: float) -> Estimate:
    """Return the gain over the guess; not estimable where nothing is guessed."""
    if np.isnan(guess):
        return NOT_ESTIMABLE
    return over_known(risk, guess)[0]


def standardised_difference(attacked: Attacked, interval: Interval) -> dict[str, tuple[float, float]]:
    """Return how much surer the attack is of a record in the data than of the same record held out, as details.

    d = (mean ranking as member - mean ranking as control record) / (standard deviation of the control records'), with
    the crossed interval of memorization, in which that deviation counts as known. It is 0 on average where the release
    says nothing of who its members are. Memorization of an attack that claims counts the records that cross one
    threshold; d counts how far each is moved, so that it sees a few copies that move hardly any claim. It is no share
    of people, and how large it is depends on how the attack spaces its ranking: no limit is set on it.

    Args:
        attacked: Scores with a ``ranking``, (R, K, n); who abstains (-inf) is as sure as the least sure of the release.
        interval: Confidence and method.

    Returns:
        ``standardised_difference`` with ``_lower`` and ``_upper`` for members (NaN for control records); nothing where
        there is no ranking, there are no control records or all are ranked alike.
    """
    if attacked.ranking is None or not (attacked.control & ~np.isnan(attacked.ranking)).any():
        return {}
    known = np.where(np.isfinite(attacked.ranking), attacked.ranking, np.inf)
    least = known.min(axis=2, keepdims=True)
    sure = np.where(np.isneginf(attacked.ranking), np.where(np.isinf(least), 0.0, least), attacked.ranking)
    spread = float(sure[attacked.control & ~np.isnan(sure)].std())
    if spread == 0:
        return {}
    members, controls = (effects(sure / spread, chosen) for chosen in (attacked.member, attacked.control))
    crossed = replace(interval, method="crossed")
    found = of_groups(members, controls, crossed, entities=attacked.entities)
    name, nan = "standardised_difference", float("nan")
    ends = {"": found.value, "_lower": found.lower, "_upper": found.upper}
    return {} if np.isnan(found.value) else {name + end: (number, nan) for end, number in ends.items()}


def release_values(
    amount: np.ndarray, chosen: np.ndarray, transform: Callable[[float], float] | None = None
) -> np.ndarray:
    """Return the value of each release on the chosen records, (R, K)."""
    mask = chosen & ~np.isnan(amount)
    count = mask.sum(axis=2)
    means = np.divide(np.where(mask, amount, 0.0).sum(axis=2), count, out=np.full(count.shape, np.nan), where=count > 0)
    if transform is None:
        return means
    with np.errstate(invalid="ignore"):  # of no release, where nothing was chosen
        return np.vectorize(transform, otypes=[float])(means)


def _is_right_or_wrong(attacked: Attacked) -> bool:
    """Tell whether there is one release whose value is a share of 0/1 scores, of records that stand alone."""
    scored = attacked.scores[~np.isnan(attacked.scores)]
    is_share = attacked.is_plain_mean and attacked.entities is None
    return attacked.scores.shape[:2] == (1, 1) and is_share and bool(np.isin(scored, (0, 1)).all())


def _over_control(risk: Estimate, control: Estimate, memorization: Estimate, is_plain_mean: bool) -> float:
    """Return the gain over control, of an adjusted difference where that is the difference of both."""
    if memorization.method == ADJUSTED and is_plain_mean:
        return adjusted_gain(memorization, control.value).value
    return gain(risk.value, control.value)


def _adjusted(attacked: Attacked, interval: Interval, scale: ValueScale, note: str) -> Estimate | None:
    if attacked.covariates is None:
        return None
    (member,), (control,) = attacked.member[0], attacked.control[0]
    scores = np.where(member | control, attacked.scores[0, 0], np.nan)
    return adjusted_difference(scores, member, attacked.covariates, interval.confidence, scale, note)


def _share(attacked: Attacked, chosen: np.ndarray, interval: Interval) -> Estimate:
    scores = attacked.scores[chosen & ~np.isnan(attacked.scores)]
    return replace(share(scores, interval.confidence), note=ONE_REPETITION) if len(scores) else NOT_ESTIMABLE


def _explained(found: Estimate, *reasons: str) -> Estimate:
    """Return the estimate with the first of the reasons that there is, where it has no value."""
    reason = next(filter(None, reasons), "")
    return replace(found, note=reason) if reason and np.isnan(found.value) else found


@dataclass(frozen=True)
class Cost:
    """What one release of a generator takes to be made: the table is read, the generator learns and draws."""

    seconds: float  # mean over its releases
    megabytes: float = float("nan")  # the most memory of a process that made one; NaN where it is not known

    @property
    def words(self) -> str:
        """Both, with two digits of what is small.

        Example:
            >>> Cost(0.8123, 311.7).words, Cost(1234.5).words
            ('0.81 s, 312 MB', '1,234 s')
        """
        seconds = f"{self.seconds:.2g}" if self.seconds < 10 else f"{self.seconds:,.0f}"
        return f"{seconds} s" + ("" if np.isnan(self.megabytes) else f", {self.megabytes:,.0f} MB")


@dataclass(frozen=True)
class Usefulness:
    """One line of the table of utility."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    measure: Measure
    # utility of the releases against the records that they were fitted on, with interval over repetitions
    value: Estimate
    thinned: Estimate  # the same at the number of rows that the ceiling has
    ceiling: Estimate  # utility of records that the synthesizer never saw, in place of a release (see ``ceiling``)
    releases: tuple[float, ...] = ()  # value of each release, in order of repetition and fold
    # means over releases of what the metric says besides: of the releases, and of the ceiling
    details: dict[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""  # why there is no value, or an empty string

    @property
    def at_one_size(self) -> Estimate:
        """The value that may be compared with the ceiling, and between synthesizers; the value where there is none."""
        return self.value if np.isnan(self.thinned.value) else self.thinned


def usefulness(
    synthesizer: str, role: str, measure: Measure, found: Mapping[tuple[int, int], OfUtility], confidence: float = 0.95
) -> Usefulness:
    """Return the utility of one synthesizer, from what is said of each release by repetition and fold."""
    shape = tuple(1 + max(place[i] for place in found) for i in (0, 1))
    tables = np.full((3, *shape), np.nan)
    for place, each in found.items():
        ceiling = each.ceiling
        tables[:, *place] = each.value, *((np.nan, np.nan) if ceiling is None else (ceiling.thinned, ceiling.value))
    value, thinned, reached = (_within(across_repetitions(table, confidence)) for table in tables)
    reason = next((each.reason for each in found.values() if each.reason), "")
    in_order = [found[place] for place in sorted(found)]
    own, others = [each.details for each in in_order], [each.ceiling.details for each in in_order if each.ceiling]
    names = dict.fromkeys(name for each in own for name in each)
    means = {name: (_mean(own, name), _mean(others, name)) for name in names}
    releases = tuple(tables[0].ravel().tolist())
    return Usefulness(synthesizer, role, measure, value, thinned, reached, releases, means, reason)


def utility_table(findings: Sequence[Usefulness]) -> pd.DataFrame:
    """Return utility as one table, a row a synthesizer and measure."""
    rows = [
        {"synthesizer": f.synthesizer, "role": f.role, "measure": f.measure.key}
        | {"utility": f.value.value, "utility_lower": f.value.lower, "utility_upper": f.value.upper}
        | {"utility_ceiling": f.ceiling.value, "utility_thinned": f.thinned.value}
        | {"note": "; ".join(filter(None, (f.value.note, f.reason)))}
        for f in findings
    ]
    return pd.DataFrame(rows)


def _within(found: Estimate) -> Estimate:
    """Return an estimate whose interval ends where utilities do: at 0 and 1."""
    return replace(found, lower=float(np.clip(found.lower, 0, 1)), upper=float(np.clip(found.upper, 0, 1)))


def _mean(every: Sequence[dict[str, float]], name: str) -> float:
    """Return the mean over the releases of which it is known."""
    return mean_of_known([each[name] for each in every if name in each])
