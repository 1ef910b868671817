"""CSV files: comma, semicolon, tab or bar, in any encoding that can be told, with a header line."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files.cell_texts import MISSING, folded
from synthrisk.tasks.workspace.files.encodings import beside_utf8, encoding_of, spoken

SEPARATORS = ",;\t|"
CODED = "synthrisk.coded"  # attribute of a frame
BETWEEN = "between others: left out"  # ends the note on empty rows
_LOOKED_AT = 10_000  # rows
_HEADER = 2**16  # characters in which the header line ends
_FIRST = 20  # rows that tell whether the header has a name for each of their cells
_EXCELS_LINE = re.compile(r"[\r\n]*\"?sep=(.)\"?[^\S\r\n]*[\r\n]+", re.IGNORECASE)
_EXCELS_TEXT = re.compile(r"(?:(?<=[,;\t|\r\n])|^)=\"([^\"]*)\"(?=[,;\t|\r\n]|$)")
_QUOTED = re.compile(r'"[^"]*"')
_EXCELS_QUOTED = re.compile(r"(?:(?<=[,;\t|\r\n])|^)\"=\"\"([^\"]*)\"\"\"(?=[,;\t|\r\n]|$)")
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,%]*")
_LAST = 400  # characters in which a last line ends
_COUNT = re.compile(r"\(?(\d{1,18}) [^\W\d_]+(?: [^\W\d_]+)*\)?\.?")
_FEWEST_CELLS = 3  # in the rows below a title
_WORDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
_TOTALS, _SOURCES = (frozenset(_WORDS[each].split(", ")) for each in ("totals", "sources"))
_NO_ANSWERS, _UNITS, _TYPES = (frozenset(_WORDS[each].split()) for each in ("no_answers", "units", "types"))
_REMARK = re.compile(r"[*†‡©]+\s?\w.*\s.*|([^\W\d_]+(?: [^\W\d_]+){0,3})\s?: ?[^\s:].*", re.DOTALL)
_NO_ANSWER = re.compile(
    r"n\W?[/.]?\W?[ad]\W?|k\W?a\W?|(?:no|not|never|dont|don.t|kein\w*|nicht|pas|sans|non|nao|niet|ej|nie) (?!of\b).*|"
    r"\D*[<>]\D*\d.*|(?:under|over|below|above|less|more|fewer|at|about|approx\w*|circa|ca|around|before|after|since|"
    r"unter|uber|mehr|weniger|etwa|vor|nach|moins|plus|menos|mas|meno|piu|mais|onder|boven)\b\D*\d.*"
)
_QUALTRICS = '{"ImportId":'  # begins the cells below the questions
_MEASURED = re.compile(r"(?:[\d.,:/%+\-\s]|(?<=\d)T(?=\d))*\d[\s%Z]*")  # a number, date or time
_WORD = re.compile(r"[^\W\d_]|[%°€$£]")
_LEADING_ZERO = re.compile(r"0(?<=[,;\t|\"\r\n]0)\d+(?:$|[,;\t|\"\r])", re.MULTILINE)  # begins with what is rare: quick
_AS_IS: dict[str, Any] = {"keep_default_na": False, "dtype_backend": "numpy_nullable", "low_memory": False}
"""Integers stay exact beside missing cells."""
_EXACT: dict[str, Any] = {} if pd.__version__ >= "3.1" else {"float_precision": "round_trip"}
"""Floats to the last bit: from 3.1 on pandas reads them so whatever it is told."""
_Markers = list[str] | dict[str, list[str]]  # texts that mean a missing cell, by column where they differ
_DECIMAL_COMMA = re.compile(r"[+-]?(?!0\d+$)\d+(,\d+)?")  # 01003 is a code


def read_csv(
    raw: bytes,
    name: str,
    missing: Sequence[str] = (),
    columns: Mapping[str, Reading] | None = None,
    *,
    as_texts: bool = False,
    coded: bool = False,
) -> pd.DataFrame:
    r"""Return a CSV file as a table; no message shows a cell.

    The separator is the one of comma, semicolon, tab and bar that the header line holds most often. In files with
    semicolons, columns of numbers with decimal commas are numbers. An empty cell is missing, and so is each
    text in ``missing``; nothing else is: ``NA``, ``None`` and ``nan`` are texts unless listed. Integers that
    64 bits cannot hold stay text (pandas reads -2**63 as missing), and so does a column of digits of which some
    begin with 0, as postcodes and other codes do: 01003 is not 1003. A row with too few cells ends in missing
    ones. ``name`` is what messages call the file. A column whose type is in ``columns`` stays text, for its reading
    to settle; with ``as_texts`` all do. ``attrs["notes"]`` says so where the encoding is a guess. If ``coded``, columns
    of few texts are categories, which spares who types them a look at each cell; ``attrs[CODED]`` names them.

    Raises:
        InputError: No text, empty, without rows, rows longer than the header, a last row cut short, or a name given
            twice.

    Example:
        >>> read_csv(b"age;height\n40;1,80\n;1,65\n", "people.csv").height.tolist()
        [1.8, 1.65]
    """
    text, notes = _text(raw, name)
    if not text or text.isspace():
        raise InputError(f"{name} must hold a header line and rows, got an empty file")
    text, separator, done = tidied(text, name)
    notes += done
    known = columns or {}
    parse = partial(_parse, text.encode(), separator, name)
    markers = _markers(parse, missing, known)
    codes = _of_few_texts(parse(markers, nrows=_LOOKED_AT), known) if coded and separator != ";" else []
    texts = dict.fromkeys((c for c in known if known[c].type), "string")
    frame = parse(markers, dtype="string" if as_texts else texts | dict.fromkeys(codes, "category"))
    if len(frame) == 0:
        raise InputError(f"{name} must hold rows, got a header line alone")
    if not isinstance(frame.index, pd.RangeIndex):
        raise InputError(f"{name} must have as many cells in each row as names in its header, got more")
    refuse_cut_short(text, separator, name, len(frame.columns))
    if notes:
        frame.attrs["notes"] = notes
    if codes:
        frame.attrs[CODED] = codes
    if as_texts:
        return frame
    huge = [str(c) for c in frame.columns if frame[c].dtype == "UInt64"]
    if huge:  # pandas takes 2**64 - 1 for its own missing marker
        frame[huge] = parse(markers, dtype=dict.fromkeys(huge, "string"), usecols=huge)
    whole = [str(c) for c in frame.columns if frame[c].dtype == "Int64"]
    if whole and _LEADING_ZERO.search(text):
        digits = parse(markers, dtype=dict.fromkeys(whole, "string"), usecols=whole)
        codes = [c for c in whole if digits[c].str.fullmatch(r"0\d+").any()]
        frame[codes] = digits[codes]
    for column in frame.columns[frame.dtypes == "string"]:
        typed = column in known and known[column].type is not None
        own = markers[column] if isinstance(markers, dict) else markers
        frame[column] = _texts(frame[column], own, decimal_comma=separator == ";" and not typed)
    return frame


def decoded(raw: bytes, name: str) -> str:
    r"""Return the text of a file: UTF-8, UTF-16, or the encoding that its letters are likeliest in.

    Raises:
        InputError: It is no text.

    Example:
        >>> decoded("Straße;Köln\nGäßchen;Düren\n".encode("latin-1"), "a.csv").splitlines()[0]
        'Straße;Köln'
    """
    return _text(raw, name)[0]


def _text(raw: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text of a file, and a note where its encoding is a guess."""
    found = encoding_of(raw)
    if found is None:
        if b"\0" in raw:
            what = "it is another kind of file, or was not written to its end"
            raise InputError(f"{name} must be text, got NUL bytes: {what}")
        if others := beside_utf8(raw):
            but = "1 byte that is" if others == 1 else f"{others} bytes that are"
            raise InputError(f"{name} must be text in one encoding, got UTF-8 but for {but} not")
        raise InputError(f"{name} must be text, in UTF-8 or another encoding that can be told; got neither")
    encoding, guessed = found
    note = f"{name} is not in UTF-8: it was read as {spoken(encoding)}, a guess by its letters" if guessed else ""
    return raw.decode(encoding), [note + "; if some look wrong, save it as UTF-8"] if guessed else []


class Tidied(NamedTuple):
    """The text of a CSV file with what programs write around a table taken off, and what was done, in words."""

    text: str
    separator: str
    notes: list[str]


def tidied(text: str, name: str) -> Tidied:
    r"""Return the text of a CSV file as a header line and rows with as many cells as it.

    Lines above the header that are no rows (a title, groups of columns, comments that begin with #, ``sep=;``, which
    Excel reads), rows below it that say more of its columns (units, questions as Qualtrics exports them), rows of
    separators alone, which Excel writes, a last line that says how many rows there are, as database consoles write it,
    a last row of totals, and remarks below the table are left out. Cells such as ``="052"``, which keep Excel from
    reading numbers, and cells in single quotes are as those in double ones. Blanks behind separators, where they begin
    all names but the first, are left out. Where each of the first rows has one cell more than the header, the header
    gets an empty name: the last one, where these cells are empty, as behind a separator that ends each row; the first
    one, where they number the rows, as in files of R. A separator that ends the header alone is left out.

    Raises:
        InputError: The header line cannot be parsed, or has a name twice.

    Example:
        >>> tidied("sep=;\nage;job\n1;40;cook\n2;41;smith\n;;\n", "a.csv").text
        ';age;job\n1;40;cook\n2;41;smith\n'
    """
    notes: list[str] = []
    if excel := _EXCELS_LINE.match(text):
        text = text[excel.end() :]
    above = _above_the_header(text)
    if above:
        text = "".join(text.splitlines(keepends=True)[above:])
    if '="' in text:
        text = _EXCELS_QUOTED.sub(r'"\1"', text)
        plain, cells = _EXCELS_TEXT.subn(r'"\1"', text)
        text = plain if 2 * cells == text.count('"') else text  # else it may stand inside a cell
    header = _QUOTED.sub("", text.lstrip("\r\n")[:_HEADER])
    separator = max(SEPARATORS, key="".join(header.splitlines()[:1]).count)
    text = _in_double_quotes(text, separator)
    first = _first_rows(text, separator, name)
    if len(first.names) > 1 and all(each.startswith(" ") for each in first.names[1:]):
        text = _without_blanks(text, separator)
        first = _first_rows(text, separator, name)
    if is_above_names(first, partial(_are_new, first, text, separator)):
        text, above = text[first.ends[0] :], above + 1
        first = _first_rows(text, separator, name)
    _refuse_same(first, name)
    if below := below_names(first, partial(_are_new, first, text, separator)):
        text = text[: first.ends[0]] + text[first.ends[below] :]
        first = _first_rows(text, separator, name)
    notes += told_around(name, above, below)
    names, rows, end, _ = first
    if len(names) > 1 and (counted := _without_count(text)):
        text = text[:counted]
        notes.append(f"{name} ends in a line that says how many rows there are: left out")
    text, many = _without_last_lines(text, separator, first)
    notes += told_last(name, many)
    text, empty = _without_empty_rows(text, separator * (len(names) - 1))
    notes += told_between(name, empty)
    if rows and all(len(row) == len(names) + 1 for row in rows):
        if not any(row[-1] for row in rows):
            text = text[:end] + separator + text[end:]
        elif [row[0] for row in rows] == [str(k + 1) for k in range(len(rows))]:
            start = len(text) - len(text.lstrip("\r\n"))
            text = text[:start] + separator + text[start:]
    elif rows and not names[-1] and all(len(row) == len(names) - 1 for row in rows):
        text = text[: end - 1] + text[end:]
    return Tidied(text, separator, notes)


def _above_the_header(text: str) -> int:
    """Return how many lines are above the header: titles, and comments, where a line below them is plainly a header.

    A title is words in one cell, or what is said behind a colon in two; a comment begins with # and a blank, or ##.
    Plainly a header is a line of several names (of three below a title), all different, none of them a number, above a
    row of as many cells.
    """
    lines = [_QUOTED.sub("x", line).strip() for line in text[:_HEADER].splitlines()[:_FIRST]]
    least = 0
    for above, line in enumerate(lines):
        separator = max(SEPARATORS, key=line.count)
        filled = [cell.strip() for cell in line.split(separator) if cell.strip()]
        if re.match(r"#[#\s]", line):
            least = max(least, 2)
        elif ((len(filled) == 1 and " " in filled[0]) or _is_said(line.split(separator))) and '"' not in line:
            least = max(least, _FEWEST_CELLS)
        elif line.strip(SEPARATORS):
            names = [cell.strip() for cell in line.split(separator)]
            below = lines[above + 1 : above + 2]
            is_header = len(names) >= least and all(names) and len({*names}) == len(names)
            is_header &= not any(_NUMBER.fullmatch(name) for name in names) and '"' not in line
            return above if least and is_header and [len(row.split(separator)) for row in below] == [len(names)] else 0
    return 0


def _is_said(cells: Sequence[str]) -> bool:
    """Tell whether a line is a word with a colon and what it says of a table, in two cells: not names of which one is.

    Example:
        >>> [_is_said(line.split(";")) for line in ("Unit:;North", "Unit:;North;;", "name:;age;", "Unit:;Year:")]
        [True, True, False, False]
    """
    said, of, *others = [cell.strip() for cell in cells] + [""] * (len(cells) < 2)
    return said.endswith(":") and of != "" and not of.endswith(":") and not any(others) and len(others) != 1


def told_around(name: str, above: int, below: int) -> list[str]:
    """Return in words how many lines above and below the names of columns are left out."""
    told = [f"{name} begins with {_lines_of_none(above)}: left out"] if above else []
    return told + ([f"{name} has {_lines_of_none(below)} below the names of its columns: left out"] if below else [])


def _lines_of_none(many: int) -> str:
    return "1 line that is no row" if many == 1 else f"{many} lines that are no rows"


def _in_double_quotes(text: str, separator: str) -> str:
    """Return a text with its cells in double quotes, where they need any, if its names are in single ones."""
    header = text.lstrip("\r\n")[:_HEADER].splitlines()[:1]
    if '"' in text or not header or not all(re.fullmatch(r"'[^']*'", name) for name in header[0].split(separator)):
        return text
    rows = [row for row in _cells(text, separator, quotechar="'") if row]
    lines = sum(map(bool, text.splitlines()))
    if len(rows) != lines or {len(row) for row in rows} != {len(rows[0])}:  # an apostrophe is none
        return text
    return _written(rows, separator)


def _without_blanks(text: str, separator: str) -> str:
    """Return a text without the blanks behind its separators, which begin all names but the first."""
    rows = _cells(text, separator, skipinitialspace=True, strict=True)
    return _written(rows, separator) if rows else text


def _cells(text: str, separator: str, **how: Any) -> list[list[str]]:
    """Return the cells of each row; none at all where they have no form."""
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, **how))
    except csv.Error:
        return []


def _written(rows: Sequence[Sequence[str]], separator: str) -> str:
    csv.writer(kept := io.StringIO(), delimiter=separator, lineterminator="\n").writerows(rows)
    return kept.getvalue()


class First(NamedTuple):
    """The beginning of a table, in texts."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    """The first ones that hold anything; none where they have no form."""
    end: int = 0
    """Where the header line ends in a file of texts, without what ends it."""
    ends: Sequence[int] = ()
    """Where it ends, and each of the rows."""


def _first_rows(text: str, separator: str, name: str) -> First:
    """Return the cells of the header line and of the first rows, and where they end."""
    lines = text if "\n" in text else text.replace("\r", "\n")
    at = len(lines) - len(lines.lstrip("\r\n"))
    ends: list[int] = []
    reader = csv.reader(_lines(lines, at, ends), delimiter=separator)
    try:
        header = next(reader)
        end = len(lines[: ends[-1]].rstrip("\r\n"))
    except csv.Error:  # a quote that is not closed, or a header of no end
        raise InputError(f"{name} must be a CSV file, but its header line cannot be parsed") from None
    places = ends[-1:]
    try:
        found = [(row, ends[-1]) for row in islice(reader, _FIRST) if any(row)]
    except csv.Error:
        found = []
    return First(header, [row for row, _ in found], end, [*places, *(place for _, place in found)])


def is_above_names(first: First, are_new: Callable[[], bool]) -> bool:
    """Tell whether a header groups columns: names lack, or are there twice, and the row below it has all.

    ``are_new`` tells whether no row but the first has one of its cells.
    """
    names, rows = first.names, first.rows
    if "" not in names[1:] and len({*names}) == len(names):
        return False
    return _may_be_names(first) and bool(_said_of_numbers(rows[0], rows[2:])) and are_new()


def _may_be_names(first: First) -> bool:
    """Tell whether the line below the header has a name, each its own and no number, for each column."""
    below = first.rows[0] if first.rows else []
    has_all = len(below) == len(first.names) > 1 and all(below[1:]) and (bool(below[0]) or not first.names[0])
    return has_all and len({*below}) == len(below) and all(_WORD.search(cell) for cell in below if cell)


def below_names(first: First, are_new: Callable[[], bool]) -> int:
    """Return how many rows below the header say more of its columns, as units or questions do, and hold nobody.

    Above numbers or dates they have different texts, or these texts alone, and none that a row below has, too: who has
    not answered is not the only one. Half of them, there and in all, plainly say more of their columns.
    """
    for below, row in enumerate(first.rows[:3], start=1):
        if all(cell.startswith(_QUALTRICS) for cell in row):
            return below
    said = _said_of_numbers(first.rows[0], first.rows[1:]) if first.rows else []
    filled = [(cell, name) for cell, name in zip(first.rows[0], first.names, strict=False) if cell] if said else []
    is_told = len(filled) > 1 and (len({*said}) > 1 or len(said) == len(filled))
    plain = [cell for cell, name in filled if _is_plainly_of(cell, name)]
    is_told &= 2 * len(plain) >= len(filled) and 2 * sum(cell in plain for cell in said) >= len(said)
    return int(is_told and len(first.rows[0]) <= len(first.names) and are_new())


def _is_plainly_of(cell: str, name: str) -> bool:
    """Tell whether a text says more of a column: in brackets, a unit, a type, a question, or with a word of its name.

    Example:
        >>> [_is_plainly_of(cell, "bodyMass") for cell in ("(years)", "kg/m2", "Mass at birth", "Anna", "18 years")]
        [True, True, True, False, False]
    """
    text = folded(cell).strip()
    if re.fullmatch(r"[(\[{<]\D.*[)\]}>]", text) or re.fullmatch(r"\S+ \S+ .*\?", text, re.DOTALL) or text in _TYPES:
        return True
    units, words = (re.findall(r"[^\W\d_]+|[%€$£¥]|°[cf]?", part) for part in (text.rpartition(" (")[2], text))
    if units and {*units} <= _UNITS:
        return re.search(r"(?<![^\W\d_])\d", text) is None  # 18 years are someone's
    own = re.findall(r"[^\W\d_]{3,}", folded(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)))
    return re.search(r"\d", text) is None and not {*own}.isdisjoint(words)


def _said_of_numbers(row: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """Return the texts of a row in columns that hold numbers or dates below; none if it holds such or no answer."""
    if not all(_WORD.search(cell) and not _MEASURED.fullmatch(cell) for cell in row if cell) or MISSING & {*row} - {""}:
        return []
    if any(_is_no_answer(cell) for cell in row):
        return []
    columns = [[own[k] for own in below if k < len(own) and own[k] not in MISSING] for k in range(len(row))]
    numbers = [len(cells) >= _FEWEST_CELLS and all(map(_MEASURED.fullmatch, cells)) for cells in columns]
    return [cell for cell, is_number in zip(row, numbers, strict=True) if cell and is_number]


def _is_no_answer(cell: str) -> bool:
    text = folded(cell).strip(" ()[]{}<>.*-_!?")
    return text in _NO_ANSWERS or bool(_NO_ANSWER.fullmatch(text) or re.fullmatch(r"[<>]\s?\d.*", cell.strip()))


def _are_new(first: First, text: str, separator: str) -> bool:
    """Tell whether no row but the first has one of its cells."""
    cells = "|".join(re.escape(cell) for cell in first.rows[0] if cell)
    ends = rf"{re.escape(separator)}\r\n\""
    return not re.compile(rf"(?<=[{ends}])(?:{cells})(?=[{ends}]|\Z)").search(text, first.ends[1])


def _refuse_same(first: First, name: str) -> None:
    """Find duplicates, which pandas would rename; positions are told, for a name may be a cell."""
    for position, column in enumerate(first.names):
        if column and column in first.names[:position]:
            places = f"columns {first.names.index(column) + 1} and {position + 1}"
            hint = ": if the names are in line 2, delete line 1" if _may_be_names(first) else ""
            raise InputError(f"{name} must have distinct column names, got one twice ({places}){hint}")


def _without_count(text: str) -> int:
    """Return where a text ends without a last line such as ``(500 rows affected)``; 0 where it has none.

    It says how many lines are between it and the header, in whatever language.
    """
    said = _COUNT.fullmatch(text[-_LAST:].rstrip().rpartition("\n")[2])  # without a copy of the text
    head = text.rstrip().rpartition("\n")[0] if said else ""
    return len(head) if said and int(said[1]) == sum(not line.isspace() for line in io.StringIO(head)) - 1 else 0


def _without_last_lines(text: str, separator: str, first: First) -> tuple[str, Counter[str]]:
    """Return a text without its last lines that are no rows, and what they are: empty, of totals, or remarks."""
    end, many = len(text), Counter[str]()
    while end > first.end:
        last = len(text[max(0, end - _HEADER) : end].rstrip("\r\n")) - min(end, _HEADER) + end
        start = max(text.rfind("\n", 0, last), text.rfind("\r", 0, last)) + 1
        line, what = text[start:last], ""
        cells = next(iter(_cells(line, separator)), []) if line.count('"') % 2 == 0 else []
        if separator in line and not line.strip(f"{separator} \t"):
            what = "empty"
        elif cells and len(first.names) > 1 and start >= first.end:
            before = "\n".join(text[max(0, start - _LAST) : start].splitlines())
            is_below_blank = before.rpartition("\n")[2].strip(f"{separator} \t") == "" != before
            what = "remark" if is_remark(cells, first, is_below_blank=is_below_blank) else what
            rows = partial(_cells, text[first.ends[0] : start], separator)
            what = "total" if is_total(cells, rows, "," if separator == ";" else ".") else what
        if not what:
            break
        end, many[what] = start, many[what] + 1
    return text[:end], many


def told_between(name: str, empty: int) -> list[str]:
    """Return in words how many empty rows between others are left out: numbers of rows may count them."""
    return [f"{name} has {empty:,} empty {'row' if empty == 1 else 'rows'} {BETWEEN}"] if empty else []


def told_last(name: str, many: Mapping[str, int]) -> list[str]:
    """Return in words what the last rows were that are left out."""
    told = [f"{name} ends in {many['empty']:,} empty rows: they are left out"] if many.get("empty") else []
    told += [f"{name} ends in a row of totals: left out"] if many.get("total") else []
    remarks = _lines_of_none(many.get("remark", 0))
    return told + ([f"{name} ends in {remarks} (remarks): left out"] if many.get("remark") else [])


def is_remark(cells: Sequence[str], first: First, *, is_below_blank: bool) -> bool:
    """Tell whether a last row is a remark: one cell, called a source or note or below a blank, as few first cells are.

    Where it has fewer cells than there are columns, it may also be a footnote, and have separators with blanks in it.
    """
    filled = [cell for cell in cells if cell.strip()]
    is_short = len(cells) < len(first.names)
    is_one = len(filled) == 1 or (is_short and all(re.match(r"\s+\D", cell) for cell in filled[1:]))
    if not filled or not cells[0].strip() or not is_one:
        return False
    if 4 * sum(bool(_REMARK.fullmatch(row[0].strip())) for row in first.rows) > len(first.rows):
        return False
    if said := _REMARK.fullmatch(filled[0].strip()):
        words = folded(said[1] or "").split()
        is_called = not _SOURCES.isdisjoint((*words[:1], " ".join(words))) if words else is_short
        return is_called or (len(filled) == 1 and is_below_blank)
    is_alone = len(filled) == 1 and is_below_blank and len(first.names) >= _FEWEST_CELLS
    return is_alone and " " in filled[0].strip() and bool(_WORD.search(filled[0]))


def is_total(cells: Sequence[str], rows: Callable[[], Sequence[Sequence[str]]], decimal: str = ".") -> bool:
    """Tell whether a last row has totals: its first text says so, alone in its column.

    All others are the sums of all cells in their columns of the other ``rows``.
    """
    filled = [place for place, cell in enumerate(cells) if cell.strip()]
    said = [re.sub(r"[\W\d_]+", " ", folded(cells[place])).strip() for place in filled[:1]]
    if not {*said} & _TOTALS or len(filled) < 2 or not all(_NUMBER.fullmatch(cells[k].strip()) for k in filled[1:]):
        return False
    above = [row for row in rows() if len(row) > filled[-1]]
    if any(row[filled[0]].strip() == cells[filled[0]].strip() for row in above):
        return False
    return all(_is_sum(cells[k], [row[k] for row in above], decimal) for k in filled[1:])


def _is_sum(total: str, cells: Iterable[str], decimal: str) -> bool:
    held = (cell.strip().replace("," if decimal == "." else " ", "") for cell in (total, *cells))  # of thousands
    try:
        numbers = [0.0 if cell in MISSING else float(cell.replace(decimal, ".")) for cell in held]
    except ValueError:
        return False
    return math.isclose(numbers[0], math.fsum(numbers[1:]), rel_tol=1e-6)


def _without_empty_rows(text: str, empty: str) -> tuple[str, int]:
    """Return a text without rows between others that are separators alone, and how many these are."""
    if len(empty) < _FEWEST_CELLS - 1 or f"\n{empty}" not in text:
        return text, 0
    kept, at, quotes, many = [], 0, 0, 0
    for found in re.finditer(rf"(?<=\n){re.escape(empty)}\r?\n", text):
        kept.append(text[at : found.start()])
        quotes += kept[-1].count('"')
        at = found.start() if quotes % 2 else found.end()  # it is in a cell of several lines
        many += 1 - quotes % 2
    return "".join([*kept, text[at:]]), many


def _lines(text: str, start: int, ends: list[int]) -> Iterator[str]:
    """Yield the lines of a text, of which only the first may be asked for, and note where each ends."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        ends.append(end)
        yield text[start:end]
        start = end


def refuse_cut_short(text: str, separator: str, name: str, columns: int) -> None:
    """Refuse a last row, of no quoted cells, that is shorter than the header: the file may have been cut off."""
    end = len(text)  # without a copy of the text
    while end and text[end - 1] in "\r\n":
        end -= 1
    last = text[max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1 : end]
    cells = last.count(separator) + 1
    if cells < columns and '"' not in last:
        raise InputError(
            f"{name} must have as many cells in its last row as names in its header, got {cells} of {columns}: "
            "it may have been cut off"
        )


def _markers(parse: Callable[..., pd.DataFrame], missing: Sequence[str], columns: Mapping[str, Reading]) -> _Markers:
    """Return the texts that mean a missing cell, by column where columns have their own."""
    everywhere = ["", *missing]
    if not any(reading.missing for reading in columns.values()):
        return everywhere
    header = parse(everywhere, nrows=0)
    return {c: [*everywhere, *(columns[c].missing if c in columns else [])] for c in header.columns}


def _of_few_texts(head: pd.DataFrame, columns: Mapping[str, Reading]) -> list[str]:
    """Return the columns of texts that are read as codes, which sorts them: quick where they are few.

    A column of which one of the first cells is no number is of texts in all; numbers that are too large may be floats.
    """
    texts = {c: head[c].dropna().unique() for c in head.columns[head.dtypes == "string"] if c not in columns}
    few = {c: pd.Series(found, dtype=object) for c, found in texts.items() if 2 * len(found) <= _LOOKED_AT}
    return [c for c, found in few.items() if pd.to_numeric(found, errors="coerce").isna().any()]


def _parse(text: bytes, separator: str, name: str, missing: _Markers, **how: Any) -> pd.DataFrame:
    """Return the cells of a file; ``how`` they are read is said in the words of ``pandas.read_csv``."""
    try:
        # bytes: of a text, which is four bytes a character in a StringIO, pandas makes them itself
        return pd.read_csv(io.BytesIO(text), sep=separator, na_values=missing, **_AS_IS, **_EXACT, **how)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError) as error:
        line = re.search(r"\b(?:line|row) (\d+)", str(error))
        where = f" at line {line[1]}" if line else ""
        raise InputError(f"{name} must be a CSV file, but cannot be parsed{where}") from None


def _texts(column: pd.Series, missing: Sequence[str], *, decimal_comma: bool) -> pd.Series:
    column = column.mask(column.isin(missing))  # pandas keeps the markers where it first tried numbers
    if not decimal_comma:
        return column
    levels = pd.Series(column.dropna().unique())
    if len(levels) and levels.str.fullmatch(_DECIMAL_COMMA).all():
        return column.str.replace(",", ".", regex=False).astype("Float64")
    return column
