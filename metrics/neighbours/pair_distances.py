"""Distances of chosen pairs of a real and a synthetic record, and of the pair that is farthest apart."""

import numpy as np

from synthrisk.metrics.neighbours.nearest import as_distances
from synthrisk.metrics.neighbours.records import Records, Scale, mixed, scale, steps_of, sums_of
from synthrisk.metrics.neighbours.spaces import SpaceName, space_of
from synthrisk.metrics.tables.tables import Tables

_CELLS = 100_000  # distances held at once
_SAFE = 1 + 1e-9  # more than rounding takes from a sum


def of_pairs(tables: Tables, space: SpaceName, real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the distance from each real record of a list to the synthetic record at the same place of another.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]}))
        >>> of_pairs(tables, "gower", np.array([0, 1, 1]), np.array([2, 1, 0])).tolist()
        [1.0, 0.0, 0.375]
    """
    where = space_of(tables, space)
    both = mixed(tables, where)
    costs = scale(tables, where, "synthetic")
    return as_distances(sums_of(both.real.take(real), both.synthetic.take(synthetic), costs), where)


def farthest(tables: Tables, space: SpaceName) -> float:
    """Return the largest distance between a real and a synthetic record, exact, without an n x m matrix.

    Records with the largest possible distance (``_bounds``) come first, in blocks, until none can be farther.

    Example:
        >>> import pandas as pd
        >>> farthest(Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]})), "gower")
        1.0
    """
    return float(tables.shared(("farthest", space), lambda: _farthest(tables, space)))


def _farthest(tables: Tables, space: SpaceName) -> float:
    where = space_of(tables, space)
    both, costs = mixed(tables, where), scale(tables, where, "synthetic")
    words, far, center = _bounds(both.real, both.synthetic, both.synthetic, costs)
    other_words, other_far, other_center = _bounds(both.synthetic, both.real, both.synthetic, costs)
    reach = np.minimum(words + far + other_words.max(), words + center + (other_words + other_center).max())
    order, best, start, step = np.argsort(-reach, kind="stable"), 0.0, 0, 1  # one record first: it rules most out
    while start < len(order) and reach[order[start]] > best:
        block = order[start : start + step]
        able = other_words + (words + far)[block].max() > best
        able &= other_words + other_far + words[block].max() > best
        able &= other_words + other_center + (words + center)[block].max() > best
        if able.any():
            upright = Records(*(cells[block, None, :] for cells in both.real))
            best = max(best, float(sums_of(upright, both.synthetic.take(np.flatnonzero(able)), costs).max()))
        start, step = start + step, max(1, _CELLS // max(1, int(able.sum())))
    return float(as_distances(np.array(best), where))


def _bounds(
    records: Records, others: Records, centered: Records, costs: Scale
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three numbers a record that bound the sum of a pair (a, b), whatever the rounding.

    ``words``: what its levels cost. ``far``: the most that its numbers add beside any of ``others``. ``center``: what
    they add beside the medians of ``centered``, in squares twice that, as (u + v)^2 <= 2u^2 + 2v^2. A sum is at most
    words(a) + words(b) + min(far(a), far(b), center(a) + center(b)).
    """
    words, far, center = np.zeros((3, len(records.codes)))
    for c in range(records.codes.shape[1]):
        words += costs.costs[costs.starts[c] + records.codes[:, c]]
    for c in range(records.numbers.shape[1]):
        own, ends = records.numbers[:, c], (others.numbers[:, c].min(), others.numbers[:, c].max())
        far += steps_of(np.maximum(*(np.abs(end - own) for end in ends)), costs, c)
        center += steps_of(np.abs(own - np.median(centered.numbers[:, c])), costs, c) * (2 if costs.squared else 1)
    return words * _SAFE, far * _SAFE, center * _SAFE
