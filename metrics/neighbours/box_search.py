"""Exact searches by compiled code: through a box tree, or past all rows where a pilot finds no structure."""

import threading
from functools import cached_property

import numpy as np

from synthrisk.metrics.neighbours import box_walk
from synthrisk.metrics.neighbours.box_split import Splits, by_leaf, split
from synthrisk.metrics.neighbours.box_tree import Tree, enclosed
from synthrisk.metrics.neighbours.long_search import warn_if_long
from synthrisk.metrics.neighbours.records import Records, Scale
from synthrisk.metrics.neighbours.search import Search

_LEAF = 32  # rows of a leaf
_FLAT = 16_384  # rows of a leaf that stands for a tree: what a processor's cache holds
_PILOT = 1_000  # queries that tell how much a tree looks at
_PAIRS = 10**8  # pairs of records from which a pilot is worth its time
_BOX = 14  # rows that a box takes the time of
_ORDERS = 2  # tables of queries whose order is kept
_LONG = 1e12  # cells compared in about two minutes by two processors
_UNFOUND = np.iinfo(np.int64).max
_LOCK = threading.Lock()  # numba's simplest pool of threads ends the process when two threads enter it


class Boxes:
    """Records divided into boxes, when first asked for."""

    def __init__(self, records: Records, scale: Scale):
        self._records = records
        self._scale = scale
        self._ordered: list[tuple[Records, np.ndarray]] = []  # the last queries, and their order

    @cached_property
    def splits(self) -> Splits:
        """The boxes."""
        return split(self._records, self._scale, _LEAF)

    def order(self, queries: Records) -> np.ndarray:
        """Return the order of queries in which those of one box stand together."""
        for known, order in self._ordered:
            if known is queries:
                return order
        order = by_leaf(self.splits, queries, self._scale)
        self._ordered = [(queries, order), *self._ordered[: _ORDERS - 1]]
        return order


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
            trees, order = self._plan(queries, own, k)
            return self._nearest(trees, order, queries, own, k)[:2]

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

    def _plan(self, queries: Records, own: np.ndarray, k: int) -> tuple[list[Tree], np.ndarray]:
        """Return the trees to go through and the order of the queries: no tree where it saves nothing."""
        n, m = len(own), len(self._reference.codes)
        if n * m >= _PAIRS:
            some = np.arange(0, n, max(16, n // _PILOT))
            few = queries.take(some)
            rows = self._nearest([self._tree], np.arange(len(some)), few, own[some], k)[2] / len(some)
            warn_if_long(n, min(rows, m), len(self._scale.factors) + len(self._scale.starts) - 1, _LONG)
            if rows > m:
                return self._flat, np.arange(n)
        return [self._tree], self._boxes.order(queries)

    def _nearest(
        self, trees: list[Tree], order: np.ndarray, queries: Records, own: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return sums, rows, and how many rows' time that took."""
        sums, rows, work = np.full((len(own), k), np.inf), np.full((len(own), k), _UNFOUND), 0
        for tree in trees:
            looked, weighed = box_walk.nearest(tree, self._scale, queries, own, order, sums, rows).sum(axis=0)
            work += int(looked + _BOX * weighed)
        return sums, rows, work

    def _within(
        self, queries: Records, own: np.ndarray, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray
    ) -> None:
        limits = np.ascontiguousarray(limits)
        with _LOCK:
            trees, order = self._plan(queries, own, 1)
            for tree in trees:
                box_walk.within(tree, self._scale, queries, order, limits, ends, rows)

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
