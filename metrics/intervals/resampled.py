"""Sums over units drawn with replacement: one matrix of counts for all that is summed over as many units."""

from functools import lru_cache

import numpy as np

GROUPS = 1024
"""Most units that are drawn one by one; of more, units of like value are drawn as groups."""


def resampled_sums(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the sums of units drawn with replacement, as many as there are, in each resample.

    A resample is a row of counts c ~ Multinomial(n; 1/n, ..., 1/n), and its sums are c @ values': no resample is a
    loop, and no array holds resamples times units. Up to ``GROUPS`` units this is the bootstrap itself. More units are
    put in order of their total and cut into that many groups of one size: how many are drawn of each group is
    multinomial as well, and what the groups' means leave out, small beside them, is drawn from the normal distribution
    with its covariance: nothing of a group whose units are equal, as most groups of scores of 0 and 1 are.

    Args:
        values: (c, n) numbers of each unit, such as its sum in each repetition and its size.
        resamples: How many resamples.
        seed: Seed of the draws: whatever has equally many units is resampled by the same counts.

    Returns:
        (resamples, c) sums.

    Example:
        >>> sums = resampled_sums(np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]), 1000, seed=1)
        >>> sums[:, 1].tolist() == [4.0] * 1000, bool(abs(sums[:, 0].mean() - 2) < 0.1)
        (True, True)
    """
    units = values.shape[1]
    counts = _counts(units, resamples, seed)
    if units <= GROUPS:
        return np.asarray(counts @ values.T)
    one = len(values) == 1  # then its total is itself, and a sort is ten times as fast as an order
    ordered = np.sort(values) if one else values[:, np.argsort(values.sum(axis=0), kind="stable")]
    starts, sizes = _groups(units)
    means = np.add.reduceat(ordered, starts, axis=1) / sizes
    inside = ordered - np.repeat(means, sizes, axis=1)
    rng = np.random.default_rng([seed, 1])
    rest = rng.multivariate_normal(np.zeros(len(values)), inside @ inside.T, resamples, method="eigh")
    return np.asarray(counts @ means.T + rest)


@lru_cache(maxsize=4)
def _counts(units: int, resamples: int, seed: int) -> np.ndarray:
    """Return how many units each resample draws of each group, (resamples, groups)."""
    drawn = np.random.default_rng([seed, 0]).multinomial(units, _groups(units)[1] / units, size=resamples)
    return np.asarray(drawn, dtype=float)


def _groups(units: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each group of units begins, and its size; each unit is a group where there are few."""
    ends = np.linspace(0, units, min(units, GROUPS) + 1).astype(int)
    return ends[:-1], np.diff(ends)
