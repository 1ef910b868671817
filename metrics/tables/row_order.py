"""Canonical order: an order of rows and levels that depends neither on positions nor on names of levels.

What a seeded model learns depends on the order of its rows. Here rows are ranked by their values, and levels by
``level_order``, so that the same tables in another order, or with renamed levels, give the same numbers.
"""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.tables.level_order import level_order, lexicographic_ranks
from synthrisk.metrics.tables.tables import Tables, in_order


class Canonical(NamedTuple):
    """Ranks of rows and levels; equal rows have equal ranks."""

    real: np.ndarray  # (n,) rank of each row
    synthetic: np.ndarray  # (m,)
    levels: dict[str, tuple[np.ndarray, np.ndarray]]  # of categorical columns: (n,) and (m,) ranks of cells' levels


def canonical(tables: Tables) -> Canonical:
    """Return ranks of the rows, by their numbers and then their levels, and ranks of the levels (``level_order``).

    Columns are taken in the order of their names. Numbers are compared as floats, so that rows which differ beyond 2^53
    may share a rank: see ``value_ranks.value_ranks``.

    Example:
        >>> import pandas as pd
        >>> found = canonical(Tables(pd.DataFrame({"c": ["b", "a", "a"]}), pd.DataFrame({"c": ["b", "z", "b"]})))
        >>> found.real.tolist(), found.synthetic.tolist()
        ([0, 2, 2], [0, 1, 0])
    """
    return tables.shared("canonical", lambda: _canonical(tables))


def among_equals(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return for each row the mean of the values over all equal rows, so that none gains by its position.

    Example:
        >>> among_equals(np.array([0.0, 1.0, 5.0]), np.array([7, 7, 2])).tolist()
        [0.5, 0.5, 5.0]
    """
    _, rows = np.unique(rows, return_inverse=True)
    return np.asarray((np.bincount(rows, values) / np.bincount(rows))[rows])


def _canonical(tables: Tables) -> Canonical:
    n, order = len(tables.real), level_order(tables, tables.columns)
    cells = {c: np.concatenate(tables.codes([c]).tables) for c in order}
    ranks = {c: order[c][cells[c]] for c in order}
    numbers = [np.concatenate(tables.floats(c)) for c in in_order(tables.columns) if c not in order]
    rows = lexicographic_ranks([*numbers, *ranks.values()])
    return Canonical(rows[:n], rows[n:], {c: (rank[:n], rank[n:]) for c, rank in ranks.items()})
