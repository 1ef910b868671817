"""What each column of a table holds, by the evidence of its cells: proposals with how sure they are, missing codes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.tables import Reading
from synthrisk.tasks.propose.forms import (
    Cells,
    NumberForm,
    date_form,
    decimal_mark,
    is_any_unit,
    no_dates,
    number_form,
    values,
)
from synthrisk.tasks.propose.names import is_score, says, topic, words_of
from synthrisk.tasks.propose.names import words as name_words
from synthrisk.tasks.workspace.files.cell_forms import LIMITS, of_minutes
from synthrisk.tasks.workspace.files.cell_texts import are_dates, folded, texts_of, truth_words

_TWO_LETTERS = re.compile(r"[A-Z]{2}")
_COUNTRIES = 10  # two-letter codes from which NA is Namibia
_NAMED_COUNTRIES = 3  # the same in a column that is called country
_SALTS = {"K", "Ca", "Cl", "Mg", "Fe", "Zn", "Cu", "Li", "Hb"}  # tests of blood, beside which Na is sodium
_MOST_WORDS, _FEWEST_NUMBERS = 3, 20
_FEWEST_CELLS = 5  # that one word or number must have, so that what a single person has is no code
_MOST_LEVELS, _OF_LEVEL = 10, 0.1  # beside a sign for none, and its share of the cells, for which it is a level
_MOST_OF_WORDS = 0.5  # share of the cells that words for a missing number may have
_NINES = re.compile(r"-?(9{2,}|8{2,}|7{2,})|-?[1-9]|-?9\d|-?9{2,}[.,]9+")
_FAR = 0.5  # of the range of all other numbers: how far off a code lies
_FAR_DECIMAL = 5  # times nearly all other numbers: how far off a code with decimals lies
_OF_PRICES = 0.2  # share of the numbers with the same decimals, .99 or .9, from which they are prices
_LIKE_0, _LIKE_NEXT = 0.4, 1.5  # of the cells of 0, and of the number nearer to 0, that numbers below 0 have as values
_FEW_BELOW, _MANY_ABOVE = 2, 8  # numbers below 0 that take so many others to be values
_HEAP = 5  # times as frequent as the numbers beside it


def markers(cells: Cells, *, of_categories: bool) -> list[str]:
    """Return the texts that mean a missing cell wherever they stand; in ``of_categories`` some are answers."""
    codes = [t for t in cells.counts.index if _TWO_LETTERS.fullmatch(t)]
    known = words_of("missing") if of_categories else words_of("missing") | words_of("no_answer")
    found = [t for t in cells.counts.index if folded(t).replace(" ", "-") in known]
    enough = _NAMED_COUNTRIES if says(cells.name, "country") else _COUNTRIES
    countries = len(codes) > enough and len(codes) > 0.9 * len(cells.counts)
    salts = len(_SALTS & {*cells.counts.index}) > 1
    if of_categories and found == ["--"] and _is_level("--", cells):
        return []
    return [t for t in found if not (countries and t == "NA") and not (salts and t == "Na")]


def _is_level(sign: str, cells: Cells) -> bool:
    """Tell whether a sign is one of a few frequent levels, as of no church tax, where no cell is empty."""
    few = 1 < len(cells.counts) - 1 <= _MOST_LEVELS and not (cells.empty or cells.blank)
    return few and bool(cells.counts[sign] >= _OF_LEVEL * cells.filled)


def words_among_numbers(cells: Cells) -> list[str]:
    """Return the few words that stand again and again among many numbers or dates: they say that none is known."""
    words = [text for text in cells.counts.index if not re.search(r"\d", text)]
    often = all(cells.counts[text] >= _FEWEST_CELLS for text in words)
    rare = cells.counts[words].sum() <= _MOST_OF_WORDS * cells.filled
    few = 0 < len(words) <= _MOST_WORDS and len(cells.counts) - len(words) >= _FEWEST_NUMBERS
    return words if few and often and rare else []


def number_codes(numbers: pd.Series, counts: np.ndarray) -> list[str]:
    """Return the numbers that rather mean a missing cell: negative ones among others that are not, and far-off nines.

    Args:
        numbers: Each distinct number, by its text.
        counts: How many cells each has.
    """
    left = pd.Series(counts, index=numbers.index)
    go_on = numbers.between(-len(_below(numbers, left)), -1)
    suspects = [t for t in numbers.index[~go_on] if _is_suspect(t) and not _is_price(t, numbers, left)]
    found: list[str] = []
    for text in sorted((t for t in suspects if numbers[t] < 0), key=lambda t: numbers[t]):
        others = numbers.drop([text, *found])
        if len(others) > 1 and left[text] >= _FEWEST_CELLS and _is_code_below(float(numbers[text]), others):
            found.append(text)
    nines = numbers[[t for t in suspects if numbers[t] > 0 and set(str(int(numbers[t]))) <= {"7", "8", "9"}]]
    long = nines.map(lambda number: len(str(int(number))))
    for digits in sorted(set(long), reverse=True):  # codes of a column have the same number of digits: 77, 88, 99
        together = nines[long == digits].sort_values()
        others = numbers.drop([*together.index, *found])
        if digits == 1 and any(numbers[t] > 0 for t in found):
            break
        for text, number in together.items():
            if len(others) > 1 and _is_code_above(float(number), int(left[text]), others, left[others.index]):
                found += [text] if left[text] >= _FEWEST_CELLS else []
            else:
                others = pd.concat([others, together[[text]]])
    return found


def _is_suspect(text: str) -> bool:
    return bool(_NINES.fullmatch(re.sub(r"\.0+$", "", text)))


def _is_price(text: str, numbers: pd.Series, counts: pd.Series) -> bool:
    """Tell whether 99.9 is a number as others are: not far above them all, or many of them have its decimals."""
    if numbers[text] < 0 or numbers[text] % 1 == 0:
        return False
    decimals = re.sub(r"^\d+", "", text)
    others = numbers[[not _is_suspect(t) or not t.endswith(decimals) for t in numbers.index]]
    alike = numbers.index.str.endswith(decimals).sum() - 1
    most = np.quantile(np.repeat(others, counts[others.index]), 0.99) if len(others) else np.inf
    return bool(numbers[text] <= _FAR_DECIMAL * most or alike > _OF_PRICES * len(numbers))


def _is_code_below(number: float, others: pd.Series) -> bool:
    small = others[others < 0]
    enough = len(small) <= 4 and (others >= 0).sum() >= 2
    if enough and all(map(_is_suspect, small.index)):
        return number.is_integer() and not _is_around_0([number, *others])
    plain = others[[not _is_suspect(text) or others[text] > -10 for text in others.index]]
    return number < -10 and bool(plain.min() - number > _FAR * (plain.max() - plain.min()))


def _is_code_above(number: float, count: int, others: pd.Series, counts: pd.Series) -> bool:
    top, low = float(others.max()), float(others.min())
    if number <= top:
        return False
    if number < 10:  # a code list such as 1, 2, 9
        small_ones = bool((others % 1 == 0).all()) and bool(others.between(0, 7).all())
        return len(others) <= 7 and number - top >= 2 and small_ones
    far = number - top > _FAR * (top - low)
    beside = counts[others.nlargest(10).index].mean()
    return bool(far or (number - top >= 2 and count > _HEAP * beside))


def _below(numbers: pd.Series, counts: pd.Series) -> range:
    """Return the numbers below 0 that go on from 0 as values do, as of goal differences; empty where they are codes.

    -1 has about as many cells as 0 and no further one has many more than the one before, as many codes have, without
    another number behind a small gap. Two such numbers, as surveys have for no answer, are values among many others.
    """
    of = counts.groupby(numbers.to_numpy()).sum()
    run = 0
    while -(run + 1) in of.index:
        run += 1
    cells = [int(of.get(-i, 0)) for i in range(run + 1)]
    rest = [n for n in of.index if n < -run and of[n] >= _FEWEST_CELLS and (run <= _FEW_BELOW or n >= -2 * run)]
    above = (of.index >= 0).sum()
    enough = run >= _FEW_BELOW and (run > _FEW_BELOW or above >= _MANY_ABOVE) and {0, 1} <= {*of.index}
    even = enough and cells[1] >= _LIKE_0 * cells[0]
    falls = all(b <= _LIKE_NEXT * a + 3 * a**0.5 for a, b in pairwise(cells))
    return range(-run, 0) if even and falls and not rest else range(0)


def _is_around_0(numbers: Iterable[float]) -> bool:
    """Tell whether a few numbers are a scale such as -1, 0, 1, whose negative numbers may be answers."""
    found = {*numbers}
    return 0 in found and 2 < len(found) <= 9 and found == {-number for number in found}


def spelled(texts: Sequence[str]) -> str:
    """Return missing codes as words."""
    return ", ".join(repr(text) for text in texts)


Kind = Literal["number", "code", "date", "duration", "boolean", "category", "text", "constant", "empty", "container"]
Sure = Literal["sure", "likely", "a guess"]
_MOST = 0.98  # share of the cells that tell the type; the others are told
_MANY = 20  # distinct numbers or dates from which a few other cells are the exception
_MOST_IDS = 1000  # distinct whole numbers of a store_id up to which they are codes, as of shops
_FEW_CODES = 10  # distinct whole numbers up to which they may be codes
_CODE_TOPICS = ("sex", "place", "nationality", "family", "education", "work", "ethnicity", "home")
_CONTAINERS = (list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray)
_TWO_ANSWERS = "its two answers mean yes and no"
_TEXTS = ("string", "mixed", "mixed-integer")  # the types of columns that hold texts, as pandas calls them
_EXACT = 2**53  # beyond it a float no longer holds every integer
_PRESSURE = r"\d{2,3} ?/ ?\d{2,3}(?: ?mm ?Hg)?"  # systolic and diastolic
_CLOCK = r"-?\d{1,4}:\d{2}(?::\d{2})?(?:[.,]\d{1,9})?"
_WORDS_OF_TEXT = 4  # mean words of free text
_LETTERS_OF_TEXT = 40  # or mean letters


@dataclass(frozen=True)
class Evidence:
    """What one column holds."""

    name: str
    kind: Kind
    sure: Sure
    why: str  # in words that hold no cell but missing codes
    distinct: int  # distinct values, missing codes aside
    filled: int  # cells that hold one
    rows: int
    form: str = ""  # what the cells look like: 99.99.9999
    reading: Reading | None = None  # how the column is to be read, where its cells do not say so themselves
    question: str = ""  # what the cells cannot tell
    other: Reading | None = None  # the reading by the other answer

    @property
    def is_unique(self) -> bool:
        """Whether (nearly) every record has a value of its own."""
        return self.filled > 0 and self.distinct >= 0.95 * self.filled and self.distinct > 2


def evidence(frame: pd.DataFrame) -> list[Evidence]:
    """Return what each column of a table holds; columns of a CSV file are best given as texts."""
    columns = [frame.iloc[:, i].rename(str(name)) for i, name in enumerate(frame.columns)]
    held = {c.name: of for c in columns if (of := _containers(c))}
    cells = {c.name: Cells.of(c) for c in columns if not _is_settled(c) and c.name not in held}
    decimal = next(filter(None, map(decimal_mark, cells.values())), "")
    found = [
        _of_containers(c, held[c.name])
        if c.name in held
        else _of_texts(cells[c.name], decimal, c)
        if c.name in cells
        else _of_values(c)
        for c in columns
    ]
    plain = all(isinstance(c.dtype, pd.StringDtype) for c in columns)  # as of CSV, whose numbers are read as such
    return [_as_numbers(each, column, plain) for each, column in zip(found, columns, strict=True)]


def _as_numbers(each: Evidence, column: pd.Series, plain: bool) -> Evidence:
    """Return the evidence of a column: of numbers that its source holds as texts, with the reading that it needs.

    In a ``plain`` file those need one that stand in digits of another script, or with marks (500.-); and so do dates.
    """
    due = each.kind in ("number", "date", "code") and types.infer_dtype(column) in _TEXTS
    if each.reading is not None or not due:
        return each
    cells = column.dropna().drop_duplicates()
    texts = texts_of(cells).dropna()
    marked, unread = (pd.to_numeric(own, errors="coerce").isna() for own in (cells, texts))
    if each.kind == "code" and (not marked.any() or unread.any() or texts.str.match(r"0\d").any()):
        return each
    others = not all(str(cell).isascii() for cell in cells) or (each.kind != "date" and bool(marked.any()))
    if (each.kind == "date" or plain) and not others:
        return each
    why = f"{each.why}, in other digits or marks" if others else f"{each.why}, held as texts"
    if each.kind == "date":
        return replace(each, reading=Reading(type="date", format="ISO8601"), why=why)
    exact = pd.to_numeric(texts, errors="coerce").abs().max() < _EXACT
    return replace(each, reading=Reading(type="number"), why=why) if exact else each


def _is_settled(column: pd.Series) -> bool:
    moments = are_dates(column) or types.is_timedelta64_dtype(column.dtype)
    return bool(moments or types.is_bool_dtype(column.dtype))


def _containers(column: pd.Series) -> str:
    """Return the type of cells that hold several values, or bytes; empty where there are none."""
    if not types.is_object_dtype(column.dtype):
        return ""
    held = (cell for cell in column if isinstance(cell, _CONTAINERS))
    return next(("lists" if isinstance(cell, np.ndarray) else f"of type {type(cell).__name__}" for cell in held), "")


def _of_containers(column: pd.Series, held: str) -> Evidence:
    filled, why = int(column.notna().sum()), f"its cells are {held}, which no measure reads"
    return Evidence(str(column.name), "container", "sure", why, filled, filled, len(column))


def _of_values(column: pd.Series) -> Evidence:
    """Return the evidence of a column whose type its source tells."""
    date, truth = types.is_datetime64_any_dtype(column.dtype), types.is_bool_dtype(column.dtype)
    kind: Kind = "date" if date else "boolean" if truth else "duration"
    distinct, filled = int(column.nunique()), int(column.notna().sum())
    if distinct < 2:
        kind = "constant" if filled else "empty"
    timed = date and bool((column.dropna().dt.normalize() != column.dropna()).any())
    form = "9999-99-99" + (" 99:99:99" if timed else "") if date else ""
    return Evidence(str(column.name), kind, "sure", "its source says so", distinct, filled, len(column), form)


def _of_texts(cells: Cells, decimal: str, column: pd.Series) -> Evidence:
    blank = [" "] if cells.blank else []
    marked = markers(cells, of_categories=False)
    answers = cells.without(marked)
    found = _typed(answers, decimal)
    if found is None and (words := words_among_numbers(answers)):
        found = _typed(answers.without(words), decimal)
        if found:
            marked, answers = [*marked, *words], answers.without(words)
    if found is None:  # among answers fewer words mean a missing cell
        marked = markers(cells, of_categories=True)
        answers = cells.without(marked)
        found = _categories(answers)
    if not answers.filled:
        return _made(cells, answers, _Found("empty", "sure", "all cells are missing"), marked + blank, column)
    if len(answers.counts) == 1:
        settings = found.settings if found.kind in ("number", "date") else None
        found = _Found("constant", "sure", "all its cells are the same", settings)
    return _made(cells, answers, found, marked + blank, column)


class _Found(NamedTuple):
    kind: Kind
    sure: Sure
    why: str
    settings: Reading | None = None
    missing: Sequence[str] = ()
    question: str = ""
    other: Reading | None = None


def _made(cells: Cells, answers: Cells, found: _Found, marked: Sequence[str], column: pd.Series) -> Evidence:
    missing = [*marked, *found.missing]
    counted = answers.without(found.missing)
    why = found.why
    if missing:
        gone = cells.filled - counted.filled + (cells.blank if " " in missing else 0)
        why += f"; {spelled(missing)} taken for missing ({gone} cells)"
    reading, other = (_with_missing(each, missing) for each in (found.settings, found.other))
    if reading is None and missing:
        letters = counted.texts.str.contains(r"[^\d.,+\- ]").any() or _begins_with_zero(counted)
        digits = found.kind == "number" or (found.kind == "code" and not letters)
        numbers = digits and not types.is_numeric_dtype(column.dtype)
        reading = Reading(type="number", missing=missing) if numbers else Reading(missing=missing)
    sure: Sure = "likely" if missing and found.sure == "sure" else found.sure
    form = counted.form if counted.filled and found.kind not in ("text", "boolean") else ""
    distinct, filled, question = len(counted.counts), counted.filled, found.question
    return Evidence(cells.name, found.kind, sure, why, distinct, filled, cells.rows, form, reading, question, other)


def _with_missing(reading: Reading | None, missing: Sequence[str]) -> Reading | None:
    if reading is None or not missing:
        return reading
    return Reading.model_validate(reading.model_dump(exclude_unset=True) | {"missing": list(missing)})


def _typed(cells: Cells, decimal: str) -> _Found | None:
    """Return the type that all or nearly all cells have; None where they are texts."""
    if not cells.filled:
        return _Found("empty", "sure", "all cells are missing")
    if truth := truth_words(list(cells.counts.index)):
        sure: Sure = "likely" if set(cells.counts.index) <= {"0", "1", "0.0", "1.0"} else "sure"
        return _Found("boolean", sure, _TWO_ANSWERS, truth)
    enough = _MOST if len(cells.counts) > _MANY else 1.0
    none = no_dates(cells)
    if dates := date_form(cells.without(none), enough):
        return _dates(cells.without(none), dates, none)
    if cells.share(cells.texts.str.fullmatch(_CLOCK)) == 1:
        what = "minutes and seconds, some with hours" if of_minutes(cells.texts) else "hours and minutes"
        return _Found("duration", "likely", what, Reading(type="duration"))
    numbers = number_form(cells, enough, decimal)
    return None if numbers is None else _numbers(cells, numbers)


def _dates(cells: Cells, dates: Any, none: Sequence[str]) -> _Found:
    reading, others = dates.reading, int(cells.counts.to_numpy()[~dates.fits.to_numpy(bool)].sum())
    form = str(reading.format).replace("ISO8601", "ISO 8601") if reading else "ISO 8601"
    why = f"{'times of the day' if '%' in form and '%y' not in form.lower() else 'dates'} written as {form}"
    if none and reading is None:
        reading = Reading(type="date", format="ISO8601")
    if others:
        why += f"; cells that are none are taken for missing ({others})"
        reading = Reading(type="date", format=reading.format, otherwise="missing")
    sure: Sure = "a guess" if dates.question else "likely" if others else "sure"
    return _Found("date", sure, why, reading, none, dates.question, dates.other)


def _numbers(cells: Cells, form: NumberForm) -> _Found:
    numbers = values(cells, form)
    counts = cells.counts[numbers.index].to_numpy()
    others = cells.filled - int(counts.sum())
    if _begins_with_zero(cells):
        return _Found("code", "sure", "digits that begin with 0 are codes, not numbers")
    missing = number_codes(numbers, counts)
    bare = bool(pd.to_numeric(pd.Series(numbers.index), errors="coerce").notna().all())
    plain = bare and form.reading == Reading(type="number")
    settings = None if plain else form.reading
    why = "numbers" + (f" with {marks}" if (marks := _marks(form.reading)) else "")
    if others:
        settings = Reading.model_validate(form.reading.model_dump(exclude_unset=True) | {"otherwise": "missing"})
        why += f"; cells that are none are taken for missing ({others})"
    answers = numbers.drop(missing)
    if missing and (truth := truth_words(list(answers.index))):
        return _Found("boolean", "likely", _TWO_ANSWERS, truth, missing)
    unit = form.reading.unit
    if code := None if others or (unit and not is_any_unit(unit, cells)) else _code(cells.name, answers):
        return _Found("code", code[0], code[1], settings, missing)
    below = "are the numbers below 0 answers, or codes for missing cells?" if _is_around_0(answers) else ""
    question = form.question or below
    sure: Sure = "a guess" if question else "likely" if others or form.reading.unit in LIMITS else "sure"
    return _Found("number", sure, why, settings, missing, question, form.other)


def _begins_with_zero(cells: Cells) -> bool:
    digits = cells.texts.str.fullmatch(r"\d+")
    return bool(digits.all() and cells.texts.str.fullmatch(r"0\d+").any())


def _marks(reading: Reading) -> str:
    parts = [f"{reading.decimal!r} before decimals"] if reading.decimal != "." else []
    parts += [f"{reading.thousands!r} between thousands"] if reading.thousands else []
    limit = f"some at a limit, marked {reading.unit!r}, which are read as the limit itself"
    unit = limit if reading.unit in LIMITS else f"the unit {reading.unit!r}"
    return " and ".join([*parts, *([unit] if reading.unit else [])])


def _code(name: str, numbers: pd.Series) -> tuple[Sure, str] | None:
    """Return why whole numbers are codes of categories; None where they are numbers."""
    if not len(numbers) or (numbers < 0).any():
        return None
    distinct = len(numbers)
    if distinct > 2 and numbers.between(190001, 209912).all() and (numbers % 100).isin(range(1, 13)).all():
        return "likely", "its numbers are years and months"
    if says(name, "codes") and not says(name, "counted"):
        return "likely", "its name says that its numbers are codes"
    if (numbers % 1 != 0).any() or says(name, "counted"):
        return None
    known = None if says(name, "postcode") and numbers.max() < 1000 else topic(name, "known")
    if distinct <= _MOST_IDS and name_words(name)[1:][-1:] == ["id"]:
        return "likely", "its name says that its numbers are codes"
    voted = says(name, "sensitive", "belief") and not is_score(name, numbers.min(), numbers.max())
    if distinct <= 50 and (known in _CODE_TOPICS or voted):
        return "likely", "its name says that its numbers stand for categories"
    if distinct <= _FEW_CODES and numbers.max() < 100 and known not in ("age", "birth", "visit"):
        return "a guess", f"{distinct} different whole numbers may be codes"
    return None


def _categories(cells: Cells) -> _Found:
    texts, counts = cells.texts, cells.counts.to_numpy()
    if not cells.filled:
        return _Found("empty", "sure", "all cells are missing")
    lengths, words = texts.str.len().to_numpy(float), texts.str.count(r"\S+").to_numpy(float)
    long = (lengths @ counts) / cells.filled > _LETTERS_OF_TEXT or (words @ counts) / cells.filled >= _WORDS_OF_TEXT
    grouped = bool(texts.str.fullmatch(r"[\d /.\-]+").all())
    if long and not grouped and len(texts) > _MANY and len(texts) > 0.2 * cells.filled:
        return _Found("text", "likely", "sentences, nearly each another")
    numbers = cells.share(texts.str.fullmatch(r"[+-]?[0-9]+([.,][0-9]+)?"))
    if numbers == 1:
        return _Found("category", "likely", "texts: numbers, but not all with the same mark before decimals")
    if numbers > 0.5:
        none = cells.filled - round(numbers * cells.filled)
        return _Found("category", "likely", f"texts; {none} cells of {cells.filled} are no numbers")
    if cells.share(texts.str.fullmatch(_PRESSURE)) == 1:
        return _Found("code", "likely", "two numbers in each cell, as of blood pressure: they are read as one text")
    mixed = cells.share(texts.str.fullmatch(r"\S*\d\S*")) == 1
    if len(texts) > _MANY and (mixed or re.search(r"\d", cells.form)):
        return _Found("code", "likely", "codes of letters, digits and marks")
    return _Found("category", "sure", "texts")
