"""The robust covariance of coefficients: inverse @ meat @ inverse, records or entities as units."""

from typing import Any

import numpy as np
import scipy

from synthrisk.metrics.exposure.gram import gram


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
