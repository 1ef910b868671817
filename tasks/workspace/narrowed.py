"""Columns in the type of their cells: whole numbers, texts, truth values, dates; and cells that mean "missing"."""

from collections.abc import Sequence

import pandas as pd
from pandas.api import types

from synthrisk.tasks.workspace.readings import without

_EXACT = 2**53  # beyond it a double no longer holds every integer


def narrowed(column: pd.Series) -> pd.Series:
    """Return a column of single cells in the type that all of them share; the empty text is missing.

    Numbers that are all whole become ``Int64``, times of the day durations; cells of several types stay as they are.

    Example:
        >>> narrowed(pd.Series([1.0, None])).tolist(), narrowed(pd.Series(["01", ""])).tolist()
        ([1, <NA>], ['01', <NA>])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    column = column.mask(column.eq(""))
    cells = types.infer_dtype(column, skipna=True)
    if cells in ("string", "boolean"):
        return column.astype(cells)  # type: ignore[call-overload]
    if cells in ("integer", "floating", "mixed-integer-float"):
        return _numbers(column.astype(float))
    if cells in ("datetime", "date"):
        try:
            return pd.to_datetime(column)
        except pd.errors.OutOfBoundsDatetime:  # ``typed`` refuses such dates, unless they mean a missing cell
            moments = column.where(column.notna(), None).to_numpy("datetime64[ms]")
            return pd.Series(moments, index=column.index, name=column.name)
    if cells in ("time", "timedelta"):
        return pd.to_timedelta(column.astype("string"))
    return column


def blanked(column: pd.Series, missing: Sequence[str]) -> pd.Series:
    """Return a column in which the texts in ``missing``, and the numbers that they write, are missing.

    Example:
        >>> blanked(pd.Series([1, -9]), ["-9", "none"]).isna().tolist()
        [False, True]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_categories([level for level in column.cat.categories if level in missing])
    numbers = pd.to_numeric(pd.Series(missing, dtype=object), errors="coerce").dropna().tolist()
    if types.is_bool_dtype(column.dtype):
        return column
    if types.is_numeric_dtype(column.dtype):
        return column.mask(column.isin(numbers)) if numbers else column
    if types.is_datetime64_any_dtype(column.dtype):
        return without(column, missing)
    return column.mask(column.isin([*missing, *numbers])) if missing else column


def _numbers(column: pd.Series) -> pd.Series:
    present = column.dropna()
    is_whole = bool((present % 1 == 0).all()) and bool((present.abs() <= _EXACT).all())
    return column.astype("Int64" if is_whole else "Float64")
