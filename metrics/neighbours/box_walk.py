"""Exact searches through a box tree, compiled by numba.

A box is passed by if the least that its rows can be away is above what is sought. That bound is added up in the
order of a distance, and rounding is monotone: it is never above the computed distance of a row inside, so ties
are kept to the last bit.
"""

import numpy as np
from numba import prange

from synthrisk.metrics.compiled import inlined, parallel_beside
from synthrisk.metrics.neighbours.box_tree import Tree
from synthrisk.metrics.neighbours.records import Records, Scale

_CHUNK = 256  # rows whose distances are taken at once
_BLOCK = 64  # queries that a thread takes at once
_NARROW = 64  # levels that a set of bits tells apart
_HALF, _LOWER, _ONE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)


@parallel_beside
def nearest(
    tree: Tree,
    scale: Scale,
    queries: Records,
    own: np.ndarray,
    homes: np.ndarray,
    sums: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Improve ``sums`` and ``rows`` by the rows of a tree; the lowest row number wins among equals.

    Args:
        tree: The rows searched.
        scale: What differences cost.
        queries: n records; those that follow each other should lie near each other.
        own: (n,) the row number that a query may not find, -1 for none.
        homes: (n,) where in ``tree.rows`` the leaf starts that a query looks at first: what it finds spares it others.
            Boxes beside the way there are weighed when their turn comes, first in the column that parts them from it.
        sums: (n, k) ascending; infinite where nothing is found yet.
        rows: (n, k) above all row numbers where nothing is found yet.

    Returns:
        Rows looked at and boxes weighed, (blocks of queries, 2).
    """
    n, k = sums.shape
    blocks = (n + _BLOCK - 1) // _BLOCK
    work = np.zeros((blocks, 2), dtype=np.int64)
    for block in prange(blocks):
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
    return work


@parallel_beside
def within(
    tree: Tree,
    scale: Scale,
    queries: Records,
    limits: np.ndarray,
    ends: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Count the rows of a tree within a limit of each query, or list them where ``rows`` has room.

    Args:
        tree: The rows searched.
        scale: What differences cost.
        queries: n records; those that follow each other should lie near each other.
        limits: (n,) the largest sum sought.
        ends: (n,) raised by the number of rows found; where a query's rows go on in ``rows``.
        rows: Row numbers are written here; empty: they are only counted.
    """
    n, listed = len(limits), len(rows) > 0
    for block in prange((n + _BLOCK - 1) // _BLOCK):
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
