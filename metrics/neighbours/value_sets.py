"""Released records nearest to each real one where cells stand for sets of values: distances to the nearest value."""

from collections.abc import Iterator

import numpy as np

from synthrisk.metrics.neighbours.brute_force import warn_if_long
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.neighbours.records import range_of
from synthrisk.metrics.tables.tables import Tables, in_order
from synthrisk.metrics.tables.value_sets import code_values, inside, shown

_CELLS = 1_000_000  # pairs compared at once
_LONG = 5e9  # cells compared in about two minutes
_EQUAL = 1e-12  # distances that differ by less are equal


def nearest_by_sets(tables: Tables, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the released records as near to each real one as its k-th nearest, and the mean distance of the k.

    The distance is gower over all columns, in [0, 1]: the mean over columns of |a - b|/range (numbers) or 0/1. Of a set
    b is the value nearest to a; a suppressed cell is at distance 0 of everything. A missing number is at distance 1
    of any number.

    Args:
        tables: n real records, and m released ones with their sets.
        k: How many, 1 to m.

    Returns:
        The real record of each pair, the released one, and the means, (n,).
    """
    owners, rows, means = [], [], []
    for block, apart in _distances(tables, np.arange(len(tables.real)), np.arange(len(tables.synthetic))):
        nearest = np.partition(apart, k - 1, axis=1)[:, :k]
        near = np.nonzero(apart <= nearest.max(axis=1, keepdims=True) + _EQUAL)
        owners.append(block[near[0]])
        rows.append(near[1])
        means.append(nearest.mean(axis=1))
    return np.concatenate(owners), np.concatenate(rows), np.concatenate(means)


def nearest_value_distances(tables: Tables) -> np.ndarray:
    """Return the distance of each real record to the nearest released one, (n,), as in ``nearest_by_sets``.

    Where no cell stands for a set they are those of ``nearest.real_to_synthetic`` in gower space; so they are where
    nothing of some columns is shown, which puts all records as far off.
    """
    if not tables.sets.among(shown(tables, tables.columns)):
        return real_to_synthetic(tables, "gower").distances[:, 0]
    return np.asarray(tables.shared("nearest values", lambda: _nearest_values(tables)))


def _nearest_values(tables: Tables) -> np.ndarray:
    ours, theirs = (
        np.unique(side, return_index=True, return_inverse=True) for side in tables.codes(tables.columns).tables
    )
    found = [apart.min(axis=1) for _, apart in _distances(tables, ours[1], theirs[1])]
    return np.concatenate(found)[ours[2]]


def same_by_sets(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a real and a released record that may be equal: each cell is the same, or holds the value."""
    owners, rows = [], []
    sides = [(tables.codes([c]).tables, inside(tables, c)) for c in tables.columns]
    for block in _parts(tables, np.arange(len(tables.real)), len(tables.synthetic)):
        same = np.ones((len(block), len(tables.synthetic)), dtype=bool)
        for (real, released), within in sides:
            same &= within.equal(real[block, None], released)
        found = np.nonzero(same)
        owners.append(block[found[0]])
        rows.append(found[1])
    return np.concatenate(owners), np.concatenate(rows)


def _parts(tables: Tables, rows: np.ndarray, m: int) -> Iterator[np.ndarray]:
    """Yield some real records, so many that they can be compared with m released ones at once."""
    warn_if_long(len(rows), m, len(tables.columns), _LONG)
    step = max(1, _CELLS // m)
    return (rows[start : start + step] for start in range(0, len(rows), step))


def _distances(tables: Tables, ours: np.ndarray, theirs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some of ``ours``, real records, and their distances to ``theirs``, released ones."""
    for block in _parts(tables, ours, len(theirs)):
        total = np.zeros((len(block), len(theirs)))
        for column in in_order(tables.columns):
            total += _gaps(tables, column, block, theirs)
        yield block, total / len(tables.columns)


def _gaps(tables: Tables, column: str, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the distances in one column of real records (down) to released ones (across)."""
    within, codes = inside(tables, column), tables.codes([column]).tables
    real, released = codes[0][ours, None], codes[1][theirs]
    if tables.kind(column) != "numeric":
        return np.where(within.equal(real, released), 0.0, 1.0)
    low, high = _ends(tables, column)
    numbers = tables.floats(column)
    extent = range_of(*numbers)
    mine, other = numbers[0][ours, None], numbers[1][theirs]
    gaps = np.maximum(np.maximum(low[released] - mine, mine - high[released]), 0.0)
    gaps = np.minimum(gaps / extent, 1.0) if extent else (gaps > 0).astype(float)
    both = np.isnan(mine) & np.isnan(other)
    free = within.row[released] == (within.row[-1] or -1)  # suppressed cells
    return np.where(both | free, 0.0, np.where(np.isnan(mine) | np.isnan(other), 1.0, gaps))


def _ends(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest number that each code of a numeric column stands for."""
    values = code_values(tables, column)
    low, high = values.copy(), values.copy()
    for value, own in tables.sets.columns.get(column, {}).items():
        here = values == value
        low[here], high[here] = own.low, own.high
    return low, high
