"""Resampled means of crossed scores, by each of the bootstraps; see ``estimates.estimate`` for what they mean.

One matrix of counts serves all that is summed over as many units drawn with replacement.
"""

from collections.abc import Iterable
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


_SEEDS = {"repetitions": 2, "crossed_bootstrap": 3, "pigeonhole": 4}  # streams beside those of ``resampled_sums``


def bootstraps(
    e: np.ndarray, units: np.ndarray | None, methods: Iterable[str], resamples: int, seed: int, spread: float
) -> dict[str, np.ndarray]:
    """Return the resampled means, (resamples,), by method; all that draw records draw the same ones.

    Args:
        e: (R, n) contributions, without missing ones.
        units: (n,) number of each record's entity, or None where each is its own.
        methods: ``records``, ``crossed_bootstrap``, ``repetitions``, ``pigeonhole``: any of them.
        resamples: How many resamples.
        seed: Seed of all draws; a method's draws do not depend on the others asked for.
        spread: Standard deviation of what ``crossed_bootstrap`` adds to each mean over records.
    """
    asked, repetitions = list(methods), len(e)
    each = _by_repetition(e, units, resamples, seed) if set(asked) - {"repetitions"} else np.empty((resamples, 0))
    found = {}
    for method in asked:
        if method == "records":
            found[method] = each.mean(axis=1)
            continue
        rng = np.random.default_rng([seed, _SEEDS[method]])
        if method == "crossed_bootstrap":
            found[method] = each.mean(axis=1) + rng.normal(0, spread, resamples)
            continue
        rows = rng.integers(repetitions, size=(resamples, repetitions))
        of_rows = e.mean(axis=1)[rows] if method == "repetitions" else np.take_along_axis(each, rows, axis=1)
        found[method] = of_rows.mean(axis=1)
    return found


def _by_repetition(e: np.ndarray, units: np.ndarray | None, resamples: int, seed: int) -> np.ndarray:
    """Return the mean of each repetition in each resample of the records, or of the entities, (resamples, R)."""
    means = e.mean(axis=1)
    apart = e - means[:, None]
    if units is None:
        return means + resampled_sums(apart, resamples, seed) / e.shape[1]
    values = np.stack([*(np.bincount(units, row) for row in apart), np.bincount(units)])
    sums = resampled_sums(values, resamples, seed)
    return np.asarray(means + sums[:, :-1] / sums[:, -1:])
