"""Released records nearest to each real one where cells stand for sets of values: distances to the nearest value."""

from collections.abc import Iterator

import numpy as np

from synthrisk.metrics.neighbours.brute_force import warn_if_long
from synthrisk.metrics.neighbours.records import range_of
from synthrisk.metrics.tables.tables import Tables, in_order
from synthrisk.metrics.tables.value_sets import code_values, inside

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
    for start, apart in _blocks(tables):
        nearest = np.partition(apart, k - 1, axis=1)[:, :k]
        near = np.nonzero(apart <= nearest.max(axis=1, keepdims=True) + _EQUAL)
        owners.append(near[0] + start)
        rows.append(near[1])
        means.append(nearest.mean(axis=1))
    return np.concatenate(owners), np.concatenate(rows), np.concatenate(means)


def same_by_sets(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a real and a released record that may be equal: each cell is the same, or holds the value."""
    owners, rows = [], []
    sides = [(tables.codes([c]).tables, inside(tables, c)) for c in tables.columns]
    for block in _parts(tables):
        same = np.ones((len(block), len(tables.synthetic)), dtype=bool)
        for (real, released), within in sides:
            same &= within.equal(real[block, None], released)
        found = np.nonzero(same)
        owners.append(block[found[0]])
        rows.append(found[1])
    return np.concatenate(owners), np.concatenate(rows)


def _parts(tables: Tables) -> Iterator[np.ndarray]:
    """Yield positions of real records, so many that they can be compared with all released ones at once."""
    n, m = len(tables.real), len(tables.synthetic)
    warn_if_long(n, m, len(tables.columns), _LONG)
    step = max(1, _CELLS // m)
    return (np.arange(start, min(start + step, n)) for start in range(0, n, step))


def _blocks(tables: Tables) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the distances of some real records to all released ones, (records, m), and where they start."""
    for block in _parts(tables):
        total = np.zeros((len(block), len(tables.synthetic)))
        for column in in_order(tables.columns):
            total += _gaps(tables, column, block)
        yield int(block[0]), total / len(tables.columns)


def _gaps(tables: Tables, column: str, block: np.ndarray) -> np.ndarray:
    """Return the distances in one column, (records, m)."""
    within, (real, released) = inside(tables, column), tables.codes([column]).tables
    if tables.kind(column) != "numeric":
        return np.where(within.equal(real[block, None], released), 0.0, 1.0)
    low, high = _ends(tables, column)
    ours, theirs = tables.floats(column)
    extent = range_of(ours, theirs)
    mine = ours[block, None]
    gaps = np.maximum(np.maximum(low[released] - mine, mine - high[released]), 0.0)
    gaps = np.minimum(gaps / extent, 1.0) if extent else (gaps > 0).astype(float)
    both = np.isnan(mine) & np.isnan(theirs)
    free = within.row[released] == (within.row[-1] or -1)  # suppressed cells
    return np.where(both | free, 0.0, np.where(np.isnan(mine) | np.isnan(theirs), 1.0, gaps))


def _ends(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest number that each code of a numeric column stands for."""
    values = code_values(tables, column)
    low, high = values.copy(), values.copy()
    for value, own in tables.sets.columns.get(column, {}).items():
        here = values == value
        low[here], high[here] = own.low, own.high
    return low, high
