"""Chances of a draw without replacement; scipy's hypergeometric takes tens to thousands of times as long.

Measured in benchmarks/draws.py.
"""

import numpy as np
import scipy


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
