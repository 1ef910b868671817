"""Intervals of one release, where scores are right or wrong: of a share, of the difference and the gain of two.

The worst release: the largest value that any release of a synthesizer has, with limits that hold for all at once.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, variances

ShareMethod = Literal["wilson", "clopper_pearson", "bootstrap"]
_SCIPY_NAMES = {"wilson": "wilson", "clopper_pearson": "exact"}


def share(scores: np.ndarray, confidence: float, method: ShareMethod = "wilson") -> Estimate:
    """Return the share of ones among 0/1 scores with its interval.

    ``wilson``: score interval (Wilson 1927), doi:10.1080/01621459.1927.10502953; near the nominal coverage on average
    over shares. ``clopper_pearson``: tails of the exact binomial test, doi:10.1093/biomet/26.4.404; never covers less
    than the nominal level. ``bootstrap``: percentile bootstrap over records, without drawing: a resample's count is
    Binomial(n, p). It has no width at p = 0 and 1, and covers too little where few ones or few zeros are expected
    (nominal .95: .63 at one, .86 at two, below .92 here and there up to 15).

    Args:
        scores: (n,) zeros and ones, n >= 1.
        confidence: Confidence level, in (0, 1).
        method: One of the three.

    Returns:
        An ``Estimate`` whose limits are in [0, 1].

    Raises:
        InputError: ``method`` is none of the three.

    Example:
        >>> right = np.array([1.0] * 8 + [0.0] * 2)
        >>> for method in ("wilson", "clopper_pearson", "bootstrap"):
        ...     found = share(right, 0.95, method)
        ...     print(found.value, round(found.lower, 3), round(found.upper, 3))
        0.8 0.49 0.943
        0.8 0.444 0.975
        0.8 0.5 1.0
    """
    count, n = int(scores.sum()), len(scores)
    if method == "bootstrap":
        tail = (1 - confidence) / 2
        low, high = scipy.stats.binom.ppf([tail, 1 - tail], n, count / n) / n
    elif method in _SCIPY_NAMES:
        low, high = scipy.stats.binomtest(count, n).proportion_ci(confidence, method=_SCIPY_NAMES[method])
    else:
        raise InputError(f"method must be wilson, clopper_pearson or bootstrap, got {method!r}")
    return Estimate(count / n, float(low), float(high), method)


def wilson(share: Any, n: Any, confidence: float) -> tuple[Any, Any]:
    """Return Wilson's score limits of shares whose numbers of records n need not be whole; arrays or numbers.

    (p + z^2/2n -+ z sqrt(p(1 - p)/n + z^2/4n^2))/(1 + z^2/n), 0 at p = 0 and 1 at p = 1.

    Example:
        >>> [round(float(limit), 3) for limit in wilson(0.8, 10, 0.95)]
        [0.49, 0.943]
    """
    z = normal_quantile(0.5 + confidence / 2)
    middle, half = share + z**2 / (2 * n), z * np.sqrt(np.maximum(share * (1 - share), 0.0) / n + (z / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    return np.where(share <= 0, 0.0, np.maximum(low, 0.0)), np.where(share >= 1, 1.0, np.minimum(high, 1.0))


def clopper_pearson(share: float, n: float, confidence: float) -> Estimate:
    """Return a share with its exact binomial limits; the count and the number of records n need not be whole.

    Example:
        >>> found = clopper_pearson(0.8, 10, 0.95)
        >>> round(found.lower, 3), round(found.upper, 3)
        (0.444, 0.975)
    """
    hits, tail = share * n, (1 - confidence) / 2
    low = float(scipy.stats.beta.ppf(tail, hits, n - hits + 1)) if share > 0 else 0.0
    high = float(scipy.stats.beta.ppf(1 - tail, hits + 1, n - hits)) if share < 1 else 1.0
    return Estimate(share, low, high, "clopper_pearson")


def expected_share(hits: float, n: float, confidence: float) -> Estimate:
    """Return a share with Wilson's limits from an expected number of hits, which need not be whole.

    An expectation varies less than a count, so that the limits are rather too wide.

    Example:
        >>> found = expected_share(8.0, 10, 0.95)
        >>> found.value, round(found.lower, 3), round(found.upper, 3)
        (0.8, 0.49, 0.943)
    """
    low, high = wilson(hits / n, n, confidence)
    return Estimate(hits / n, float(low), float(high), "wilson")


def share_difference(members: Estimate, controls: Estimate, correlation: float = 0.0) -> Estimate:
    """Return the difference of two shares with Newcombe's hybrid score interval.

    lower = d - sqrt(a^2 - 2 phi a b + b^2) with a = p1 - l1, b = u2 - p2; upper = d + sqrt(a^2 - 2 phi a b + b^2) with
    a = u1 - p1, b = p2 - l2; l, u the Wilson limits of both shares. Shares of different records: phi = 0 (Newcombe
    1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10); of the same records: phi =
    ``correlation`` of their scores (Newcombe 1998, Statistics in Medicine 17, 2635-2650, method 10).

    Example:
        >>> first, second = share(np.repeat([1.0, 0.0], [56, 14]), 0.95), share(np.repeat([1.0, 0.0], [48, 32]), 0.95)
        >>> found = share_difference(first, second)  # Newcombe's table II, case (a)
        >>> round(found.value, 4), round(found.lower, 4), round(found.upper, 4)
        (0.2, 0.0524, 0.3339)
    """
    value = members.value - controls.value
    note = next((e.note for e in (members, controls) if np.isnan(e.value)), members.note)
    lower = value - _hypot(members.value - members.lower, controls.upper - controls.value, correlation)
    upper = value + _hypot(members.upper - members.value, controls.value - controls.lower, correlation)
    return Estimate(value, float(lower), float(upper), "newcombe", note)


def share_gain(success: Estimate, yardstick: Estimate, correlation: float = 0.0) -> Estimate:
    """Return G = (x - s)/(1 - s) = 1 - (1 - x)/(1 - s) with the hybrid interval of a ratio of two shares.

    The limits of the ratio q1/q2 are those r at which the limit of q1 - r q2, made as in ``share_difference``, is 0
    (MOVER-R; Donner and Zou 2012, doi:10.1177/0962280210375716). x and s have Wilson limits; ``correlation`` is that of
    the scores, where both are of the same records. G is unclipped, NaN where s = 1.
    """
    if yardstick.value == 1 or np.isnan(success.value) or np.isnan(yardstick.value):
        return Estimate(float("nan"), float("nan"), float("nan"), "mover")
    q1, low1, high1 = 1 - success.value, 1 - success.upper, 1 - success.lower
    q2, low2, high2 = 1 - yardstick.value, 1 - yardstick.upper, 1 - yardstick.lower
    middle = q1 * q2 - correlation * (q1 - low1) * (high2 - q2)
    ends, other = low1 * (2 * q1 - low1), high2 * (2 * q2 - high2)
    smallest = _over(ends, middle + np.sqrt(max(0.0, middle**2 - ends * other)))
    middle = q1 * q2 - correlation * (high1 - q1) * (q2 - low2)
    ends, other = high1 * (2 * q1 - high1), low2 * (2 * q2 - low2)
    largest = _over(middle + np.sqrt(max(0.0, middle**2 - ends * other)), other)
    return Estimate(1 - q1 / q2, 1 - largest, 1 - smallest, "mover", success.note)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return phi of two 0/1 scores of the same records, with Newcombe's correction of a positive one towards 0.

    phi = c / sqrt((a + b)(c + d)(a + c)(b + d)) of the 2 x 2 table; a positive numerator ad - bc is lowered by n/2, to
    not less than 0. It is 0 where a margin is empty.

    Example:
        >>> first, second = np.repeat([1, 1, 0, 0], [20, 12, 2, 16]), np.repeat([1, 0, 1, 0], [20, 12, 2, 16])
        >>> phi = correlation(first, second)
        >>> found = share_difference(share(first, 0.95), share(second, 0.95), phi)
        >>> round(phi, 4), round(found.lower, 4), round(found.upper, 4)
        (0.455, 0.0562, 0.3292)
    """
    n, ones = len(first), (int(first.sum()), int(second.sum()))
    both = int((first * second).sum())
    numerator = n * both - ones[0] * ones[1]  # ad - bc
    corrected = max(numerator - n / 2, 0.0) if numerator > 0 else float(numerator)
    margins = float(ones[0]) * (n - ones[0]) * ones[1] * (n - ones[1])
    return float(corrected / np.sqrt(margins)) if margins else 0.0


def _hypot(a: float, b: float, phi: float) -> float:
    return float(np.sqrt(max(0.0, a**2 - 2 * phi * a * b + b**2)))


def _over(above: float, below: float) -> float:
    return float(above / below) if below > 0 else (0.0 if above == 0 else float("inf"))


METHOD = "bonferroni"
NO_ERROR = "this measure has no standard error of a single release"


def worst_release(
    amount: np.ndarray,
    member: np.ndarray,
    confidence: float,
    transform: Callable[[float], float] | None = None,
    entities: np.ndarray | None = None,
) -> Estimate:
    """Return the largest value of a release with an interval that is simultaneous over all releases.

    A mean over releases says nothing of the one that goes out, and the largest of many values is large by chance. So
    each of the m releases gets an interval at confidence 1 - (1 - c)/m, from the standard error that its records make:
    with probability c at least all m hold at once (Bonferroni, whatever ties the releases to each other), and then the
    largest true value lies between the largest lower and the largest upper limit. The interval of one release is
    Wilson's at the number of records that would give a share its standard error, 1 + p(1 - p)/se^2, so that it stays in
    [0, 1], has a width where all records score alike, and is Wilson's own for scores of 0 and 1. Where the value is a
    transform of a mean, it is the normal interval of the mean, transformed and cut at 0 and 1.

    Args:
        amount: (R, K, n) what the value is the mean of, NaN where not scored.
        member: (R, K, n) the records that a release was fitted on.
        confidence: Confidence level c.
        transform: The monotone function from the mean to the value, or None.
        entities: (n,) entity of each record, where one has several: the standard error sums by entity.

    Returns:
        An ``Estimate``; not estimable where no release has a value.

    Example:
        >>> scores = np.array([[[1.0, 0, 0, 0, 0]], [[1, 1, 1, 0, 0]]])  # two releases of five members
        >>> found = worst_release(scores, np.ones(scores.shape, dtype=bool), 0.95)
        >>> round(found.value, 3), round(found.lower, 3), round(found.upper, 3)
        (0.6, 0.199, 0.9)
    """
    rows = np.where(member, amount, np.nan).reshape(-1, amount.shape[-1])
    rows = rows[~np.isnan(rows).all(axis=1)]
    if not len(rows):
        return NOT_ESTIMABLE
    level = 1 - (1 - confidence) / len(rows)
    found = [_interval(row, level, transform, entities) for row in rows]
    value, lower, upper = np.max([(e.value, e.lower, e.upper) for e in found], axis=0)
    return Estimate(float(value), float(lower), float(upper), METHOD, next((e.note for e in found if e.note), ""))


def worst_value(values: np.ndarray) -> Estimate:
    """Return the largest of the releases' values, (R, K), where no release has a standard error of its own.

    Example:
        >>> worst_value(np.array([[0.2, 0.4], [0.3, np.nan]])).value
        0.4
    """
    if np.isnan(values).all():
        return NOT_ESTIMABLE
    return Estimate(float(np.nanmax(values)), float("nan"), float("nan"), METHOD, NO_ERROR)


def _interval(
    row: np.ndarray, level: float, transform: Callable[[float], float] | None, entities: np.ndarray | None
) -> Estimate:
    parts = variances(row[None, :], entities)
    mean = float(np.nanmean(row))
    if parts is None:
        value = mean if transform is None else transform(mean)
        return Estimate(value, 0.0, 1.0, METHOD, "one record: no interval")
    if transform is None:
        p = min(max(mean, 0.0), 1.0)
        varies = parts.records > 0 and 0 < p < 1
        size = p * (1 - p) / parts.records + 1 if varies else parts.count  # of zeros and ones: n
        return expected_share(p * size, size, level)
    half = normal_quantile(0.5 + level / 2) * parts.spread
    means = np.clip([mean - half, mean + half], np.nanmin(row), np.nanmax(row))  # no other mean need have a transform
    ends = [min(max(transform(float(each)), 0.0), 1.0) for each in means]
    return Estimate(transform(mean), min(ends), max(ends), METHOD)
