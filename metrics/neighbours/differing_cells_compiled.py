"""Records compared with all others cell by cell, compiled by numba.

Above some twenty columns a tree passes hardly any record by. There each query is compared with every row, in single
precision and in a form that processors take in vectors of 16 or 64 cells (``InVectors``). What comes out is a bound:
but for ``Slack`` it is never above the sum in double precision. Only rows whose bound is within what is sought are
summed up in double precision, in the order of every other search: so what is found is the same to the last bit.

This stands where one would think of matrix products: those give Euclidean distances alone, not the sums of absolute
differences of gower space, in which most attacks search.
"""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.compiled import blocks_of, in_blocks, inlined, threaded
from synthrisk.metrics.neighbours.records import Records, Scale

BLOCK = 64
"""Records that a thread takes at once."""
_CHUNK = 4096  # rows that they are compared with meanwhile: what stays in a processor's nearest cache
_NEAR = 512  # rows of many columns that they are compared with meanwhile
MOST = 1e30
"""What a level costs at most in single precision, so that sums of many stay finite."""


def improve(
    fewest: np.ndarray, few: np.ndarray, many: np.ndarray, rows_of_few: np.ndarray, rows_of_many: np.ndarray
) -> None:
    """Lower ``fewest`` to the fewest cells in which each record differs from any row.

    The loops over rows run over neighbouring cells of the narrowest type, so that dozens are compared at a time.

    Args:
        fewest: (n,) unsigned, of the narrowest type that holds the number of columns.
        few: (n, c) codes of the columns with at most 256 levels, one byte each.
        many: (n, d) codes of the other columns.
        rows_of_few: (c, m) the same of the rows, a row a column of the table.
        rows_of_many: (d, m) the same.
    """
    in_blocks(compare, blocks_of(len(fewest), BLOCK), fewest, few, many, rows_of_few, rows_of_many)


@threaded
def compare(
    start_block: int,
    stop_block: int,
    fewest: np.ndarray,
    few: np.ndarray,
    many: np.ndarray,
    rows_of_few: np.ndarray,
    rows_of_many: np.ndarray,
) -> None:
    """Do what ``improve`` does for some blocks of records."""
    n, m = len(fewest), max(rows_of_few.shape[1], rows_of_many.shape[1])
    for block in range(start_block, stop_block):
        room = np.empty(min(_CHUNK, m), dtype=fewest.dtype)
        for start in range(0, m, _CHUNK):
            end = min(start + _CHUNK, m)
            differ = room[: end - start]
            for i in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
                if fewest[i] == 0:
                    continue
                differ[:] = 0
                for c in range(few.shape[1]):
                    column, own = rows_of_few[c, start:end], few[i, c]
                    for j in range(len(differ)):
                        differ[j] += column[j] != own
                for c in range(many.shape[1]):
                    wide, other = rows_of_many[c, start:end], many[i, c]
                    for j in range(len(differ)):
                        differ[j] += wide[j] != other
                least = fewest[i]
                for j in range(len(differ)):
                    if differ[j] < least:
                        least = differ[j]
                fewest[i] = least


class InVectors(NamedTuple):
    """A table in single precision: rounded, numbers that lie far out drawn in, and levels 256 apart taken for one.

    Each of these but the rounding only brings records nearer to each other.
    """

    numbers: np.ndarray  # (p, n) float32: (number - center) * factor
    codes: np.ndarray  # (q, n) uint8
    costs: np.ndarray  # (q, n) float32, the cost of each cell's level; (0, 0) where levels of a column cost the same


class Slack(NamedTuple):
    """How far the sums of ``InVectors`` may be above those in double precision: s <= sum * (1 + share) + least."""

    share: float
    least: float


@threaded
def nearest(
    start_block: int,
    stop_block: int,
    ours: InVectors,
    theirs: InVectors,
    slack: Slack,
    scale: Scale,
    queries: Records,
    reference: Records,
    own: np.ndarray,
    sums: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Improve ``sums`` and ``rows`` by all rows of the reference; the lowest row number wins among equals.

    Args:
        start_block: The first block of queries.
        stop_block: The one after the last.
        ours: The n queries.
        theirs: The m rows searched.
        slack: What rounding may have added to a bound.
        scale: What differences cost.
        queries: The queries as they are.
        reference: The rows as they are.
        own: (n,) the row number that a query may not find, -1 for none.
        sums: (n, k) ascending; infinite where nothing is found yet.
        rows: (n, k) above all row numbers where nothing is found yet.
    """
    (n, k), m = sums.shape, len(reference.codes)
    for block in range(start_block, stop_block):
        bounds, differ = np.empty(_NEAR, dtype=np.float32), np.empty(_NEAR, dtype=np.uint8)
        for start in range(0, m, _NEAR):
            stop = min(start + _NEAR, m)
            for query in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
                _bounds(bounds, differ, ours, theirs, scale, query, start, stop)
                best, best_rows = sums[query], rows[query]
                reach = np.float32(best[k - 1] * (1.0 + slack.share) + slack.least)
                for j in range(stop - start):
                    if bounds[j] > reach:
                        continue
                    row = start + j
                    total = _sum(scale, queries, reference, query, row)
                    slot = k - 1
                    if total > best[slot] or row == own[query] or (total == best[slot] and row > best_rows[slot]):
                        continue
                    while slot > 0 and (
                        total < best[slot - 1] or (total == best[slot - 1] and row < best_rows[slot - 1])
                    ):
                        best[slot], best_rows[slot] = best[slot - 1], best_rows[slot - 1]
                        slot -= 1
                    best[slot], best_rows[slot] = total, row
                    reach = np.float32(best[k - 1] * (1.0 + slack.share) + slack.least)


@threaded
def within(
    start_block: int,
    stop_block: int,
    ours: InVectors,
    theirs: InVectors,
    slack: Slack,
    scale: Scale,
    queries: Records,
    reference: Records,
    limits: np.ndarray,
    ends: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Count the rows of the reference within a limit of each query, or list them where ``rows`` has room.

    Args:
        start_block: The first block of queries.
        stop_block: The one after the last.
        ours: The n queries.
        theirs: The m rows searched.
        slack: What rounding may have added to a bound.
        scale: What differences cost.
        queries: The queries as they are.
        reference: The rows as they are.
        limits: (n,) the largest sum sought.
        ends: (n,) raised by the number of rows found; where a query's rows go on in ``rows``.
        rows: Row numbers are written here; empty: they are only counted.
    """
    n, m, listed = len(limits), len(reference.codes), len(rows) > 0
    for block in range(start_block, stop_block):
        bounds, differ = np.empty(_NEAR, dtype=np.float32), np.empty(_NEAR, dtype=np.uint8)
        for start in range(0, m, _NEAR):
            stop = min(start + _NEAR, m)
            for query in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
                _bounds(bounds, differ, ours, theirs, scale, query, start, stop)
                limit, end = limits[query], ends[query]
                reach = np.float32(limit * (1.0 + slack.share) + slack.least)
                for j in range(stop - start):
                    if bounds[j] <= reach and _sum(scale, queries, reference, query, start + j) <= limit:
                        if listed:
                            rows[end] = start + j
                        end += 1
                ends[query] = end


@inlined
def _bounds(
    bounds: np.ndarray,
    differ: np.ndarray,
    ours: InVectors,
    theirs: InVectors,
    scale: Scale,
    query: int,
    start: int,
    stop: int,
) -> None:
    """Write the sums of some rows in single precision, a column at a time: loops that are taken in vectors."""
    size = stop - start
    bounds, differ, p, q = bounds[:size], differ[:size], len(ours.numbers), len(ours.codes)
    bounds[:] = np.float32(0.0)
    if len(theirs.costs):
        for c in range(q):
            codes, costs = theirs.codes[c, start:stop], theirs.costs[c, start:stop]
            mine, cost = ours.codes[c, query], ours.costs[c, query]
            for j in range(size):
                bounds[j] += cost + costs[j] if codes[j] != mine else np.float32(0.0)
    else:
        first = 0
        while first < q:  # columns of one cost are counted together, at most as many as a byte counts
            at = scale.starts[first]
            last = first + 1
            while last < q and last - first < 255 and scale.costs[scale.starts[last]] == scale.costs[at]:
                last += 1
            differ[:] = np.uint8(0)
            for c in range(first, last):
                codes, mine = theirs.codes[c, start:stop], ours.codes[c, query]
                for j in range(size):
                    differ[j] += codes[j] != mine
            both = np.float32(min(2.0 * scale.costs[at], MOST))
            for j in range(size):
                bounds[j] += np.float32(differ[j]) * both
            first = last
    for c in range(p):
        there, here, cap = theirs.numbers[c, start:stop], ours.numbers[c, query], np.float32(scale.caps[c])
        if scale.squared:
            for j in range(size):
                step = there[j] - here
                bounds[j] += step * step
        else:
            for j in range(size):
                step = abs(there[j] - here)
                bounds[j] += step if step < cap else cap  # ``min`` asks for NaN as well, which takes twice the time


@inlined
def _sum(scale: Scale, queries: Records, reference: Records, query: int, row: int) -> float:
    """Return the sum of a pair in double precision, added up in the order of every search."""
    total = 0.0
    for c in range(queries.codes.shape[1]):
        mine, other, at = queries.codes[query, c], reference.codes[row, c], scale.starts[c]
        if mine != other:
            total += scale.costs[at + mine] + scale.costs[at + other]
    for c in range(queries.numbers.shape[1]):
        gap = abs(reference.numbers[row, c] - queries.numbers[query, c])
        step = min(gap * scale.factors[c], scale.caps[c])
        total += step * step if scale.squared else step
    return total
