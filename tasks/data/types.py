"""The real table as the study uses it: types settled, columns dropped, rows sampled, all checks passed.

| the column's cells are | it becomes |
|---|---|
| whole numbers | int64; with missing cells float64, or Int64 where a float would round |
| numbers (also Decimal, or whole and broken mixed) | float64; float32 if they are broken and come in single precision |
| true and false | bool; with missing cells boolean |
| dates or times, also texts that are all ISO 8601 dates | datetime64[ns], in UTC where a zone is given |
| durations | timedelta64[ns] |
| all else: texts, or cells of several types as texts | category, levels sorted |

Columns listed in ``data.categorical`` become categories of the values they hold; texts there are
never taken for dates. Integers that 64 bits cannot hold are text.

The checks return sentences, so that all that is wrong is told at once.
"""

import datetime as dt
import zlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from numbers import Integral, Real

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.study import ALL_OTHERS, Data, Split
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.release.identifiers import plain_texts
from synthrisk.metrics.tables.codes import category
from synthrisk.metrics.tables.tables import columns_of, name_of
from synthrisk.metrics.tables.value_types import precision_of
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, read_as
from synthrisk.tasks.workspace.files.csv import CODED

_KEY = zlib.crc32(b"rows")
_EXACT = 2**53  # beyond it a float no longer holds every integer
_ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?"
_MARKERS = frozenset({"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "?", "-", ".", "NaT"})
_MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
_CONTAINERS = (list, tuple, dict, set, frozenset, bytes, bytearray, memoryview, np.ndarray, complex)


def typed(frame: pd.DataFrame, data: Data, split: Split, seed: int | np.random.SeedSequence = 0) -> pd.DataFrame:
    """Return the table of a study: settled types, RangeIndex, the rows in their order.

    Types are inferred from all rows, then ``data.rows`` of them are drawn.

    Args:
        frame: The table as its source gave it; columns in ``attrs[CODED]`` are texts, though categories.
        data: Roles of the columns.
        split: How it will be split; its stratum and number of folds are checked.
        seed: Root seed of the study, or a sequence of its own for the sample.

    Raises:
        InputError: The table and the settings do not fit; all problems are told at once, without a cell.
    """
    frame = frame.copy(deep=False)
    frame.columns, frame.index = [str(c) for c in frame.columns], pd.RangeIndex(len(frame))
    refuse_same_names(frame)
    problems = [*of_names(list(frame.columns), data, split), *of_size(len(frame), data, split)]
    columns = {}
    for name in frame.columns:
        if name in data.drop:
            continue
        try:
            read = read_as(frame[name], data.columns[name]) if name in data.columns else frame[name]
            columns[name] = infer(read, code=name in data.categorical, texts=name in frame.attrs.get(CODED, ()))
        except InputError as error:
            problems.append(str(error))
    table = _sample(pd.DataFrame(columns, index=frame.index, copy=False), data.rows, seed)
    refuse([*problems, *of_cells(table, data)] if len(table) else [*problems, "the table must hold rows, got none"])
    return table


def left_out(frame: pd.DataFrame, data: Data, seed: int | np.random.SeedSequence = 0) -> pd.DataFrame:
    """Return the columns that a study leaves out, as texts, of the records that ``typed`` keeps.

    Nothing attacks them. They are what a release is looked at beside: see ``released_values``.
    """
    named = {str(c): place for place, c in enumerate(frame.columns) if str(c) in data.drop}
    columns = {name: plain_texts(frame.iloc[:, place]).array for name, place in named.items()}
    return _sample(pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False), data.rows, seed)


def _sample(table: pd.DataFrame, rows: int | None, seed: int | np.random.SeedSequence) -> pd.DataFrame:
    if rows is None or rows >= len(table):
        return table
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence([seed, _KEY])
    taken = np.sort(np.random.default_rng(sequence).choice(len(table), size=rows, replace=False))
    table = table.iloc[taken].reset_index(drop=True)
    for name in table.select_dtypes("category"):
        table[name] = table[name].cat.remove_unused_categories()
    return table


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
        return _texts(column, code) if texts else _recategorized(column)
    if isinstance(column.dtype, pd.StringDtype):
        return _texts(column.astype("string"), code)
    if isinstance(column.dtype, pd.ArrowDtype) and types.is_float_dtype(column.dtype):
        column = _numbers(column)
    if not isinstance(column.dtype, (np.dtype, pd.DatetimeTZDtype)) and not isinstance(column.array, _MASKED):
        column = column.astype(object)
    if types.is_complex_dtype(column.dtype):
        raise InputError(f"column {column.name!r} must hold single values, got complex numbers; list it in data.drop")
    if types.is_object_dtype(column.dtype):
        column = _by_cells(column)
    if types.is_bool_dtype(column.dtype):
        return column.astype("boolean" if column.isna().any() else bool)
    if isinstance(column.dtype, pd.StringDtype):
        return _texts(column, code)
    if code:
        return category(_as_ns(column))
    return _numbers(column) if types.is_numeric_dtype(column.dtype) else _as_ns(column)


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


def _texts(column: pd.Series, code: bool) -> pd.Series:
    result = category(column)
    levels = pd.Series(result.cat.categories, dtype=object)
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


def _numbers(column: pd.Series) -> pd.Series:
    if column.dtype.kind == "f":  # singles stay singles, so that a release is compared with them at their precision
        dtype = float if precision_of(column) == np.float64 else np.float32
        return pd.Series(column.to_numpy(dtype=dtype, na_value=np.nan), name=column.name)
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


def refuse(problems: Sequence[str]) -> None:
    """Raise one InputError that tells all problems, if there are any."""
    if len(problems) == 1:
        raise InputError(problems[0])
    if problems:
        raise InputError(f"{len(problems)} problems with the data: " + "; ".join(problems))


def refuse_same_names(frame: pd.DataFrame) -> None:
    """Raise an InputError where two columns share a name; positions are told, for a name may be a cell."""
    twice = np.flatnonzero(frame.columns.duplicated())
    if len(twice):
        first = list(frame.columns).index(frame.columns[twice[0]])
        got = f"one name twice (columns {first + 1} and {twice[0] + 1})"
        raise InputError(f"columns must have distinct names, got {got}")


def of_names(columns: Sequence[str], data: Data, split: Split) -> Iterator[str]:
    """Yield what is wrong with the columns that the settings name."""
    known = [c for c in columns if not c.startswith(UNNAMED)]
    for column in data.drop:
        if column not in columns and not column.startswith(UNNAMED):  # such are left out where they number the rows
            yield f"data.drop must name columns of the table, got {column!r}{nearest(column, known)}"
    if len(columns) < 2:
        yield "the table must have at least two columns, got one; cells of a CSV file are separated by , or ; or tabs"
    for argument, names in _roles(data, split):
        for column in names:
            if column in data.drop:
                yield f"{argument} must name a column that is kept, got {column!r}, which data.drop drops"
            elif column not in columns:
                yield f"{argument} must name a column of the table, got {column!r}{nearest(column, known)}"
    for argument, names in _roles(data, split)[:2]:
        if data.identifier in names:
            yield f"data.identifier must be no column of {argument}, got {data.identifier!r}"
    for column in columns:
        if column.startswith(UNNAMED) and column not in data.drop:
            yield f"columns must have names, got an empty header ({column!r}); list {column!r} in data.drop"
    kept = [c for c in columns if c not in (*data.drop, data.identifier)]
    keys = kept if data.quasi_identifiers == ALL_OTHERS else data.quasi_identifiers
    for target in data.sensitive:
        if not set(keys) - set(columns_of(target)):
            named = name_of(target)
            yield f"data.quasi_identifiers must hold a column other than the sensitive {named!r}, got none"


def of_cells(frame: pd.DataFrame, data: Data) -> Iterator[str]:
    """Yield what is wrong with the cells of a typed table, in words that show none of them."""
    for name in frame.columns:
        column = frame[name]
        is_text = isinstance(column.dtype, pd.CategoricalDtype) and types.is_string_dtype(column.cat.categories.dtype)
        if column.isna().all():
            yield f"column {name!r} must hold values, got missing cells only; list it in data.drop"
        elif types.is_float_dtype(column.dtype) and np.isinf(column.to_numpy(float, na_value=np.nan)).any():
            yield f"column {name!r} must hold finite numbers, got infinity"
        elif is_text and all(not str(level).strip() for level in column.cat.categories):
            yield f"column {name!r} must hold values, got blanks only; list it in data.drop"
        elif is_text and name not in (*data.categorical, data.identifier) and _beyond_64_bits(column):
            yield (
                f"column {name!r} holds numbers that 64 bits cannot hold: list it in data.categorical if they are "
                "codes, in data.drop, or as data.identifier if each names a person"
            )
        elif name in data.guessed and column.nunique() < 2:
            yield f"data.sensitive column {name!r} must hold at least two different values, got one"


def _beyond_64_bits(column: pd.Series) -> bool:
    """Tell whether texts are all numbers, none with a leading zero, of which some are too large to be read as such."""
    levels = pd.Series(column.cat.categories)
    try:
        numbers = levels.astype(float)
    except ValueError:
        return False
    return bool((numbers.abs() >= 2.0**63).any() and not levels.str.match(r"0\d").any())


def of_size(rows: int, data: Data, split: Split) -> Iterator[str]:
    """Yield what is wrong with the number of rows."""
    if data.rows is not None and data.rows > rows:
        yield f"data.rows must be at most the {rows} rows of the table, got {data.rows}"
    taken = min(rows, data.rows or rows)
    if split.folds is not None and taken < split.folds:
        yield f"split.folds must be at most the number of rows, got {split.folds} folds for {taken} rows"


def _roles(data: Data, split: Split) -> list[tuple[str, list[str]]]:
    keys = [] if data.quasi_identifiers == ALL_OTHERS else list(data.quasi_identifiers)
    return [
        ("data.quasi_identifiers", keys),
        ("data.sensitive", data.guessed),
        ("data.categorical", data.categorical),
        ("data.columns", list(data.columns)),
        ("data.identifier", [data.identifier] if data.identifier is not None else []),
        ("split.stratify", [split.stratify] if split.stratify is not None else []),
    ]
