"""RAPID: the share of real records whose sensitive value a model trained on the release gives away.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from synthrisk.metrics.attackers import Attacker, attacker, class_probabilities, predicted_values
from synthrisk.metrics.design import UNSEEN, level_codes
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score, mean_score
from synthrisk.metrics.tables import Tables

ErrorName = Literal["symmetric", "stabilized_relative", "absolute"]
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


def prediction_error(
    truth: np.ndarray, predicted: np.ndarray, error: ErrorName = "symmetric", delta: float = 0.01
) -> np.ndarray:
    """Return the error of each prediction; NaN where the truth is missing.

    ``symmetric``: 2|y - p|/(|y| + |p| + 2d); ``stabilized_relative``: |y - p|/(|y| + d); ``absolute``:
    |y - p|, in units of y.

    Args:
        truth: y.
        predicted: p.
        error: Which of the three.
        delta: d >= 0; 0 only where no record has 0/0.

    Example:
        >>> prediction_error(np.array([100.0]), np.array([90.0]), "stabilized_relative", 0).tolist()
        [0.1]
    """
    _check_error(error, delta)
    truth, predicted = np.asarray(truth, dtype=float), np.asarray(predicted, dtype=float)
    gap = np.abs(truth - predicted)
    if error == "absolute":
        return gap
    if error == "symmetric":
        gap, scale = 2 * gap, np.abs(truth) + np.abs(predicted) + 2 * delta
    else:
        scale = np.abs(truth) + delta
    if np.any(scale == 0):
        raise InputError(f"delta must be above 0 where an error would divide by 0, got {delta!r}")
    return gap / scale


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
    attacker: str | BaseEstimator | Attacker = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
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
        attacker: ``random_forest``, ``logistic`` (categorical), ``linear`` (numeric), or an estimator.
        threshold: Gain above which a categorical record is at risk, in [0, 1).
        tolerance: Error below which a numeric record is at risk; 0.10 unless given. ``absolute`` needs one,
            in units of the attribute.
        error: Error of a numeric guess: see ``prediction_error``.
        delta: Stabiliser of that error.
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
    check_values(attacker, threshold, tolerance, error, delta)
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
            "at_risk": errors < limit,
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


def best_constant(truth: np.ndarray, limit: float, error: ErrorName, delta: float) -> float:
    """Return the largest share of records that one and the same guess brings below the tolerance.

    Each true value y accepts the guesses of an open interval; the best guess lies in most intervals. With
    t = ``limit``: absolute y -/+ t; relative y -/+ t(|y| + d); symmetric, for p of the sign of y:
    (|y|(2 - t) - 2td)/(2 + t) < |p| < (|y|(2 + t) + 2td)/(2 - t).

    Example:
        >>> best_constant(np.array([1.0, 1.1, 5.0]), 0.2, "absolute", 0.0).__round__(3)
        0.667
    """
    size = np.abs(truth)
    if error == "absolute":
        low, high = truth - limit, truth + limit
    elif error == "stabilized_relative":
        low, high = truth - limit * (size + delta), truth + limit * (size + delta)
    else:
        near = (size * (2 - limit) - 2 * limit * delta) / (2 + limit)
        far = np.where(limit < 2, (size * (2 + limit) + 2 * limit * delta) / max(2 - limit, 1e-300), np.inf)
        # the lower end may cross 0, where |p| grows again: 2(|y| + |p|) < t(|y| + |p| + 2d)
        crossed = (size * (limit - 2) + 2 * limit * delta) / max(2 - limit, 1e-300)
        near = np.where(near > 0, near, -crossed)
        low, high = np.where(truth >= 0, near, -far), np.where(truth >= 0, far, -near)
    ends = np.concatenate([low, high])
    step = np.concatenate([np.ones(len(low)), -np.ones(len(high))])
    order = np.lexsort((step, ends))  # open intervals: at equal ends close before opening
    return float(np.cumsum(step[order]).max() / len(truth))


def check_values(
    attacker: str | BaseEstimator | Attacker = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: str = "symmetric",
    delta: float = 0.01,
) -> None:
    """Refuse options of ``rapid`` that break their rules."""
    _attacker(attacker)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise InputError(f"threshold must be a number in [0, 1), got {threshold!r}")
    _check_error(error, delta)
    if tolerance is None and error == "absolute":
        raise InputError("tolerance must be given for the absolute error, in units of the attribute, got none")
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if tolerance is not None and not (number and 0 < tolerance < np.inf):
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}")


def _check_error(error: str, delta: float) -> None:
    if error not in ("symmetric", "stabilized_relative", "absolute"):
        raise InputError(f"error must be symmetric, stabilized_relative or absolute, got {error!r}")
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < np.inf:
        raise InputError(f"delta must be a number of at least 0, got {delta!r}")


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
