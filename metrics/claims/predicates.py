"""Predicates: conditions on cells that together may hold for one person alone, and for how many records they do.

Attacks that name such predicates: what one record of the release has, and no other.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.errors import InputError, check_up_to
from synthrisk.metrics.tables.kinds import is_temporal, kind
from synthrisk.metrics.tables.order import Interval, Ranked, is_missing, number_of, ranked
from synthrisk.metrics.tables.tables import in_order

Condition = tuple[Hashable, str, Any]
Predicate = tuple[Condition, ...]
"""Conditions (column, operator, value), all of which must hold; ``missing`` has no value."""
OPERATORS = ("==", "<=", ">=", "missing")
_CELLS = 2**25  # cells compared at once
Scale = Literal["levels", "numbers", "times"]
Scales = Mapping[Hashable, Scale]
"""What the columns hold; levels have no order."""


def scales_of(table: pd.DataFrame) -> Scales:
    """Return what each column of a table holds.

    Example:
        >>> scales_of(pd.DataFrame({"x": [1], "c": ["a"]}))
        {'x': 'numbers', 'c': 'levels'}
    """
    ordered: dict[Hashable, Scale] = {c: "times" if is_temporal(table[c]) else "numbers" for c in table.columns}
    return {c: "levels" if kind(table[c]) == "categorical" else ordered[c] for c in table.columns}


class Counts(NamedTuple):
    """What predicates come to in a table."""

    rows: np.ndarray  # (k,) how many rows, or entities, fulfil all conditions
    weights: np.ndarray  # (k,) product over columns of the share of rows, or entities, that fulfil the conditions on it
    alone: np.ndarray  # (k,) position of the only row, or of one of the only entity, that fulfils all; else -1


class Marks(NamedTuple):
    """The rows inside each of k intervals of ranks, a bit a row; equal intervals are held once."""

    bits: np.ndarray  # (distinct, bytes)
    which: np.ndarray  # (k,) which of them each interval is


class Countable:
    """A table in which predicates are counted, and its ``size``: the number of rows, or entities.

    ``scales`` say what its columns hold: as they are typed unless given. With ``entities``, (n,) whole numbers of whom
    each row is, entities are counted: one fulfils conditions where one of its rows fulfils them all.
    """

    def __init__(self, table: pd.DataFrame, scales: Scales | None = None, entities: np.ndarray | None = None):
        self.size, self._rows, self._starts = len(table), len(table), None
        self._order = np.arange(len(table)) if entities is None else np.argsort(entities, kind="stable")
        if entities is not None:
            table = table.iloc[self._order]
            self._starts = np.unique(np.sort(entities), return_index=True)[1]
            self.size = len(self._starts)
        own = scales or scales_of(table)
        self._cells: dict[Hashable, Ranked] = {c: ranked(table[c], own[c] != "levels") for c in own}

    def count(self, predicates: Sequence[Predicate]) -> Counts:
        """Return how many rows fulfil each predicate, and its weight.

        Example:
            >>> table = Countable(pd.DataFrame({"x": [1, 2, 3, 4], "c": ["a", "a", "b", "b"]}))
            >>> found = table.count([(("x", ">=", 2), ("c", "==", "a")), (("x", "missing", None),)])
            >>> found.rows.tolist(), found.weights.tolist()
            ([1, 0], [0.375, 0.0])
        """
        boxes = {column: _Boxes(cells, len(predicates)) for column, cells in self._cells.items()}
        for place, predicate in enumerate(predicates):
            for column, operator, value in predicate:
                boxes[column].narrow(place, self._cells[column].interval(operator, value))
        used = [box for box in boxes.values() if box.used.any()]
        rows, alone = np.empty(len(predicates), dtype=np.int64), np.empty(len(predicates), dtype=np.int64)
        blocks = self.blocks(len(predicates))
        for block in blocks:
            bits = reduce(np.bitwise_and, (box.bits(block) for box in used))
            rows[block] = self.counted(bits)
            alone[block] = self._first(bits, rows[block] == 1)
        shares = np.sort([self._held(box, blocks) / self.size for box in used] or np.empty((1, 0)), axis=0)
        return Counts(rows, shares.prod(axis=0), alone)  # sorted: the same bits in any order of columns

    def blocks(self, k: int) -> list[slice]:
        """Return slices of k predicates that are to be counted at once, so that memory is bounded."""
        step = max(1, _CELLS // self._rows)
        return [slice(start, min(start + step, k)) for start in range(0, k, step)]

    def marks(self, column: Hashable, low: np.ndarray, high: np.ndarray) -> Marks:
        """Return which rows have a rank in [low, high) in a column, for k such intervals."""
        return _marks(self._cells[column], low, high)

    def counted(self, bits: np.ndarray) -> np.ndarray:
        """Return how many rows, or entities, are marked: (k, bytes) to (k,)."""
        if self._starts is None:
            return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
        rows = np.unpackbits(bits, axis=1, count=self._rows)
        return np.asarray(np.bitwise_or.reduceat(rows, self._starts, axis=1).sum(axis=1, dtype=np.int64))

    def _first(self, bits: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the position of the first row marked for the chosen predicates, -1 for the others."""
        found, own = np.full(len(bits), -1), np.flatnonzero(chosen)
        byte = (bits[own] != 0).argmax(axis=1)
        found[own] = self._order[byte * 8 + np.unpackbits(bits[own, byte][:, None], axis=1).argmax(axis=1)]
        return found

    def _held(self, box: "_Boxes", blocks: Sequence[slice]) -> np.ndarray:
        if self._starts is None:
            return box.held()
        found = map(box.distinct, blocks)
        return np.concatenate([self.counted(each.bits)[each.which] for each in found])


def alone_by_luck(weights: np.ndarray, n: int) -> np.ndarray:
    """Return n w (1 - w)^(n - 1): the chance that a predicate of weight w holds for exactly one of n entities.

    Cohen and Nissim 2020, doi:10.1073/pnas.1914598117: an attack that isolates no oftener learns nothing of the data.
    At most about 1/e, at w = 1/n, where n is large.

    Example:
        >>> alone_by_luck(np.array([0.0, 0.5, 1.0]), 2).tolist(), alone_by_luck(np.array([1.0]), 1).tolist()
        ([0.0, 0.5, 0.0], [1.0])
    """
    return np.asarray(n * weights * np.power(1 - weights, n - 1))


def predicates_of(named: Any) -> list[Predicate]:
    """Return the predicates that an attack names for one row: none, one, or each of a list.

    Example:
        >>> one = (("x", "==", 1),)
        >>> predicates_of(None), predicates_of(one) == [one], predicates_of([one, one]) == [one, one]
        ([], True, True)
    """
    if is_missing(named):
        return []
    return named if isinstance(named, list) else [named]


def same_predicate(predicate: Predicate, scales: Scales) -> Hashable:
    """Return a key that is equal for predicates of the same conditions, in whatever order they are written.

    Example:
        >>> one, other = (("x", "==", 1), ("x", "==", None)), (("x", "missing", None), ("x", "==", 1.0))
        >>> same_predicate(one, {"x": "numbers"}) == same_predicate(other, {"x": "numbers"})
        True
    """
    return frozenset(_same_condition(condition, scales[condition[0]]) for condition in predicate)


def _same_condition(condition: Condition, scale: Scale) -> Hashable:
    column, operator, value = condition
    if operator == "missing" or is_missing(value):
        return column, "missing"
    number = None if scale == "levels" else number_of(value, scale == "times")
    return column, operator, value if number is None else number


def check_predicate(attack: str, predicate: Any, scales: Scales) -> None:
    """Refuse what is no predicate on these columns; no message shows a value."""
    rule = f"attack {attack} must return predicates, tuples of conditions (column, operator, value)"
    if not isinstance(predicate, tuple | list) or not predicate:
        raise InputError(f"{rule}, got {type(predicate).__name__}{'' if predicate else ' without conditions'}")
    for condition in predicate:
        if not isinstance(condition, tuple | list) or len(condition) != 3:
            raise InputError(f"{rule}, got {type(condition).__name__} as condition")
        column, operator, value = condition
        if not isinstance(column, Hashable) or column not in scales:
            raise InputError(f"{rule} on columns that it was handed, got another")
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise InputError(f"{rule} with an operator of {', '.join(OPERATORS)}, got another")
        scale, got = scales[column], type(value).__name__
        if operator in ("<=", ">="):
            if scale == "levels":
                raise InputError(f"{rule} with {operator} on columns of numbers or dates, got one on {column!r}")
            if number_of(value, scale == "times") is None:
                raise InputError(f"{rule} with {operator} and {scale} on {column!r}, got {got}")
        if not isinstance(value, Hashable):
            raise InputError(f"{rule} with single values, got {got} on {column!r}")


class _Boxes:
    """The intervals of ranks that k predicates leave in one column, and the rows inside: a bit a row."""

    def __init__(self, cells: Ranked, k: int):
        self._cells = cells
        self._low, self._high = np.zeros(k, dtype=np.int64), np.full(k, cells.size + 1)
        self.used = np.zeros(k, dtype=bool)

    def narrow(self, place: int, interval: Interval) -> None:
        """Let one more condition of a predicate hold."""
        low, high = max(self._low[place], interval[0]), min(self._high[place], interval[1])
        self._low[place], self._high[place], self.used[place] = low, max(low, high), True

    def held(self) -> np.ndarray:
        """Return how many rows are inside, (k,)."""
        counts = np.bincount(self._cells.ranks, minlength=self._cells.size + 1)
        up_to = np.concatenate([[0], np.cumsum(counts)])
        return np.asarray(up_to[self._high] - up_to[self._low])

    def bits(self, block: slice) -> np.ndarray:
        """Return for some predicates which rows are inside, (predicates, bytes)."""
        found = self.distinct(block)
        return found.bits[found.which]

    def distinct(self, block: slice) -> Marks:
        """Return for some predicates which rows are inside."""
        return _marks(self._cells, self._low[block], self._high[block])


def _marks(cells: Ranked, low: np.ndarray, high: np.ndarray) -> Marks:
    whole = cells.size + 2
    each, which = np.unique(low * whole + high, return_inverse=True)
    first, last = (limits.astype(np.int32)[:, None] for limits in np.divmod(each, whole))
    ranks = cells.ranks.astype(np.int32)
    return Marks(np.packbits((ranks >= first) & (ranks < last), axis=1), which)


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
        named = {name: _named_by(release[name], sided, drawn.rows) for name in names}
        found = _grown(release, named, records, drawn, width)
        conditions = [each.conditions for each in named.values()]
        each_row = zip(drawn.rows.tolist(), drawn.order.tolist(), found.used.tolist(), strict=True)
        for place, (row, order, used) in enumerate(each_row):
            predicates[row] = tuple(conditions[c][place] for c in sorted(order[:used])) if used else None
        weights[drawn.rows] = found.weights
        silent = found.used == 0
        if not silent.any():
            break
        drawn = _Drawn(drawn.rows[silent], drawn.order[silent])
    return _claimed(release, predicates, 1 - alone_by_luck(weights, len(records)))


_SOURCE = "Article 29 Working Party, Opinion 05/2014; Cohen and Nissim 2020, doi:10.1073/pnas.1914598117"
UNIQUE_VALUES = Attack("unique_values", "singling_out", unique_values, _SOURCE)
UNIQUE_COMBINATIONS = Attack("unique_combinations", "singling_out", unique_combinations, _SOURCE)


def check_size(size: int | None, most: int | None = None) -> None:
    """Refuse a number of columns that a predicate cannot have."""
    if size is not None:
        check_up_to("size", size, most, "columns")


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
    """What the cells of a column are named by, in the rows that speak."""

    conditions: list[Condition]  # (k,)
    low: np.ndarray  # (k,) the ranks [low, high) of the cells that fulfil it
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
        order, weight = drawn.order[block], weights[block]
        columns = [table.marks(name, each.low[block], each.high[block]) for name, each in named.items()]
        shares = [(table.counted(each.bits & counted) / len(records))[each.which] for each in columns]
        bits, pending = np.tile(counted, (len(order), 1)), np.arange(len(order))
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


def _named_by(column: pd.Series, sided: bool, rows: np.ndarray) -> _Named:
    """Return what some cells are named by: numbers by their side of the median where ``sided``, else by equality."""
    name: Hashable = column.name
    numeric = scales_of(column.to_frame())[name] != "levels"
    cells = ranked(column, numeric)
    ranks, operators = cells.ranks[rows], np.full(len(rows), "==", dtype=object)
    missing = ranks == cells.size
    if sided and numeric and cells.size:
        there = np.sort(cells.ranks[cells.ranks < cells.size])
        middle = there[len(there) // 2]  # the upper of two: at the median, or below
        operators = np.where(ranks >= middle, ">=", "<=")
    conditions: list[Condition] = [
        (name, "missing", None) if gone else (name, operator, value)
        for operator, value, gone in zip(operators.tolist(), column.iloc[rows].to_list(), missing.tolist(), strict=True)
    ]
    low = np.where((operators == "<=") & ~missing, 0, ranks)
    return _Named(conditions, low, np.where((operators == ">=") & ~missing, cells.size, ranks + 1))


def _claimed(
    release: pd.DataFrame, predicates: Sequence[Predicate | list[Predicate] | None], confidence: np.ndarray
) -> pd.DataFrame:
    named: list[Any] = list(predicates)
    column = pd.Series(named, index=release.index, dtype=object)
    return pd.DataFrame({"predicate": column, "confidence": np.where(column.notna(), confidence, np.nan)})
