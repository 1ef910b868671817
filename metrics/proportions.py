"""Intervals of one release, where scores are right or wrong: of a share (three methods) and of a difference."""

from typing import Literal

import numpy as np
from scipy.stats import binom, binomtest

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.estimates import Estimate

ShareMethod = Literal["wilson", "clopper_pearson", "bootstrap"]
_SCIPY_NAMES = {"wilson": "wilson", "clopper_pearson": "exact"}


def share(scores: np.ndarray, confidence: float, method: ShareMethod = "wilson") -> Estimate:
    """Return the share of ones among 0/1 scores with its interval.

    ``wilson``: score interval (Wilson 1927), doi:10.1080/01621459.1927.10502953; near the nominal coverage on
    average over shares. ``clopper_pearson``: tails of the exact binomial test, doi:10.1093/biomet/26.4.404; never
    covers less than the nominal level. ``bootstrap``: percentile bootstrap over records; a resample's count is
    Binomial(n, p), so the limits are its quantiles over n and nothing is drawn; it has no width at p = 0 and 1,
    and covers too little where few ones or few zeros are expected (nominal .95: .63 at one, .86 at two, below
    .92 here and there up to 15).

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
        low, high = binom.ppf([tail, 1 - tail], n, count / n) / n
    elif method in _SCIPY_NAMES:
        low, high = binomtest(count, n).proportion_ci(confidence, method=_SCIPY_NAMES[method])
    else:
        raise InputError(f"method must be wilson, clopper_pearson or bootstrap, got {method!r}")
    return Estimate(count / n, float(low), float(high), method)


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
