"""Attacker models of the lasso kind, their penalty chosen by cross-validation: for categories and for numbers."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy
from sklearn.base import BaseEstimator
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, StratifiedKFold

FOLDS = 5
PENALTIES = np.geomspace(1, 1e-3, 13)
"""Penalties tried, as shares of the smallest one at which every coefficient is 0."""
ENOUGH = 2
"""So many weaker penalties without a better loss end the search."""
STEPS = 1000
"""Steps of a descent at most."""


class LassoLogistic(BaseEstimator):  # type: ignore[misc]
    """Multinomial logistic regression with an l1 penalty that cross-validation chooses.

    Minimises -mean_i log p(y_i | x_i) + L sum |w_jc|, one vector w_c a class (for two classes the same model as
    one vector), intercepts free; L is the one with the smallest held-out log loss. A class with fewer members
    than folds is never held out, so that every fold knows it. All folds and the whole data descend together
    (FISTA, Beck and Teboulle 2009, doi:10.1137/080716542, restarted where it overshoots): as near the optimum,
    scikit-learn's saga takes ten times as long (``benchmarks/lasso.py``).

    Args:
        random_state: Seed of the folds.

    Attributes:
        classes_: The K classes.
        coef_: w, (p, K).
        intercept_: (K,).
        penalty_: L.

    Example:
        >>> model = LassoLogistic(0).fit(np.repeat([[-1.0], [1.0]], 50, axis=0), np.repeat([3, 8], 50))
        >>> model.classes_.tolist(), model.predict_proba(np.array([[1.0]])).round(2).tolist()
        ([3, 8], [[0.0, 1.0]])
    """

    def __init__(self, random_state: int | None = None):
        self.random_state = random_state

    def fit(self, rows: np.ndarray, target: np.ndarray) -> "LassoLogistic":
        """Choose L and fit; ``rows`` (m, p), ``target`` (m,)."""
        self.classes_, codes = np.unique(target, return_inverse=True)
        truth = np.eye(len(self.classes_))[codes]
        held_out = self._held_out(codes)
        scale = np.sqrt(np.mean(rows**2, axis=0))
        scale[scale == 0] = 1
        scaled = np.column_stack([rows / scale, np.ones(len(rows))])
        sizes = np.append(1 / scale, 0.0)  # the penalty is on the coefficients of the rows as they came
        penalties = PENALTIES * max(np.abs(rows.T @ (truth - truth.mean(axis=0))).max() / len(rows), 1e-9)
        loss = _Loss.of(scaled, truth, ~held_out)
        w = np.zeros((scaled.shape[1], held_out.shape[1], truth.shape[1]))
        w[-1] = np.log(truth.mean(axis=0))
        path, losses = [], []
        for penalty in penalties:
            w = _descend(w, loss, penalty * sizes, 0.1 * penalty)
            path.append(w[:, -1:])
            likely = scipy.special.log_softmax(loss.logits(w), axis=2)
            losses.append(-(likely * truth[:, None] * held_out[:, :, None]).sum())
            best = int(np.argmin(losses))
            if len(losses) - 1 - best >= ENOUGH:
                break
        penalty = penalties[best]
        final = _descend(path[best], _Loss.of(scaled, truth, ~held_out[:, -1:]), penalty * sizes, 0.01 * penalty)[:, 0]
        self.penalty_, self.coef_, self.intercept_ = float(penalty), final[:-1] / scale[:, None], final[-1]
        return self

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability of each class, (n, K)."""
        return np.asarray(scipy.special.softmax(rows @ self.coef_ + self.intercept_, axis=1))

    def _held_out(self, codes: np.ndarray) -> np.ndarray:
        """Return which rows each fit leaves out, (m, folds + 1); the last leaves out none."""
        counts = np.bincount(codes)
        folds = min(FOLDS, int(counts.max()))
        if folds < 2:  # every class has one member: the strongest penalty is taken
            return np.zeros((len(codes), 1), dtype=bool)
        held_out = np.zeros((len(codes), folds + 1), dtype=bool)
        common = np.flatnonzero(counts[codes] >= folds)
        split = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        for fold, (_, part) in enumerate(split.split(common, codes[common])):
            held_out[common[part], fold] = True
        return held_out


class _Loss(NamedTuple):
    """Mean log losses of F fits on the rows that each uses, and a bound of their curvature."""

    rows: np.ndarray  # (m, p)
    truth: np.ndarray  # (m, K) zeros and ones
    weights: np.ndarray  # (m, F, 1)
    bound: float

    @classmethod
    def of(cls, rows: np.ndarray, truth: np.ndarray, used: np.ndarray) -> "_Loss":
        weights = (used / used.sum(axis=0))[:, :, None]
        return cls(rows, truth, weights, float(np.linalg.eigvalsh(rows.T @ rows).max() * weights.max() / 2))

    def logits(self, w: np.ndarray) -> np.ndarray:
        """Return (m, F, K) for the coefficients (p, F, K)."""
        return np.asarray((self.rows @ w.reshape(len(w), -1)).reshape(len(self.rows), *w.shape[1:]))

    def slope(self, w: np.ndarray) -> np.ndarray:
        """Return the gradient, (p, F, K)."""
        excess = (scipy.special.softmax(self.logits(w), axis=2) - self.truth[:, None]) * self.weights
        return np.asarray((self.rows.T @ excess.reshape(len(excess), -1)).reshape(w.shape))


def _descend(w: np.ndarray, loss: _Loss, penalties: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the coefficients that minimise loss + sum penalties |w|, to a slope below ``tolerance``."""
    shrink = (penalties / loss.bound)[:, None, None]
    ahead, momentum = w, np.ones(w.shape[1])
    for _ in range(STEPS):
        step = ahead - loss.slope(ahead) / loss.bound
        new = np.sign(step) * np.maximum(np.abs(step) - shrink, 0)
        if np.abs(new - ahead).max() * loss.bound < tolerance:
            return new
        overshot = ((ahead - new) * (new - w)).sum(axis=(0, 2)) > 0
        momentum = np.where(overshot, 1, momentum)
        longer = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (np.where(overshot, 0, momentum - 1) / longer)[None, :, None] * (new - w)
        w, momentum = new, longer
    return w


class _Folds:
    """Five random folds, fewer where there are fewer rows; one row is trained on and tested on."""

    def __init__(self, seed: int):
        self.seed = seed

    def split(self, rows: np.ndarray, *_: object) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if len(rows) < 2:
            yield np.arange(1), np.arange(1)
            return
        yield from KFold(self.get_n_splits(rows), shuffle=True, random_state=self.seed).split(rows)

    def get_n_splits(self, rows: np.ndarray, *_: object) -> int:
        return min(FOLDS, len(rows))


def lasso_linear(seed: int) -> BaseEstimator:
    """Return the linear model: scikit-learn's ``LassoCV`` with seeded folds."""
    return LassoCV(cv=_Folds(seed))
