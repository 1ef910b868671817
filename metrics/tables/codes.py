"""Values as integer codes, one code list for all tables; equal values get equal codes, whatever their dtype.

A column in the type that its cells ask for:

| the column's cells are | it becomes |
|---|---|
| whole numbers | int64; with missing cells float64, or Int64 where a float would round |
| numbers (also Decimal, or whole and broken mixed) | float64; float32 if they are broken and come in single precision |
| true and false | bool; with missing cells boolean |
| dates or times, also texts that are all ISO 8601 dates | datetime64[ns], in UTC where a zone is given |
| durations | timedelta64[ns] |
| all else: texts, or cells of several types as texts | category, levels sorted; those that differ in blanks are one |

Columns listed in ``data.categorical`` become categories of the values they hold; texts there are
never taken for dates. Integers that 64 bits cannot hold are text.

A column as named levels: quantile bins of a numeric one, values of any other, "missing" last.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import FIT, as_floats, is_temporal, kind, value_texts

_EXACT = 2**53  # beyond it a float no longer holds every integer
_ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?"
_MARKERS = frozenset({"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "?", "-", ".", "NaT"})
_MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
_CONTAINERS = (list, tuple, dict, set, frozenset, bytes, bytearray, memoryview, np.ndarray, complex)
_PACKED = 2**62
_SMALL = 2**15  # so many counters cost less than one factorisation


class Codes(NamedTuple):
    """Codes of one or several columns, jointly over all tables."""

    tables: tuple[np.ndarray, ...]  # int64 codes, one array a table
    size: int  # codes lie in [0, size)


def joint_codes(columns: Sequence[pd.Series]) -> tuple[Codes, np.ndarray]:
    """Return the codes of the same column in several tables, and the levels behind the codes (missing: ``nan``).

    Values are compared, not dtypes: 1 == 1.0 == True, but '1' differs from 1. NaN, None, NA and NaT are one level of
    their own, the last. Neither the order of categories nor that of rows changes which values are equal.

    Raises:
        InputError: The tables hold values of different types that can never be equal, or unhashable values.
    """
    name = columns[0].name
    try:
        if all(isinstance(c.dtype, pd.CategoricalDtype) for c in columns):
            codes, levels = _categories(columns)
        else:
            arrays = _comparable(columns)
            flat, levels = factorized(np.concatenate(arrays))
            codes = _cut(flat, arrays)
    except TypeError:
        raise InputError(f"column {name!r} must hold single values, got lists or other containers") from None
    missing = len(levels)
    if not _share_a_value(codes, missing):
        _refuse_types_apart(columns)
    tables = [c.astype(np.int64, copy=False) for c in codes]
    tables = [np.where(c < 0, missing, c) if c.min(initial=0) < 0 else c for c in tables]
    return Codes(tuple(tables), missing + 1), np.append(np.asarray(levels, dtype=object), [np.nan])


def factorized(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return codes (-1: missing) and levels of an array; each text is a level of its own.

    In an array of texts alone, ``pandas.factorize`` takes two for equal that differ after a NUL character only, or that
    have no UTF-8. A missing value, which has no code, is then appended, so that the array does not hold texts alone.

    Example:
        >>> factorized(np.array(["a", "a\0b"], dtype=object))[0].tolist()
        [0, 1]
    """
    if values.dtype == object and _are_texts_to_confuse(values):
        codes, levels = pd.factorize(np.append(values, [np.nan]))
        return codes[:-1], levels
    return pd.factorize(values)


def infer(column: pd.Series, *, code: bool = False, texts: bool = False) -> pd.Series:
    """Return a column in the type its cells ask for (table above), with a RangeIndex.

    A ``code`` list becomes a category (booleans and categories stay as they are). If a category is one of ``texts``,
    their type is inferred as that of other texts, else it stays a category.

    Raises:
        InputError: The cells are containers or complex numbers, dates lie outside 1677-2262, or numbers are
            mixed with a text that usually means a missing cell.

    Example:
        >>> infer(pd.Series(["2024-02-29", None])).dtype, infer(pd.Series([1, None], dtype="Int64")).dtype
        (dtype('<M8[ns]'), dtype('float64'))
    """
    try:
        return _inferred(column.reset_index(drop=True), code, texts)
    except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta):
        raise InputError(
            f"column {column.name!r} must hold dates from 1677 to 2262 (durations below 292 years), got one "
            "outside; list what stands for 'no date' in data.missing, or the column in data.drop"
        ) from None


def _inferred(column: pd.Series, code: bool, texts: bool) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _of_texts(column, code) if texts else _recategorized(column)
    if isinstance(column.dtype, pd.StringDtype):
        return _of_texts(column.astype("string"), code)
    if isinstance(column.dtype, pd.ArrowDtype) and types.is_float_dtype(column.dtype):
        column = _of_numbers(column)
    if not isinstance(column.dtype, (np.dtype, pd.DatetimeTZDtype)) and not isinstance(column.array, _MASKED):
        column = column.astype(object)
    if types.is_complex_dtype(column.dtype):
        raise InputError(f"column {column.name!r} must hold single values, got complex numbers; list it in data.drop")
    if types.is_object_dtype(column.dtype):
        column = _by_cells(column)
    if types.is_bool_dtype(column.dtype):
        return column.astype("boolean" if column.isna().any() else bool)
    if isinstance(column.dtype, pd.StringDtype):
        return _of_texts(column, code)
    if code:
        return category(_as_ns(column))
    return _of_numbers(column) if types.is_numeric_dtype(column.dtype) else _as_ns(column)


def _recategorized(column: pd.Series) -> pd.Series:
    """Return a category with levels of one type, sorted, and only those that occur."""
    column = column.cat.remove_unused_categories()
    levels = infer(pd.Series(column.cat.categories, name=column.name), code=True)
    codes = column.cat.codes.to_numpy()
    if types.is_bool_dtype(levels.dtype):
        return infer(levels.astype("boolean").reindex(np.where(codes < 0, len(levels), codes)))
    recoded = np.append(levels.cat.codes.to_numpy(), [-1])[codes]  # -1, the missing code, picks the appended -1
    return pd.Series(pd.Categorical.from_codes(recoded, categories=levels.cat.categories), name=column.name)


def _by_cells(column: pd.Series) -> pd.Series:
    """Return an object column in the narrowest type that holds all its cells."""
    present = column[column.notna()]
    found = set(map(type, present))
    for cell in found:
        if issubclass(cell, _CONTAINERS) or cell.__hash__ is None:
            got = f"got {cell.__name__}; list it in data.drop"
            raise InputError(f"column {column.name!r} must hold single values, {got}")
    if not found or _all(found, str):
        return column.astype("string")
    if _all(found, (bool, np.bool_)):
        return column.astype("boolean")
    if _all(found, (dt.timedelta, np.timedelta64)):  # numpy's calls itself a whole number
        return pd.to_timedelta(column)
    if _all(found, Integral):
        low, high = min(map(int, present)), max(map(int, present))
        if low >= -(2**63) and high < 2**63:
            return _filled(column, pd.array([int(v) for v in present], dtype="Int64"))
        return _filled(column, present.map(lambda v: str(int(v))).astype("string").array)
    if _all(found, (Real, Decimal)):
        return column.astype(float)
    if _all(found, (dt.date, np.datetime64)):
        return _moments(column)
    return _filled(column, present.map(str).astype("string").array)


def _all(found: Iterable[type], allowed: type | tuple[type, ...]) -> bool:
    return all(issubclass(cell, allowed) for cell in found)


def _filled(column: pd.Series, present: pd.api.extensions.ExtensionArray) -> pd.Series:
    return pd.Series(present, index=column.index[column.notna()], name=column.name).reindex(column.index)


def _of_texts(column: pd.Series, code: bool) -> pd.Series:
    result = category(column)
    levels = pd.Series(result.cat.categories, dtype=object)
    if levels.str.strip().duplicated().any():
        return _of_texts(result.astype("string").str.strip(), code)
    if code or levels.empty:
        return result
    if levels.str.fullmatch(_ISO_DATE).all():
        try:
            dates = _moments(levels).to_numpy()
        except pd.errors.OutOfBoundsDatetime:
            raise
        except ValueError:
            return result  # looks like dates, but 30 February is text
        nothing = np.array("NaT", dtype=dates.dtype)
        return pd.Series(np.append(dates, nothing)[result.cat.codes.to_numpy()], name=column.name)
    marked = levels.isin(_MARKERS)
    if marked.any() and not marked.all() and pd.to_numeric(levels[~marked], errors="coerce").notna().all():
        marker = levels[marked].iloc[0]
        raise InputError(
            f"column {column.name!r} holds numbers and the text {marker!r}: list {marker!r} in data.missing "
            "if it means a missing cell, or the column in data.categorical"
        )
    return result


def _of_numbers(column: pd.Series) -> pd.Series:
    if column.dtype.kind == "f":  # singles stay singles, so that a release is compared with them at their precision
        held: Any = getattr(column.dtype, "numpy_dtype", column.dtype)
        is_single = held.itemsize < 8 and needs_precision(held, column.to_numpy(dtype=float, na_value=np.nan))
        return pd.Series(column.to_numpy(np.float32 if is_single else float, na_value=np.nan), name=column.name)
    present = column.dropna()
    if column.dtype.kind == "u" and len(present) and int(present.max()) >= 2**63:
        return category(column.astype("string"))
    if len(present) == len(column):
        return column.astype("int64")
    if len(present) and max(abs(int(present.max())), abs(int(present.min()))) > _EXACT:
        return column.astype("Int64")
    return pd.Series(column.to_numpy(dtype=float, na_value=np.nan), name=column.name)


def _moments(column: pd.Series) -> pd.Series:
    moments: pd.Series = pd.to_datetime(column, utc=True, format="ISO8601").dt.tz_localize(None).dt.as_unit("ns")
    return moments


def _as_ns(column: pd.Series) -> pd.Series:
    if types.is_datetime64_any_dtype(column.dtype):
        return _moments(column)
    return column.dt.as_unit("ns") if types.is_timedelta64_dtype(column.dtype) else column


def needs_precision(precision: np.dtype[Any], floats: np.ndarray) -> bool:
    """Tell whether numbers that were held at a precision must be compared at it: not where they are whole and small."""
    floats = np.abs(floats)
    floats = floats[np.isfinite(floats)]
    largest = 2 ** (np.finfo(precision).nmant + 1)
    return not bool((floats == np.floor(floats)).all()) or bool(floats.max(initial=0) > largest)


def category(column: pd.Series) -> pd.Series:
    """Return a column as a category of the values it holds, levels sorted.

    Example:
        >>> category(pd.Series([20, None, 3], dtype="Int64")).cat.categories.tolist()
        [3, 20]
    """
    if isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype):
        found, texts = _texts_as_codes(column)
        plain = np.sort(texts)
        codes = np.append(np.argsort(np.argsort(texts)), [-1])[found]  # -1, the missing code, picks the appended -1
    else:
        codes, levels = pd.factorize(column, sort=True)
        dtype = getattr(levels.dtype, "numpy_dtype", None)
        plain = levels.to_numpy(dtype=dtype) if len(levels) else np.array([], object)
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(plain)), name=column.name)


def _texts_as_codes(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(column.dtype, pd.StringDtype):
        return factorized(column.to_numpy(dtype=object, na_value=np.nan))
    codes, levels = pd.factorize(column)
    return codes, levels.to_numpy(dtype=object)


def _are_texts_to_confuse(values: np.ndarray) -> bool:
    """Tell whether all values are texts, and some holds a NUL or has no UTF-8."""
    try:
        return b"\0" in "".join(values.tolist()).encode()
    except TypeError:  # not all texts
        return False
    except UnicodeEncodeError:
        return True


def plain_texts(column: pd.Series) -> pd.Series:
    """Return the cells of a column as texts, one type for all: whole numbers without decimals, days as ISO 8601.

    Example:
        >>> plain_texts(pd.Series([1.0, None, 2.5])).tolist()
        ['1', nan, '2.5']
    """
    codes, levels = text_levels(column)
    texts = np.append(np.array(levels, dtype=object), [np.nan])
    codes, levels = pd.factorize(texts[codes])
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(levels, dtype=object)), name=column.name)


def text_levels(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Return the number of each cell's text, -1 where it is missing, and the texts; several may be alike."""
    if types.is_datetime64_any_dtype(column.dtype):
        codes, times = pd.factorize(column)
        days = pd.Series(times)
        form = "%Y-%m-%d" if (days == days.dt.normalize()).all() else "%Y-%m-%d %H:%M:%S"
        return np.asarray(codes), days.dt.strftime(form).astype(str).tolist()
    try:
        codes, found = pd.factorize(column)
    except TypeError:  # lists and the like: as they are written
        codes, found = pd.factorize(column.map(str, na_action="ignore"))
    texts = [_plain(each) for each in found]
    blank = np.array([not each.strip() for each in texts] + [True])
    kept = np.where(blank, -1, np.cumsum(~blank) - 1)
    return kept[codes], [each for each in texts if each.strip()]


def _plain(value: object) -> str:
    if isinstance(value, float | np.floating):
        return str(int(value)) if np.isfinite(value) and value == int(value) else f"{float(value):.15g}"
    return value if isinstance(value, str) else str(value)


def _share_a_value(codes: Sequence[np.ndarray], size: int) -> bool:  # the first table with each other one
    present = np.zeros((len(codes), size + 1), dtype=bool)
    for held, own in zip(present, codes, strict=True):
        held[own] = True  # -1, missing, is the last
    return bool((present[0, :-1] & present[1:, :-1]).any(axis=1).all())


def pack(columns: Sequence[Codes]) -> Codes:
    """Return one code a row for several columns: equal codes exactly where all columns are equal."""
    packed, size = columns[0]
    for column in columns[1:]:
        if size * column.size >= _PACKED:
            packed, size = compact(packed)
        packed = tuple(p * column.size + c for p, c in zip(packed, column.tables, strict=True))
        size *= column.size
    return compact(packed) if size > max(4 * sum(map(len, packed)), _SMALL) else Codes(packed, size)


def compact(packed: Sequence[np.ndarray]) -> Codes:
    """Return the same classes of rows under the smallest codes."""
    flat, levels = pd.factorize(np.concatenate(packed))
    return Codes(tuple(_cut(flat, packed)), max(len(levels), 1))


def _cut(flat: np.ndarray, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return [flat[end - len(part) : end] for end, part in zip(ends, parts, strict=True)]


def row_codes(frame: pd.DataFrame) -> np.ndarray:
    """Return a code a record, equal where all columns are equal."""
    if not len(frame.columns):
        return np.zeros(len(frame), dtype=np.int64)
    packed = pack([joint_codes([frame[c]])[0] for c in frame.columns]).tables[0]
    return pd.factorize(packed)[0]


def place_values(sizes: Sequence[int]) -> list[int]:
    """Return what a unit of each code counts in a mixed-radix number of all; empty where it does not fit 64 bits."""
    values, size = [], 1
    for each in sizes:
        values.append(size)
        size *= each
    return values if size < _PACKED else []


def _categories(columns: Sequence[pd.Series]) -> tuple[list[np.ndarray], np.ndarray]:
    first = columns[0].cat.categories
    if all(first.equals(c.cat.categories) and first.dtype == c.cat.categories.dtype for c in columns[1:]):
        return [c.cat.codes.to_numpy() for c in columns], first.to_numpy(dtype=object)
    lists = [pd.Series(c.cat.categories) for c in columns]
    codes, levels = joint_codes(lists)
    pairs = zip(columns, codes.tables, strict=True)
    return [np.append(new, [-1])[c.cat.codes.to_numpy()] for c, new in pairs], levels[:-1]  # -1, missing, picks -1


def _comparable(columns: Sequence[pd.Series]) -> list[np.ndarray]:
    """Return arrays of one dtype in which equal values are equal."""
    if all(c.dtype == object for c in columns):  # text: as it is, for no rule below is about it
        return [c.to_numpy() for c in columns]
    plain = [_decategorized(c) for c in columns]
    if all(map(is_temporal, plain)):
        return [_ticks(c) for c in plain]
    kinds = {getattr(c.dtype, "kind", "O") for c in plain}
    complete = not any(types.is_extension_array_dtype(c.dtype) and c.isna().any() for c in plain)
    if kinds <= {"b", "i", "u"} and complete and all(_fits(c, 2**63 - 1) for c in plain):
        return [c.to_numpy(dtype=np.int64) for c in plain]
    if kinds <= {"b", "i", "u", "f"} and complete and all(_fits(c, _EXACT) for c in plain):
        return [c.to_numpy(dtype=np.float64) for c in plain]
    # factorize takes all of NaN, None, NA and NaT as missing where they are objects already
    return [c.to_numpy() if c.dtype == object else c.to_numpy(dtype=object, na_value=np.nan) for c in plain]


def _decategorized(column: pd.Series) -> pd.Series:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    dtype = column.cat.categories.dtype
    return column.astype(object if column.isna().any() and dtype.kind in "biu" else dtype)


def _ticks(column: pd.Series) -> np.ndarray:
    naive = column.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(column.dtype, "tz", None) else column
    return naive.dt.as_unit("ns").to_numpy()


def _fits(column: pd.Series, bound: int) -> bool:
    if getattr(column.dtype, "kind", "O") not in "iu" or not len(column):
        return True
    return int(column.max()) <= bound and int(column.min()) >= -bound


def _refuse_types_apart(columns: Sequence[pd.Series]) -> None:
    families = [_families(c) for c in columns]
    for other in families[1:]:
        if families[0] and other and not families[0] & other:
            got = " and ".join(" and ".join(sorted(each)) for each in (families[0], other))
            raise InputError(f"column {columns[0].name!r} must hold values of one type in all tables, got {got}; {FIT}")


def _families(column: pd.Series) -> frozenset[str]:
    """Return which of number, text, time, other a column holds; empty where all is missing."""
    values = pd.Series(column.cat.categories) if isinstance(column.dtype, pd.CategoricalDtype) else column
    if types.is_bool_dtype(values.dtype) or types.is_numeric_dtype(values.dtype):
        return frozenset({"numbers"}) if values.notna().any() else frozenset()
    if is_temporal(values):
        return frozenset({"times"}) if values.notna().any() else frozenset()
    found = types.infer_dtype(values, skipna=True)
    if found in {"string", "empty"}:
        return frozenset({"text"} if found == "string" else ())
    if found in {"integer", "floating", "mixed-integer-float", "boolean", "decimal"}:
        return frozenset({"numbers"})
    if found in {"datetime", "datetime64", "date", "timedelta", "timedelta64"}:
        return frozenset({"times"})
    return frozenset({"numbers", "text", "times", "other"})


def matches(codes: Codes, table: int = 1) -> np.ndarray:
    """Return for each real record the number of records with the same code in a table: 0 real, 1 synthetic."""
    return np.bincount(codes.tables[table], minlength=codes.size)[codes.tables[0]]


def frequencies(target: Codes) -> np.ndarray:
    """Return the share of each code among the real records."""
    return np.bincount(target.tables[0], minlength=target.size) / len(target.tables[0])


def values_in_class(key: Codes, pair: Codes, table: int) -> np.ndarray:
    """Return how many different values each key has in a table, (size of the key,); ``pair``: keys with values.

    Example:
        >>> key, value = Codes((np.array([0, 0, 1]),), 3), Codes((np.array([0, 1, 1]),), 2)
        >>> values_in_class(key, pack([key, value]), 0).tolist()
        [2, 1, 0]
    """
    _, first = np.unique(pair.tables[table], return_index=True)  # one row for each key and value
    return np.asarray(np.bincount(key.tables[table][first], minlength=key.size))


MISSING = "missing"


class Levels(NamedTuple):
    """A column as places in a list of named levels."""

    codes: np.ndarray  # (n,) int64
    names: list[str]  # in level order, the missing level last; each occurs in the column


def column_levels(column: pd.Series, bins: int | None) -> Levels:
    """Return a column as levels: quantile bins of a numeric one (unless ``bins`` is None), values of any other."""
    return _binned(column, bins) if bins is not None and kind(column) == "numeric" else _named(column)


def finite_floats(column: pd.Series) -> np.ndarray:
    """Return a numeric column as floats, NaN where missing.

    Raises:
        InputError: The column holds an infinity.
    """
    values = as_floats(column)
    if np.isinf(values).any():
        raise InputError(f"column {column.name!r} must hold finite numbers, got an infinity")
    return values


def sort_key(value: object) -> tuple[bool, str, object]:
    """Return what values are sorted by: numbers first, then text, then others by type."""
    if _is_number(value):
        return (False, "", value)
    return (True, "" if isinstance(value, str) else type(value).__name__, str(value))


def _binned(column: pd.Series, bins: int) -> Levels:
    values = finite_floats(column)
    missing = np.isnan(values)
    seen = np.unique(values[~missing])
    if len(seen) <= bins:
        codes, names = np.searchsorted(seen, values), value_texts(column, seen)
    else:
        edges = np.quantile(values[~missing], np.arange(1, bins) / bins, method="inverted_cdf")
        edges = np.unique(np.minimum(edges, seen[-2]))  # so that the last bin, (last edge, largest], is not empty
        codes, names = np.searchsorted(edges, values), _bin_names(column, seen, edges)
    if not missing.any():
        return Levels(codes.astype(np.int64), names)
    return Levels(np.where(missing, len(names), codes).astype(np.int64), [*names, MISSING])


def _bin_names(column: pd.Series, seen: np.ndarray, edges: np.ndarray) -> list[str]:
    texts = value_texts(column, edges)
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    names = [f"≤ {texts[0]}", *inner, f"> {texts[-1]}"]
    parts = np.split(seen, np.searchsorted(seen, edges, side="right"))
    return [value_texts(column, part)[0] if len(part) == 1 else name for part, name in zip(parts, names, strict=True)]


def _named(column: pd.Series) -> Levels:
    codes, values = cell_levels(column)
    held = np.bincount(codes + 1, minlength=len(values) + 1)  # the missing ones first
    order = np.flatnonzero(held[1:]).tolist()
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered):
        order.sort(key=lambda code: sort_key(values[code]))
    rank = np.full(len(values) + 1, len(order), dtype=np.int64)  # the last place, which -1 picks, is the missing level
    rank[order] = np.arange(len(order))
    # the column too: there 1 and True are one level, named 1
    booleans = types.infer_dtype(values) == "boolean" and types.infer_dtype(column.astype(object)) == "boolean"
    return Levels(rank[codes], _names([values[code] for code in order], booleans, bool(held[0])))


def cell_levels(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of each cell, -1 where it is missing, and the level of each code."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64), np.asarray(column.cat.categories.astype(object))
    try:
        codes, values = factorized(column.astype(object).to_numpy())
    except TypeError:
        raise InputError(f"column {column.name!r} must hold single values, got lists or other containers") from None
    return codes, np.asarray(values)


def _names(values: list[Any], booleans: bool, has_missing: bool) -> list[str]:
    """Return one text a value; where two would be the same (1 and '1'), text is quoted."""
    last = [MISSING] if has_missing else []
    names = [str(v) if booleans else _text(v) for v in values]
    if len({*names, *last}) < len(names) + len(last):
        names = [_text(v) if _is_number(v) else repr(v) for v in values]
    return names + last


def _text(value: Any) -> str:
    """Return a value as text; equal numbers have equal texts, whatever their type."""
    fraction = isinstance(value, float | Decimal) and not (np.isfinite(float(value)) and value == int(value))
    return str(int(value)) if _is_number(value) and not fraction else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)
