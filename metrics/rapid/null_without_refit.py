"""RAPID's null with the real table's sensitive column permuted: no refit, and exact without drawing."""

from collections.abc import Callable

import numpy as np

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.yardsticks import CURVE, normalized_gain
from synthrisk.metrics.models.features import UNSEEN
from synthrisk.metrics.rapid.null import LEVEL, Null, exceeded_by_few, normal_p_value, permutation_moments, rank_p_value
from synthrisk.metrics.rapid.prediction_error import prediction_error
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.tolerance import ErrorName


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
    first, last = _near(guesses, values, tolerance, error, delta)
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
    guesses, values = np.sort(predicted[scored]), truth[scored]
    near = [_near(guesses, values, float(limit), error, delta) for limit in tolerances]
    return np.array([(last - first).sum() / len(values) ** 2 for first, last in near])


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

    def few(limit: float) -> bool:
        first, last = _near(guesses, values, limit, error, delta)
        return int((last - first).sum()) <= LEVEL * len(values) ** 2

    low, high = 0.0, max(float(prediction_error(values, ends, error, delta).max()) for ends in guesses[[0, -1]])
    if few(high):
        return high
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if few(middle) else (low, middle)
    return low
