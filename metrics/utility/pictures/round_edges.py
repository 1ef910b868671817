"""Edges of bins that are round numbers or dates of a calendar: nobody's smallest or largest value is among them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.value_texts import NANOSECONDS_A_DAY, value_texts

_STEPS = (1.0, 2.0, 2.5, 5.0)
_TRIED = 4  # widths of bins that are tried
_LONG = 50.0  # positive numbers whose largest is so many times the smallest are cut at 1, 2, 5, 10, 20 ...
_MONTH, _YEAR = 30.44 * NANOSECONDS_A_DAY, 365.25 * NANOSECONDS_A_DAY
_HOUR, _MINUTE, _SECOND = NANOSECONDS_A_DAY / 24, 60e9, 1e9
_CALENDAR = (
    *((_SECOND, n, "%Y-%m-%d %H:%M:%S") for n in (1, 5, 15)),
    *((_MINUTE, n, "%Y-%m-%d %H:%M") for n in (1, 5, 15)),
    *((_HOUR, n, "%Y-%m-%d %H:%M") for n in (1, 3, 6, 12)),
    *((NANOSECONDS_A_DAY, n, "%Y-%m-%d") for n in (1, 2, 5, 10)),
    *((_MONTH, n, "%Y-%m") for n in (1, 3, 6)),
    *((_YEAR, n, "%Y") for n in (1, 2, 5, 10, 20, 50, 100)),
)
_DURATIONS = ((NANOSECONDS_A_DAY, "days"), (_HOUR, "hours"), (_SECOND, "seconds"), (1.0, "nanoseconds"))


@dataclass(frozen=True)
class Grid:
    """Edges between bins."""

    edges: np.ndarray  # (k,) ascending; a bin holds its lower edge, not its upper one
    texts: Sequence[str]  # the edges in words
    shows_values: bool = True  # whether a text might be that of a cell: a year is the text of no date


def round_grids(column: pd.Series, values: np.ndarray, most: int) -> Iterator[Grid]:
    """Yield grids of at most about ``most`` bins over the middle 98 % of the values, the finest first.

    ``values`` are those of a numeric column as floats, none missing. Where a grid lies depends on two quantiles of the
    values, and on nothing else of them.

    Example:
        >>> ages = pd.Series(range(18, 91))
        >>> [float(e) for e in next(round_grids(ages, ages.to_numpy(float), 8)).edges]
        [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]
    """
    low, high = (float(q) for q in np.quantile(values, [0.01, 0.99]))
    if low == high:
        low, high = float(values.min()), float(values.max())
    if low == high:
        return
    if types.is_timedelta64_dtype(column.dtype):
        unit, word = next((u for u in _DURATIONS if high - low >= 2 * u[0]), _DURATIONS[-1])
        for edges in _numbers(low / unit, high / unit, most, whole=False):
            yield Grid(edges * unit, [f"{each:g} {word}" for each in edges])
    elif is_temporal(column):
        yield from _dates(low, high, most)
    else:
        whole = bool((values == np.round(values)).all())
        if low > 0 and high / low > _LONG:
            edges = _decades(low, high, most)
            yield Grid(edges, value_texts(column, edges))
        for edges in _numbers(low, high, most, whole):
            yield Grid(edges, value_texts(column, edges))


def _numbers(low: float, high: float, most: int, whole: bool) -> Iterator[np.ndarray]:
    """Yield edges at multiples of 1, 2, 2.5 and 5 times a power of ten, and half a step beside them."""
    least = (high - low) / most
    power = floor(log10(least))
    steps = [s * 10.0**p for p in (power, power + 1, power + 2) for s in _STEPS]
    for step in [s for s in steps if s >= least * (1 - 1e-9) and not (whole and s % 1)][:_TRIED]:
        for shift in (0.0, step / 2):
            if not (whole and shift % 1):
                first, last = ceil((low - shift) / step), floor((high - shift) / step)
                edges = np.arange(first, last + 1) * step + shift
                yield np.array([float(f"{edge:.12g}") for edge in edges])  # 0.3, not 0.30000000000000004


def _decades(low: float, high: float, most: int) -> np.ndarray:
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        edges = np.array([float(f"{part}e{power}") for power in powers for part in parts])
        edges = edges[(edges >= low) & (edges <= high)]
        if len(edges) <= most:
            return edges
    return edges[:: ceil(len(edges) / most)]


def _dates(low: float, high: float, most: int) -> Iterator[Grid]:
    fit = [each for each in _CALENDAR if (high - low) / (each[0] * each[1]) <= most] or [_CALENDAR[-1]]
    for unit, number, form in fit[:_TRIED]:
        if unit in (_YEAR, _MONTH):
            edges = _months(low, high, number * (12 if unit == _YEAR else 1))
        else:
            step = unit * number
            edges = np.arange(ceil(low / step), floor(high / step) + 1) * step
        texts = pd.Series(pd.to_datetime(edges.astype(np.int64))).dt.strftime(form)
        yield Grid(edges, [str(t) for t in texts], unit not in (_YEAR, _MONTH))


def _months(low: float, high: float, step: int) -> np.ndarray:
    """Return the first days of every so many months between two points in time, in nanoseconds since 1970."""
    first, last = (pd.Timestamp(int(each)) for each in (low, high))
    numbers = range(ceil((first.year * 12 + first.month - 1) / step) * step, last.year * 12 + last.month, step)
    starts = [pd.Timestamp(year=n // 12, month=n % 12 + 1, day=1).value for n in numbers]
    return np.array([s for s in starts if low <= s <= high], dtype=float)
