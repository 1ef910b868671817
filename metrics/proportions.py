"""Intervals of one release, where scores are right or wrong: Wilson for a share, Newcombe for a difference."""

import numpy as np
from scipy.stats import binomtest

from synthrisk.metrics.estimates import Estimate


def share(scores: np.ndarray, confidence: float) -> Estimate:
    """Return the share of ones among 0/1 scores with its Wilson interval.

    Example:
        >>> found = share(np.array([1.0] * 8 + [0.0] * 2), 0.95)
        >>> found.value, round(found.lower, 3), round(found.upper, 3)
        (0.8, 0.49, 0.943)
    """
    count, n = int(scores.sum()), len(scores)
    ends = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return Estimate(count / n, float(ends.low), float(ends.high), "wilson")


def share_difference(members: Estimate, controls: Estimate) -> Estimate:
    """Return the difference of two shares with Newcombe's hybrid score interval (1998, method 10).

    lower = d - sqrt((p1 - l1)^2 + (u2 - p2)^2), upper = d + sqrt((u1 - p1)^2 + (p2 - l2)^2), with the Wilson
    limits l, u of both shares.

    Example:
        >>> first, second = share(np.repeat([1.0, 0.0], [56, 14]), 0.95), share(np.repeat([1.0, 0.0], [48, 32]), 0.95)
        >>> found = share_difference(first, second)  # Newcombe's table II, case (a)
        >>> round(found.value, 4), round(found.lower, 4), round(found.upper, 4)
        (0.2, 0.0524, 0.3339)
    """
    value = members.value - controls.value
    note = next((e.note for e in (members, controls) if np.isnan(e.value)), members.note)
    lower = value - np.hypot(members.value - members.lower, controls.upper - controls.value)
    upper = value + np.hypot(members.upper - members.value, controls.value - controls.lower)
    return Estimate(value, float(lower), float(upper), "newcombe", note)
