"""Where the limits of a mean are made, and where they end: a share has no limit below 0 or above 1."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan

import scipy


@dataclass(frozen=True)
class ValueScale:
    """The range of a value, and the monotone function that makes the value of a mean."""

    lower: float = float("-inf")  # smallest possible value
    upper: float = float("inf")  # largest possible value
    transform: Callable[[float], float] | None = None  # monotone, from the mean to the value; None: they are equal

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
