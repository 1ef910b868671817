"""How the numbers of a column are written: decimal mark, mark between thousands, unit."""

import re
from dataclasses import dataclass

import pandas as pd

from synthrisk.conf.reading import Reading
from synthrisk.tasks.propose.cells import Cells
from synthrisk.tasks.propose.names import says
from synthrisk.tasks.workspace.folded import folded
from synthrisk.tasks.workspace.readings import number_pattern, read_as

_SYMBOLS = "€ $ £ ¥ ₽ ₺ ₹ % ‰ ° °C °F zł Kč R$ US$ A$ C$ 円 元 万円 руб руб. 歳 才 岁"
_UNITS = """
eur euro euros usd chf fr gbp pln zl sek nok dkk kr huf ft czk kc rub tl try kg g mg lb lbs cm mm m km mi
miles l ml dl  years year yrs y jahre jahr j ans an anos ano anni anno lat jaar ar months month monate monat
mois mesi meses  weeks wochen days day tage tag jours dias giorni d h hrs hours hour std stunden heures horas
ore min minutes minuten  mg/dl mmol/l mmhg bpm kcal kwh m2 m² qm kg/m2 kg/m² c f percent prozent pct
""".split()  # noqa: SIM905 - a list of words
_MARKS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_AROUND = re.compile(
    r"^[+\-−]?\s*(?P<before>[^\d\s.,'’+\-−]{1,6})?\s*[+\-−]?\d[\d.,'’\s\u00a0\u202f]*(?P<after>[^\d\s.,'’][^\s]{0,8})?$"
)
_GROUPS = {",": re.compile(r"[1-9]\d{0,2}(,\d{3})+"), ".": re.compile(r"[1-9]\d{0,2}(\.\d{3})+")}
_ROUND = 0.3  # share of round amounts from which marked groups are thousands


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written."""

    reading: Reading
    fits: pd.Series  # whether each distinct text is such a number
    question: str = ""  # what cannot be told from the cells
    other: Reading | None = None  # the other answer to the question


def number_form(cells: Cells, enough: float, decimal: str = "") -> NumberForm | None:
    """Return how the numbers of a column are written, if at least a share ``enough`` of its cells are numbers.

    ``decimal`` is the decimal mark of other columns, where they tell it.
    """
    texts = cells.texts
    unit = _unit(cells, enough)
    if unit is None:
        return None
    forms = []
    for mark, thousands in _MARKS:
        reading = _reading(mark, thousands, unit)
        fits = texts.str.fullmatch(number_pattern(reading).pattern)
        if cells.share(fits) >= enough:
            forms.append(NumberForm(reading, fits))
    if not forms:
        return None
    best = max(cells.share(form.fits) for form in forms)
    forms = [form for form in forms if cells.share(form.fits) == best]
    return _settled(cells, forms, decimal)


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
    around = cells.texts.str.extract(_AROUND)
    units = around["before"].fillna("").str.cat(around["after"].fillna(""))
    if cells.share(units == "") >= enough:
        return ""
    found = pd.Series(cells.counts.to_numpy()).groupby(units.to_numpy()).sum().drop("", errors="ignore")
    unit = str(found.idxmax())
    word = folded(unit).rstrip(".")
    numbered = len(word) == 1 and bool((around["before"] == unit).any())  # F123 is a number of something, no amount
    known = unit in _SYMBOLS.split() or (word in _UNITS and not numbered)
    return unit if known and found[unit] >= enough * found.sum() else None


def _settled(cells: Cells, forms: list[NumberForm], decimal: str) -> NumberForm:
    """Return the first form that fits, unless its marks may stand between thousands as well."""
    first = forms[0]
    mark = first.reading.decimal
    marked = cells.texts[cells.texts.str.contains(mark, regex=False)]
    swapped = [f for f in forms if f.reading.thousands == mark]
    bare = marked.str.replace(r"[^\d.,]", "", regex=True)
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
    return (
        mark == ","
        or len(plain) > 0
        or rounded
        or says(cells.name, "sensitive", "money")
        or says(cells.name, "counted")
    )
