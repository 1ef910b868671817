"""Dates and durations of Stata, SPSS and SAS, which are numbers with a display format.

| program | is |
|---|---|
| SPSS | seconds, dates from 1582-10-14 on |
| SAS | dates in days, moments in seconds, from 1960 on; times in seconds |
| Stata | from 1960 on, %td days, %tc milliseconds, %tw weeks (52 a year), %tm months, %tq quarters, %th halves |
| | of a year; %ty the year |
"""

import re
from contextlib import suppress

import numpy as np
import pandas as pd

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
