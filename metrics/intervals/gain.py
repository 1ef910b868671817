"""The normalised gain of RAPID, and the share of records above each threshold of it."""

from collections.abc import Sequence

import numpy as np

from synthrisk.metrics.errors import InputError

CURVE = np.round(np.arange(0, 1, 0.05), 2)
"""Thresholds of the curve: 0.00, 0.05 ... 0.95."""


def normalized_gain(confidence: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return r = (g - b)/(1 - b): 0 = no better than the class share, 1 = certain of the truth.

    Args:
        confidence: g, probability that the attacker model gives to the record's true class.
        baseline: b, share of that class in the original data, below 1.

    Example:
        >>> normalized_gain(np.array([0.9, 0.5]), np.array([0.5, 0.5])).round(3).tolist()
        [0.8, 0.0]
    """
    confidence, baseline = np.asarray(confidence, dtype=float), np.asarray(baseline, dtype=float)
    if np.any(baseline >= 1):
        raise InputError("sensitive must have at least two classes in the real table, got one")
    return (confidence - baseline) / (1 - baseline)


def threshold_curve(gain: np.ndarray, thresholds: Sequence[float] | np.ndarray = CURVE) -> np.ndarray:
    """Return the share of records with a gain strictly above each threshold; missing gains do not count.

    Example:
        >>> threshold_curve(np.array([0.1, 0.3, 0.9]), [0.0, 0.3]).round(3).tolist()
        [1.0, 0.333]
    """
    gain = np.asarray(gain, dtype=float)
    gain = np.sort(gain[~np.isnan(gain)])
    return 1 - np.searchsorted(gain, thresholds, side="right") / len(gain)
