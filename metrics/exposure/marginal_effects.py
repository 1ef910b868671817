"""Average marginal effects: by how much P(at risk) differs when one quasi-identifier does, averaged over records."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.collinear import collinear_notes
from synthrisk.metrics.exposure.predicted_risk import mean_risk, standard_errors
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_terms import RARE, Term
from synthrisk.metrics.tables.value_texts import NANOSECONDS_A_DAY, value_texts


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
