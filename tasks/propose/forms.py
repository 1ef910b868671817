"""How the cells of a column are written: their distinct texts, the form of numbers, and that of dates."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.propose.names import says
from synthrisk.tasks.workspace.files.cell_forms import LIMITS
from synthrisk.tasks.workspace.files.cell_texts import MARKS, OR, folded, number_pattern, read_as, texts_of

_COMMON = 0.1  # share of the cells that a form must have to be shown, so that no rare cell is
_FEWEST = 5  # and how many cells


@dataclass(frozen=True)
class Cells:
    """The cells of one column as texts, blanks around them taken away."""

    name: str
    counts: pd.Series  # cells of each distinct text that is neither empty nor blank, most frequent first
    blank: int  # cells that hold blanks alone
    empty: int  # cells that hold nothing

    @classmethod
    def of(cls, column: pd.Series) -> "Cells":
        """Return the cells of a column; numbers and other values as their texts."""
        texts = texts_of(column)
        stripped = texts.str.strip()
        blank = int((stripped == "").sum())
        counts = stripped[stripped.notna() & (stripped != "")].value_counts()
        counts = counts.sort_index().sort_values(ascending=False, kind="stable")
        return cls(str(column.name), counts, blank, int(texts.isna().sum()))

    @cached_property
    def filled(self) -> int:
        """How many cells hold something."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return self.filled + self.blank + self.empty

    @property
    def texts(self) -> pd.Series:
        """The distinct texts."""
        return pd.Series(self.counts.index, dtype="string")

    def without(self, texts: Iterable[str]) -> "Cells":
        """Return the column with some texts counted as empty."""
        left_out = self.counts.index.isin(list(texts))
        gone = int(self.counts[left_out].sum())
        return Cells(self.name, self.counts[~left_out], self.blank, self.empty + gone)

    def share(self, fits: pd.Series) -> float:
        """Return the share of filled cells whose text fits; ``fits`` is told of each distinct text."""
        fitting = self.counts.to_numpy()[fits.fillna(False).to_numpy(bool)].sum()
        return float(fitting / self.filled) if self.filled else 0.0

    @property
    def form(self) -> str:
        """The commonest form of the cells, 9 for a digit and a for a letter; empty where no form is common."""
        masked = self.texts.map(mask)
        forms = pd.Series(self.counts.to_numpy()).groupby(masked.to_numpy()).sum().sort_values(ascending=False)
        if not len(forms) or forms.iloc[0] < max(_FEWEST, _COMMON * self.filled):
            return ""
        return str(forms.index[0])


def mask(text: str) -> str:
    """Return the form of a text: 9 for each digit, a and A for letters.

    Example:
        >>> mask("05.06.1966"), mask("Zürich 8a")
        ('99.99.9999', 'Aaaaaa 9a')
    """
    digits = re.sub(r"\d", "9", text)
    return "".join("A" if c.isupper() else "a" if c.isalpha() else c for c in digits)


_SYMBOLS = "€ $ £ ¥ ￥ ₽ ₺ ₹ ₪ ₩ ₫ ₴ k€ K€ T€ M€ % ‰ ° °C °F zł Kč R$ US$ A$ C$ 円 元 万円 원"
_SYMBOLS += " руб руб. грн 歳 才 岁 세 лет года"
_UNITS = """
eur euro euros usd chf fr rs inr gbp pln zl sek nok dkk kr huf ft czk kc rub tl try kg g mg lb lbs cm mm m km mi
miles l ml dl  rp cad aud sar aed years year yrs y jahre jahr j ans an anos ano anni anno lat jaar ar months month
monate monat mois mesi meses  weeks wochen days day tage tag jours dias giorni d h hrs hours hour std stunden heures
horas ore in min minutes minuten mins sec secs  gb mb tb km/h kmh mph pts pkt  iu/l u/l ng/ml pg/ml g/l g/dl mg/l ug/l
mmol/mol ml/min mg/dl mmol/l mmhg bpm kcal kwh m2 m² sqft m3 m³ qm kg/m2 kg/m² c f percent prozent pct bp bps
""".split()  # noqa: SIM905 - a list of words
_BEFORE = "eur usd chf rs inr gbp pln zl sek nok dkk kr huf czk kc rub tl try rp cad aud sar aed".split()  # noqa: SIM905
_NO_CODE = "(?!代|以|未|号|番|組|丁|대|호|번|반|(?:bis|ter|th|er)$)"  # decades, limits, and what is numbered
_OUT_OF = re.compile(r"/(?:5|10|20|30|50|100)")  # what a mark or rating is out of: 8.5/10
_FEW_STAGES = 10  # distinct texts up to which a number and the same with a mark, 3 and 3+, are two stages
_AROUND = re.compile(
    r"^[+\-−]?\s*(?P<before>[^\W\d_]{1,5}\.(?=\s*\d)|[^\d\s.,'’+\-−]{1,6})?"
    r"\s*[+\-−]?\d[\d.,'’\s\u00a0\u202f]*(?P<after>[^\d\s.,'’][^\s]{0,8})?$"
)
_POWER = re.compile(r"(?<=[\d.,])[eE][+-]\d+(?=\D*$)")  # 1e+05; 12E5 is rather a code
_BELOW = re.compile(r"^\((?=.*\d\D*\)$)|\)$|(?<=\d)[\-−](?=\s*\D*$)")  # (1.50), 1.50-
_GROUPS = {",": re.compile(r"[1-9]\d{0,2}(,\d{3})+"), ".": re.compile(r"[1-9]\d{0,2}(\.\d{3})+")}
_ROUND = 0.3  # share of round amounts from which marked groups are thousands


class NumberForm(NamedTuple):
    """How numbers are written."""

    reading: Reading
    fits: pd.Series  # whether each distinct text is such a number
    question: str = ""  # what cannot be told from the cells
    other: Reading | None = None  # the other answer to the question


def number_form(cells: Cells, enough: float, decimal: str = "") -> NumberForm | None:
    """Return how the numbers of a column are written, if at least a share ``enough`` of its cells are numbers.

    ``decimal`` is the decimal mark of other columns, where they tell it.
    """
    unit = _unit(cells, enough)
    if unit is None:
        return None
    found = _number_form(cells, enough, decimal, unit)
    limited = found is not None and unit in LIMITS and _are_limits(cells, found)
    return found if limited or unit not in LIMITS else _number_form(cells, enough, decimal, "")


def _are_limits(cells: Cells, form: NumberForm) -> bool:
    """Tell whether the numbers behind or before a mark such as + are at the end of all others that the mark names.

    3 and 3+ among few whole numbers are stages, of which each is a category.
    """
    numbers, mark = values(cells, form), form.reading.unit
    at_limit = numbers.index.str.contains(mark, regex=False)
    both = bool(numbers[at_limit].isin(numbers[~at_limit]).any())
    if both and len(numbers) <= _FEW_STAGES and (numbers % 1 == 0).all():
        return False
    if mark in ("<", "<=", "≤"):
        return bool(numbers[at_limit].max() <= numbers[~at_limit].min())
    return bool(numbers[at_limit].min() >= numbers[~at_limit].max())


def _number_form(cells: Cells, enough: float, decimal: str, unit: str) -> NumberForm | None:
    texts = cells.texts
    forms = []
    for mark, thousands in MARKS:
        reading = _reading(mark, thousands, unit)
        fits = texts.str.fullmatch(number_pattern(reading).pattern)
        if cells.share(fits) >= enough:
            forms.append(NumberForm(reading, fits))
    if not forms:
        return None
    best = max(cells.share(form.fits) for form in forms)
    forms = [form for form in forms if cells.share(form.fits) == best]
    return _settled_number(cells, forms, decimal)


def decimal_mark(cells: Cells) -> str:
    """Return the decimal mark that the numbers of a column are sure to have; empty where they tell none."""
    for mark, other in ((",", "."), (".", ",")):
        sure = rf"[+\-−]?\d{{1,3}}(?:[{other} '’]?\d{{3}})*[{mark}](?:\d{{1,2}}|\d{{4,}})"
        fits = cells.texts.str.fullmatch(sure)
        if fits.any() and not cells.texts[~fits].str.contains(mark, regex=False).any():
            return mark
    return ""


def values(cells: Cells, form: NumberForm) -> pd.Series:
    """Return the number of each distinct text that is one."""
    fitting = cells.texts[form.fits.to_numpy(bool)]
    return read_as(fitting, form.reading).astype(float).set_axis(fitting.to_numpy())


def _reading(decimal: str, thousands: str, unit: str) -> Reading:
    said = {"decimal": decimal} if decimal != "." else {}
    said |= {"thousands": thousands} if thousands else {}
    return Reading.model_validate({"type": "number", **said, **({"unit": unit} if unit else {})})


def _unit(cells: Cells, enough: float) -> str | None:
    """Return the one unit of a column; empty where there is none, None where there are several or what is none."""
    around = cells.texts.str.replace(_POWER, "", regex=True).str.replace(_BELOW, "", regex=True).str.extract(_AROUND)
    units = around["before"].fillna("").str.cat(around["after"].fillna(""))
    marked = units.isin(LIMITS)
    if 0 < 2 * marked.sum() <= (units == "").sum():
        return str(units[marked].iloc[0])
    if cells.share(units == "") >= enough:
        return ""
    found = pd.Series(cells.counts.to_numpy()).groupby(units.to_numpy()).sum().drop("", errors="ignore")
    unit = str(found.idxmax())
    word = folded(unit).rstrip(".")
    numbered = _is_numbered(cells.texts[around["before"].eq(unit).fillna(False).to_numpy(bool)], word)
    known = unit in _SYMBOLS.split() or (word in _UNITS and not numbered) or _is_out_of(cells.texts, unit)
    plain = cells.texts.str.fullmatch(rf"(?:0|0?[.,]\d+|[1-9][\d.,' ]*) ?{re.escape(unit)}").all()
    known = known or bool(plain and is_any_unit(unit, cells))
    return unit if known and found[unit] >= enough * found.sum() else None


def is_any_unit(unit: str, cells: Cells) -> bool:
    """Tell whether what stands behind all numbers may be a unit that is not known: 70点, 92/min; not 12A, 30代."""
    words = rf"{_NO_CODE}(?:/?[a-zß-ÿµμ]{{3,8}}\.?|[^\W\d_]{{1,5}}/[^\W\d_]{{2,8}}|[^\x00-\u02ff\W\d_]{{1,4}})"
    after_blank = r"[A-ZÄ-Þ][a-zß-ÿ]{2,8}\.?"
    known = unit in _SYMBOLS.split() or folded(unit).rstrip(".") in _UNITS
    behind = cells.texts.str.contains(r"^(?!\d{4}).*\d ", regex=True).all() and re.fullmatch(after_blank, unit)
    return not known and bool(behind or re.fullmatch(words, unit))


def _is_numbered(texts: pd.Series, word: str) -> bool:
    """Tell whether a word before numbers is that of codes, and no unit: F123, MB-89, SAR 007; not EUR -7.50."""
    if not len(texts) or texts.str.fullmatch(r"\D*[^\W_]-\d+").all():
        return bool(len(texts))
    short, padded, beside = len(word) < 4, r".*[^\W\d_]\.?[\s-]*0\d", r"\W*[^\W\d_]+\d"
    joined = len(word) == 1 or (short and texts.str.match(beside).any())
    return bool((short and texts.str.match(padded).any()) or (word not in _BEFORE and joined))


def _is_out_of(texts: pd.Series, unit: str) -> bool:
    """Tell whether all cells are marks out of the same most, as 48/100: not 120/80, and not 3/10 among 3/4."""
    if not _OUT_OF.fullmatch(unit):
        return False
    marks = pd.to_numeric(texts.str.removesuffix(unit).str.replace(",", "."), errors="coerce")
    return bool(texts.str.endswith(unit).all() and marks.between(0, int(unit[1:])).all())


def _settled_number(cells: Cells, forms: list[NumberForm], decimal: str) -> NumberForm:
    """Return the first form that fits, unless its marks may stand between thousands as well."""
    first = forms[0]
    mark = first.reading.decimal
    amounts = cells.texts.str.replace(first.reading.unit, "", regex=False)  # Rs. has a mark of its own
    marked = cells.texts[amounts.str.contains(mark, regex=False)]
    swapped = [f for f in forms if f.reading.thousands == mark]
    bare = amounts[marked.index].str.replace(r"[^\d.,]", "", regex=True)
    if first.reading.thousands or not len(marked) or not swapped or not bare.str.fullmatch(_GROUPS[mark].pattern).all():
        return first
    question = f"is {mark!r} the decimal mark, or does it stand between thousands?"
    second = swapped[0]
    grouped = _are_thousands(cells, marked, mark, decimal)
    chosen, other = (second, first) if grouped else (first, second)
    sure = decimal not in ("", mark) if grouped else decimal == mark
    return chosen if sure else NumberForm(chosen.reading, chosen.fits, question, other.reading)


def _are_thousands(cells: Cells, marked: pd.Series, mark: str, decimal: str) -> bool:
    """Tell whether marks before three digits rather stand between thousands."""
    if decimal:
        return decimal != mark
    plain = cells.texts[~cells.texts.isin(marked)].str.replace(r"\D", "", regex=True)
    if (plain.str.len() > 3).any():
        return False
    rounded = float(marked.str.replace(r"\D+$", "", regex=True).str.endswith("0").mean()) > _ROUND
    is_amount = says(cells.name, "sensitive", "money") or says(cells.name, "counted")
    return mark == "," or len(plain) > 0 or rounded or is_amount


_ISO = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z| ?[+-]\d{2}(?::?\d{2})?)?)?"
_ISO_8601 = "ISO8601"
_LOOKS, _FORMS = 6, 3  # of a column that are looked at, and ways to write dates that it may have beside each other
_CLOCKS = {  # a time behind a date, after a blank, a comma, a T or a word
    r"\d{1,2}:\d{2}": "%H:%M",
    r"\d{1,2}h\d{2}": "%Hh%M",
    r"\d{1,2} h \d{2}": "%H h %M",
    r"\d{1,2}\.\d{2}": "%H.%M",
    r"\d{1,2}\.\d{2}\.\d{2}": "%H.%M.%S",
    r"\d{1,2}\.\d{2}\.\d{2}\.\d{1,9}": "%H.%M.%S.%f",
    r"\d{1,2}:\d{2}:\d{2}": "%H:%M:%S",
    r"\d{1,2}:\d{2}:\d{2}\.\d{1,9}": "%H:%M:%S.%f",
    r"\d{1,2}:\d{2} ?[APap][Mm]": "%I:%M{}%p",
    r"\d{1,2}:\d{2}:\d{2} ?[APap][Mm]": "%I:%M:%S{}%p",
}
_TIME = re.compile(  # 2023-01-05-14.30.00 as DB2 writes, 5.1.2023 um 14:30
    r"(?P<date>.*?\d)(?P<mark>T|,? |-(?=\d\d\.\d\d\.)| (?:à|às|a las|alle|um|at|kl\.?|om|[-–]) )"
    r"(?P<clock>\d{1,2}(?::\d{2}.*?| ?h ?\d{2}|\.\d{2}(?:\.\d{2}.*?)?))(?P<tail> UTC| Uhr| uur| h|)"
)
_NUMBERS = re.compile(r"(\d{1,2})(\. ?|[/\- ])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_SLASH = re.compile(r"\d{1,2}/\d{1,2}-(\d{4}|\d{2})")  # as Danes write: 26/3-2021
_IDEOGRAPHS = re.compile(r"\d{4}([年년] ?)\d{1,2}([月월])(?:( ?)\d{1,2}([日일]))?")
_WEEKDAY = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)((?:s|nes|rs|ur)?day)?([,.]? )(.+)")
_YEAR_WORD = re.compile(r"\d{4}([ .\-/])[^\W\d_]{3,}([ .\-/])\d{1,2}")
_OF_DAY = re.compile(r"\d{1,2}([:h.])\d{2}(:\d{2})?(?:( ?)[AaPp][Mm]|( ?Uhr| uur|h))?")
_YEAR_FIRST = re.compile(r"(\d{4})(\. ?|[/\-])(\d{1,2})\2(\d{1,2})(\.?)")
_MONTHS = re.compile(r"(\d{1,2})([./\-])(\d{4})|(\d{4})([./\-])(\d{1,2})")
_WORDS = (
    re.compile(r"(?P<d>\d{1,2})(?P<s>\.? ?-?/?)[^\W\d_]{3,}\.?(?P<t>,? ?-?/?)(?P<y>\d{4}|\d{2})"),
    re.compile(r"[^\W\d_]{3,}\.?(?P<s>[ .\-/]+)(?P<d>\d{1,2})(?P<t>,? ?-?/?)(?P<y>\d{4})"),
    re.compile(r"[^\W\d_]{3,}\.?(?P<s>[ .\-/]+)(?P<y>\d{4})"),
    re.compile(r"[^\W\d_]{3,}\.?(?P<s>-| ?')(?P<y>\d{2})"),  # as Excel writes months: Sep-04
)
_FIRST, _LAST = 1850, 2100  # years that eight digits may begin with
_LAST_DAY = 28  # of every month; last parts that reach it may be days
_FAR_YEAR = r"(?:2[3-9]\d\d|[3-8]\d{3})"  # whose first and last day mean no end
_NO_DATE = re.compile(  # of the years 0000 and 9999, of the day 00, or all of one digit with a year of four
    rf"(?:(9999|0000)[./\-]?\d\d[./\-]?\d\d|\d\d[./\-]?\d\d[./\-]?(9999|0000)|00[./\-]?00[./\-]?\d\d(\d\d)?"
    rf"|{_FAR_YEAR}[./\-]?(?:12[./\-]?31|01[./\-]?01)|(?:31[./\-]?12|12[./\-]?31|01[./\-]?01)[./\-]?{_FAR_YEAR}"
    r"|(\d)\4[./\-]?\4\4[./\-]?\4{4}|(\d)\5{3}[./\-]?\5\5[./\-]?\5\5)(?:[T ](?:00|23):[\d:.]+Z?)?"
)


class DateForm(NamedTuple):
    """How dates are written."""

    reading: Reading | None  # None where they are ISO 8601, which needs no reading
    fits: pd.Series  # whether each distinct text is such a date
    question: str = ""  # what cannot be told from the cells
    other: Reading | None = None  # the other answer to the question


def date_form(cells: Cells, enough: float) -> DateForm | None:
    """Return how the dates of a column are written, if at least a share ``enough`` of its cells are dates."""
    texts = cells.texts
    fits = {form: _are_dates(texts, form) for form in _candidates(texts)}
    found: list[_Format] = []
    orders: set[str] = set()
    left = pd.Series(True, index=texts.index)
    while fits and len(found) < _FORMS:
        shares = {form: cells.share(fit & left) for form, fit in fits.items()}
        alike = [form for form in fits if shares[form] == max(shares.values()) > 0]
        if not alike:
            break
        read = fits[alike[0]] & left
        found.append(_settled_date(texts[read], alike))
        left &= ~read
        orders |= set() if found[-1].question else {_order(found[-1].chosen)}
        fits = {form: fit for form, fit in fits.items() if _may_stand_beside(form, alike[0])}
        fits = {form: fit for form, fit in fits.items() if len({_order(form), *orders} - {""}) < 2}
    if cells.share(~left) < enough or not found:
        return None
    if [form.chosen for form in found] == [_ISO_8601] and not left.any():
        return DateForm(None, ~left)
    found = _in_one_order(found)
    question = next((form.question for form in found if form.question), "")
    reading = Reading(type="date", format=OR.join(form.chosen for form in found))
    other = Reading(type="date", format=OR.join(form.other for form in found)) if question else None
    return DateForm(reading, ~left, question, other)


def _may_stand_beside(form: str, other: str) -> bool:
    """Tell whether two formats may be of one column: not day and month in another order, or months without a day."""
    days = [each == _ISO_8601 or "%d" in each for each in (form, other)]
    return sorted(form) != sorted(other) and days[0] == days[1]


def _order(form: str) -> str:
    """Return whether the day or the month comes first where both are numbers before the year; empty elsewhere."""
    both = form[:2].lower() != "%y" and "%d" in form and "%m" in form
    return min("%d", "%m", key=form.find) if both else ""


def _in_one_order(found: list["_Format"]) -> list["_Format"]:
    """Return formats of which those that leave day and month open follow the one that does not, or the first."""
    settled = next((order for form in found if not form.question and (order := _order(form.chosen))), "")
    right = settled or next(filter(None, (_order(form.chosen) for form in found)), "")
    made = []
    for form in found:
        if form.question and {_order(form.chosen), _order(form.other)} == {"%d", "%m"}:
            chosen, other = sorted((form.chosen, form.other), key=lambda each: _order(each) != right)
            form = _Format(chosen, chosen) if settled else _Format(chosen, other, form.question)
        made.append(form)
    return made


def no_dates(cells: Cells) -> list[str]:
    """Return the texts of a column of dates that stand for no date: 00.00.0000, 9999-12-31."""
    return [text for text in cells.counts.index if _NO_DATE.fullmatch(text)]


def _candidates(texts: pd.Series) -> Iterator[str]:
    """Yield the formats that the commonest looks of a column have."""
    looks = texts[~texts.map(mask).duplicated()].head(_LOOKS)
    for typical in map(str, looks):
        if re.fullmatch(_ISO, typical):
            yield _ISO_8601
            continue
        if found := _OF_DAY.fullmatch(typical):
            yield from _times_of_day(found)
        timed = _TIME.fullmatch(typical)
        for form in _date_formats(timed["date"] if timed else typical):
            yield form + (_time_format(timed) if timed else "")


def _times_of_day(found: re.Match[str]) -> Iterator[str]:
    """Yield the format of a time of the day that says so: 8:45 PM, 16h47, 15.43 Uhr; not of 8:45 and 1.50h."""
    mark, seconds, half, tail = found.groups()
    if (mark, tail) == (".", "h"):
        return
    if half is not None and mark == ":":
        yield f"%I:%M{':%S' if seconds else ''}{half}%p"
    elif half is None and (mark == "h") == (tail is None) and not (mark == "h" and seconds):
        yield f"%H{mark}%M{':%S' if seconds else ''}{tail or ''}"


def _time_format(timed: re.Match[str]) -> str:
    """Return the format of the time behind a date; what is none fits no cell."""
    clock = next((form for pattern, form in _CLOCKS.items() if re.fullmatch(pattern, timed["clock"])), "%H")
    return timed["mark"] + clock.format(" " if " " in timed["clock"] else "") + timed["tail"]


def _date_formats(date: str) -> Iterator[str]:
    if date.endswith(" r."):  # of a year, in Polish
        yield from (f"{form} r." for form in _date_formats(date.removesuffix(" r.")))
    if found := _NUMBERS.fullmatch(date):
        mark, year = found[2], "%Y" if len(found[4]) == 4 else "%y"
        yield f"%d{mark}%m{mark}{year}"
        if mark in "/-":
            yield f"%m{mark}%d{mark}{year}"
        if year == "%y":
            yield f"%y{mark}%m{mark}%d"
    if found := _YEAR_FIRST.fullmatch(date):
        yield f"%Y{found[2]}%m{found[2]}%d{found[5]}"
    if found := _DAY_SLASH.fullmatch(date):
        yield "%d/%m-%Y" if len(found[1]) == 4 else "%d/%m-%y"
    if found := _IDEOGRAPHS.fullmatch(date):
        yield f"%Y{found[1]}%m{found[2]}" + (f"{found[3]}%d{found[4]}" if found[4] else "")
    if found := _WEEKDAY.fullmatch(date):
        yield from (f"%{'A' if found[2] else 'a'}{found[3]}{form}" for form in _date_formats(found[4]))
    if found := _YEAR_WORD.fullmatch(date):
        yield f"%Y{found[1]}%b{found[2]}%d"
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
    if form.startswith("%b") and form.endswith("%y") and dates.dt.month.nunique() < 2:  # MAR-01 is rather a code
        return read
    return dates.notna() & plausible


class _Format(NamedTuple):
    """One format of dates; where two fit alike, the likelier, and the question which it is."""

    chosen: str
    other: str
    question: str = ""


def _settled_date(texts: pd.Series, alike: list[str]) -> _Format:
    parts = texts.str.extract(r"^(\d{1,2})\D+(\d{1,2})\D+(\d{1,2})").astype(float)
    first, second, third = parts.nunique()
    year = "is the year at the beginning or at the end?"
    if len(alike) > 1 and alike[-1].startswith("%y"):  # no first part is above 31, which would tell a year
        *alike, year_first = alike
        if parts[2].max() >= _LAST_DAY and first < 2 * third:
            many_days = third >= max(_LAST_DAY, 2 * first)
            return _Format(year_first, alike[0], year) if many_days else _Format(alike[0], year_first, year)
    form, *others = alike
    if not others:
        return _Format(form, form)
    if form.startswith("%Y"):
        return _Format(form, others[0], year)
    question = f"does the day come first ({form}) or the month ({others[0]})?"
    if 1 == second < first <= 12:  # the same day in every month
        return _Format(others[0], form, question)
    return _Format(form, others[0], question)
