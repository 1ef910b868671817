"""Tables of Stata, SPSS and SAS, through pyreadstat: their labels, dates and codes for missing cells.

| program | is |
|---|---|
| SPSS | seconds, dates from 1582-10-14 on |
| SAS | dates in days, moments in seconds, from 1960 on; times in seconds |
| Stata | from 1960 on, %td days, %tc milliseconds, %tw weeks (52 a year), %tm months, %tq quarters, %th halves |
| | of a year; %ty the year |
"""

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files.cell_texts import as_text, blanked, narrowed

_DAY = 86_400_000  # milliseconds, in which everything is counted here
_ENDS = r"\d*(?:\.\d*)?"  # width and decimals
_SPSS_MOMENT = re.compile(rf"(?:[AEJS]?DATE|QYR|MOYR|WKYR|DATETIME|YMDHMS){_ENDS}")
_SPSS_TIME = re.compile(rf"[DM]?TIME{_ENDS}")
_SAS_DAY = re.compile(
    r"(?:DATE|WEEKDAT[EX]|WORDDAT[EX]|(?:DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM)[BCDNPS]?|YYMON|MONYY|YYQR?[CDNPSZ]?|YEAR"
    rf"|JULIAN|WEEK[UVW]|YYWEEK[UVW]|(?:[EB]|IS)8601DA|NLDATE[A-Z]*){_ENDS}"
)
_SAS_MOMENT = re.compile(
    rf"(?:DATETIME|DATEAMPM|MDYAMPM|DTDATE|DTMONYY|DTWKDATX|DTYEAR|DTYYQC|(?:[EB]|IS)8601D[TNZX]|NLDATM[A-Z]*){_ENDS}"
)
_SAS_TIME = re.compile(rf"(?:TIME|TIMEAMPM|TOD|HHMM|HOUR|MMSS|(?:[EB]|IS)8601TM){_ENDS}")
_STATA = re.compile(r"%-?(?:t([dcCwmqhy])|(d))")
_MONTHS = {"m": 1, "q": 3, "h": 6}


def displayed(column: pd.Series, display: str | None, program: str) -> pd.Series:
    """Return numbers as the dates or durations that their display format makes of them, or the column as it is.

    Example:
        >>> displayed(pd.Series([734.0, None]), "%tm", "Stata").dt.date.tolist()[0]
        datetime.date(2021, 3, 1)
    """
    if not display or not pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers = column.astype(float)
    if (program == "SPSS" and _SPSS_TIME.fullmatch(display)) or (program == "SAS" and _SAS_TIME.fullmatch(display)):
        return pd.to_timedelta(numbers, unit="s")
    present = numbers.dropna()
    found = {"SPSS": _spss, "SAS": _sas, "Stata": _stata}[program](present, display)
    if found is None:
        return column
    moments = pd.Series(found, index=present.index, name=column.name)
    with suppress(pd.errors.OutOfBoundsDatetime):  # ``typed`` refuses such dates, unless the column is dropped
        moments = moments.astype("datetime64[ns]")
    return moments.reindex(column.index)


def _spss(numbers: pd.Series, display: str) -> np.ndarray | None:
    return _since("1582-10-14", numbers * 1000) if _SPSS_MOMENT.fullmatch(display) else None


def _sas(numbers: pd.Series, display: str) -> np.ndarray | None:
    if _SAS_DAY.fullmatch(display):
        return _since("1960-01-01", numbers * _DAY)
    return _since("1960-01-01", numbers * 1000) if _SAS_MOMENT.fullmatch(display) else None


def _stata(numbers: pd.Series, display: str) -> np.ndarray | None:
    found = _STATA.match(display)
    if not found:
        return None
    unit = found[1] or found[2]
    if unit in "dcC":
        return _since("1960-01-01", numbers * (_DAY if unit == "d" else 1))
    whole = numbers.astype("int64").to_numpy()
    if unit == "y":
        return (whole - 1970).astype("datetime64[Y]").astype("datetime64[ms]")
    if unit == "w":
        years = (whole // 52 - 10).astype("datetime64[Y]").astype("datetime64[ms]")
        return years + (whole % 52 * 7 * _DAY).astype("timedelta64[ms]")
    return (whole * _MONTHS[unit] - 120).astype("datetime64[M]").astype("datetime64[ms]")


def _since(origin: str, milliseconds: pd.Series) -> np.ndarray:
    passed = milliseconds.round().astype("int64").to_numpy().astype("timedelta64[ms]")
    return np.datetime64(origin, "ms") + passed


_SHOWN = 5  # labelled codes that a note lists


@dataclass(frozen=True)
class Declared:
    """Codes that a file declares missing."""

    ranges: Sequence[Mapping[str, Any]] = ()
    """Of SPSS, each from ``lo`` to ``hi``; texts where both are the same text."""
    marks: Sequence[str] = ()
    """Letters in a column of numbers, each a reason why a cell is missing: .a of Stata, .A of SAS."""

    def among(self, codes: pd.Series) -> pd.Series:
        """Return which of the codes are declared missing."""
        found = codes.isin(list(self.marks))
        for each in self.ranges:
            found |= codes.eq(each["lo"]) if isinstance(each["lo"], str) else codes.between(each["lo"], each["hi"])
        return found

    def __str__(self) -> str:
        """Return the codes as a list for people."""
        ranges = [
            as_text(r["lo"]) if r["lo"] == r["hi"] else f"{as_text(r['lo'])} to {as_text(r['hi'])}" for r in self.ranges
        ]
        return ", ".join([*ranges, *(f".{mark}" for mark in self.marks)])


def without_declared(column: pd.Series, declared: Declared) -> tuple[pd.Series, str | None]:
    """Return a column without the codes that its file declares missing, and a note of how many cells had one.

    Example:
        >>> without_declared(pd.Series([1.0, -9.0], name="age"), Declared([{"lo": -9.0, "hi": -9.0}]))[1]
        "column 'age': missing by codes that the file declares so (-9): 1 cells"
    """
    found = declared.among(column)
    if not found.any():
        return column, None
    note = f"column {column.name!r}: missing by codes that the file declares so ({declared}): {found.sum()} cells"
    column = column.mask(found)
    return pd.to_numeric(column) if declared.marks else column, note


def with_labels(column: pd.Series, labels: Mapping[object, str]) -> tuple[pd.Series, str | None]:
    """Return a column as a category of labels if all its codes have one; else as it is, with a note about the labels.

    An empty label is none. Where two codes share a label, all labels of the column carry their code.

    Example:
        >>> with_labels(pd.Series([1, 2]), {1: "no", 2: "yes"})[0].tolist()
        ['no', 'yes']
    """
    texts = {code: str(label).strip() for code, label in labels.items() if str(label).strip()}
    present = column.dropna().unique()
    if not texts or not len(present):
        return column, None
    if not all(code in texts for code in present):
        what = "numbers" if types.is_numeric_dtype(column.dtype) else "codes"
        return column, (
            f"column {column.name!r} keeps its {what}, for not all of them have a label; labelled are "
            f"{_listed(texts)}: list in data.missing what means no answer"
        )
    note = None
    if len(set(texts.values())) < len(texts):
        texts = {code: f"{label} ({as_text(code)})" for code, label in texts.items()}
        note = f"column {column.name!r}: several codes share a label, so all its labels carry their codes"
    return pd.Series(pd.Categorical(column.map(texts)), index=column.index, name=column.name), note


def _listed(texts: Mapping[object, str]) -> str:
    shown = [f"{as_text(code)} ({label!r})" for code, label in list(texts.items())[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")


LABELS = "synthrisk.labels"  # attribute of a frame: what a file says of columns, by name
_READERS = {
    ".dta": ("Stata", "read_dta"),
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".por": ("SPSS", "read_por"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
}
STATISTICAL = tuple(_READERS)
_NO_USER_MISSING = (".por", ".xpt")


def read_statistical(raw: bytes, suffix: str, name: str, missing: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table in a file of Stata (.dta), SPSS (.sav, .zsav, .por) or SAS (.sas7bdat, .xpt).

    A column whose codes all have a value label becomes a category of the labels; one of which only some have keeps
    its codes. Codes that the file declares missing are missing, and so are codes and labels listed in ``missing``
    and the empty text. Numbers with a display format of dates or times become such. SAS keeps labels in a catalog
    apart, which is not read. ``attrs[LABELS]`` has the labels of columns, ``attrs["notes"]`` a
    sentence for each column where this is not plain.

    Raises:
        InputError: pyreadstat is not installed, or the file cannot be read.
    """
    try:
        import pyreadstat
    except ImportError:
        needs = "needs the package pyreadstat, which is not installed"
        raise InputError(f"{name} {needs}: pip install 'synthrisk[files]'") from None
    program, reader = _READERS[suffix]
    options = {} if suffix in _NO_USER_MISSING else {"user_missing": True}
    try:
        read = getattr(pyreadstat, reader)
        frame, about = read(io.BytesIO(raw), disable_datetime_conversion=True, **options)
    except Exception:  # noqa: BLE001 - the reader's errors are its own, and may quote the file
        raise InputError(
            f"{name} must be a file of {program}, but cannot be read as one: it is another kind of file, damaged, "
            "cut short or encrypted"
        ) from None
    columns, notes = {}, []
    for name_of in frame.columns:
        declared = Declared(about.missing_ranges.get(name_of, ()), about.missing_user_values.get(name_of, ()))
        codes, of_declared = without_declared(frame[name_of], declared)
        codes = narrowed(displayed(codes, about.original_variable_types.get(name_of), program))
        labels = pd.Series(about.variable_value_labels.get(name_of, {}), dtype=object)
        labels = labels[~declared.among(labels.index.to_series()).to_numpy()]
        labelled, of_labels = with_labels(blanked(codes, missing), labels.to_dict())
        columns[name_of] = blanked(labelled, missing)
        notes += [note for note in (of_declared, of_labels) if note]
    table = pd.DataFrame(columns, index=frame.index)
    table.attrs["notes"] = notes
    said = {name_of: str(label or "").strip() for name_of, label in about.column_names_to_labels.items()}
    table.attrs[LABELS] = {name_of: label for name_of, label in said.items() if label}
    return table
