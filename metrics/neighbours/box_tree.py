"""Records of mixed types divided into boxes whose rows lie near each other, and the tree of boxes; compiled by numba.

A box is split in the column in which its rows differ most, numeric or categorical alike, until it holds few rows
or all are at one place. How well it is split decides how fast a search is, never what it finds.
"""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.compiled import blocks_of, compiled, in_blocks, inlined, threaded
from synthrisk.metrics.neighbours.records import Records, Scale

_SAMPLE = 64  # rows by which a split is chosen
_NARROW = 64  # levels that a set of bits tells apart
_ROWS = 1_024  # records that a thread takes at once
_ONE = np.uint64(1)
_FACTOR, _SHIFT, _HIGH = np.uint64(6364136223846793005), np.uint64(1442695040888963407), np.uint64(33)


class Splits(NamedTuple):
    """Boxes, each a slice of the rows; the first is all of them."""

    rows: np.ndarray  # (n,) int64: row numbers, ascending inside each box
    spans: np.ndarray  # (boxes, 2) int64: start and stop
    child: np.ndarray  # (boxes,) int32: the first of two children side by side, both after it; 0 for a leaf
    axis: np.ndarray  # (boxes,) int32: the column that splits it; numeric columns come first
    edge: np.ndarray  # (boxes,) float64: the highest number or code that goes to the first child
    side: np.ndarray  # (boxes,) uint64: the levels that go to the first child, a bit each, where 64 tell them apart
    depth: int


def split(records: Records, scale: Scale, leaf: int) -> Splits:
    """Return boxes of records, the smallest of at most ``leaf`` rows or of rows at one place."""
    n = len(records.codes)
    rows, spans = np.arange(n), np.empty((2 * n, 2), np.int64)
    child, axis, edge, side = (np.empty(2 * n, kind) for kind in (np.int32, np.int32, np.float64, np.uint64))
    seconds, boxed = np.empty(n, np.int64), np.empty((2, 2 * n), np.int32)
    room = seconds, boxed, np.empty(_SAMPLE, np.int64), np.empty(_SAMPLE), np.empty(_NARROW, np.int64)
    boxes, depth = divide(records, scale, leaf, rows, spans, child, axis, edge, side, *room)
    cut = slice(0, boxes)
    return Splits(
        rows, spans[cut].copy(), child[cut].copy(), axis[cut].copy(), edge[cut].copy(), side[cut].copy(), depth
    )


@compiled
def divide(
    records: Records,
    scale: Scale,
    leaf: int,
    rows: np.ndarray,
    spans: np.ndarray,
    child: np.ndarray,
    axis: np.ndarray,
    edge: np.ndarray,
    side: np.ndarray,
    seconds: np.ndarray,
    boxed: np.ndarray,
    sample: np.ndarray,
    values: np.ndarray,
    counts: np.ndarray,
) -> tuple[int, int]:
    """Do the work of ``split`` in arrays made before; return how many boxes there are, and how deep they lie."""
    stack, level, n = boxed[0], boxed[1], len(rows)
    stack[0], spans[0, 0], spans[0, 1], level[0] = 0, 0, n, 0
    top, boxes, depth = 1, 1, 0
    while top > 0:
        top -= 1
        box = stack[top]
        start, stop = spans[box, 0], spans[box, 1]
        child[box], depth = 0, max(depth, level[box])
        if stop - start <= leaf:
            continue
        size = _drawn(sample, rows[start:stop], box)
        axis[box] = _widest(records, scale, sample[:size])
        if axis[box] < 0:
            sample[1] = _differing(records, scale, rows[start:stop])
            if sample[1] < 0:
                continue
            sample[0], size = rows[start], 2
            axis[box] = _widest(records, scale, sample[:2])
        edge[box], side[box] = _halved(records, scale, sample[:size], axis[box], values, counts)
        middle, taken = start, 0
        for place in range(start, stop):
            row = rows[place]
            if _is_first(records, scale, row, axis[box], edge[box], side[box]):
                rows[middle] = row
                middle += 1
            else:
                seconds[taken] = row
                taken += 1
        for place in range(taken):
            rows[middle + place] = seconds[place]
        child[box] = boxes
        spans[boxes, 0], spans[boxes, 1], spans[boxes + 1, 0], spans[boxes + 1, 1] = start, middle, middle, stop
        level[boxes], level[boxes + 1] = level[box] + 1, level[box] + 1
        stack[top], stack[top + 1] = boxes + 1, boxes
        top, boxes = top + 2, boxes + 2
    return boxes, depth


def by_leaf(splits: Splits, records: Records, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the records by the leaf that each falls into, and where in the rows it starts, (n,) each.

    So near ones stand near each other; records of one leaf stay as they stand.
    """
    starts = np.empty(len(records.codes), dtype=np.int64)
    in_blocks(fall, blocks_of(len(starts), _ROWS), splits, records, scale, starts)
    return np.argsort(starts, kind="stable"), starts


@threaded
def fall(start_block: int, stop_block: int, splits: Splits, records: Records, scale: Scale, starts: np.ndarray) -> None:
    """Write where in the rows the leaf starts that each record of some blocks falls into."""
    for row in range(start_block * _ROWS, min(len(starts), stop_block * _ROWS)):
        box = 0
        while splits.child[box]:
            first = _is_first(records, scale, row, splits.axis[box], splits.edge[box], splits.side[box])
            box = splits.child[box] + (0 if first else 1)
        starts[row] = splits.spans[box, 0]


@inlined
def _drawn(sample: np.ndarray, rows: np.ndarray, seed: int) -> int:
    """Draw some of the rows, always the same ones; return how many."""
    size = min(len(sample), len(rows))
    for i in range(size):
        place = np.uint64(i)
        if len(rows) > size:
            place = ((np.uint64(seed * size + i) * _FACTOR + _SHIFT) >> _HIGH) % np.uint64(len(rows))
        sample[i] = rows[place]
    return size


@inlined
def _widest(records: Records, scale: Scale, sample: np.ndarray) -> int:
    """Return the column in which rows of a sample differ most, -1 if they differ in none."""
    most, widest = 0.0, -1
    for c in range(records.numbers.shape[1] + records.codes.shape[1]):
        total = 0.0
        for i in range(1, len(sample)):
            total += _step(records, scale, sample[i - 1], sample[i], c)
        if total > most:
            most, widest = total, c
    return widest


@inlined
def _differing(records: Records, scale: Scale, rows: np.ndarray) -> int:
    """Return a row that differs from the first, -1 if there is none."""
    for row in rows[1:]:
        for c in range(records.numbers.shape[1] + records.codes.shape[1]):
            if _step(records, scale, rows[0], row, c) > 0.0:
                return row
    return -1


@inlined
def _halved(
    records: Records, scale: Scale, sample: np.ndarray, axis: int, values: np.ndarray, counts: np.ndarray
) -> tuple[float, np.uint64]:
    """Return the edge, or the levels, that about half of a sample lies below or has, and not all of it."""
    column, side = axis - records.numbers.shape[1], np.uint64(0)
    if column >= 0 and scale.starts[column + 1] - scale.starts[column] <= _NARROW:
        kinds, taken = 0, 0  # plain loops: numpy's functions of them take a second each to compile
        for level in range(_NARROW):
            counts[level] = 0
        for i in range(len(sample)):
            kinds += counts[records.codes[sample[i], column]] == 0
            counts[records.codes[sample[i], column]] += 1
        while kinds > 1 and 2 * taken < len(sample):
            level = 0
            for other in range(1, _NARROW):
                level = other if counts[other] > counts[level] else level
            taken, kinds = taken + counts[level], kinds - 1
            counts[level], side = 0, side | (_ONE << np.uint64(level))
        return 0.0, side
    for i in range(len(sample)):  # sorted as they come: numpy's sort takes seconds to compile
        value = records.codes[sample[i], column] if column >= 0 else records.numbers[sample[i], axis]
        place = i
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
    middle = len(sample) // 2
    while values[middle] == values[len(sample) - 1]:
        middle -= 1
    return values[middle], side


@inlined
def _is_first(records: Records, scale: Scale, row: int, axis: int, edge: float, side: np.uint64) -> bool:
    """Tell whether a record goes to the first child."""
    column = axis - records.numbers.shape[1]
    if column < 0:
        return records.numbers[row, axis] <= edge
    if scale.starts[column + 1] - scale.starts[column] > _NARROW:
        return records.codes[row, column] <= edge
    return (side >> np.uint64(records.codes[row, column])) & _ONE != 0


@inlined
def _step(records: Records, scale: Scale, a: int, b: int, c: int) -> float:
    """Return what two records differ by in one column."""
    column = c - records.numbers.shape[1]
    if column < 0:
        step = min(abs(records.numbers[a, c] - records.numbers[b, c]) * scale.factors[c], scale.caps[c])
        return step * step if scale.squared else step
    mine, theirs, at = records.codes[a, column], records.codes[b, column], scale.starts[column]
    return scale.costs[at + mine] + scale.costs[at + theirs] if mine != theirs else 0.0


_HALF, _LOWER = np.uint64(32), np.uint64(2**32 - 1)


class Tree(NamedTuple):
    """Boxes inside boxes, and the rows of the smallest ones, the leaves, one leaf after another.

    A leaf of rows [start, stop) holds cell j of column c of p at start * p + c * (stop - start) + j.
    """

    rows: np.ndarray  # (n,) int64: row numbers, ascending inside a leaf
    numbers: np.ndarray  # (n * p,) float64
    codes: np.ndarray  # (n * q,) int32
    spans: np.ndarray  # (boxes, 2) int64: start and stop
    child: np.ndarray  # (boxes,) int32: the first of two children side by side; 0 for a leaf
    axis: np.ndarray  # (boxes,) int32: the column that parts a box's children; numeric columns come first
    first: np.ndarray  # (boxes,) int64: the lowest row number inside
    tight: np.ndarray  # (boxes,) bool: a leaf whose rows are all at one place
    low: np.ndarray  # (boxes, p) float64
    high: np.ndarray  # (boxes, p) float64
    levels: np.ndarray  # (boxes, q) uint64: a bit a level; above 64 levels the lowest code and 2^32 x the highest
    floors: np.ndarray  # (boxes, q) float64: the least cost of a level inside
    depth: int


def enclosed(splits: Splits, records: Records, scale: Scale, offset: int) -> Tree:
    """Return the tree of some boxes; row numbers go up from ``offset``."""
    (n, p), q, boxes = records.numbers.shape, records.codes.shape[1], len(splits.child)
    tree = Tree(
        splits.rows + offset,
        np.zeros(n * p),
        np.zeros(n * q, dtype=np.int32),
        splits.spans,
        splits.child,
        splits.axis,
        np.zeros(boxes, dtype=np.int64),
        np.zeros(boxes, dtype=np.bool_),
        np.zeros((boxes, p)),
        np.zeros((boxes, p)),
        np.zeros((boxes, q), dtype=np.uint64),
        np.zeros((boxes, q)),
        splits.depth,
    )
    enclose(tree, splits.rows, records, scale)
    return tree


@compiled
def enclose(tree: Tree, rows: np.ndarray, records: Records, scale: Scale) -> None:
    """Take the bounds of all boxes of a tree, and copy the rows of its leaves."""
    for box in range(len(tree.child) - 1, -1, -1):  # children come after their box
        if tree.child[box] == 0:
            _enclose(tree, rows, records, scale, box)
        else:
            _join(tree, scale, box)


@inlined
def _enclose(tree: Tree, rows: np.ndarray, records: Records, scale: Scale, box: int) -> None:
    """Copy the rows of a leaf, and take the bounds of its columns."""
    start, stop = tree.spans[box]
    p, q = records.numbers.shape[1], records.codes.shape[1]
    tree.first[box], tight, length = tree.rows[start], True, stop - start
    for c in range(p):
        low, high = np.inf, -np.inf
        for j in range(length):
            value = records.numbers[rows[start + j], c]
            tree.numbers[start * p + c * length + j] = value
            low, high = min(low, value), max(high, value)
        tree.low[box, c], tree.high[box, c] = low, high
        tight &= low == high or scale.factors[c] == 0.0
    for c in range(q):
        at, wide, levels = scale.starts[c], scale.starts[c + 1] - scale.starts[c] > _NARROW, np.uint64(0)
        floor, low_code, high_code = np.inf, np.uint64(_LOWER), np.uint64(0)
        for j in range(length):
            code = records.codes[rows[start + j], c]
            tree.codes[start * q + c * length + j] = code
            floor = min(floor, scale.costs[at + code])
            level = np.uint64(code)
            low_code, high_code = min(low_code, level), max(high_code, level)
            if not wide:
                levels |= _ONE << level
        tree.levels[box, c] = (high_code << _HALF) | low_code if wide else levels
        tree.floors[box, c] = floor
        tight &= low_code == high_code or scale.costs[at] == 0.0
    tree.tight[box] = tight


@inlined
def _join(tree: Tree, scale: Scale, box: int) -> None:
    """Take the bounds of a box from its two children."""
    a, b = tree.child[box], tree.child[box] + 1
    tree.first[box] = min(tree.first[a], tree.first[b])
    for c in range(tree.low.shape[1]):
        tree.low[box, c] = min(tree.low[a, c], tree.low[b, c])
        tree.high[box, c] = max(tree.high[a, c], tree.high[b, c])
    for c in range(tree.levels.shape[1]):
        tree.floors[box, c] = min(tree.floors[a, c], tree.floors[b, c])
        one, other = tree.levels[a, c], tree.levels[b, c]
        if scale.starts[c + 1] - scale.starts[c] > _NARROW:
            tree.levels[box, c] = (max(one >> _HALF, other >> _HALF) << _HALF) | min(one & _LOWER, other & _LOWER)
        else:
            tree.levels[box, c] = one | other
