"""The order of levels: by what the tables hold of them, never by their names.

A tree, a penalised model and a seeded draw depend on how levels are numbered. Numbered by what they are held by, the
same tables under other names give the same numbers.
"""

from collections.abc import Sequence

import numpy as np

from synthrisk.metrics.levels import sort_key
from synthrisk.metrics.tables import Tables

ABSENT = -1
FEW = 50
"""Levels of a column that are alike in all, and yet told apart one by one, each time with what follows from it."""


def level_order(tables: Tables, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Return for each categorical one of the columns the rank of each level, by its code in ``tables.codes``.

    The commonest level of the release is the first, the missing cell the last. Equally common ones are told apart by
    the records of the release that hold them (colour refinement: a level by its records, a record by its levels and
    numbers, until nothing new is told), and only where these are alike by the real records too. What is alike even so
    is interchangeable but for rare symmetries, and takes the order of its names.

    Returns:
        Ranks 0, 1, 2 ... of the levels that occur in a table, ``ABSENT`` for others.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"c": ["rare", "common", "common", None, None, None]})
        >>> order = level_order(Tables(table, table), ["c"])["c"]
        >>> order.tolist()
        [1, 0, 2]
    """
    names = tuple(sorted(columns, key=str))
    return tables.shared(("level order", names), lambda: _level_order(tables, names))


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks 0, 1, 2 ... of values; NaN is the last."""
    return np.unique(values, return_inverse=True)[1]


def lexicographic_ranks(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return dense ranks of rows compared column by column."""
    rows = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        ranks = dense_ranks(column)
        rows = dense_ranks(rows * (ranks.max() + 1) + ranks)
    return rows


def _level_order(tables: Tables, names: Sequence[str]) -> dict[str, np.ndarray]:
    categorical = [c for c in names if tables.kind(c) == "categorical"]
    n, present, cells, colours = len(tables.real), [], [], []
    for column in categorical:
        codes = tables.codes([column])
        real, released = (np.bincount(side, minlength=codes.size) for side in codes.tables)
        there = np.flatnonzero(real + released)
        place = np.empty(codes.size, dtype=np.int64)
        place[there] = np.arange(len(there))
        present.append(there)
        cells.append(place[np.concatenate(codes.tables)])
        colours.append(lexicographic_ranks([there == codes.size - 1, -released[there]]))
    if _some_are_alike(colours):
        numbers = _number_marks(tables, names)
        colours = _refined(numbers[n:], [cell[n:] for cell in cells], colours)
        numbers[:n] = _mixed(numbers[:n])  # which of the two tables a record is in
        colours = _refined(numbers, cells, colours)
        for at, column in enumerate(categorical):  # what is left, a level at a time: the others follow
            while _some_are_alike([colours[at]]):
                colours[at] = _one_apart(colours[at], _by_name(tables, column, present[at]))
                colours = _refined(numbers, cells, colours)
    found = {}
    for column, there, colour in zip(categorical, present, colours, strict=True):
        found[column] = np.full(tables.codes([column]).size, ABSENT, dtype=np.int64)
        found[column][there] = colour
    return found


def _one_apart(colour: np.ndarray, by_name: np.ndarray) -> np.ndarray:
    """Put the first by name of some levels that are alike before the others; where they are many, all by name."""
    shared = np.bincount(colour)[colour] > 1
    if shared.sum() > FEW:
        return lexicographic_ranks([colour, by_name])
    own = np.flatnonzero(colour == colour[shared].min())
    return lexicographic_ranks([colour, np.arange(len(colour)) != own[by_name[own].argmin()]])


def _some_are_alike(colours: Sequence[np.ndarray]) -> bool:
    return any(colour.max(initial=-1) + 1 < len(colour) for colour in colours)


def _refined(numbers: np.ndarray, cells: Sequence[np.ndarray], colours: list[np.ndarray]) -> list[np.ndarray]:
    """Tell levels apart by the records that hold them, and records by their levels, until nothing new is told."""
    while _some_are_alike(colours):
        marks = numbers.copy()
        for place, (colour, cell) in enumerate(zip(colours, cells, strict=True)):
            marks += _mixed(colour + _salt(place))[cell]
        marks = _mixed(marks)
        finer = []
        for colour, cell in zip(colours, cells, strict=True):
            held = np.zeros(len(colour), dtype=np.uint64)
            np.add.at(held, cell, marks)  # modulo 2^64: in any order of records
            finer.append(lexicographic_ranks([colour, held]))
        if all(new.max() == old.max() for new, old in zip(finer, colours, strict=True)):
            break
        colours = finer
    return colours


def _number_marks(tables: Tables, names: Sequence[str]) -> np.ndarray:
    """Return 64 bits a record, of the real table and then the release, that stand for its numbers."""
    marks = np.zeros(len(tables.real) + len(tables.synthetic), dtype=np.uint64)
    numeric = [c for c in names if tables.kind(c) == "numeric"]
    for place, column in enumerate(numeric):
        values = np.concatenate(tables.floats(column)) + 0.0  # -0 is 0
        values[np.isnan(values)] = np.nan  # of all its bit patterns one
        marks += _mixed(values.view(np.uint64) ^ _mixed(np.array([_salt(place)]))[0])
    return marks


def _by_name(tables: Tables, column: str, present: np.ndarray) -> np.ndarray:
    """Return the rank of each of these codes by its value; the missing cell, which is like no other, is the last."""
    values = tables.levels(column)[present]
    named = np.flatnonzero(present != tables.codes([column]).size - 1)
    rank = np.full(len(values), len(values))
    rank[sorted(named, key=lambda place: sort_key(values[place]))] = np.arange(len(named))
    return rank


def _salt(place: int) -> int:
    return (place + 1) << 40  # more than there are levels


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Return 64 bits that look random for each number (splitmix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
