"""Moderated intervals: the variance between few repetitions, improved by what the study's other findings say of it.

With two or three repetitions this variance has one or two degrees of freedom. Its ratio to the records' own noise is
alike in all findings of a kind, so that they can share it (empirical Bayes: Smyth 2004, doi:10.2202/1544-6115.1027,
where genes are what findings are here).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import Estimate, Prior, Variances, from_parts

LEAST = 4
"""Findings of a kind below which nothing is borrowed."""
MOST_FREEDOM = 20.0
"""Degrees of freedom that are borrowed at most: findings of one study are correlated."""
_ROUNDING = 1e-18  # variance of scores, or of means of them, that is rounding alone


def moderate(found: Sequence[Estimate], confidence: float = 0.95) -> list[Estimate]:
    """Return the estimates of one kind of quantity with moderated intervals, in the order given.

    rho = s2_rep/(s2_in/n) is each estimate's ratio of the variance between repetitions to the records' noise in it,
    assumed s0^2 F(R - 1, d0); ``prior`` fits d0 and s0^2. Then

        rho~ = (d0 s0^2 + (R - 1) rho)/(d0 + R - 1)
        variance = s2_rec/n + max(0, rho~ - 1)(s2_in/n)/R

    with Satterthwaite's degrees of freedom, of n - 1 and d0 + R - 1. The values stay as they are.

    Args:
        found: One kind of quantity (say, memorization) of all measures and generators of a study. Crossed estimates of
            at least two repetitions whose records have noise take part. Where rho = 0 (repetitions with equal means)
            the estimate is moderated by the prior of the others. With fewer than ``LEAST`` others nothing is changed.
        confidence: Confidence level of the intervals.

    Example:
        >>> from synthrisk.metrics.intervals.value_scale import ValueScale
        >>> parts = [Variances(1e-4, rho * 1e-4, 1e-4, 500, 2) for rho in (0.2, 0.8, 1.5, 3.0)]
        >>> found = [from_parts(0.1, each, ValueScale(0.0, 1.0), 0.95) for each in parts]
        >>> [f"{e.lower:.3f} {e.upper:.3f}" for e in (found[3], moderate(found)[3])]
        ['0.067 0.147', '0.074 0.133']
    """
    parts = {place: parts for place, each in enumerate(found) if (parts := each.parts) and _takes_part(parts)}
    telling = [p for p in parts.values() if p.between > _ROUNDING]
    if len(telling) < LEAST:
        return list(found)
    own = prior(np.array([p.between / p.noise for p in telling]), np.array([p.repetitions - 1 for p in telling]))
    done = list(found)
    for place, each in parts.items():
        e = found[place]
        done[place] = from_parts(e.mean, replace(each, prior=own), e.scale, confidence)
    return done


def prior(ratios: np.ndarray, freedom: np.ndarray) -> Prior:
    """Return d0 and s0^2 of ratios that are s0^2 F(d, d0), by the moments of their logarithms.

    z = log rho, e = z - digamma(d/2) + log(d/2), v = var(e) - mean trigamma(d/2). Where v > 0, d0 = 2 trigamma^-1(v)
    and s0^2 = exp(mean(e) + digamma(d0/2) - log(d0/2)); otherwise d0 is infinite and s0^2 = exp(mean(e)). The d0 that
    is returned is at most ``MOST_FREEDOM``.

    Args:
        ratios: (m,) rho > 0, m >= 2.
        freedom: (m,) d, the degrees of freedom of each, R - 1.

    Raises:
        InputError: There are fewer than two ratios, or one is not above 0.

    Example:
        >>> found = prior(np.array([0.01, 0.5, 2.0, 60.0]), np.array([2, 2, 2, 2]))
        >>> round(found.freedom, 2), round(found.ratio, 2)
        (0.63, 0.18)
    """
    if len(ratios) < 2 or ratios.min() <= 0:
        raise InputError(f"ratios must be two or more, all above 0, got {ratios.tolist()}")
    e = np.log(ratios) - scipy.special.digamma(freedom / 2) + np.log(freedom / 2)
    left = float(e.var(ddof=1) - scipy.special.polygamma(1, freedom / 2).mean())
    if left <= 0:
        return Prior(MOST_FREEDOM, float(np.exp(e.mean())))
    half = trigamma_inverse(left)
    return Prior(min(2 * half, MOST_FREEDOM), float(np.exp(e.mean() + scipy.special.digamma(half) - np.log(half))))


def trigamma_inverse(y: float) -> float:
    """Return the x > 0 with trigamma(x) = y, for y > 0.

    1/x < trigamma(x) < 1/x + 1/x^2 brackets x; as trigamma is asymptotically 1/x + 1/(2 x^2), 1/y + 1/2 serves where y
    is so small that the bracket has no width in floating point.

    Raises:
        InputError: y is not above 0.

    Example:
        >>> round(trigamma_inverse(np.pi**2 / 6), 9)
        1.0
    """
    if not y > 0:
        raise InputError(f"y must be above 0, got {y}")
    if y < 1e-6:
        return 1 / y + 0.5
    low, high = 1 / y, (1 + np.sqrt(1 + 4 * y)) / (2 * y)
    return float(scipy.optimize.brentq(lambda x: scipy.special.polygamma(1, x) - y, low, high, xtol=1e-300, rtol=1e-14))


def _takes_part(parts: Variances) -> bool:
    return parts.prior is None and parts.repetitions > 1 and parts.noise * parts.count > _ROUNDING
