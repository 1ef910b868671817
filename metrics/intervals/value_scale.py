"""Where the limits of a mean are made, and where they end: a share has no limit below 0 or above 1.

Weighted and transformed means are brought to plain means of contributions, so that every estimate serves them too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import isnan

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.plugins import METRIC_GROUP, points


@dataclass(frozen=True)
class MetricTransform:
    """The monotone function that a metric makes its value of a mean with (``Records.transform``), under its name.

    Findings hold the name: a function could be kept in no file, and travel to no process that lacks a plug-in.

    Example:
        >>> MetricTransform("distance_to_closest_record")(0.0)
        1.0
    """

    metric: str  # name in the register

    def __call__(self, mean: float) -> float:
        """Return the value that belongs to a mean.

        Raises:
            InputError: No metric of this name is installed, or it states no function.
        """
        return _stated(self.metric)(mean)


@cache
def _stated(metric: str) -> Callable[[float], float]:
    found = [point.load().records.transform for point in points(METRIC_GROUP) if point.name == metric]
    if not found or found[0] is None:
        raise InputError(f"metric must name one that is installed and states a transform, got {metric!r}")
    return found[0]


@dataclass(frozen=True)
class ValueScale:
    """The range of a value, and the monotone function that makes the value of a mean."""

    lower: float = float("-inf")  # smallest possible value
    upper: float = float("inf")  # largest possible value
    transform: MetricTransform | None = None  # monotone, from the mean to the value; None: they are equal

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.lower, self.upper

    @property
    def of_differences(self) -> "ValueScale":
        """The scale of a difference of two such values."""
        return ValueScale(self.lower - self.upper, self.upper - self.lower)

    def value(self, mean: float) -> float:
        """Return the value that belongs to a mean."""
        return mean if self.transform is None else self.transform(mean)

    def around(self, mean: float, half: float) -> tuple[float, float]:
        """Return the limits of the value, from a mean and the half width of its symmetric interval.

        A share m strictly inside (0, 1) (range (0, 1), no transform) has its limits on the logit: logit(m) -+
        half/(m (1 - m)), by the delta method, so that they lie inside (0, 1). All others are m -+ half, transformed
        and clipped to the range.

        Example:
            >>> [round(limit, 3) for limit in SHARE.around(0.1, 0.15)]
            [0.021, 0.37]
            >>> DIFFERENCE.around(0.9, 0.3)
            (0.6000000000000001, 1.0)
        """
        if (self.lower, self.upper, self.transform) == (0, 1, None) and 0 < mean < 1 and half > 0:
            middle, reach = scipy.special.logit(mean), half / (mean * (1 - mean))
            return float(scipy.special.expit(middle - reach)), float(scipy.special.expit(middle + reach))
        return self.between(mean, mean - half, mean + half)

    def between(self, mean: float, lower: float, upper: float) -> tuple[float, float]:
        """Return limits of a mean as limits of its value: transformed, in order, and clipped to the range.

        A value that is itself outside the range stays between its limits; limits that are NaN stay NaN.
        """
        if isnan(mean + lower + upper):
            return lower, upper
        value, ends = self.value(mean), sorted((self.value(lower), self.value(upper)))
        return min(value, max(ends[0], self.lower)), max(value, min(ends[1], self.upper))


LINE = ValueScale()
SHARE = ValueScale(0.0, 1.0)
DIFFERENCE = SHARE.of_differences
GAIN = ValueScale(upper=1.0)


_STEP = 1e-4


def contributions(scores: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return what each record adds to its group's weighted mean: r + w (s - r)/mean(w), r = sum(w s)/sum(w).

    Their plain mean over the group is r. Their variance divided by the group's size is that of r as a ratio of two
    means, by linearisation: the weights vary with the records drawn. All are (..., n), of one release or several:
    scores (NaN = not scored), weights >= 0 and booleans, the records of the group. The result is NaN outside the group
    and where not scored or where the group has no weight.

    Example:
        >>> found = contributions(np.array([1.0, 0.0, 1.0]), np.array([3.0, 1.0, 1.0]), np.array([True, True, False]))
        >>> found.tolist(), float(np.nanmean(found))
        ([1.125, 0.375, nan], 0.75)
    """
    scored = groups & ~np.isnan(scores)
    kept = np.where(scored, weights, 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (kept * np.where(scored, scores, 0.0)).sum(axis=-1, keepdims=True) / total
        share = weights * scored.sum(axis=-1, keepdims=True) / total
    return np.where(scored, mean + share * (scores - mean), np.nan)


def linearised(e: np.ndarray, transform: Callable[[float], float] | None) -> np.ndarray:
    """Return what each record adds to a function T of a mean m: T(m) + T'(m)(e - m); ``e`` itself without one.

    Example:
        >>> linearised(np.array([1.0, 3.0]), lambda m: m**2).round(6).tolist()
        [0.0, 8.0]
    """
    if transform is None or np.isnan(e).all():
        return e
    mean = float(np.nanmean(e))
    step = _STEP * abs(mean)
    slope = (transform(mean + step) - transform(mean - step)) / (2 * step) if step else 0.0
    return transform(mean) + slope * (e - mean)
