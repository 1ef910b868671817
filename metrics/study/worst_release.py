"""The worst release: the largest value that any release of a synthesizer has, with limits that hold for all at once."""

from collections.abc import Callable

import numpy as np

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, variances
from synthrisk.metrics.intervals.proportions import expected_share

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
        size = (
            p * (1 - p) / parts.records + 1 if parts.records > 0 and 0 < p < 1 else parts.count
        )  # of zeros and ones: n
        return expected_share(p * size, size, level)
    half = normal_quantile(0.5 + level / 2) * parts.spread
    means = np.clip([mean - half, mean + half], np.nanmin(row), np.nanmax(row))  # no other mean need have a transform
    ends = [min(max(transform(float(each)), 0.0), 1.0) for each in means]
    return Estimate(transform(mean), min(ends), max(ends), METHOD)
