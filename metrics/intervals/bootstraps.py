"""Resampled means of crossed scores, by each of the bootstraps; see ``estimates.estimate`` for what they mean."""

from collections.abc import Iterable

import numpy as np

from synthrisk.metrics.intervals.resampled import resampled_sums

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
