"""Models that an attacker trains on the release to guess a sensitive attribute of real people.

Attacker models of the lasso kind, their penalty chosen by cross-validation: for categories and for numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import scipy
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.models.features import Design, one_hot, ordinal
from synthrisk.metrics.models.forest import RandomForest
from synthrisk.metrics.tables.kinds import Kind
from synthrisk.metrics.tables.tables import Tables

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


@dataclass(frozen=True)
class AttackerModel:
    """A model that an attacker trains, and what it is shown."""

    name: str  # name in results
    classifier: Callable[[int], BaseEstimator] | None  # made from a seed; None: it guesses no category
    regressor: Callable[[int], BaseEstimator] | None  # made from a seed; None: it guesses no number
    design: Callable[[Tables, Sequence[str], Sequence[str]], Design] = ordinal  # or ``one_hot``
    grown: Mapping[Kind, int] | None = None  # a forest's released records x trees at most, FEWEST trees at least

    def estimator(self, target: Kind, seed: int, records: int = 0) -> BaseEstimator:
        """Return the unfitted model for a target of this kind, and so many released records to learn from."""
        make = self.classifier if target == "categorical" else self.regressor
        if make is None:
            raise InputError(f"attacker must be able to guess a {target} attribute, got {self.name!r}")
        trees = self.trees(target, records)
        return make(seed).set_params(n_estimators=trees) if trees else make(seed)

    def trees(self, target: Kind, records: int) -> int | None:
        """Return how many trees grow on so many released records where these are fewer than ``TREES``."""
        if self.grown is None or self.grown[target] >= records * TREES:
            return None
        return max(self.grown[target] // records, FEWEST)


def _seeded(model: Callable[..., BaseEstimator], **options: Any) -> Callable[[int], BaseEstimator]:
    return lambda seed: model(random_state=seed, **options)


TREES, FEWEST = 500, 100
"""Trees of a forest: as in the paper, and of long tables (``benchmarks/forests.py --trees``)."""
_GROWN: Mapping[Kind, int] = {"categorical": 27_000 * TREES, "numeric": 5_400 * TREES}
_CART = {"min_samples_split": 20, "min_samples_leaf": 7}  # rpart's sizes
_LOGISTIC = {"C": np.inf, "solver": "newton-cholesky", "tol": 1e-10, "max_iter": 200}

ATTACKER_MODELS = {
    a.name: a
    for a in (
        AttackerModel(
            "random_forest",
            _seeded(RandomForest, n_estimators=TREES, min_samples_split=11),
            _seeded(RandomForestRegressor, n_estimators=TREES, max_features="sqrt", min_samples_split=6),
            grown=_GROWN,
        ),
        AttackerModel(
            "ranger", _seeded(RandomForest, n_estimators=TREES, min_samples_split=11, rule="ranger"), None, grown=_GROWN
        ),
        AttackerModel(
            "gradient_boosting", _seeded(HistGradientBoostingClassifier), _seeded(HistGradientBoostingRegressor)
        ),
        AttackerModel("cart", _seeded(DecisionTreeClassifier, **_CART), _seeded(DecisionTreeRegressor, **_CART)),
        AttackerModel("logistic", lambda _: LogisticRegression(**_LOGISTIC), None, one_hot),
        AttackerModel("lasso", LassoLogistic, lasso_linear, one_hot),
        AttackerModel("linear", None, lambda _: LinearRegression(), one_hot),
    )
}
"""Attacker models by name, for categories and numbers unless said.

``random_forest``: 500 trees (100 at least where more than 27,000 released records are learned from, or 5,400 for a
number) that split nodes of more than 10 rows (5 for a number) on sqrt(p) features, for categories by
``forest.RandomForest``, scikit-learn's numbers in less time;
``ranger``: the same, but a node is a leaf where none of the features drawn splits it, as in the R package RAPID
(categories);
``gradient_boosting``: 100 histogram-based trees; ``cart``: one tree with leaves of 7 or more; ``logistic``: unpenalised
(categories); ``lasso``: l1-penalised logistic or linear, the penalty chosen by 5 folds inside the release;
``linear``: least squares (numbers). Levels are numbered in ``level_order``, for all.
"""


def attacker_model(choice: str | BaseEstimator | AttackerModel) -> AttackerModel:
    """Return the attacker model for a register name or a scikit-learn estimator (which sees ordinal codes)."""
    if isinstance(choice, AttackerModel):
        return choice
    if isinstance(choice, str):
        if choice not in ATTACKER_MODELS:
            known, hint = ", ".join(ATTACKER_MODELS), nearest(choice, ATTACKER_MODELS)
            raise InputError(f"attacker must be one of {known} or a scikit-learn estimator, got {choice!r}{hint}")
        return ATTACKER_MODELS[choice]
    if not isinstance(choice, BaseEstimator) or not (is_classifier(choice) or is_regressor(choice)):
        raise InputError(f"attacker must be a name or a scikit-learn estimator, got {type(choice).__name__}")

    def make(seed: int) -> BaseEstimator:
        own = clone(choice)
        seeds = {k: seed for k, v in own.get_params().items() if k.split("__")[-1] == "random_state" and v is None}
        return own.set_params(**seeds)

    return AttackerModel(
        type(choice).__name__, make if is_classifier(choice) else None, make if is_regressor(choice) else None
    )


def class_probabilities(model: BaseEstimator, design: Design, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit on the synthetic rows and return probabilities for the real rows, and the classes of the columns.

    The rows are put in a canonical order first, so that a seeded model does not depend on the order of the
    release. A release with one class is learned without a model.
    """
    classes = np.unique(target)
    if len(classes) == 1:
        return np.ones((len(design.real), 1)), classes
    if not hasattr(model, "predict_proba"):
        raise InputError(f"attacker must have predict_proba for a categorical attribute, got {type(model).__name__}")
    _fit(model, design.synthetic, target)
    return _asked(model, "predict_proba", design.real), np.asarray(model.classes_)


def predicted_values(model: BaseEstimator, design: Design, target: np.ndarray) -> np.ndarray:
    """Fit on the synthetic rows whose target is known and return predictions for the real rows."""
    known = ~np.isnan(target)
    if not known.any():
        raise InputError("sensitive must have values in the synthetic table, got only missing cells")
    _fit(model, design.synthetic[known], target[known])
    return _asked(model, "predict", design.real).astype(float)


def _asked(model: BaseEstimator, question: str, rows: np.ndarray) -> np.ndarray:
    """Return what the model answers to each row; a forest is asked once for equal rows, and in order: the same faster.

    Example:
        >>> rows, target = np.repeat([[0.0], [1.0]], 9, axis=0), np.repeat([3.0, 8.0], 9)
        >>> forest = RandomForestRegressor(5, random_state=1).fit(rows, target)
        >>> _asked(forest, "predict", np.array([[1.0], [0.0], [1.0]])).tolist()
        [8.0, 3.0, 8.0]
    """
    ask = getattr(model, question)
    if not isinstance(model, RandomForest | RandomForestRegressor):
        return np.asarray(ask(rows))
    table = pd.DataFrame(rows)
    place = table.groupby([*table.columns], dropna=False).ngroup().to_numpy()
    _, first = np.unique(place, return_index=True)
    return np.asarray(ask(rows[first]))[place]


def _fit(model: Any, rows: np.ndarray, target: np.ndarray) -> None:
    order = np.lexsort((target, *rows.T[::-1]))
    with catch_warnings():
        # separable or collinear data: the model is certain, or has several equal models; both are findings
        simplefilter("ignore", ConvergenceWarning)
        simplefilter("ignore", scipy.linalg.LinAlgWarning)
        model.fit(rows[order], target[order])
