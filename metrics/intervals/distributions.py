"""Quantiles and tails of distributions, chances of a draw without replacement, and p-values adjusted for their number.

Quantiles and tails are the functions behind ``scipy.stats``, the same bits, without the 0.7 s that it takes to import
and the 0.1 ms that its checks take a call. Its hypergeometric takes tens to thousands of times as long as
``none_drawn``, measured in benchmarks/draws.py.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike


def normal_quantile(level: float) -> float:
    """Return the value below which a standard normal variable lies with a chance of ``level``.

    Example:
        >>> round(normal_quantile(0.975), 3)
        1.96
    """
    return float(scipy.special.ndtri(level))


def t_quantile(level: float, freedom: Any) -> Any:
    """Return the value below which Student's t of some degrees of freedom lies with a chance of ``level``.

    ``freedom`` is a number or an array; NaN where it is not above 0.

    Example:
        >>> round(float(t_quantile(0.975, 4)), 3)
        2.776
    """
    known = np.asarray(freedom) > 0
    return scipy.special.stdtrit(np.where(known, freedom, np.nan), level)[()]


def t_two_sided(t: float, freedom: float) -> float:
    """Return the chance that Student's t lies as far from 0 as ``t``, on either side.

    Example:
        >>> round(t_two_sided(2.776445, 4), 6)
        0.05
    """
    return float(2 * scipy.special.stdtr(freedom, -abs(t)))


def none_drawn(count: np.ndarray, total: int, drawn: int) -> np.ndarray:
    """Return the chance that none of ``count`` among ``total`` records is among the ``drawn``.

    Example:
        >>> none_drawn(np.array([0, 1, 3]), 4, 2).round(12).tolist()
        [1.0, 0.5, 0.0]
    """
    rest = total - count
    kept = np.maximum(rest, drawn)
    gammaln = scipy.special.gammaln
    logarithm = gammaln(kept + 1) - gammaln(kept - drawn + 1) - gammaln(total + 1) + gammaln(total - drawn + 1)
    return np.where(count == 0, 1.0, np.where(rest < drawn, 0.0, np.exp(logarithm)))


def holm(p_values: ArrayLike, larger: int = 0) -> np.ndarray:
    """Return Holm's step-down adjusted p-values: the running maximum of (m - i) p_(i), at most 1; NaN stays NaN.

    Holm 1979, Scandinavian Journal of Statistics 6, 65-70. m counts the p-values that are no NaN, and besides as many
    as are known to be ``larger`` than these: their own values are not needed.

    Example:
        >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
        [0.03, 0.06, 0.06]
        >>> holm([0.01], larger=2).round(3).tolist()
        [0.03]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    count = np.arange(len(order) + larger, larger, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * count))
    return adjusted
