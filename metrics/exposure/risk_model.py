"""The risk model: logistic regression of the scores with a slight ridge and a robust covariance."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy

from synthrisk.metrics.exposure.gram import gram, null_directions
from synthrisk.metrics.exposure.sandwich import floored, meat, small_sample_factor
from synthrisk.metrics.intervals.quantiles import t_quantile

RIDGE = 1e-3
"""Penalty RIDGE/2 |b|^2 on all coefficients but the intercept, of numerics in standard deviations and 0/1 dummies."""


class RiskModel(NamedTuple):
    """A fitted model and what it was fitted to."""

    design: Any  # (n, p) sparse, the intercept first
    scores: np.ndarray  # (n,)
    units: np.ndarray  # (n,) entity of each record
    beta: np.ndarray  # (p,)
    covariance: np.ndarray  # (p, p)
    null: np.ndarray  # (p, k) orthonormal: directions in which the design does not move
    freedom: int
    confidence: float

    @property
    def quantile(self) -> float:
        """The t quantile of all intervals."""
        return float(t_quantile(0.5 + self.confidence / 2, self.freedom))


def fit(
    design: Any,
    scores: np.ndarray,
    units: np.ndarray,
    groups: Iterable[np.ndarray],
    confidence: float,
    start: np.ndarray | None = None,
) -> RiskModel:
    """Return the model fitted to ``scores``, (n,) in [0, 1], with the fields of ``RiskModel``.

    ``groups`` are (n,) codes each, -1 = none: groups that the model fits by themselves, softened where of one flag.
    ``start`` are coefficients to start from.
    """
    target, extra = _softened(scores, units, groups)
    across = design.T.tocsr()
    null = null_directions(across, design)
    beta = _coefficients(design, target, start)
    penalty = RIDGE * (np.arange(len(beta)) > 0)
    p = scipy.special.expit(design @ beta)
    weight = p * (1 - p)
    inverse = scipy.linalg.inv(gram(across, design, weight) + np.diag(penalty))
    beta = beta + inverse @ (across @ (target - p) - penalty * beta)  # a last Newton step
    n, rank, count = len(scores), len(beta) - null.shape[1], int(units.max()) + 1
    residual, extra = scores - p, extra * weight
    middle = small_sample_factor(n, rank, count) * inverse @ meat(across, design, residual, extra, units) @ inverse
    dispersion = min(1.0, float((residual**2 + extra).sum() / weight.sum()))
    covariance = floored(middle, dispersion * inverse, null)
    freedom = max(n - rank if count == n else count - 1, 1)
    return RiskModel(design, scores, units, beta, covariance, null, freedom, confidence)


def _softened(scores: np.ndarray, units: np.ndarray, groups: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with half a unit of the other kind in each group of one flag, and weights of its variance."""
    shift, extra = np.zeros(len(scores)), np.zeros(len(scores))
    for codes in groups:
        there = codes >= 0
        counts, sums = np.bincount(codes[there]), np.bincount(codes[there], scores[there])
        for code in np.flatnonzero((counts > 0) & ((sums == 0) | (sums == counts))):
            inside = codes == code
            count = len(np.unique(units[inside]))
            shift[inside] = np.maximum(shift[inside], 0.5 / (count + 1))
            extra[inside] = np.maximum(extra[inside], inside.sum() / count)
    return np.where(scores == 0, shift, np.where(scores == 1, 1 - shift, scores)), extra


def _coefficients(design: Any, target: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression  # a second of imports, which pages without a model spare

    share = np.flatnonzero((target > 0) & (target < 1))  # which count as both flags, weighted
    x = design[:, 1:]
    model = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-6, max_iter=200, warm_start=True)
    if start is not None:
        model.intercept_, model.coef_ = start[:1], start[None, 1:]
    model.fit(
        scipy.sparse.vstack([x, x[share]], format="csr"),
        np.concatenate([target > 0, np.zeros(len(share), dtype=bool)]),
        sample_weight=np.concatenate([np.where(target > 0, target, 1.0), 1 - target[share]]),
    )
    return np.concatenate([model.intercept_, model.coef_[0]])
