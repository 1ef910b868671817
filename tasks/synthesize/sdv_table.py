"""The plain table that SDV is given instead of the real one, and the way back.

SDV refuses or alters many columns: categories, nullable dtypes, constants, keys. It is given only what it
learns from: floats, and texts that number the levels. So no level's name reaches its metadata or its logs.
"""

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.tasks.synthesize.codes import coded

_SECOND = 10**9
UNITS = (86_400 * _SECOND, 3_600 * _SECOND, 60 * _SECOND, _SECOND, 10**6, 10**3, 1)


def encoded(train: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the plain table and the SDV type of each of its columns.

    Numeric: floats, NaN where missing; dates and durations as numbers of the coarsest unit that holds them
    all (days, seconds, ...), so that rounding gives dates of the same kind. Categorical: ``"0", "1", ...`` by
    level, missing being one. Columns of one value are left out: ``decoded`` repeats the value.
    """
    columns: dict[str, pd.Series[Any]] = {}
    sdtypes: dict[str, str] = {}
    if len({str(name) for name in train.columns}) < train.shape[1]:
        raise InputError(f"SDV needs columns whose names differ as texts, got {list(train.columns)}")
    for name in train.columns:
        column = train[name]
        codes = coded(column).codes
        if (codes == codes[0]).all():
            continue
        if kind(column) == "categorical":
            columns[str(name)], sdtypes[str(name)] = pd.Series(codes).astype(str), "categorical"
            continue
        values = as_floats(column) / _unit(column)
        if np.isinf(values).any():
            raise InputError(f"SDV needs finite numbers, got an infinity in column {name!r}")
        columns[str(name)] = pd.Series(values)
        sdtypes[str(name)] = "numerical"
    return pd.DataFrame(columns), sdtypes


def decoded(plain: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    """Return a sampled plain table as a table with the columns and dtypes of ``train``."""
    plain = plain.reset_index(drop=True)
    columns = [
        _back(plain[str(name)], train[name])
        if str(name) in plain
        else train[name].take(np.zeros(len(plain), dtype=np.int64)).reset_index(drop=True)
        for name in train.columns
    ]
    result = pd.concat(columns, axis=1)
    result.columns = train.columns
    return result


def _unit(column: pd.Series) -> float:
    if not is_temporal(column):
        return 1.0
    ticks = column.dropna().dt.as_unit("ns").astype("int64").to_numpy()  # the coarsest unit that holds all exactly
    return float(next(unit for unit in UNITS if not (ticks % unit).any()))


def _back(values: pd.Series, like: pd.Series) -> pd.Series:
    if kind(like) == "categorical":
        first = np.unique(coded(like).codes, return_index=True)[1]  # where each level occurs first
        return like.take(first[values.astype(np.int64).to_numpy()]).reset_index(drop=True)
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    missing = np.isnan(numbers)
    if not is_temporal(like) and types.is_float_dtype(like.dtype):
        return pd.Series(numbers).astype(like.dtype)
    # Cells are built from a real one of the column, so that zone, unit and dtype come along.
    result = like.take(np.full(len(numbers), _first(like, missing=False))).reset_index(drop=True)
    ends = like.dropna().min(), like.dropna().max()
    low, high = (int(end.value) if is_temporal(like) else int(end) for end in ends)
    scale = int(_unit(like))
    whole = [min(max(round(v) * scale, low), high) for v in numbers[~missing]]
    if missing.any():
        result[missing] = like.take([_first(like, missing=True)]).iloc[0]
    result[~missing] = cells_of(whole, like).array
    return result


def _first(column: pd.Series, missing: bool) -> int:
    return int(np.flatnonzero(column.isna().to_numpy() == missing)[0])


def cells_of(whole: list[int], like: pd.Series) -> pd.Series:
    """Return whole numbers as cells of a column like ``like``; of dates and durations they are nanoseconds."""
    if not is_temporal(like):
        return pd.Series(whole, dtype=like.dtype)
    if types.is_timedelta64_dtype(like.dtype):
        return pd.Series(pd.to_timedelta(whole, unit="ns")).astype(like.dtype)
    zone = getattr(like.dtype, "tz", None)
    dates = pd.Series(pd.to_datetime(whole, unit="ns", utc=True))
    return (dates.dt.tz_convert(zone) if zone else dates.dt.tz_localize(None)).astype(like.dtype)
