"""Train on synthetic, test on real: whether a model learned from the release predicts real people."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.models.attackers import attacker_model, class_probabilities, predicted_values
from synthrisk.metrics.score import Ceiling, Score
from synthrisk.metrics.tables.order import level_order
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.utility.accuracy import thinned, utility_metric

DEFAULT_MODEL = "gradient_boosting"
Found = tuple[float, dict[str, float]]


def train_synthetic_test_real(
    tables: Tables,
    *,
    sensitive: str | Sequence[str],
    features: Sequence[str] | None = None,
    model: str | BaseEstimator = DEFAULT_MODEL,
    seed: int = 0,
) -> Score:
    """TSTR: how well a model trained on the release predicts a column of real records: AUC, or R squared.

    A category: area under the ROC curve of each class against the others, weighted by the class's share of the test
    records: 0.5 = nothing learned, whatever the shares. A number: R squared, at least 0 = no better than the mean of
    the test records.

    With ``control`` the model is tested on the control records, which neither synthesizer nor model has seen. The
    ceiling is the same model trained on the real records in place of the release; both are trained on one number of
    rows, the smaller (``thinned`` is the release's value at that number). Without control it is tested on the real
    records, which flatters a release that repeats them.

    Args:
        tables: Real, synthetic, and (where given) control records.
        sensitive: The column that is predicted.
        features: What it is predicted from; all other columns unless given.
        model: A name of ``attackers.ATTACKER_MODELS`` or a scikit-learn estimator.
        seed: Of the model and of the draw of rows.

    Returns:
        A ``Score`` in [0, 1] (``published`` is the AUC, or R squared, which may be negative). Details: ``auc``,
        ``accuracy`` and ``balanced_accuracy``, or ``r2`` and ``rmse``; with ``control``: ``ceiling``, ``thinned``,
        ``ceiling_rows`` and ``ceiling_<detail>``. Not defined where the test records have one class or value.

    Raises:
        InputError: A column is not there, ``features`` holds the predicted one, or the release has no value of it.

    Example:
        >>> real = pd.DataFrame({"x": range(40), "c": ["a", "b"] * 20})
        >>> release = real.assign(c=["b" if x % 2 else "a" for x in real["x"]])
        >>> TRAIN_SYNTHETIC_TEST_REAL(real, release, sensitive="c", model="cart").value > 0.5
        True
    """
    target, known = _roles(tables, sensitive, features)
    test = tables.real if tables.control is None else tables.control
    value, details = _tested(Tables(test, tables.synthetic), target, known, model, seed)
    ceiling = None if tables.control is None else _ceiling(tables, target, known, model, seed, value)
    details |= {} if ceiling is None else ceiling.named
    published = details.get("auc", details.get("r2", float("nan")))
    reason = f"the test records have a single value of {target}" if np.isnan(value) else None
    settings = {"sensitive": target, "features": known, "model": model, "seed": seed}
    return Score("train_synthetic_test_real", value, published, None, details, settings, reason, ceiling=ceiling)


def check_features(table: pd.DataFrame, sensitive: object = None, features: object = None, **_: object) -> None:
    """Refuse features that are no columns of the table, and the predicted one among them."""
    if features is None:
        return
    if isinstance(features, str) or not isinstance(features, Sequence) or not features:
        raise InputError(f"features must be a list of at least one column, got {features!r}")
    for name in features:
        if name not in table.columns:
            hint = nearest(str(name), map(str, table.columns))
            raise InputError(f"features must name columns of the table, got {name!r}{hint}")
        if name == sensitive:
            raise InputError(f"features must not hold the column that is predicted, got {name!r}")


def check_model(features: object = None, model: str | BaseEstimator = DEFAULT_MODEL) -> None:
    """Refuse a model that there is not."""
    with _named_model():
        attacker_model(model)


@contextmanager
def _named_model() -> Iterator[None]:
    """Name the argument as it is called here: the option ``attacker`` takes the same models."""
    try:
        yield
    except InputError as error:
        raise InputError(re.sub("^attacker ", "model ", str(error))) from None


def _roles(tables: Tables, sensitive: object, features: Sequence[str] | None) -> tuple[str, list[str]]:
    targets = tables.check_columns("sensitive", sensitive)  # type: ignore[arg-type]
    if len(targets) > 1:
        raise InputError(f"sensitive must be one column to predict, got {len(targets)}")
    check_features(tables.real, targets[0], features)
    known = [c for c in tables.columns if c != targets[0]] if features is None else list(features)
    if not known:
        raise InputError("features must be at least one column beside the predicted one, got none")
    return targets[0], known


def _tested(tables: Tables, target: str, known: list[str], model: str | BaseEstimator, seed: int) -> Found:
    with _named_model():
        chosen = attacker_model(model)
        estimator = chosen.estimator(tables.kind(target), seed, len(tables.synthetic))
    design = chosen.design(tables, known, [*known, target])
    if tables.kind(target) == "numeric":
        truth, target_values = tables.floats(target)
        if target in tables.sets.suppressed and np.isnan(target_values).all():
            return 0.0, {"r2": 0.0}  # nothing can be learned of a column that is not released
        return _explained(truth, predicted_values(estimator, design, target_values))
    order = level_order(tables, [*known, target])[target]
    truth, learned = (order[side] for side in tables.codes([target]).tables)
    with _named_model():
        return _told_apart(truth, *class_probabilities(estimator, design, learned))


def _told_apart(truth: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> Found:
    """Return the mean AUC of the classes of the test records; of a class that was never learned it is one half."""
    present, counts = np.unique(truth, return_counts=True)
    guessed = classes[np.argmax(probabilities, axis=1)]
    if len(present) < 2:
        return float("nan"), {"accuracy": float(np.mean(guessed == truth))}
    place, likely = {c: i for i, c in enumerate(classes.tolist())}, probabilities.round(12)  # solvers end in noise
    each = [
        roc_auc_score(truth == c, likely[:, place[c]] if c in place else np.zeros(len(truth))) for c in present.tolist()
    ]
    auc = float(np.average(each, weights=counts))
    recalls = [float(np.mean(guessed[truth == c] == c)) for c in present]
    return auc, {"auc": auc, "accuracy": float(np.mean(guessed == truth)), "balanced_accuracy": float(np.mean(recalls))}


def _explained(truth: np.ndarray, predicted: np.ndarray) -> Found:
    """Return R squared of the test records whose value is known, at least 0."""
    known = ~np.isnan(truth)
    truth, predicted = truth[known], predicted[known]
    error = float(np.mean((truth - predicted) ** 2)) if len(truth) else float("nan")
    spread = float(np.var(truth)) if len(truth) else 0.0
    if len(truth) == 0 or truth.min() == truth.max():
        return float("nan"), {"rmse": error**0.5}
    return max(0.0, 1 - error / spread), {"r2": 1 - error / spread, "rmse": error**0.5}


def _ceiling(
    tables: Tables, target: str, known: list[str], model: str | BaseEstimator, seed: int, value: float
) -> Ceiling:
    assert tables.control is not None  # noqa: S101 - the caller asked
    size = min(len(tables.real), len(tables.synthetic))
    reached, own = _tested(thinned(Tables(tables.control, tables.real), size, seed), target, known, model, seed)
    at_size = value
    if size < len(tables.synthetic):
        fewer = thinned(Tables(tables.control, tables.synthetic), size, seed)
        at_size = _tested(fewer, target, known, model, seed)[0]
    return Ceiling(reached, at_size, float(size), own)


TRAIN_SYNTHETIC_TEST_REAL = utility_metric(
    "train_synthetic_test_real",
    train_synthetic_test_real,
    "Esteban, Hyland and Rätsch 2017, arXiv:1706.02633 (train on synthetic, test on real)",
    needs=("sensitive",),
    check_values=check_model,
    check_table=check_features,
)
