"""Kernel smoothing of drawn values, so that a continuous cell is not the exact cell of a real record."""

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind

_SPIKE = 0.05, 10  # a value with this share of the records, and so many of them, is nobody's own
_DECIMALS = 6
_WIDEST = 2**62  # wider columns (keys, hashes) are no quantities, and their differences overflow


def smoothed(
    column: pd.Series, cells: pd.Series, donors: np.ndarray, leaves: np.ndarray, rng: np.random.Generator
) -> pd.Series:
    """Move the drawn cells of a numeric column by Gaussian noise, within what their leaf holds.

    ``y' = y + h e``, e standard normal, with the bandwidth of the donor's leaf of m observed values,
    ``h = 0.9 min(s, IQR / 1.34) m**(-1/5)`` (Silverman 1986, eq. 3.31; s alone where the IQR is 0). A value beyond the
    smallest or largest of the leaf is reflected at it: clipping would pile up values there, on a real one. The grid of
    the column is kept: whole numbers, multiples of 50, days, two decimals. Not moved: categorical and missing cells,
    infinities, leaves of one value, and spikes, the values that at least 5 % of the records (and 10) share.

    Args:
        column: n training cells.
        cells: The drawn cells; the moved ones are returned in their dtype.
        donors: Positions in ``column`` of the drawn cells.
        leaves: n leaf numbers of the training cells.
        rng: Where the noise comes from.
    """
    if kind(column) != "numeric":
        return cells
    is_float = types.is_float_dtype(column.dtype)
    values, step = (as_floats(column), 0) if is_float else _steps(column)
    finite = np.isfinite(values)
    share, count = _SPIKE
    often = pd.Series(values).map(pd.Series(values).value_counts()).to_numpy()
    movable = finite & ~(often >= max(count, share * len(values)))
    moved = np.flatnonzero(movable[donors])
    if not len(moved) or values[finite].max() / 2 - values[finite].min() / 2 > _WIDEST / 2:
        return cells
    width, low, high = _kernel(values, leaves, finite)
    leaf, old = leaves[donors[moved]], values[donors[moved]]
    new = _reflected(old + width[leaf] * rng.standard_normal(len(moved)), low[leaf], high[leaf])
    new = np.clip(_rounded(new, values[finite], is_float), low[leaf], high[leaf])
    result = cells.copy()
    if is_float:
        result.iloc[moved] = pd.Series(new).astype(cells.dtype).array
        return result
    shift = (new - old).astype(np.int64) * step
    if is_temporal(column):
        result.iloc[moved] = (cells.iloc[moved] + shift.astype(f"m8[{cells.dt.unit}]")).array
    else:
        whole = _integers(cells.iloc[moved]) + shift.view(np.uint64)
        back = whole if types.is_unsigned_integer_dtype(column.dtype) else whole.view(np.int64)
        result.iloc[moved] = pd.Series(back).astype(cells.dtype).array
    return result


def _integers(column: pd.Series) -> np.ndarray:
    """Return whole numbers, dates or durations modulo 2**64, in which differences are exact."""
    signed = np.uint64 if types.is_unsigned_integer_dtype(column.dtype) else np.int64
    return np.asarray(column.astype(signed), dtype=signed).view(np.uint64)


def _steps(column: pd.Series) -> tuple[np.ndarray, int]:
    """Return whole values as steps above the smallest (NaN where missing), and the step, their divisor."""
    known = column.notna().to_numpy()
    values = np.full(len(column), np.nan)
    if not known.any():
        return values, 1
    above = _integers(column[known]) - _integers(column[column == column.min()])[0]
    step = max(int(np.gcd.reduce(above)), 1)
    values[known] = above // np.uint64(step)
    return values, step


def _kernel(values: np.ndarray, leaves: np.ndarray, finite: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size = int(leaves.max()) + 1  # bandwidth, smallest and largest value of each leaf
    order = np.flatnonzero(finite)
    order = order[np.lexsort((values[order], leaves[order]))]
    by_leaf, count = values[order], np.bincount(leaves[order], minlength=size)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])

    def quantile(q: float) -> np.ndarray:
        place = first + q * np.maximum(count - 1, 0)
        below, above = (np.minimum(f(place).astype(int), len(by_leaf) - 1) for f in (np.floor, np.ceil))
        return np.asarray(by_leaf[below] + (place % 1) * (by_leaf[above] - by_leaf[below]))

    centre = np.bincount(leaves[order], by_leaf, size) / np.maximum(count, 1)
    squares = np.bincount(leaves[order], (by_leaf - centre[leaves[order]]) ** 2, size)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    middle = (quantile(0.75) - quantile(0.25)) / 1.34
    scale = np.where(middle > 0, np.minimum(deviation, middle), deviation)
    return 0.9 * scale * np.maximum(count, 1) ** -0.2, quantile(0.0), quantile(1.0)


def _reflected(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    width = np.where(high > low, high - low, 1.0)
    folded = np.abs((values - low + width) % (2 * width) - width)
    return np.where(high > low, low + folded, low)


def _rounded(new: np.ndarray, values: np.ndarray, is_float: bool) -> np.ndarray:
    if not is_float:
        return np.round(new)
    for decimals in range(_DECIMALS + 1):
        if np.array_equal(np.round(values, decimals), values):
            return np.round(new, decimals)
    return new
