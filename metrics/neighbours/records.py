"""Records of mixed types as points: numbers and level codes, and what a difference costs in each column.

A squared distance (``euclid``) or the sum of column distances (``gower``) is a sum of terms, added in one order:
categorical columns, then numeric ones, each by name. So every search of the same records gives the same bits.

    categorical  0 where the codes are equal, else cost[a] + cost[b]
    numeric      min(|a - b| * factor, cap), squared in euclid

Before they are subtracted, numbers are only multiplied by a power of two, which is exact: near values keep their
difference, and squares stay inside the range of a float.

The two spaces: in ``euclid`` numerics are in standard deviations, categorical levels standardised one-hot columns, and
the distance is Euclidean; in ``gower`` it is the mean over columns of |a - b|/range (numeric) or 0/1 (categorical), in
[0, 1].

The real records that were taken last are remembered: they are the same for every release, so that what is found of them
serves again. A release that is a copy of them, row for row, is recognised too. Records are never changed, so that they
can be shared.

What a search of nearest records is, and the one by numpy: every record against every other.

It is the reference for the others, and what runs without numba. All find the same, to the last bit.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from synthrisk.metrics.errors import InputError, check_word
from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.tables import Inside, Tables, in_order, inside

SpaceName = Literal["euclid", "gower"]
Ranges = Literal["both", "reference"]
_HEAVIEST = 1e100  # its square is still far inside the range of a float


@dataclass(frozen=True)
class Space:
    """A space with its settings in force, as a key of what is computed in it."""

    name: SpaceName
    columns: tuple[str, ...]  # in the order of their names
    weights: tuple[float, ...]  # one a column
    ranges: Ranges = "both"


def check_space(space: str = "euclid") -> None:
    """Refuse a name that is no space."""
    check_word("space", space, "euclid", "gower")


def space_of(
    tables: Tables,
    name: SpaceName,
    weights: Mapping[str, float] | None = None,
    columns: Sequence[str] | None = None,
    ranges: Ranges = "both",
) -> Space:
    """Return a space over some of the tables' columns.

    Args:
        tables: The tables of a release.
        name: ``euclid`` or ``gower``.
        weights: What a column is multiplied by, from 0 to 1e100 (its square counts in euclid); 1 if not given.
        columns: The columns that count; None takes all.
        ranges: What a gower difference is divided by: the range over both tables, or over the table searched
            with differences above it counted as 1 (as SDMetrics' DCR does).

    Raises:
        InputError: The space has another name, a column is not in the tables, a weight is out of its
            range, or ``ranges`` is given for ``euclid``.
    """
    check_space(name)
    if ranges not in ("both", "reference") or (ranges == "reference" and name != "gower"):
        raise InputError(f"ranges must be both, or reference in gower space, got {ranges!r} in {name}")
    chosen = tables.columns if columns is None else tables.check_columns("columns", columns)
    ordered = in_order(chosen)
    given = dict(weights or {})
    if given:
        tables.check_columns("weights", list(given))
    for column, weight in given.items():
        number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= _HEAVIEST:
            raise InputError(f"weights must be numbers from 0 to {_HEAVIEST:g}, got {weight!r} for {column!r}")
    return Space(name, tuple(ordered), tuple(float(given.get(c, 1.0)) for c in ordered), ranges)


_T = TypeVar("_T", bound=tuple[np.ndarray, ...])
_FEW = 1_000  # rows that tell most tables apart
_LAST: list[tuple[np.ndarray, ...]] = []  # one at most: a million records take 100 MB


def remembered(real: _T) -> _T:
    """Return the real records that were taken last, if these have the same cells; otherwise keep these."""
    known = recognised(real)
    _LAST[:] = [known]
    return known


def recognised(records: _T) -> _T:
    """Return the real records that were taken last, if these have the same cells; otherwise these."""
    for last in [*_LAST]:  # another thread may take others meanwhile
        if isinstance(last, type(records)) and _are_equal(last, records):
            return last
    return records


def _are_equal(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    pairs = [*zip(one, other, strict=True)]
    return all(np.array_equal(a[:_FEW], b[:_FEW]) for a, b in pairs) and all(np.array_equal(a, b) for a, b in pairs)


Side = Literal["real", "synthetic"]
FAR = 4.0  # where a missing number sits in gower space: further than any range from numbers in [-1, 1]
_CACHED = 4_096  # rows that the processor's cache holds
_LARGEST = float(np.finfo(float).max)
_HUGE = 1e150  # standard deviations: where a distance stops, so that sums of squares stay finite


class Records(NamedTuple):
    """Records as a search takes them."""

    numbers: np.ndarray  # (n, p) float64 without NaN
    codes: np.ndarray  # (n, q) int32

    def take(self, rows: np.ndarray) -> "Records":
        """Return some of the records, by their positions."""
        return Records(self.numbers.take(rows, axis=0), self.codes.take(rows, axis=0))


class Scale(NamedTuple):
    """What differences cost."""

    factors: np.ndarray  # (p,) float64
    caps: np.ndarray  # (p,) float64
    costs: np.ndarray  # float64, of the levels of all categorical columns
    starts: np.ndarray  # (q + 1,) int64: those of column c lie in [starts[c], starts[c + 1])
    squared: bool


class Axis(NamedTuple):
    """A column of ``Records``: ``units`` where it is numeric, ``costs`` where it is categorical."""

    column: str
    cells: tuple[np.ndarray, ...]  # of the real and the synthetic table
    units: dict[str, float] | None = None  # the difference that counts as 1, by ranges
    costs: np.ndarray | None = None  # (levels,)


class Mixed(NamedTuple):
    """Both tables in one space."""

    real: Records
    synthetic: Records
    axes: tuple[Axis, ...]  # without their cells
    complete: bool  # no number is missing: the records are the same in every space of these columns


def mixed(tables: Tables, space: Space) -> Mixed:
    """Return both tables as records of a space; a missing cell is never dropped.

    A missing number sits at the mean in euclid, with "is missing" as one more categorical column. In gower it has
    distance 1 to any number and 0 to another missing cell. A missing category is a level.

    Raises:
        InputError: A numeric column holds something else in one table.
    """
    return tables.shared(("mixed", space.name, space.columns), lambda: _mixed(tables, space))


def scale(tables: Tables, space: Space, reference: Side) -> Scale:
    """Return what differences cost in a space, where the table ``reference`` is searched."""
    return scale_of(mixed(tables, space).axes, space, reference)


def scale_of(axes: Iterable[Axis], space: Space, reference: Side) -> Scale:
    """Return what differences cost along the axes of a space, where the table ``reference`` is searched."""
    weights = dict(zip(space.columns, space.weights, strict=True))
    squared = space.name == "euclid"
    factors, caps, costs = [], [], [np.empty(0)]
    for axis in axes:
        weight = weights[axis.column]
        if axis.units is not None:
            factors.append(_factor(weight, axis.units[reference if space.ranges == "reference" else "both"]))
            caps.append(_HUGE if squared else weight)
        elif axis.costs is not None:
            costs.append(axis.costs * (weight**2 if squared else weight))
    starts = np.cumsum([len(c) for c in costs])
    return Scale(np.array(factors, dtype=float), np.array(caps, dtype=float), np.concatenate(costs), starts, squared)


def even(records: Records, starts: np.ndarray) -> Scale:
    """Return a scale in which every column counts alike: a number by its range among these records, a level as one."""
    numbers = records.numbers
    ranges = numbers.max(axis=0, initial=-FAR) - numbers.min(axis=0, initial=FAR)
    factors = np.array([_factor(1.0, range_) if range_ else 0.0 for range_ in ranges.tolist()])
    return Scale(factors, np.ones(len(ranges)), np.full(starts[-1], 0.5), starts, squared=False)


def sums_of(ours: Records, theirs: Records, scale: Scale) -> np.ndarray:
    """Return sums of column distances, added column after column as every search does; rows are broadcast."""
    total = np.zeros(np.broadcast_shapes(ours.codes.shape[:-1], theirs.codes.shape[:-1]))
    for c in range(ours.codes.shape[-1]):
        costs = scale.costs[scale.starts[c] : scale.starts[c + 1]]
        a, b = ours.codes[..., c], theirs.codes[..., c]
        total += np.where(a != b, costs[a] + costs[b], 0.0)
    for c in range(ours.numbers.shape[-1]):
        total += steps_of(np.abs(theirs.numbers[..., c] - ours.numbers[..., c]), scale, c)
    return total


def steps_of(gaps: np.ndarray, scale: Scale, column: int) -> np.ndarray:
    """Return what differences of numbers come to in the sum."""
    with np.errstate(over="ignore"):  # where the range is 0, any difference comes to the cap
        steps = np.minimum(gaps * scale.factors[column], scale.caps[column])
    return np.asarray(steps * steps if scale.squared else steps)


def _factor(weight: float, unit: float) -> float:
    """Return weight/unit; where the range is 0, any difference at all comes to the cap."""
    if not weight:
        return 0.0
    return min(weight / unit, _LARGEST) if unit else _LARGEST


def _mixed(tables: Tables, space: Space) -> Mixed:
    axes = [axis for column in space.columns for axis in _axes(tables, space, column)]
    numbers = [tables.floats(column) for column in space.columns if tables.kind(column) == "numeric"]
    complete = not any(np.isnan(cells).any() for both in numbers for cells in both)
    named = "any" if complete else space.name
    real, synthetic = tables.shared(("records", named, space.columns), lambda: _known(_sides(tables, axes), complete))
    return Mixed(real, synthetic, tuple(axis._replace(cells=()) for axis in axes), complete)


def _known(sides: tuple[Records, Records], complete: bool) -> tuple[Records, Records]:
    return (remembered(sides[0]), recognised(sides[1])) if complete else sides


def _sides(tables: Tables, axes: Iterable[Axis]) -> tuple[Records, Records]:
    numeric = [axis.cells for axis in axes if axis.units is not None]
    categorical = [axis.cells for axis in axes if axis.costs is not None]
    sides = []
    for side, rows in enumerate((len(tables.real), len(tables.synthetic))):
        sides.append(Records(np.empty((rows, len(numeric))), np.empty((rows, len(categorical)), dtype=np.int32)))
        for start in range(0, rows, _CACHED):  # some rows at a time: each line of memory is written once
            part = slice(start, start + _CACHED)
            for table, columns in zip(sides[side], (numeric, categorical), strict=True):
                for place, cells in enumerate(columns):
                    table[part, place] = cells[side][part]
    return sides[0], sides[1]


def _axes(tables: Tables, space: Space, column: str) -> Iterator[Axis]:
    if tables.kind(column) == "categorical":
        codes = tables.codes([column])
        share = np.bincount(codes.tables[0], minlength=codes.size) / len(tables.real)
        half = np.full(codes.size, 0.5)
        yield Axis(column, codes.tables, costs=standardised(share) if space.name == "euclid" else half)
        return
    cells, exponent = near_one(tables.floats(column))
    missing = np.isnan(cells[0]), np.isnan(cells[1])
    if space.name == "gower":
        units = {"real": range_of(cells[0]), "synthetic": range_of(cells[1]), "both": range_of(*cells)}
        yield Axis(column, filled(cells, missing, FAR), units)
        return
    mean, spread = center_and_spread(np.sort(cells[0]))  # sorted: the same bits in any order of rows
    yield Axis(column, filled(cells, missing, mean), {"both": spread or float(np.ldexp(1.0, -exponent))})
    if missing[0].any() or missing[1].any():
        share = np.array([1 - missing[0].mean(), missing[0].mean()])
        yield Axis(column, missing, costs=standardised(share) / 2)  # the two levels are one 0/1 column


def near_one(cells: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return the cells times the power of two that brings the largest into [1/2, 1), and its exponent."""
    largest = max(float(np.nanmax(np.abs(c), initial=0.0)) for c in cells)
    exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
    unit = float(np.ldexp(1.0, -exponent))
    return (cells[0] * unit, cells[1] * unit), exponent


def filled(
    cells: tuple[np.ndarray, np.ndarray], missing: tuple[np.ndarray, np.ndarray], value: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells with a number where one is missing."""
    both = zip(cells, missing, strict=True)
    one, other = (np.where(absent, value, each) if absent.any() else each for each, absent in both)
    return one, other


def range_of(*values: np.ndarray) -> float:
    """Return the range of the numbers that are there, 0 where none is."""
    seen = [each for each in values if not np.isnan(each).all()]
    return float(max(map(np.nanmax, seen)) - min(map(np.nanmin, seen))) if seen else 0.0


def standardised(share: np.ndarray) -> np.ndarray:
    """Return 1/(p(1 - p)): the square of one step of a standardised 0/1 column; 1 where the column is constant."""
    variance = share * (1 - share)
    return np.divide(1.0, variance, out=np.ones(len(share)), where=variance > 0)


def warn_if_long(queries: int, rows: float, columns: int, limit: float) -> None:
    """Warn if ``queries`` records, each beside ``rows`` others in ``columns``, mean more than ``limit`` cells.

    Cells are counted, not timed, so that the warning is the same on every machine: ``limit`` cells are compared in
    about two minutes by two processors.
    """
    cells = queries * rows * columns
    if cells > limit:
        warnings.warn(
            f"the nearest of each of {queries} records will take about {2 * cells / limit:.0f} minutes of two "
            f"processors: each is compared with about {rows:.0f} others in {columns} columns; fewer records or "
            "columns take less",
            UserWarning,
            stacklevel=2,
        )


_CELLS = 100_000  # distances held at once: as many as the processor's cache holds
_LONG = 5e10  # cells compared in about two minutes


class Search(Protocol):
    """Records that others are searched among: ``Search(reference, scale, like)``."""

    def nearest(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k smallest sums of each query and their rows, (n, k) each, the nearest first.

        Among equals the lowest row number comes first.

        Args:
            queries: n records.
            own: (n,) the row that a query may not find, -1 for none.
            k: How many; at most as many as a query may find.
        """

    def count(self, queries: Records, own: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return how many rows have sums within the limit of each query, (n,)."""

    def within(self, queries: Records, own: np.ndarray, limits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return those rows, ascending, query after query, where ``counts`` says how many they are."""

    def forget(self) -> None:
        """Let go of all queries but the records searched."""

    def prepare(self, queries: Records, *, walks: bool) -> None:
        """Compile what searches run; ``walks`` through trees, too, which few records do without."""


class Plain:
    """A ``Search`` of ``reference``, m rows, where ``scale`` is what differences cost; it divides nothing."""

    def __init__(self, reference: Records, scale: Scale, like: object = None):
        self._reference = reference
        self._scale = scale

    def nearest(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k smallest sums of each query and their rows (``Search.nearest``)."""
        sums, rows = np.empty((len(own), k)), np.empty((len(own), k), dtype=np.int64)
        columns = queries.numbers.shape[1] + queries.codes.shape[1]
        warn_if_long(len(own), len(self._reference.codes), columns, _LONG)
        for block, away in self.blocks(queries, own):
            each = np.arange(len(away))
            for place in range(k):
                found = np.argmin(away, axis=1)  # the first of equals
                sums[block, place], rows[block, place] = away[each, found], found
                away[each, found] = np.inf
        return sums, rows

    def count(self, queries: Records, own: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return how many rows have sums within the limit of each query (``Search.count``)."""
        return np.concatenate([(away <= limits[block, None]).sum(axis=1) for block, away in self.blocks(queries, own)])

    def within(self, queries: Records, own: np.ndarray, limits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return those rows, query after query (``Search.within``)."""
        found = [np.nonzero(away <= limits[block, None])[1] for block, away in self.blocks(queries, own)]
        return np.concatenate(found)

    def forget(self) -> None:
        """Do nothing: no query is kept (``Search.forget``)."""

    def prepare(self, queries: Records, *, walks: bool) -> None:
        """Do nothing: nothing is compiled (``Search.prepare``)."""

    def blocks(self, queries: Records, own: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield sums of some queries to all rows, (queries, m); infinite where a query may not find a row."""
        step = max(1, _CELLS // len(self._reference.codes))
        for start in range(0, len(own), step):
            block = slice(start, start + step)
            away = self._sums(Records(*(cells[block, None, :] for cells in queries)))
            bound = np.flatnonzero(own[block] >= 0)
            away[bound, own[block][bound]] = np.inf
            yield block, away

    def _sums(self, queries: Records) -> np.ndarray:
        """Return the sums of some queries, (queries, 1, columns), to all rows."""
        return sums_of(queries, self._reference, self._scale)


class Ends(NamedTuple):
    """The numbers of one column that released cells stand for."""

    values: np.ndarray  # (sets,) what stands in such a cell, ascending, as ``Records`` have it
    low: np.ndarray  # (sets,) the smallest number, and the largest
    high: np.ndarray


class Sets(NamedTuple):
    """What the cells of a release stand for, by the axes of ``Records``."""

    inside: Mapping[int, Inside]  # of axes of levels
    ends: Mapping[int, Ends]  # of axes of numbers
    flags: Mapping[int, int]  # of axes of numbers of which a missing cell is any value: that of levels which says so
    far: frozenset[int]  # such axes where ``FAR`` says so


def sets_of(tables: Tables, space: Space) -> Sets | None:
    """Return what coarse cells of the release stand for in a space; None where it has none."""
    if not tables.sets.among(space.columns):
        return None
    within, ends, flags, far = {}, {}, {}, set()
    numeric = levels = 0
    for axis in mixed(tables, space).axes:
        name = axis.column
        if axis.units is None:
            if tables.kind(name) == "numeric":  # whether its number is missing
                if name in tables.sets.suppressed:
                    flags[numeric - 1] = levels
            elif tables.sets.among([name]):
                within[levels] = inside(tables, name)
            levels += 1
            continue
        if own := tables.sets.columns.get(name, {}):
            unit = float(np.ldexp(1.0, -near_one(tables.floats(name))[1]))
            values = sorted(own)
            limits = [np.array([getattr(own[v], end) for v in values], dtype=float) * unit for end in ("low", "high")]
            ends[numeric] = Ends(np.array(values, dtype=float) * unit, *limits)
        if space.name == "gower" and name in tables.sets.suppressed:
            far.add(numeric)
        numeric += 1
    return Sets(within, ends, flags, frozenset(far))


def sums_by_sets(real: Records, released: Records, scale: Scale, sets: Sets) -> np.ndarray:
    """Return sums of column distances as ``sums_of``, each to the nearest value that a released cell stands for."""
    total = np.zeros(np.broadcast_shapes(real.codes.shape[:-1], released.codes.shape[:-1]))
    for c in range(real.codes.shape[-1]):
        costs = scale.costs[scale.starts[c] : scale.starts[c + 1]]
        a, b = real.codes[..., c], released.codes[..., c]
        same = sets.inside[c].equal(a, b) if c in sets.inside else a == b
        same = same | (b == 1) if c in sets.flags.values() else same
        total += np.where(same, 0.0, costs[a] + costs[b])
    for c in range(real.numbers.shape[-1]):
        a, b = real.numbers[..., c], released.numbers[..., c]
        gaps = np.abs(b - a)
        if c in sets.ends:
            own = sets.ends[c]
            place = np.minimum(np.searchsorted(own.values, b), len(own.values) - 1)
            apart = np.maximum(np.maximum(own.low[place] - a, a - own.high[place]), 0.0)
            gaps = np.where(own.values[place] == b, apart, gaps)
        if c in sets.flags or c in sets.far:
            gaps = np.where(b == FAR if c in sets.far else released.codes[..., sets.flags[c]] == 1, 0.0, gaps)
        total += steps_of(gaps, scale, c)
    return total


class Coarse(Plain):
    """A ``Search`` between real and released records, of which cells stand for sets: the nearest value counts."""

    def __init__(self, reference: Records, scale: Scale, sets: Sets, side: Side):
        super().__init__(reference, scale)
        self._sets, self._side = sets, side

    def _sums(self, queries: Records) -> np.ndarray:
        pair = (self._reference, queries) if self._side == "real" else (queries, self._reference)
        return sums_by_sets(*pair, self._scale, self._sets)
