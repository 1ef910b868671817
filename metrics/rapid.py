"""RAPID: the share of real records whose sensitive value a model trained on the release gives away.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from synthrisk.metrics.attackers import Attacker, attacker, class_probabilities, predicted_values
from synthrisk.metrics.design import UNSEEN, level_codes
from synthrisk.metrics.envelope import Envelope, check_envelope, combined
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score, mean_score
from synthrisk.metrics.prediction_error import ErrorName, best_constant, check_error, prediction_error
from synthrisk.metrics.tables import Tables

Choice: TypeAlias = str | BaseEstimator | Attacker
CURVE = np.round(np.arange(0, 1, 0.05), 2)
"""Thresholds of the curve: 0.00, 0.05 ... 0.95."""


def normalized_gain(confidence: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return r = (g - b)/(1 - b): 0 = no better than the class share, 1 = certain of the truth.

    Args:
        confidence: g, probability that the attacker gives to the record's true class.
        baseline: b, share of that class in the original data, below 1.

    Example:
        >>> normalized_gain(np.array([0.9, 0.5]), np.array([0.5, 0.5])).round(3).tolist()
        [0.8, 0.0]
    """
    confidence, baseline = np.asarray(confidence, dtype=float), np.asarray(baseline, dtype=float)
    if np.any(baseline >= 1):
        raise InputError("sensitive must have at least two classes in the real table, got one")
    return (confidence - baseline) / (1 - baseline)


def threshold_curve(gain: np.ndarray, thresholds: Sequence[float] | np.ndarray = CURVE) -> np.ndarray:
    """Return the share of records with a gain strictly above each threshold; missing gains do not count.

    Example:
        >>> threshold_curve(np.array([0.1, 0.3, 0.9]), [0.0, 0.3]).round(3).tolist()
        [1.0, 0.333]
    """
    gain = np.asarray(gain, dtype=float)
    gain = np.sort(gain[~np.isnan(gain)])
    return 1 - np.searchsorted(gain, thresholds, side="right") / len(gain)


def rapid(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    envelope: Envelope = "max",
    seed: int = 0,
) -> Score:
    """RAPID: share of real records that a model trained on the release gives away.

    The attacker fits a model on the release (quasi-identifiers -> sensitive) and applies it to the real
    records. Categorical target: at risk when the gain r = (g - b)/(1 - b) > ``threshold``. Numeric target:
    at risk when the error < ``tolerance``. ``value`` = share at risk among the scored records, in [0, 1];
    an attacker with no information has a value above 0 too, so read it beside control and null.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: The one column guessed; its kind decides which form is used.
        attacker: ``random_forest``, ``gradient_boosting``, ``cart``, ``logistic`` (categorical), ``linear``
            (numeric), a scikit-learn estimator, or a list of such.
        threshold: Gain above which a categorical record is at risk, in [0, 1).
        tolerance: Error below which a numeric record is at risk; 0.10 unless given. ``absolute`` needs one,
            in units of the attribute.
        error: Error of a numeric guess: see ``prediction_error``.
        delta: Stabiliser of that error.
        envelope: How several attackers are put together: see ``envelope.combined``.
        seed: Seed of the model.

    Returns:
        A ``Score``; ``records``: score (1 at risk, 0 not, NaN not scored), at_risk, guess, truth, and gain,
        confidence, baseline (categorical) or error (numeric).

    Raises:
        InputError: An argument breaks its rule; one class only; a target of the wrong kind for the attacker.
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for rapid, got {hidden!r}")
    check_values(attacker, threshold, tolerance, error, delta, envelope)
    if isinstance(attacker, list | tuple):
        rule: dict[str, Any] = {"threshold": threshold, "tolerance": tolerance, "error": error, "delta": delta}
        rule |= {"quasi_identifiers": known, "sensitive": hidden, "seed": seed}
        models = [_attacker(choice) for choice in attacker]
        return combined({m.name: rapid(tables, attacker=m, **rule) for m in models}, envelope)
    model = _attacker(attacker)
    settings: dict[str, Any] = {
        "quasi_identifiers": known,
        "sensitive": hidden[0],
        "attacker": model.name,
        "seed": seed,
    }
    if tables.kind(hidden[0]) == "categorical":
        records, details = _categorical(tables, known, hidden[0], model, seed, threshold)
        settings["threshold"] = threshold
    else:
        limit = 0.10 if tolerance is None else float(tolerance)
        records, details = _numeric(tables, known, hidden[0], model, seed, (limit, error, delta))
        settings |= {"tolerance": limit, "error": error, "delta": delta}
    value = mean_score(records)
    return Score("rapid", value, value, records, details, settings)


_attacker = attacker  # the argument of rapid has the same name


def _categorical(
    tables: Tables, known: list[str], hidden: str, model: Attacker, seed: int, threshold: float
) -> tuple[pd.DataFrame, dict[str, float]]:
    joint = tables.codes([hidden])
    shares = np.bincount(joint.tables[0], minlength=joint.size) / len(tables.real)
    baseline = shares[joint.tables[0]]
    if baseline.max() == 1:
        raise InputError(f"sensitive must have at least two classes in the real table, got one in {hidden!r}")
    estimator = model.estimator("categorical", seed)
    truth, target, levels = level_codes(tables, hidden)
    probabilities, classes = class_probabilities(estimator, model.design(tables, known), target)
    own = np.where(truth == UNSEEN, 0, np.searchsorted(classes, truth))
    confidence = np.where(truth == UNSEEN, 0.0, probabilities[np.arange(len(truth)), own])
    gain = normalized_gain(confidence, baseline)
    at_risk = gain > threshold
    likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
    right = likeliest[np.arange(len(truth)), own] * (truth != UNSEEN) / likeliest.sum(axis=1)  # ties by expectation
    records = pd.DataFrame(
        {
            "score": at_risk.astype(float),
            "at_risk": at_risk,
            "gain": gain,
            "confidence": confidence,
            "baseline": baseline,
            "guess": levels[classes[likeliest.argmax(axis=1)]],
            "truth": tables.real[hidden].astype(object).to_numpy(),
        },
        index=tables.real.index,
    )
    details = {
        "accuracy": float(right.mean()),
        "mean_gain": float(gain.mean()),
        "guess": float(shares.max()),
    }
    curve = zip(CURVE, threshold_curve(gain), strict=True)
    return records, details | {f"curve_{t:.2f}": float(v) for t, v in curve}


def _numeric(
    tables: Tables,
    known: list[str],
    hidden: str,
    model: Attacker,
    seed: int,
    rule: tuple[float, ErrorName, float],
) -> tuple[pd.DataFrame, dict[str, float]]:
    limit, error, delta = rule
    truth, target = tables.floats(hidden)
    scored = ~np.isnan(truth)
    if not scored.any():
        raise InputError(f"sensitive must have values in the real table, got missing cells only in {hidden!r}")
    predicted = predicted_values(model.estimator("numeric", seed), model.design(tables, known), target)
    errors = np.full(len(truth), np.nan)
    errors[scored] = prediction_error(truth[scored], predicted[scored], error, delta)
    records = pd.DataFrame(
        {
            "score": np.where(scored, errors < limit, np.nan),
            "at_risk": pd.Series(errors < limit, dtype="boolean").where(scored).array,
            "error": errors,
            "guess": predicted,
            "truth": truth,
        },
        index=tables.real.index,
    )
    gap = np.abs(truth - predicted)[scored]
    return records, {
        "rmse": float(np.sqrt(np.mean(gap**2))),
        "mae": float(gap.mean()),
        "guess": best_constant(truth[scored], limit, error, delta),
        "not_scored": float(np.mean(~scored)),
    }


def check_values(
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: str = "symmetric",
    delta: float = 0.01,
    envelope: str = "max",
) -> None:
    """Refuse options of ``rapid`` that break their rules."""
    check_envelope(envelope)
    names = [_attacker(choice).name for choice in (attacker if isinstance(attacker, list | tuple) else [attacker])]
    if not names or len(set(names)) < len(names):
        raise InputError(f"attacker must list at least one model and each once, got {names!r}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise InputError(f"threshold must be a number in [0, 1), got {threshold!r}")
    check_error(error, delta)
    if tolerance is None and error == "absolute":
        raise InputError("tolerance must be given for the absolute error, in units of the attribute, got none")
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if tolerance is not None and not (number and 0 < tolerance < np.inf):
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}")


RAPID = Metric(
    name="rapid",
    function=rapid,
    group="rapid",
    per_record=True,
    needs=("quasi_identifiers", "sensitive"),
    range=(0.0, 1.0),
    reference="Templ, Thees and Mueller, RAPID; R package RAPID at de6ee65",
    check_values=check_values,
)
