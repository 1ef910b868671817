"""The options of RAPID and their rules, checked before there are tables."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.models.attackers import AttackerModel, attacker_model
from synthrisk.metrics.rapid.prediction_error import check_error
from synthrisk.metrics.rapid.several_attackers import check_envelope
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
    check_envelope(envelope)
    names = [attacker_model(choice).name for choice in (attacker if isinstance(attacker, list | tuple) else [attacker])]
    if not names or len(set(names)) < len(names):
        raise InputError(f"attacker must list at least one model and each once, got {names!r}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise InputError(f"threshold must be a number in [0, 1), got {threshold!r}")
    check_error(error, delta)
    if tolerance is None and error == "absolute":
        raise InputError("tolerance must be given for the absolute error, in units of the attribute, got none")
    check_tolerance(tolerance)
    if isinstance(tolerance, str) and error == "stabilized_relative":
        raise InputError(f"error must be absolute or left out with a tolerance in units, got {error!r}")
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if tolerance is not None and not isinstance(tolerance, str) and not (number and 0 < tolerance < np.inf):
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}")
    if mode not in ("match", "holdout"):
        hint = ": a release has no folds, call cross_validated or run a study" if mode == "cross_validated" else ""
        raise InputError(f"mode must be match or holdout, got {mode!r}{hint}")
    if baseline not in ("real", "scored"):
        raise InputError(f"baseline must be real or scored, got {baseline!r}")
    if permutations != 0 or isinstance(permutations, bool):
        check_permutations(permute, permutations)
        if isinstance(attacker, list | tuple):
            raise InputError("permutations need one attacker model, got several")
    elif permute not in ("synthetic", "real"):
        raise InputError(f"permute must be synthetic or real, got {permute!r}")


def check_permutations(permute: str = "synthetic", permutations: int = 20, seed: int = 0) -> None:
    """Refuse ways of permuting that break their rules."""
    if permute not in ("synthetic", "real"):
        raise InputError(f"permute must be synthetic or real, got {permute!r}")
    least = 2 if permute == "synthetic" else 0
    if not is_whole(permutations, least):
        raise InputError(f"permutations must be a whole number of at least {least}, got {permutations!r}")
    if not is_whole(seed, 0, 2**32 - 1):
        raise InputError(f"seed must be a whole number in [0, 2^32), got {seed!r}")
