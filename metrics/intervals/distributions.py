"""Quantiles and tails of distributions, chances of a draw without replacement, and p-values adjusted for their number.

Quantiles and tails are the functions behind ``scipy.stats``, the same bits, without the 0.7 s that it takes to import
and the 0.1 ms that its checks take a call. Its hypergeometric takes tens to thousands of times as long as
``none_drawn``, measured in benchmarks/draws.py.

Resampled means of crossed scores, by each of the bootstraps; see ``estimates.estimate`` for what they mean.

One matrix of counts serves all that is summed over as many units drawn with replacement.
"""

from collections.abc import Iterable
from functools import lru_cache
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
