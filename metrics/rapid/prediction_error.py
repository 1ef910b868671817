"""How wrong a guess of a number is, and how well the best constant guess would do.

The options of RAPID and their rules, checked before there are tables.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range, check_whole, check_word
from synthrisk.metrics.models.attackers import AttackerModel, attacker_model
from synthrisk.metrics.tables.tolerance import ErrorName, Tolerance, check_tolerance


def prediction_error(
    truth: np.ndarray, predicted: np.ndarray, error: ErrorName = "symmetric", delta: float = 0.01
) -> np.ndarray:
    """Return the error of each prediction; NaN where the truth is missing.

    ``symmetric``: 2|y - p|/(|y| + |p| + 2d); ``stabilized_relative``: |y - p|/(|y| + d); ``absolute``: |y - p|, in
    units of y; y is the ``truth``, p what is ``predicted``, d = ``delta`` >= 0, which may be 0 only where no record has
    0/0.

    Example:
        >>> prediction_error(np.array([100.0]), np.array([90.0]), "stabilized_relative", 0).tolist()
        [0.1]
    """
    check_error(error, delta)
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


def best_constant(truth: np.ndarray, limit: float, error: ErrorName, delta: float) -> float:
    """Return the largest share of records that one and the same guess brings below the tolerance.

    Example:
        >>> best_constant(np.array([1.0, 1.1, 5.0]), 0.2, "absolute", 0.0).__round__(3)
        0.667
    """
    return float(near_best_constant(truth, limit, error, delta).mean())


def near_best_constant(truth: np.ndarray, limit: float, error: ErrorName, delta: float) -> np.ndarray:
    """Return which records the best constant guess brings below the tolerance, (n,) booleans; no truth is NaN.

    Each true value y accepts the guesses of an open interval; the best guess lies in most intervals, the smallest such
    guess where there are several. With t = ``limit``: absolute y -/+ t; relative y -/+ t(|y| + d); symmetric, for p of
    the sign of y: (|y|(2 - t) - 2td)/(2 + t) < |p| < (|y|(2 + t) + 2td)/(2 - t).

    Example:
        >>> near_best_constant(np.array([1.0, 1.1, 5.0]), 0.2, "absolute", 0.0).tolist()
        [True, True, False]
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
    best = ends[order[int(np.argmax(np.cumsum(step[order])))]]  # the guess lies just above this end
    return np.asarray((low <= best) & (best < high))


def check_error(error: str, delta: float) -> None:
    """Refuse an error or a stabiliser that breaks its rule."""
    check_word("error", error, "symmetric", "stabilized_relative", "absolute")
    check_range("delta", delta, 0, np.finfo(float).max, "a number of at least 0")


Choice: TypeAlias = str | BaseEstimator | AttackerModel
Mode = Literal["match", "holdout"]


def check_values(
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: Tolerance = None,
    error: str = "symmetric",
    delta: float = 0.01,
    mode: str = "match",
    baseline: str = "real",
    envelope: str = "max",
    permute: str = "synthetic",
    permutations: int = 0,
) -> None:
    """Refuse options of ``rapid`` that break their rules."""
    check_word("envelope", envelope, "max", "mean", "record")
    names = [attacker_model(choice).name for choice in (attacker if isinstance(attacker, list | tuple) else [attacker])]
    if not names or len(set(names)) < len(names):
        raise InputError(f"attacker must list at least one model and each once, got {names!r}")
    check_range("threshold", threshold, 0, BELOW_1, "a number in [0, 1)")
    check_error(error, delta)
    if tolerance is None and error == "absolute":
        raise InputError("tolerance must be given for the absolute error, in units of the attribute, got none")
    check_tolerance(tolerance)
    if isinstance(tolerance, str) and error == "stabilized_relative":
        raise InputError(f"error must be absolute or left out with a tolerance in units, got {error!r}")
    if tolerance is not None and not isinstance(tolerance, str):
        check_range("tolerance", tolerance, ABOVE_0, np.finfo(float).max, "a number above 0")
    if mode not in ("match", "holdout"):
        hint = ": a release has no folds, call cross_validated or run a study" if mode == "cross_validated" else ""
        raise InputError(f"mode must be match or holdout, got {mode!r}{hint}")
    check_word("baseline", baseline, "real", "scored")
    if permutations != 0 or isinstance(permutations, bool):
        check_permutations(permute, permutations)
        if isinstance(attacker, list | tuple):
            raise InputError("permutations need one attacker model, got several")
    check_word("permute", permute, "synthetic", "real")


def check_permutations(permute: str = "synthetic", permutations: int = 20, seed: int = 0) -> None:
    """Refuse ways of permuting that break their rules."""
    check_word("permute", permute, "synthetic", "real")
    check_whole("permutations", permutations, 2 if permute == "synthetic" else 0)
    check_whole("seed", seed, 0, 2**32 - 1, "a whole number in [0, 2^32)")
