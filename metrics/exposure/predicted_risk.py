"""Predicted risk: the mean over all records of P(at risk) with one quasi-identifier set, with delta-method limits."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.collinear import collinear_notes
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_terms import Term
from synthrisk.metrics.tables.levels import finite_floats
from synthrisk.metrics.tables.value_texts import value_texts

CURVE_POINTS = 25
"""Values of a numeric column at which risk is predicted."""
_CELLS = 4_000_000  # of one piece of work


class Points(NamedTuple):
    """Points at which risk is predicted."""

    names: list[str]
    values: np.ndarray  # (k,) numbers as they are, dates in nanoseconds, the place of a level; NaN = not on the axis
    rows: np.ndarray  # (k, width) the columns of the term
    levels: np.ndarray  # (k,) level of the term


def at_levels(term: Term, levels: np.ndarray) -> Points:
    """Return points at levels; of a numeric they are not on the axis."""
    values = np.full(len(levels), np.nan) if term.is_numeric else levels.astype(float)
    return Points([term.names[level] for level in levels], values, term.rows[levels], levels)


def along(term: Term, shares: Sequence[float], count: int = 0) -> Points:
    """Return points at quantiles of a numeric, or at ``count`` values from the first to the last of them."""
    values = _quantiles(term, shares)
    if count:
        values = np.linspace(values[0], values[-1], count)
    rows = np.zeros((len(values), term.width))
    rows[:, 0] = (values - term.center) / term.spread
    return Points(value_texts(term.source, values), values, rows, np.zeros(len(values), dtype=int))


def _quantiles(term: Term, shares: Sequence[float]) -> np.ndarray:
    values = finite_floats(term.source)[term.place == 0]
    found = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    if len(found) > 1:
        return found
    # most records have one value: the quantiles of the others too
    return np.unique(np.append(found, np.quantile(values[values != found[0]], shares, method="inverted_cdf")))


class MeanRisk(NamedTuple):
    """Mean P(at risk) at k settings of some columns."""

    risk: np.ndarray  # (k,)
    gradient: np.ndarray  # (k, p), in all coefficients
    lower: np.ndarray  # (k,)
    upper: np.ndarray  # (k,)


class Prediction(NamedTuple):
    """A row of the table of predictions."""

    column: Hashable
    kind: str
    level: str
    value: float
    records: int
    risk: float
    lower: float
    upper: float
    note: str


def predictions(model: RiskModel, terms: Sequence[Term]) -> pd.DataFrame:
    """Return the mean predicted risk with all records at a level, or at a value, of each quasi-identifier."""
    found = []
    for term in terms:
        points, one_flag, notes = _points(term), term.one_flag(model.scores), collinear_notes(model.null, terms, term)
        if term.is_numeric:
            one_flag[0] = ""  # all records with a value: no level
        counts, at = term.counts, mean_risk(model, term.own, points.rows, [one_flag[i] for i in points.levels])
        for i, level in enumerate(points.levels):
            limits = (0.0, 1.0) if notes[level] else (at.lower[i], at.upper[i])
            shown = (points.names[i], points.values[i], counts[level], at.risk[i], *limits, notes[level])
            found.append(Prediction(term.column, term.kind, *shown))
    return pd.DataFrame(found, columns=Prediction._fields)


def _points(term: Term) -> Points:
    levels = at_levels(term, np.arange(len(term.names)))
    if not term.spread:
        return levels
    curve = along(term, (0.01, 0.99), CURVE_POINTS)
    return Points(
        curve.names + levels.names[1:],
        np.append(curve.values, levels.values[1:]),
        np.vstack([curve.rows, levels.rows[1:]]),
        np.append(curve.levels, levels.levels[1:]),
    )


def mean_risk(model: RiskModel, own: np.ndarray, rows: np.ndarray, one_flag: Sequence[str] = ()) -> MeanRisk:
    """Return mean P with the columns ``own`` set to each row; limits are made on the logit scale.

    At a level of one flag the coefficient is so uncertain that mean P is far from linear in it: its limits there also
    hold mean P at both limits of the coefficient. ``rows`` are (k, len(own)); ``one_flag``, (k,), is not empty where
    all records of this level have one flag.
    """
    others = model.beta.copy()
    others[own] = 0
    rest = model.design @ others
    risk, gradient = _means(model, own, rows, rest)
    inside = np.clip(risk, 1e-12, 1 - 1e-12)
    middle = np.log(inside / (1 - inside))
    half = model.quantile * standard_errors(model, gradient) / (inside * (1 - inside))
    lower, upper = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    for i, flag in enumerate(one_flag):
        if flag and rows[i].any():
            at = own[rows[i] != 0][0]
            shift = model.quantile * np.sqrt(model.covariance[at, at])
            low, high = (scipy.special.expit(rest + model.beta[at] + each).mean() for each in (-shift, shift))
            lower[i], upper[i] = min(lower[i], low), max(upper[i], high)
    return MeanRisk(risk, gradient, lower, upper)


def standard_errors(model: RiskModel, gradient: np.ndarray) -> np.ndarray:
    """Return the standard errors, (k,), of quantities with these gradients, (k, p), by the delta method."""
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, model.covariance, gradient), 0))


def _means(model: RiskModel, own: np.ndarray, rows: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean P and its gradients; ``rest`` is the linear predictor without the columns ``own``."""
    n, shift = len(rest), rows @ model.beta[own]
    risk, gradient = np.empty(len(rows)), np.empty((len(rows), len(model.beta)))
    step = max(1, _CELLS // n)
    for at in range(0, len(rows), step):
        p = scipy.special.expit(rest[:, None] + shift[at : at + step])
        risk[at : at + step] = p.mean(axis=0)
        p *= 1 - p
        gradient[at : at + step] = (model.design.T @ p).T / n
        gradient[at : at + step, own] = p.mean(axis=0)[:, None] * rows[at : at + step]
    return risk, gradient
