"""Columns of another file, a release or control records, read to fit the real table's: their names and their cells.

The real column says what the cells mean: numbers, dates, durations, true and false. Of the ways in which they may be
written, the one that fits most cells is taken; of two that fit as many, the one under which more values lie between the
smallest and the largest real one. Cells that none fits are missing.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types
from scipy.stats import energy_distance

from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.release.columns import Grid
from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import as_floats
from synthrisk.metrics.tables.value_types import in_zone_of, most_real, on_clock_of, typed
from synthrisk.tasks.workspace.files.cell_forms import (
    bare_answers,
    bare_dates,
    bare_numbers,
    clocks_of,
    in_letters,
    in_units,
    marks_in,
    may_be_thousands,
    nanoseconds,
    unwrapped,
    without_codes,
    without_words,
)
from synthrisk.tasks.workspace.files.cell_texts import (
    CURRENCIES,
    MARKS,
    MISSING,
    PAIRS,
    answers_in_words_of,
    folded,
    in_english,
    marks_in_words,
    plainly,
    read_as,
    to_numbers,
    without_marks,
)

_SUCH_AS = {"durations": " such as 8:30:00", "dates": " such as 2024-12-31"}
Kind = Literal["numbers", "dates", "durations", "true and false", "texts"]
"""What the cells of a column are, as sentences say it."""

_LEAST, _SOME = 0.1, 200  # share of the cells that must be of the real column's kind, and levels
_ANY_DATE = pd.Series(pd.to_datetime(["1900-01-01", "2100-01-01"]))
_MANY, _MOMENT = 20, 0.01  # dates, and the share of the real ones' time in which so many do not lie
_IN_RANGE = 0.5  # share of bare numbers that must be dates of the real column's years
_OF_SEVERAL = "of the forms that fit, by the real column's range"
_RARELY, _NEAR = 4, 2  # times as near to real dates must a rare form come; times as far makes another worth a word
_FORMS_OF_ONE = 3  # ways of writing dates in one column, at most
_UNIT = re.compile(
    r"^[+\-−]?\s*((?:[^\W\d_]{1,4}\.(?=\s)|[^\d\s.,'’+\-−–—‑－()<>≤≥≦≧=~*_?•…]{1,4}))?\s*[+\-−]?\d[\d.,'’\s\u00a0\u202f]*"
    r"([^\d\s.,'’\-−–—‑－()<>≤≥≦≧=*_?#•…¼½¾]{1,8}(?:\^?[23])?\.?)?$"
)
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%m.%d.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y",
         "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d. %m. %Y", "%d %b %Y", "%d. %b %Y", "%b %d, %Y",
         "%b %d %Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %y", "%d%b%Y", "%d%b%y", "%Y. %m. %d.", "%Y年%m月%d日",
         "%G-W%V-%u", "%Y-%m-%d", "%Y-%b-%d", "%d/%b/%Y", "%d.%b%Y", "%d %b, %Y", "%d.%m.%Y.",
         "%Y. %m. %d", "%Y-%j", "%d %m %Y", "%Y년 %m월 %d일")  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ":%H:%M:%S", " %H.%M",
          " %Hh%M", ", %H:%M", ", %H:%M:%S", ", %I:%M %p", ", %I:%M:%S %p", " %I:%M%p", " %I.%M.%S.%f %p", " %Hh%Mm%Ss",
          ":%H:%M:%S.%f", "-%H.%M.%S.%f", " %H:%M:%S,%f", "-%H.%M.%S", " %H.%M.%S", " %H h %M")  # fmt: skip
_FORMS = *(day + time for day in _DAYS for time in _TIMES), "%b %d %H:%M:%S %Y"
_MARKS_OF = {form: re.sub(r"%?\w", "", form.replace("%j", "#")) for form in _FORMS}
_ZONE = r"(?<=\d)\s*(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$"
_OFFSET = r":\d\d ?([+-])(\d\d):?(\d\d)$"  # from UTC, behind a time
_TRUE_FALSE, _OF_A_PAIR = ((1, 0), (-1, 0), (1, -1), (1, 2)), 0.95  # of Access, models, surveys; share of all four
_ANSWERS = "yes and no are taken as true and false"
_NEAR_ANSWERS = "numbers with decimals are taken as the nearer one, true and false"
_DAY = 86_400e9  # nanoseconds
_LENGTHS = {"seconds": 1e9, "minutes": 60e9, "hours": 3600e9, "days": _DAY, "milliseconds": 1e6, "nanoseconds": 1.0}
_RARE = "day numbers of a spreadsheet, from 1904", "days since the year 1"
_SERIALS: Mapping[str, tuple[float, float]] = {  # nanoseconds of one, and which number 1970-01-01 is
    "seconds since 1970": (1e9, 0),
    "milliseconds since 1970": (1e6, 0),
    "microseconds since 1970": (1e3, 0),
    "nanoseconds since 1970": (1.0, 0),
    "days since 1970": (_DAY, 0),
    "day numbers of a spreadsheet": (_DAY, 25_569),
    _RARE[0]: (_DAY, 24_107),
    "days since 1960": (_DAY, 3_653),
    "seconds since 1960": (1e9, 315_619_200),
    "milliseconds since 1960": (1e6, 315_619_200_000),
    "days since the year 0": (_DAY, 719_529),
    _RARE[1]: (_DAY, 719_163),  # as Python numbers them
    "seconds since 1582": (1e9, 12_219_379_200),
}
_DIGITS = (("%Y%m%d", 8), ("%Y%j", 7), ("%d%m%Y", 8), ("%m%d%Y", 8), ("%y%m%d", 6), ("%d%m%y", 6), ("%m%d%y", 6),
           ("%Y%m%d%H%M%S", 14))  # fmt: skip
_WRITTEN_DAYS = 19_000_101, 20_991_231
_LAST = 2.0**63 - 2**53  # nanoseconds around 1970 that are dates


class UnreadableError(ValueError):
    """A column of which too few cells are of the real column's kind; it holds no cell."""


def unfit(name: str, column: str, like: pd.Series) -> InputError:
    """Return what is said of a column whose cells are of another kind than the real ones."""
    kind = kind_of(like)
    return InputError(
        f"{name}: column {column!r} must hold {kind} as the real table does, got cells that are not; write them as "
        f"{kind}{_SUCH_AS.get(kind, '')}, or {way_out(column)}"
    )


def way_out(column: str) -> str:
    """Return what can be done about a column that does not fit."""
    return f"leave the column out with --drop {shlex.quote(column)} (data.drop in a study)"


class _Read(NamedTuple):
    """Cells, or distinct texts, as they were read."""

    values: pd.Series  # missing where nothing fits
    words: tuple[str, ...] = ()  # what had to be done, in words that hold no cell


def kind_of(column: pd.Series) -> Kind:
    """Return what the cells of a real column are; of a code list what its codes are.

    Example:
        >>> [kind_of(pd.Series(cells)) for cells in ([1.5], ["a"], pd.Categorical([7, 9]), [True])]
        ['numbers', 'texts', 'numbers', 'true and false']
    """
    held = levels_of(column)
    if types.is_bool_dtype(held.dtype):
        return "true and false"
    if types.is_numeric_dtype(held.dtype):
        return "numbers"
    if types.is_datetime64_any_dtype(held.dtype):
        return "dates"
    return "durations" if types.is_timedelta64_dtype(held.dtype) else "texts"


def levels_of(column: pd.Series) -> pd.Series:
    """Return the levels of a code list, whether they occur or not; of another column its cells."""
    return pd.Series(column.cat.categories) if isinstance(column.dtype, pd.CategoricalDtype) else column


def is_text(column: pd.Series) -> bool:
    """Tell whether a column may hold texts."""
    return types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype)


def read_to_fit(column: pd.Series, like: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return a released column whose cells are of the kind of a real column's, and what had to be done, in words.

    A column that is written as the real one is comes back as it is.

    Raises:
        UnreadableError: Fewer than a tenth of its cells are of that kind.

    Example:
        >>> cells, done = read_to_fit(pd.Series(["1234,50", "*", "80,00"]), pd.Series([1500.25, 75.0]))
        >>> cells.tolist(), done[1]
        ([1234.5, <NA>, 80.0], '1 of 3 cells is no number and taken as missing')
    """
    kind = kind_of(like)
    if kind == "texts":
        answers, words = answers_in_words_of(column, levels_of(like))
        cells, words = (answers, words) if words else without_codes(column, levels_of(like))
        cells, more = without_marks(cells, levels_of(like))
        return cells, [*words, *more]
    values, words = _as_kind(column, levels_of(like), kind)
    if kind != "dates":
        return values, words
    moved, hours = on_clock_of(values, levels_of(like))
    more = [f"times are written on another clock: moved by {hours} hours many are real ones"] if hours else []
    return moved, [*words, *more]


def _as_kind(column: pd.Series, real: pd.Series, kind: Kind) -> tuple[pd.Series, list[str]]:
    """Return a column whose cells are numbers, dates, durations, or true and false, as the real ones are."""
    cells = typed(column).cells
    held = levels_of(cells)
    if not is_text(held):
        if kind == kind_of(held) or (kind == "numbers" and types.is_bool_dtype(held.dtype)):
            return _finite(column, cells) if kind == "numbers" else (column, [])
        if isinstance(cells.dtype, pd.CategoricalDtype):
            levels = held.astype("Int64") if held.dtype.kind == "i" else held
            cells = pd.Series(levels.array.take(cells.cat.codes.to_numpy(), allow_fill=True))
        if kind == "durations" and types.is_datetime64_any_dtype(cells.dtype):
            times = cells.dt.tz_localize(None)
            if times.dt.normalize().nunique() == 1:
                return times - times.dt.normalize(), []
        if not types.is_numeric_dtype(cells.dtype) or (kind == "durations" and types.is_bool_dtype(cells.dtype)):
            raise UnreadableError
        return _of_numbers(cells, real, kind)
    bare, words = without_marks(column, real.head(0))
    if kind == "true and false" or bare.notna().any() or column.dropna().isin(MISSING).all():
        return _of_texts(column, real, kind)
    return _of_texts(bare, real, kind)[0], words


def _finite(column: pd.Series, cells: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return numbers without infinite ones."""
    held = levels_of(cells)
    if not types.is_float_dtype(held.dtype) or not np.isinf(held.to_numpy(float, na_value=np.nan)).any():
        return column, []
    plain = cells.astype(float) if isinstance(cells.dtype, pd.CategoricalDtype) else column
    infinite = np.isinf(plain.to_numpy(float, na_value=np.nan))
    return plain.mask(infinite), [_infinite(int(infinite.sum()), len(column))] if infinite.any() else []


def _of_numbers(cells: pd.Series, real: pd.Series, kind: Kind) -> tuple[pd.Series, list[str]]:
    """Return numbers as dates, as durations, or as true and false."""
    present = cells.dropna()
    each = pd.Series(1, index=present.index)
    read = {"dates": _serials, "durations": _counted}.get(kind, _truths_of_numbers)(present, each, real)
    return _whole(read.values.reindex(cells.index), cells.notna(), list(read.words), kind)


def _of_texts(column: pd.Series, real: pd.Series, kind: Kind) -> tuple[pd.Series, list[str]]:
    """Return a column of texts, each read once, however many cells hold it."""
    coded = isinstance(column.dtype, pd.CategoricalDtype)
    codes, found = pd.factorize(column) if coded else factorized(column.to_numpy(dtype=object, na_value=np.nan))
    levels = pd.Series(np.asarray(found, dtype=object), dtype=object)
    texts = unwrapped(levels.dropna().map(str).str.strip())
    present = texts[~texts.isin(MISSING)]
    counts = pd.Series(np.bincount(codes[codes >= 0], minlength=len(levels)))
    read = _READERS[kind](present, counts[present.index], real)
    taken = pd.Series(read.values.reindex(levels.index).array.take(codes, allow_fill=True), name=column.name)
    return _whole(taken, pd.Series(np.isin(codes, present.index)), list(read.words), kind)


def _whole(values: pd.Series, told: pd.Series, words: list[str], kind: Kind) -> tuple[pd.Series, list[str]]:
    """Return the values, and what was done, the number of cells that hold none among it; refuse what holds too few."""
    cells = int(told.sum())
    lost = int((told.to_numpy(bool) & values.isna().to_numpy(bool)).sum())
    infinite = np.zeros(len(values), dtype=bool)
    if kind == "numbers" and types.is_float_dtype(values.dtype):
        infinite = np.isinf(values.to_numpy(float, na_value=np.nan))
        values = values.mask(infinite)
    if cells and (cells - lost) < _LEAST * cells:
        raise UnreadableError
    if lost:
        one = {"numbers": "number", "dates": "date", "durations": "duration", "true and false": "answer"}[kind]
        are = "is" if lost == 1 else "are"
        words.append(f"{lost:,} of {cells:,} cells {are} no {one} and taken as missing")
    if infinite.any():
        words.append(_infinite(int(infinite.sum()), cells))
    return values, words


def _infinite(count: int, cells: int) -> str:
    return f"{count:,} of {cells:,} cells {'is' if count == 1 else 'are'} infinite and taken as missing"


# Numbers


def _numbers(texts: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read texts as numbers, what is left in the form that fits it, but in no other unit; some may be thousands."""
    in_thousands = texts.str.contains(r"\d\s*[kK]$", regex=True)
    others = texts.str.contains(r"\d$", regex=True) | texts.str[:1].isin(CURRENCIES)
    if in_thousands.any() and others.any():  # else k is a unit
        whole = texts.mask(in_thousands, in_units(texts[in_thousands], real))
        read = _numbers(whole.str.replace(r"(\d)\s*[kK]$", r"\1", regex=True), counts, real)
        values, left = read.values.astype("Float64"), in_thousands & (whole == texts)
        return _Read(values.where(~left, (1000 * values).round(6)), (*read.words, "k is taken for thousands"))
    read, unit = _numbers_in_a_form(texts, counts, real)
    for _ in range(_FORMS_OF_ONE - 1):
        left = texts[read.values.isna().to_numpy()]
        if not len(left):
            break
        more, other = _numbers_in_a_form(left, counts, real)
        if not more.values.notna().any() or other not in {unit, "", *CURRENCIES}:
            break
        values = pd.concat([read.values.dropna(), more.values.dropna()])
        read = _Read(values.reindex(texts.index), tuple(dict.fromkeys((*read.words, *more.words))))
    return read


def _numbers_in_a_form(texts: pd.Series, counts: pd.Series, real: pd.Series) -> tuple[_Read, str]:
    """Read texts as numbers: as they are, or with the marks and the unit, which is returned, that fit most of them."""
    texts = plainly(bare_numbers(texts, real), real)
    plain = _plain(texts)
    if plain.notna().all() and not may_be_thousands(texts):
        return _Read(plain), ""
    if not plain.notna().any() and {*real.dropna().unique()} <= {0, 1}:
        truth = _truths(texts, counts, real).values
        if truth.notna().any():
            return _Read(truth.astype("Int64"), ("yes and no are taken as 1 and 0",)), ""
    unit = _unit(texts[plain.isna()], counts) or ""
    found = [_Read(plain)]
    for decimal, thousands in marks_in(texts, MARKS):
        said = {"decimal": decimal, "thousands": thousands, "unit": unit, "otherwise": "missing"}
        values = read_as(texts, Reading.model_validate({"type": "number", **said}))
        words = marks_in_words(decimal, thousands, unit)
        found.append(_Read(values, (words,) if words else ()))
        if unit == "%":
            shares = (values.astype("Float64") / 100).round(12)
            found.append(_Read(shares, (f"{words}, as shares of 1",)))
    best = _best(found, counts, real)
    is_better = best.values.notna().sum() > plain.notna().sum() or best.words
    return best if is_better else _Read(plain), unit


def _plain(texts: pd.Series) -> pd.Series:
    """Return texts as numbers, whole ones to the last digit, missing where they are none."""
    numbers = to_numbers(texts, errors="coerce")
    if types.is_float_dtype(numbers.dtype) and numbers.isna().any():
        numbers = to_numbers(texts[numbers.notna()], errors="coerce")
    return _with_room(numbers).reindex(texts.index)


def _with_room(values: pd.Series) -> pd.Series:
    """Return whole numbers and truth values in a type that has room for a missing cell."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iub":
        room: dict[str, Any] = {"i": "Int64", "u": "UInt64", "b": "boolean"}
        return values.astype(room[values.dtype.kind])
    return values


def _unit(texts: pd.Series, counts: pd.Series) -> str | None:
    """Return what stands beside the numbers in most of the texts that are no plain number."""
    around = texts.str.extract(_UNIT)
    units = (around[0].fillna("") + around[1].fillna("")).loc[lambda s: s != ""]
    if not len(units):
        return None
    by_unit = counts[units.index].groupby(units.to_numpy()).sum()
    unit = str(by_unit.idxmax())
    words = {word for word in around[0].dropna() if word[0].isalpha() and word not in CURRENCIES}
    if unit in words and (len(words) > 1 or 2 * by_unit.max() < counts.sum()):
        return None  # a word such as u for under
    return unit if 2 * by_unit.max() >= counts[texts.index].sum() or unit in CURRENCIES or unit == "%" else None


# Dates


def _dates(texts: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read texts as dates: in ISO 8601, or in the form that fits most; what is left in the form that fits it."""
    of_clock = (real.dropna().dt.normalize() == pd.Timestamp(1900, 1, 1)).all()  # times of the day alone
    if of_clock and (times := _durations(texts, counts, real)).values.notna().all():
        return times._replace(values=pd.Timestamp(1900, 1, 1) + times.values)
    texts = texts.str.replace("[–—‑－−]", "-", regex=True)
    texts = texts.str.replace(r"^(\d{5}),(\d+)$", r"\1.\2", regex=True)  # days of a spreadsheet, and their time
    digits = texts.str.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
    values = iso_dates(texts[~digits], real).reindex(texts.index)
    words: list[str] = []
    left = texts[values.isna().to_numpy() & ~digits.to_numpy()]
    bare = bare_dates(left)
    if not bare.equals(left):
        texts = texts.where(~texts.index.isin(bare.index), bare.reindex(texts.index))
        values = values.fillna(iso_dates(bare, real).reindex(texts.index))
    if digits.any():
        read = _serials(to_numbers(texts[digits], errors="coerce"), counts, real)
        values = values.fillna(read.values.reindex(texts.index))
        words += read.words
    zones = left.str.extract(_OFFSET).fillna("0")
    hours, minutes = (zones[0] + zones[1]).astype(int), (zones[0] + zones[2]).astype(int)
    late = pd.to_timedelta(hours * 60 + minutes, unit="min").reindex(texts.index, fill_value=pd.Timedelta(0))
    for _ in range(_FORMS_OF_ONE):
        left = texts[values.isna().to_numpy() & ~digits.to_numpy()]
        found = [*_dates_in_other_forms(left, real)] if len(left) else []
        if not found:
            break
        read = _best(found, counts, real)
        values = values.fillna(read.values.reindex(texts.index))
        words += read.words
    return _Read(most_real([values - late, values], real), tuple(words))


def iso_dates(texts: pd.Series, real: pd.Series, errors: Literal["raise", "coerce"] = "coerce") -> pd.Series:
    """Return texts in ISO 8601 as dates in the zone of the real ones, or without one as they are.

    Example:
        >>> real = pd.Series(pd.to_datetime(["2024-07-01 08:00", "2024-12-01 08:00"]))
        >>> iso_dates(pd.Series(["2024-07-01T08:00+02:00", "2024-12-01T08:00+01:00"]), real).equals(real)
        True
    """
    parsed = pd.to_datetime(texts, format="ISO8601", errors=errors, utc=True).dt.as_unit("ns")
    zoned = texts.str.contains(rf":\d\d(?:[.,]\d+)?{_ZONE}", regex=True).fillna(False).to_numpy(bool)
    plain = in_zone_of(parsed[~zoned].dt.tz_localize(None), real)
    if not zoned.any():
        return plain
    aware = in_zone_of(parsed[zoned], real)
    if getattr(real.dtype, "tz", None) is None:
        clocks = texts[zoned].str.replace(_ZONE, "", regex=True)
        aware = most_real([aware, pd.to_datetime(clocks, format="ISO8601", errors=errors)], real)
    return pd.concat([plain, aware]).reindex(texts.index) if len(plain) else aware


def _dates_in_other_forms(texts: pd.Series, real: pd.Series) -> Iterator[_Read]:
    """Yield the texts as dates of each form that some of the first ones have."""
    english = texts.map(in_english) if texts.str.contains(r"[^\W\d_]{3}", regex=True).any() else texts
    english = without_words(english)
    few = english.head(50)
    marks = {re.sub(r"\w", "", re.sub(r"^(\d{4}-)\d{3}\b", r"\1#", text)) for text in few}  # 2015-38 is a week
    for form in _FORMS:
        if _MARKS_OF[form] not in marks or pd.to_datetime(few, format=form, errors="coerce").isna().all():
            continue
        dates = read_as(english, Reading(type="date", format=form, otherwise="missing"))
        dates = in_zone_of(dates, real)
        yield _Read(dates, (in_letters(form),))
        if "%y" in form and (early := dates < real.min()).any():
            yield _Read(dates.mask(early, dates + pd.DateOffset(years=100)), (in_letters(form),))
        if "%y" in form and (late := dates > real.max()).any():
            yield _Read(dates.mask(late, dates - pd.DateOffset(years=100)), (in_letters(form),))


def _serials(numbers: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read numbers as dates: as the count since a day, or the digits, that makes them most like the real ones.

    Of the ways under which half of them are within the real range it is that with the smallest energy distance
    between its dates and the real ones. YYYYMMDD and other numbers are read each in their way.
    """
    are_days = numbers.between(*_WRITTEN_DAYS)
    if _LEAST <= are_days.mean() <= 1 - _LEAST:
        parts = [_serials(numbers[which], counts, real) for which in (are_days, ~are_days)]
        if all(part.values.notna().any() for part in parts):
            values = pd.concat([part.values for part in parts]).reindex(numbers.index)
            return _Read(values, tuple(dict.fromkeys(word for part in parts for word in part.words)))
    ways = (*(read for read in _ways_of_serials(numbers) if _are_apart(read.values, real)), *_ways_of_digits(numbers))
    found = [_Read(in_zone_of(read.values, real), read.words) for read in ways]
    least = _IN_RANGE * _cells(numbers.notna(), counts)
    found = [read for read in found if _cells(_in_range(read.values, real), counts) >= max(least, 1)]
    if not found:
        return _Read(pd.Series(pd.NaT, index=numbers.index, dtype=real.dtype))
    distances = np.array([_distance(read.values, counts, real) for read in found])
    rare = np.array([_RARELY if read.words[0].endswith(_RARE) else 1 for read in found])
    place = int((distances * rare).argmin())
    chosen, rivals = found[place], [found[k] for k in np.flatnonzero(distances < _NEAR * distances[place])]
    doubtful = any(not _same(read.values, chosen.values) for read in rivals)
    return _Read(chosen.values, (f"{chosen.words[0]} ({_OF_SEVERAL})",)) if doubtful else chosen


def _ways_of_serials(numbers: pd.Series) -> Iterator[_Read]:
    """Yield numbers as dates, counted since each day from which they may be."""
    for words, (per, at_1970) in _SERIALS.items():
        fits = ((numbers.astype(float) - at_1970) * per).abs() < _LAST
        since = nanoseconds(numbers[fits] - at_1970, per)
        dates = pd.Series(since.to_numpy("int64").view("M8[ns]"), index=since.index).reindex(numbers.index)
        yield _Read(dates, (f"dates are written as {words}",))


def _ways_of_digits(numbers: pd.Series) -> Iterator[_Read]:
    """Yield numbers as dates whose digits they are."""
    floats = numbers.astype(float)
    for form, digits in _DIGITS:
        whole = (floats % 1 == 0) & floats.between(1, 10**digits - 1)
        written = numbers[whole].astype("int64").astype(str).str.zfill(digits).astype("string").reindex(numbers.index)
        yield _Read(read_as(written, Reading(type="date", format=form, otherwise="missing")), (in_letters(form),))


def _are_apart(values: pd.Series, real: pd.Series) -> bool:
    """Tell whether many dates do not all lie in a moment of the time of the real ones, as 1953249 seconds do."""
    floats = [as_floats(each.dropna()) for each in (values, real) if each.notna().any()]
    middle = [np.ptp(np.quantile(each, [0.05, 0.95])) for each in floats]
    return values.nunique() < _MANY or bool(middle[0] >= _MOMENT * middle[-1])


def _distance(values: pd.Series, counts: pd.Series, real: pd.Series) -> float:
    """Return how far dates are from the real ones: their energy distance, squared; what is none lies a range away."""
    known, dates = values.dropna(), as_floats(real.dropna())
    lost = 1 - _cells(values.notna(), counts) / _cells(pd.Series(True, index=values.index), counts)
    return float(energy_distance(as_floats(known), dates, counts[known.index]) ** 2 + lost**2 * np.ptp(dates))


# Durations, true and false


def _durations(texts: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read texts as durations, or as times of day: with AM and PM, or on a day that is the same everywhere."""
    clock, words = clocks_of(texts, real)
    digits = clock.str.fullmatch(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
    read = pd.to_timedelta(clock.where(~digits), errors="coerce").dt.as_unit("ns")
    numbers = to_numbers(clock[digits].str.replace(",", ".", regex=False), errors="coerce")
    counted = _counted(numbers, counts, real)
    return _Read(read.fillna(counted.values.reindex(read.index)), (*words, *counted.words))


def _counted(numbers: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read numbers as durations: in the unit under which half of them are in the real range and they are most alike."""
    found = []
    for unit, length in _LENGTHS.items() if types.is_timedelta64_dtype(real.dtype) and len(numbers) else ():
        since = (numbers.astype(float) * length / 1e3).round() * 1e3  # to the microsecond
        values = pd.to_timedelta(since.where(since.abs() < _LAST), unit="ns")
        if _cells(_in_range(values, real), counts) >= _IN_RANGE * _cells(values.isin(values), counts):
            found.append((_distance(values, counts, real), _Read(values, (f"durations are written in {unit}",))))
    nothing = _Read(pd.Series(pd.NaT, index=numbers.index, dtype="m8[ns]"))
    return min(found, key=lambda each: each[0])[1] if found else nothing


def _truths(texts: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read yes and no as true and false, in the pair of words that most cells have; the rest in the next such pair."""
    numbers = to_numbers(texts.str.replace(r"^([+-]?\d*),(\d+)$", r"\1.\2", regex=True), errors="coerce")
    are_numbers = numbers.notna().to_numpy(bool)
    found = _truths_of_numbers(numbers[are_numbers], counts, real)
    words, read = bare_answers(texts[~are_numbers]).map(folded), found.values.reindex(texts.index)
    for _ in range(_FORMS_OF_ONE):
        left = words[read[words.index].isna().to_numpy()]
        pairs = [left.map({true: True, false: False}) for true, false in PAIRS]
        read = read.fillna(max(pairs, key=lambda values: counts[values[values.notna()].index].sum()).astype("boolean"))
    plain = texts.isin(["True", "False", "true", "false", "TRUE", "FALSE"]) | are_numbers
    return _Read(read, tuple(dict.fromkeys((*(() if plain[read.notna()].all() else (_ANSWERS,)), *found.words))))


def _truths_of_numbers(numbers: pd.Series, counts: pd.Series, real: pd.Series) -> _Read:
    """Read numbers as true and false: 1 and 0, or two that other programs write, where hardly any is of another pair.

    Numbers with decimals, as models draw them that know numbers only, are taken for the nearer one. Of 1 and 2, 1
    is true, as in surveys, unless 2 is by its share, as R numbers false and true.
    """
    whole, own = numbers.astype(float).round(), counts[numbers.index]
    cells = {value: own[(whole == value).to_numpy()].sum() for value in (-1, 0, 1, 2)}
    all_four = sum(cells.values())
    true, false = next(
        ((true, false) for true, false in _TRUE_FALSE
         if min(cells[true], cells[false]) and cells[true] + cells[false] >= _OF_A_PAIR * all_four), (1, 0),
    )  # fmt: skip
    told = (_ANSWERS,) * ((true, false) != (1, 0))
    if (true, false) == (1, 2) and types.is_bool_dtype(real.dtype):
        share, due = cells[1] / (cells[1] + cells[2]), float(real.dropna().astype(float).mean())
        by_chance = 1.5 * np.sqrt(1 / (cells[1] + cells[2]) + 1 / max(real.count(), 1))
        true, false = (2, 1) if abs(share - due) > abs(1 - share - due) + by_chance else (1, 2)
        told = (f"{_ANSWERS}: {true} is true",)
    read = whole.map({float(true): True, float(false): False}).astype("boolean")
    is_near = (read.notna() & (numbers.astype(float) != whole)).any()
    return _Read(read, (*told, *([_NEAR_ANSWERS] * bool(is_near))))


def seems(levels: pd.Series) -> Kind:
    """Return what texts are that are all written as numbers with marks or units, or as dates not in ISO 8601.

    Texts of digits alone are codes.

    Example:
        >>> [seems(pd.Series(texts)) for texts in (["$1,200.50", "$80.00"], ["31.12.2024"], ["0524"], ["A1"])]
        ['numbers', 'dates', 'texts', 'texts']
    """
    some = levels.head(_SOME)
    counts = pd.Series(1, index=some.index)
    are_codes = not len(some) or to_numbers(some, errors="coerce").notna().any()
    if are_codes or not some.str.contains(r"\d", regex=True).all():
        return "texts"
    may_be_dates = some.str.contains(r"\d\D+\d", regex=True).all()  # day and year
    if may_be_dates and _dates(some, counts, _ANY_DATE).values.notna().all():
        return "dates"
    read = _numbers(some, counts, pd.Series([0.5]))
    return "numbers" if read.values.notna().all() and "a unit" not in "".join(read.words) else "texts"


# Which way


def _best(found: list[_Read], counts: pd.Series, real: pd.Series) -> _Read:
    """Return the reading that most cells have; of several with as many, that with most values like the real ones.

    Values are like the real ones where they lie among them, are as fine as they are, and equal some.
    """
    cells = [_cells(read.values.notna(), counts) for read in found]
    best = [read for read, own in zip(found, cells, strict=True) if own == max(cells)]
    if len(best) == 1:
        return best[0]
    grid = Grid.of(real)

    def score(read: _Read) -> tuple[int, int, int]:
        within = _in_range(read.values, real)
        on_grid, are_real = within & ~grid.off(read.values), within & read.values.isin(real)
        return _cells(within, counts), _cells(on_grid, counts), _cells(are_real, counts)

    chosen = max(best, key=score)
    rivals = [read for read in best if read.words and not _same(read.values, chosen.values)]
    if rivals and chosen.words:
        return _Read(chosen.values, (f"{chosen.words[0]} ({_OF_SEVERAL})",))
    return chosen


def _cells(which: pd.Series, counts: pd.Series) -> int:
    return int(counts[which.index][which.to_numpy(bool)].sum())


def _same(one: pd.Series, other: pd.Series) -> bool:
    return bool(((one == other) | (one.isna() & other.isna())).fillna(False).all())


def _in_range(values: pd.Series, real: pd.Series) -> pd.Series:
    """Tell which values lie between the smallest and the largest real one."""
    return values.between(real.min(), real.max()).fillna(False).astype(bool)


_Reader = Callable[[pd.Series, pd.Series, pd.Series], _Read]
_READERS: Mapping[Kind, _Reader]
_READERS = {"numbers": _numbers, "dates": _dates, "durations": _durations, "true and false": _truths}
