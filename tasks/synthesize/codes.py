"""Numbers for a tree: how each column is coded as a target and as a predictor.

A binary tree cuts a predictor at a threshold, so only the order of its values matters.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import as_floats, kind

_CLASSES = 100  # a split costs time in proportion to the classes of the target


@dataclass(frozen=True, eq=False)
class Coded:
    """A training column as n integers.

    Numeric: rank of the value among the distinct values, -1 where missing. Categorical: number of the level; missing is
    a level of its own.
    """

    is_numeric: bool  # whether its order means something
    codes: np.ndarray  # (n,)
    size: int  # number of distinct codes, -1 not counted

    @property
    def missing(self) -> np.ndarray:
        """Where a numeric column is missing (a categorical one never is: its missing cells are a level)."""
        return np.asarray(self.codes < 0)


def coded(column: pd.Series) -> Coded:
    """Number the values of a column; ranks are exact even where floats are not (2**53 + 1, nanoseconds)."""
    is_numeric = kind(column) == "numeric"
    try:
        codes, levels = pd.factorize(column, sort=is_numeric, use_na_sentinel=is_numeric)
    except TypeError:
        raise InputError(f"column {column.name!r} must hold plain values, got dtype {column.dtype}") from None
    return Coded(is_numeric, codes.astype(np.int64), len(levels))


def numeric_target(column: pd.Series) -> np.ndarray:
    """Return a numeric column as floats in [0, 1] (NaN where missing; infinities become the finite ends)."""
    values = as_floats(column)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    # Halves, since high - low may overflow; the unit range keeps the tree's sums of squares exact enough.
    width = high / 2 - low / 2
    return np.asarray(np.clip((values / 2 - low / 2) / (width if width > 0 else 1.0), 0.0, 1.0))


def class_target(column: Coded, least: int) -> np.ndarray:
    """Return the classes of a categorical column, with its rare levels pooled in one class.

    A leaf holds at least ``least`` records, so that no level with fewer can be told apart; and of many levels only the
    most frequent are told apart, or each split would take endless time. Pooling is for the search for splits alone:
    cells are drawn from real records, so every level is still released.
    """
    counts = np.bincount(column.codes, minlength=column.size)
    frequent = np.argsort(-counts, kind="stable")[: _CLASSES - 1]
    frequent = frequent[counts[frequent] >= least]
    classes = np.full(column.size, len(frequent), dtype=np.int64)
    classes[frequent] = np.arange(len(frequent))
    return np.asarray(classes[column.codes])


def predictor(column: Coded, target: np.ndarray, rows: np.ndarray, least: int) -> np.ndarray:
    """Code a column for the tree of one target: n floats, NaN where a numeric cell is missing.

    Numeric: its ranks. Categorical: its levels in an order in which a threshold finds good subsets. Let P_l be the mean
    target of the records with level l. For a number or two classes the best subset is an interval in the order of P_l
    (Breiman, Friedman, Olshen and Stone 1984, section 4.2). For more classes P_l is the vector of class shares, and
    levels are ordered by its first principal component, weighted by the level's records (Coppersmith, Hong and Hosking
    1999, doi:10.1023/A:1009869804967). Levels with fewer than ``least`` records share one code: an order by their own
    target would reveal it.

    Args:
        column: The predictor.
        target: n floats (a number) or n integers (classes from 0).
        rows: Positions of the records that the tree is fitted on.
        least: Records that a leaf holds at least.
    """
    if column.is_numeric:
        return np.where(column.missing, np.nan, column.codes.astype(float))
    counts = np.bincount(column.codes[rows], minlength=column.size)
    pooled = np.where(counts >= least, np.arange(column.size), column.size)[column.codes]
    rank = np.empty(column.size + 1)
    rank[np.argsort(_scores(pooled[rows], column.size + 1, target[rows]), kind="stable")] = np.arange(len(rank))
    return np.asarray(rank[pooled])


def _scores(levels: np.ndarray, size: int, target: np.ndarray) -> np.ndarray:
    counts = np.bincount(levels, minlength=size)
    weights = np.maximum(counts, 1)
    classes = 1 if target.dtype.kind == "f" else int(target.max()) + 1
    if classes <= 2:
        return np.bincount(levels, target, size) / weights
    table = np.bincount(levels * classes + target, minlength=size * classes).reshape(size, classes)
    shares = table / weights[:, None]
    centred = shares - (counts @ shares) / counts.sum()
    _, vectors = np.linalg.eigh(centred.T @ (centred * counts[:, None]))
    first = vectors[:, -1]
    return np.asarray(centred @ (first * np.sign(first[np.argmax(np.abs(first))])))  # a sign that no library decides
