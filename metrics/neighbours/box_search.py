"""Exact searches by compiled code: through a box tree, or past all rows where a pilot finds no structure."""

import threading
from functools import cached_property
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.neighbours import box_walk
from synthrisk.metrics.neighbours.box_tree import Splits, Tree, by_leaf, enclosed, split
from synthrisk.metrics.neighbours.brute_force import Search, warn_if_long
from synthrisk.metrics.neighbours.records import Records, Scale

_LEAF = 32  # rows of a leaf
_FLAT = 16_384  # rows of a leaf that stands for a tree: what a processor's cache holds
_PILOT = 1_000  # queries that tell how much a tree looks at
_PAIRS = 10**8  # pairs of records from which a pilot is worth its time
_BOX = 14  # rows that a box takes the time of
_PLACED = 2  # tables of queries that are kept in order
_LONG = 1e12  # cells compared in about two minutes by two processors
_UNFOUND = np.iinfo(np.int64).max
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
            trees, placed = self._plan(queries, own, k)
            sums, rows, _ = self._nearest(trees, placed, own, k)
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

    def _plan(self, queries: Records, own: np.ndarray, k: int) -> tuple[list[Tree], Queries]:
        """Return the trees to go through, and the queries in order: no tree where it saves nothing."""
        n, m = len(own), len(self._reference.codes)
        if n * m >= _PAIRS:
            some = np.arange(0, n, max(16, n // _PILOT))
            few = queries.take(some)
            homes = by_leaf(self._boxes.splits, few, self._scale)[1]
            rows = self._nearest([self._tree], Queries(few, some, homes), own, k)[2] / len(some)
            warn_if_long(n, min(rows, m), len(self._scale.factors) + len(self._scale.starts) - 1, _LONG)
            if rows > m:
                return self._flat, Queries(queries, np.arange(n), np.zeros(n, dtype=np.int64))
        return [self._tree], self._boxes.placed(queries)

    def _nearest(
        self, trees: list[Tree], placed: Queries, own: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return sums and rows, in the order of the queries, and how many rows' time that took."""
        queries, order, homes = placed
        own, shape, work = own[order], (len(order), k), 0
        sums, rows = np.full(shape, np.inf), np.full(shape, _UNFOUND)
        for tree in trees:
            looked, weighed = box_walk.nearest(tree, self._scale, queries, own, homes, sums, rows).sum(axis=0)
            work += int(looked + _BOX * weighed)
        return sums, rows, work

    def _within(
        self, queries: Records, own: np.ndarray, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray
    ) -> None:
        with _LOCK:
            trees, placed = self._plan(queries, own, 1)
            ordered, own_ends = limits[placed.order], ends[placed.order]
            for tree in trees:
                box_walk.within(tree, self._scale, placed.records, ordered, own_ends, rows)
            ends[placed.order] = own_ends

    @cached_property
    def _tree(self) -> Tree:
        return enclosed(self._boxes.splits, self._reference, self._scale, 0)

    @cached_property
    def _flat(self) -> list[Tree]:
        """Trees of one leaf each: every row is looked at."""
        trees = []
        for start in range(0, len(self._reference.codes), _FLAT):
            part = Records(*(cells[start : start + _FLAT] for cells in self._reference))
            trees.append(enclosed(split(part, self._scale, _FLAT), part, self._scale, start))
        return trees


def _as_they_came(found: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return what queries have found in the order in which they were given."""
    given = np.empty_like(found)
    given[order] = found
    return given
