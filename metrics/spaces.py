"""Records as points, so that distances between mixed-type records are distances between points.

``euclid``: numerics in standard deviations, categorical levels as standardised one-hot columns; Euclidean
distance. ``gower``: mean over columns of |a - b|/range (numeric) or 0/1 (categorical); L1 distance, in [0, 1].
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables import Tables

SpaceName = Literal["euclid", "gower"]


class Points(NamedTuple):
    """Both tables as points of one space, and the metric that scikit-learn calls the distance by."""

    real: np.ndarray  # (n, p) float64
    synthetic: np.ndarray  # (m, p) float64
    metric: str


def points(tables: Tables, space: SpaceName) -> Points:
    """Return both tables as points of ``space``; scales come from the real table (gower ranges: from both).

    A missing cell is never dropped. euclid: 0 plus a standardised column "is missing"; gower: distance 1 to
    any value, 0 to another missing cell. Columns are taken in the order of their names.

    Raises:
        InputError: The space has another name, or a numeric column holds something else in one table.
    """
    check_space(space)
    return tables.shared(("points", space), lambda: _points(tables, space))


def check_space(space: str = "euclid") -> None:
    """Refuse a name that is no space."""
    if space not in ("euclid", "gower"):
        raise InputError(f"space must be euclid or gower, got {space!r}")


def _points(tables: Tables, space: SpaceName) -> Points:
    kinds: dict[str, Callable[[Tables, str], list[np.ndarray]]] = (
        {"numeric": _standardised, "categorical": _one_hot}
        if space == "euclid"
        else {"numeric": _ranged, "categorical": _mismatch}
    )
    blocks = [b for c in sorted(tables.columns, key=str) for b in kinds[tables.kind(c)](tables, c)]
    both = np.column_stack(blocks)
    if space == "gower":
        both /= len(tables.columns)
    n = len(tables.real)
    return Points(both[:n], both[n:], "euclidean" if space == "euclid" else "manhattan")


def _standardised(tables: Tables, column: str) -> list[np.ndarray]:
    real, synthetic = tables.floats(column)
    mean, spread = center_and_spread(real)
    both = np.concatenate([real, synthetic])
    missing = np.isnan(both)
    block = [np.where(missing, 0.0, (both - mean) / (spread or 1.0))]
    return [*block, _binary(missing, len(real))] if missing.any() else block


def center_and_spread(values: np.ndarray) -> tuple[float, float]:
    """Return mean and population standard deviation of the values that are there; 0 for a constant."""
    seen = values[~np.isnan(values)]
    if not len(seen):
        return 0.0, 0.0
    if seen.min() == seen.max():  # the mean of equal floats may miss them by rounding
        return float(seen[0]), 0.0
    return float(seen.mean()), float(seen.std())


def _one_hot(tables: Tables, column: str) -> list[np.ndarray]:
    codes = np.concatenate(tables.codes([column]).tables)
    return [_binary(codes == level, len(tables.real)) for level in np.unique(codes)]


def _binary(flags: np.ndarray, n_real: int) -> np.ndarray:
    share = flags[:n_real].mean()
    return (flags - share) / (np.sqrt(share * (1 - share)) if 0 < share < 1 else 1.0)


def _ranged(tables: Tables, column: str) -> list[np.ndarray]:
    both = np.concatenate(tables.floats(column))
    missing = np.isnan(both)
    if missing.all():
        return [np.zeros(len(both))]
    low, high = both[~missing].min(), both[~missing].max()
    unit = np.where(missing, 0.0, (both - low) / (high - low) if high > low else 0.0)
    if not missing.any():
        return [unit]
    # |x - y| split in two halves; a missing cell is 0 in both and 1/2 in a third: 1 from any value in [0, 1]
    return [unit / 2, np.where(missing, 0.0, 1 - unit) / 2, missing / 2]


def _mismatch(tables: Tables, column: str) -> list[np.ndarray]:
    codes = np.concatenate(tables.codes([column]).tables)
    return [(codes == level) / 2 for level in np.unique(codes)]
