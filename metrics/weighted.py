"""Weighted means as plain means of contributions, so that every estimate of a mean serves them too."""

import numpy as np


def contributions(scores: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return what each record adds to its group's weighted mean: r + w (s - r)/mean(w), r = sum(w s)/sum(w).

    Their plain mean over the group is r, and their variance over the group's size that of r as a ratio of two
    means (by linearisation), as the weights vary with the records drawn.

    Args:
        scores: (..., n) scores of the records against one release or several; NaN = not scored.
        weights: (..., n) weights, >= 0.
        groups: (..., n) booleans: the records of the group.

    Returns:
        (..., n), NaN outside the group and where not scored or where the group has no weight.

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
