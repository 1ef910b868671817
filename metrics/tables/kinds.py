"""Kinds of columns, and values as texts that read the same in every table."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError

_NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty")

Kind = Literal["numeric", "categorical"]
FIT = "synthrisk.tasks.fit_release(release, real) reads a release to fit"
"""The way out where a release has other columns or forms than the real table."""


def kind(column: pd.Series) -> Kind:
    """Return the kind of a column, from its dtype alone.

    Numbers, dates and durations are numeric; strings, objects, categories and booleans are categorical.
    A numeric code list becomes categorical by casting it (``astype("category")``).

    Example:
        >>> kind(pd.Series([1, 2])), kind(pd.Series(["a", "b"])), kind(pd.Series([True, False]))
        ('numeric', 'categorical', 'categorical')
    """
    if types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical"
    return "numeric" if is_temporal(column) or types.is_numeric_dtype(column.dtype) else "categorical"


def as_floats(column: pd.Series) -> np.ndarray:
    """Return a numeric column as float64 with NaN where it is missing (dates: nanoseconds since 1970).

    Raises:
        InputError: The column holds something that is not a number.
    """
    if is_temporal(column):
        ticks = column.dt.as_unit("ns").astype("int64").to_numpy()
        return np.where(column.isna(), np.nan, ticks.astype(float))
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if column.notna().all() else object)
    is_number = types.is_numeric_dtype(column.dtype) or types.infer_dtype(column, skipna=True) in _NUMBERS
    if not is_number:  # text that looks like a number is text
        raise InputError(f"column {column.name!r} must hold numbers in both tables, got {column.dtype} in one; {FIT}")
    return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))


def is_temporal(column: pd.Series) -> bool:
    """Tell whether a column holds dates or durations."""
    return bool(types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype))


def center_and_spread(values: np.ndarray) -> tuple[float, float]:
    """Return mean and population standard deviation of the values that are there; 0 for a constant."""
    seen = values[~np.isnan(values)]
    if not len(seen):
        return 0.0, 0.0
    if seen.min() == seen.max():  # the mean of equal floats may miss them by rounding
        return float(seen[0]), 0.0
    return float(seen.mean()), float(seen.std())


NANOSECONDS_A_DAY = 86_400e9


def value_texts(column: pd.Series, values: np.ndarray) -> list[str]:
    """Return short texts for numbers (or dates, as floats) of a column: distinct wherever the numbers are.

    Example:
        >>> value_texts(pd.Series([1.5, 2.25]), np.array([1.0, 2.25, 2.2504]))
        ['1', '2.25', '2.2504']
    """
    wanted = len(np.unique(values))
    texts = pd.Series(values).map(str)
    for texts in _date_texts(column, values) if is_temporal(column) else _number_texts(values):
        if texts.nunique() == wanted:
            break
    return [str(each) for each in texts]


def _number_texts(values: np.ndarray) -> Iterator[pd.Series]:
    for digits in (4, 6, 9, 12, 17):
        yield pd.Series([_number(v, digits) for v in values], dtype=object)


def _number(value: float, digits: int) -> str:
    if value != 0 and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    if value == np.round(value):
        return str(int(value))
    return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")


def _date_texts(column: pd.Series, values: np.ndarray) -> Iterator[pd.Series]:
    if types.is_timedelta64_dtype(column.dtype):
        for numbers in _number_texts(values / NANOSECONDS_A_DAY):
            yield numbers + " days"
        return
    times = pd.Series(pd.to_datetime(np.round(values).astype(np.int64), utc=True)).dt.round("us")
    zone = getattr(column.dtype, "tz", None)
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"):
        yield (times if zone is None else times.dt.tz_convert(zone)).dt.strftime(form)
