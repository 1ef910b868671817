"""Records compared with all others cell by cell, compiled by numba."""

import numpy as np
from numba import prange

from synthrisk.metrics.compiled import parallel

_BLOCK = 64  # records that a thread takes at once
_CHUNK = 4096  # rows that they are compared with meanwhile: what stays in a processor's nearest cache


@parallel
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
    n, m = len(fewest), max(rows_of_few.shape[1], rows_of_many.shape[1])
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        room = np.empty(min(_CHUNK, m), dtype=fewest.dtype)
        for start in range(0, m, _CHUNK):
            end = min(start + _CHUNK, m)
            differ = room[: end - start]
            for i in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
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
