"""How the dates of a column are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from synthrisk.conf.reading import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.propose.cells import Cells
from synthrisk.tasks.workspace.readings import in_reach, read_as

_ISO = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_TIMES = {
    "": "",
    r"[ ]\d{1,2}:\d{2}": " %H:%M",
    r"[ ]\d{1,2}:\d{2}:\d{2}": " %H:%M:%S",
    r"T\d{2}:\d{2}:\d{2}": "T%H:%M:%S",
    r"[ ]\d{1,2}:\d{2} [APap][Mm]": " %I:%M %p",
    r"[ ]\d{1,2}:\d{2}:\d{2} [APap][Mm]": " %I:%M:%S %p",
}
_NUMBERS = re.compile(r"(\d{1,2})(\. ?|[/\- ])(\d{1,2})\2(\d{4}|\d{2})")
_IDEOGRAPHS = re.compile(r"\d{4}年 ?\d{1,2}月 ?\d{1,2}日")
_YEAR_FIRST = re.compile(r"(\d{4})(\. ?|[/\-])(\d{1,2})\2(\d{1,2})(\.?)")
_MONTHS = re.compile(r"(\d{1,2})([./\-])(\d{4})|(\d{4})([./\-])(\d{1,2})")
_WORDS = (
    re.compile(r"(?P<d>\d{1,2})(?P<s>\.? ?-?/?)[^\W\d_]{3,}\.?(?P<t>,? ?-?/?)(?P<y>\d{4}|\d{2})"),
    re.compile(r"[^\W\d_]{3,}\.?(?P<s>[ .\-/]+)(?P<d>\d{1,2})(?P<t>,? ?-?/?)(?P<y>\d{4})"),
    re.compile(r"[^\W\d_]{3,}\.?(?P<s>[ .\-/]+)(?P<y>\d{4})"),
)
_FIRST, _LAST = 1850, 2100  # years that eight digits may begin with
_NO_DATE = re.compile(  # of the years 0000 and 9999, of the day 00, or all of one digit with a year of four
    r"(9999|0000)[./\-]?\d\d[./\-]?\d\d|\d\d[./\-]?\d\d[./\-]?(9999|0000)|00[./\-]?00[./\-]?\d\d(\d\d)?"
    r"|(\d)\4[./\-]?\4\4[./\-]?\4{4}|(\d)\5{3}[./\-]?\5\5[./\-]?\5\5"
)


@dataclass(frozen=True)
class DateForm:
    """How dates are written."""

    reading: Reading | None  # None where they are ISO 8601, which needs no reading
    fits: pd.Series  # whether each distinct text is such a date
    sure: bool = True
    question: str = ""  # what cannot be told from the cells
    other: Reading | None = None  # the other answer to the question


def date_form(cells: Cells, enough: float) -> DateForm | None:
    """Return how the dates of a column are written, if at least a share ``enough`` of its cells are dates."""
    texts = cells.texts
    iso = texts.str.fullmatch(_ISO)
    if cells.share(iso) >= enough:
        dates = pd.to_datetime(texts.where(iso), format="ISO8601", errors="coerce", utc=True)
        dates = in_reach(dates.dt.tz_localize(None))
        if cells.share(dates.notna()) >= enough:
            every = bool(dates.notna().all())
            return DateForm(None if every else Reading(type="date", format="ISO8601"), dates.notna())
    found = []
    for form in _candidates(texts):
        fits = _are_dates(texts, form)
        if cells.share(fits) >= enough:
            found.append((form, fits))
    if not found:
        return None
    best = max(cells.share(fits) for _, fits in found)
    found = [(form, fits) for form, fits in found if cells.share(fits) == best]
    return _settled(texts, found)


def no_dates(cells: Cells) -> list[str]:
    """Return the texts of a column of dates that stand for no date: 00.00.0000, 9999-12-31."""
    return [text for text in cells.counts.index if _NO_DATE.fullmatch(text)]


def _candidates(texts: pd.Series) -> Iterator[str]:
    """Yield the formats that a typical text of a column has."""
    typical = str(texts.iloc[0])
    for pattern, time in _TIMES.items():
        found = re.fullmatch(rf"(?P<date>.*?){pattern}", typical)
        if found is None:
            continue
        for form in _date_formats(found["date"]):
            yield form + time


def _date_formats(date: str) -> Iterator[str]:
    if found := _NUMBERS.fullmatch(date):
        mark, year = found[2], "%Y" if len(found[4]) == 4 else "%y"
        yield f"%d{mark}%m{mark}{year}"
        if mark in "/-":
            yield f"%m{mark}%d{mark}{year}"
    if found := _YEAR_FIRST.fullmatch(date):
        yield f"%Y{found[2]}%m{found[2]}%d{found[5]}"
    if _IDEOGRAPHS.fullmatch(date):
        yield re.sub(r"\d{4}年( ?)\d{1,2}月( ?)\d{1,2}日", r"%Y年\1%m月\2%d日", date)
    if found := _MONTHS.fullmatch(date):
        yield f"%m{found[2]}%Y" if found[2] else f"%Y{found[5]}%m"
    if re.fullmatch(r"\d{8}", date):
        yield "%Y%m%d"
        yield "%d%m%Y"
    for pattern in _WORDS:
        if found := pattern.fullmatch(date):
            parts = found.groupdict()
            year = "%Y" if len(parts["y"]) == 4 else "%y"
            if "d" not in parts:
                yield f"%b{parts['s']}{year}"
            elif date[0].isdigit():
                yield f"%d{parts['s']}%b{parts['t']}{year}"
            else:
                yield f"%b{parts['s']}%d{parts['t']}{year}"


def _are_dates(texts: pd.Series, form: str) -> pd.Series:
    read = pd.Series(False, index=texts.index)
    try:
        dates = read_as(texts.rename("dates"), Reading(type="date", format=form, otherwise="missing"))
    except InputError:
        return read
    years = dates.dt.year
    plausible = years.between(_FIRST, _LAST) if form in ("%Y%m%d", "%d%m%Y") else years.notna()
    return dates.notna() & plausible


def _settled(texts: pd.Series, found: list[tuple[str, pd.Series]]) -> DateForm:
    """Return the one format that fits, or of two that both do the likelier with the question which it is."""
    (form, fits), *others = found
    reading = Reading(type="date", format=form)
    if not others:
        return DateForm(reading, fits)
    other = Reading(type="date", format=others[0][0])
    first, second = (texts[fits].str.extract(r"^(\d{1,2}).(\d{1,2})")[i].nunique() for i in (0, 1))
    question = f"does the day come first ({form}) or the month ({other.format})?"
    if form.startswith("%Y"):
        return DateForm(reading, fits, False, "is the year at the beginning or at the end?", other)
    if 1 == second < first <= 12:  # the same day in every month
        return DateForm(other, fits, False, question, reading)
    return DateForm(reading, fits, False, question, other)
