"""Cells read as a study says: dates by their format, months and yes and no in many languages, numbers to the last bit.

Columns get the type of their cells; cells that mean "missing" become missing.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.release.columns import folded as as_level
from synthrisk.tasks.workspace.files.cell_forms import as_clocks, with_seconds, written_out

_PLAIN = str.maketrans("łøđıð–—−", "lodid---") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})


def folded(text: str) -> str:
    """Return a text in small letters without accents.

    Example:
        >>> folded("Płeć"), folded("Größe"), folded("ÂGE"), folded("나이")
        ('plec', 'grosse', 'age', '나이')
    """
    parts = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(letter for letter in parts if not unicodedata.combining(letter)))


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""As ``in_english`` writes them."""
_NAMES = (  # English, German, Romance, Dutch, Nordic, Polish, Czech; Russian, Turkish, Hungarian, Finnish, Greek
    "january januar janner janvier enero gennaio janeiro januari styczen stycznia leden ledna "
    "январь января ocak ianuarie tammikuu tammikuuta ιανουαριος ιανουαριου",
    "february februar feber fevrier febrero febbraio fevereiro februari luty lutego unor unora "
    "февраль февраля subat februarie helmikuu helmikuuta φεβρουαριος φεβρουαριου",
    "mar march marz maerz mars marzo marco maart marts marzec marca mrz brezen brezna "
    "март марта mart marcius martie maaliskuu maaliskuuta μαρτιος μαρτιου",
    "april avril abril aprile avr kwiecien kwietnia duben dubna "
    "апрель апреля nisan aprilis aprilie huhtikuu huhtikuuta απριλιος απριλιου",
    "may mai mayo maggio maio mei maj maja kveten kvetna май мая mayis majus toukokuu toukokuuta μαιος μαιου",
    "june juni juin junio giugno junho czerwiec czerwca cerven cervna "
    "июнь июня haziran junius iunie kesakuu kesakuuta ιουνιος ιουνιου",
    "july juli juillet julio luglio julho lipiec lipca cervenec cervence "
    "июль июля temmuz julius iulie heinakuu heinakuuta ιουλιος ιουλιου",
    "august aout agosto augustus augusti sierpien sierpnia srpen srpna "
    "август августа agustos augusztus elokuu elokuuta αυγουστος αυγουστου",
    "september septembre septiembre setiembre settembre setembro wrzesien wrzesnia zari "
    "сентябрь сентября eylul szeptember septembrie syyskuu syyskuuta σεπτεμβριος σεπτεμβριου",
    "october oktober octobre octubre ottobre outubro pazdziernik pazdziernika rijen rijna "
    "октябрь октября ekim octombrie lokakuu lokakuuta οκτωβριος οκτωβριου",
    "november novembre noviembre novembro listopad listopada listopadu "
    "ноябрь ноября kasim noiembrie marraskuu marraskuuta νοεμβριος νοεμβριου",
    "december dezember decembre diciembre dicembre dezembro desember grudzien grudnia prosinec prosince "
    "декабрь декабря aralik decembrie joulukuu joulukuuta δεκεμβριος δεκεμβριου",
)
_KNOWN = {folded(name): month for month, names in zip(MONTHS, _NAMES, strict=True) for name in names.split()}
_WORD = re.compile(r"[^\W\d_]+\.?")
_SHORTEST = 3  # letters that a name may be cut to


def in_english(date: str) -> str:
    """Return a date whose month is in English, three letters; what is no month of a known language stays.

    Example:
        >>> in_english("5. März 1966"), in_english("12-août-2021"), in_english("18 ŞUB 1971")
        ('5. Mar 1966', '12-Aug-2021', '18 Feb 1971')
    """
    return _WORD.sub(lambda found: _month(found[0]) or found[0], date)


@lru_cache(maxsize=1024)
def _month(word: str) -> str | None:
    name = folded(word.rstrip("."))
    if name in _KNOWN or len(name) < _SHORTEST:
        return _KNOWN.get(name)
    meant = {month for known, month in _KNOWN.items() if known.startswith(name)}
    return meant.pop() if len(meant) == 1 else None


PAIRS = (  # what is true, what is false: folded
    ("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("wahr", "falsch"),
    ("oui", "non"), ("o", "n"), ("vrai", "faux"), ("si", "no"), ("s", "n"), ("verdadero", "falso"), ("vero", "falso"),
    ("sim", "nao"), ("verdadeiro", "falso"), ("ja", "nee"), ("waar", "onwaar"), ("ja", "nej"), ("ja", "nei"),
    ("tak", "nie"), ("prawda", "falsz"), ("ano", "ne"), ("kylla", "ei"), ("igen", "nem"), ("evet", "hayir"),
    ("jah", "ei"), ("taip", "ne"), ("ja", "ne"), ("da", "nu"), ("ya", "tidak"), ("co", "khong"), ("ναι", "οχι"),
    ("да", "нет"), ("так", "ні"), ("да", "не"), ("예", "아니오"), ("예", "아니요"), ("네", "아니요"), ("نعم", "لا"),
    ("כן", "לא"), ("はい", "いいえ"), ("是", "否"), ("有", "无"), ("有", "無"), ("+", "-"), ("1", "0"), ("1.0", "0.0"),
    ("on", "off"), ("x", "-"), ("✓", "✗"), ("✔", "✘"), ("☑", "☐"), (".true.", ".false."), ("present", "absent"),
    ("positive", "negative"), ("positiv", "negativ"), ("positif", "negatif"), ("pos", "neg"), ("checked", "unchecked"),
    ("active", "inactive"), ("enabled", "disabled"), ("smoker", "non-smoker"), ("raucher", "nichtraucher"),
)  # fmt: skip


def truth_words(texts: Sequence[str]) -> Reading | None:
    """Return how a column of two answers, yes and no, is read; None where it is no such column.

    Example:
        >>> found = truth_words(["Ja", "nein", "NEIN"])
        >>> found.true_values, found.false_values
        (['Ja'], ['NEIN', 'nein'])
    """
    said = {text: folded(text) for text in texts}
    for true, false in PAIRS:
        if set(said.values()) == {true, false}:
            yes, no = (sorted(text for text, word in said.items() if word == each) for each in (true, false))
            return Reading(type="boolean", true_values=yes, false_values=no)
    return None


def answers_in_words_of(column: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return yes and no in the words of a real column that holds two texts, where the release has others."""
    levels = [level for level in real.dropna().unique() if isinstance(level, str)]
    said = {folded(level): level for level in reversed(levels)}
    pair = next((pair for pair in PAIRS if set(pair) == set(said)), None)
    if pair is None or len(levels) > 2 * len(pair):
        return column, []
    got = {level: folded(str(level)) for level in column.dropna().unique()}
    if not got or any(word in said for word in got.values()):
        return column, []
    other = next((other for other in PAIRS if set(got.values()) <= set(other)), None)
    if other is None:
        return column, []
    meant = {level: said[pair[other.index(word)]] for level, word in got.items()}
    cells = column.astype(object).map(meant, na_action="ignore")
    return cells, ["yes and no are taken as the real column's two texts"]


def respelled(column: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return texts in the spelling of a real column: what none of its texts is but for case, accents, blanks and zeros.

    Example:
        >>> cells, done = respelled(pd.Series(["GRAZ", "Wien ", "Linz"]), pd.Series(["Graz", "Wien", "Linz"]))
        >>> cells.tolist(), done
        (['Graz', 'Wien', 'Linz'], ['2 of 3 texts are spelled otherwise'])
    """
    words = {level: as_level(level) for level in real.dropna().unique()}
    often = Counter(words.values())
    spelled = {word: level for level, word in words.items() if often[word] == 1}
    others = {*column.dropna().unique()} - {*words}
    meant = {level: spelled[word] for level in others if (word := as_level(level)) in spelled}
    if not meant:
        return column, []
    cells = column.astype(object).map(lambda cell: meant.get(cell, cell), na_action="ignore")
    many = int(column.isin([level for level, text in meant.items() if as_text(level) != text]).sum())
    if not many:
        return cells, []
    return cells, [f"{many:,} of {int(column.notna().sum()):,} texts {'is' if many == 1 else 'are'} spelled otherwise"]


MISSING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None"})
_NO_VALUE = MISSING | {*".-–—?", "#N/A", "#NV", "n/a", "(blank)", "(Leer)", "(vide)", "(null)", "\\N", "missing"}


def without_marks(column: pd.Series, real: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return texts without those that say that there is no value, and that no real cell holds; and what was done.

    Example:
        >>> without_marks(pd.Series(["MSc", "#N/A", " "]), pd.Series(["MSc", "PhD"]))[1]
        ['2 of 3 cells hold a sign for no value and are missing']
    """
    texts = [text for text in column.dropna().unique() if isinstance(text, str)]
    known = {as_level(level) for level in real.dropna().unique()}
    signs = _NO_VALUE - {*"-–—"} if {"+", "x", "X"} & {text.strip() for text in texts} else _NO_VALUE
    empty = column.isin([text for text in texts if text.strip() in signs and as_level(text) not in known])
    many, cells = int(empty.sum()), int(column.notna().sum())
    if not many:
        return column, []
    does = "holds a sign for no value and is" if many == 1 else "hold a sign for no value and are"
    return column.astype(object).mask(empty), [f"{many:,} of {cells:,} cells {does} missing"]


CURRENCIES = frozenset([
    "€", "$", "£", "¥", "₽", "₺", "₹", "zł", "Kč", "R$", "US$", "A$", "C$", "EUR", "USD", "CHF", "GBP", "JPY", "PLN",
    "SEK", "NOK", "DKK", "CZK", "HUF", "kr", "Fr.", "Ft",
])  # fmt: skip
_CURRENCY = "|".join(map(re.escape, sorted(CURRENCIES, key=len, reverse=True)))
_PLAINLY = (  # how numbers are written, and how that is written plainly
    (re.compile(r"^(['\"])(.*)\1$|^'"), r"\2"),  # which keep spreadsheets from reading numbers
    (re.compile(r"^\s*[–—‑－−](?=\s*[\d.,€$£¥])"), "-"),
    (re.compile(r"(?<=\d)(?:[.,]\s?[-–—‑－]{1,2}|/-)(?=(?:\s*[^\d\s]{1,3})?$)"), ""),  # no cents
    (re.compile(r"(?<=\d)[dD](?=[+\-]\d{2,3}$)"), "E"),  # as Fortran does
    (re.compile(r"^(?:[~≈]|ca?\.|circa|approx\.|about|etwa)\s*(?=\d)", re.IGNORECASE), ""),
    (re.compile(r"^([^\d\s.,'’+\-<>≤≥~(]{0,4}\s?[\d.,'’\s\u00a0\u202f]*\d)\s*[-–—‑－]$"), r"-\1"),
    (re.compile(rf"^((?:{_CURRENCY}|[A-Z]{{3}}|[^\w\s.,'’+\-<>≤≥~(]{{1,2}})?)\s?\(([^()]*\d[^(),]*)\)$"), r"-\1\2"),
    # as accountants write
    (re.compile(r"(?<=\d)\s?(?:years? old|years?|yrs?\.?|y\.?\s?o\.?)$", re.IGNORECASE), " years"),
)


_GROUPED = re.compile(r"\d{1,3}(?:_\d{3})+(?:\.\d+)?")
_CODED = re.compile(rf"^(?!(?:{_CURRENCY})-)([^\W\d_]{{1,3}})-(?=\d)")  # D-01067


def plainly(texts: pd.Series, real: pd.Series | None = None) -> pd.Series:
    """Return numbers as texts with the sign before them, and without quotes.

    Letters and a hyphen stand before no negative number, where ``real`` ones say that there is none; nor are numbers
    larger than they are by the strokes between thousands.

    Example:
        >>> plainly(pd.Series(["$(1,234.50)", "80.00-", "'7'", "12.-"])).tolist()
        ['-$1,234.50', '-80.00', '7', '12']
    """
    if real is not None and not real.min() < 0:
        texts = texts.mask(texts.str.fullmatch(r"\d+\s?-").astype(bool), "")  # 80-, which may be 80 or more
    for pattern, plain in _PLAINLY:
        texts = texts.str.replace(pattern, plain, regex=True)
    if real is None:
        return texts
    grouped = texts[texts.str.contains("_", regex=False)]
    if len(grouped) and grouped.str.fullmatch(_GROUPED.pattern).all():
        whole = grouped.str.replace("_", "", regex=False)
        texts = whole.reindex(texts.index).fillna(texts) if (whole.astype(float) <= real.max()).mean() > 0.5 else texts
    return texts if real.min() < 0 else texts.str.replace(_CODED, r"\1 ", regex=True)


def marks_in_words(decimal: str, thousands: str, unit: str) -> str:
    """Return how numbers are written, in words; empty where they are plain."""
    between = {"": "", " ": "a blank"}.get(thousands, repr(thousands))
    marks = [f"a decimal {decimal!r}"] if decimal != "." or thousands else []
    marks += [f"{between} between thousands"] if thousands else []
    if unit:
        marks.append("a percent sign" if unit == "%" else "a currency" if unit in CURRENCIES else "a unit")
    return f"numbers are written with {' and '.join(marks)}" if marks else ""


def to_numbers(column: pd.Series, errors: Literal["raise", "coerce"] = "raise") -> pd.Series:
    """Return what ``pandas.to_numeric`` does, each text as the float nearest to it.

    pandas below 3 is off by the last bit in three of ten texts of 17 digits: a copy would differ from its original.

    Example:
        >>> texts = ["0.30000000000000004", "1e-7", "2"]
        >>> to_numbers(pd.Series(texts)).tolist() == [float(text) for text in texts]
        True
    """
    numbers: pd.Series = pd.to_numeric(column, errors=errors)
    if not types.is_float_dtype(numbers.dtype):
        return numbers
    texts = column.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool) & numbers.notna().to_numpy(dtype=bool)
    if texts.any():
        numbers = numbers.copy()
        numbers.iloc[np.flatnonzero(texts)] = np.array([float(text) for text in column[texts]])
    return numbers


def as_text(cell: object) -> str:
    """Return a cell as its text; a whole number without decimals.

    Example:
        >>> as_text(1.0), as_text(1.5), as_text("1.0")
        ('1', '1.5', '1.0')
    """
    is_whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    return str(int(cell)) if is_whole else str(cell)  # type: ignore[call-overload]


_DUE = 20  # values; with so many due, that there is none is no chance


def empty_columns(frame: pd.DataFrame, like: pd.DataFrame) -> list[str]:
    """Return the columns of missing cells alone, unless those of ``like`` hold so few values that it can be chance.

    Example:
        >>> empty_columns(pd.DataFrame({"a": [None] * 40}), pd.DataFrame({"a": [1, None]}))
        ['a']
    """
    due = {name: like[name].notna().mean() * len(frame) for name in like.columns}
    return [name for name in like.columns if due[name] >= _DUE and frame[name].isna().all()]


def holds_several(column: pd.Series) -> bool:
    """Tell whether a cell holds several values, as cells of JSON and Parquet files may."""
    several = (list, dict, tuple, set, np.ndarray)
    return types.is_object_dtype(column.dtype) and any(isinstance(cell, several) for cell in column)


def refuse_several(table: pd.DataFrame, name: str) -> None:
    """Refuse a table with a cell that holds several values.

    Raises:
        InputError: It has some; ``name`` is what it calls the table.
    """
    for column in (c for c in table.columns if holds_several(table[c])):
        raise InputError(f"{name}: column {column!r} must hold single values, got several in a cell")


UNNAMED = "Unnamed: "
"""How the names of columns begin that have none in a file."""


def numbers_rows(column: pd.Series) -> bool:
    """Tell whether a column numbers the rows, from 0 or 1 on, as programs do that write an index.

    Example:
        >>> numbers_rows(pd.Series(["1", "2", "3"])), numbers_rows(pd.Series([2, 3]))
        (True, False)
    """
    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(float, na_value=np.nan)
    return any(np.array_equal(numbers, np.arange(first, first + len(column))) for first in (0, 1))


_IN_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")


def paired_names(got: Sequence[Any], due: Sequence[Any]) -> Mapping[int, Any]:
    """Return which place of ``got`` is which name of ``due``: those that alone are the same, folded, without a unit.

    Example:
        >>> paired_names([" Größe ", "AGE", "Age_", "pay [EUR]", "Date ouverture"],
        ...              ["groesse", "age", "pay", "Date d'ouverture"])
        {0: 'groesse', 3: 'pay', 4: "Date d'ouverture"}
    """
    found: dict[int, Any] = {}
    for way in (_plain_name, _bare_name):
        ours, theirs = [way(name) for name in due], [way(name) for name in got]
        for k, word in enumerate(theirs):
            if word and theirs.count(word) == 1 == ours.count(word) and k not in found:
                name = due[ours.index(word)]
                units = [{*map(_plain_name, _IN_BRACKETS.findall(str(each)))} for each in (name, got[k])]
                found |= {k: name} if name not in found.values() and (units[0] == units[1] or not all(units)) else {}
    return found


def _plain_name(name: Any) -> str:
    return "".join(letter for letter in folded(str(name)) if letter.isalnum())


def _bare_name(name: Any) -> str:
    """Return a name without its unit, French d' and l', and the e that stands for two dots: groesse, Größe."""
    bare = re.sub(r"(?i)\b(?:d|l|dell)['’]", "", _IN_BRACKETS.sub("", str(name)))
    return re.sub("(?<=[aou])e", "", _plain_name(bare))


MARKS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
"""Marks before decimals and between thousands, in the order in which they are tried."""
SPACES = r"[ \u00a0\u2009\u202f]"
OR = " or "
"""What stands between the formats of dates that a column holds beside each other."""
_CENTURY = 2030  # the last year that two digits may mean
_BOOLEANS = {"True": True, "False": False}
_ISO = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|30|31)([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?)?")


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
            read[name] = plain if columns[name].type == "duration" else read_as(frame[name], columns[name])
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
    return dates.where(dates.between(pd.Timestamp.min, pd.Timestamp.max)).dt.as_unit("ns")


def texts_of(column: pd.Series) -> pd.Series:
    """Return the cells of a column as texts; whole numbers without decimals, what is shortened (1h 5m) written out.

    Example:
        >>> texts_of(pd.Series([1.0, None])).tolist()
        ['1', <NA>]
    """
    if types.is_float_dtype(column.dtype) and _fits(column):
        column = column.astype("Int64")
    return column.astype("string") if types.is_numeric_dtype(column.dtype) else written_out(column.astype("string"))


def number_pattern(reading: Reading) -> re.Pattern[str]:
    """Return the pattern of a number with this decimal mark, mark between thousands, and unit."""
    marks = {"": "", " ": SPACES, "'": "['’]"}
    thousands, decimal = marks.get(reading.thousands, re.escape(reading.thousands)), re.escape(reading.decimal)
    lakhs = "[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}|" if reading.thousands == "," else ""  # as in India
    whole = rf"{lakhs}[0-9]{{1,3}}(?:{thousands}[0-9]{{3}})+|[0-9]+" if thousands else r"[0-9]+"
    exponent = r"(?:[eE][+-]?[0-9]+)?"
    unit = rf"(?:{re.escape(reading.unit)})?" if reading.unit else ""
    number = rf"(?:(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+){exponent}"
    plain = rf"([+\-−]?){SPACES}*{unit}{SPACES}*([+\-−]?)({number}){SPACES}*{unit}"
    cents = rf"{unit}{SPACES}*((?:{whole}){decimal}[0-9]{{2}})"  # in brackets, or before a minus: an amount below 0
    return re.compile(rf"(?:{plain}|\({cents}{SPACES}*{unit}\)|{cents}[\-−]{SPACES}*{unit})")


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
    is_duration = reading.type == "duration"
    return types.is_timedelta64_dtype(column.dtype) if is_duration else types.is_bool_dtype(column.dtype)


def _numbers(texts: pd.Series, reading: Reading) -> pd.Series:
    parts = texts.str.extract(rf"^{number_pattern(reading).pattern}$")
    below = parts[3].fillna(parts[4])
    plain = parts[2].fillna(below)
    if reading.thousands:
        plain = plain.str.replace(SPACES if reading.thousands == " " else rf"[{reading.thousands}’]", "", regex=True)
    sign = (parts[0].fillna("") + parts[1].fillna("")).str.replace("−", "-").mask(below.notna(), "-")
    numbers = to_numbers(sign + plain.str.replace(reading.decimal, "."), errors="coerce")
    return numbers.astype("Int64" if texts.str.fullmatch(r"[^.,]*").all() and _fits(numbers) else "Float64")


def _fits(numbers: pd.Series) -> bool:
    present = numbers.dropna()
    return types.is_integer_dtype(numbers.dtype) or bool(((present % 1 == 0) & (present.abs() < 2**53)).all())


def _dates(texts: pd.Series, reading: Reading) -> pd.Series:
    dates = [_dates_as(texts, form) for form in str(reading.format).split(OR)]
    return reduce(lambda read, further: read.fillna(further), dates)


def _dates_as(texts: pd.Series, form: str) -> pd.Series:
    if "%b" in form or "%B" in form:
        texts, form = texts.map(in_english, na_action="ignore").astype("string"), form.replace("%B", "%b")
    dates = in_reach(pd.to_datetime(texts, format=form, errors="coerce", utc=True).dt.tz_localize(None))
    if "%y" in form:
        late = dates.dt.year > _CENTURY
        dates = dates.mask(late, dates - pd.DateOffset(years=100))
    return dates


def _durations(texts: pd.Series, reading: Reading) -> pd.Series:
    clock = (plain := as_clocks(texts)).where(plain.str.fullmatch(r"[+-]?\d{1,4}:\d{2}(:\d{2})?(\.\d+)?"))
    return pd.to_timedelta(with_seconds(clock))


def _truths(texts: pd.Series, reading: Reading) -> pd.Series:
    known = dict.fromkeys(reading.true_values, True) | dict.fromkeys(reading.false_values, False)
    return texts.map({text.strip(): truth for text, truth in known.items()}).astype("boolean")


_Reader = Callable[[pd.Series, Reading], pd.Series]
_READERS: dict[str, _Reader] = {"number": _numbers, "date": _dates, "duration": _durations, "boolean": _truths}


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


_EXACT = 2**53  # beyond it a double no longer holds every integer


def narrowed(column: pd.Series) -> pd.Series:
    """Return a column of single cells in the type that all of them share; the empty text is missing.

    Numbers that are all whole become ``Int64``, times of the day durations; cells of several types stay as they are.

    Example:
        >>> narrowed(pd.Series([1.0, None])).tolist(), narrowed(pd.Series(["01", ""])).tolist()
        ([1, <NA>], ['01', <NA>])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    column = column.mask(column.eq(""))
    cells = types.infer_dtype(column, skipna=True)
    if cells in ("string", "boolean"):
        return column.astype(cells)  # type: ignore[call-overload]
    if cells in ("integer", "floating", "mixed-integer-float"):
        return _as_whole_numbers(column.astype(float))
    if cells in ("datetime", "date"):
        try:
            return pd.to_datetime(column)
        except pd.errors.OutOfBoundsDatetime:  # ``typed`` refuses such dates, unless they mean a missing cell
            moments = column.where(column.notna(), None).to_numpy("datetime64[ms]")
            return pd.Series(moments, index=column.index, name=column.name)
    if cells in ("time", "timedelta"):
        return pd.to_timedelta(column.astype("string"))
    return column


def blanked(column: pd.Series, missing: Sequence[str]) -> pd.Series:
    """Return a column in which the texts in ``missing``, and the numbers that they write, are missing.

    Example:
        >>> blanked(pd.Series([1, -9]), ["-9", "none"]).isna().tolist()
        [False, True]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_categories([level for level in column.cat.categories if level in missing])
    numbers = pd.to_numeric(pd.Series(missing, dtype=object), errors="coerce").dropna().tolist()
    if types.is_bool_dtype(column.dtype):
        return column
    if types.is_numeric_dtype(column.dtype):
        return column.mask(column.isin(numbers)) if numbers else column
    if types.is_datetime64_any_dtype(column.dtype):
        return without(column, missing)
    return column.mask(column.isin([*missing, *numbers])) if missing else column


def _as_whole_numbers(column: pd.Series) -> pd.Series:
    present = column.dropna()
    is_whole = bool((present % 1 == 0).all()) and bool((present.abs() <= _EXACT).all())
    return column.astype("Int64" if is_whole else "Float64")
