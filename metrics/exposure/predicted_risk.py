"""Predicted risk: the mean over all records of P(at risk) with one quasi-identifier set, with delta-method limits.

At single values, on a grid of two or three quasi-identifiers, and as average marginal effects.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.risk_model import RiskModel, collinear_notes
from synthrisk.metrics.exposure.risk_terms import RARE, Products, Term
from synthrisk.metrics.tables.codes import finite_floats
from synthrisk.metrics.tables.kinds import NANOSECONDS_A_DAY, value_texts

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


GRID_POINTS = 9
"""Values of a numeric column on the first axis."""


PLACES = ("first", "second", "third")
_MEAN = ("records", "risk", "lower", "upper")


def columns_of_grids(crossed: int) -> list[str]:
    """Return the columns of a table of grids of two or of three quasi-identifiers.

    Example:
        >>> columns_of_grids(2)[:5]
        ['first', 'second', 'first_level', 'first_value', 'second_level']
    """
    return [*PLACES[:crossed], "first_level", "first_value", *(f"{p}_level" for p in PLACES[1:crossed]), *_MEAN]


def grid(model: RiskModel, crossed: Products, start: int) -> list[tuple[Any, ...]]:
    """Return the mean predicted risk at values of the terms that are crossed, each as ``columns_of_grids`` says.

    ``model`` is the model with their products, ``start`` the first column of the design that the products have.
    """
    first, *others = crossed.terms
    axes = [_axis_points(first, (0.05, 0.95), GRID_POINTS), *(_axis_points(term, (0.1, 0.5, 0.9)) for term in others)]
    at = [i.ravel() for i in np.indices([len(axis.names) for axis in axes])]
    rows = crossed.all_rows(*(axis.rows[i] for axis, i in zip(axes, at, strict=True)))
    own = np.concatenate([*(term.own for term in crossed.terms), np.arange(start, len(model.beta))])
    mean = mean_risk(model, own, rows)
    counts = np.zeros([len(term.names) for term in crossed.terms], dtype=int)
    np.add.at(counts, tuple(term.codes for term in crossed.terms), 1)
    records = counts[tuple(axis.levels[i] for axis, i in zip(axes, at, strict=True))]
    levels = [[axis.names[j] for j in i] for axis, i in zip(axes, at, strict=True)]
    columns = levels[0], axes[0].values[at[0]], *levels[1:], records, mean.risk, mean.lower, mean.upper
    names = tuple(term.column for term in crossed.terms)
    return [(*names, *point) for point in zip(*columns, strict=True)]


def _axis_points(term: Term, shares: Sequence[float], count: int = 0) -> Points:
    """Return the points of an axis: quantiles of a numeric column or values between them, else levels that interact."""
    if term.is_numeric:
        return along(term, shares, count)
    return at_levels(term, np.array(sorted([term.reference, *term.crossed])))


class Effect(NamedTuple):
    """A row of the table of effects."""

    column: Hashable
    kind: str  # level, one_sd, per_unit
    level: str
    reference: str
    records: int
    effect: float
    lower: float
    upper: float
    note: str


def marginal_effects(model: RiskModel, terms: Sequence[Term]) -> pd.DataFrame:
    """Return the effects of all quasi-identifiers: of each level, and of the value of a numeric."""
    found: list[Effect] = []
    for term in terms:
        notes = collinear_notes(model.null, terms, term)
        found += _level_effects(model, term, notes)
        if term.spread > 0:
            found += _numeric_effects(model, term, notes[0])
    return pd.DataFrame(found, columns=Effect._fields)


def _level_effects(model: RiskModel, term: Term, collinear: Sequence[str]) -> list[Effect]:
    """Return P(level) - P(reference) of each level."""
    # P of a level of one flag is near 0 or 1, and the delta method is too sure of it. Its limits are then made of the
    # limits l, u of both P, as Newcombe's are: d - sqrt((P - l)^2 + (u_0 - P_0)^2).
    zero, one_flag, counts = term.reference, term.one_flag(model.scores), term.counts
    risk, gradient, lower, upper = mean_risk(model, term.own, term.rows, one_flag)
    half = model.quantile * standard_errors(model, gradient - gradient[zero])
    found = []
    for code, name in enumerate(term.names):
        if code == zero:
            continue
        effect, below, above = risk[code] - risk[zero], half[code], half[code]
        if one_flag[code] or one_flag[zero]:
            below = np.hypot(risk[code] - lower[code], upper[zero] - risk[zero])
            above = np.hypot(upper[code] - risk[code], risk[zero] - lower[zero])
        if collinear[code]:
            below = above = np.inf
        ends = (max(effect - below, -1.0), min(effect + above, 1.0))
        few = f"fewer than {RARE} records" if counts[code] < RARE else ""
        note = "; ".join(text for text in (collinear[code], one_flag[code], few) if text)
        found.append(Effect(term.column, "level", name, term.names[zero], counts[code], effect, *ends, note))
    return found


def _numeric_effects(model: RiskModel, term: Term, note: str) -> list[Effect]:
    own, there = term.own[0], np.flatnonzero(term.place == 0)  # the records with a value
    design, slope = model.design[there], model.beta[own]
    eta = design @ model.beta
    before, after = scipy.special.expit(eta), scipy.special.expit(eta + slope)
    low, high = before * (1 - before), after * (1 - after)
    first = design.T @ (high - low) / len(there)
    first[own] += high.mean()
    second = design.T @ (slope * low * (1 - 2 * before)) / len(there)
    second[own] += low.mean()
    sd, unit, scale = _units(term)
    found = []
    for name, level, reference, effect, gradient, bound, factor in (
        ("one_sd", sd, "as it is", (after - before).mean(), first, 1.0, 1.0),
        ("per_unit", unit, "", slope * low.mean() * scale, second, np.inf, scale),
    ):
        half = np.inf if note else model.quantile * standard_errors(model, gradient[None])[0] * factor
        ends = (max(effect - half, -bound), min(effect + half, bound))
        found.append(Effect(term.column, name, level, reference, len(there), effect, *ends, note))
    return found


def _units(term: Term) -> tuple[str, str, float]:  # names of one sd and one unit; sds a unit
    if term.kind == "number":
        return f"+1 sd ({value_texts(term.source, np.array([term.spread]))[0]})", "per unit", 1 / term.spread
    days = term.spread / NANOSECONDS_A_DAY
    return f"+1 sd ({days:,.0f} days)" if days >= 100 else f"+1 sd ({days:.3g} days)", "per day", 1 / days
