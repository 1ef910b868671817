"""The risk model: logistic regression of the scores with a slight ridge and a robust covariance.

With all that a fit says: the directions in which the design does not move (columns that others determine, levels that
are collinear), joint Wald tests of the columns, and score tests of products: what a model with them would find, told
from the model without them.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.risk_terms import LeftOut, Products, Term, design_matrix, placed
from synthrisk.metrics.intervals.distributions import t_quantile

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


ALIASED = 1e-6
"""Length above which a part of a direction is more than rounding."""


def gram(across: Any, design: Any, weights: np.ndarray) -> np.ndarray:
    """Return X'WX, (p, p), of X' (``across``) and X (``design``), both sparse by rows, and the diagonal of W, (n,).

    Example:
        >>> from scipy.sparse import csr_matrix
        >>> x = csr_matrix([[1.0, 2.0], [1.0, 0.0]])
        >>> gram(x.T.tocsr(), x, np.array([1.0, 3.0]))
        array([[4., 2.],
               [2., 4.]])
    """
    weighted = design.copy()
    weighted.data = design.data * np.repeat(weights, np.diff(design.indptr))
    return (across @ weighted).toarray()


def null_directions(across: Any, design: Any) -> np.ndarray:
    """Return orthonormal directions, (p, k), in which the design does not move; k = 0 at full rank."""
    plain = gram(across, design, np.ones(design.shape[0]))
    size = np.sqrt(np.maximum(np.diag(plain), np.finfo(float).tiny))
    values, vectors = scipy.linalg.eigh(plain / np.outer(size, size))
    return scipy.linalg.orth(vectors[:, values < 1e-9] / size[:, None])


def independent(terms: Sequence[Term]) -> tuple[list[Term], list[LeftOut]]:
    """Return the terms in their places, without those that the others determine: narrow ones and late names first."""
    left, left_out = placed(terms), []
    while left:
        design = design_matrix(left)
        null = null_directions(design.T.tocsr(), design)
        inside = [term for term in left if (scipy.linalg.svdvals(null[term.own]) > ALIASED).sum() == term.width]
        if not inside:
            break
        gone = min(reversed(inside), key=lambda term: term.width)
        left_out.append(LeftOut(gone.column, "", f"determined by {partners(null, left, gone, gone.own)}"))
        left = placed([term for term in left if term is not gone])
    return left, left_out


def partners(null: np.ndarray, terms: Sequence[Term], term: Term, own: np.ndarray) -> str:
    """Return the names of the other columns that share a ``null`` direction with the columns ``own`` of a term."""
    shared = np.linalg.norm(null @ null[own].T, axis=1) > ALIASED
    return ", ".join(str(each.column) for each in terms if each is not term and shared[each.own].any())


def collinear_notes(null: np.ndarray, terms: Sequence[Term], term: Term) -> list[str]:
    """Return, for each level (a numeric's first: its value), what it cannot be told apart from."""
    columns = [term.own[row != 0] for row in term.rows]
    if term.spread > 0:
        columns[0] = term.own[:1]
    found = [partners(null, terms, term, own) for own in columns]
    return [f"collinear with {names}" if names else "" for names in found]


def meat(across: Any, design: Any, residual: np.ndarray, extra: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the summed squares of the units' scores, (p, p), from X' (``across``) and X, both sparse by rows.

    Each record has a ``residual`` y - P, a variance that this does not show (``extra``), and a unit, numbered from 0.
    """
    n = len(residual)
    if units.max() + 1 == n:
        return gram(across, design, residual**2 + extra)
    sums = scipy.sparse.csr_matrix((residual, (units, np.arange(n)))) @ design
    return gram(across, design, extra) + (sums.T @ sums).toarray()


def small_sample_factor(n: int, rank: int, units: int) -> float:
    """Return n/(n - rank), of fewer units than records units/(units - 1) (n - 1)/(n - rank)."""
    if units == n:
        return n / max(n - rank, 1)
    return units / (units - 1) * (n - 1) / max(n - rank, 1)


def floored(sandwich: np.ndarray, plain: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return the sandwich, with the model's own variance in directions where it is ten times as large or more.

    There the fit passes through the records (separation), or entities are few, and residuals do not measure what is
    unknown. Directions of ``null`` are left alone: the ridge settles them, and the effects concerned are marked.
    """
    basis = scipy.linalg.null_space(null.T) if null.size else np.eye(len(plain))
    root = scipy.linalg.cholesky(basis.T @ (plain + plain.T) @ basis / 2, lower=True)
    half = scipy.linalg.solve_triangular(root, basis.T @ sandwich @ basis, lower=True)
    values, vectors = scipy.linalg.eigh(scipy.linalg.solve_triangular(root, half.T, lower=True))
    low = values < 0.1
    raised = basis @ root @ vectors[:, low] * np.sqrt(1 - values[low])
    return sandwich + raised @ raised.T


class ColumnTest(NamedTuple):
    """A row of the table of columns."""

    column: Hashable
    kind: str
    reference: str
    statistic: float
    freedom: int
    p_value: float
    collinear_with: str


def column_tests(model: RiskModel, terms: Sequence[Term]) -> pd.DataFrame:
    """Return the joint test of each quasi-identifier."""
    found = []
    for term in terms:
        reference = "" if term.is_numeric else term.names[term.reference]
        shared = partners(model.null, terms, term, term.own)
        found.append(ColumnTest(term.column, term.kind, reference, *wald(model, term.own), shared))
    return pd.DataFrame(found, columns=ColumnTest._fields)


def wald(model: RiskModel, own: np.ndarray) -> tuple[float, int, float]:
    """Return chi-square, its degrees of freedom and p of the estimable part of some coefficients."""
    _, size, directions = scipy.linalg.svd(model.null[own].T)
    basis = directions[(size > ALIASED).sum() :].T if len(size) else np.eye(len(own))
    found, covariance = basis.T @ model.beta[own], basis.T @ model.covariance[np.ix_(own, own)] @ basis
    if not len(found):
        return 0.0, 0, 1.0
    values, vectors = scipy.linalg.eigh(covariance)
    there = values > 1e-10 * values.max()
    chi2 = float((((vectors.T @ found) ** 2)[there] / values[there]).sum())
    freedom = int(there.sum())
    return chi2, freedom, float(scipy.stats.f.sf(chi2 / freedom, freedom, model.freedom))


def strongest_first(tests: pd.DataFrame) -> np.ndarray:
    """Return the order of tests by p, and by chi-square per degree of freedom where p is 0."""
    ratio = tests["statistic"] / tests["freedom"].clip(lower=1)
    return np.lexsort((np.arange(len(tests)), -ratio, tests["p_value"]))


_ALIASED = 1e-4  # share of the variance of products below which the main effects tell them


def strongest_products(main: RiskModel, every: Sequence[Products], most: int) -> tuple[list[int], list[int]]:
    """Return which products are the strongest, and which add nothing at all, by score tests beside the main effects.

    With residuals r = y - P, weights W = P(1 - P), main effects X and products Z, and M = (X'WX + ridge)^-1 X'WZ, the
    score is U = (Z - XM)'r. Rao's test takes its variance from the model, phi (Z - XM)'W(Z - XM) with the dispersion
    phi = sum r^2/sum W of scores that are shares; the robust one from the residuals, (Z - XM)'R(Z - XM) with R = r^2.
    Neither needs a fit. Rao's is off where few records with large values decide, the robust one where a combination has
    one flag alone: so the places go to the first of both, in turns (Rao 1948, doi:10.1017/S0305004100023987; Boos 1992,
    doi:10.1080/00031305.1992.10475921).

    Args:
        main: The model of the main effects.
        every: Products that have columns.
        most: How many to name.
    """
    tests = _Scores(main)
    found = [tests.of(each) for each in every]
    nothing = [i for i, (plain, _) in enumerate(found) if plain.freedom == 0]
    orders = [strongest_first(pd.DataFrame(each, columns=_Test._fields)) for each in zip(*found, strict=True)]
    in_turns = dict.fromkeys(int(i) for pair in zip(*orders, strict=True) for i in pair)
    return [i for i in in_turns if i not in nothing][:most], nothing


class _Test(NamedTuple):
    statistic: float
    freedom: int
    p_value: float


class _Scores:
    """What all score tests beside one model have in common."""

    def __init__(self, main: RiskModel):
        self._design, self._across = main.design, main.design.T.tocsr()
        p = scipy.special.expit(main.design @ main.beta)
        self._weight, self._residual, self._freedom = p * (1 - p), main.scores - p, main.freedom
        self._phi = float((self._residual**2).sum() / self._weight.sum())
        penalty = RIDGE * (np.arange(len(main.beta)) > 0)
        self._inverse = scipy.linalg.inv(gram(self._across, main.design, self._weight) + np.diag(penalty))
        self._off = self._across @ self._residual
        self._squares = gram(self._across, main.design, self._residual**2)

    def of(self, products: Products) -> tuple[_Test, _Test]:
        """Return Rao's test and the robust one."""
        z = products.columns
        shared, robust = (self._beside(z, weights) for weights in (self._weight, self._residual**2))
        told = self._inverse @ shared
        score = z.T @ self._residual - told.T @ self._off
        squares = z.multiply(z).T  # of a record all products but one are 0
        own = squares @ self._weight
        plain = np.diag(own) - shared.T @ told
        spread = np.diag(squares @ self._residual**2) - robust.T @ told - told.T @ robust
        spread += told.T @ self._squares @ told
        values, vectors = np.linalg.eigh(plain / np.sqrt(np.outer(own, own)))
        basis = vectors[:, values > _ALIASED] / np.sqrt(own)[:, None]
        return self._test(basis, score, self._phi * plain), self._test(basis, score, spread)

    def _beside(self, z: Any, weights: np.ndarray) -> np.ndarray:
        return np.asarray((self._across @ z.multiply(weights[:, None]).tocsr()).toarray())

    def _test(self, basis: np.ndarray, score: np.ndarray, variance: np.ndarray) -> _Test:
        found, values = basis.T @ score, np.linalg.eigh(basis.T @ variance @ basis)
        there = values[0] > 1e-8 * max(values[0].max(initial=0.0), np.finfo(float).tiny)
        freedom = int(there.sum())
        if freedom == 0:
            return _Test(0.0, 0, 1.0)
        chi2 = float(((values[1].T @ found)[there] ** 2 / values[0][there]).sum())
        return _Test(chi2, freedom, float(scipy.special.fdtrc(freedom, self._freedom, chi2 / freedom)))
