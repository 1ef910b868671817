"""The forms of single cells: digits of other scripts, what programs write around a value, codes beside labels.

Elapsed times (1h 5m) and amounts that are shortened ($1.2K), or in several units, are written out, a column at a time.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.release.columns import folded

_MARKS = {"٫": ".", "٬": ",", "．": ".", "·": ".", "，": ",", "－": "-"}  # among such digits; · in British texts
_OTHERS_DIGIT = re.compile(r"(?![0-9])\d|[٫٬]|(?<=\d)[．·，](?=\d)|^－(?=\d)")  # Arabic, Indian, full-width ...


def in_our_digits(texts: pd.Series) -> pd.Series:
    """Return texts with Arabic, Indian and full-width digits as ours, and the marks among them; 12·5 as 12.5.

    Example:
        >>> in_our_digits(pd.Series(["٣٤٫٥", "１２．５", "12·5"])).tolist()
        ['34.5', '12.5', '12.5']
    """
    if all(map(str.isascii, texts.dropna())):
        return texts
    of = lambda found: _MARKS.get(found[0]) or str(unicodedata.decimal(found[0]))  # noqa: E731
    return texts.str.replace(_OTHERS_DIGIT, of, regex=True)


_WEEKDAYS = (
    "(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|mo|di|mi|do|fr|sa|so|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
    "|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo"
)
_AROUND = re.compile(
    rf"(?i)^(?:{_WEEKDAYS})\.?,? |(?<=[\dm]) ?(?:Z|UTC|GMT|CES?T|MES?Z|[ECMP][SD]T|Uhr|[+-]00:?00)(?=$| \d{{4}}$)"
    r"|(?<=:\d\d) ?[+-]\d\d:?\d\d$|(?<=:\d\d) GMT[+-]\d{4}(?: \([^()]*\))?$| ?г\.?$"
)
"""What may stand around a date: the day of the week, its zone, a word for o'clock."""


def bare_dates(texts: pd.Series) -> pd.Series:
    """Return dates as texts without what stands around them.

    Example:
        >>> bare_dates(pd.Series(["Thu, 04.03.2021", "4.3.2021 08:30 Uhr"])).tolist()
        ['04.03.2021', '4.3.2021 08:30']
    """
    return texts.str.replace(r"\s+", " ", regex=True).str.replace(_AROUND, "", regex=True)


_WORDS_OF_DATES = r" (?:de|of|at|um|a las|[aà]|às|alle|kl\.?|om|[-–]) "


def without_words(dates: pd.Series) -> pd.Series:
    """Return dates as texts without the words between their parts, and what stands behind a day or half of the day.

    Example:
        >>> without_words(pd.Series(["4 de Mar de 2021 a las 8:30", "4th Mar 2021 at 8:30 p. m."])).tolist()
        ['4 Mar 2021 8:30', '4 Mar 2021 8:30 pm']
    """
    plain = dates.str.replace(r"\s+", " ", regex=True).str.replace(_WORDS_OF_DATES, " ", regex=True)
    return plain.str.replace(r"(\d)(?:st|nd|rd|th|er)\b|\b([ap])\. ?(m)\.?$", r"\1\2\3", regex=True)


_SHOWN = {"%d": "DD", "%m": "MM", "%Y": "YYYY", "%y": "YY", "%b": "month", "%H": "hh", "%M": "mm", "%S": "ss",
          "%f": "f", "%I": "hh", "%p": "AM/PM", "%j": "DDD", "%G": "YYYY", "%V": "ww", "%u": "d"}  # fmt: skip


def in_letters(form: str) -> str:
    """Return in words how dates of a format are written."""
    return f"dates are written as {re.sub('%.', lambda found: _SHOWN.get(found[0], found[0]), form)}"


def nanoseconds(numbers: pd.Series, per: float) -> pd.Series:
    """Return numbers of units in nanoseconds, ``per`` of which are one; parts of a unit to the millisecond."""
    if types.is_integer_dtype(numbers.dtype):
        return numbers.astype("int64") * int(per)
    floats = numbers.astype(float)
    whole = floats - floats % 1
    rest = (floats % 1 * per / 1e6).round() * 1_000_000  # to the millisecond
    return whole.astype("int64") * int(per) + (rest.astype("int64") if per > 1e6 else 0)


_CALLED = re.compile(  # as programs print values
    r"^(?:(?:np|numpy|pd|pandas|torch)\.)?(?:u?int\d*|float\d*|str_?|bool_?|datetime64|tensor|Decimal|Some|Timestamp"
    r"|ISODate|as\.Date|as\.POSIXct)\(\s*(.*?)\.?,?\s*\)$"
)
_BETWEEN_SIGNS = re.compile(
    r"""^(?:\{("?)([^{}",;:]+)\1\}|\[(['"]?)([^\[\]'",;:]+)\3\]|\(([^()',;]+),\)|\*\*([^*]+)\*\*|`([^`]+)`|\|([^|]+)\|"""
    r"""|<(\w+)>([^<>]+)</\9>|#([^#]+)\#|=?"([^"]+)"|(?:DATE |b)?'([^']+)'d?|b"([^"]+)"|([^;]+);"""
    r"""|\{"\$date": ?"([^"]+)"\})$"""
)
_DOT_NET = re.compile(r"^/Date\((-?\d+)(?:[+-]\d{4})?\)/$")
_DATE_CALL = re.compile(r"^datetime\.date(?:time)?\((\d+), (\d+), (\d+)(?:, (\d+), (\d+)(?:, (\d+))?(?:, \d+)?)?\)$")


def unwrapped(texts: pd.Series) -> pd.Series:
    """Return texts in our digits, without what programs, or hands, write around each value.

    Example:
        >>> cells = ["np.int64(34)", "b'34'", "[34]", "**34**", "34;", "datetime.date(2021, 3, 4)", "[30, 40)"]
        >>> unwrapped(pd.Series(cells)).tolist()
        ['34', '34', '34', '34', '34', '2021-03-04', '[30, 40)']
    """
    texts = in_our_digits(texts)
    if all(map(str.isalnum, texts)):
        return texts
    bare = texts.str.replace("&nbsp;", " ", regex=False).str.strip().str.replace(_CALLED, r"\1", regex=True)
    bare = bare.str.replace(r"^\[\s*\]$", "-", regex=True)  # a box without its cross
    bare = bare.str.replace(_BETWEEN_SIGNS, lambda found: found[found.lastindex or 0].strip(), regex=True)
    bare = bare.str.replace(_DOT_NET, r"\1", regex=True)
    return bare.str.replace(_DATE_CALL, lambda found: _iso([int(part) for part in found.groups() if part]), regex=True)


def _iso(parts: list[int]) -> str:
    clock = ":".join(f"{part:02d}" for part in parts[3:])
    return f"{parts[0]:04d}-{parts[1]:02d}-{parts[2]:02d}{' ' * bool(clock)}{clock}"


_SIDES = (("E", "W"), ("O", "W"), ("N", "S"), ("CR", "DR"), ("H", "S"))  # of zero: above, below


def bare_numbers(texts: pd.Series, real: pd.Series) -> pd.Series:
    """Return numbers without labels, with a minus for letters that say on which side of zero they lie, as real ones do.

    Example:
        >>> bare_numbers(pd.Series(["16.4 E", "3.7° W"]), pd.Series([-9.1, 20.2])).tolist()
        ['16.4', '-3.7']
    """
    texts = _without_labels(texts, real)
    if not real.min() < 0:
        return texts
    parts = texts.str.extract(r"(?i)^(?:([a-z]{1,2})\.? ?)?(\d[\d.,'’ \u00a0]*)[°\s]*([a-z]{1,2})?\.?$")
    sides = (parts[0].fillna("") + parts[2].fillna("")).str.upper()
    pair = next((pair for pair in _SIDES if {*pair} == {*sides} - {""}), None)
    if pair is None:
        return texts
    plain = parts[1].str.strip()
    return texts.where(sides == "", plain.mask(sides == pair[1], "-" + plain))


LIMITS = ("+", ">", ">=", "≥", "<", "<=", "≤")
"""What marks numbers at which others were cut: 90+, <0.5. They are read as a unit is, and 90+ as 90."""
_AT_LIMIT = re.compile(r"^(?:(?P<above>[>≥]=?)|(?P<below>[<≤]=?))?\s*(?P<number>\d[\d.,]*)\s*(?P<plus>\+)?$")


def at_limits(column: pd.Series, mark: str, real: pd.Series) -> pd.Series:
    """Return a column without the marks at the limit of the real numbers, where these are read without such a ``mark``.

    Example:
        >>> at_limits(pd.Series(["90+", "89", "85+", "> 90"]), "+", pd.Series([18, 89, 90])).tolist()
        ['90', '89', '85+', '90']
    """
    if mark not in LIMITS or not types.is_numeric_dtype(real.dtype) or types.is_numeric_dtype(column.dtype):
        return column
    side, end = ("below", real.min()) if mark in "<=≤" else ("above", real.max())
    meant = {}
    for cell in column.dropna().unique():
        found = _AT_LIMIT.fullmatch(cell.strip()) if isinstance(cell, str) else None
        number = found["number"].replace(",", ".") if found else ""
        marked = found and (found["below"] if side == "below" else (found["above"] or found["plus"]))
        if found and marked and number.count(".") < 2 and float(number) == float(end):
            meant[cell] = found["number"]
    return column.astype(object).map(lambda cell: meant.get(cell, cell), na_action="ignore") if meant else column


_IN_THOUSANDS = re.compile(r"^([^\d.,]*)(\d{1,3}[.,]\d+)\s*[kK]$")


def in_units(texts: pd.Series, real: pd.Series) -> pd.Series:
    """Return numbers in thousands in units, where they have one mark, of decimals: of thousands where real ones say so.

    Example:
        >>> in_units(pd.Series(["12.345k", "$1,2 K", "1 234.5k"]), pd.Series([20_000])).tolist()
        ['12345', '$1200', '1 234.5k']
    """
    found = texts.str.extract(_IN_THOUSANDS)
    units = (1000 * found[1].str.replace(",", ".").astype(float)).round(6)
    cells = [int(each.between(real.min(), real.max()).sum()) for each in (units, 1000 * units)]
    if found[1].dropna().str.fullmatch(r"\d+[.,]\d{3}").all() and cells[1] > cells[0]:
        units = 1000 * units
    plain = units.map(lambda number: f"{number:.6f}".rstrip("0").rstrip("."), na_action="ignore")
    return texts.where(units.isna(), found[0] + plain)


def marks_in(texts: pd.Series, marks: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return of marks before decimals and between thousands those that stand in texts, and the plain ones.

    Example:
        >>> marks_in(pd.Series(["1,5", "level 2"]), [(".", ""), (",", ""), (",", "."), (".", " "), (",", "'")])
        [('.', ''), (',', ''), ('.', ' ')]
    """
    held = "".join(in_our_digits(texts.dropna()).unique())
    there = {".": "." in held, ",": "," in held, " ": any(map(str.isspace, held)), "'": "'" in held or "’" in held}
    return [each for each in marks if each == (".", "") or there[each[1] or each[0]]]


def may_be_thousands(texts: pd.Series) -> bool:
    """Tell whether a point may stand between thousands in all texts that have one."""
    marked = texts[texts.str.contains(".", regex=False)]
    head = marked.head(1000)
    pattern = r"[+\-−]?[1-9]\d{0,2}(\.\d{3})+"
    return len(head) > 0 and bool(head.str.fullmatch(pattern).all()) and bool(marked.str.fullmatch(pattern).all())


_BESIDE_ANSWERS = (
    r"(?i)^[\[(]?\d[\])]?\s*[=:.)|\-–]?\s*(?=[^\W\d_])|\s*[(\[]\d[)\]]$"
    r"|(?<=[^\W\d_]{2})[.!]$(?<!\.true\.)(?<!\.false\.)"
)


def bare_answers(texts: pd.Series) -> pd.Series:
    """Return answers without codes and signs beside them.

    Example:
        >>> bare_answers(pd.Series(["1 = yes", "[0] no", "Ja.", "no (0)", ".true."])).tolist()
        ['yes', 'no', 'Ja', 'no', '.true.']
    """
    return texts.str.replace(_BESIDE_ANSWERS, "", regex=True)


def _without_labels(texts: pd.Series, real: pd.Series) -> pd.Series:
    """Return numbers without the label that each real one has beside it, where all have one of their own: 1 = male."""
    before = texts.str.extract(r"^[\[(]?([+-]?\d{1,4})\s?[\])]?\s*(?:(?<=[\])])|[=:.|_]|-\s|–\s|\()\s*([^\W\d_].*)$")
    behind = texts.str.extract(r"^([^\W\d_].*?)\s*[(\[]([+-]?\d{1,4})[)\]]$")
    codes, labels = (one.where(one.notna(), other) for one, other in ((before[0], behind[1]), (before[1], behind[0])))
    if codes.isna().any() or labels.nunique() < 2 or not len(texts) == codes.nunique() == labels.nunique():
        return texts
    return codes if codes.astype(float).isin(real.astype(float)).all() else texts


_ELAPSED = re.compile(
    r"^([+\-−–]?) ?(?:p(?=t?\d)t?)?(?:(\d+) ?(?:d|j|[Dd]ays?|[Tt]age?|jours?|d[ií]as?)(?![^\W\d_t])[t, ]*)?"
    r"(?:(\d+) ?(?:h|[Hh]rs?|[Hh]ours?|[Ss]td|[Ss]tunden?|heures?|horas?|ore)(?![^\W\d_])[., ]*)?"
    r"(?:(\d+) ?(?:m|[Mm]ins?|[Mm]inut(?:es?|en?|os?|i))(?![^\W\d_])[., ]*)?"
    r"(?:(\d+(?:\.\d+)?) ?(?:s|[Ss]ecs?|[Ss]econde?s?|[Ss]ek|[Ss]ekunden?|segundos?)\.?)?$"
)
_HOURS = re.compile(r"^([+\-−–]?\d{1,3})\s?h\s?([0-5]\d)$")
_ISO_TIME = re.compile(r"^[+\-]?P[\dTDHMS.]*\d[DHMS]$")
_SECONDS = [86_400, 3600, 60, 1]


def as_clocks(texts: pd.Series) -> pd.Series:
    """Return elapsed times in words as clocks write them; other texts as they are.

    Example:
        >>> as_clocks(pd.Series(["6h30", "25m 2s", "1 day 2 h", "PT2H", "-0:05", "31:15,3", "8"])).tolist()
        ['6:30', '0:25:02', '26:00:00', '2:00:00', '-0:05', '31:15.3', '8']
    """
    texts = texts.str.replace(r"(?<=:\d\d),(?=\d{1,9}$)", ".", regex=True)
    texts = texts.str.replace(_HOURS, r"\1:\2", regex=True).str.replace(r"^[−–](?=\d+:)", "-", regex=True)
    parts = _parts_of_time(texts)
    seconds = (parts * _SECONDS).sum(axis=1)[parts.notna().any(axis=1)]
    below = texts.str.match(r"[\-−–]").fillna(False)
    signs = np.where(below[seconds.index], "-", "")
    clocks = {k: sign + _clock(own) for k, sign, own in zip(seconds.index, signs, seconds, strict=True)}
    return texts.where(~texts.index.isin([*clocks]), pd.Series(clocks, dtype=object).reindex(texts.index))


_PARTS_OF_SECONDS = r"[+-]?\d{1,4}:\d{2}[.,]\d+"


def of_minutes(clocks: pd.Series) -> bool:
    """Tell whether clocks of two parts are minutes and seconds: beside 31:15.3, or 1:02:33, where hours are far more.

    Example:
        >>> of_minutes(pd.Series(["55:11", "1:02:33"])), of_minutes(pd.Series(["8:30", "14:05:27"]))
        (True, False)
    """
    if clocks.str.fullmatch(_PARTS_OF_SECONDS).any():
        return True
    two, three = (clocks.str.extract(rf"^[+-]?(\d{{1,4}}):\d{{2}}{end}")[0].astype(float) for end in ("$", ":"))
    far = two.max() >= 24 or two.min() > three.max()
    return bool(three.notna().any() and two.max() < 60 and far)


def with_seconds(clocks: pd.Series, minutes: bool = False) -> pd.Series:
    """Return clocks of three parts: 8:30 as 8:30:00, and 31:15.3, and 55:11 where they are ``minutes``, as 0:55:11."""
    full = r"\g<1>0:\2" if minutes or of_minutes(clocks) else r"\1\2:00"
    clocks = clocks.str.replace(r"^([+-]?)(\d{1,4}:\d{2}\.\d+)$", r"\g<1>0:\2", regex=True)
    return clocks.str.replace(r"^([+-]?)(\d{1,4}:\d{2})$", full, regex=True)


_HALF_DAYS = re.compile(r"^(\d{1,2})[:.](\d\d)(?:[:.](\d\d(?:\.\d+)?))?\s?([ap])\.?\s?m\.?$", re.IGNORECASE)


def clocks_of(texts: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return durations, or times of day, also with AM and PM or on one day, as clocks write them; and what was done.

    Those of two parts are minutes and seconds where more of them lie among the ``real`` ones so.
    """
    days = texts.str.extract(r"^(\d{4}-\d\d-\d\d)[ T]\d")[0]
    if days.notna().all() and days.nunique() == 1:
        texts = texts.str[11:]
    clock = as_clocks(texts.str.replace(r"\s?Uhr$|^[Tt](?=\d)", "", regex=True))
    parts = clock.str.extract(_HALF_DAYS)
    halves = parts[3].notna()
    hours = parts[0][halves].astype(int) % 12 + 12 * parts[3][halves].str.lower().eq("p")
    clock = clock.mask(halves, hours.astype(str) + ":" + parts[1] + ":" + parts[2].fillna("00"))
    told = ["times are written with AM and PM"] if halves.any() else []
    hours, minutes = with_seconds(clock), with_seconds(clock, minutes=True)
    if types.is_timedelta64_dtype(real.dtype) and not hours.equals(minutes):
        lengths = (pd.to_timedelta(each, errors="coerce") for each in (hours, minutes))
        within = [each.between(real.min(), real.max()).sum() for each in lengths]
        if within[1] > within[0]:
            return minutes, [*told, "times of two parts are taken for minutes and seconds, as the real ones are"]
    return hours, told


def _parts_of_time(texts: pd.Series) -> pd.DataFrame:
    """Return the days, hours, minutes and seconds of elapsed times, missing where they say none."""
    small = texts.str.replace(_ISO_TIME, lambda found: found[0].lower(), regex=True)
    return small.str.extract(_ELAPSED)[[1, 2, 3, 4]].astype(float)


def _clock(seconds: float) -> str:
    whole, part = int(seconds), f"{seconds % 1:.6f}".strip("0").rstrip(".")
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}{part}"


def _are_elapsed(texts: pd.Series) -> bool:
    """Tell whether times are elapsed ones: in two units (1h 5m, 45 min beside 2 h), or 30h00, which no day has."""
    hours, parts = (
        texts.str.extract(_HOURS)[0].str.replace("[−–]", "-", regex=True).astype(float),
        _parts_of_time(texts),
    )
    units = {*parts.columns[parts.notna().any()]}
    several = len(units) > 1 and (2 in units or texts.str.contains(r"[^\W\d_]{2}|[ms] ?\d").any())  # 3 d, 6 m; 9s, 7m
    return bool(several or (units and hours.notna().any()) or hours.abs().max() >= 24 or hours.min() < 0)


_HEAD = 500  # cells that show whether a whole column may be so
_MONEY = r"(?:US\$|R\$|[€$£¥₹₽₺₪₩₫₴]|EUR|USD|CHF|GBP|INR|PLN|SEK|NOK|DKK|Rs\.?|kr\.?)"
_SHORT = re.compile(
    rf"(?i)^([+\-−–]?\s?{_MONEY}?)\s?(\d[\d.,'’\s]*)(k|mrd|bn?|mio|millionen|million|mn?|)(?![^\W\d_])\.?(\s?{_MONEY})?"
    r"(/-|\s?(?:pcm|pw|p\.?[am]\.?)|\s?(?:/|per )\s?[a-z]+)?$"
)
_SIDED = re.compile(rf"^((?:{_MONEY}\s?)?\d[\d.,'’]*?)\s?(CR|DR|Cr|Dr|S|H)\.?$")
_DASH = r"[.,]\s?[-–—]{1,2}"  # no cents: 500.-
_DASH_OF_CENTS = rf"(?<=\d){_DASH}(?=(?:\s*[^\d\s]{{1,3}})?$)"
_NO_CENTS = re.compile(rf"^[^\d\s]{{0,3}}\s?\d[\d'’.,\s]*?(?:[.,]\d\d|{_DASH})(?:\s*[^\d\s]{{1,3}})?$")
_OF_ONE = {"kB": 1e-3, "KB": 1e-3, "MB": 1, "GB": 1e3, "TB": 1e6, "mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3,
           "µg": 1e-6, "mg": 1e-3, "g": 1, "kg": 1e3, "ml": 1e-3, "cl": 1e-2, "l": 1}  # fmt: skip
_HEIGHT = re.compile(
    r"^([1-9])\s?(?:['’′]|ft\.?|feet|foot)\s?(\d{1,2}(?:\.\d+)?|)\s?(?:[\"”″]|''|’’|′′|in\.?|inch(?:es)?)?$"
)
_MEASURE = re.compile(rf"^(\d+(?:[.,]\d+)?)\s?({'|'.join(_OF_ONE)})$")


def _are_amounts(texts: pd.Series) -> bool:
    """Tell whether texts are amounts of money, some in thousands or millions, or with the same words behind them."""
    parts = texts.str.extract(_SHORT)
    money = parts[3].notna() | parts[0].str.contains(r"[^\s+\-−–]", regex=True)
    words, is_unit = parts[4][parts[4] != "/-"], texts.str.contains(r"\d\s?[kKM]€$", regex=True).all()  # k€ is read
    alike = words.isna().all() or (len(words) == len(texts) and words.nunique(dropna=False) == 1)
    return bool(money.all() and alike and not is_unit and (parts[2].ne("") | parts[4].notna()).any())


def _amount(found: re.Match[str]) -> str:
    before, number, short, behind, _ = (part or "" for part in found.groups())
    if not short:
        return f"{before}{number.strip()}{behind}"
    plain, power = re.sub(r"[^\d.,]", "", number), {"k": 3, "b": 9, "mrd": 9}.get(short.lower().rstrip("n"), 6)
    whole, mark, part = re.split(r"([.,])(?=\d*$)", plain) if re.search("[.,]", plain) else (plain, "", "")
    if mark and (plain.count(mark) > 1 or (mark == "," and len(part) == 3)):  # between thousands
        whole, part = plain, ""
    digits = f"{float(re.sub('[.,]', '', whole) + '.' + part) * 10**power:.4f}".rstrip("0").rstrip(".")
    return f"{before}{digits.replace('.', mark or '.')}{behind}"


def _are_sided(texts: pd.Series) -> bool:
    """Tell whether amounts have letters for the side of zero: CR and DR, or S and H behind cents; both occur."""
    parts = texts.str.extract(_SIDED)
    sides = {*parts[1].str.upper()}
    return sides == {"CR", "DR"} or (sides == {"S", "H"} and bool(parts[0].str.contains(r"[.,]\d\d$").all()))


def _are_heights(texts: pd.Series) -> bool:
    """Tell whether texts are of feet and inches; seconds behind minutes are 12 and more, too."""
    inches = texts.str.extract(_HEIGHT)[1].replace("", "0").astype(float)
    return bool((inches < 12).all() and inches.nunique() > 1)


def _inches(found: re.Match[str]) -> str:
    return f"{12 * int(found[1]) + float(found[2] or 0):g} in"


def _are_measures(texts: pd.Series) -> bool:
    """Tell whether texts are of one quantity in several units, each with its own: 800 MB beside 3.9 GB."""
    units = texts.str.extract(_MEASURE)[1]
    return bool(units.nunique() > 1 and units.str[-1].nunique() == 1)


def _measure(found: re.Match[str]) -> str:
    digits = f"{float(found[1].replace(',', '.')) * _OF_ONE[found[2]]:.9f}".rstrip("0").rstrip(".")
    return f"{digits} {found[2][-1].replace('B', 'MB')}"


def written_out(texts: pd.Series) -> pd.Series:
    """Return the texts of a column in our digits; elapsed times, heights, amounts that are shortened written out.

    Example:
        >>> for cells in (["25m 2s", "1h 5m", "none"], ["$1.2K", "$80", "nil"], ["3.9 GB", "800 MB"],
        ...               ["1,50H", "2,00S"], ["5' 4''", "6 ft 1 in"]):
        ...     print(written_out(pd.Series(cells)).tolist())
        ['0:25:02', '1:05:00', 'none']
        ['$1200', '$80', '$0']
        ['3900 MB', '800 MB']
        ['1,50', '−2,00']
        ['64 in', '73 in']
    """
    texts = _with_nothing(in_our_digits(texts))
    some, ways = _with_digits(texts.dropna().head(_HEAD)), _WRITTEN_OUT if len(texts) else {}
    pattern = next((pattern for pattern in ways if len(some) and some.str.strip().str.match(pattern).all()), None)
    held = _with_digits(pd.Series(texts.dropna().unique(), dtype=object)) if pattern else some
    bare = held.str.strip()
    if pattern is None or not bare.str.match(pattern).all() or not ways[pattern][0](bare):
        return texts
    meant = dict(zip(held, ways[pattern][1](bare), strict=True))
    return texts.map(lambda text: meant.get(text, text), na_action="ignore").astype("string")


_PRICE = re.compile(rf"[+\-−–]?\s?(?:({_MONEY})\s?\d[\d.,'’\s]*k?|\d[\d.,'’\s]*(\s?{_MONEY}))", re.IGNORECASE)
_NOTHING = {"nil", "none", "zero", "nihil", "keine", "keiner", "aucun", "aucune", "ninguno", "ninguna", "nessuno",
            "nessuna", "geen", "ingen", "ingenting"}  # fmt: skip


def _with_nothing(texts: pd.Series) -> pd.Series:
    """Return amounts of money with 0 in place of words that say that there is none; None is rather a missing cell."""
    held = pd.Series(texts.dropna().unique(), dtype=object)
    words = [text for text in held if text.strip().casefold() in _NOTHING and text.strip() != "None"]
    amounts = _with_digits(held).str.strip() if words else held.head(0)
    found = [_PRICE.fullmatch(text) for text in amounts]
    if not found or found[0] is None or not all(found):
        return texts
    return texts.replace(dict.fromkeys(words, f"{found[0][1] or ''}0{found[0][2] or ''}"))


def _with_digits(texts: pd.Series) -> pd.Series:
    return texts[texts.str.contains(r"\d", regex=True).to_numpy(bool)].astype(object)


_WRITTEN_OUT: dict[re.Pattern[str], tuple[Callable[[pd.Series], bool], Callable[[pd.Series], pd.Series]]] = {
    re.compile("|".join(each.pattern for each in (_HOURS, _ISO_TIME, _ELAPSED))): (_are_elapsed, as_clocks),
    _HEIGHT: (_are_heights, lambda texts: texts.str.replace(_HEIGHT, _inches, regex=True)),
    _SHORT: (_are_amounts, lambda texts: texts.str.replace(_SHORT, _amount, regex=True)),
    _SIDED: (
        _are_sided,
        lambda texts: texts.str.replace(
            _SIDED, lambda found: "−" * (found[2].upper() in "DR S") + found[1], regex=True
        ),
    ),
    _MEASURE: (_are_measures, lambda texts: texts.str.replace(_MEASURE, _measure, regex=True)),
    _NO_CENTS: (
        lambda texts: bool(texts.str.contains(_DASH_OF_CENTS).any()),
        lambda texts: texts.str.replace(_DASH_OF_CENTS, "", regex=True),
    ),
}
"""Which texts may be of a kind: whether a whole column is, and how it is written out."""


_MARKED = re.compile(r"(?=.*[0-9])[A-Za-z0-9]+([ -])([A-Za-z0-9]{1,4})")  # SW1 1AB, 30-016


def with_marks_of(column: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return codes with the blank or hyphen that all real ones have at one place from the end; what was done.

    Example:
        >>> with_marks_of(pd.Series(["SW11AB", "LS85HA"]), pd.Series(["SW1 1AB", "LS8 5HA"]))[0].tolist()
        ['SW1 1AB', 'LS8 5HA']
    """
    texts = [text for text in column.dropna().unique() if isinstance(text, str) and text.isalnum()]
    found = [_MARKED.fullmatch(str(text)) for text in real.dropna().unique()] if texts else []
    signs = {(each[1], len(each[2])) if each else None for each in found}
    mark, behind = next(iter(signs), None) or ("", 0)
    if len(signs) != 1 or not mark:
        return column, []
    forms = {_form(each[0]) for each in found if each}
    meant = {text: f"{text[:-behind]}{mark}{text[-behind:]}" for text in texts if len(text) > behind}
    meant = {text: own for text, own in meant.items() if _form(own) in forms}
    if len(meant) < _MOST_UNKNOWN * len(texts):
        return column, []
    cells = column.astype(object).map(lambda cell: meant.get(cell, cell), na_action="ignore")
    many, there = int(column.isin([*meant]).sum()), int(column.notna().sum())
    sign = "blank" if mark == " " else "hyphen"
    return cells, [f"{many:,} of {there:,} texts have no {sign} where all real ones have one"]


def _form(text: str) -> str:
    return re.sub("[A-Za-z]", "a", re.sub("[0-9]", "9", text))


_CODE = r"[\[(]?([A-Za-z]?\d[A-Za-z0-9.]{0,7}?|[A-Za-z]{1,2})[\])]?"
_LABELLED = (  # a code before a label, and behind it: which is the real text
    rf"^{_CODE}\s*[=:.)|_\-– ]\s*(?P<text>[^\W\d_].*)$", rf"^(?P<text>[^\W\d_].*?)\s*[(\[]{_CODE}[)\]]$",
    r"^[\[(]?(?P<text>[A-Za-z]?\d[A-Za-z0-9.]{0,7}?|[A-Za-z]{1,2})[\])]?(?:\s*[=:|_]|\s*[)\-–]?\s)\s*[^\W\d_(\[].*$",
    r"^[^\W\d_].*[(\[](?P<text>[A-Za-z]?\d[A-Za-z0-9.]{0,7}?|[A-Za-z]{1,2})[)\]]$",
    r"^(?P<text>[A-Za-z]?\d[A-Za-z0-9.]{0,7}?|[A-Za-z]{1,2}) ?\([^\W\d_].*\)$", rf"^{_CODE} ?\((?P<text>[^\W\d_].*)\)$",
)  # fmt: skip
_MOST_UNKNOWN, _SEEN = 0.9, 500  # share of the texts that are unknown, and how many show whether there are any codes


def without_codes(column: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return texts as the real ones that stand in them, beside codes or signs; each in one alone.

    Example:
        >>> cells, done = without_codes(pd.Series(["1 = male", "2 = female"]), pd.Series(["female", "male"]))
        >>> cells.tolist(), done
        (['male', 'female'], ['2 of 2 texts have a code or signs beside the real one'])
    """
    levels = [text for text in column.dropna().unique() if isinstance(text, str)]
    real_ones = {*real.dropna().unique()}
    others = pd.Series([text for text in levels if text not in real_ones], dtype=object)
    name = rf"(?i)^{re.escape(str(column.name))}[=_:. ]+(?P<text>.*)$"
    ways: list[Callable[[pd.Series], pd.Series]]
    ways = [_without_signs, *(partial(_part, pattern=pattern) for pattern in (*_LABELLED, name))]
    some = others.iloc[:: len(others) // _SEEN + 1]
    ways = [way for way in ways if way(some).notna().any()]
    if not len(others) or not real_ones or not ways:
        return column, []
    known = {folded(level): level for level in real_ones}
    ways = [way for way in ways if any(folded(word) in known for word in way(some).dropna().unique())]
    words = {text: folded(text) for text in levels} if ways else {}
    others = others[[words[text] not in known for text in others]] if ways else others
    as_they_are = {known[word] for word in words.values() if word in known}
    for way in ways:
        pairs = zip(others, way(others), strict=True)
        meant = {text: known[folded(word)] for text, word in pairs if isinstance(word, str) and folded(word) in known}
        alone = len({*meant.values()}) == len(meant) and {*meant.values()}.isdisjoint(as_they_are)
        if len(meant) >= max(1, _MOST_UNKNOWN * len(others)) and alone:
            cells = column.astype(object).map(lambda cell, meant=meant: meant.get(cell, cell), na_action="ignore")
            many, there = int(column.isin([*meant]).sum()), int(column.notna().sum())
            does = "has" if many == 1 else "have"
            return cells, [f"{many:,} of {there:,} texts {does} a code or signs beside the real one"]
    return column, []


def _without_signs(texts: pd.Series) -> pd.Series:
    bare = unwrapped(texts)
    return bare.where(bare != texts)


def _part(texts: pd.Series, pattern: str) -> pd.Series:
    return texts.str.extract(pattern)["text"]
