"""Orders of levels, rows and values that no name and no order of records decides.

A tree, a penalised model and a seeded draw depend on how levels are numbered. Here levels are ranked by the records
that have them, so that the same tables with renamed levels give the same numbers.

What a seeded model learns depends on the order of its rows. Here rows are ranked by their values, and levels by
``level_order``, so that the same tables in another order, or with renamed levels, give the same numbers.
"""

import datetime
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import factorized, sort_key
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables, in_order

ABSENT = -1
WORK, PER_TRIAL, ROUNDS = 50_000_000, 5_000, 5
"""Cells that may be read to tell equal levels apart without their names (some seconds), the fixed cost of a trial in
cells, and the rounds of refinement in a trial."""


def level_order(tables: Tables, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the rank of each level of each categorical column, by its code in ``tables.codes``.

    Levels are ranked by these rules; each rule is for levels that the ones before leave equal:

    1. The missing cell is the last. The others are ranked by their number of records in the release, most first.
    2. By the records of the release that have them. This is colour refinement: a level is told apart by its records, a
       record by its levels and numbers, again and again until nothing new is told apart.
    3. By the real records that have them, in the same way.
    4. Each equal level is put first on trial. The trial that tells most levels apart is kept.
    5. By name. This is only for levels that can be exchanged without a difference, or if ``WORK`` would be exceeded.

    Returns:
        Ranks 0, 1, 2 ... of the levels that occur in a table, ``ABSENT`` for others.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"c": ["rare", "common", "common", None, None, None]})
        >>> order = level_order(Tables(table, table), ["c"])["c"]
        >>> order.tolist()
        [1, 0, 2]
    """
    names = tuple(in_order(columns))
    return tables.shared(("level order", names), lambda: _level_order(tables, names))


_SPARSE = 4  # whole numbers that lie so close, for each value, are counted rather than sorted
_WIDE = 2**31  # rows are told apart by so many numbers before they are ranked


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks 0, 1, 2 ... of values; NaN is the last.

    Example:
        >>> dense_ranks(np.array([30, -10, 30])).tolist(), dense_ranks(np.array([np.nan, 0.5, np.nan])).tolist()
        ([1, 0, 1], [1, 0, 1])
    """
    if values.dtype.kind == "i" and len(values):
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= _SPARSE * len(values):
            places, there = values.astype(np.int64) - least, np.zeros(span, dtype=bool)
            there[places] = True
            return (np.cumsum(there) - 1)[places]
    return np.unique(values, return_inverse=True)[1]


def lexicographic_ranks(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return dense ranks of rows compared column by column."""
    rows, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        ranks = dense_ranks(column)
        levels = int(ranks.max()) + 1
        rows, size = rows * levels + ranks, size * levels
        if size > _WIDE:
            rows = dense_ranks(rows)
            size = int(rows.max()) + 1
            if size == len(rows):  # no column after it can tell more
                break
    return dense_ranks(rows)


def _level_order(tables: Tables, names: Sequence[str]) -> dict[str, np.ndarray]:
    categorical = [c for c in names if tables.kind(c) == "categorical"]
    n, present, cells, missing, colours = len(tables.real), [], [], [], []
    for column in categorical:
        codes = tables.codes([column])
        real, released = (np.bincount(side, minlength=codes.size) for side in codes.tables)
        there = np.flatnonzero(real + released)
        place = np.empty(codes.size, dtype=np.int64)
        place[there] = np.arange(len(there))
        present.append(there)
        cells.append(place[np.concatenate(codes.tables)])
        missing.append(there == codes.size - 1)
        colours.append(lexicographic_ranks([released[there] == 0, missing[-1], -released[there]]))
    if _some_are_alike(colours):
        numbers = _number_marks(tables, names)
        colours = _refined(numbers[n:], [cell[n:] for cell in cells], colours)
        groups = np.ones(n, dtype=np.int64) if tables.groups is None else tables.groups
        numbers[:n] = _mixed(numbers[:n] + _mixed(groups + 2))  # which of the two tables a record is in, and as what
        colours = _refined(numbers, cells, colours)
        by_name = [_by_name(tables, c, there) for c, there in zip(categorical, present, strict=True)]
        colours = _settled(numbers, cells, colours, by_name)
    found = {}
    for column, there, gone, colour in zip(categorical, present, missing, colours, strict=True):
        found[column] = np.full(tables.codes([column]).size, ABSENT, dtype=np.int64)
        found[column][there] = lexicographic_ranks([gone, colour])
    return found


def _some_are_alike(colours: Sequence[np.ndarray]) -> bool:
    return any(colour.max(initial=-1) + 1 < len(colour) for colour in colours)


def _refined(
    numbers: np.ndarray, cells: Sequence[np.ndarray], colours: list[np.ndarray], rounds: float = np.inf
) -> list[np.ndarray]:
    """Tell levels apart by the records that have them, and records by their levels, until nothing new is told."""
    while _some_are_alike(colours) and rounds > 0:
        rounds -= 1
        marks = _marks(numbers, cells, colours)
        finer = [
            lexicographic_ranks([colour, _held(marks, cell, len(colour))])
            for colour, cell in zip(colours, cells, strict=True)
        ]
        if all(new.max() == old.max() for new, old in zip(finer, colours, strict=True)):
            break
        colours = finer
    return colours


def _settled(
    numbers: np.ndarray, cells: Sequence[np.ndarray], colours: list[np.ndarray], by_name: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Order the levels that refinement leaves equal, by name only where every order gives the same tables.

    First the twins: levels whose records have all other cells in common. Then each level of each column's smallest
    class is tried as the first. The trial that tells most levels apart is kept, of equal ones that of the least sum of
    marks, which no name moves.
    """
    colours = _refined(numbers, cells, _twins_apart(numbers, cells, colours, by_name))
    work = WORK
    while _some_are_alike(colours):
        trials = [(at, member) for at, own in enumerate(colours) for member in _smallest_class(own, by_name[at])]
        work -= len(trials) * (len(numbers) * len(cells) + PER_TRIAL)
        if work < 0:
            at = trials[0][0]
            colours[at] = lexicographic_ranks([colours[at], by_name[at]])
            colours = _refined(numbers, cells, colours)
            continue
        tried = []
        for at, member in trials:
            first = lexicographic_ranks([colours[at], np.arange(len(colours[at])) != member])
            tried.append(_refined(numbers, cells, [*colours[:at], first, *colours[at + 1 :]], ROUNDS))
        best = min(tried, key=lambda own: (-sum(map(np.max, own)), int(_mixed(_marks(numbers, cells, own)).sum())))
        colours = _refined(numbers, cells, best)
    return colours


def _twins_apart(
    numbers: np.ndarray, cells: Sequence[np.ndarray], colours: Sequence[np.ndarray], by_name: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Number the levels of a column whose records have the very same cells in all other columns.

    Levels of several columns that have the very same records, such as a name and a number that one person alone has,
    are one there: these columns are left out, and the first of them is numbered.
    """
    codes = [np.arange(len(colour)) for colour in colours]
    marks, found = _marks(numbers, cells, codes), []
    alike = [place for place, own in enumerate(colours) if own.max(initial=-1) + 1 < len(own)]
    rows = np.arange(len(numbers))
    holders = {place: _held(rows, cells[place], len(codes[place]))[cells[place]] for place in alike}
    for place, (colour, cell) in enumerate(zip(colours, cells, strict=True)):
        if place not in alike:
            found.append(colour)
            continue
        others, is_first = marks.copy(), np.ones(len(colour), dtype=bool)
        for other in alike:
            same = holders[other] == holders[place]
            others[same] -= _mixed(codes[other] + _salt(other))[cells[other][same]]
            others[same] += _mixed(np.array([_salt(other) - 1]))
            is_first[cell[same]] &= other >= place
        twins = lexicographic_ranks([colour, _held(_mixed(others), cell, len(colour))])
        order = np.lexsort((by_name[place], twins))
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order)) - np.searchsorted(twins[order], twins[order])
        found.append(lexicographic_ranks([colour, np.where(is_first, number, 0)]))
    return found


def _smallest_class(colour: np.ndarray, by_name: np.ndarray) -> list[int]:
    """Return the levels of the smallest class of more than one, the first of several, in the order of their names."""
    sizes = np.bincount(colour)
    if sizes.max(initial=1) == 1:
        return []
    members = np.flatnonzero(colour == np.flatnonzero(sizes == sizes[sizes > 1].min())[0])
    return members[np.argsort(by_name[members])].tolist()


def _marks(numbers: np.ndarray, cells: Sequence[np.ndarray], colours: Sequence[np.ndarray]) -> np.ndarray:
    """Return 64 bits for each record that stand for its numbers and the colours of its levels."""
    marks = numbers.copy()
    for place, (colour, cell) in enumerate(zip(colours, cells, strict=True)):
        marks += _mixed(colour + _salt(place))[cell]
    return marks


def _held(marks: np.ndarray, cell: np.ndarray, size: int) -> np.ndarray:
    """Return 64 bits for each level that stand for the records that have it, in any order of records."""
    held = np.zeros(size, dtype=np.uint64)
    np.add.at(held, cell, _mixed(marks))  # modulo 2^64
    return held


def _number_marks(tables: Tables, names: Sequence[str]) -> np.ndarray:
    marks = np.zeros(len(tables.real) + len(tables.synthetic), dtype=np.uint64)
    numeric = [c for c in names if tables.kind(c) == "numeric"]
    for place, column in enumerate(numeric):
        values = np.concatenate(tables.floats(column)) + 0.0  # -0 is 0
        values[np.isnan(values)] = np.nan  # of all its bit patterns one
        marks += _mixed(values.view(np.uint64) ^ _mixed(np.array([_salt(place)]))[0])
    return marks


def _by_name(tables: Tables, column: str, present: np.ndarray) -> np.ndarray:
    """Return the rank of each of these codes by the name of its level, the missing cell last."""
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


class Canonical(NamedTuple):
    """Ranks of rows and levels; equal rows have equal ranks."""

    real: np.ndarray  # (n,) rank of each row
    synthetic: np.ndarray  # (m,)
    levels: dict[str, tuple[np.ndarray, np.ndarray]]  # of categorical columns: (n,) and (m,) ranks of cells' levels


def canonical(tables: Tables) -> Canonical:
    """Return ranks of the rows, by their numbers and then their levels, and ranks of the levels (``level_order``).

    Columns are taken in the order of their names. Numbers are compared as floats, so that rows which differ beyond 2^53
    may share a rank: see ``order.value_ranks``.

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


Interval = tuple[int, int]
NOWHERE: Interval = (0, 0)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A column of one table."""

    ranks: np.ndarray  # (n,) rank of each cell's value; missing cells have the rank ``size``
    size: int  # number of distinct values
    ordered: Sequence[Any] | None = None  # values of a numeric column, ascending (dates: nanoseconds); else None
    places: Mapping[Hashable, int] = field(default_factory=dict)  # the rank of each value of a categorical column
    temporal: bool = False  # whether the column holds dates or durations

    def interval(self, operator: str, value: Any) -> Interval:
        """Return the ranks [low, high) of the cells that fulfil a condition: ``==``, ``<=``, ``>=`` or ``missing``.

        Numbers are compared as Python compares them: exactly, also beyond 2^53 and between whole numbers and floats.
        ``== missing`` means ``missing``; a value that cannot be compared equals nothing.
        """
        if operator == "missing" or (operator == "==" and is_missing(value)):
            return self.size, self.size + 1
        if self.ordered is None:
            place = self.places.get(value)
            return NOWHERE if place is None or operator != "==" else (place, place + 1)
        number = number_of(value, self.temporal)
        if number is None:
            return NOWHERE
        low, high = bisect_left(self.ordered, number), bisect_right(self.ordered, number)
        return {"==": (low, high), "<=": (0, high), ">=": (low, self.size)}[operator]


def ranked(column: pd.Series, numeric: bool) -> Ranked:
    """Return the ranks of a column's cells, in the order of the numbers where it is ``numeric``.

    Raises:
        InputError: ``numeric``, but the column holds something that is not a number.

    Example:
        >>> found = ranked(pd.Series([2**60 + 1, 2**60, 7]), numeric=True)
        >>> found.ranks.tolist(), found.interval("<=", 2**60), found.interval("==", 8)
        ([2, 1, 0], (0, 2), (1, 1))
    """
    there = column.notna().to_numpy()
    if numeric:
        numbers, temporal = exact_numbers(column), is_temporal(column)
        there = there & (numbers == numbers)  # NaN in a column whose missing cells are NA
        values, ranks = np.unique(numbers[there], return_inverse=True)
        return Ranked(_placed(ranks, there, len(values)), len(values), values.tolist(), temporal=temporal)
    codes, levels = factorized(column[there].astype(object).to_numpy())
    places = {level: place for place, level in enumerate(levels)}
    return Ranked(_placed(codes, there, len(levels)), len(levels), None, places)


def exact_numbers(column: pd.Series) -> np.ndarray:
    """Return numbers as they are (dates: nanoseconds), not as floats; what stands for a missing one means nothing."""
    if kind(column) != "numeric":
        return as_floats(column)
    if is_temporal(column):
        return column.dt.as_unit("ns").astype("int64").to_numpy()
    numbers = np.asarray(column.fillna(0) if column.isna().any() else column)
    dtype = getattr(column.dtype, "numpy_dtype", None)  # of whole numbers that may be missing, too
    return numbers if dtype is None else numbers.astype(dtype)


def number_of(value: Any, temporal: bool) -> Any:
    """Return a value as a Python number (dates: nanoseconds), None where it is none.

    Example:
        >>> number_of(np.int64(3), False), number_of("3", False), number_of(pd.Timestamp(7), True)
        (3, None, 7)
    """
    try:
        if isinstance(value, datetime.date | np.datetime64):
            return pd.Timestamp(value).as_unit("ns").value if temporal else None
        if isinstance(value, datetime.timedelta | np.timedelta64):
            return pd.Timedelta(value).as_unit("ns").value if temporal else None
    except (ValueError, OverflowError):  # its text would show the date
        return None
    number = value.item() if isinstance(value, np.number | np.bool_) else value
    if not isinstance(number, int | float | Decimal | Fraction) or number != number:
        return None
    return number


def is_missing(value: Any) -> bool:
    """Tell whether a value is NaN, None, NA or NaT."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _placed(ranks: np.ndarray, there: np.ndarray, size: int) -> np.ndarray:
    placed = np.full(len(there), size, dtype=np.int64)
    placed[there] = ranks
    return placed


def value_ranks(tables: Tables) -> np.ndarray:
    """Return ranks of the real rows by their values, (n,): equal where rows are equal, and nowhere else.

    Canonical ranks take numbers as floats, which beyond 2^53 (of dates: 256 nanoseconds) are not all different.
    """
    ranks = canonical(tables).real
    rows = tables.codes(tables.columns).tables[0]
    if len(np.unique(ranks)) == len(np.unique(rows)):
        return ranks
    numeric = [c for c in in_order(tables.columns) if tables.kind(c) == "numeric"]
    for column in numeric:
        exact = ranked(tables.real[column], numeric=True)
        ranks = np.unique(ranks * (exact.size + 1) + exact.ranks, return_inverse=True)[1]
    return ranks
