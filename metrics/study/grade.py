"""The derived GDA grade: how well a column is defended, from confidence improvement and claim probability.

It is a convention, not a measurement: read the two quantities first.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import scipy

_IMPROVEMENT = (0.0, 0.5, 0.75, 0.9, 0.95, 1.0)
_LOG_PROBABILITY = (-5.0, -4.0, -3.0, -2.0, 0.0)
_DEFENSE = np.array(
    [
        [1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0, 0.95, 0.95],
        [1.0, 1.0, 0.95, 0.9, 0.7],
        [1.0, 0.9, 0.8, 0.6, 0.3],
        [1.0, 0.8, 0.7, 0.3, 0.1],
        [1.0, 0.7, 0.3, 0.1, 0.0],
    ]
)  # gda-score-code 2.5.4, scores/gdaScore.py: its grid; its interpolation is not monotone (reference/gda)
_SUSCEPTIBILITY = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0)
_FLOOR = (1.0, 0.99, 0.9, 0.7, 0.4, 0.1, 0.05, 0.0)


def grade(improvement: float, probability: float) -> float:
    """Return the defense in [0, 1], 1 = nothing is learned.

    Bilinear in (CI, log10 claim probability) between the nodes of the original grid, whose rows and columns fall, so
    that more confidence or more claims never raise it. An improvement below 0 counts as 0, a probability below 1e-5
    as 1e-5; without claims there is nothing to defend against: 1.

    Args:
        improvement: Confidence improvement (C - S)/(1 - S), at most 1; NaN where it is not defined gives NaN, unless
            no claim was made.
        probability: Claims / attempts, in [0, 1].

    Example:
        >>> grade(0.2, 1.0), grade(1.0, 0.001), round(grade(0.875, 1.0), 3)
        (0.98, 0.3, 0.367)
    """
    if probability == 0:
        return 1.0
    if np.isnan(improvement) or np.isnan(probability):
        return float("nan")
    return float(_bilinear()((np.clip(improvement, 0, 1), np.clip(np.log10(probability), -5, 0))))


def susceptibility_floor(susceptibility: float) -> float:
    """Return the defense that a data set has because only this share of its cells can be attacked.

    Example:
        >>> susceptibility_floor(1.0), round(susceptibility_floor(0.5), 4), susceptibility_floor(0.0)
        (0.0, 0.0253, 1.0)
    """
    return float(np.interp(susceptibility, _SUSCEPTIBILITY, _FLOOR))


@cache
def _bilinear() -> Callable[[tuple[float, float]], float]:
    return scipy.interpolate.RegularGridInterpolator((_IMPROVEMENT, _LOG_PROBABILITY), _DEFENSE)
