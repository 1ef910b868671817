"""A random forest with the one rule in which R's ranger differs from scikit-learn's."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class RangerForest(ClassifierMixin, BaseEstimator):
    """Probability forest; a node none of whose drawn variables splits it is a leaf, as in ranger.

    Bootstrap samples, sqrt(p) variables a node, Gini, nodes of more than 10 records are split; classes averaged over
    leaves. Slow and plain: it is here to show what that rule does, on small tables.

    Args:
        trees: Number of trees.
        draws_on: Draw further variables until one splits the node, as scikit-learn does.
        random_state: Seed.
    """

    def __init__(self, trees: int = 500, draws_on: bool = False, random_state: int | None = None):
        self.trees, self.draws_on, self.random_state = trees, draws_on, random_state

    def fit(self, rows: np.ndarray, target: np.ndarray) -> "RangerForest":
        """Grow the trees; ``rows`` (m, p), ``target`` (m,)."""
        rng = np.random.default_rng(self.random_state)
        self.classes_, codes = np.unique(target, return_inverse=True)
        truth = np.eye(len(self.classes_))[codes]
        self.forest_ = []
        for _ in range(self.trees):
            bag = rng.integers(len(rows), size=len(rows))
            self.forest_.append(self._node(rows[bag], truth[bag], rng))
        return self

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability of each class, (n, K)."""
        total = np.zeros((len(rows), len(self.classes_)))
        for tree in self.forest_:
            _fall(tree, rows, np.arange(len(rows)), total)
        return total / len(self.forest_)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(axis=1)])

    def _node(self, rows: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> tuple:
        counts = truth.sum(axis=0)
        if len(rows) <= 10 or (counts > 0).sum() == 1:
            return (counts / len(rows),)
        drawn = rng.permutation(rows.shape[1])
        few = max(1, int(np.sqrt(rows.shape[1])))
        best = max(_best_cut(rows[:, j], truth, j) for j in drawn[:few])
        if self.draws_on:
            for j in drawn[few:]:
                best = best if best[0] >= 0 else _best_cut(rows[:, j], truth, j)
        gain, place, cut = best
        if gain < 0:
            return (counts / len(rows),)
        left = rows[:, place] <= cut
        return place, cut, self._node(rows[left], truth[left], rng), self._node(rows[~left], truth[~left], rng)


def _best_cut(values: np.ndarray, truth: np.ndarray, place: int) -> tuple[float, int, float]:
    """Return the largest sum of squared class counts over node sizes, the variable, and the cut; -1: none."""
    order = np.argsort(values, kind="stable")
    sorted_values, left = values[order], truth[order].cumsum(axis=0)
    ends = np.flatnonzero(sorted_values[1:] > sorted_values[:-1])
    if not len(ends):
        return -1.0, int(place), 0.0
    before, after = left[ends], left[-1] - left[ends]
    sizes = (ends + 1)[:, None]
    gains = (before**2 / sizes + after**2 / (len(values) - sizes)).sum(axis=1)
    end = ends[gains.argmax()]
    return float(gains.max()), int(place), float((sorted_values[end] + sorted_values[end + 1]) / 2)


def _fall(node: tuple, rows: np.ndarray, here: np.ndarray, total: np.ndarray) -> None:
    if len(node) == 1:
        total[here] += node[0]
    elif len(here):
        left = rows[here, node[0]] <= node[1]
        _fall(node[2], rows, here[left], total)
        _fall(node[3], rows, here[~left], total)
