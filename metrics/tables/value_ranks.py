"""Cells of a column as ranks of their values, exactly: a condition on the column is then an interval of ranks."""

import datetime
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables, in_order

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
