"""Exact distances to the nearest records."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from synthrisk.metrics.spaces import SpaceName, points
from synthrisk.metrics.tables import Tables

_SPARE = 8  # candidates beyond k that the exact recomputation looks at
_BLOCK = 4_000_000  # cells of a block of exact differences


def real_to_synthetic(tables: Tables, space: SpaceName, k: int = 1) -> np.ndarray:
    """Return the distances of each real record to its k nearest synthetic records, (n, k), ascending."""
    at = points(tables, space)
    return tables.shared(
        ("real_to_synthetic", space, k), lambda: nearest_distances(at.real, at.synthetic, at.metric, k)
    )


def synthetic_to_real(tables: Tables, space: SpaceName, k: int = 1) -> np.ndarray:
    """Return the distances of each synthetic record to its k nearest real records, (m, k), ascending."""
    at = points(tables, space)
    return tables.shared(
        ("synthetic_to_real", space, k), lambda: nearest_distances(at.synthetic, at.real, at.metric, k)
    )


def nearest_distances(queries: np.ndarray, reference: np.ndarray, metric: str, k: int) -> np.ndarray:
    """Return the k smallest distances of each query to the reference rows, exact to rounding.

    scikit-learn's fast Euclidean search uses |a|^2 + |b|^2 - 2ab, which misses exact zeros by about 1e-8; so
    the differences of its nearest candidates are computed again.

    Args:
        queries: (n, p).
        reference: (m, p) with m >= k.
        metric: ``euclidean`` or ``manhattan``.
        k: How many.
    """
    spare = min(len(reference), k + (_SPARE if metric == "euclidean" else 0))
    search = NearestNeighbors(n_neighbors=spare, algorithm="brute", metric=metric).fit(reference)
    distances, found = search.kneighbors(queries)
    if metric == "manhattan":
        return np.asarray(distances)
    horizon = distances[:, -1] ** 2
    step = max(1, _BLOCK // (spare * max(reference.shape[1], 1)))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        gaps = queries[block, None, :] - reference[found[block]]
        distances[block] = np.sqrt((gaps**2).sum(axis=2))
    nearest = np.sort(distances, axis=1)[:, :k]
    if spare < len(reference):
        unsure = np.flatnonzero(nearest[:, -1] ** 2 + _rounding(queries, reference) >= horizon)
        for start in range(0, len(unsure), 64):  # rare: many records within rounding of each other
            rows = unsure[start : start + 64]
            nearest[rows] = np.sort(np.partition(cdist(queries[rows], reference), k - 1, axis=1)[:, :k], axis=1)
    return np.asarray(nearest)


def _rounding(queries: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return a bound on what |a|^2 + |b|^2 - 2ab may miss of a squared distance."""
    largest = (reference**2).sum(axis=1).max()
    scale = (queries**2).sum(axis=1) + largest
    return np.asarray(8 * (queries.shape[1] + 2) * np.finfo(float).eps * scale)
