"""The types that values come in, brought to one of ours, alike in all tables, before anything is compared.

pandas, numpy, pyarrow and the drivers of databases hand out the same value in many types. An attacker does not mind.

| the column is of | it becomes |
|---|---|
| whole numbers of any width, also as objects | ``int64``, ``uint64`` if it must, ``Int64`` if cells are missing |
| fractions of any width, ``Decimal``, also as objects | ``float64`` |
| true and false | ``bool``, ``boolean`` where cells are missing |
| dates and times of any unit, ``datetime.date``, starts of ``Period`` | ``datetime64[ns]``, in UTC if zones differ |
| durations of any unit, times of the day | ``timedelta64[ns]`` |
| texts, UUIDs, bytes that are UTF-8 | texts |
| categories of any of these | categories of ours |
| sparse cells, Arrow's and masked arrays of any of these | as their cells are |

Where one table holds numbers in single (or half) precision, all are compared at it: a copy would otherwise equal its
original in those cells alone that are binary fractions.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api import types
from scipy.stats import ks_2samp

from synthrisk.metrics.errors import InputError

_DOUBLE = np.dtype(np.float64)
_OURS = frozenset(map(np.dtype, ("bool", "int64", "float64", "datetime64[ns]", "timedelta64[ns]")))
_EXACT = 2**53  # beyond it a float no longer holds every integer
_TEXTS = frozenset({"string", "empty"})
_HOUR = 4  # quarters
_MOVES = [pd.Timedelta(minutes=15) * quarters for quarters in range(-14 * _HOUR, 14 * _HOUR + 1)]
"""By which times are moved that are written in another zone."""
_DAYS_BESIDE = (-7, -3, -2, -1, 1, 2, 3, 7)
_AT_MOST = 8 * 86_400e9  # nanoseconds of a move and a week
_LOOKED_AT = 10_000  # dates
_FEWEST, _FEW = 5, 20  # dates that can tell a move, if all are real ones by it; that tell it if some are
_SHARE, _OFTEN = 0.1, 5  # share of the dates that a move must make real, and how often that by chance
_NEARLY, _MORE = 0.9, 0.01  # of the most dates, those that a lesser move makes real; share that a second one must
_UNITS = (10.0, 100.0, 1e3, 1e6, 12.0, 7.0, 24.0, 60.0, 365.25, 2.54, 2.20462262)  # months, weeks, ..., inches, pounds
_SIZED, _DIFFERENT = 100, 10  # numbers, and different ones, that tell a unit
_OTHER_UNIT, _ALIKE = 0.5, 0.1  # how far another unit sets distributions apart, and at most the same one
_DIGITS = 9  # after the point of a decimal number
_BYTES = (bytes, bytearray, memoryview)
_NUMBERS = frozenset({"floating", "mixed-integer-float", "decimal"})
_DATES = frozenset({"date", "datetime", "datetime64"})
_DURATIONS = frozenset({"timedelta", "timedelta64"})


class Typed(NamedTuple):
    """A column in one of our types."""

    cells: pd.Series
    precision: np.dtype[Any]  # of the floats that it was made of; that of doubles where there were none


def alike(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return tables of the same columns in our types; a table is returned as it is where nothing has to change.

    Raises:
        InputError: A column holds complex numbers, or dates outside 1677 to 2262.

    Example:
        >>> real, release = pd.DataFrame({"pay": [12.34, 5]}), pd.DataFrame({"pay": np.float32([5, 12.34])})
        >>> one, other = alike([real, release])
        >>> one["pay"].tolist() == other["pay"].tolist()[::-1], alike([real, real])[0] is real
        (True, True)
    """
    dtypes = [dict(zip(table.columns, table.dtypes, strict=True)) for table in tables]
    found: list[dict[Any, pd.Series]] = [{} for _ in tables]
    for column in tables[0].columns:
        if all(_is_ours(own[column]) for own in dtypes):
            continue
        cells = [table[column] for table in tables]
        for changed, old, new in zip(found, cells, same_types(cells), strict=True):
            if new is not old:
                changed[column] = new
    return [_with(table, changed) for table, changed in zip(tables, found, strict=True)]


def same_types(columns: Sequence[pd.Series]) -> list[pd.Series]:
    """Return the same column of several tables in our types, floats at the coarsest precision among them.

    Times with a zone stay as they are where all tables have the same. Otherwise they become UTC. Times without a zone
    then are UTC too, or on the clock of the zone, if more of their values are found in the other tables so.

    Example:
        >>> days = pd.Series([dt.date(2024, 2, 29), None], dtype=object)
        >>> [str(each.iloc[0]) for each in same_types([days, days.astype("datetime64[s]")])]
        ['2024-02-29 00:00:00', '2024-02-29 00:00:00']
    """
    found = [typed(column) for column in columns]
    first = found[0].cells
    cells = _in_one_zone([first, *(_as_cells(each.cells, first.dtype) for each in found[1:])])
    precision = min((each.precision for each in found), key=lambda dtype: dtype.itemsize)
    if precision == _DOUBLE or all(each.precision == precision for each in found):
        return cells
    return [_by_levels(each, lambda column: _rounded(column, precision)) for each in cells]


def precision_of(column: pd.Series) -> np.dtype[Any]:
    """Return the precision that numbers must be compared at, doubles' where they are no floats, or are whole and small.

    Example:
        >>> [str(precision_of(pd.Series(cells, dtype="float32"))) for cells in ([1.5, None], [1.0, None])]
        ['float32', 'float64']
    """
    cells, precision = typed(column)
    if precision == _DOUBLE:
        return precision
    floats = np.abs(_values(cells).to_numpy(dtype=float, na_value=np.nan))
    floats = floats[np.isfinite(floats)]
    most = 2 ** (np.finfo(precision).nmant + 1)
    are_held = bool((floats == np.floor(floats)).all()) and floats.max(initial=0) <= most
    return _DOUBLE if are_held else precision


def as_levels(values: np.ndarray) -> pd.Series:
    """Return values that are levels, whatever their type, as a column that is categorical: codes are no numbers.

    Example:
        >>> as_levels(np.array(["a", "b"], dtype=object)).dtype, as_levels(np.array([7, 9], dtype=object)).dtype.name
        (dtype('O'), 'category')
    """
    column = pd.Series(values, dtype=object)
    return column if types.infer_dtype(column, skipna=True) in _TEXTS else column.astype("category")


def _with(table: pd.DataFrame, changed: dict[Any, pd.Series]) -> pd.DataFrame:
    if not changed:
        return table
    columns = [changed.get(name, table[name]) for name in table.columns]
    result = pd.DataFrame(dict(enumerate(columns)), index=table.index, copy=False)
    result.columns = table.columns
    result.attrs = table.attrs
    return result


def typed(column: pd.Series) -> Typed:
    """Return a column in one of our types; itself where it is in one, or where none holds its cells.

    Raises:
        InputError: It holds complex numbers, or dates outside 1677 to 2262.

    Example:
        >>> found = typed(pd.Series([0.5, None], dtype="float[pyarrow]"))
        >>> found.cells.tolist(), str(found.precision)
        ([0.5, nan], 'float32')
    """
    dtype: Any = column.dtype
    if _is_ours(dtype) or isinstance(dtype, pd.StringDtype | pd.BooleanDtype | pd.Int64Dtype | pd.IntervalDtype):
        return Typed(column, _DOUBLE)
    if not isinstance(dtype, pd.ArrowDtype) and types.is_complex_dtype(dtype):  # Arrow has no complex numbers
        raise _complex(column)
    if isinstance(dtype, pd.CategoricalDtype):
        if _held(dtype) in _OURS:
            return Typed(column, _DOUBLE)
        levels = _values(column)
        new = typed(levels)
        return Typed(column if new.cells is levels else _relabelled(column, new.cells), new.precision)
    try:
        return _of_arrow(column) if isinstance(dtype, pd.ArrowDtype) else _of_pandas(column)
    except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta):
        rule = "dates from 1677 to 2262 (durations below 292 years)"
        raise InputError(f"column {column.name!r} must hold {rule}, got one outside") from None


def _as_cells(column: pd.Series, like: Any) -> pd.Series:
    """Return a category of numbers or times as its cells, where the real column is of such and no category."""
    held = _held(column.dtype)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if not is_category or isinstance(like, pd.CategoricalDtype | pd.StringDtype) or held.kind not in "iufmM":
        return column
    codes, levels = column.cat.codes.to_numpy(), column.cat.categories.to_series()
    levels = levels.astype("Int64") if held.kind == "i" and (codes < 0).any() else levels
    return pd.Series(levels.array.take(codes, allow_fill=True), index=column.index, name=column.name)


def _by_levels(column: pd.Series, change: Callable[[pd.Series], pd.Series]) -> pd.Series:
    """Return what a change makes of a column's cells; of a category's levels."""
    values = _values(column)
    new = change(values)
    if values is column:
        return new
    return column if new is values else _relabelled(column, new)


def _relabelled(column: pd.Series, levels: pd.Series) -> pd.Series:
    codes, distinct = pd.factorize(levels)
    new = np.append(codes, [-1])[column.cat.codes.to_numpy()]  # -1, the missing code, picks the appended -1
    cells = pd.Categorical.from_codes(new, categories=distinct, ordered=column.cat.ordered)
    return pd.Series(cells, index=column.index, name=column.name)


def _is_ours(dtype: Any) -> bool:
    """Tell whether columns of a dtype stay as they are, whatever other tables hold; categories remember their texts."""
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories.inferred_type in _TEXTS
    return isinstance(dtype, np.dtype) and dtype in _OURS


def _held(dtype: Any) -> Any:
    return dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype


def _values(column: pd.Series) -> pd.Series:
    """Return the levels of a category, of another column its cells."""
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    return pd.Series(column.cat.categories, name=column.name) if is_category else column


def _of_pandas(column: pd.Series) -> Typed:
    dtype: Any = column.dtype
    if isinstance(dtype, pd.SparseDtype):
        return typed(column.sparse.to_dense())  # type: ignore[attr-defined]
    if isinstance(dtype, pd.PeriodDtype):
        return typed(column.dt.to_timestamp(how="start"))
    if types.is_float_dtype(dtype):
        return _floats(column, getattr(dtype, "numpy_dtype", dtype))
    if types.is_integer_dtype(dtype):
        return Typed(_integers(column), _DOUBLE)
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        return Typed(column if column.dt.unit == "ns" else column.dt.as_unit("ns"), _DOUBLE)
    return _of_objects(column) if types.is_object_dtype(dtype) else Typed(column, _DOUBLE)


def _of_arrow(column: pd.Series) -> Typed:
    cells, kind = pa.array(column.array), column.dtype.pyarrow_dtype  # type: ignore[union-attr]
    if pa.types.is_floating(kind):
        return _floats(column, kind.to_pandas_dtype())
    if pa.types.is_integer(kind):
        return Typed(_integers(column), _DOUBLE)
    if pa.types.is_boolean(kind):
        return Typed(column.astype("boolean" if column.isna().any() else "bool"), _DOUBLE)
    if pa.types.is_date(kind):
        cells = cells.cast(pa.timestamp("ms"))
    elif pa.types.is_time(kind):
        cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
        cells = cells.cast(pa.duration(kind.unit))
    elif pa.types.is_string_view(kind):
        cells = cells.cast(pa.string())
    elif pa.types.is_binary_view(kind):
        cells = cells.cast(pa.binary())
    plain = cells.to_pandas()
    return typed(pd.Series(plain.array, index=column.index, name=column.name, copy=False))


def _floats(column: pd.Series, dtype: Any) -> Typed:
    cells = pd.Series(column.to_numpy(dtype=float, na_value=np.nan), index=column.index, name=column.name, copy=False)
    return Typed(cells, _coarser(np.dtype(dtype), _DOUBLE))


def _coarser(*precisions: np.dtype[Any]) -> np.dtype[Any]:
    return min(precisions, key=lambda dtype: dtype.itemsize)


def _integers(column: pd.Series) -> pd.Series:
    """Return whole numbers, none of them an object, in 64 bits with a sign if they fit."""
    there = column.dropna()
    if len(there) and int(there.max()) >= 2**63:
        return column if len(there) < len(column) or column.dtype.name == "uint64" else column.astype("uint64")
    return column.astype("Int64" if len(there) < len(column) else "int64")


def _of_objects(column: pd.Series) -> Typed:
    """Return a column of Python's or numpy's objects in the type of its cells; one of several types as it is."""
    held = types.infer_dtype(column, skipna=True)
    if held in _TEXTS:
        return Typed(column, _DOUBLE)
    there = column[column.notna()]
    made = _of_cells(there, held, set(map(type, there)))
    if made is None:
        return Typed(column, _DOUBLE)
    cells, precision = made
    whole = cells.set_axis(there.index)
    if len(there) < len(column):
        room = {"int64": "Int64", "bool": "boolean"}.get(str(whole.dtype))
        whole = whole.astype(room) if room else whole  # type: ignore[call-overload]
        places = np.where(column.notna(), np.cumsum(column.notna()) - 1, -1)
        whole = pd.Series(whole.array.take(places, allow_fill=True))
    return Typed(pd.Series(whole.array, index=column.index, name=column.name, copy=False), precision)


def _of_cells(there: pd.Series, held: str, found: set[type]) -> Typed | None:
    """Return cells none of which is missing in one of our types, None where they stay as they are."""
    if any(issubclass(cell, complex | np.complexfloating) for cell in found):
        raise _complex(there)
    if held in _DURATIONS or _all(found, dt.timedelta, np.timedelta64):
        return typed(pd.Series(pd.to_timedelta(there.tolist()), name=there.name))
    if held == "integer":
        return _whole(there)
    if held in _NUMBERS or (_all(found, Real, Decimal) and not _any(found, bool, np.bool_)):
        if _any(found, Decimal) and (whole := _whole_decimals(there)) is not None:
            return whole
        single = [np.dtype(cell) for cell in found if issubclass(cell, np.floating)]
        return Typed(pd.Series(there.to_numpy().astype(float)), _coarser(_DOUBLE, *single))
    if held == "boolean":
        return Typed(pd.Series(there.to_numpy().astype(bool)), _DOUBLE)
    if held in _DATES or _all(found, dt.date, np.datetime64):
        has_zone = any(getattr(cell, "tzinfo", None) is not None for cell in there)
        return typed(pd.Series(pd.to_datetime(there.tolist(), utc=has_zone), name=there.name))
    if held == "time":
        return typed(pd.Series(pd.to_timedelta([str(cell.replace(tzinfo=None)) for cell in there])))
    if held == "period" and len({cell.freqstr for cell in there}) == 1:
        return typed(pd.Series(pd.PeriodIndex(there), name=there.name))
    if _all(found, UUID):
        return Typed(pd.Series([str(cell) for cell in there], dtype=object), _DOUBLE)
    if _all(found, pa.Scalar):
        return typed(pd.Series([cell.as_py() for cell in there]))
    return _decoded(there) if _any(found, *_BYTES) and _all(found, *_BYTES, str) else None


def _whole(there: pd.Series) -> Typed | None:
    for dtype in (np.int64, np.uint64):
        try:
            return Typed(pd.Series(np.array([int(cell) for cell in there], dtype=dtype)), _DOUBLE)
        except OverflowError:
            continue
    return None


def _whole_decimals(there: pd.Series) -> Typed | None:
    """Return decimals as whole numbers where all are, and floats would not hold them."""
    if all(cell == cell // 1 for cell in there) and any(abs(cell) > _EXACT for cell in there):
        return _whole(there)
    return None


def _decoded(there: pd.Series) -> Typed | None:
    try:
        texts = [cell if isinstance(cell, str) else bytes(cell).decode() for cell in there]
        return Typed(pd.Series(texts, dtype=object), _DOUBLE)
    except UnicodeDecodeError:
        return None


def _any(found: set[type], *allowed: type) -> bool:
    return any(issubclass(cell, allowed) for cell in found)


def _all(found: set[type], *allowed: type) -> bool:
    return all(issubclass(cell, allowed) for cell in found)


def _complex(column: pd.Series) -> InputError:
    return InputError(f"column {column.name!r} must hold real numbers, got complex ones")


def _rounded(column: pd.Series, precision: np.dtype[Any]) -> pd.Series:
    """Return numbers as that precision holds them; those beyond its largest, and all else, as they are."""
    if types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype):
        return column
    exact = column.to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(over="ignore"):
        coarse = exact.astype(precision).astype(float)
    coarse = np.where(np.isinf(coarse), exact, coarse)
    is_held = np.array_equal(coarse, exact, equal_nan=True)
    if is_held and (types.is_float_dtype(column.dtype) or not (np.abs(exact) > _EXACT).any()):
        return column
    return pd.Series(coarse, index=column.index, name=column.name)


def _in_one_zone(columns: list[pd.Series]) -> list[pd.Series]:
    held = {_held(column.dtype) for column in columns}
    if sum(types.is_datetime64_any_dtype(dtype) for dtype in held) < 2:
        return columns
    times = [each for each in map(_values, columns) if types.is_datetime64_any_dtype(each.dtype)]
    aware = [each for each in times if isinstance(each.dtype, pd.DatetimeTZDtype)]
    plain = pd.concat([each for each in times if each.dtype == "datetime64[ns]"] or [_utc(aware[0]).iloc[:0]])
    found = [sum(int(way(each).drop_duplicates().isin(plain).sum()) for each in aware) for way in (_utc, _on_clock)]
    return [_by_levels(column, _utc if found[0] >= found[1] else _on_clock) for column in columns]


def in_zone_of(times: pd.Series, real: pd.Series) -> pd.Series:
    """Return times with a zone where real ones have one, without where these have none.

    Times without a zone are UTC, or on the clock of the other's zone if more of their values are real ones so.

    Example:
        >>> real = pd.Series(pd.to_datetime(["2024-07-01 08:00"])).dt.tz_localize("Europe/Vienna")
        >>> clocks = [real.dt.tz_convert(zone).dt.tz_localize(None) for zone in ("UTC", "Europe/Vienna")]
        >>> [in_zone_of(times, real).equals(real) for times in clocks]
        [True, True]
    """
    zone, is_aware = getattr(real.dtype, "tz", None), isinstance(times.dtype, pd.DatetimeTZDtype)
    if zone is None:
        return most_real([_utc(times), _on_clock(times)], real) if is_aware else times
    if is_aware:
        return times.dt.tz_convert(zone)
    return most_real([times.dt.tz_localize("UTC").dt.tz_convert(zone), _of_clock(times, zone, real)], real)


def on_clock_of(times: pd.Series, real: pd.Series) -> tuple[pd.Series, str]:
    """Return times on the clock of real ones, and by which hours they were moved; an empty text where they were not.

    A zone that no table names moves all by as much, in summer by an hour more: each cell is moved by that of the two
    which makes it a real one. None is made where no move makes a tenth of them real, and many more than chance: more
    than they are without a move, under most moves, and some days earlier or later at the same time of day. So dates of
    a schedule (each day at nine for each day at eight) stay where they are.

    Example:
        >>> real = pd.Series(pd.date_range("2024-07-01 08:00", periods=30, freq="37h"))
        >>> moved, hours = on_clock_of(real + pd.Timedelta(hours=2), real)
        >>> moved.equals(real), hours
        (True, '-2')
    """
    cells, real = typed(times).cells, typed(real).cells
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    cells = in_zone_of(cells, real)
    ticks = cells.astype("int64").to_numpy(dtype=float)
    there = cells.where(cells.notna() & (np.abs(ticks) < 2.0**63 - _AT_MOST))
    known, some = pd.Index(real.dropna().unique()), pd.Index(there.dropna().unique()[:_LOOKED_AT])
    if len(some) < _FEWEST:
        return times, ""
    found = np.array([known.get_indexer(some + move) >= 0 for move in _MOVES])
    shares = found.mean(axis=1)
    best = min(np.flatnonzero(shares >= _NEARLY * shares.max()), key=lambda each: abs(_MOVES[each]))
    near = [each for each in (best - _HOUR, best + _HOUR) if 0 <= each < len(_MOVES)]
    other = max(near, key=lambda each: int((found[best] | found[each]).sum()))
    many, more = int((found[best] | found[other]).sum()), int((found[other] & ~found[best]).sum())
    days = [float((known.get_indexer(some + _MOVES[best] + pd.Timedelta(days=d)) >= 0).mean()) for d in _DAYS_BESIDE]
    chance = len(some) * max(shares[len(_MOVES) // 2], float(np.median(shares)), *days)
    if many < max(min(_FEW, len(some)), _SHARE * len(some), _OFTEN * chance):
        return times, ""
    moves = [_MOVES[best], _MOVES[other]] if more >= _MORE * len(some) else [_MOVES[best]]
    first, second = there + moves[0], there + moves[-1]
    moved = first.where(first.isin(known) | ~second.isin(known), second).where(there.notna(), cells)
    return moved, " or ".join(f"{move / pd.Timedelta(hours=1):+g}" for move in moves)


def in_unit_of(numbers: pd.Series, real: pd.Series) -> tuple[pd.Series, float]:
    """Return numbers in the unit of real ones, and by how many times they were larger; 1 where they are as they were.

    They are in another unit (cents, thousands, percents, months, inches: ``_UNITS``) where the two distributions, but
    for zeros, are apart by more than a half (Kolmogorov and Smirnov's distance), and in one unit by a tenth at most. A
    release that is so for another reason only comes nearer to the real table. Fewer than a hundred numbers, or ten
    different ones, tell no unit.

    Example:
        >>> paid = pd.Series([0.0, *(20.25 + k for k in range(200))])
        >>> cells, times = in_unit_of((100 * paid).astype(int), paid)
        >>> cells.equals(paid), times
        (True, 100.0)
    """
    own, due = (_sized(each) for each in (numbers, real))
    told = all(len(each) >= _SIZED and len(np.unique(each)) >= _DIFFERENT for each in (own, due))
    if not told or np.abs(own).max() >= _EXACT or _distance(own, due) <= _OTHER_UNIT:
        return numbers, 1.0
    found = [(_distance(way(own, unit), due), unit, way) for unit in _UNITS for way in (np.divide, np.multiply)]
    distance, unit, way = min(found, key=lambda each: each[0])
    if distance > _ALIKE:
        return numbers, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        cells = way(numbers.to_numpy(dtype=float, na_value=np.nan), unit)
        for digits in range(_DIGITS):  # what is a decimal number but for the last bits is that
            short = np.round(cells, digits)
            cells = np.where(np.abs(short - cells) <= 4 * np.spacing(np.abs(cells)), short, cells)
    cells[np.isinf(cells)] = np.nan
    return pd.Series(cells, index=numbers.index, name=numbers.name), unit if way is np.divide else 1 / unit


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(ks_2samp(one, other, method="asymp").statistic)


def _sized(numbers: pd.Series) -> np.ndarray:
    floats = numbers.dropna().to_numpy(dtype=float)
    floats = floats[np.isfinite(floats) & (floats != 0)]
    return floats[:: len(floats) // _LOOKED_AT + 1]


def most_real(readings: Sequence[pd.Series], real: pd.Series) -> pd.Series:
    """Return the reading that has most values in common with a real column, the first if several have as many."""
    return max(readings, key=lambda values: int(values.drop_duplicates().isin(real).sum()))


def _of_clock(times: pd.Series, zone: Any, real: pd.Series) -> pd.Series:
    """Return times on the clock of a zone; those that it shows twice are the real one of both."""
    twice = [
        times.dt.tz_localize(zone, ambiguous=np.full(len(times), summer), nonexistent="shift_forward")
        for summer in (True, False)
    ]
    return twice[0].where(twice[0].isin(real) | ~twice[1].isin(real), twice[1])


def _utc(column: pd.Series) -> pd.Series:
    is_aware = isinstance(column.dtype, pd.DatetimeTZDtype)
    return column.dt.tz_convert("UTC").dt.tz_localize(None) if is_aware else column


def _on_clock(column: pd.Series) -> pd.Series:
    return column.dt.tz_localize(None) if isinstance(column.dtype, pd.DatetimeTZDtype) else column
