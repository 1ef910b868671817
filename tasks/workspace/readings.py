"""Columns read as a study says: dates by their format, numbers with units, booleans in words, missing codes."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.reading import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.exact_numbers import to_numbers
from synthrisk.tasks.workspace.months import in_english

SPACES = r"[ \u00a0\u2009\u202f]"
_CENTURY = 2030  # the last year that two digits may mean
_BOOLEANS = {"True": True, "False": False}
_ISO = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|30|31)([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")


def read_as(column: pd.Series, reading: Reading) -> pd.Series:
    """Return a column as its reading says; what is of that type already stays as it is.

    Raises:
        InputError: Cells are neither of the type nor missing, and shall not be: their number, never what they are.

    Example:
        >>> read_as(pd.Series(["1.200,50 €", "NA"]), Reading(type="number", decimal=",", thousands=".", unit="€",
        ...                                                  missing=["NA"])).tolist()
        [1200.5, <NA>]
    """
    column = without(column, reading.missing)
    if reading.type is None:
        return column
    if reading.type == "presence":
        return _presence(column)
    if _is_read(column, reading):
        return column
    codes, levels = pd.factorize(texts_of(column).str.strip())
    try:
        values = _READERS[reading.type](pd.Series(levels, dtype="string"), reading)
    except ValueError:
        text = f"data.columns.{column.name}.format must be a format of dates such as %d.%m.%Y, got {reading.format!r}"
        raise InputError(text) from None
    unread = int(np.isin(codes, np.flatnonzero(values.isna())).sum())
    if unread and reading.otherwise == "refuse":
        raise InputError(
            f"column {column.name!r} must hold {_spelled(reading)}, got {unread} cells that are not; list texts that "
            f"mean a missing cell in data.columns.{column.name}.missing, or set its otherwise to missing"
        )
    return pd.Series(values.array.take(codes, allow_fill=True), index=column.index, name=column.name)


_LOST = 0.05  # share of the cells of a release that may be none of the type


def released(frame: pd.DataFrame, columns: Mapping[str, Reading]) -> pd.DataFrame:
    """Return a release with its columns read as those of the real table, where they are written like them.

    A generator may write what it read from the real file, or what it was handed, in which types are settled.
    """
    read = {}
    for name in (c for c in frame.columns if c in columns):
        plain = without(frame[name], columns[name].missing)
        try:
            read[name] = read_as(frame[name], columns[name])
        except InputError:
            read[name] = plain
        if read[name].isna().mean() > plain.isna().mean() + _LOST:  # written otherwise, and all that taken for missing
            read[name] = plain
    return frame.assign(**read) if read else frame


def without(column: pd.Series, missing: Sequence[str]) -> pd.Series:
    """Return a column whose cells are missing where they are one of some texts, blanks around them left aside."""
    if not missing:
        return column
    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        codes = pd.to_numeric(pd.Series(missing, dtype=object), errors="coerce").dropna()
        return column.mask(column.isin(codes.to_numpy()))
    if isinstance(column.dtype, pd.CategoricalDtype) or types.is_object_dtype(column) or types.is_string_dtype(column):
        texts = {text.strip() for text in missing}
        levels = [v for v in column.dropna().unique() if str(v).strip() in texts]
        return column.mask(column.isin(levels))
    if types.is_datetime64_dtype(column.dtype):
        days = [np.datetime64(text.strip(), "ms") for text in missing if _ISO.fullmatch(text.strip())]
        return column.mask(np.isin(column.to_numpy("datetime64[ms]"), days))
    return column


def are_dates(column: pd.Series) -> bool:
    """Tell whether a column is of dates from 1677 to 2262."""
    if not types.is_datetime64_any_dtype(column.dtype):
        return False
    try:
        column.dt.as_unit("ns")
    except pd.errors.OutOfBoundsDatetime:
        return False
    return True


def in_reach(dates: pd.Series) -> pd.Series:
    """Return dates without a zone in nanoseconds: those before 1677 and after 2262 are missing.

    Older pandas reads them so; newer ones, in microseconds, read the year 9999, too.
    """
    exact: pd.Series = dates.where(dates.between(pd.Timestamp.min, pd.Timestamp.max)).dt.as_unit("ns")
    return exact


def texts_of(column: pd.Series) -> pd.Series:
    """Return the cells of a column as texts; whole numbers without decimals, as in a column that has no others.

    Example:
        >>> texts_of(pd.Series([1.0, None])).tolist()
        ['1', <NA>]
    """
    if types.is_float_dtype(column.dtype) and _fits(column):
        column = column.astype("Int64")
    return column.astype("string")


def number_pattern(reading: Reading) -> re.Pattern[str]:
    """Return the pattern of a number with this decimal mark, mark between thousands, and unit."""
    marks = {"": "", " ": SPACES, "'": "['’]"}
    thousands, decimal = marks.get(reading.thousands, re.escape(reading.thousands)), re.escape(reading.decimal)
    whole = rf"[0-9]{{1,3}}(?:{thousands}[0-9]{{3}})+|[0-9]+" if thousands else r"[0-9]+"
    exponent = r"(?:[eE][+-]?[0-9]+)?" if reading.decimal == "." else ""
    unit = rf"(?:{re.escape(reading.unit)})?" if reading.unit else ""
    number = rf"(?:(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+){exponent}"
    return re.compile(rf"([+\-−]?){SPACES}*{unit}{SPACES}*([+\-−]?)({number}){SPACES}*{unit}")


def _presence(column: pd.Series) -> pd.Series:
    """Return whether a cell is there; of a column that says so itself, what it says."""
    present = column.notna()
    texts = column[present].astype(str).str.strip()
    if len(texts) and texts.isin(list(_BOOLEANS)).all():
        return texts.map(_BOOLEANS).reindex(column.index, fill_value=False).astype(bool)
    return present & texts.ne("").reindex(column.index, fill_value=False)


def _is_read(column: pd.Series, reading: Reading) -> bool:
    """Tell whether a column is of the type of its reading already."""
    if reading.type == "number":
        return types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    if reading.type == "date":
        return are_dates(column)
    return {
        "duration": types.is_timedelta64_dtype,
        "boolean": types.is_bool_dtype,
    }[str(reading.type)](column.dtype)


def _numbers(texts: pd.Series, reading: Reading) -> pd.Series:
    parts = texts.str.extract(rf"^{number_pattern(reading).pattern}$")
    plain = parts[2]
    if reading.thousands:
        plain = plain.str.replace(SPACES if reading.thousands == " " else rf"[{reading.thousands}’]", "", regex=True)
    sign = (parts[0].fillna("") + parts[1].fillna("")).str.replace("−", "-")
    numbers = to_numbers(sign + plain.str.replace(reading.decimal, "."), errors="coerce")
    return numbers.astype("Int64" if texts.str.fullmatch(r"[^.,]*").all() and _fits(numbers) else "Float64")


def _fits(numbers: pd.Series) -> bool:
    present = numbers.dropna()
    return types.is_integer_dtype(numbers.dtype) or bool(((present % 1 == 0) & (present.abs() < 2**53)).all())


def _dates(texts: pd.Series, reading: Reading) -> pd.Series:
    form = str(reading.format)
    if "%b" in form or "%B" in form:
        texts, form = texts.map(in_english, na_action="ignore").astype("string"), form.replace("%B", "%b")
    dates = in_reach(pd.to_datetime(texts, format=form, errors="coerce").dt.tz_localize(None))
    if "%y" in form:
        late = dates.dt.year > _CENTURY
        dates = dates.mask(late, dates - pd.DateOffset(years=100))
    return dates


def _durations(texts: pd.Series, reading: Reading) -> pd.Series:
    clock = texts.where(texts.str.fullmatch(_CLOCK.pattern))
    return pd.to_timedelta(clock.where(clock.str.count(":") == 2, clock + ":00"))


def _truths(texts: pd.Series, reading: Reading) -> pd.Series:
    known = dict.fromkeys(reading.true_values, True) | dict.fromkeys(reading.false_values, False)
    return texts.map({text.strip(): truth for text, truth in known.items()}).astype("boolean")


_READERS: dict[str, Callable[[pd.Series, Reading], pd.Series]] = {
    "number": _numbers,
    "date": _dates,
    "duration": _durations,
    "boolean": _truths,
}


def _spelled(reading: Reading) -> str:
    if reading.type == "date":
        return f"dates written as {reading.format}, from 1677 to 2262"
    if reading.type == "boolean":
        return "the texts of its true_values and false_values"
    if reading.type == "duration":
        return "hours and minutes such as 08:30"
    thousands = f", {reading.thousands!r} between thousands" if reading.thousands else ""
    unit = f" and the unit {reading.unit!r}" if reading.unit else ""
    return f"numbers with the decimal mark {reading.decimal!r}{thousands}{unit}"
