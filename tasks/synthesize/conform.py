"""Casting a foreign table (a vendor's file, what a function returned) to the dtypes of the real one."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.release.columns import folded
from synthrisk.metrics.tables.codes import factorized, plain_texts
from synthrisk.metrics.tables.value_types import in_zone_of, precision_of, typed
from synthrisk.tasks.synthesize.synthesizer import side_by_side
from synthrisk.tasks.workspace.files.cell_texts import MISSING, as_text, to_numbers
from synthrisk.tasks.workspace.files.fitted_cells import is_text, iso_dates, kind_of, levels_of, unfit, way_out

_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


def conform(frame: pd.DataFrame, like: pd.DataFrame, name: str, coarse: Collection[Any] = ()) -> pd.DataFrame:
    """Return ``frame`` with the columns, their order and the dtypes of ``like``, and rows numbered from 0.

    Text becomes numbers, dates (ISO 8601 only: 01/02/2020 would be a guess), durations or truth values where ``like``
    has such; numbers become text where it has text. Categories that ``like`` lacks are added behind its own. Whole
    numbers and truth values become ``Int64`` and ``boolean`` if cells are missing, but none in ``like``; numbers with
    decimals stay so where ``like`` has none. Times with a zone become UTC. Numbers in single precision stay so where
    doubles would hold others: they are compared at that precision. ``name`` is what errors call the table; cells of
    ``coarse`` columns stand for sets, and may be numbers where ``like`` has texts.

    Raises:
        InputError: Columns are absent, extra or twice there, or cells cannot be cast; it names the column and what it
            must hold, never a cell.

    Example:
        >>> like = pd.DataFrame({"age": [30, 40], "vote": pd.Categorical(["a", "b"])})
        >>> release = conform(pd.DataFrame({"vote": ["c", "a"], "age": ["50", "60"]}), like, "release")
        >>> release["age"].tolist(), release["vote"].cat.categories.tolist()
        ([50, 60], ['a', 'b', 'c'])
    """
    check_columns(list(frame.columns), list(like.columns), name)
    columns = []
    for column in like.columns:
        try:
            columns.append(_cast_types(frame[column].reset_index(drop=True), like[column]))
        except (ValueError, TypeError, OverflowError):  # its text would hold a cell
            raise unfit(name, str(column), like[column]) from None
        if column not in coarse and _has_codes_for_labels(columns[-1], like[column]):
            raise InputError(
                f"{name}: column {column!r} must hold texts as the real table does, got numbers only: codes where the "
                f"real table has labels? Write the labels, or {way_out(str(column))}"
            )
    return side_by_side(columns, like.columns, len(frame))


def apart(frame: pd.DataFrame, columns: Collection[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns that a table should have, and, as texts, those that it has besides.

    Where one that it should have is absent, another one may be it: then they are left together, for ``conform`` to say.

    Example:
        >>> both = apart(pd.DataFrame({"age": [1], "mail": ["a@example.org"]}), ["age"])
        >>> [list(each) for each in both]
        [['age'], ['mail']]
    """
    extra = [k for k, c in enumerate(frame.columns) if c not in columns]
    if not extra or any(c not in frame.columns for c in columns):
        return frame, frame.iloc[:, :0]
    beside = {str(frame.columns[k]): plain_texts(frame.iloc[:, k]).array for k in extra}
    kept = frame.iloc[:, [k for k in range(frame.shape[1]) if k not in extra]]
    return kept, pd.DataFrame(beside, index=pd.RangeIndex(len(frame)), copy=False)


def _has_codes_for_labels(column: pd.Series, like: pd.Series) -> bool:
    """Tell whether all cells are numbers where no text of the real column is: nothing would ever match.

    Texts that differ in blanks alone, as codes do that are written in groups, do match.
    """
    if kind_of(like) != "texts" or types.infer_dtype(levels_of(like), skipna=True) != "string":
        return False
    got, real = column.dropna().unique(), levels_of(like).dropna().unique()
    if not len(got) or not len(real) or not _are_numbers(got).all() or _are_numbers(real).any():
        return False
    return {*map(folded, real)}.isdisjoint(map(folded, got))


def _are_numbers(texts: Any) -> pd.Series:
    return pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").notna()


def is_like(got: object, due: object) -> bool:
    """Tell whether a dtype is the one due, it with added categories, room for missing cells or in single precision."""
    if isinstance(got, pd.CategoricalDtype) and isinstance(due, pd.CategoricalDtype):
        return got.ordered == due.ordered and list(got.categories[: len(due.categories)]) == list(due.categories)
    if got == np.float64 and getattr(due, "kind", "") in "iu":  # numbers with decimals, as many generators make them
        return True
    if got in (np.float16, np.float32) or due == np.float32:  # compared at that precision
        return getattr(due, "kind", "") in "iuf" and getattr(got, "kind", "") in "iuf"
    return bool(got == due) or (isinstance(due, np.dtype) and bool(got == with_missing(due)))


def with_missing(dtype: Any) -> Any:
    """Return the dtype that holds the same values and missing ones."""
    if dtype.kind == "b":
        return pd.BooleanDtype()
    return pd.Int64Dtype() if dtype.kind == "i" else pd.UInt64Dtype() if dtype.kind == "u" else dtype


def check_columns(got: list[object], due: list[object], name: str) -> None:
    """Refuse columns that are absent, extra or there twice."""
    absent, extra = [c for c in due if c not in got], [k for k, c in enumerate(got) if c not in due]
    if absent or extra:
        rule = f"{name} must have the columns of the real table"
        if len(absent) == len(due):
            raise InputError(f"{rule}, {due}, got none of them: has the file a header line?")
        close = absent and nearest(str(absent[0]), [str(got[k]) for k in extra])
        hint = f" (nearly {absent[0]!r})" if close else ""
        # other names are not told: a generator may have made them of cells
        cure = f"; rename it, or {way_out(str(absent[0]))}" if absent else ""
        raise InputError(f"{rule}; absent: {absent or 'none'}, extra: {_numbers(extra)}{hint}{cure}")
    if twice := [c for c in got if got.count(c) > 1]:
        raise InputError(f"{name} must have every column once, got {twice[0]!r} twice")


def _numbers(places: list[int]) -> str:
    if not places:
        return "none"
    *first, last = [str(k + 1) for k in places]
    return f"columns {', '.join(first)} and {last}" if first else f"column {last}"


def _cast_types(column: pd.Series, like: pd.Series) -> pd.Series:
    """Return a column cast, whatever type its values came in."""
    held = levels_of(like).dtype
    if types.is_object_dtype(held) or types.is_string_dtype(held):  # whose texts are those of the cells as they come
        return _cast_levels(column, like)
    cast, precision = _cast_levels(typed(column).cells, like), precision_of(column)
    if precision == np.float64 or like.dtype.kind not in "iuf":
        return cast
    return pd.Series(cast.to_numpy(dtype=float, na_value=np.nan).astype(precision), name=column.name)


def _cast_levels(column: pd.Series, like: pd.Series) -> pd.Series:
    """Return a column cast; of texts each one is cast once, however many cells hold it."""
    values = levels_of(column)
    if not is_text(values) or types.infer_dtype(values, skipna=True) != "string":
        return _cast(column, like)
    are_coded = isinstance(column.dtype, pd.CategoricalDtype)
    codes, levels = pd.factorize(column) if are_coded else factorized(column.to_numpy(dtype=object, na_value=np.nan))
    missing = [np.nan] if (codes < 0).any() else []  # the last level: its code is -1
    distinct = pd.Series([*levels[pd.notna(levels)], *missing], dtype=object, name=column.name)
    cast = _cast(distinct, like)
    return pd.Series(cast.array.take(codes), dtype=cast.dtype, name=column.name)


def _cast(column: pd.Series, like: pd.Series) -> pd.Series:
    dtype = like.dtype
    if column.dtype == dtype and not types.is_object_dtype(dtype):
        return column
    if isinstance(dtype, pd.CategoricalDtype):
        return _to_category(column, dtype)
    if types.is_object_dtype(dtype) or types.is_string_dtype(dtype):
        return _to_object(column, like)
    column = _without_markers(column)
    present = column.notna()
    values = _parse(column[present], like)
    if types.is_integer_dtype(dtype) and _has_decimals(values):
        return values.astype(float).reindex(column.index)
    if not present.all() and isinstance(dtype, np.dtype) and dtype.kind in "biu":
        dtype = with_missing(dtype)
    return pd.Series(values.astype(dtype).reindex(column.index), dtype=dtype)


def _without_markers(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)  # not to the levels' dtype, which may have no room for a missing cell
    if is_text(column):
        column = column.astype(object)
        return column.mask(np.array([isinstance(cell, str) and cell.strip() in MISSING for cell in column], dtype=bool))
    return column


def _parse(present: pd.Series, like: pd.Series) -> pd.Series:
    """Return cells, none of them missing, as numbers, dates, durations or truth values like the real ones."""
    dtype = like.dtype
    if types.is_bool_dtype(dtype):
        truth = present.map(lambda cell: _TRUTH.get(str(cell).strip().lower()))
        if truth.isna().any():
            raise ValueError
        return truth.astype(bool)
    if types.is_datetime64_any_dtype(dtype):
        return _to_dates(present, like)
    if types.is_timedelta64_dtype(dtype):
        if types.is_numeric_dtype(present.dtype):
            raise TypeError
        return pd.to_timedelta(present)
    if types.is_datetime64_any_dtype(present.dtype) or types.is_timedelta64_dtype(present.dtype):
        raise TypeError
    numbers = to_numbers(present)
    if types.is_integer_dtype(dtype) and types.is_float_dtype(numbers.dtype) and not np.isfinite(numbers).all():
        raise ValueError
    if types.is_integer_dtype(dtype) and not _has_decimals(numbers):
        _check_bounds(numbers, dtype)
    return numbers


def _has_decimals(numbers: pd.Series) -> bool:
    return types.is_float_dtype(numbers.dtype) and not (numbers % 1 == 0).all()


def _check_bounds(numbers: pd.Series, dtype: Any) -> None:
    bounds = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    if len(numbers) and not bounds.min <= int(numbers.min()) <= int(numbers.max()) <= bounds.max:
        raise OverflowError


def _to_dates(present: pd.Series, like: pd.Series) -> pd.Series:
    if types.is_numeric_dtype(present.dtype):
        raise TypeError
    if types.infer_dtype(present, skipna=True) == "string":
        return iso_dates(present, like, errors="raise")
    return in_zone_of(pd.to_datetime(present), like)


def _to_object(column: pd.Series, like: pd.Series) -> pd.Series:
    """Cast to object or string, whose dtype does not say what the cells are: their own types do."""
    holds = types.infer_dtype(like, skipna=True)
    present = column[column.notna()]
    if holds == "boolean":
        truth = pd.Series(dtype=bool)
        present = _parse(_without_markers(column).dropna(), truth).astype(object)
    elif holds in ("integer", "floating", "mixed-integer-float"):
        present = to_numbers(_without_markers(column).dropna()).astype(object)
    elif holds == "string" or (types.is_string_dtype(like.dtype) and not types.is_object_dtype(like.dtype)):
        present = present.map(_text).astype(object)
    return present.astype(object).reindex(column.index).astype(like.dtype)


def _text(cell: object) -> str:
    return cell.decode() if isinstance(cell, bytes) else as_text(cell)  # Parquet files of some writers have bytes


def _to_category(column: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    levels = dtype.categories
    values = _cast(column, pd.Series(levels))
    if types.is_string_dtype(levels.dtype):  # pandas would take texts for equal that differ after a NUL character only
        unseen = [level for level in dict.fromkeys(values.dropna()) if level not in levels]
        every = pd.Index([*levels, *unseen], dtype=object)
        places = every.get_indexer(pd.Index(values, dtype=object))
        found = pd.Categorical.from_codes(places, every.astype(levels.dtype), ordered=dtype.ordered)
        return pd.Series(found, index=values.index, name=values.name)
    unseen = [level for level in values.dropna().unique() if level not in levels]
    return values.astype(pd.CategoricalDtype([*levels, *unseen], ordered=dtype.ordered))
