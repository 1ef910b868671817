"""Identifiability: real records nearer to the release than to each other, where telling columns weigh more."""

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.authenticity import check_closer, closer_records, reduce_closer
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.neighbours.distances import TieRule
from synthrisk.metrics.neighbours.records import SpaceName
from synthrisk.metrics.tables.tables import Tables

_BINS = 10


def identifiability_score(tables: Tables, *, space: SpaceName = "euclid", ties: TieRule = "safe") -> Score:
    """IDS: share of real records with d_s < d_r, where column a is multiplied by 1/H_a, its inverse entropy.

    d_s = distance to the nearest synthetic record, d_r = to the nearest other real one. H_a = entropy (nats) of
    the real values, numbers in deciles: few or uneven values weigh much. (The published program turns that round.)
    ``value`` in [0, 1], high = re-identifiable; ``published`` is the value. The value alone is no privacy claim.

    The source: PrivEval's program divides a column by its weight 1/H, which multiplies it by its entropy: what should
    count most counts least. It also takes words for numbers, in the order of the alphabet. Here columns are multiplied
    by 1/H, and words are equal or not.

    Args:
        tables: Real (n >= 2 records) and synthetic (m records). With control records, entropies and the other
            real records are those of both groups.
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).
        ties: What d_s = d_r counts: ``risk`` 1, ``safe`` 0 (strict, as published), ``expected`` 1/2.

    Returns:
        A ``Score``; ``records`` as ``authenticity`` has them. Details: ``strictly_closer`` and ``ties`` (counts).
        Not defined for n < 2, nor where every real column is constant.

    Raises:
        InputError: ``space`` or ``ties`` is another word.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 5.0], "c": ["a", "a", "b"]})
        >>> release = pd.DataFrame({"x": [0.5, 2.0], "c": ["a", "b"]})
        >>> round(IDENTIFIABILITY_SCORE(real, release).value, 4)
        1.0
    """
    check_closer(space, ties)
    name, settings = "identifiability_score", {"space": space, "ties": ties}
    weights = tables.shared("inverse entropies", lambda: inverse_entropies(tables))
    if not any(weights.values()):
        nan, columns = float("nan"), ["score", "risk", "tied", "distance", "real_distance"]
        records = pd.DataFrame(nan, index=tables.real.index, columns=columns)
        return Score(name, nan, nan, records, {}, settings, "every real column is constant: no column has a weight")
    records = closer_records(tables, space, ties, weights)
    return Score.of(name, records, reduce_closer(records), {}, settings)


def inverse_entropies(tables: Tables) -> dict[str, float]:
    """Return 1/H of each column among the real records, 0 where H = 0."""
    numeric = {c: tables.kind(c) == "numeric" for c in tables.columns}
    classes = {c: deciles(tables.floats(c)[0]) if n else tables.codes([c]).tables[0] for c, n in numeric.items()}
    found = {column: entropy(own) for column, own in classes.items()}
    return {column: 1 / h if h > 0 else 0.0 for column, h in found.items()}


def entropy(classes: np.ndarray) -> float:
    """Return the entropy of whole numbers in nats.

    Example:
        >>> round(entropy(np.array([0, 0, 3, 3])), 4), entropy(np.array([2, 2]))
        (0.6931, 0.0)
    """
    counts = np.sort(np.unique(classes, return_counts=True)[1])  # sorted: the same bits under other names
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum()) if len(counts) > 1 else 0.0


def deciles(values: np.ndarray) -> np.ndarray:
    """Return the decile of each value (linear, right-closed, equal edges merged), -1 where missing.

    There are at most as many bins as distinct values.

    Example:
        >>> deciles(np.array([1.0, 2.0, 3.0, np.nan])).tolist()
        [0, 1, 2, -1]
    """
    there = np.sort(values[~np.isnan(values)])
    bins = min(_BINS, len(np.unique(there)))
    if not bins:
        return np.full(len(values), -1)
    place, part = np.divmod(np.arange(1, bins) * (len(there) - 1), bins)  # whole numbers: no edge beside its value
    low, high = there[place], there[np.minimum(place + 1, len(there) - 1)]
    edges = np.unique(np.where(part == 0, low, low * (1 - part / bins) + high * (part / bins)))
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="left"))


IDENTIFIABILITY_SCORE = Metric(
    name="identifiability_score",
    function=identifiability_score,
    group="distance",
    reference="Yoon, Drumright and van der Schaar 2020, doi:10.1109/JBHI.2020.2980262; PrivEval: docs/priveval.md",
    mean=False,
    contribution="risk",
    difference_only=True,
    reduce=reduce_closer,
    check_values=check_closer,
)
