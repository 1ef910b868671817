"""Dividing records of mixed types into boxes whose rows lie near each other, compiled by numba.

A box is split in the column in which its rows differ most, numeric or categorical alike, until it holds few rows
or all are at one place. How well it is split decides how fast a search is, never what it finds.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from synthrisk.metrics.compiled import compiled, inlined, parallel
from synthrisk.metrics.neighbours.records import Records, Scale

_SAMPLE = 64  # rows by which a split is chosen
_NARROW = 64  # levels that a set of bits tells apart
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


@compiled
def split(records: Records, scale: Scale, leaf: int) -> Splits:
    """Return boxes of records, the smallest of at most ``leaf`` rows or of rows at one place."""
    n = len(records.codes)
    rows, seconds = np.arange(n), np.empty(n, dtype=np.int64)
    spans, child, level = np.empty((2 * n, 2), np.int64), np.empty(2 * n, np.int32), np.empty(2 * n, np.int32)
    axis, edge, side = np.empty(2 * n, np.int32), np.empty(2 * n), np.empty(2 * n, np.uint64)
    sample, values, counts = np.empty(_SAMPLE, np.int64), np.empty(_SAMPLE), np.empty(_NARROW, np.int64)
    stack = np.empty(2 * n, np.int32)
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
    cut = slice(0, boxes)
    return Splits(
        rows, spans[cut].copy(), child[cut].copy(), axis[cut].copy(), edge[cut].copy(), side[cut].copy(), depth
    )


@parallel
def by_leaf(splits: Splits, records: Records, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the records by the leaf that each falls into, and where in the rows it starts, (n,) each.

    So near ones stand near each other; records of one leaf stay as they stand.
    """
    starts = np.empty(len(records.codes), dtype=np.int64)
    for row in prange(len(starts)):
        box = 0
        while splits.child[box]:
            first = _is_first(records, scale, row, splits.axis[box], splits.edge[box], splits.side[box])
            box = splits.child[box] + (0 if first else 1)
        starts[row] = splits.spans[box, 0]
    ends = np.zeros(len(splits.rows) + 1, dtype=np.int64)  # counted, not sorted: a leaf starts at a row of its own
    for row in range(len(starts)):
        ends[starts[row] + 1] += 1
    for place in range(1, len(ends)):
        ends[place] += ends[place - 1]
    order = np.empty(len(starts), dtype=np.int64)
    for row in range(len(starts)):
        order[ends[starts[row]]] = row
        ends[starts[row]] += 1
    return order, starts


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
        counts[:] = 0
        for row in sample:
            counts[records.codes[row, column]] += 1
        kinds, taken = np.count_nonzero(counts), 0
        while kinds > 1 and 2 * taken < len(sample):
            level = np.argmax(counts)
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
