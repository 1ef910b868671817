"""Short texts for the numbers, dates and durations of a column."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.kinds import is_temporal

NANOSECONDS_A_DAY = 86_400e9


def value_texts(column: pd.Series, values: np.ndarray) -> list[str]:
    """Return short texts for numbers (or dates, as floats) of a column: distinct wherever the numbers are.

    Example:
        >>> value_texts(pd.Series([1.5, 2.25]), np.array([1.0, 2.25, 2.2504]))
        ['1', '2.25', '2.2504']
    """
    wanted = len(np.unique(values))
    texts = pd.Series(values).map(str)
    for texts in _date_texts(column, values) if is_temporal(column) else _number_texts(values):
        if texts.nunique() == wanted:
            break
    return [str(each) for each in texts]


def _number_texts(values: np.ndarray) -> Iterator[pd.Series]:
    for digits in (4, 6, 9, 12, 17):
        yield pd.Series([_number(v, digits) for v in values], dtype=object)


def _number(value: float, digits: int) -> str:
    if value != 0 and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    if value == np.round(value):
        return str(int(value))
    return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")


def _date_texts(column: pd.Series, values: np.ndarray) -> Iterator[pd.Series]:
    if types.is_timedelta64_dtype(column.dtype):
        for numbers in _number_texts(values / NANOSECONDS_A_DAY):
            yield numbers + " days"
        return
    times = pd.Series(pd.to_datetime(np.round(values).astype(np.int64), utc=True)).dt.round("us")
    zone = getattr(column.dtype, "tz", None)
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"):
        yield (times if zone is None else times.dt.tz_convert(zone)).dt.strftime(form)
