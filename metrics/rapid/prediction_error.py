"""How wrong a guess of a number is, and how well the best constant guess would do."""

import numpy as np

from synthrisk.metrics.errors import InputError, check_range, check_word
from synthrisk.metrics.tables.tolerance import ErrorName


def prediction_error(
    truth: np.ndarray, predicted: np.ndarray, error: ErrorName = "symmetric", delta: float = 0.01
) -> np.ndarray:
    """Return the error of each prediction; NaN where the truth is missing.

    ``symmetric``: 2|y - p|/(|y| + |p| + 2d); ``stabilized_relative``: |y - p|/(|y| + d); ``absolute``: |y - p|, in
    units of y; y is the ``truth``, p what is ``predicted``, d = ``delta`` >= 0, which may be 0 only where no record has
    0/0.

    Example:
        >>> prediction_error(np.array([100.0]), np.array([90.0]), "stabilized_relative", 0).tolist()
        [0.1]
    """
    check_error(error, delta)
    truth, predicted = np.asarray(truth, dtype=float), np.asarray(predicted, dtype=float)
    gap = np.abs(truth - predicted)
    if error == "absolute":
        return gap
    if error == "symmetric":
        gap, scale = 2 * gap, np.abs(truth) + np.abs(predicted) + 2 * delta
    else:
        scale = np.abs(truth) + delta
    if np.any(scale == 0):
        raise InputError(f"delta must be above 0 where an error would divide by 0, got {delta!r}")
    return gap / scale


def best_constant(truth: np.ndarray, limit: float, error: ErrorName, delta: float) -> float:
    """Return the largest share of records that one and the same guess brings below the tolerance.

    Example:
        >>> best_constant(np.array([1.0, 1.1, 5.0]), 0.2, "absolute", 0.0).__round__(3)
        0.667
    """
    return float(near_best_constant(truth, limit, error, delta).mean())


def near_best_constant(truth: np.ndarray, limit: float, error: ErrorName, delta: float) -> np.ndarray:
    """Return which records the best constant guess brings below the tolerance, (n,) booleans; no truth is NaN.

    Each true value y accepts the guesses of an open interval; the best guess lies in most intervals, the smallest such
    guess where there are several. With t = ``limit``: absolute y -/+ t; relative y -/+ t(|y| + d); symmetric, for p of
    the sign of y: (|y|(2 - t) - 2td)/(2 + t) < |p| < (|y|(2 + t) + 2td)/(2 - t).

    Example:
        >>> near_best_constant(np.array([1.0, 1.1, 5.0]), 0.2, "absolute", 0.0).tolist()
        [True, True, False]
    """
    size = np.abs(truth)
    if error == "absolute":
        low, high = truth - limit, truth + limit
    elif error == "stabilized_relative":
        low, high = truth - limit * (size + delta), truth + limit * (size + delta)
    else:
        near = (size * (2 - limit) - 2 * limit * delta) / (2 + limit)
        far = np.where(limit < 2, (size * (2 + limit) + 2 * limit * delta) / max(2 - limit, 1e-300), np.inf)
        # the lower end may cross 0, where |p| grows again: 2(|y| + |p|) < t(|y| + |p| + 2d)
        crossed = (size * (limit - 2) + 2 * limit * delta) / max(2 - limit, 1e-300)
        near = np.where(near > 0, near, -crossed)
        low, high = np.where(truth >= 0, near, -far), np.where(truth >= 0, far, -near)
    ends = np.concatenate([low, high])
    step = np.concatenate([np.ones(len(low)), -np.ones(len(high))])
    order = np.lexsort((step, ends))  # open intervals: at equal ends close before opening
    best = ends[order[int(np.argmax(np.cumsum(step[order])))]]  # the guess lies just above this end
    return np.asarray((low <= best) & (best < high))


def check_error(error: str, delta: float) -> None:
    """Refuse an error or a stabiliser that breaks its rule."""
    check_word("error", error, "symmetric", "stabilized_relative", "absolute")
    check_range("delta", delta, 0, np.finfo(float).max, "a number of at least 0")
