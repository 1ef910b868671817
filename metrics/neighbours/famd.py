"""Records as points on the two main axes of a factor analysis of mixed data (FAMD), fitted on the real table."""

from typing import Literal

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.records import check_space
from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.level_order import level_order
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables, in_order

ProjectionName = Literal["famd"]
_SAME = 1e-12  # points nearer than this share of the largest coordinate are one but for rounding
_Column = tuple[np.ndarray, np.ndarray]  # (n, k) and (m, k): a column as numbers, in the real and the synthetic table


def check_projection(projection: str | None = None, space: str = "euclid") -> None:
    """Refuse a name that is no projection or space, and a projection of gower space."""
    check_space(space)
    if projection not in (None, "famd"):
        raise InputError(f"projection must be famd or none, got {projection!r}")
    if projection is not None and space != "euclid":
        raise InputError(f"projection must be none in gower space, got {projection!r}")


def projected(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables' records as points on two axes, (n, 2) and (m, 2).

    Numerics are (v - mean)/sd of the real table (a missing one 0; no spread: divisor 1), each level seen in the
    real table is (b - p)/sqrt(p) with its share p (missing is a level). The axes are the eigenvectors of the real
    table's covariance matrix with the two largest eigenvalues, exact; if the second is a double one, the plane is not
    determined. Equal records have equal points, to the last bit. A table of one numeric column lies on one axis.
    Memory grows with (columns and levels)^2.

    Source: Pagès 2004, Analyse factorielle de données mixtes; AVATAR (Guillaudeux et al. 2023,
    doi:10.1038/s41746-023-00771-5).

    Example:
        >>> import pandas as pd
        >>> real, synthetic = projected(Tables(pd.DataFrame({"x": [0.0, 4.0]}), pd.DataFrame({"x": [2.0]})))
        >>> np.abs(real).tolist(), np.abs(synthetic).tolist()
        ([[1.0, 0.0], [1.0, 0.0]], [[0.0, 0.0]])
    """
    return tables.shared("famd", lambda: _projected(tables))


def nearest_projected(
    tables: Tables, direction: Literal["real_to_synthetic", "synthetic_to_real"], k: int = 1
) -> np.ndarray:
    """Return the k smallest distances between points of one table and those of the other, ascending, (n, k)."""
    real, synthetic = projected(tables)
    queries, reference = (real, synthetic) if direction == "real_to_synthetic" else (synthetic, real)
    found = scipy.spatial.KDTree(reference).query(queries, k=list(range(1, k + 1)))[0]
    largest = max(float(np.abs(points).max()) for points in (real, synthetic))
    return np.where(found <= _SAME * largest, 0.0, found)


def nearest_and_tied(tables: Tables, rows: np.ndarray, made: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each real point's smallest distance, its number of tied synthetic points, and which given pairs are tied.

    Pair i, of p, is the real record at position ``rows[i]`` and the synthetic one at ``made[i]``.
    """
    real, synthetic = projected(tables)
    distance = nearest_projected(tables, "real_to_synthetic")[:, 0]
    reach = distance * (1 + TIED) + _SAME * max(float(np.abs(points).max()) for points in (real, synthetic))
    tied = scipy.spatial.KDTree(synthetic).query_ball_point(real, reach, return_length=True)
    apart = np.sqrt(((real[rows] - synthetic[made]) ** 2).sum(axis=1))
    return distance, np.asarray(tied), apart <= reach[rows]


def _projected(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    blocks = [_column(tables, c) for c in in_order(tables.columns)]
    real = np.column_stack([block[0] for block in blocks])
    real = real[np.argsort(canonical(tables).real, kind="stable")]  # the same axes in any order of rows
    axes = np.linalg.eigh(real.T @ real / len(real))[1][:, ::-1][:, :2]
    loadings = np.split(axes, np.cumsum([block[0].shape[1] for block in blocks])[:-1])
    return _points(blocks, loadings, 0), _points(blocks, loadings, 1)


def _points(blocks: list[_Column], loadings: list[np.ndarray], table: int) -> np.ndarray:
    """Return coordinates, added up in one order, so that equal records have the same bits."""
    points = np.zeros((len(blocks[0][table]), 2))
    for block, loading in zip(blocks, loadings, strict=True):
        for cells, step in zip(block[table].T, loading, strict=True):
            points[:, : len(step)] += cells[:, None] * step
    return points


def _column(tables: Tables, column: str) -> _Column:
    if tables.kind(column) == "numeric":
        real, synthetic = tables.floats(column)
        mean, spread = center_and_spread(np.sort(real))
        unit = spread or 1.0
        return np.nan_to_num((real - mean) / unit)[:, None], np.nan_to_num((synthetic - mean) / unit)[:, None]
    codes = tables.codes([column])
    share = np.bincount(codes.tables[0], minlength=codes.size) / len(tables.real)
    order = level_order(tables, tables.columns)[column]
    seen = np.argsort(order)
    seen = seen[share[seen] > 0]  # and under any names
    flags = [((each[:, None] == seen) - share[seen]) / np.sqrt(share[seen]) for each in codes.tables]
    return flags[0], flags[1]
