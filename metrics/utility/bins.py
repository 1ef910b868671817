"""Edges of bins that are round numbers or dates of a calendar: nobody's smallest or largest value is among them.

Bins of a column of numbers or dates: round edges, and at least ten records in each.

A column as few groups that may be named, each of at least ten real records: common values, or bins with round edges.

What fewer than ten real records have is never named: it is among the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import column_levels, joint_codes
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import NANOSECONDS_A_DAY, as_floats, is_temporal, kind, value_texts

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


class Grid(NamedTuple):
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


_ENOUGH = 4


class Bins(NamedTuple):
    """Bins between edges; each holds its lower edge, not its upper one, and the first and the last are open."""

    edges: np.ndarray  # (k,) ascending, for k + 1 bins; nobody has them as value, or at least ten records do
    texts: tuple[str, ...] = ()  # the edges in words
    is_whole: bool = False  # whether all values are whole numbers

    def names(self, has_others: bool) -> list[str]:
        """Return the bins in words; ``has_others`` says that some single numbers are outside all bins."""
        if not self.texts:
            return ["any other value" if has_others else "any value"]
        widths = zip(self.texts, self.texts[1:], np.diff(self.edges), strict=False)
        inner = [low if self.is_whole and width == 1 else f"{low} to {high}" for low, high, width in widths]
        return [f"under {self.texts[0]}", *inner, f"{self.texts[-1]} or more"]


def bins_of(column: pd.Series, values: np.ndarray, entities: np.ndarray | None, most: int, fewest: int) -> Bins:
    """Return the most bins that a grid of round edges makes of some of a column's values.

    No edge is, in words, a value of fewer than ``fewest`` records; where that leaves fewer than ``_ENOUGH`` bins, as in
    a small table, no edge is the value of a single record.

    Args:
        column: The column, for its type.
        values: Floats, none missing, (m,).
        entities: Entity of each value, (m,), or None.
        most: Bins at most, about.
        fewest: Records, or entities, in a bin at least.
    """
    codes, seen = pd.factorize(values, sort=True)
    held = _Held(seen, codes, np.bincount(codes, minlength=len(seen)), entities)
    counts = held.within(np.arange(len(seen)), len(seen))
    is_whole = types.is_numeric_dtype(column.dtype) and bool((seen == np.round(seen)).all())
    best = Bins(np.zeros(0))
    for shared in (fewest, 2):
        for grid in round_grids(column, values, most - 2) if len(values) else ():
            hidden = grid.shows_values & np.isin(grid.edges, seen[counts < shared])
            kept = ~hidden
            kept[kept] = _filled(grid.edges[kept], held, fewest)
            if kept.sum() > len(best.edges):
                texts = [text for text, keep in zip(grid.texts, kept, strict=True) if keep]
                best = Bins(grid.edges[kept], tuple(texts), is_whole)
        if len(best.edges) + 1 >= _ENOUGH:
            break
    return best


class _Held(NamedTuple):
    """The distinct values of records, and who has them."""

    seen: np.ndarray  # the values, ascending
    codes: np.ndarray  # (m,) place of each record's value among them
    records: np.ndarray  # how many records have each
    entities: np.ndarray | None  # (m,) entity of each record, or None

    def within(self, parts: np.ndarray, size: int) -> np.ndarray:
        """Return the records, or entities, of each part of the values, by the part of each value."""
        if self.entities is None:  # a sum over values, which are fewer than records
            return np.bincount(parts, self.records, size).astype(int)
        return how_many_with(parts[self.codes], size, self.entities)


def _filled(edges: np.ndarray, held: _Held, fewest: int) -> np.ndarray:
    """Return which edges are left when each bin of too few records is put into its smaller neighbour."""
    kept = np.ones(len(edges), dtype=bool)
    while kept.any():
        counts = held.within(np.searchsorted(edges[kept], held.seen, side="right"), int(kept.sum()) + 1)
        few = int(np.argmin(counts))
        if counts[few] >= fewest:
            break
        beside = [i for i in (few - 1, few + 1) if 0 <= i < len(counts)]
        into = min(beside, key=lambda i: counts[i])
        kept[np.flatnonzero(kept)[max(few, into) - 1]] = False
    return kept


FEWEST = 10
"""Real records (people, where a column names them) that a named group holds at least."""
MOST = 12
"""Groups with a name of their own."""
OTHERS, MISSING = "others", "missing"

_ATOM = 0.1  # share of the records from which on one number is a group of its own beside the bins
_ATOMS = 3
_FEW_VALUES = 0.99  # share of the records that common values must hold, or a column of numbers is cut in bins
_NONE = np.zeros(0, dtype=int)


@dataclass(frozen=True, eq=False)
class Groups:
    """One column in groups: those with a name of their own, then the others, then missing cells."""

    column: str
    names: tuple[str, ...]  # of all groups; the last two are OTHERS and MISSING
    places: np.ndarray = field(default_factory=lambda: _NONE)  # (n,) group of each real record
    counts: np.ndarray = field(default_factory=lambda: _NONE)  # (size,) real records (or entities) of each group
    reason: str = ""  # why the column has no picture; empty where it has one
    is_binned: bool = False  # whether some groups are bins, which hold their lower edge and not their upper one
    # the single values that are groups, in the order of the groups; numbers ascend
    values: pd.Series = field(default_factory=lambda: pd.Series(dtype=float), repr=False)
    edges: np.ndarray | None = field(default=None, repr=False)  # of the bins, which come after the single values

    @property
    def size(self) -> int:
        """How many groups there are, the others and missing among them."""
        return len(self.names)

    def shares(self, places: np.ndarray) -> np.ndarray:
        """Return the share of each group, (size,), among records by their groups; NaN where there are none."""
        counts = np.bincount(places, minlength=self.size)
        return counts / len(places) if len(places) else np.full(self.size, np.nan)

    @property
    def shown_shares(self) -> np.ndarray:
        """The share of each group among the real records of groups of at least ``FEWEST``; NaN of smaller groups."""
        shown = self.counts >= FEWEST
        shares = np.where(shown, self.shares(self.places), np.nan)
        return shares / np.nansum(shares) if shown.any() else shares

    def place(self, cells: pd.Series) -> np.ndarray:
        """Return the group of each cell of a release; what no real record has is among the others.

        Raises:
            InputError: The cells are of another type than the real ones.
        """
        others, missing = self.size - 2, self.size - 1
        if kind(self.values) == "categorical":
            codes, _ = joint_codes([self.values, cells])
            place_of_code = np.full(codes.size, others)
            place_of_code[codes.tables[0]] = np.arange(len(self.values))
            place_of_code[-1] = missing
            return place_of_code[codes.tables[1]]
        if is_temporal(self.values) != is_temporal(cells) and cells.notna().any():
            raise InputError(f"column {self.column!r} must hold dates in both tables or in none")
        numbers, known = as_floats(cells), as_floats(self.values)
        found = np.full(len(numbers), others)
        if self.edges is not None:
            found = len(known) + np.searchsorted(self.edges, numbers, side="right")
        if len(known):
            at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            found = np.where(known[at] == numbers, at, found)
        return np.where(np.isnan(numbers), missing, found)


def groups_of(column: pd.Series, entities: np.ndarray | None = None) -> Groups:
    """Return a column of the real table in groups of at least ``FEWEST`` records, or entities where there are any.

    - Values: those that at least ``FEWEST`` records have, the ``MOST`` commonest; numbers too, where they are few.
    - Bins of other numbers and dates: between round edges (``bins_of``). A single number that a tenth of the records
      have is a group of its own, outside the bins.
    - Others: all other values, also those of a release that no real record has. Missing: cells without value.

    Example:
        >>> groups_of(pd.Series(["nurse"] * 30 + ["cook"] * 12 + ["spy"], name="job")).names
        ('nurse', 'cook', 'others', 'missing')
    """
    made = _of_numbers(column, entities) if kind(column) == "numeric" else _of_values(column, entities)
    places = made.place(column)
    counts = how_many_with(places, made.size, entities)
    return replace(made, places=places, counts=counts, reason=_reason(made, counts))


def _of_values(column: pd.Series, entities: np.ndarray | None) -> Groups:
    levels = column_levels(column, None)
    codes = np.where(column.isna().to_numpy(dtype=bool), -1, levels.codes)
    found = _Values.of(codes, entities)
    named = found.commonest(found.common, MOST)
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        named = np.sort(named)
    names = (*(levels.names[code] for code in named), OTHERS, MISSING)
    return Groups(str(column.name), names, values=column.iloc[found.first[named]].reset_index(drop=True))


def _of_numbers(column: pd.Series, entities: np.ndarray | None) -> Groups:
    numbers = as_floats(column)
    codes, seen = pd.factorize(numbers, sort=True)  # a missing one: -1
    found = _Values.of(codes, entities)
    there = found.held.sum()
    few = len(found.common) <= MOST and found.held[found.common].sum() >= _FEW_VALUES * there
    large = found.common[found.held[found.common] >= _ATOM * there]
    named = np.sort(found.common if few else found.commonest(large, _ATOMS))
    values = column.iloc[found.first[named]].reset_index(drop=True)
    texts = value_texts(column, seen[named]) if len(named) else []
    if few:
        return Groups(str(column.name), (*texts, OTHERS, MISSING), values=values)
    rest = ~np.isin(np.arange(-1, len(seen)), [-1, *named])[codes + 1]
    bins = bins_of(column, numbers[rest], None if entities is None else entities[rest], MOST - len(named), FEWEST)
    names = (*(f"exactly {text}" for text in texts), *bins.names(bool(texts)), OTHERS, MISSING)
    return Groups(str(column.name), names, is_binned=bool(len(bins.edges)), values=values, edges=bins.edges)


class _Values(NamedTuple):
    """The values of a column by their codes."""

    counts: np.ndarray  # records, or entities, of each value
    held: np.ndarray  # records of each value
    first: np.ndarray  # position of a record with each value
    common: np.ndarray  # values of at least ``FEWEST``, ascending

    @classmethod
    def of(cls, codes: np.ndarray, entities: np.ndarray | None) -> "_Values":
        size = int(codes.max(initial=-1)) + 1
        held = np.bincount(codes + 1, minlength=size + 1)[1:]
        counts = held if entities is None else how_many_with(codes, size, entities)
        first = np.zeros(size + 1, dtype=int)
        first[codes] = np.arange(len(codes))  # the last place takes those without a value
        return cls(counts, held, first, np.flatnonzero(counts >= FEWEST))

    def commonest(self, codes: np.ndarray, most: int) -> np.ndarray:
        """Return at most so many of these values, that with most records first."""
        return codes[np.argsort(-self.held[codes], kind="stable")][:most]


def _reason(made: Groups, counts: np.ndarray) -> str:
    named = counts[:-2] >= FEWEST
    if not named.any():
        return f"no value or range is shared by {FEWEST} records"
    if made.edges is not None and len(named) == 1 and not len(made.edges):
        return "it cannot be cut at round numbers that are nobody's value"
    return ""
