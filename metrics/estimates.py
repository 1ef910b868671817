"""One estimator with its interval and test for every quantity of a study: risk, control, memorization, differences.

Scores are crossed: n records x R repetitions. Which records are in the table and which splits and generator
seeds were drawn both vary, and part of the variation between repetitions is only the records' own noise.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

METHODS = ("crossed", "crossed_bootstrap", "records", "repetitions", "pigeonhole")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: The estimate.
        lower: Lower limit; NaN where there is no interval (``note`` says why).
        upper: Upper limit.
        method: How the interval was made.
        note: What limits the interval, or an empty string.
    """

    value: float
    lower: float
    upper: float
    method: str = "crossed"
    note: str = ""


@dataclass(frozen=True)
class TTest:
    """An estimate with the two-sided p-value of its t test against 0: below 1 - confidence where 0 is outside."""

    estimate: Estimate
    p_value: float


@dataclass(frozen=True)
class Variances:
    """The parts of the crossed variance.

    Attributes:
        records: Variance of the mean that the choice of records (or entities) makes: s2_rec/n.
        between: Variance over repetitions of their means, s2_rep; 0 where there is one repetition.
        noise: What the records' own noise adds to that: s2_in/n.
        count: Number of independent records, or entities.
        repetitions: R.
    """

    records: float
    between: float
    noise: float
    count: int
    repetitions: int

    @property
    def terms(self) -> tuple[float, float]:
        """Both terms of the variance of the overall mean: of records, and of repetitions."""
        return self.records, max(0.0, self.between - self.noise) / self.repetitions

    @property
    def spread(self) -> float:
        """Standard error of the overall mean."""
        return float(np.sqrt(sum(self.terms)))

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom, of ``count`` - 1 and ``repetitions`` - 1."""
        from_records, from_repetitions = self.terms
        return satterthwaite((from_records, self.count - 1), (from_repetitions, self.repetitions - 1))


NOT_ESTIMABLE = Estimate(float("nan"), float("nan"), float("nan"), note="not scored")
ONE_REPETITION = "one repetition: the generator's own variance is unknown"
_ONE_RECORD = "one record: no interval"


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
        chosen: (R, K, n) booleans: members, or controls.
    """
    mask = chosen & ~np.isnan(scores)
    ever = mask.any(axis=(0, 1))
    if not ever.any() or not mask.any(axis=(1, 2)).all():
        return np.empty((len(scores), 0))
    mask = mask[:, :, ever]
    total = np.where(mask, scores[:, :, ever], 0.0).sum(axis=1)
    times = mask.sum(axis=1)
    count = times.sum(axis=1, keepdims=True)
    mean = total.sum(axis=1, keepdims=True) / count
    found = np.full((len(scores), scores.shape[2]), np.nan)
    found[:, ever] = mean + times.shape[1] * (total - mean * times) / count
    return found


def estimate(
    contributions: np.ndarray,
    confidence: float = 0.95,
    method: str = "crossed",
    resamples: int = 500,
    seed: int = 0,
    entities: np.ndarray | None = None,
) -> Estimate:
    """Return mean and interval of crossed contributions.

    ``crossed``: variance = s2_rec/n + max(0, s2_rep - s2_in/n)/R with s2_rec the variance over records of
    their mean over repetitions, s2_rep the variance over repetitions of the mean, s2_in the mean over records
    of the variance over repetitions; t quantile with Satterthwaite degrees of freedom (n - 1 and R - 1).
    ``crossed_bootstrap``: records' means resampled, plus a normal draw of the second term. ``records``,
    ``repetitions``, ``pigeonhole``: percentile bootstrap over records, over repetitions, over both.
    The interval speaks of this table: a generator that learned ties all records to it.

    Args:
        contributions: (R, n): ``effects``, or a difference of effects. Columns that are all NaN are left out.
        confidence: Confidence level.
        method: One of ``METHODS``.
        resamples: Resamples of the bootstrap methods.
        seed: Seed of the resampling.
        entities: (n,) entity of each record, where one entity has several records.
    """
    if method == "crossed":
        return t_test(contributions, confidence, entities).estimate
    e, units = _scored(contributions, entities)
    if not e.size:
        return NOT_ESTIMABLE
    repetitions, n = e.shape
    value = float(e.mean())
    if n < 2:
        return Estimate(value, float("nan"), float("nan"), method, _ONE_RECORD)
    if method == "repetitions" and repetitions == 1:
        return Estimate(value, float("nan"), float("nan"), method, ONE_REPETITION)
    note = ONE_REPETITION if repetitions == 1 else ""
    from_repetitions = _variances(e, units).terms[1]
    draws = _bootstrap(e, method, resamples, np.random.default_rng(seed), units, np.sqrt(from_repetitions))
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(draws, [tail, 1 - tail])
    return Estimate(value, float(lower), float(upper), method, note)


def t_test(contributions: np.ndarray, confidence: float = 0.95, entities: np.ndarray | None = None) -> TTest:
    """Return the ``crossed`` estimate and its t test against 0, from one variance and one number of degrees of freedom.

    p = 2 P(T > |value| / spread), T with Satterthwaite's degrees of freedom; 1 where value and spread are 0.

    Args:
        contributions: (R, n), as for ``estimate``.
        confidence: Confidence level of the interval.
        entities: (n,) entity of each record, where one entity has several records.

    Example:
        >>> found = t_test(np.array([[0.1, 0.3, 0.2, 0.4], [0.2, 0.2, 0.3, 0.3]]))
        >>> round(found.estimate.value, 2), round(found.estimate.lower, 3), round(found.p_value, 3)
        (0.25, 0.12, 0.009)
    """
    e, units = _scored(contributions, entities)
    if not e.size:
        return TTest(NOT_ESTIMABLE, float("nan"))
    value = float(e.mean())
    if e.shape[1] < 2:
        return TTest(Estimate(value, float("nan"), float("nan"), "crossed", _ONE_RECORD), float("nan"))
    found = _variances(e, units)
    note = ONE_REPETITION if found.repetitions == 1 else ""
    return _from_spread(value, found.spread, found.freedom, confidence, "crossed", note)


def variances(contributions: np.ndarray, entities: np.ndarray | None = None) -> Variances | None:
    """Return the parts of the crossed variance; None where fewer than two records are scored."""
    e, units = _scored(contributions, entities)
    return _variances(e, units) if e.shape[1] > 1 else None


def across_repetitions(values: np.ndarray, confidence: float = 0.95) -> Estimate:
    """Return mean and t interval over repetitions, for metrics without a score a real record: see below."""
    return t_test_across_repetitions(values, confidence).estimate


def t_test_across_repetitions(values: np.ndarray, confidence: float = 0.95) -> TTest:
    """Return mean, t interval and t test over repetitions.

    Args:
        values: (R, K): one value a release; the releases of one repetition share their records, so their
            mean is one observation.
        confidence: Confidence level.
    """
    means = np.nanmean(values, axis=1) if not np.isnan(values).all(axis=1).any() else np.array([])
    if not len(means):
        return TTest(NOT_ESTIMABLE, float("nan"))
    value = float(means.mean())
    if len(means) < 2:
        return TTest(Estimate(value, float("nan"), float("nan"), "repetitions", ONE_REPETITION), float("nan"))
    spread = float(means.std(ddof=1) / np.sqrt(len(means)))
    return _from_spread(value, spread, len(means) - 1, confidence, "repetitions", "")


def _from_spread(value: float, spread: float, freedom: float, confidence: float, method: str, note: str) -> TTest:
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * spread
    p_value = 2 * stats.t.sf(abs(value) / spread, freedom) if spread > 0 else value == 0
    return TTest(Estimate(value, value - half, value + half, method, note), float(p_value))


def _scored(contributions: np.ndarray, entities: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the columns that hold numbers, and the entity of each as a code."""
    kept = ~np.isnan(contributions).all(axis=0) if contributions.size else np.zeros(contributions.shape[1], bool)
    units = None if entities is None or not kept.any() else np.unique(entities[kept], return_inverse=True)[1]
    return contributions[:, kept], units


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


def _bootstrap(
    e: np.ndarray,
    method: str,
    resamples: int,
    rng: np.random.Generator,
    units: np.ndarray | None,
    spread: float,
) -> np.ndarray:
    repetitions, n = e.shape
    if method == "repetitions":
        return np.asarray(e.mean(axis=1)[rng.integers(repetitions, size=(resamples, repetitions))].mean(axis=1))
    sizes = np.ones(n) if units is None else np.bincount(units)
    draws = np.empty(resamples)
    for b in range(resamples):
        rows = rng.integers(repetitions, size=repetitions) if method == "pigeonhole" else slice(None)
        means = e[rows].mean(axis=0)
        sums = means if units is None else np.bincount(units, means)
        picked = rng.integers(len(sums), size=len(sums))
        draws[b] = sums[picked].sum() / sizes[picked].sum()
    return draws + rng.normal(0, spread, resamples) if method == "crossed_bootstrap" else draws
