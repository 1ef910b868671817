"""One estimator with its interval and test for every quantity of a study: risk, control, memorization, differences.

Scores are crossed: n records x R repetitions. The records, the splits and the generator seeds are all drawn, and part
of the variation between repetitions is only the records' own noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.intervals.bootstrap import bootstraps
from synthrisk.metrics.intervals.distributions import t_quantile, t_two_sided
from synthrisk.metrics.intervals.value_scale import DIFFERENCE, LINE, ValueScale

METHODS = ("crossed", "crossed_bootstrap", "records", "repetitions", "pigeonhole")
TESTED = 0.95
"""Confidence of tests and comparisons, whatever that of the intervals is."""
_TESTED = ("crossed", "moderated")  # those that have a t test too


@dataclass(frozen=True)
class Prior:
    """What the other findings of a study say of the ratio of ``between`` to ``noise``: see ``moderated``."""

    freedom: float  # d0, the degrees of freedom that this knowledge is worth
    ratio: float  # s0^2, the ratio to expect


@dataclass(frozen=True)
class Interval:
    """How intervals are made: see ``estimates.estimate``."""

    confidence: float = 0.95
    method: str = "crossed"
    resamples: int = 500
    seed: int = 0


@dataclass(frozen=True)
class Variances:
    """The parts of the crossed variance."""

    records: float  # variance of the mean that the choice of records (or entities) makes: s2_rec/n
    between: float  # variance over repetitions of their means, s2_rep; 0 where there is one repetition
    noise: float  # what the records' own noise adds to that: s2_in/n
    count: int  # number of independent records, or entities
    repetitions: int  # R
    prior: Prior | None = None  # what other findings say of ``between``, or None

    @property
    def posterior(self) -> float:
        """s2_rep, moderated where there is a prior: (d0 s0^2 s2_in/n + (R - 1) s2_rep)/(d0 + R - 1)."""
        return float(self.moderated(self.between))

    def moderated(self, between: float | np.ndarray) -> float | np.ndarray:
        """Return variances between repetitions, each moderated by the prior as ``posterior`` is."""
        if self.prior is None:
            return between
        own = self.repetitions - 1
        borrowed = self.prior.freedom * self.prior.ratio * self.noise
        return (borrowed + own * between) / (self.prior.freedom + own)

    @property
    def between_freedom(self) -> float:
        """Degrees of freedom of the variance between repetitions: R - 1, and d0 where there is a prior."""
        return self.repetitions - 1 + (self.prior.freedom if self.prior else 0.0)

    @property
    def terms(self) -> tuple[float, float]:
        """Both terms of the variance of the overall mean: of records, and of repetitions."""
        return self.records, max(0.0, self.posterior - self.noise) / self.repetitions

    @property
    def spread(self) -> float:
        """Standard error of the overall mean."""
        return float(np.sqrt(sum(self.terms)))

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom, of ``count`` - 1 and ``between_freedom``."""
        from_records, from_repetitions = self.terms
        return satterthwaite((from_records, self.count - 1), (from_repetitions, self.between_freedom))


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; the limits are NaN where there is none, and ``note`` says why.

    ``parts`` are those of the variance of ``mean``, of which the value is made, where it is crossed or moderated.
    """

    value: float
    lower: float
    upper: float
    method: str = "crossed"  # how the interval was made
    note: str = ""  # what limits the interval, or an empty string
    parts: Variances | None = field(default=None, compare=False, repr=False)
    mean: float = field(default=float("nan"), compare=False, repr=False)
    scale: ValueScale = field(default=LINE, compare=False, repr=False)  # of the value, and how it is made of the mean


class TTest(NamedTuple):
    """An estimate with the two-sided p-value of its t test against 0: below 1 - confidence where 0 is outside."""

    estimate: Estimate
    p_value: float


NOT_ESTIMABLE = Estimate(float("nan"), float("nan"), float("nan"), note="not scored")
ONE_REPETITION = "one repetition: the generator's own variance is unknown"
TWO_REPETITIONS = "two repetitions: the variance between them is hardly known"
BORROWED = "two repetitions: the interval rests on what the study's other findings say of the variance between them"
_NOTES = {1: ONE_REPETITION, 2: TWO_REPETITIONS}
_ONE_OF_A_GROUP = "one record alone in a group"
_ONE_RECORD = "one record: no interval"


def spelled(found: Estimate, signed: bool = True) -> str:
    """Return an estimate in words: three decimals, its interval in brackets, with a sign unless it is a share.

    The minus sign is a true one, as in reports, and a zero has no sign.

    Example:
        >>> spelled(Estimate(0.1, 0.05, 0.15)), spelled(Estimate(-0.0001, -0.02, 0.0001))
        ('+0.100 [+0.050, +0.150]', '0.000 [−0.020, 0.000]')
    """
    value, lower, upper = (decimals(each, signed=signed) for each in (found.value, found.lower, found.upper))
    return f"{value} [{lower}, {upper}]"


def decimals(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Return so many decimals with a true minus sign, and no sign before a zero.

    Example:
        >>> decimals(0.0321, signed=True), decimals(-0.0001), decimals(-0.5, 2)
        ('+0.032', '0.000', '−0.50')
    """
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.replace("-", "−") if float(text) else text.strip("+-")


def effects(scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return each record's contribution to the mean of each repetition, (R, n).

    With x_rki the score of record i on release k of repetition r, m_rki = 1 where it is ``chosen`` and
    scored, D_r = sum m x / sum m and N_r = sum m:

        e_ri = D_r + n (sum_k m_rki x_rki - D_r sum_k m_rki) / N_r

    so that mean_i e_ri = D_r. Where every record is chosen equally often this is the record's mean score; it
    stays right where some records are not scored, or never held out. Records that are never scored are left
    out (n counts the others).

    Args:
        scores: (R, K, n), NaN where not scored.
        chosen: (R, K, n) booleans: members, or control records.
    """
    mask = chosen & ~np.isnan(scores)
    ever = mask.any(axis=(0, 1))
    if not ever.any() or not mask.any(axis=(1, 2)).all():
        return np.empty((len(scores), 0))
    kept = _places(ever, scores)
    mask = mask[:, :, kept]
    total = np.where(mask, scores[:, :, kept], 0.0).sum(axis=1)
    times = mask.sum(axis=1)
    count = times.sum(axis=1, keepdims=True)
    mean = total.sum(axis=1, keepdims=True) / count
    found = np.full((len(scores), scores.shape[2]), np.nan)
    found[:, kept] = mean + times.shape[1] * (total - mean * times) / count
    return found


def estimate(
    contributions: np.ndarray,
    confidence: float = 0.95,
    method: str = "crossed",
    resamples: int = 500,
    seed: int = 0,
    entities: np.ndarray | None = None,
    scale: ValueScale = LINE,
) -> Estimate:
    """Return mean and interval of crossed contributions.

    ``crossed``: variance = s2_rec/n + max(0, s2_rep - s2_in/n)/R with s2_rec the variance over records of their mean
    over repetitions, s2_rep the variance over repetitions of the mean, s2_in the mean over records of the variance over
    repetitions; t quantile with Satterthwaite's degrees of freedom (of n - 1 and R - 1). ``crossed_bootstrap``:
    records' means resampled, plus a normal draw of the second term. ``records``, ``repetitions``, ``pigeonhole``:
    percentile bootstrap over records, repetitions, or both. ``moderated`` is ``crossed`` until the study's other
    findings are known (``moderated_intervals.moderate``). The interval is about this table: all records share a
    generator that learned it.

    Args:
        contributions: (R, n): ``effects``, or a difference of effects. Columns that are all NaN are left out.
        confidence: Confidence level.
        method: One of ``METHODS``, or ``moderated``.
        resamples: Resamples of the bootstrap methods.
        seed: Seed of the resampling.
        entities: (n,) entity of each record, where one entity has several records.
        scale: Range of the value, on which limits depend (see ``ValueScale.around``), and how it is made of the mean.
    """
    interval = Interval(confidence, method, resamples, seed)
    return estimates(contributions, (method,), interval, entities, scale)[method]


def estimates(
    contributions: np.ndarray,
    methods: Sequence[str],
    interval: Interval,
    entities: np.ndarray | None = None,
    scale: ValueScale = LINE,
) -> dict[str, Estimate]:
    """Return the estimate by each of the methods, which share one mean, one variance and the resampled records.

    ``interval`` gives confidence, resamples and seed; the other arguments are those of ``estimate``.

    Example:
        >>> found = estimates(np.array([[0.0, 1.0] * 50]), ("crossed", "records"), Interval(resamples=2000))
        >>> [f"{name} {e.lower:.1f} {e.upper:.1f}" for name, e in found.items()]
        ['crossed 0.4 0.6', 'records 0.4 0.6']
    """
    others = [method for method in methods if method not in _TESTED]
    made = _resampled(contributions, others, interval, entities, scale) if others else {}
    if len(others) < len(methods):
        made |= dict.fromkeys(_TESTED, t_test(contributions, interval.confidence, entities, scale).estimate)
    return {method: made[method] for method in methods}


def _resampled(
    contributions: np.ndarray,
    methods: Sequence[str],
    interval: Interval,
    entities: np.ndarray | None,
    scale: ValueScale,
) -> dict[str, Estimate]:
    e, units = _scored(contributions, entities)
    if not e.size:
        return dict.fromkeys(methods, NOT_ESTIMABLE)
    repetitions, n = e.shape
    mean = float(e.mean())
    without = Estimate(scale.value(mean), float("nan"), float("nan"))
    if n < 2:
        return {method: replace(without, method=method, note=_ONE_RECORD) for method in methods}
    drawn = [method for method in methods if method != "repetitions" or repetitions > 1]
    spread = float(np.sqrt(_variances(e, units).terms[1]))
    found = {m: replace(without, method=m, note=ONE_REPETITION) for m in methods if m not in drawn}
    tail = (1 - interval.confidence) / 2
    for method, means in bootstraps(e, units, drawn, interval.resamples, interval.seed, spread).items():
        ends = (float(end) for end in np.quantile(means, [tail, 1 - tail]))
        found[method] = Estimate(without.value, *scale.between(mean, *ends), method, _NOTES.get(repetitions, ""))
    return found


def t_test(
    contributions: np.ndarray, confidence: float = 0.95, entities: np.ndarray | None = None, scale: ValueScale = LINE
) -> TTest:
    """Return the ``crossed`` estimate and its t test against 0, from one variance and one number of degrees of freedom.

    p = 2 P(T > |mean| / spread), T with Satterthwaite's degrees of freedom; 1 where mean and spread are 0. The
    arguments are those of ``estimate``; the test is of the mean.

    Example:
        >>> found = t_test(np.array([[0.1, 0.3, 0.2, 0.4], [0.2, 0.2, 0.3, 0.3]]))
        >>> round(found.estimate.value, 2), round(found.estimate.lower, 3), round(found.p_value, 3)
        (0.25, 0.12, 0.009)
    """
    e, units = _scored(contributions, entities)
    if not e.size:
        return TTest(NOT_ESTIMABLE, float("nan"))
    mean = float(e.mean())
    if e.shape[1] < 2:
        return TTest(Estimate(scale.value(mean), float("nan"), float("nan"), "crossed", _ONE_RECORD), float("nan"))
    parts = _variances(e, units)
    return TTest(from_parts(mean, parts, scale, confidence), _p_value(mean, parts.spread, parts.freedom))


def from_parts(mean: float, parts: Variances, scale: ValueScale, confidence: float) -> Estimate:
    """Return the crossed interval of a mean; the moderated one where the parts have a prior."""
    half = float(t_quantile(0.5 + confidence / 2, parts.freedom)) * parts.spread
    method = "moderated" if parts.prior else "crossed"
    note = BORROWED if parts.prior and parts.repetitions == 2 else _NOTES.get(parts.repetitions, "")
    return Estimate(scale.value(mean), *scale.around(mean, half), method, note, parts, mean, scale)


def variances(contributions: np.ndarray, entities: np.ndarray | None = None) -> Variances | None:
    """Return the parts of the crossed variance; None where fewer than two records are scored."""
    e, units = _scored(contributions, entities)
    return _variances(e, units) if e.shape[1] > 1 else None


def across_repetitions(values: np.ndarray, confidence: float = 0.95, scale: ValueScale = LINE) -> Estimate:
    """Return mean and t interval over repetitions, for metrics without a score for each real record."""
    return t_test_across_repetitions(values, confidence, scale).estimate


def t_test_across_repetitions(values: np.ndarray, confidence: float = 0.95, scale: ValueScale = LINE) -> TTest:
    """Return mean, t interval and t test over repetitions, limits clipped to the scale.

    ``values``, (R, K), is one value a release. The releases of one repetition share their records, so that their mean
    is one observation.
    """
    means = np.nanmean(values, axis=1) if not np.isnan(values).all(axis=1).any() else np.array([])
    if not len(means):
        return TTest(NOT_ESTIMABLE, float("nan"))
    value = float(means.mean())
    if len(means) < 2:
        return TTest(Estimate(value, float("nan"), float("nan"), "repetitions", ONE_REPETITION), float("nan"))
    spread = float(means.std(ddof=1) / np.sqrt(len(means)))
    half = float(t_quantile(0.5 + confidence / 2, len(means) - 1)) * spread
    found = Estimate(value, *scale.between(value, value - half, value + half), "repetitions")
    return TTest(found, _p_value(value, spread, len(means) - 1))


def _p_value(mean: float, spread: float, freedom: float) -> float:
    return t_two_sided(mean / spread, freedom) if spread > 0 else float(mean == 0)


def _scored(contributions: np.ndarray, entities: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    kept = ~np.isnan(contributions).all(axis=0) if contributions.size else np.zeros(contributions.shape[1], bool)
    units = None if entities is None or not kept.any() else np.unique(entities[kept], return_inverse=True)[1]
    return contributions[:, _places(kept, contributions)], units


def _places(kept: np.ndarray, values: np.ndarray) -> np.ndarray | slice:
    """Return which columns to keep: of one row a slice where it is all of them, which copies nothing.

    Several rows lie in another order in memory once columns are picked, and the last bit of sums depends on that.
    """
    return slice(None) if values.size == values.shape[-1] and kept.all() else kept


def _variances(e: np.ndarray, units: np.ndarray | None) -> Variances:
    repetitions, n = e.shape
    means = e.mean(axis=0)
    if units is None:
        from_records, count = means.var(ddof=1) / n, n
    else:
        sums = np.bincount(units, means - means.mean())
        count = len(sums)
        from_records = (sums**2).sum() / n**2 * (count / max(count - 1, 1))
    if repetitions == 1:
        return Variances(float(from_records), 0.0, 0.0, count, 1)
    between = e.mean(axis=1).var(ddof=1)
    sums = e if units is None else np.stack([np.bincount(units, row) for row in e])
    noise = sums.var(axis=0, ddof=1).sum() / n**2  # s2_in/n: what the records' own noise adds to a mean
    return Variances(float(from_records), float(between), float(noise), count, repetitions)


def satterthwaite(*terms: tuple[float, float]) -> float:
    """Return the degrees of freedom of a sum of variances, each given with its own."""
    total = sum(variance for variance, _ in terms)
    below = sum(variance**2 / freedom for variance, freedom in terms if variance > 0 and freedom > 0)
    return total**2 / below if below > 0 else float("inf")


def paired(members: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """Return the difference of two groups' contributions by record; where a record is absent, its group's mean."""
    if not members.shape[1] or not controls.shape[1]:
        return np.empty((len(members), 0))
    absent = np.isnan(members).all(axis=0) & np.isnan(controls).all(axis=0)
    filled = []
    for e in (members, controls):
        own = ~np.isnan(e).all(axis=0)
        mean = np.nanmean(e, axis=1, keepdims=True)
        # the group's deviations are to be divided by the number of all records, not of its own
        filled.append(np.where(own, mean + (e - mean) * (~absent).sum() / own.sum(), mean))
    return np.where(absent, np.nan, filled[0] - filled[1])


FEW = 50
"""Records (or entities) of a group below which its own variance is not trusted alone: see ``of_groups``."""


def of_groups(
    first: np.ndarray,
    second: np.ndarray,
    interval: Interval = Interval(),
    shift: float = 0.0,
    entities: np.ndarray | None = None,
    scale: ValueScale = LINE,
) -> Estimate:
    """Return the estimate of the difference of two groups' contributions; a crossed one also where a group is small.

    The few records of a small group may be alike by chance, and their mean then seems exact. If the groups have no
    record in common, the variance of a group below 50 records is therefore at least that of as many records of the
    other group, and the degrees of freedom are Satterthwaite's of the two groups. Contributions, (R, n), are NaN where
    a record is not in the group; ``shift`` is added to the difference; the other arguments are as for ``estimate``.

    Example:
        >>> members = np.array([[0.0, 1.0] * 30 + [np.nan] * 10])
        >>> controls = np.array([[np.nan] * 60 + [1.0] * 10])  # all alike
        >>> found = of_groups(members, controls)
        >>> round(found.value, 2), found.lower < -0.8, found.upper > -0.2
        (-0.5, True, True)
    """
    e = paired(first, second) + shift
    found = estimate(e, interval.confidence, interval.method, interval.resamples, interval.seed, entities, scale)
    held = [~np.isnan(each).all(axis=0) if each.size else np.zeros(0, bool) for each in (first, second)]
    if found.parts is None or held[0].shape != held[1].shape or (held[0] & held[1]).any():
        return found
    one, other = variances(first, entities), variances(second, entities)
    if one is None or other is None:
        return replace(found, lower=float("nan"), upper=float("nan"), note=_ONE_OF_A_GROUP)
    if min(one.count, other.count) >= FEW:
        return found
    floors = other.records * other.count / one.count, one.records * one.count / other.count
    terms = [
        (max(own.records, floor) if own.count < FEW else own.records, own.count - 1)
        for own, floor in zip((one, other), floors, strict=True)
    ]
    total, before = sum(v for v, _ in terms), one.records + other.records
    if total == 0:
        return found
    count = min(found.parts.count, int(satterthwaite(*terms)) + 1)
    parts = replace(found.parts, records=found.parts.records + total - before, count=max(count, 2))
    return replace(from_parts(float(np.nanmean(e)), parts, scale, interval.confidence), note=found.note)


def difference(
    before: np.ndarray,
    after: np.ndarray,
    confidence: float = 0.95,
    chosen: np.ndarray | None = None,
    entities: np.ndarray | None = None,
) -> Estimate:
    """Return mean score after minus before, with the crossed interval of the paired scores, each (R, K, n)."""
    everyone = np.ones(before.shape, dtype=bool) if chosen is None else chosen
    changed = paired(effects(after, everyone), effects(before, everyone))
    return estimate(changed, confidence, entities=entities, scale=DIFFERENCE)
