"""Keys compared with all keys of a release, compiled by numba."""

import numpy as np

from synthrisk.metrics.compiled import compiled


@compiled
def pooled(real: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Count the records at the smallest Hamming distance of each query, and those that hold its target.

    All loops over records run over neighbouring cells of the narrowest type that holds the codes, so that the
    processor compares dozens at a time.

    Args:
        real: (n, k + 1) codes of the keys asked for, k at most 255, and of the sensitive values.
        columns: (k + 1, m) the same of the release, a row a column of the table.
        weights: (m,) whole numbers: how many records each stands for.

    Returns:
        (3, n) counts at the smallest distance, counts of them that hold the target, distances.
    """
    found = np.zeros((3, len(real)))
    width, values = len(columns) - 1, columns[-1]
    differ = np.empty(len(values), dtype=np.uint8)
    for i in range(len(real)):
        differ[:] = 0
        for c in range(width):
            column, own = columns[c], real[i, c]
            for j in range(len(differ)):
                differ[j] += np.uint8(column[j] != own)
        smallest = np.uint8(255)
        for j in range(len(differ)):
            smallest = min(smallest, differ[j])
        near, hits, target = 0, 0, real[i, width]
        for j in range(len(differ)):
            near += (differ[j] == smallest) * weights[j]
            hits += ((differ[j] == smallest) & (values[j] == target)) * weights[j]
        found[0, i], found[1, i], found[2, i] = near, hits, smallest
    return found
