"""Weighted and transformed means as plain means of contributions, so that every estimate of a mean serves them too."""

from collections.abc import Callable

import numpy as np

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
