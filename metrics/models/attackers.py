"""Models that an attacker trains on the release to guess a sensitive attribute of real people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.models.features import Design, one_hot, ordinal
from synthrisk.metrics.models.forest import RandomForest
from synthrisk.metrics.models.lasso import LassoLogistic, lasso_linear
from synthrisk.metrics.tables.kinds import Kind
from synthrisk.metrics.tables.tables import Tables


@dataclass(frozen=True)
class AttackerModel:
    """A model that an attacker trains, and what it is shown."""

    name: str  # name in results
    classifier: Callable[[int], BaseEstimator] | None  # made from a seed; None: it guesses no category
    regressor: Callable[[int], BaseEstimator] | None  # made from a seed; None: it guesses no number
    design: Callable[[Tables, Sequence[str], Sequence[str]], Design] = ordinal  # or ``one_hot``

    def estimator(self, target: Kind, seed: int) -> BaseEstimator:
        """Return the unfitted model for a target of this kind."""
        make = self.classifier if target == "categorical" else self.regressor
        if make is None:
            raise InputError(f"attacker must be able to guess a {target} attribute, got {self.name!r}")
        return make(seed)


def _seeded(model: Callable[..., BaseEstimator], **options: Any) -> Callable[[int], BaseEstimator]:
    return lambda seed: model(random_state=seed, **options)


_TREES = 500  # as in the paper: fewer give nearly the same value (docs/speed.md), but other numbers than before
_CART = {"min_samples_split": 20, "min_samples_leaf": 7}  # rpart's sizes
_LOGISTIC = {"C": np.inf, "solver": "newton-cholesky", "tol": 1e-10, "max_iter": 200}

ATTACKER_MODELS = {
    a.name: a
    for a in (
        AttackerModel(
            "random_forest",
            _seeded(RandomForest, n_estimators=_TREES, min_samples_split=11),
            _seeded(RandomForestRegressor, n_estimators=_TREES, max_features="sqrt", min_samples_split=6),
        ),
        AttackerModel("ranger", _seeded(RandomForest, n_estimators=_TREES, min_samples_split=11, rule="ranger"), None),
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

``random_forest``: 500 trees that split nodes of more than 10 rows (5 for a number) on sqrt(p) features, for categories
by ``forest.RandomForest``, scikit-learn's numbers in less time;
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
    return np.asarray(model.predict_proba(design.real)), np.asarray(model.classes_)


def predicted_values(model: BaseEstimator, design: Design, target: np.ndarray) -> np.ndarray:
    """Fit on the synthetic rows whose target is known and return predictions for the real rows."""
    known = ~np.isnan(target)
    if not known.any():
        raise InputError("sensitive must have values in the synthetic table, got only missing cells")
    _fit(model, design.synthetic[known], target[known])
    return np.asarray(model.predict(design.real), dtype=float)


def _fit(model: Any, rows: np.ndarray, target: np.ndarray) -> None:
    order = np.lexsort((target, *rows.T[::-1]))
    with catch_warnings():
        # separable or collinear data: the model is certain, or has several equal models; both are findings
        simplefilter("ignore", ConvergenceWarning)
        simplefilter("ignore", scipy.linalg.LinAlgWarning)
        model.fit(rows[order], target[order])
