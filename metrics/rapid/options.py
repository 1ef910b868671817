"""The options of RAPID and their rules, checked before there are tables."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range, check_whole, check_word
from synthrisk.metrics.models.attackers import AttackerModel, attacker_model
from synthrisk.metrics.rapid.prediction_error import check_error
from synthrisk.metrics.tables.tolerance import Tolerance, check_tolerance

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
