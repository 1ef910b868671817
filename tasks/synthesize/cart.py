"""Sequential CART: each column is drawn from the leaves of a tree grown on the columns before it.

The joint distribution is taken apart as f(x1) f(x2 | x1) f(x3 | x1, x2) ..., and each factor is learned by a
classification or regression tree (Reiter 2005, Journal of Official Statistics 21(3), 441-462).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.codes import Coded, class_target, coded, numeric_target, predictor
from synthrisk.tasks.synthesize.rpart import DEPTH, SMALLEST_SPLIT, ends
from synthrisk.tasks.synthesize.smoothing import smoothed
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer


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
            columns by a kernel as wide as their leaf suggests (``smoothing.smoothed``).
        stopping: None grows trees until leaves are pure or as small as allowed. ``"rpart"`` ends them as R's synthpop
            does: nodes of fewer than 3 ``min_samples_leaf`` records are not split, trees are at most 30 deep, and
            splits for a category that set no more training records right are dropped (``rpart.ends``).

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
    synthetic = pd.concat([released[place] for place in range(train.shape[1])], axis=1)
    synthetic.columns = train.columns
    return Release(synthetic)


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
