"""The share at risk that an attacker without information would reach: its distribution over permutations.

RAPID's null with the real table's sensitive column permuted: no refit, and exact without drawing.

Calibration of RAPID: what its value and its gains are where the sensitive values are permuted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy
from sklearn.base import BaseEstimator

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.yardsticks import CURVE, normalized_gain
from synthrisk.metrics.models.attackers import (
    ATTACKER_MODELS,
    FEWEST,
    AttackerModel,
    attacker_model,
    class_probabilities,
    predicted_values,
)
from synthrisk.metrics.models.features import UNSEEN, Design, level_codes
from synthrisk.metrics.rapid.prediction_error import Choice, check_permutations, check_values, prediction_error
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.codes import frequencies
from synthrisk.metrics.tables.kinds import Kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import ErrorName, Tolerance, numeric_target

Permute = Literal["synthetic", "real"]
LEVEL = 0.05
"""Share of null gains above the threshold, and of null values above the quantile."""
P_VALUES = tuple(f"null_{permute}_p_value" for permute in get_args(Permute))
"""Names of the details that are p-values of one release."""


@dataclass(frozen=True, eq=False)
class Null:
    """A value of RAPID beside its distribution under permuted sensitive values.

    ``permute`` says whose sensitive column was permuted: ``synthetic`` (the attacker model knows nothing) or ``real``
    (the model is as it is, its guesses meet other people's values). Without permutations the distribution is the normal
    one with the exact mean and sd.
    """

    permute: Permute
    permutations: int  # how many were drawn
    observed: float  # the value under no permutation, of the same attacker model
    threshold: float | None  # of a category: smallest gain that at most 5 % of the pooled null gains exceed, or 0
    tolerance: float | None  # of a number: largest error that at most 5 % of the pooled null errors stay below
    mean: float  # of the null's values
    sd: float  # over all permutations (``real``) or estimated from those drawn (``synthetic``)
    quantile: float  # 95 % quantile of the null's values
    p_value: float  # of a null value of at least ``observed``: (1 + how many)/(permutations + 1), or the normal tail
    values: np.ndarray  # (permutations,) those drawn


def named(null: Null) -> dict[str, float]:
    """Return the null's numbers as details whose names say whose values were permuted."""
    limits = {"threshold": null.threshold, "tolerance": null.tolerance}
    numbers = {"mean": null.mean, "quantile": null.quantile, "p_value": null.p_value}
    numbers |= {name: limit for name, limit in limits.items() if limit is not None}
    return {f"null_{null.permute}_{name}": number for name, number in numbers.items()}


def rank_p_value(observed: float, values: np.ndarray) -> float:
    """Return (1 + #{values >= observed})/(B + 1); at most a share p of such values is below p under the null.

    Example:
        >>> rank_p_value(0.5, np.array([0.1, 0.5, 0.4]))
        0.5
    """
    return float((1 + np.count_nonzero(values >= observed - 1e-12)) / (len(values) + 1))


def normal_p_value(observed: float, mean: float, sd: float, n: int) -> float:
    """Return the normal tail from ``observed`` on, corrected by half a record; 1 where nothing can vary."""
    return float(scipy.stats.norm.sf((observed - 0.5 / n - mean) / sd)) if sd > 0 else 1.0


def permutation_moments(rows: np.ndarray, columns: np.ndarray) -> tuple[float, float]:
    """Return mean and sd of (1/n) sum_i a[i, pi(i)] over all permutations pi, for a zero-one matrix a.

    With row means r, column means c and mean g: mean = g, variance = (g(1 - g) - var r - var c)/(n - 1); Hoeffding
    1951, "A combinatorial central limit theorem", doi:10.1214/aoms/1177729545, which also says that it is near normal.
    ``rows`` and ``columns`` are the (n,) row and column means of a.

    Example:
        >>> permutation_moments(np.array([0.5, 0.5]), np.array([0.5, 0.5]))  # the unit matrix: 1 or 0
        (0.5, 0.5)
    """
    mean = float(np.mean(rows))
    if len(rows) == 1:
        return mean, 0.0
    variance = (mean * (1 - mean) - np.var(rows) - np.var(columns)) / (len(rows) - 1)
    return mean, float(np.sqrt(max(0.0, variance)))


def exceeded_by_few(evidence: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the smallest value that at most 5 % of the (weighted) evidence exceeds.

    Example:
        >>> exceeded_by_few(np.arange(1.0, 101.0))
        95.0
    """
    return float(np.quantile(evidence, 1 - LEVEL, method="inverted_cdf", weights=weights))


def null_of_permuted_real(
    probabilities: np.ndarray,
    shares: np.ndarray,
    truth_codes: np.ndarray,
    threshold: float,
    *,
    permutations: int = 0,
    seed: int = 0,
) -> Null:
    """Return the null of a categorical target from class probabilities that are there already.

    M[i, c] = 1 where class c would put record i at risk: (p_ic - b_c)/(1 - b_c) > ``threshold``. With q_c the
    share of class c among ``truth_codes``: mean = sum_c q_c mean_i M[i, c], variance by ``permutation_moments``,
    both exact; ``threshold`` of the result is the 95 % quantile of all gains, weighted by q_c.

    Args:
        probabilities: (n, K) what the attacker model gives to each class of the release.
        shares: (K,) share b of each of these classes in the real table, below 1.
        truth_codes: (n,) column of each record's true class; -1 where the release lacks the class.
        threshold: Gain above which a record is at risk.
        permutations: How many to draw for quantile and p; 0: both by the normal approximation.
        seed: Seed of the draws.

    Example:
        >>> null = null_of_permuted_real(np.eye(2)[[0, 0, 1, 1]], np.array([0.5, 0.5]), np.array([0, 0, 1, 1]), 0.3)
        >>> null.observed, null.mean, round(null.sd, 3), null.threshold
        (1.0, 0.5, 0.289, 1.0)
    """
    n = len(truth_codes)
    gains = normalized_gain(probabilities, shares[None, :])
    at_risk = np.column_stack([gains > threshold, np.zeros(n, dtype=bool)])  # the last column is that of UNSEEN = -1
    counts = np.bincount(np.where(truth_codes == UNSEEN, len(shares), truth_codes), minlength=len(shares) + 1)
    mean, sd = permutation_moments(at_risk @ counts / n, at_risk.mean(axis=0)[truth_codes])
    above = gains > 0  # all others are one pile at 0, the least a threshold can be
    weights = np.broadcast_to(counts[:-1], gains.shape)[above]
    limit = exceeded_by_few(np.append(gains[above], 0.0), np.append(weights, n * n - weights.sum()))
    sorted_rows, records = at_risk[np.lexsort(at_risk.T)], np.arange(n)

    def value(codes: np.ndarray) -> float:
        return float(sorted_rows[records, codes].mean())

    observed = float(at_risk[records, truth_codes].mean())
    return _null(observed, (limit, None), (mean, sd), _draw(value, truth_codes, permutations, seed), n)


def null_of_permuted_numbers(
    predicted: np.ndarray,
    truth: np.ndarray,
    tolerance: float,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    *,
    permutations: int = 0,
    seed: int = 0,
) -> Null:
    """Return the null of a numeric target from predictions that are there already.

    As ``null_of_permuted_real``, with a[i, j] = 1 where the error of prediction i for the true value j is below
    ``tolerance``. The predictions near enough to a true value lie side by side, so that the n x n matrix is never
    built: O(n log n). ``predicted`` and ``truth`` are (n,); records without a true value (NaN) are left out. For
    ``error`` and ``delta`` see ``prediction_error``.

    Example:
        >>> null = null_of_permuted_numbers(np.array([1.0, 2.0]), np.array([1.1, 2.1]), 0.2, "absolute")
        >>> null.observed, null.mean, null.sd
        (1.0, 0.5, 0.5)
    """
    scored = ~np.isnan(truth)
    guesses, values = np.sort(predicted[scored]), truth[scored]
    n = len(values)
    distinct, place = np.unique(values, return_inverse=True)
    first, last = (ends[place] for ends in _near(guesses, distinct, tolerance, error, delta))
    steps = np.bincount(first, minlength=n + 1) - np.bincount(last, minlength=n + 1)
    mean, sd = permutation_moments(np.cumsum(steps)[:n] / n, (last - first) / n)

    def value(others: np.ndarray) -> float:
        return float(np.mean(prediction_error(others, guesses, error, delta) < tolerance))

    observed = float(np.mean(prediction_error(values, predicted[scored], error, delta) < tolerance))
    limit = _undercut_by_few(guesses, values, error, delta)
    return _null(observed, (None, limit), (mean, sd), _draw(value, values, permutations, seed), n)


def null_curve_of_classes(probabilities: np.ndarray, shares: np.ndarray, truth_codes: np.ndarray) -> np.ndarray:
    """Return the exact mean of the null's value at each threshold of ``CURVE``; arguments as above.

    Example:
        >>> curve = null_curve_of_classes(np.eye(2)[[0, 0, 1, 1]], np.array([0.5, 0.5]), np.array([0, 0, 1, 1]))
        >>> curve[[0, -1]].tolist()
        [0.5, 0.5]
    """
    n, classes = len(truth_codes), len(shares)
    passed = np.searchsorted(CURVE, normalized_gain(probabilities, shares[None, :]), side="left")  # thresholds below
    counts = np.bincount(truth_codes[truth_codes != UNSEEN], minlength=classes)
    weights = np.broadcast_to(counts, passed.shape).ravel()
    mass = np.bincount(passed.ravel(), weights=weights, minlength=len(CURVE) + 1)
    return np.asarray(mass[::-1].cumsum()[::-1][1:] / n**2)


def null_curve_of_numbers(
    predicted: np.ndarray,
    truth: np.ndarray,
    tolerances: np.ndarray,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
) -> np.ndarray:
    """Return the exact mean of the null's value at each tolerance; arguments as above.

    Example:
        >>> predicted, truth = np.array([1.0, 2.0]), np.array([1.1, 2.1])
        >>> null_curve_of_numbers(predicted, truth, np.array([0.05, 0.2]), "absolute").tolist()
        [0.0, 0.5]
    """
    scored = ~np.isnan(truth)
    guesses, (distinct, counts) = np.sort(predicted[scored]), np.unique(truth[scored], return_counts=True)
    near = [_near(guesses, distinct, float(limit), error, delta) for limit in tolerances]
    return np.array([(last - first) @ counts / len(guesses) ** 2 for first, last in near])


def _draw(value: Callable[[np.ndarray], float], truth: np.ndarray, permutations: int, seed: int) -> np.ndarray:
    """Return the value of each permutation; sorted first, so that row order moves nothing."""
    ordered = np.sort(truth)
    seeds = (seed_of(seed, "permutation", b) for b in range(permutations))
    return np.array([value(np.random.default_rng(s).permutation(ordered)) for s in seeds], dtype=float)


def _null(
    observed: float, limits: tuple[float | None, float | None], moments: tuple[float, float], values: np.ndarray, n: int
) -> Null:
    mean, sd = moments
    if len(values):
        quantile, p_value = float(np.quantile(values, 1 - LEVEL)), rank_p_value(observed, values)
    else:
        quantile = min(1.0, mean + normal_quantile(1 - LEVEL) * sd)
        p_value = normal_p_value(observed, mean, sd, n)
    return Null("real", len(values), observed, *limits, mean, sd, quantile, p_value, values)


def _near(
    guesses: np.ndarray, values: np.ndarray, limit: float, error: ErrorName, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each value the first of the sorted guesses that is nearer than the limit, and the first beyond."""
    # by bisection: the error falls as guesses rise up to the value, and rises from there on
    middle = np.searchsorted(guesses, values)

    def near(index: np.ndarray) -> np.ndarray:
        return prediction_error(values, guesses[np.minimum(index, len(guesses) - 1)], error, delta) < limit

    first = _first_true(near, np.zeros_like(middle), middle)
    return first, _first_true(lambda index: ~near(index), middle, np.full_like(middle, len(guesses)))


def _first_true(condition: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the first index in [low, high) from which the condition holds, element by element; else high."""
    while (open_ := low < high).any():
        middle = (low + high) // 2
        true = condition(middle)
        low, high = np.where(open_ & ~true, middle + 1, low), np.where(open_ & true, middle, high)
    return low


def _undercut_by_few(guesses: np.ndarray, values: np.ndarray, error: ErrorName, delta: float) -> float:
    """Return the largest tolerance that at most 5 % of all (guess, value) pairs stay below, by bisection."""
    distinct, counts = np.unique(values, return_counts=True)

    def few(limit: float) -> bool:
        first, last = _near(guesses, distinct, limit, error, delta)
        return int((last - first) @ counts) <= LEVEL * len(values) ** 2

    low, high = 0.0, max(float(prediction_error(distinct, ends, error, delta).max()) for ends in guesses[[0, -1]])
    if few(high):
        return high
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if few(middle) else (low, middle)
    return low


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
        estimator = model.estimator(kind, seed, len(tables.synthetic))
        return target.permuted(target.fit(estimator, design, target.released), permutations, seed)

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
    # refitted often: with 500 trees the value moves by about .001 (Adult)
    estimator = model.estimator(kind, seed)
    return estimator.set_params(n_estimators=FEWEST) if model is ATTACKER_MODELS["random_forest"] else estimator
