"""Distances of chosen pairs of a real and a synthetic record, and of the pair that is farthest apart."""

import numpy as np

from synthrisk.metrics.mixed import Records, Scale, mixed, scale
from synthrisk.metrics.neighbours import as_distances
from synthrisk.metrics.spaces import SpaceName, space_of
from synthrisk.metrics.tables import Tables

_CELLS = 500_000  # distances held at once


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
    return as_distances(
        _sums(both.real.take(real), both.synthetic.take(synthetic), scale(tables, where, "synthetic")), where
    )


def farthest(tables: Tables, space: SpaceName) -> float:
    """Return the largest distance between a real and a synthetic record, exact, without an n x m matrix.

    No record is farther from another than the sum of the farthest values of each column. Records are taken in
    the order of that bound, a block at a time, until none can be farther than the pair found.

    Example:
        >>> import pandas as pd
        >>> farthest(Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]})), "gower")
        1.0
    """
    return float(tables.shared(("farthest", space), lambda: _farthest(tables, space)))


def _farthest(tables: Tables, space: SpaceName) -> float:
    where = space_of(tables, space)
    both, costs = mixed(tables, where), scale(tables, where, "synthetic")
    bounds = _bounds(both.real, both.synthetic, costs), _bounds(both.synthetic, both.real, costs)
    real, synthetic = (np.argsort(-b, kind="stable") for b in bounds)
    best, start, step = 0.0, 0, 1  # a first record alone finds a pair that rules most others out
    while start < len(real) and bounds[0][real[start]] > best:
        block = real[start : start + step]
        able = synthetic[bounds[1][synthetic] > best]
        if not len(able):
            break
        ours, theirs = both.real.take(block), both.synthetic.take(able)
        best = max(best, float(_sums(_upright(ours), theirs, costs).max()))
        start, step = start + step, max(1, _CELLS // len(able))
    return float(as_distances(np.array(best), where))


def _bounds(records: Records, others: Records, costs: Scale) -> np.ndarray:
    """Return what no sum from each record to any of the others exceeds, rounding included: added in the same order."""
    total = np.zeros(len(records.codes))
    for c in range(records.codes.shape[1]):
        of_levels = costs.costs[costs.starts[c] : costs.starts[c + 1]]
        present = np.unique(others.codes[:, c])
        order = present[np.argsort(-of_levels[present], kind="stable")]
        mine = records.codes[:, c]
        other = np.where(mine == order[0], order[1] if len(order) > 1 else order[0], order[0])
        total += np.where(mine != other, of_levels[mine] + of_levels[other], 0.0)
    for c in range(records.numbers.shape[1]):
        ends = others.numbers[:, c].min(), others.numbers[:, c].max()
        gaps = np.maximum(*(np.abs(end - records.numbers[:, c]) for end in ends))
        total += _steps(gaps, costs, c)
    return total


def _steps(gaps: np.ndarray, costs: Scale, column: int) -> np.ndarray:
    with np.errstate(over="ignore"):  # where the range is 0, any difference comes to the cap
        steps = np.minimum(gaps * costs.factors[column], costs.caps[column])
    return np.asarray(steps * steps if costs.squared else steps)


def _upright(records: Records) -> Records:
    return Records(records.numbers[:, None, :], records.codes[:, None, :])


def _sums(ours: Records, theirs: Records, costs: Scale) -> np.ndarray:
    """Return what is added up to distances, column after column as every search does; rows are broadcast."""
    total = np.zeros(np.broadcast_shapes(ours.codes.shape[:-1], theirs.codes.shape[:-1]))
    for c in range(ours.codes.shape[-1]):
        of_levels = costs.costs[costs.starts[c] : costs.starts[c + 1]]
        a, b = ours.codes[..., c], theirs.codes[..., c]
        total += np.where(a != b, of_levels[a] + of_levels[b], 0.0)
    for c in range(ours.numbers.shape[-1]):
        gaps = np.abs(theirs.numbers[..., c] - ours.numbers[..., c])
        total += _steps(gaps, costs, c)
    return total
