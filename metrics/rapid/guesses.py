"""What a model trained on the release says about each real record, and how far it gives the record away."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.yardsticks import (
    CURVE_NAMES,
    NUMBER_CURVE_NAMES,
    TOLERANCES,
    normalized_gain,
)
from synthrisk.metrics.models.attackers import AttackerModel, class_probabilities, predicted_values
from synthrisk.metrics.models.features import UNSEEN, level_codes
from synthrisk.metrics.rapid.null_distribution import (
    named,
    null_curve_of_classes,
    null_curve_of_numbers,
    null_of_permuted_numbers,
    null_of_permuted_real,
)
from synthrisk.metrics.rapid.prediction_error import best_constant, prediction_error
from synthrisk.metrics.tables.codes import Codes, frequencies
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import NumericTarget

Baseline = Literal["real", "scored"]
NULL_CURVE = tuple(f"null_real_{name}" for name in CURVE_NAMES)
NULL_CURVE_OF_NUMBERS = tuple(f"null_real_{name}" for name in NUMBER_CURVE_NAMES)
"""Names of the details that are points of the null's curve."""


def class_guesses(
    tables: Tables,
    known: Sequence[str],
    hidden: str,
    model: AttackerModel,
    seed: int,
    threshold: float,
    baseline: Baseline = "real",
    permutations: int = 0,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return a row a real record for a categorical target, and details that are no means of them.

    ``right`` is the chance that the likeliest class is the true one (equally likely classes by chance). The null of
    permuted real values needs no other model, so that it is made here; ``permutations`` are for its quantile and p.
    """
    joint = tables.codes([hidden])
    shares = frequencies(joint)
    if shares.max() == 1:
        raise InputError(f"sensitive must have at least two classes in the real table, got one in {hidden!r}")
    base = shares[joint.tables[0]] if baseline == "real" else _within_groups(joint.tables[0], tables.groups)
    estimator = model.estimator("categorical", seed, len(tables.synthetic))
    truth, target, levels = level_codes(tables, hidden, [*known, hidden])
    probabilities, classes = class_probabilities(estimator, model.design(tables, known, [*known, hidden]), target)
    own = np.where(truth == UNSEEN, 0, np.searchsorted(classes, truth))
    confidence = np.where(truth == UNSEEN, 0.0, probabilities[np.arange(len(truth)), own])
    gain = normalized_gain(confidence, base)
    likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
    right = likeliest[np.arange(len(truth)), own] * (truth != UNSEEN) / likeliest.sum(axis=1)
    records = pd.DataFrame(
        {
            "score": (gain > threshold).astype(float),
            "at_risk": gain > threshold,
            "gain": gain,
            "confidence": confidence,
            "baseline": base,
            "guessed": levels[classes[likeliest.argmax(axis=1)]],
            "truth": tables.real[hidden].astype(object).to_numpy(),
            "right": right,
        },
        index=tables.real.index,
    )
    of_class = shares[_joint_code(joint, target, classes)]
    codes = np.where(truth == UNSEEN, UNSEEN, own)
    null = null_of_permuted_real(probabilities, of_class, codes, threshold, permutations=permutations, seed=seed)
    answers = {"guess": 0.0, "accuracy_guess": float(shares.max())}  # class shares have gain 0, above no threshold
    curve = null_curve_of_classes(probabilities, of_class, codes)
    return records, {**answers, **named(null), **dict(zip(NULL_CURVE, curve.tolist(), strict=True))}


def value_guesses(
    tables: Tables,
    known: Sequence[str],
    hidden: str,
    model: AttackerModel,
    seed: int,
    target: NumericTarget,
    delta: float,
    permutations: int = 0,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return the same for a numeric target; a missing true value is not scored, nor any where none is released."""
    truth, limit, error = target.truth, target.limit, target.error
    if hidden in tables.sets.suppressed and np.isnan(target.released).all():
        predicted = np.full(len(truth), np.nan)
    else:
        design = model.design(tables, known, [*known, hidden])
        predicted = predicted_values(model.estimator("numeric", seed, len(tables.synthetic)), design, target.released)
    scored = ~(np.isnan(truth) | np.isnan(predicted))
    errors = np.full(len(truth), np.nan)
    errors[scored] = prediction_error(truth[scored], predicted[scored], error, delta)
    records = pd.DataFrame(
        {
            "score": np.where(scored, errors < limit, np.nan),
            "at_risk": pd.Series(errors < limit, dtype="boolean").where(scored).array,
            "error": errors,
            "tolerance": np.full(len(truth), limit),
            "guessed": predicted,
            "truth": truth,
        },
        index=tables.real.index,
    )
    best = best_constant(truth[~np.isnan(truth)], limit, error, delta)
    details = {"guess": best, "tolerance": float(limit)}
    defined = delta > 0 or error == "absolute" or not ((truth == 0).any() and (predicted == 0).any())
    # where errors are undefined a permutation divides 0 by 0: an error if permutations are asked for
    if scored.any() and (defined or permutations):
        rule = (limit, error, delta)
        null = null_of_permuted_numbers(predicted, truth, *rule, permutations=permutations, seed=seed)
        curve = null_curve_of_numbers(predicted, truth, TOLERANCES * limit, error, delta)
        details |= named(null) | dict(zip(NULL_CURVE_OF_NUMBERS, curve.tolist(), strict=True))
    return records, details


def _joint_code(joint: Codes, target: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the code in both tables of each class that the model knows."""
    values, first = np.unique(target, return_index=True)
    return joint.tables[1][first[np.searchsorted(values, classes)]]


def _within_groups(codes: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return the share of each record's class among the records of its group."""
    group = np.zeros(len(codes), dtype=np.int64) if groups is None else groups + 1
    size = int(codes.max()) + 1
    same = np.bincount(group * size + codes, minlength=(int(group.max()) + 1) * size)[group * size + codes]
    return np.asarray(same / np.bincount(group)[group])
