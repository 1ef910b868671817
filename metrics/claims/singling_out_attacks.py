"""Attacks that name a predicate for one person alone: what one record of the release has, and no other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.predicates import Condition, Countable, Predicate, alone_by_luck, scales_of
from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.tables.tables import in_order
from synthrisk.metrics.tables.value_ranks import ranked

SIZE = 4
_LUCK = 0.01  # records that fulfil a predicate by luck, or rows that chance makes equal, expected: more are not rare


def unique_values(release: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Name each value that one record of the release alone has in a column, for the rows that are this record.

    Of numbers and dates the smallest may be named as <= instead, and the largest as >=: which, is drawn. A cell that is
    the only one missing of its column is named as missing. A row that has several such values names a list of
    predicates, one a value; where it has none it abstains. Equal rows may be one record: see ``distinct_rows``.
    ``confidence``: as in ``unique_combinations``.
    """
    scales, counted = scales_of(release), distinct_rows(release)
    m = len(release)
    named: list[list[Predicate]] = [[] for _ in range(m)]
    for column in in_order(release.columns):
        drawn = rng.random(m)
        cells = ranked(release[column], scales[column] != "levels")
        counts = np.bincount(cells.ranks[counted], minlength=cells.size + 1)
        values = release[column].to_list()
        for row in np.flatnonzero(counts[cells.ranks] == 1):
            rank = cells.ranks[row]
            if rank == cells.size:
                named[row].append(((column, "missing", None),))
                continue
            operators = ["=="]
            if scales[column] != "levels":
                operators += ["<="] * int(rank == 0) + [">="] * int(rank == cells.size - 1)
            named[row].append(((column, operators[int(drawn[row] * len(operators))], values[row]),))
    k = len(counted)
    told = [own if len(own) > 1 else own[0] if own else None for own in named]
    return _claimed(release, told, np.broadcast_to(1 - alone_by_luck(np.array(1 / k), k), m))


def unique_combinations(
    release: pd.DataFrame, rng: np.random.Generator, rows: Sequence[int] | None = None, size: int | None = None
) -> pd.DataFrame:
    """Name what a row has in some columns drawn at random, where one record of the release alone fulfils it.

    Conditions: equality where a column has levels, or the missing cell; of numbers and dates >= the row's value where
    that is at least the column's median, else <=. A condition on another column drawn at random is added as long as
    another record of the release fulfils them, or luck may isolate one of the k records (k w > 0.01, the weight w being
    the product of the shares of the conditions in the release). A row that all columns together do not tell apart is
    tried again with equality in all of them; it abstains if that fails too. Equal rows may be one record: see
    ``distinct_rows``. ``confidence`` = 1 - k w (1 - w)^(k - 1), the chance that luck does not isolate one of the k
    records by it.

    Args:
        release: m rows.
        rng: Source of the columns drawn.
        rows: Positions of the rows to speak about; all unless given.
        size: How many columns at least; 4, or all if there are fewer, unless given.
    """
    names = in_order(release.columns)
    check_size(size, len(names))
    width = min(SIZE, len(names)) if size is None else size
    speaking = np.arange(len(release)) if rows is None else np.asarray(rows, dtype=np.int64)
    drawn = _Drawn(speaking, rng.random((len(speaking), len(names))).argsort(axis=1))
    records = distinct_rows(release)
    predicates: list[Predicate | None] = [None] * len(release)
    weights = np.ones(len(release))
    for sided in (True, False):
        named = {name: _conditions(release[name], sided) for name in names}
        found = _grown(release, named, records, drawn, width)
        cells = [each.conditions for each in named.values()]
        for row, order, used in zip(drawn.rows.tolist(), drawn.order.tolist(), found.used.tolist(), strict=True):
            predicates[row] = tuple(cells[c][row] for c in sorted(order[:used])) if used else None
        weights[drawn.rows] = found.weights
        silent = found.used == 0
        drawn = _Drawn(drawn.rows[silent], drawn.order[silent])
    return _claimed(release, predicates, 1 - alone_by_luck(weights, len(records)))


_SOURCE = "Article 29 Working Party, Opinion 05/2014; Cohen and Nissim 2020, doi:10.1073/pnas.1914598117"
UNIQUE_VALUES = Attack("unique_values", "singling_out", unique_values, _SOURCE)
UNIQUE_COMBINATIONS = Attack("unique_combinations", "singling_out", unique_combinations, _SOURCE)


def check_size(size: int | None, most: int | None = None) -> None:
    """Refuse a number of columns that a predicate cannot have."""
    if size is not None and not is_whole(size, 1, np.inf if most is None else most):
        limit = "at least 1" if most is None else f"1 to the number of columns, {most}"
        raise InputError(f"size must be a whole number, {limit}, got {size!r}")


def distinct_rows(release: pd.DataFrame) -> np.ndarray:
    """Return the positions of the rows that count as different records of the release.

    Equal rows are one record that the generator repeated, if chance hardly makes them: m w < 0.01 (less than one such
    row in a hundred tables), the weight w being the product of the shares of the cells in their columns. Otherwise they
    are people who are alike, and each counts.

    Example:
        >>> release = pd.DataFrame({name: [7, 7, *range(8, 48)] for name in "xyz"})
        >>> len(distinct_rows(release)), len(distinct_rows(release[["x"]]))
        (41, 42)
    """
    m, scales = len(release), scales_of(release)
    ranks = [ranked(release[c], scales[c] != "levels").ranks for c in in_order(release.columns)]
    weights = np.prod([np.bincount(own)[own] / m for own in ranks], axis=0)
    _, first, own = np.unique(np.column_stack(ranks), axis=0, return_index=True, return_inverse=True)
    return np.flatnonzero((first[own.ravel()] == np.arange(m)) | (m * weights >= _LUCK))


class _Drawn(NamedTuple):
    """Rows that speak, and for each the order in which columns are tried."""

    rows: np.ndarray  # (k,) positions
    order: np.ndarray  # (k, columns) numbers of columns


class _Named(NamedTuple):
    """What each cell of a column is named by."""

    conditions: list[Condition]  # (m,)
    low: np.ndarray  # (m,) the ranks [low, high) of the cells that fulfil it
    high: np.ndarray


class _Grown(NamedTuple):
    """How far predicates had to grow."""

    used: np.ndarray  # (k,) how many columns, 0 where all together do not tell the row apart
    weights: np.ndarray  # (k,)


def _grown(
    release: pd.DataFrame, named: Mapping[Hashable, _Named], records: np.ndarray, drawn: _Drawn, least: int
) -> _Grown:
    """Add columns, in the order drawn for each row, until the conditions tell one record apart, not by luck."""
    table, count = Countable(release), len(drawn.rows)
    own = np.zeros(len(release), dtype=bool)
    own[records] = True
    counted = np.packbits(own)
    used, weights = np.zeros(count, dtype=np.int64), np.ones(count)
    for block in table.blocks(count):
        rows, order, weight = drawn.rows[block], drawn.order[block], weights[block]
        columns = [table.marks(name, each.low[rows], each.high[rows]) for name, each in named.items()]
        shares = [(table.counted(each.bits & counted) / len(records))[each.which] for each in columns]
        bits, pending = np.tile(counted, (len(rows), 1)), np.arange(len(rows))
        for step in range(len(columns)):
            for place in np.unique(order[pending, step]):
                own = pending[order[pending, step] == place]
                bits[own] &= columns[place].bits[columns[place].which[own]]
                weight[own] *= shares[place][own]
            if step + 1 >= least:
                alone = table.counted(bits[pending]) == 1
                used[block][pending[alone]] = step + 1
                pending = pending[~alone | (len(records) * weight[pending] > _LUCK)]
    return _Grown(used, weights)


def _conditions(column: pd.Series, sided: bool) -> _Named:
    """Return what each cell is named by: numbers by their side of the median where ``sided``, else by equality."""
    name: Hashable = column.name
    numeric = scales_of(column.to_frame())[name] != "levels"
    cells, operators = ranked(column, numeric), np.full(len(column), "==", dtype=object)
    missing = cells.ranks == cells.size
    if sided and numeric and not missing.all():
        middle = np.sort(cells.ranks[~missing])[(~missing).sum() // 2]  # the upper of two: at the median, or below
        operators = np.where(cells.ranks >= middle, ">=", "<=")
    conditions: list[Condition] = [
        (name, "missing", None) if gone else (name, operator, value)
        for operator, value, gone in zip(operators.tolist(), column.to_list(), missing.tolist(), strict=True)
    ]
    low = np.where((operators == "<=") & ~missing, 0, cells.ranks)
    return _Named(conditions, low, np.where((operators == ">=") & ~missing, cells.size, cells.ranks + 1))


def _claimed(
    release: pd.DataFrame, predicates: Sequence[Predicate | list[Predicate] | None], confidence: np.ndarray
) -> pd.DataFrame:
    named: list[Any] = list(predicates)
    column = pd.Series(named, index=release.index, dtype=object)
    return pd.DataFrame({"predicate": column, "confidence": np.where(column.notna(), confidence, np.nan)})
