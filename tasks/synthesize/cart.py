"""Sequential CART: each column is drawn from the leaves of a tree grown on the columns before it.

The joint distribution is taken apart as f(x1) f(x2 | x1) f(x3 | x1, x2) ..., and each factor is learned by a
classification or regression tree (Reiter 2005, Journal of Official Statistics 21(3), 441-462).

Numbers for a tree: how each column is coded as a target and as a predictor.

A binary tree cuts a predictor at a threshold, so only the order of its values matters.

Where R's rpart ends a tree, and scikit-learn does not: the trees of synthpop's CART.

Therneau and Atkinson, "An Introduction to Recursive Partitioning Using the RPART Routines"; rpart 4.1, partition.c.

Kernel smoothing of drawn values, so that a continuous cell is not the exact cell of a real record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer, side_by_side


def cart(
    job: Job,
    *,
    min_samples_leaf: int = 5,
    max_depth: int | None = None,
    visit_order: Sequence[str] | None = None,
    smoothing: Literal["density"] | None = None,
    stopping: Literal["rpart"] | None = None,
) -> Release:
    """Draw a release column by column; each cell is the cell of a training record in the same leaf (a donor).

    The first column visited is a bootstrap sample of the training values. For each further column a tree is fitted on
    the columns before it, the synthetic rows fall through it, and each takes the value of a record drawn evenly from
    its leaf. Missing is a value: a level of a categorical column; in a numeric column one tree decides whether the cell
    is missing, and a second one, fitted on the other records, its value. Later columns are predicted from the donors'
    cells, also where smoothing changes what is released.

    Args:
        job: What to learn from, how many rows, and the seed.
        min_samples_leaf: Records that a leaf holds at least: fewer copy more, more blur more.
        max_depth: Splits above a leaf at most; None sets no limit.
        visit_order: All column names in the order in which they are drawn; None takes the table's order.
        smoothing: None releases values of training records as they are. ``"density"`` moves the values of continuous
            columns by a kernel as wide as their leaf suggests (``cart.smoothed``).
        stopping: None grows trees until leaves are pure or as small as allowed. ``"rpart"`` ends them as R's synthpop
            does: nodes of fewer than 3 ``min_samples_leaf`` records are not split, trees are at most 30 deep, and
            splits for a category that set no more training records right are dropped (``cart.ends``).

    Returns:
        A release with the columns, their order and dtypes of the training table.

    Raises:
        InputError: An option is out of its range, or the training table is empty.

    Example:
        >>> train = pd.DataFrame({"age": [30, 30, 60, 60] * 5, "votes": ["a", "a", "b", "b"] * 5})
        >>> release = cart(Job(train, train.head(0), rows=100, seed=1)).synthetic
        >>> pd.crosstab(release["age"], release["votes"]).to_numpy().diagonal().sum()
        np.int64(100)
    """
    train = job.train
    order = _checked(train, job.rows, min_samples_leaf, max_depth, visit_order)
    for name, value, known in (("smoothing", smoothing, "density"), ("stopping", stopping, "rpart")):
        if value not in (None, known):
            raise InputError(f"{name} must be null or {known!r}, got {value!r}")
    rng = np.random.default_rng(job.seed)
    grow = _Grow(len(train), min_samples_leaf, max_depth, stopping == "rpart", rng)
    columns = [coded(train.iloc[:, place]) for place in order]
    donors: list[np.ndarray] = []
    released: dict[int, pd.Series] = {}
    for visit, place in enumerate(order):
        column = train.iloc[:, place]
        leaves = grow.leaves(column, columns[visit], columns[:visit], donors, job.rows)
        donors.append(_draw(*leaves, rng))
        cells = column.take(donors[-1]).reset_index(drop=True)
        if smoothing == "density":
            cells = smoothed(column, cells, donors[-1], leaves[0], rng)
        released[place] = cells
    return Release(side_by_side([released[place] for place in range(train.shape[1])], train.columns, job.rows))


def _checked(
    train: pd.DataFrame, rows: int, min_samples_leaf: int, max_depth: int | None, visit_order: Sequence[str] | None
) -> list[int]:  # positions of the columns in the order of the visits
    if not len(train) or not train.shape[1] or rows < 1:
        raise InputError(f"cart needs a record, a column and a row to draw, got {train.shape} and {rows} rows")
    for name, value in (("min_samples_leaf", min_samples_leaf), ("max_depth", max_depth)):
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if not is_count and (value is not None or name == "min_samples_leaf"):
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    if visit_order is None:
        return list(range(train.shape[1]))
    if isinstance(visit_order, str) or not isinstance(visit_order, Sequence):
        raise InputError(f"visit_order must be a list of column names, got {visit_order!r}")
    names, known = list(visit_order), list(train.columns)
    for name in names:
        if name not in known:
            close = nearest(str(name), [str(k) for k in known])
            raise InputError(f"visit_order must name columns of the table, got {name!r}{close}")
    if len(names) != len(known) or len(set(names)) != len(names):
        absent = [name for name in known if name not in names]
        what = f"{absent} absent" if absent else "a name twice"
        raise InputError(f"visit_order must name every column once, got {what}")
    return [known.index(name) for name in names]


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


class _Grow:
    """Grows the trees of one release."""

    def __init__(self, records: int, least: int, depth: int | None, is_rpart: bool, rng: np.random.Generator) -> None:
        self.records, self.least, self.is_rpart, self.rng = records, least, is_rpart, rng
        self.limits = {"min_samples_leaf": least, "max_depth": depth}
        if is_rpart:
            self.limits |= {"min_samples_split": SMALLEST_SPLIT * least, "max_depth": min(depth or DEPTH, DEPTH)}

    def leaves(
        self, column: pd.Series, target: Coded, before: list[Coded], donors: list[np.ndarray], rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the leaf of each training record, and the leaf in which each row looks for a donor."""
        everyone = np.arange(self.records)
        drawn = np.column_stack(donors) if donors else np.empty((rows, 0), dtype=np.int64)
        if not target.is_numeric:
            return self._tree(class_target(target, self.least), everyone, before, drawn)
        values = numeric_target(column)
        known = np.flatnonzero(~target.missing)
        if len(known) in (0, self.records):
            return self._tree(values, known, before, drawn)
        # Leaf 0 is that of the missing cells: both trees number theirs from 1.
        flags = self._tree(target.missing.astype(np.int64), everyone, before, drawn)
        is_missing = target.missing[_draw(*flags, self.rng)]
        of_records, of_rows = self._tree(values, known, before, drawn)
        return np.where(target.missing, 0, of_records), np.where(is_missing, 0, of_rows)

    def _tree(
        self, target: np.ndarray, known: np.ndarray, before: list[Coded], drawn: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        seed = int(self.rng.integers(2**31))
        if not before or len(known) < 2 * self.least or np.ptp(target[known]) == 0:
            return np.ones(self.records, dtype=np.int64), np.ones(len(drawn), dtype=np.int64)
        codes = [predictor(column, target, known, self.least) for column in before]
        x = np.column_stack(codes).astype(np.float32)
        kind = DecisionTreeRegressor if target.dtype.kind == "f" else DecisionTreeClassifier
        tree = kind(**self.limits, random_state=seed)
        tree.fit(x[known], target[known])
        rows = np.column_stack([code[donor] for code, donor in zip(x.T, drawn.T, strict=True)])
        of_records, of_rows = tree.apply(x), tree.apply(rows)
        if self.is_rpart and kind is DecisionTreeClassifier:
            end = ends(tree.tree_)
            of_records, of_rows = end[of_records], end[of_rows]
        return of_records + 1, of_rows + 1


def _draw(of_records: np.ndarray, of_rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each synthetic row the position of a training record in its leaf, evenly."""
    by_leaf = np.argsort(of_records, kind="stable")
    counts = np.bincount(of_records)
    first = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(by_leaf[first[of_rows] + rng.integers(0, counts[of_rows])])


CART = Synthesizer("cart", cart, trial="few")

_CLASSES = 100  # a split costs time in proportion to the classes of the target


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


SMALLEST_SPLIT = 3
"""A node is split from so many times the smallest leaf on (``minsplit = 3 minbucket``, rpart.control)."""
DEPTH = 30
"""Splits above a leaf at most (``maxdepth``)."""


def ends(tree: Any) -> np.ndarray:
    """Return for each node of a fitted classification tree the node in which its records end.

    rpart keeps a split only if its complexity (R(t) - R(T_t))/(splits of T_t) > cp R(root), with R the training records
    misclassified, t the node and T_t the tree below it. With synthpop's cp = 1e-8, a subtree that misclassifies as many
    training records as its top node becomes a leaf, though its leaves differ in class shares. ``tree`` is the ``tree_``
    of a scikit-learn classifier; of each node its own number is returned, or that of the node above that became a leaf.
    """
    left, right = tree.children_left, tree.children_right
    shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
    wrong = np.rint(tree.n_node_samples * (1 - shares.max(axis=1)))
    below = wrong.copy()
    for node in range(tree.node_count - 1, -1, -1):  # children have higher numbers
        if left[node] >= 0:
            below[node] = below[left[node]] + below[right[node]]
    is_leaf = (left < 0) | (below == wrong)
    end = np.arange(tree.node_count)
    for node in range(tree.node_count):
        if left[node] >= 0 and is_leaf[end[node]]:
            end[left[node]] = end[right[node]] = end[node]
    return np.asarray(end)


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
