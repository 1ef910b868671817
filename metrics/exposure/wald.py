"""Joint Wald tests of the columns of the risk model, their order and Holm's adjustment."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.collinear import partners
from synthrisk.metrics.exposure.gram import ALIASED
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_terms import Term


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
