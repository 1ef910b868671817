"""A tree of boxes around records of mixed types, compiled by numba."""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.compiled import compiled, inlined
from synthrisk.metrics.neighbours.box_split import Splits
from synthrisk.metrics.neighbours.records import Records, Scale

_NARROW = 64  # levels that a set of bits tells apart
_HALF, _LOWER, _ONE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)


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


@compiled
def enclosed(splits: Splits, records: Records, scale: Scale, offset: int) -> Tree:
    """Return the tree of some boxes; row numbers go up from ``offset``."""
    (n, p), q, boxes = records.numbers.shape, records.codes.shape[1], len(splits.child)
    tree = Tree(
        splits.rows + offset,
        np.empty(n * p),
        np.empty(n * q, dtype=np.int32),
        splits.spans,
        splits.child,
        splits.axis,
        np.empty(boxes, dtype=np.int64),
        np.zeros(boxes, dtype=np.bool_),
        np.empty((boxes, p)),
        np.empty((boxes, p)),
        np.empty((boxes, q), dtype=np.uint64),
        np.empty((boxes, q)),
        splits.depth,
    )
    for box in range(boxes - 1, -1, -1):  # children come after their box
        if splits.child[box] == 0:
            _enclose(tree, splits.rows, records, scale, box)
        else:
            _join(tree, scale, box)
    return tree


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
