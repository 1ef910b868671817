"""Exact searches by compiled code: through a box tree, or past all rows where a pilot finds no structure.

A tree passes many rows by. One that is compared in vectors of 16 or 64 cells (``differing_cells_compiled``) takes a
fraction of the time that one takes which a tree looks at. A pilot counts what a tree would look at, never the time.
Both ways find the same, to the last bit, so that no number depends on the way. What walks through trees takes ten
seconds to compile: where it never was on this machine, rows are compared in vectors until compiling would have paid.

A box is passed by if the least that its rows can be away is above what is sought. That bound is added up in the
order of a distance, and rounding is monotone: it is never above the computed distance of a row inside, so ties
are kept to the last bit.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from synthrisk.metrics.compiled import blocks_of, in_blocks, inlined, is_kept, threaded
from synthrisk.metrics.neighbours import differing_cells_compiled
from synthrisk.metrics.neighbours.box_tree import (
    Splits,
    Tree,
    by_leaf,
    divide,
    enclose,
    enclosed,
    fall,
    split,
)
from synthrisk.metrics.neighbours.differing_cells_compiled import MOST, InVectors, Slack
from synthrisk.metrics.neighbours.records import Records, Scale, Search, warn_if_long

_CHUNK = 256  # rows whose distances are taken at once
_BLOCK = 64  # queries that a thread takes at once
_NARROW = 64  # levels that a set of bits tells apart
_HALF, _LOWER, _ONE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)


@threaded
def walk_nearest(
    start_block: int,
    stop_block: int,
    tree: Tree,
    scale: Scale,
    queries: Records,
    own: np.ndarray,
    homes: np.ndarray,
    sums: np.ndarray,
    rows: np.ndarray,
    work: np.ndarray,
) -> None:
    """Improve ``sums`` and ``rows`` by the rows of a tree; the lowest row number wins among equals.

    Args:
        start_block: The first block of queries.
        stop_block: The one after the last.
        tree: The rows searched.
        scale: What differences cost.
        queries: n records; those that follow each other should lie near each other.
        own: (n,) the row number that a query may not find, -1 for none.
        homes: (n,) where in ``tree.rows`` the leaf starts that a query looks at first: what it finds spares it others.
            Boxes beside the way there are weighed when their turn comes, first in the column that parts them from it.
        sums: (n, k) ascending; infinite where nothing is found yet.
        rows: (n, k) above all row numbers where nothing is found yet.
        work: (blocks of queries, 2) raised by the rows looked at and the boxes weighed.
    """
    n, k = sums.shape
    for block in range(start_block, stop_block):
        stack, bounds = np.empty(tree.depth + 2, dtype=np.int32), np.empty(tree.depth + 2)
        away, cost = np.empty(_CHUNK), np.empty(queries.codes.shape[1])
        for query in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            number, code, best, best_rows = queries.numbers[query], queries.codes[query], sums[query], rows[query]
            _own_costs(cost, scale, code)
            home, stack[0], bounds[0], top = homes[query], 0, 0.0, 1
            while top > 0:
                top -= 1
                box, limit = stack[top], best[k - 1]
                if bounds[top] > limit:
                    continue
                start, stop = tree.spans[box, 0], tree.spans[box, 1]
                on_way = start <= home < stop
                if not on_way:
                    bound = _bound(tree, scale, number, code, cost, box, limit)
                    work[block, 1] += 1
                    if bound > limit or (bound == limit and tree.first[box] > best_rows[k - 1]):
                        continue
                child = tree.child[box]
                if child == 0:
                    stride = stop - start
                    length = min(stride, k + 1) if tree.tight[box] else stride
                    work[block, 0] += length
                    for shift in range(0, length, _CHUNK):
                        count = min(_CHUNK, length - shift)
                        _distances(away, tree, scale, number, code, cost, start, stride, shift, count)
                        for j in range(count):
                            if away[j] <= best[k - 1]:
                                _keep(best, best_rows, away[j], tree.rows[start + shift + j], own[query])
                    continue
                axis, column = tree.axis[box], tree.axis[box] - len(number)
                for side in range(2):  # written out: as a function it would count the references of all arrays
                    at, step = child + side, 0.0
                    if column < 0:
                        gap = max(tree.low[at, axis] - number[axis], number[axis] - tree.high[at, axis], 0.0)
                        step = min(gap * scale.factors[axis], scale.caps[axis])
                        step = step * step if scale.squared else step
                    else:
                        inside, level = tree.levels[at, column], np.uint64(code[column])
                        if scale.starts[column + 1] - scale.starts[column] > _NARROW:
                            outside = level < (inside & _LOWER) or level > (inside >> _HALF)
                        else:
                            outside = (inside >> level) & _ONE == 0
                        step = cost[column] + tree.floors[at, column] if outside else 0.0
                    stack[top + side], bounds[top + side] = at, step
                if home < tree.spans[child + 1, 0] if on_way else bounds[top] <= bounds[top + 1]:
                    stack[top], stack[top + 1] = stack[top + 1], stack[top]
                    bounds[top], bounds[top + 1] = bounds[top + 1], bounds[top]
                top += 2


@threaded
def walk_within(
    start_block: int,
    stop_block: int,
    tree: Tree,
    scale: Scale,
    queries: Records,
    limits: np.ndarray,
    ends: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Count the rows of a tree within a limit of each query, or list them where ``rows`` has room.

    Args:
        start_block: The first block of queries.
        stop_block: The one after the last.
        tree: The rows searched.
        scale: What differences cost.
        queries: n records; those that follow each other should lie near each other.
        limits: (n,) the largest sum sought.
        ends: (n,) raised by the number of rows found; where a query's rows go on in ``rows``.
        rows: Row numbers are written here; empty: they are only counted.
    """
    n, listed = len(limits), len(rows) > 0
    for block in range(start_block, stop_block):
        stack, bounds = np.empty(tree.depth + 2, dtype=np.int32), np.empty(tree.depth + 2)
        away, cost = np.empty(_CHUNK), np.empty(queries.codes.shape[1])
        for query in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            number, code, limit, end = queries.numbers[query], queries.codes[query], limits[query], ends[query]
            _own_costs(cost, scale, code)
            stack[0], bounds[0], top = 0, 0.0, 1
            while top > 0:
                box, top = _next_leaf(tree, scale, number, code, cost, stack, bounds, top, limit)
                if box < 0:
                    break
                start, stride = tree.spans[box, 0], tree.spans[box, 1] - tree.spans[box, 0]
                if tree.tight[box] and not listed:
                    _distances(away, tree, scale, number, code, cost, start, stride, 0, 1)
                    end += stride if away[0] <= limit else 0
                    continue
                for shift in range(0, stride, _CHUNK):
                    count = min(_CHUNK, stride - shift)
                    _distances(away, tree, scale, number, code, cost, start, stride, shift, count)
                    for j in range(count):
                        if away[j] <= limit:
                            if listed:
                                rows[end] = tree.rows[start + shift + j]
                            end += 1
            ends[query] = end


@inlined
def _next_leaf(
    tree: Tree,
    scale: Scale,
    number: np.ndarray,
    code: np.ndarray,
    cost: np.ndarray,
    stack: np.ndarray,
    bounds: np.ndarray,
    top: int,
    limit: float,
) -> tuple[int, int]:
    """Return the next leaf that may hold a row at ``limit`` or below (-1: none), and the stack's top."""
    while top > 0:
        top -= 1
        box, bound = stack[top], bounds[top]
        while bound <= limit:
            near = tree.child[box]
            if near == 0:
                return box, top
            far = near + 1
            bound = _bound(tree, scale, number, code, cost, near, limit)
            other = _bound(tree, scale, number, code, cost, far, limit)
            if other < bound:
                near, far, bound, other = far, near, other, bound
            if other <= limit:
                stack[top], bounds[top] = far, other
                top += 1
            box = near
    return -1, 0


@inlined
def _bound(
    tree: Tree, scale: Scale, number: np.ndarray, code: np.ndarray, cost: np.ndarray, box: int, limit: float
) -> float:
    """Return the least sum of a row inside a box, or a part of it that is above ``limit``."""
    total = 0.0
    for c in range(len(code)):
        inside, level = tree.levels[box, c], np.uint64(code[c])
        if scale.starts[c + 1] - scale.starts[c] > _NARROW:
            outside = level < (inside & _LOWER) or level > (inside >> _HALF)
        else:
            outside = (inside >> level) & _ONE == 0
        if outside:
            total += cost[c] + tree.floors[box, c]
    if total > limit:
        return total
    for c in range(len(number)):
        gap = max(tree.low[box, c] - number[c], number[c] - tree.high[box, c], 0.0)
        step = min(gap * scale.factors[c], scale.caps[c])
        total += step * step if scale.squared else step
    return total


@inlined
def _distances(
    away: np.ndarray,
    tree: Tree,
    scale: Scale,
    number: np.ndarray,
    code: np.ndarray,
    cost: np.ndarray,
    start: int,
    stride: int,
    shift: int,
    count: int,
) -> None:
    """Write the sums of ``count`` rows of a leaf, a column at a time: loops that the processor takes in vectors."""
    away = away[:count]
    away[:] = 0.0
    for c in range(len(code)):
        at, mine, own = start * len(code) + c * stride + shift, code[c], cost[c]
        theirs, costs = tree.codes[at : at + count], scale.costs[scale.starts[c] : scale.starts[c + 1]]
        if scale.squared:
            for j in range(count):
                both = own + costs[np.uint64(theirs[j])]
                away[j] += both if theirs[j] != mine else 0.0
        else:
            both = own + costs[0]  # in gower space all levels cost the same
            for j in range(count):
                away[j] += both if theirs[j] != mine else 0.0
    for c in range(len(number)):
        at, here, factor, cap = start * len(number) + c * stride + shift, number[c], scale.factors[c], scale.caps[c]
        there = tree.numbers[at : at + count]
        if scale.squared:
            for j in range(count):
                step = abs(there[j] - here) * factor
                step = step if step < cap else cap  # ``min`` asks for NaN as well, which takes twice the time
                away[j] += step * step
        else:
            for j in range(count):
                step = abs(there[j] - here) * factor
                away[j] += step if step < cap else cap


@inlined
def _own_costs(cost: np.ndarray, scale: Scale, code: np.ndarray) -> None:
    for c in range(len(code)):
        cost[c] = scale.costs[scale.starts[c] + code[c]]


@inlined
def _keep(best: np.ndarray, best_rows: np.ndarray, total: float, row: int, own: int) -> None:
    """Put a row in its place among the nearest, in order of distance and row number."""
    slot = len(best) - 1
    if row == own or (total == best[slot] and row > best_rows[slot]):
        return
    while slot > 0 and (total < best[slot - 1] or (total == best[slot - 1] and row < best_rows[slot - 1])):
        best[slot], best_rows[slot] = best[slot - 1], best_rows[slot - 1]
        slot -= 1
    best[slot], best_rows[slot] = total, row


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
_LOCK = threading.Lock()  # two threads would divide the same records, and each search has threads of its own
_COMPILING = 2 * 10**10  # cells compared in vectors from which compiling the walks pays: some three seconds
_DONE = [0]  # cells that this process has compared in vectors, while the walks were not compiled


VECTORS = differing_cells_compiled.nearest, differing_cells_compiled.within
"""What compares all rows, which ``nearest.prepare`` compiles."""

_TO_NEAREST = divide, fall, enclose, walk_nearest
WALKS = *_TO_NEAREST, walk_within
"""What walks through trees."""


def _pays(cells: int, walks: Sequence[Any]) -> bool:
    """Tell whether walks are compiled, or worth compiling by now, where so many cells are to be compared."""
    if all(map(is_kept, walks)):
        return True
    _DONE[0] += cells
    return _DONE[0] >= _COMPILING


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
            if not self._saves(queries, own, k, _TO_NEAREST):
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

    def prepare(self, queries: Records, *, walks: bool) -> None:
        """Compile what compares all rows and, if asked, what walks through trees (``Search.prepare``)."""
        n = len(queries.codes)
        own, ends, rows = np.full(n, -1), np.zeros(n, dtype=np.int64), np.empty(0, dtype=np.int64)
        with _LOCK:
            limits = self._nearest_of_all(queries, own, 1)[0][:, 0]
            self._within_all(queries, limits, ends, rows)
            if walks:
                placed = self._boxes.placed(queries)
                self._nearest(placed, own, 1)
                self._walk_within(placed, limits, ends, rows)

    def _saves(self, queries: Records, own: np.ndarray, k: int, walks: Sequence[Any]) -> bool:
        """Tell whether a tree saves time, as a few of the queries show; ``walks``: what has to be compiled for it."""
        n, m, columns = len(own), len(self._reference.codes), self._columns
        if not _pays(n * m * columns, walks):
            return False
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
        blocks, own, sums, rows = blocks_of(len(order), _BLOCK), own[order], *_nothing(len(order), k)
        work = np.zeros((blocks, 2), dtype=np.int64)
        in_blocks(walk_nearest, blocks, self._tree, self._scale, queries, own, homes, sums, rows, work)
        looked, weighed = work.sum(axis=0)
        return sums, rows, int(looked + _BOX * weighed)

    def _nearest_of_all(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        (sums, rows), given = _nothing(len(own), k), (*self._compared(queries), *self._both(queries))
        blocks = blocks_of(len(own), differing_cells_compiled.BLOCK)
        in_blocks(differing_cells_compiled.nearest, blocks, *given, own, sums, rows)
        return sums, rows

    def _within(
        self, queries: Records, own: np.ndarray, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray
    ) -> None:
        with _LOCK:
            if not self._saves(queries, own, 1, WALKS):
                self._within_all(queries, limits, ends, rows)
                return
            self._walk_within(self._boxes.placed(queries), limits, ends, rows)

    def _walk_within(self, placed: Queries, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
        ordered, own_ends = limits[placed.order], ends[placed.order]
        given = self._tree, self._scale, placed.records, ordered, own_ends, rows
        in_blocks(walk_within, blocks_of(len(ordered), _BLOCK), *given)
        ends[placed.order] = own_ends

    def _within_all(self, queries: Records, limits: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
        given = (*self._compared(queries), *self._both(queries), np.ascontiguousarray(limits), ends, rows)
        in_blocks(differing_cells_compiled.within, blocks_of(len(limits), differing_cells_compiled.BLOCK), *given)

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
