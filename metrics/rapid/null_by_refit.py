"""Calibration of RAPID: what its value and its gains are where the sensitive values are permuted."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.yardsticks import normalized_gain
from synthrisk.metrics.models.attackers import (
    ATTACKER_MODELS,
    AttackerModel,
    attacker_model,
    class_probabilities,
    predicted_values,
)
from synthrisk.metrics.models.features import UNSEEN, Design, level_codes
from synthrisk.metrics.rapid.null import LEVEL, Null, Permute, exceeded_by_few, rank_p_value
from synthrisk.metrics.rapid.null_without_refit import null_of_permuted_numbers, null_of_permuted_real
from synthrisk.metrics.rapid.options import Choice, check_permutations, check_values
from synthrisk.metrics.rapid.prediction_error import prediction_error
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.codes import frequencies
from synthrisk.metrics.tables.kinds import Kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import ErrorName, Tolerance, numeric_target

TREES = 100
"""Trees of the attacker model ``random_forest`` where it is refitted: 500 move the value by about .001 (Adult)."""


def permutation_null(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: Choice = "random_forest",
    threshold: float = 0.3,
    tolerance: Tolerance = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    permute: Permute = "synthetic",
    permutations: int = 20,
    seed: int = 0,
) -> Null:
    """Return RAPID's value beside its null: the same attack with the sensitive values permuted.

    ``permute="synthetic"``: the attacker model is refitted on the release with its sensitive column permuted, so that
    it knows nothing. ``permute="real"``: the model stays and the real values are permuted; mean and sd are exact. The
    two differ widely: a sure model is right by chance more often than one that knows nothing.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: The one column guessed.
        attacker: As in ``rapid``, one. ``random_forest`` has 100 trees wherever it is refitted, also for ``observed``,
            so that observed and null are exchangeable; 500 with ``permute="real"``.
        threshold: Gain above which a categorical record is at risk, in [0, 1).
        tolerance: Error below which a numeric record is at risk: as in ``rapid``.
        error: Error of a numeric guess: see ``prediction_error``.
        delta: Stabiliser of that error.
        permute: Whose sensitive column is permuted.
        permutations: B, at least 2 for ``synthetic``; 0 is allowed for ``real``: the normal approximation.
        seed: Root seed; a permutation does not depend on how many there are, nor on the order of rows.

    Returns:
        A ``Null``; its values lie in [0, 1].

    Raises:
        InputError: An argument breaks its rule; one class only; an error would divide by 0 under a permutation.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"k": list("ab") * 20, "s": list("xy") * 20})
        >>> roles = {"quasi_identifiers": ["k"], "sensitive": "s", "attacker": "cart"}
        >>> null = permutation_null(Tables(table, table), **roles, permute="real", permutations=0)
        >>> null.observed, null.mean, round(null.sd, 2)
        (1.0, 0.5, 0.08)

    References:
        Templ, Thees and Mueller, RAPID: threshold "placing observed risk above the 95th percentile of the resulting
        null distribution"; they do not say whose values are permuted.
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for rapid, got {hidden!r}")
    model = attacker_model(attacker)
    check_values(model, threshold, tolerance, error, delta)
    check_permutations(permute, permutations, seed)
    kind = tables.kind(hidden[0])
    target: _Classes | _Numbers
    if kind == "categorical":
        target = _Classes.of(tables, known, hidden[0], threshold)
    else:
        target = _Numbers.of(tables, hidden[0], tolerance, error, delta)
    design = model.design(tables, known, [*known, *hidden])
    if permute == "real":
        return target.permuted(target.fit(model.estimator(kind, seed), design, target.released), permutations, seed)

    def evidence(design: Design, released: np.ndarray, model_seed: int) -> np.ndarray:
        return target.evidence(target.fit(_smaller(model, kind, model_seed), design, released))

    return _refitted(evidence, target, design, permutations, seed)


class _Classes(NamedTuple):
    """A categorical target: codes in the order of the release's levels, UNSEEN where it lacks the class."""

    truth: np.ndarray  # (n,)
    released: np.ndarray  # (m,)
    baseline: np.ndarray  # (n,) share of the record's class in the real table
    size: int  # K, levels of the release
    limit: float

    @classmethod
    def of(cls, tables: Tables, known: Sequence[str], hidden: str, threshold: float) -> "_Classes":
        joint = tables.codes([hidden])
        baseline = frequencies(joint)[joint.tables[0]]
        if baseline.max() == 1:
            raise InputError(f"sensitive must have at least two classes in the real table, got one in {hidden!r}")
        truth, released, levels = level_codes(tables, hidden, [*known, hidden])
        return cls(truth, released, baseline, len(levels), threshold)

    def fit(self, estimator: BaseEstimator, design: Design, released: np.ndarray) -> np.ndarray:
        """Return class probabilities, (n, K + 1); the last column, that of UNSEEN = -1, holds zeros."""
        found = np.zeros((len(self.truth), self.size + 1))
        fitted, classes = class_probabilities(estimator, design, released)
        found[:, classes] = fitted
        return found

    def evidence(self, fitted: np.ndarray) -> np.ndarray:
        return normalized_gain(fitted[np.arange(len(self.truth)), self.truth], self.baseline)

    def limits(self, few: float) -> tuple[float | None, float | None]:
        return max(0.0, few), None

    def permuted(self, fitted: np.ndarray, permutations: int, seed: int) -> Null:
        shares = np.bincount(self.truth[self.truth != UNSEEN], minlength=self.size) / len(self.truth)
        given = fitted[:, :-1], shares, self.truth, self.limit
        return null_of_permuted_real(*given, permutations=permutations, seed=seed)


class _Numbers(NamedTuple):
    """A numeric target; missing true values are left out."""

    truth: np.ndarray  # (n,)
    released: np.ndarray  # (m,)
    limit: float  # minus the tolerance: evidence is minus the error
    error: ErrorName
    delta: float

    @classmethod
    def of(cls, tables: Tables, hidden: str, tolerance: Tolerance, error: ErrorName, delta: float) -> "_Numbers":
        target = numeric_target(tables, hidden, tolerance, error)
        return cls(target.truth, target.released, -target.limit, target.error, delta)

    def fit(self, estimator: BaseEstimator, design: Design, released: np.ndarray) -> np.ndarray:
        return predicted_values(estimator, design, released)

    def evidence(self, fitted: np.ndarray) -> np.ndarray:
        scored = ~np.isnan(self.truth)
        return -prediction_error(self.truth[scored], fitted[scored], self.error, self.delta)

    def limits(self, few: float) -> tuple[float | None, float | None]:
        return None, -few

    def permuted(self, fitted: np.ndarray, permutations: int, seed: int) -> Null:
        rule = (-self.limit, self.error, self.delta)
        return null_of_permuted_numbers(fitted, self.truth, *rule, permutations=permutations, seed=seed)


def _refitted(
    evidence: Callable[[Design, np.ndarray, int], np.ndarray],
    target: _Classes | _Numbers,
    design: Design,
    permutations: int,
    seed: int,
) -> Null:
    """Return the null of refits; a record is at risk where its evidence is above the target's limit."""
    # rows and values are each sorted before they are paired anew, so that the order of the release moves nothing
    ordered = Design(design.real, design.synthetic[np.lexsort(design.synthetic.T[::-1])])
    released = np.sort(target.released)
    observed = float(np.mean(evidence(design, target.released, seed) > target.limit))
    pooled = []
    for b in range(permutations):
        paired = np.random.default_rng(seed_of(seed, "permutation", b)).permutation(released)
        pooled.append(evidence(ordered, paired, seed_of(seed, "model", b)))
    values = np.array([np.mean(found > target.limit) for found in pooled])
    limits = target.limits(exceeded_by_few(np.concatenate(pooled)))
    mean, sd, quantile = float(values.mean()), float(values.std(ddof=1)), float(np.quantile(values, 1 - LEVEL))
    p_value = rank_p_value(observed, values)
    return Null("synthetic", permutations, observed, *limits, mean, sd, quantile, p_value, values)


def _smaller(model: AttackerModel, kind: Kind, seed: int) -> BaseEstimator:
    estimator = model.estimator(kind, seed)
    return estimator.set_params(n_estimators=TREES) if model is ATTACKER_MODELS["random_forest"] else estimator
