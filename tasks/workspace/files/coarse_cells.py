"""Cells of a released column that stand for sets of values of the real one: bands, beginnings, periods, stars.

The real column says what the cells mean. How it was coarsened is not asked of anybody: each way of writing a set is
known by its signs. Cells without such a sign are exact.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.release.columns import CHANCE, Grid
from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import as_floats
from synthrisk.metrics.tables.tables import ValueSet
from synthrisk.metrics.tables.value_types import in_zone_of, precision_of, typed
from synthrisk.tasks.workspace.files.cell_texts import MONTHS, as_text, in_english
from synthrisk.tasks.workspace.files.fitted_cells import Kind, is_text, kind_of, levels_of

_SUPPRESSED = re.compile(r"[*]+|[\[({<]?suppressed[\])}>]?", re.IGNORECASE)
_UNIT = (
    r"(?:\s*(?:(?:years?|yrs?|yo?|jahren?|j|ans?|años?|anni|days?|tagen?|weeks?|wochen?|months?|monaten?|hours?|h|min"
    r"|år|jaar|lat|лет|eur|euros?|usd|chf|gbp|kg|g|cm|mm?|km)\b\.?(?: old| of age)?|[€$£¥%歳岁세才]))?"
)
_NUMBER = (
    r"(?:(?:ages?(?:[ _]?group)?|aged|alter(?:sgruppe)?|âge|edad|età|y|eur|usd|chf|gbp)[\s_:]*)?[+\-−]?[€$£¥]?\s*"
    r"\d(?:[\d.,'’\u00a0\u202f]| (?=\d{3}\b))*(?:e[+\-]?\d+)?\s*k?" + _UNIT
)
_MARK = r"[.,'’ \u00a0\u202f]"
_NEGATIVE = re.compile(  # as accountants write it
    rf"\([€$£¥]?\s*(?:\d{{1,3}}({_MARK})\d{{3}}(?:\1\d{{3}})*([.,]\d+)?|\d+([.,]\d+))\s*[€$£¥]?\)"
)
_ONE = re.compile(  # as most texts are
    r"\d{1,3}(?:_\d{3})+(?:\.\d+)?|[+\-−]?[€$£¥]?\s*\d[\d,'’]*(?:\.[\d,'’]+)*\s*(?:[€$£¥%]|eur|usd|chf|kg|cm)?"
)
_PAIR = re.compile(r"(\d+),(\d+)")
_DECADE = re.compile(r"(\d*0)(?:'?s|er|代)")
_AND = r"(?:and|or|und|u\.|oder|et|ou|y|o|e|och|og|en|of|i)"
_UNDER = (
    r"(?:<|(?:y_?)?lt|yngre än|(?:bis )?unter|under|below|less than|younger than|before|weniger als|jünger als|vor"
    r"|moins de|avant|menos de|menor(?:es)? de|antes de|meno di|sotto(?: i)?|prima del?)\s*"
)
_OVER = (
    r"(?:>|(?:y_?)?gt|over|above|more than|older than|after|über|mehr als|älter als|nach|plus de|après|más de"
    r"|mayor(?:es)? de|después de|più di|oltre(?: i)?|dopo(?: il)?)\s*"
)
_TO = r"\s*(?:-|–|—|‐|‑|−|~|_|〜|～|\.\.+|…|\b(?:to|through|thru|bis|until|à|a|hasta|t/m|til|do)\b)\s*"
_BAND = (
    rf"[\[({{{{]?(?:(?:from|von|de|da)\s+|(?P<over>{_OVER})|(?P<both>between|zwischen|entre|tra)\s+)?(?P<low>{{one}})(?<![,\s])"
    rf"(?(both)\s+{_AND}\s+|{_TO})(?P<under>{_UNDER})?(?P<high>{{one}})[\])}}}}]?"
)
_YEAR_MONTH, _GERMAN_DAY = r"\d{4}(?:0[1-9]|1[0-2])", r"\d{1,2}\.\d{1,2}\.\d{4}"
_YEAR, _MONTH, _DAY = r"\d{4}", r"(?:\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{4})", r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+)?"
_MASK = r"(?:\*+|xx|00)"
_MASKED = re.compile(rf"(?:[-/.]{_MASK})+$|^(?:{_MASK}[-/. ])+", re.IGNORECASE)
_PARTS = (  # of a year, whose number stands before it, and how they are written behind it
    ("Q", r"(?:[qt]([1-4])|([1-4])(?:\.|er|e|º)?\s?(?:q|t|quartal|quarter|trimestre))"),
    ("H", r"(?:[hs]([12])|([12])(?:\.|er|e|º)?\s?(?:h|s|hj|halbjahr|half|semestre))"),
    ("W", r"(?:(?:kw|cw|w|week|woche)\s?(\d{1,2})|(\d{1,2})\.\s?(?:kw|woche))"),
)
_END = r"[+\-−]?(?:inf(?:inity)?|∞)|"
_INTERVAL = r"([\[(\]])\s*({end}{one})\s*[,;]\s*({end}{one})\s*([\])\[])"
_BETWEEN = (  # 30 <= x < 40, and >=30 & <40
    r"^({one})\s*(<=?|≤)\s*(?:[^\W\d]\w*|…)\s*(<=?|≤)\s*({one})$|^(>=?|≥)\s*({one})\s*(?:&+|and|und|,)\s*(<=?|≤)\s*({one})$"
)
_OPEN = (
    (
        r"(?:>=|≥|≧|=>|(?:y_?)?ge|min\.|from|since|at least|ab|seit|mindestens|(?:à|a) partir de|au moins|depuis|desde"
        r"|al menos|da|almeno)\s*({one})"
        rf"|({{one}})\s*(?:\+|plus|{_AND} (?:over|more|above|older|up|älter|mehr|darüber|plus|más|mayores|oltre|più"
        r"|äldre|eldre|ouder|więcej|starsi))"
        + _UNIT
        + rf"|({{one}})\s*(?:以上|{_TO}(?:high(?:est)?|max(?:imum)?)|\.\.+)",
        0,
    ),
    (rf"{_OVER}({{one}})", 1),
    (
        r"(?:<=|≤|≦|=<|(?:y_?)?le|max\.|(?:low(?:est)?|min(?:imum)?)(?: thru|\s*-|\s*\.\.+)|\.\.+|up to"
        r"|at most|until|bis(?: zu)?|höchstens|jusqu['’]à|au plus|hasta|fino a)\s*({one})"
        rf"|({{one}})\s*{_AND} (?:less|under|below|younger|weniger|jünger|darunter|moins|menos|meno"
        r"|yngre|jonger)" + _UNIT + r"|({one})\s*以下",
        2,
    ),
    (rf"{_UNDER}({{one}})|({{one}})\s*未満", 3),
)
_BEGUN = re.compile(r"(.*?[^\s*#…•])\s*[*#…•]+|(.*\d\.?)[xX]+|(.*?\d\.??)(?:_+|\?\?+|--+|\.\.+)|(.*\d\.)-")
_EXACT = re.compile(r"[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?|\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+)?")  # numbers, days and times
_MOST_YEARS_ELSEWHERE = 0.1  # share of whole numbers that are no years of the real dates
_YEARS_BESIDE = 10  # before and after the real dates
_DECADE_YEARS = 10.0
_FEWEST = 2  # beginnings of texts without a sign that make a column of such
_BESIDE, _OF_LISTS = (",", ";", "|", "~", "/", " or "), 0.1  # share of the real texts that may be lists by a mark
_STEPS = tuple(float(first * 10**power) for power in range(7) for first in (1, 5))  # 1, 5, 10, 50, ...
_MOST_MULTIPLES, _FEWEST_MULTIPLES = 0.5, 3  # share of the real values, and released values, of which rounding is told
_MOST_HELD = 10**8  # sets times the values that may be in them: what is kept in memory
_TELLING = 0.1  # share of the cells that tell rounding and cutting apart
_DAY_NS = 86_400 * 10**9
_Ends = tuple[float, float]


class Found(NamedTuple):
    """The coarse cells of a column."""

    rows: np.ndarray  # (m,) which of ``sets`` each cell stands for, -1 where it is exact, -2 where it is suppressed
    sets: tuple[ValueSet, ...]
    names: tuple[str, ...]  # how each is written
    words: str  # how many of what they are, in words that hold no cell


def coarse_cells(column: pd.Series, like: pd.Series) -> Found | None:
    """Return which cells of a released column stand for sets of values of a real one; None where all are exact.

    - Any column: stars alone, ``suppressed``: any value.
    - Numbers: ``30-39``, ``30 to 39``, ``[30, 40)``, ``(30, 40]``, ``30+``, ``>=30``, ``<30``, ``123**``, ``30s``; with
      units, and in German, French, Spanish and Italian words (``30 bis unter 40 Jahre``, ``moins de 30``).
    - Numbers of which the release holds whole ones (tens, fifties, hundreds ...) alone, where most real ones are none.
    - Dates: ``1987``, ``1987-05``, ``KW 5/1987``, ``198705``, ``May 1987``, ``May-87``, ``1987-W05``, ``1987-Q2``,
      ``1987-H1``, ``1980s``, ``1980-1989``, ``1987-**-**``, and two days as numbers are.
    - Texts: ``123**``, ``12xx``; beginnings of real texts that hold digits, where no other text is unknown; real texts
      side by side: ``{cook, nurse}``, ``cook|nurse``.

    Example:
        >>> found = coarse_cells(pd.Series(["30-39", "41", "40+", "*"]), pd.Series([31, 35, 47]))
        >>> found.rows.tolist(), [(own.low, own.high) for own in found.sets]
        ([0, -1, 1, -2], [(30.0, 39.0), (40.0, inf)])
        >>> found.words
        '2 bands of numbers and 1 of 4 cells withheld and taken as missing, for any value'
    """
    kind, coded = kind_of(like), isinstance(column.dtype, pd.CategoricalDtype)
    held = levels_of(column)
    is_code = isinstance(like.dtype, pd.CategoricalDtype)
    if kind == "numbers" and not is_code and (rounded := _rounded(column, like)) is not None:
        return rounded
    if isinstance(held.dtype, pd.IntervalDtype):
        column, coded = column.astype(object).map(str, na_action="ignore").astype(object), False
    elif not is_text(held) and not (kind == "dates" and types.is_numeric_dtype(held.dtype)):
        return None
    codes, cells = pd.factorize(column) if coded else factorized(column.to_numpy(dtype=object, na_value=np.nan))
    texts = [as_text(cell).strip() for cell in np.asarray(cells, dtype=object)]
    real = levels_of(like).dropna()
    known = {str(level).strip() for level in real.unique()} if kind == "texts" else set()
    suppressed = {text for text in texts if text not in known and _SUPPRESSED.fullmatch(text)}
    sets, words = _sets(kind, real, texts, known | suppressed, np.bincount(codes[codes >= 0], minlength=len(texts)))
    if not sets and not suppressed:
        return None
    place = {text: k for k, text in enumerate(sets)} | dict.fromkeys(suppressed, -2)
    rows = np.append([place.get(text, -1) for text in texts], [-1]).astype(int)[codes]
    stars, there = int((rows == -2).sum()), int((codes >= 0).sum())
    what, of, kinds = words.partition(" ")
    told = [f"{len(sets):,} {what if len(sets) > 1 else what.removesuffix('s')}{of}{kinds}"] if sets else []
    told += [f"{stars:,} of {there:,} cells withheld and taken as missing, for any value"] if stars else []
    return Found(rows, tuple(sets.values()), tuple(sets), " and ".join(told))


def _sets(
    kind: Kind, real: pd.Series, texts: list[str], exact: set[str], counts: np.ndarray
) -> tuple[dict[str, ValueSet], str]:
    """Return what each coarse text stands for, and what they are."""
    others = [text for text in texts if text not in exact and not (kind != "texts" and _EXACT.fullmatch(text))]
    if kind == "texts":
        return _of_texts(real, others)
    if kind == "numbers":
        step, ends = Grid.of(real).step, (real.min(), real.max())
        whole, pairs, decades = step >= 1, are_pairs(others, real), step < _DECADE_YEARS and _are_decades(others)
        others = [text for text in others if not (ends[0] < 0 and _is_negative(text, whole))]
        found, values = {}, np.sort(as_floats(real))
        ways = ((False, 1.0), (True, 1.0), *([(False, 100.0)] * any("%" in text for text in others)))
        for marked, of in ways:  # a point is a decimal one, or stands between thousands; of 100, as shares of 1
            own = {text: held for text in others if (held := _number_set(text, whole, marked, pairs, decades))}
            own = {text: ValueSet(held.low / of, held.high / of) for text, held in own.items()} if of > 1 else own
            if within := sum(each.low <= ends[1] and each.high >= ends[0] for each in own.values()):
                lows, highs = ([*each] for each in zip(*((held.low, held.high) for held in own.values()), strict=True))
                held = np.searchsorted(values, highs, side="right").sum() - np.searchsorted(values, lows).sum()
                found[within, int(held), not marked, -of] = own
        return (found[max(found)], "bands of numbers") if found else ({}, "")  # tokens, such as <5
    return _of_dates(real, texts, counts) if kind == "dates" else ({}, "")


# Numbers


def are_pairs(texts: Iterable[str], real: pd.Series) -> bool:
    """Tell whether texts such as ``70,80`` are two ends of a band, not one number with a comma.

    They are where the real column holds whole numbers, both ends of all of them lie in its range, the smaller first,
    and some of them do not end alike; but where the comma may stand between thousands, and the number in the range.

    Example:
        >>> ages = pd.Series([18, 70, 90])
        >>> are_pairs(["70,80", "20,30", "45"], ages), are_pairs(["70,8", "20,3"], ages)
        (True, False)
    """
    found = [match for text in texts if (match := _PAIR.fullmatch(text))]
    if len({match[2] for match in found}) < _FEWEST or Grid.of(real).step < 1:
        return False
    least, most = real.min(), real.max()
    thousands = all(len(match[1]) <= len(match[2]) == 3 and int(match[1] + match[2]) <= most for match in found)
    return not thousands and all(least <= int(match[1]) < int(match[2]) <= most for match in found)


def _are_decades(texts: Iterable[str]) -> bool:
    """Tell whether all numbers with an s are tens: then it is no unit."""
    found = [text for text in texts if re.fullmatch(r"\d+(?:'?s|er|代)", text)]
    return bool(found) and all(_DECADE.fullmatch(text) for text in found)


def _is_negative(text: str, whole: bool) -> bool:
    """Tell whether a text in parentheses is one number, as the real ones are."""
    match = _NEGATIVE.fullmatch(text)
    return match is not None and not (whole and (match[3] or (match[2] or "0").strip(".,0")))


def _number_set(text: str, whole: bool, marked: bool, pairs: bool, decades: bool) -> ValueSet | None:
    text = f"[{text}]" if pairs and _PAIR.fullmatch(text) else text.casefold()
    if _ONE.fullmatch(text):
        return None
    if match := re.fullmatch(r"([+\-−]?)(\d+)(\*+|x+|#+|•+|_+|\?{2,}|-{2,}|n{2,})", text):
        least, most = (float(match[2] + digit * len(match[3])) for digit in "09")
        return ValueSet(least, most) if match[1] in ("", "+") else ValueSet(-most, -least)
    if decades and (match := _DECADE.fullmatch(text)):
        return ValueSet(float(match[1]), float(match[1]) + _DECADE_YEARS - 1)
    ends = _listed(text) or _ends(text, _NUMBER, lambda one: (_number(one, marked),) * 2)
    if ends is None:
        return None
    if re.search(r"\d\s*k\W*$", text) and text.count("k") == 1 and 1000 * ends[0] < ends[1] < np.inf:  # 20-30k
        ends = 1000 * ends[0], ends[1]
    low, high = (np.ceil(ends[0]), np.floor(ends[1])) if whole else ends
    return ValueSet(float(low), float(high)) if low <= high else None


def _listed(text: str) -> _Ends | None:
    """Return the ends of whole numbers in braces, each the next one; None where it is no such list."""
    if not re.fullmatch(r"\{\s*\d+(\s*[,;]\s*\d+)+\s*\}", text):
        return None
    numbers = sorted(int(part) for part in re.findall(r"\d+", text))
    return (float(numbers[0]), float(numbers[-1])) if numbers == [*range(numbers[0], numbers[-1] + 1)] else None


def _number(text: str, marked: bool = False) -> float:
    """Return a number that is written with any marks; NaN where it is none.

    Where a point or a comma may be either, a comma stands between thousands, and a point does where ``marked``.

    Example:
        >>> [_number(text) for text in ("1,500", "1.500.000", "1.234,5", "12,5", "€20k", "-3", "1.500")]
        [1500.0, 1500000.0, 1234.5, 12.5, 20000.0, -3.0, 1.5]
    """
    plain, power = text.casefold().replace("−", "-"), 1.0
    if match := re.search(r"(?<=\d)e[+-]?\d+", plain):
        plain, power = plain.replace(match[0], ""), float(f"1{match[0]}")
    times = power * (1000.0 if re.search(r"\dk|\d\s+k\b", plain) else 1.0)
    plain = re.sub(r"[^\W\d_]+\.?|[^\d.,+\-]", "", plain)
    decimal = max(plain.rfind("."), plain.rfind(","))
    mark = plain[decimal : decimal + 1] if decimal >= 0 else ""
    both = "." in plain and "," in plain
    groups = re.fullmatch(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+", plain) is not None and not both
    between = groups and (mark == "," or marked or plain.count(mark) > 1)
    whole, rest = (plain, "") if between or not mark else (plain[:decimal], plain[decimal + 1 :])
    try:
        return times * float(re.sub("[.,]", "", whole) + "." + rest)
    except ValueError:
        return float("nan")


def _ends(text: str, one: str, read: Callable[[str], _Ends]) -> _Ends | None:
    """Return the ends of a band whose ends are written as ``one``; None where it is no band.

    ``read`` gives the first and the last value of what is written; ends that are not part of it are moved by the least.
    """
    text = re.sub(_BETWEEN.format(one=one), lambda found: _interval(*found.groups()), text, flags=re.IGNORECASE)
    if match := re.fullmatch(_BAND.format(one=one), text, re.IGNORECASE):
        least, most = read(match["low"]), read(match["high"])
        start = np.nextafter(least[1], np.inf) if match["over"] else least[0]
        return _in_order(start, np.nextafter(most[0], -np.inf) if match["under"] else most[1])
    if match := re.fullmatch(_INTERVAL.format(end=_END, one=one), text, re.IGNORECASE):
        low, high = (_infinite(end) or read(end) for end in (match[2], match[3]))
        both = match[1] + match[4] == "()" and np.isfinite([low[0], high[1]]).all()  # as programs write pairs
        start = low[0] if match[1] == "[" or both else np.nextafter(low[1], np.inf)
        return _in_order(start, high[1] if match[4] == "]" or both else np.nextafter(high[0], -np.inf))
    for pattern, way in _OPEN:
        if match := re.fullmatch(pattern.format(one=one), text, re.IGNORECASE):
            first, last = read(next(group for group in match.groups() if group))
            above, below = np.nextafter(last, np.inf), np.nextafter(first, -np.inf)
            return [(first, np.inf), (above, np.inf), (-np.inf, last), (-np.inf, below)][way]
    return None


def _interval(*parts: str | None) -> str:
    low, over, under, high = parts[:4] if parts[0] else (parts[5], *parts[4:5], *parts[6:])
    return f"{'(' if over in ('<', '>') else '['}{low}; {high}{')' if under == '<' else ']'}"


def _infinite(end: str) -> _Ends | None:
    is_so = end.lstrip("+-−").lower() in ("inf", "infinity", "∞")
    return ((-np.inf,) * 2 if end[0] in "-−" else (np.inf,) * 2) if is_so else None


def _in_order(low: float, high: float) -> _Ends | None:
    return (float(low), float(high)) if low <= high else None


def _rounded(column: pd.Series, like: pd.Series) -> Found | None:
    """Return numbers that were rounded, or cut, to whole ones or multiples of a step; None unless that is evident.

    It is evident where at most half of the real values are multiples, all of the released ones are, which would happen
    by chance less than once in a million times, and these are half of the multiples in the middle 90 % of the real
    values, or of those that real values, or as many as are released, can be rounded to. A step is read as rounding to
    the nearest, or as cutting down, by which of the two gives more of the released values, or keeps the real mean.
    """
    real = as_floats(levels_of(like))
    real = real[np.isfinite(real)]
    codes, levels = pd.factorize(column)
    if levels_of(column).dtype.kind in "mM":
        return None
    numbers = pd.to_numeric(pd.Series(np.asarray(levels, dtype=object)), errors="coerce").to_numpy(float)
    rows, counts = len(codes), np.bincount(codes[codes >= 0], minlength=len(levels))
    if len(numbers) < _FEWEST_MULTIPLES or not np.isfinite(numbers).all() or not len(real):
        return None
    whole = [step for step in _STEPS if not (numbers % step).any()]
    share = float((real % whole[-1] == 0).mean()) if whole else 1.0
    low, high = np.quantile(real, [0.05, 0.95])
    within = (numbers >= low) & (numbers <= high)
    if not whole or len(numbers) * (len(numbers) + len(np.unique(real))) > _MOST_HELD:
        return None
    multiples = np.floor(high / whole[-1]) - np.ceil(low / whole[-1]) + 1
    due = min(multiples, len(np.unique(np.round(real / whole[-1]))), counts.sum())
    by_chance = counts.sum() * np.log(max(share, 1 / (len(real) + 1)))
    if share > _MOST_MULTIPLES or by_chance > np.log(CHANCE) or within.sum() < due / 2:
        return None
    step, mean = whole[-1], float(numbers @ counts / counts.sum())
    around = (numbers >= np.floor(real.min() / step) * step) & (numbers <= np.round(real.max() / step) * step)
    if 2 * counts[around & (numbers != 0)].sum() < counts[numbers != 0].sum():  # in another unit
        return None
    whole_ones, nearest = not (real % 1).any(), abs(mean - real.mean())
    is_cut = abs(mean + (step - whole_ones) / 2 - real.mean()) < nearest
    near, cut = (int(counts[np.isin(numbers, way(real / step) * step)].sum()) for way in (np.round, np.floor))
    is_cut = cut > near if abs(cut - near) > _TELLING * rows else is_cut
    ends = [(v, np.nextafter(v + step, v)) if is_cut else (v - step / 2, v + step / 2) for v in numbers]
    ends = [(np.ceil(low), np.floor(high)) for low, high in ends] if whole_ones else ends
    sets = tuple(ValueSet(float(low), float(high)) for low, high in ends)
    words = f"{len(sets):,} numbers {'cut down' if is_cut else 'rounded'} to multiples of {step:,.0f}"
    place = np.append(np.arange(len(sets)), -1)
    return Found(place[codes] if rows else codes, sets, tuple(as_text(each).strip() for each in levels), words)


# Dates


def _of_dates(real: pd.Series, texts: list[str], counts: np.ndarray) -> tuple[dict[str, ValueSet], str]:
    """Return the periods that are written as years, quarters, months, or between two of these."""
    days = pd.Series(as_floats(real).view("f8").astype("int64").view("M8[ns]"))
    span = range(days.dt.year.min(), days.dt.year.max() + 1) if len(days) else range(0)
    cells, texts = texts, [re.sub(r"^(\d{4}|\d{6})\.0$", r"\1", text) for text in texts]  # as CSV has them beside none
    of_year = [bool(re.fullmatch(_YEAR, text)) for text in texts]
    bare = np.array([bool(re.fullmatch(r"[+-]?\d+(\.\d*)?", text)) for text in texts], dtype=bool)
    within = np.array([own and int(text) in span for own, text in zip(of_year, texts, strict=True)], dtype=bool)
    are_years = counts[bare & ~within].sum() <= _MOST_YEARS_ELSEWHERE * counts[bare].sum()
    months = _are_months([text for text in texts if re.fullmatch(r"\d{6}", text)], span)
    found: dict[str, ValueSet] = {}
    for cell, text, is_year in zip(cells, texts, of_year, strict=True):
        if _SUPPRESSED.fullmatch(text) or (re.fullmatch(_DAY, text) and not text.endswith("-00")):
            continue
        if is_year and not are_years:
            continue
        is_month = months and bool(re.fullmatch(_YEAR_MONTH, text))
        plain = f"{text[:4]}-{text[4:]}" if is_month else _year_first(text, span)
        ends = _period(plain) or _named_month(text, span)
        if ends is None:
            ends = _ends(text, rf"(?:{_DAY}|{_GERMAN_DAY}|{_MONTH}|{_YEAR})", lambda one: _period(one) or _day(one))
        if ends is not None and ends[0] < ends[1]:
            found[cell] = ValueSet(float(ends[0]), float(ends[1]))
    return found, "years" if all(re.fullmatch(rf"{_YEAR}(\.0)?", cell) for cell in found) else "periods"


def _year_first(text: str, span: range) -> str:
    """Return a quarter, a half-year or a week with its year before it, as ``_period`` takes it; others as they are."""
    for letter, part in _PARTS:
        if match := re.fullmatch(rf"{part}[-/. ']*(\d{{4}}|\d{{2}})", text, re.IGNORECASE):
            years = _years(match[3], span)
            return f"{years[0]}-{letter}{match[1] or match[2]}" if years else text
    return re.sub(r"^(\d{4})[-/ ]?(?:kw|cw) ?(?=\d{1,2}$)", r"\1-W", text, flags=re.IGNORECASE)


def _years(digits: str, span: range) -> list[int]:
    """Return which years four or two digits may be: of two, those of the real dates, the later first."""
    year = int(digits)
    return [year] if len(digits) > 2 else [each for each in (2000 + year, 1900 + year) if each in span]


def _are_months(texts: list[str], span: range) -> bool:
    """Tell whether six digits are years and months about the real dates in most of some texts, and not days in most."""
    about = range(span.start - _YEARS_BESIDE, span.stop + _YEARS_BESIDE)
    days = pd.to_datetime(pd.Series(texts, dtype=object), format="%y%m%d", errors="coerce").dt.year
    months = sum(bool(re.fullmatch(_YEAR_MONTH, text)) and int(text[:4]) in about for text in texts)
    most = (1 - _MOST_YEARS_ELSEWHERE) * len(texts)
    return months >= most > int(days.isin(span).sum())


def _named_month(text: str, span: range) -> _Ends | None:
    """Return the first and the last nanosecond of a month that is written by its name; None where it is none.

    Of two digits of a year, the century is the one of a year of the real dates, the later if both are.
    """
    match = re.fullmatch(r"([^\W\d_]+)[-/., '’]*(\d{4}|\d{2})|(\d{4}|\d{2})[-/., ]*([^\W\d_]+)", in_english(text))
    name = (match[1] or match[4]) if match else ""
    if match is None or name not in MONTHS:
        return None
    years = _years(match[2] or match[3], span)
    return _between(years[0], MONTHS.index(name) + 1, 1) if years else None


def _period(text: str) -> _Ends | None:
    """Return the first and the last nanosecond of a year, decade, quarter or month; None where it is none."""
    text = _MASKED.sub("", text)
    if match := re.fullmatch(r"(\d{2,3})(\*+|xx?|XX?)|(\d{3})0s", text):
        start = match[1] or match[3]
        return _between(int(start.ljust(4, "0")), 1, 12 * 10 ** (4 - len(start)))
    if re.fullmatch(_YEAR, text):
        return _between(int(text), 1, 12)
    if match := re.fullmatch(r"(\d{4})[-/ ]?[HhSs]([12])", text):
        return _between(int(match[1]), 6 * int(match[2]) - 5, 6)
    if match := re.fullmatch(r"(\d{4})[-/ ]?[Ww](\d{1,2})", text):
        return _week(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"(\d{4})[-/ ]?[Qq]([1-4])", text):
        return _between(int(match[1]), 3 * int(match[2]) - 2, 3)
    text = re.sub(r"^(\d{4})[Mm](\d{1,2})$", r"\1-\2", text)
    if re.fullmatch(_MONTH, text):
        parts = re.split(r"[-/.]", text)
        year, month = (int(part) for part in (parts if len(parts[0]) == 4 else parts[::-1]))
        return _between(year, month, 1) if 1 <= month <= 12 else None
    return None


def _between(year: int, month: int, months: int) -> _Ends | None:
    try:
        first = pd.Timestamp(year, month, 1)
        last = first + pd.DateOffset(months=months)
        return float(first.as_unit("ns").value), float(last.as_unit("ns").value) - 512  # a float before the next one
    except (ValueError, OverflowError):
        return None


def _week(year: int, week: int) -> _Ends | None:
    try:
        first = float(pd.Timestamp.fromisocalendar(year, week, 1).as_unit("ns").value)
    except (ValueError, OverflowError):
        return None
    return first, first + 7 * _DAY_NS - 512


def _day(text: str) -> _Ends:
    if re.fullmatch(_GERMAN_DAY, text):
        text = "-".join(part.zfill(2) for part in reversed(text.split(".")))
    try:
        first = float(pd.Timestamp(text).as_unit("ns").value)
    except (ValueError, OverflowError):
        return float("nan"), float("nan")
    return first, first + (_DAY_NS - 512 if len(text) == 10 else 0)


def whole_days(cells: pd.Series, like: pd.Series, beside: Found | None) -> Found | None:
    """Return dates without a time of day as the days that they stand for, besides other sets; None unless evident.

    It is evident where most real dates have a time, and that no released one has would happen by chance less than once
    in a million times. A day is that of the real clock.

    Example:
        >>> real = pd.Series(pd.date_range("2021-03-01 07:15", periods=40, freq="13h"))
        >>> found = whole_days(real.dt.normalize(), real, None)
        >>> found.words, pd.Timestamp(found.sets[0].high).ceil("s")
        ('22 days without the time', Timestamp('2021-03-02 00:00:00'))
    """
    if kind_of(like) != "dates" or isinstance(like.dtype, pd.CategoricalDtype) or cells.isna().all():
        return None
    dates, zone = typed(cells).cells, getattr(like.dtype, "tz", None)
    if isinstance(dates.dtype, pd.CategoricalDtype):
        dates = dates.astype(dates.cat.categories.dtype)
    if not types.is_datetime64_any_dtype(dates.dtype):
        return None
    dates, real = (in_zone_of(each, like).dropna() for each in (dates, like))
    real = real.dt.tz_localize(None)
    zones = [dates, dates if zone is None else dates.dt.tz_convert("UTC")]
    clocks = [each.dt.tz_localize(None).dt.as_unit("ns") for each in zones]
    days, share = next((d for d in clocks if d.eq(d.dt.normalize()).all()), None), real.eq(real.dt.normalize()).mean()
    by_chance = len(dates) * np.log(max(share, 1 / (len(real) + 1)))
    if days is None or len(days) < cells.notna().sum() or share >= _MOST_MULTIPLES or by_chance > np.log(CHANCE):
        return None
    which, levels = pd.factorize(days)
    if len(levels) * (len(levels) + real.nunique()) > _MOST_HELD:
        return None
    firsts, nexts = (_moments(pd.DatetimeIndex(levels) + pd.Timedelta(days=k), zone) for k in (0, 1))
    known = beside or Found(np.full(len(cells), -1), (), (), "")
    rows = known.rows.copy()
    rows[cells.notna().to_numpy()] = which + len(known.sets)
    sets = tuple(ValueSet(first, last - 512) for first, last in zip(firsts, nexts, strict=True))
    words = f"{len(sets):,} day{'s' if len(sets) > 1 else ''} without the time"
    told = " and ".join(each for each in (known.words, words) if each)
    return Found(rows, known.sets + sets, known.names + tuple(map(str, levels)), told)


def _moments(days: pd.DatetimeIndex, zone: Any) -> list[float]:
    """Return when days begin, in nanoseconds since 1970."""
    if zone is not None:
        days = days.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(len(days), dtype=bool))
    return [float(each) for each in days.as_unit("ns").asi8]


# Texts


def _of_texts(real: pd.Series, others: Iterable[str]) -> tuple[dict[str, ValueSet], str]:
    """Return what texts stand for that the real column does not have; lists of which it holds many are values."""
    levels: dict[str, None] = dict.fromkeys(sorted({str(level) for level in real.unique()}))
    known, begun = [*levels], 0
    lists = [mark for mark in _BESIDE for level in known if mark in level and _parts(level, levels, (mark,))]
    own = [mark for mark in {*lists} if lists.count(mark) >= max(_FEWEST, _OF_LISTS * len(known))]
    marks = [mark for mark in _BESIDE if mark not in own]
    found: dict[str, ValueSet] = {}
    left: dict[str, int] = {}
    for text in others:
        match = _BEGUN.fullmatch(text)
        if match and (start := next(filter(None, match.groups()))) and _beginning_with(start, known):
            found[text] = ValueSet(prefix=start)
            begun += 1
        elif parts := _parts(text, levels, _BESIDE if text[:1] in ("{", "[", "(") else marks):
            found[text] = ValueSet(texts=parts)
        elif not any(mark in text for mark in own):
            left[text] = _beginning_with(text, known) if text else 0
    digits = sum(any(letter.isdigit() for letter in level) for level in known)
    if len(left) >= _FEWEST and all(left.values()) and sum(left.values()) >= 2 * len(left) and 2 * digits > len(known):
        found |= {text: ValueSet(prefix=text) for text in left}
        begun += len(left)
    return found, "beginnings of texts" if begun == len(found) else "sets of texts"


def _beginning_with(start: str, known: list[str]) -> int:
    """Return how many of some sorted texts begin so."""
    return bisect_right(known, start + chr(0x10FFFF)) - bisect_left(known, start)


def _parts(text: str, known: Container[str], marks: Iterable[str]) -> tuple[str, ...]:
    """Return the real texts that stand side by side in a text; none where it is no such list."""
    inner = text.strip("{}[]()")
    for mark in marks:
        parts = [part.strip() for part in inner.split(mark)]
        if len(parts) > 1 and all(part in known for part in parts):
            return tuple(parts)
    return ()


# What stands in the cells


def values_for(sets: Iterable[ValueSet], like: pd.Series, exact: Iterable[float]) -> Iterator[float]:
    """Yield a number for each set of numbers or dates: in its middle, as fine as the real ones, and another for each.

    Ends beyond the real values are taken as theirs. ``exact`` are numbers that stand for themselves.

    Example:
        >>> [*values_for([ValueSet(30, 39), ValueSet(high=39)], pd.Series([20, 31, 56]), [])]
        [34.0, 30.0]
    """
    real = as_floats(levels_of(like))
    real = real[np.isfinite(real)]
    step, taken = Grid.of(levels_of(like)).step, {float(value) for value in exact}
    codes = set(real.tolist()) if isinstance(like.dtype, pd.CategoricalDtype) else set()  # a set is no code
    precision = precision_of(like).type
    for own in sets:
        low, high = _ends_among(own, real)
        middle = (low + high) / 2
        beside = (middle + (k + 0.5) * 1e-4 * max(abs(middle), 1) for k in count())
        tried = (float(precision(each)) for each in chain(_tried(middle, step or 1.0, low, high), beside))
        value = next(each for each in tried if each not in taken and each not in codes)
        taken.add(value)
        yield value


def _ends_among(own: ValueSet, real: np.ndarray) -> tuple[float, float]:
    """Return the ends of a set within the real values; where it lies outside of these, its own."""
    least, largest = (real.min(), real.max()) if len(real) else (own.low, own.high)
    low, high = (float(np.clip(end, least, largest)) for end in (own.low, own.high))
    if low <= high and own.low <= (low + high) / 2 <= own.high:
        return low, high
    low = own.low if np.isfinite(own.low) else own.high
    return low, own.high if np.isfinite(own.high) else low


def _tried(middle: float, step: float, low: float, high: float) -> Iterator[float]:
    """Yield the numbers of a grid around a middle, within two ends, the nearest first."""
    start = np.round(middle / step)
    for k in range(200):
        for side in (-1, 1) if k else (1,):
            value = float((start + side * k) * step)
            if low <= value <= high:
                yield value
