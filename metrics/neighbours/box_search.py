"""Exact searches by compiled code: through a box tree, or past all rows where a pilot finds no structure.

A tree passes many rows by. One that is compared in vectors of 16 or 64 cells (``differing_cells_compiled``) takes a
fraction of the time that one takes which a tree looks at. A pilot counts what a tree would look at, never the time: so
the same is computed on every machine. Both ways find the same, to the last bit.
"""

import threading
from functools import cached_property
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.neighbours import box_walk, differing_cells_compiled
from synthrisk.metrics.neighbours.box_tree import Splits, Tree, by_leaf, enclosed, split
from synthrisk.metrics.neighbours.brute_force import Search, warn_if_long
from synthrisk.metrics.neighbours.differing_cells_compiled import MOST, InVectors, Slack
from synthrisk.metrics.neighbours.records import Records, Scale

_LEAF = 32  # rows of a leaf
_PILOT = 1_000  # queries that tell how much a tree looks at
_APART = 64  # of so many at least one is tried
_CELLS = 10**8  # cells of all pairs of records from which a pilot is worth its time
_BOX = 14  # rows that a box takes the time of
_VECTOR = 3  # rows that are compared in vectors in the time of one that a tree looks at, at least
_PLACED = 2  # tables of queries that are kept in order
_LONG = 1e12  # cells compared in about two minutes by two processors
_UNFOUND = np.iinfo(np.int64).max
_HALF_BIT = 2.0**-24  # by what share a number is rounded to single precision
_SMALLEST = 1e-36  # what sums of numbers that are too small for single precision may be off
_FAR = 16  # spreads of a column from its center: what lies beyond is drawn in, so that rounding stays small
_FARTHEST = 1e14
_LOCK = threading.Lock()  # numba's simplest pool of threads ends the process when two threads enter it


class Queries(NamedTuple):
    """Queries as a walk takes them: of a whole table in the order of the boxes that they fall into.

    So what one has looked at, the next finds in the processor's cache. Cells are copied: a table may not be changed.
    """

    records: Records
    order: np.ndarray  # (n,) the position of each in the table of all queries
    homes: np.ndarray  # (n,) where its box starts in the tree's rows; unused where a tree is one box


class Boxes:
    """Records divided into boxes, when first asked for."""

    def __init__(self, records: Records, scale: Scale):
        self._records = records
        self._scale = scale
        self._placed: list[tuple[Records, Queries]] = []  # the last queries, as they came and as they fall

    @cached_property
    def splits(self) -> Splits:
        """The boxes."""
        return split(self._records, self._scale, _LEAF)

    def placed(self, queries: Records) -> Queries:
        """Return queries in the order of the boxes."""
        for known, placed in self._placed:
            if known is queries:
                return placed
        order, homes = self._own_places() if queries is self._records else self._places(queries)
        placed = Queries(queries.take(order), order, homes)
        self._placed = [(queries, placed), *self._placed[: _PLACED - 1]]
        return placed

    def forget(self) -> None:
        """Let go of queries that are not the records themselves."""
        self._placed = [each for each in self._placed if each[0] is self._records]

    def _places(self, queries: Records) -> tuple[np.ndarray, np.ndarray]:
        order, homes = by_leaf(self.splits, queries, self._scale)
        return order, homes[order]

    def _own_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what ``_places`` does of the records themselves, which stand in their boxes already."""
        starts = np.sort(self.splits.spans[self.splits.child == 0, 0])
        return self.splits.rows, np.repeat(starts, np.diff(starts, append=len(self.splits.rows)))


class Forest:
    """A ``Search`` of ``reference``, m rows, where ``scale`` is what differences cost; trees are built on first use.

    Its rows are divided as those of ``like`` are, a search of the same records, if it is given.
    """

    def __init__(self, reference: Records, scale: Scale, like: Search | None = None):
        self._reference = reference
        self._scale = scale
        self._boxes: Boxes = like._boxes if isinstance(like, Forest) else Boxes(reference, scale)

    def nearest(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k smallest sums of each query and their rows (``Search.nearest``)."""
        with _LOCK:
            if not self._saves(queries, own, k):
                return self._nearest_of_all(queries, own, k)
            placed = self._boxes.placed(queries)
            sums, rows, _ = self._nearest(placed, own, k)
        return _as_they_came(sums, placed.order), _as_they_came(rows, placed.order)

    def count(self, queries: Records, own: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return how many rows have sums within the limit of each query (``Search.count``)."""
        counts = np.zeros(len(own), dtype=np.int64)
        self._within(queries, own, limits, counts, np.empty(0, dtype=np.int64))
        return counts - (own >= 0)  # at no distance from itself

    def within(self, queries: Records, own: np.ndarray, limits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return those rows, query after query (``Search.within``)."""
        more, m = counts + (own >= 0), len(self._reference.codes)
        rows = np.empty(more.sum(), dtype=np.int64)
        if len(rows):
            self._within(queries, own, limits, np.cumsum(more) - more, rows)
        query = np.repeat(np.arange(len(own)), more)
        rows = np.sort(query * m + rows) % m
        return rows[rows != own[query]]

    def forget(self) -> None:
        """Let go of all queries but the records searched (``Search.forget``)."""
        self._boxes.forget()

    def prepare(self) -> None:
        """Compile what compares all rows, which is done of many records alone (``Search.prepare``)."""
        with _LOCK:
            own, counts = np.full(len(self._reference.codes), -1), np.zeros(len(self._reference.codes), dtype=np.int64)
            limits = self._nearest_of_all(self._reference, own, 1)[0][:, 0]
            self._within_all(self._reference, limits, counts, np.empty(0, dtype=np.int64))

    def _saves(self, queries: Records, own: np.ndarray, k: int) -> bool:
        """Tell whether a tree saves time, as a few of the queries show."""
        n, m, columns = len(own), len(self._reference.codes), self._columns
        if n * m * columns < _CELLS:
            return True
        some = np.arange(0, n, max(_APART, n // _PILOT))
        few = queries.take(some)
        homes = by_leaf(self._boxes.splits, few, self._scale)[1]
        rows = self._nearest(Queries(few, some, homes), own, k)[2] / len(some)
        saves = rows * _VECTOR <= m
        warn_if_long(n, rows if saves else m / _VECTOR, columns, _LONG)
        return saves

    def _nearest(self, placed: Queries, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Return sums and rows, in the order of the queries, and how many rows' time that took."""
        queries, order, homes = placed
        own, sums, rows = own[order], *_nothing(len(order), k)
        looked, weighed = box_walk.nearest(self._tree, self._scale, queries, own, homes, sums, rows).sum(axis=0)
        return sums, rows, int(looked + _BOX * weighed)

    def _nearest_of_all(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        (sums, rows), compared = _nothing(len(own), k), self._compared(queries)
        differing_cells_compiled.nearest(*compared, *self._both(queries), own, sums, rows)
        return sums, rows

    def _within(
        self, queries: Records, own: np.ndarray, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray
    ) -> None:
        with _LOCK:
            if not self._saves(queries, own, 1):
                self._within_all(queries, limits, ends, rows)
                return
            placed = self._boxes.placed(queries)
            ordered, own_ends = limits[placed.order], ends[placed.order]
            box_walk.within(self._tree, self._scale, placed.records, ordered, own_ends, rows)
            ends[placed.order] = own_ends

    def _within_all(self, queries: Records, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
        compared, limits = self._compared(queries), np.ascontiguousarray(limits)
        differing_cells_compiled.within(*compared, *self._both(queries), limits, ends, rows)

    def _both(self, queries: Records) -> tuple[Records, Records]:
        """Return queries and rows in the one layout that a search is compiled for."""
        both = queries, self._reference
        ours, theirs = (Records(*(np.require(c, None, ["C_CONTIGUOUS", "WRITEABLE"]) for c in each)) for each in both)
        return ours, theirs

    @property
    def _columns(self) -> int:
        return len(self._scale.factors) + len(self._scale.starts) - 1

    @cached_property
    def _tree(self) -> Tree:
        return enclosed(self._boxes.splits, self._reference, self._scale, 0)

    def _compared(self, queries: Records) -> tuple[InVectors, InVectors, Slack, Scale]:
        """Return queries and rows in single precision, and how far sums of these may be off."""
        theirs, center, far = self._in_vectors
        ours = theirs if queries is self._reference else _in_vectors(queries, self._scale, center, far)
        most = np.abs(ours.numbers).max(axis=1, initial=0) + np.abs(theirs.numbers).max(axis=1, initial=0)
        off = 2.1 * _HALF_BIT * most.astype(float)  # numbers are rounded, and so are their differences
        least = (2 * most + off) * off if self._scale.squared else off
        share = 2 * _HALF_BIT * (self._columns + 4)
        return ours, theirs, Slack(share, float(least.sum()) * (1 + share) + _SMALLEST), self._scale

    @cached_property
    def _in_vectors(self) -> tuple[InVectors, np.ndarray, np.ndarray]:
        """The rows in single precision, the center of each numeric column, and how far from it numbers may lie."""
        numbers, scale = self._reference.numbers, self._scale
        some = numbers[:: max(1, len(numbers) // _PILOT)]
        center = np.median(some, axis=0)
        with np.errstate(over="ignore"):
            away = np.minimum(np.abs(some - center) * scale.factors, _FARTHEST)
        far = _FAR * np.sqrt((away**2).mean(axis=0))
        far = np.minimum(np.where(far > 0, far, _FAR) if scale.squared else np.maximum(far, 2 * scale.caps), _FARTHEST)
        return _in_vectors(self._reference, scale, center, far), center, far


def _in_vectors(records: Records, scale: Scale, center: np.ndarray, far: np.ndarray) -> InVectors:
    """Return records in single precision."""
    (n, p), q = records.numbers.shape, records.codes.shape[1]
    numbers, codes = np.empty((p, n), dtype=np.float32), np.empty((q, n), dtype=np.uint8)
    costs = np.empty((q, n) if scale.squared else (0, 0), dtype=np.float32)
    with np.errstate(over="ignore"):
        for c in range(p):
            numbers[c] = np.clip((records.numbers[:, c] - center[c]) * scale.factors[c], -far[c], far[c])
    for c in range(q):
        codes[c] = records.codes[:, c] & 255
        if scale.squared:
            costs[c] = np.minimum(scale.costs[scale.starts[c] + records.codes[:, c]], MOST)
    return InVectors(numbers, codes, costs)


def _nothing(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((n, k), np.inf), np.full((n, k), _UNFOUND)


def _as_they_came(found: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return what queries have found in the order in which they were given."""
    given = np.empty_like(found)
    given[order] = found
    return given
