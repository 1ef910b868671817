"""Rows and levels in an order in which neither positions nor names of levels have a part.

What a seeded model learns depends on the order of its rows and on how levels are numbered. Here levels are ranked
by how often they occur and by the records that they occur in, and rows by their values so numbered: so the same
tables in another order, or with other names, give the same numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.design import Design, sort_key
from synthrisk.metrics.spaces import center_and_spread
from synthrisk.metrics.tables import Tables


class Canonical(NamedTuple):
    """Ranks of rows and levels; equal rows have equal ranks."""

    real: np.ndarray  # (n,) rank of each row
    synthetic: np.ndarray  # (m,)
    levels: dict[str, tuple[np.ndarray, np.ndarray]]  # of categorical columns: (n,) and (m,) ranks of cells' levels


def canonical(tables: Tables) -> Canonical:
    """Return ranks of rows and levels over all columns, taken in the order of their names.

    Levels are ranked by their counts in both tables, then (colour refinement) by the rows that hold them; those
    that remain equal are interchangeable but for rare symmetries, and take the order of their names.

    Example:
        >>> import pandas as pd
        >>> found = canonical(Tables(pd.DataFrame({"c": ["b", "a", "a"]}), pd.DataFrame({"c": ["b", "z", "b"]})))
        >>> found.real.tolist(), found.synthetic.tolist()
        ([1, 2, 2], [1, 0, 1])
    """
    return tables.shared("canonical", lambda: _canonical(tables))


def ordinal_features(tables: Tables) -> Design:
    """Return numerics in standard deviations (NaN where missing) and levels as canonical ranks, for trees.

    Trees take 32-bit floats: standardised, numbers far from 0 keep their differences.
    """
    levels = canonical(tables).levels
    columns = [levels[c] if c in levels else _standardised(tables, c) for c in _ordered(tables)]
    return Design(*(np.column_stack(side).astype(float) for side in zip(*columns, strict=True)))


def one_hot_features(tables: Tables) -> Design:
    """Return numerics (NaN where missing, and a column that says so) and a 0/1 column a level, for networks."""
    levels, blocks = canonical(tables).levels, []
    for column in _ordered(tables):
        if column in levels:
            each = np.arange(max(side.max() for side in levels[column]) + 1)
            blocks.append([(side[:, None] == each).astype(float) for side in levels[column]])
            continue
        cells = tables.floats(column)
        blocks.append([side[:, None] for side in cells])
        if any(np.isnan(side).any() for side in cells):
            blocks.append([np.isnan(side)[:, None].astype(float) for side in cells])
    return Design(*(np.column_stack(side) for side in zip(*blocks, strict=True)))


def among_equals(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the values over equal rows: what they have by chance of position is shared among them.

    Example:
        >>> among_equals(np.array([0.0, 1.0, 5.0]), np.array([7, 7, 2])).tolist()
        [0.5, 0.5, 5.0]
    """
    _, rows = np.unique(rows, return_inverse=True)
    return np.asarray((np.bincount(rows, values) / np.bincount(rows))[rows])


def _standardised(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    real, synthetic = tables.floats(column)
    mean, spread = center_and_spread(np.sort(real))
    return (real - mean) / (spread or 1.0), (synthetic - mean) / (spread or 1.0)


def _ordered(tables: Tables) -> list[str]:
    return sorted(tables.columns, key=str)


def _canonical(tables: Tables) -> Canonical:
    n = len(tables.real)
    side = np.repeat([1, 0], [n, len(tables.synthetic)])
    categorical = [c for c in _ordered(tables) if tables.kind(c) == "categorical"]
    numbers = [_dense(np.concatenate(tables.floats(c))) for c in _ordered(tables) if c not in categorical]
    base = _lexicographic([side, *numbers])
    cells = [_dense(np.concatenate(tables.codes([c]).tables)) for c in categorical]
    missing = [np.concatenate(tables.codes([c]).tables) == tables.codes([c]).size - 1 for c in categorical]
    colours = [
        _lexicographic([np.bincount(cell, weights) for weights in (gone, side, 1 - side)])
        for cell, gone in zip(cells, missing, strict=True)
    ]
    colours = _refined(base, cells, colours)
    for place, column in enumerate(categorical):  # break what is left, a column at a time: the others follow
        if len(np.unique(colours[place])) < len(colours[place]):
            colours[place] = _lexicographic([colours[place], _names(tables, column)])
            colours = _refined(base, cells, colours)
    ranks = [colour[cell] for colour, cell in zip(colours, cells, strict=True)]
    rows = _lexicographic([*numbers, *ranks])
    levels = {c: (rank[:n], rank[n:]) for c, rank in zip(categorical, ranks, strict=True)}
    return Canonical(rows[:n], rows[n:], levels)


def _refined(base: np.ndarray, cells: list[np.ndarray], colours: list[np.ndarray]) -> list[np.ndarray]:
    """Tell levels apart by the rows that hold them, and rows by their levels, until nothing new is told."""
    while any(len(np.unique(colour)) < len(colour) for colour in colours):
        rows = _lexicographic([base, *(colour[cell] for colour, cell in zip(colours, cells, strict=True))])
        mark = _mixed(rows)
        finer = []
        for colour, cell in zip(colours, cells, strict=True):
            held = np.zeros(len(colour), dtype=np.uint64)
            np.add.at(held, cell, mark)  # modulo 2^64: in any order of rows
            finer.append(_lexicographic([colour, held]))
        if all(new.max() == old.max() for new, old in zip(finer, colours, strict=True)):
            break
        colours = finer
    return colours


def _names(tables: Tables, column: str) -> np.ndarray:
    """Return the rank of each level that occurs by its value, in the order of its code."""
    codes, values = tables.codes([column]), tables.levels(column)
    present = np.unique(np.concatenate(codes.tables))
    keys = [sort_key(values[code], bool(code == codes.size - 1)) for code in present]
    rank = np.empty(len(keys), dtype=np.int64)
    rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return rank


def _dense(values: np.ndarray) -> np.ndarray:
    """Return ranks 0, 1, 2 ... of values; NaN is the last."""
    return np.unique(values, return_inverse=True)[1]


def _lexicographic(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return dense ranks of rows compared column by column."""
    rows = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        ranks = _dense(column)
        rows = _dense(rows * (ranks.max() + 1) + ranks)
    return rows


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Return 64 bits that look random for each number (splitmix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
