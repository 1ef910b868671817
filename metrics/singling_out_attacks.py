"""Attacks that name a predicate for one person alone: what one record of the release has, and no other."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.predicates import Condition, Countable, Predicate, alone_by_luck, scales_of
from synthrisk.metrics.ranked import ranked
from synthrisk.metrics.tables import in_order

SIZE = 4


def unique_values(release: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Name a value that occurs once in its column of the release, for the row that has it.

    Of numbers and dates that occur once the smallest may be named as <= and the largest as >=, too. A cell that is
    the only one missing of its column is named as missing. Where a row has several such predicates one of them is
    drawn; where it has none it abstains. ``confidence``: as in ``unique_combinations``, the same for all.
    """
    scales, m = scales_of(release), len(release)
    choices: list[list[Condition]] = [[] for _ in range(m)]
    for column in in_order(release.columns):
        cells = ranked(release[column], scales[column] != "levels")
        counts = np.bincount(cells.ranks, minlength=cells.size + 1)
        values = release[column].to_list()
        for row in np.flatnonzero(counts[cells.ranks] == 1):
            rank = cells.ranks[row]
            if rank == cells.size:
                choices[row].append((column, "missing", None))
                continue
            choices[row].append((column, "==", values[row]))
            if scales[column] != "levels":
                choices[row] += [(column, "<=", values[row])] if rank == 0 else []
                choices[row] += [(column, ">=", values[row])] if rank == cells.size - 1 else []
    drawn = rng.random(m)
    named: list[Predicate | None] = [
        (own[int(part * len(own))],) if own else None for own, part in zip(choices, drawn, strict=True)
    ]
    return _claimed(release, named, 1 - alone_by_luck(np.full(m, 1 / m), m))


def unique_combinations(
    release: pd.DataFrame, rng: np.random.Generator, rows: Sequence[int] | None = None, size: int | None = None
) -> pd.DataFrame:
    """Name what a row has in some columns drawn at random, where it is the only row of the release that fulfils it.

    The conditions: equality where a column has levels, or the missing cell; of numbers and dates >= the row's value
    where that is at least the column's median, else <=. ``confidence`` = 1 - m w (1 - w)^(m - 1), the chance that luck
    would not isolate one of the m rows by a predicate of weight w, the product of the shares of its conditions in the
    release.

    Args:
        release: m rows.
        rng: Source of the columns drawn.
        rows: Positions of the rows to speak about; all unless given.
        size: How many columns; 4, or all if there are fewer, unless given.
    """
    names = in_order(release.columns)
    check_size(size, len(names))
    width = min(SIZE, len(names)) if size is None else size
    speaking = np.arange(len(release)) if rows is None else np.asarray(rows, dtype=np.int64)
    drawn = np.sort(rng.random((len(speaking), len(names))).argsort(axis=1)[:, :width], axis=1)
    conditions = [_conditions(release[name]) for name in names]
    tried: list[Predicate] = [
        tuple(conditions[c][row] for c in own) for row, own in zip(speaking.tolist(), drawn.tolist(), strict=True)
    ]
    found = Countable(release).count(tried)
    predicates: list[Predicate | None] = [None] * len(release)
    confidence = np.full(len(release), np.nan)
    for row, predicate, count in zip(speaking.tolist(), tried, found.rows.tolist(), strict=True):
        predicates[row] = predicate if count == 1 else None
    confidence[speaking] = 1 - alone_by_luck(found.weights, len(release))
    return _claimed(release, predicates, confidence)


_SOURCE = "Article 29 Working Party, Opinion 05/2014; Cohen and Nissim 2020, doi:10.1073/pnas.1914598117"
UNIQUE_VALUES = Attack("unique_values", "singling_out", unique_values, _SOURCE)
UNIQUE_COMBINATIONS = Attack("unique_combinations", "singling_out", unique_combinations, _SOURCE)


def check_size(size: int | None, most: int | None = None) -> None:
    """Refuse a number of columns that a predicate cannot have."""
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    if size is not None and (not whole or size < 1 or (most is not None and size > most)):
        limit = "at least 1" if most is None else f"1 to the number of columns, {most}"
        raise InputError(f"size must be a whole number, {limit}, got {size!r}")


def _conditions(column: pd.Series) -> list[Condition]:
    """Return what each cell is named by."""
    name: Hashable = column.name
    numeric = scales_of(column.to_frame())[name] != "levels"
    cells, operators = ranked(column, numeric), np.full(len(column), "==", dtype=object)
    missing = cells.ranks == cells.size
    if numeric and not missing.all():
        middle = np.sort(cells.ranks[~missing])[(~missing).sum() // 2]  # the upper of two: at the median, or below
        operators = np.where(cells.ranks >= middle, ">=", "<=")
    return [
        (name, "missing", None) if gone else (name, operator, value)
        for operator, value, gone in zip(operators.tolist(), column.to_list(), missing.tolist(), strict=True)
    ]


def _claimed(release: pd.DataFrame, predicates: list[Predicate | None], confidence: np.ndarray) -> pd.DataFrame:
    column = pd.Series(predicates, index=release.index, dtype=object)
    return pd.DataFrame({"predicate": column, "confidence": np.where(column.notna(), confidence, np.nan)})
