"""Why records are at risk: logistic regression of the flag on the quasi-identifiers, read as marginal effects.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", section 5.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.arguments import scored
from synthrisk.metrics.exposure.collinear import independent
from synthrisk.metrics.exposure.interactions import columns_of_tests, pair_interactions, triple_interactions
from synthrisk.metrics.exposure.marginal_effects import Effect, marginal_effects
from synthrisk.metrics.exposure.predicted_risk import Prediction, predictions
from synthrisk.metrics.exposure.risk_grid import columns_of_grids
from synthrisk.metrics.exposure.risk_model import RiskModel, fit
from synthrisk.metrics.exposure.risk_terms import LeftOut, Merged, Term, design_matrix, risk_terms
from synthrisk.metrics.exposure.wald import ColumnTest, column_tests


@dataclass(frozen=True, eq=False)
class Attribution:
    """The risk model: which quasi-identifiers go with risk, by a logistic regression of the scores on them.

    Attributes:
        records: Scored records.
        risk: Their mean score.
        confidence: Confidence level of all intervals.
        reason: Why there are no effects, or an empty string.
        effects: Average marginal effects, differences of probability, of each ``kind``: ``level`` (P at ``level`` minus
            P at ``reference``), ``one_sd`` (P with the value one standard deviation higher minus P) and ``per_unit``
            (derivative of P per unit of a number, per day of a date or duration). ``note`` names what limits an effect.
        predictions: Mean predicted risk with all records at a level, or at a value (``value``: a number, nanoseconds of
            a date, the place of a level), with its interval.
        columns: Joint Wald test of each quasi-identifier in the main-effects model; ``statistic`` is chi-square.
        interactions: Joint Wald test of each pair, strongest first; ``p_holm`` is adjusted for all pairs looked at,
            those without a model too, ``left_out`` counts combinations of levels with too few records for a column of
            their own.
        grids: Mean predicted risk at values of ``first`` (x axis) and ``second`` (lines) from the pair's model;
            ``records`` counts those at this combination of levels.
        triples: The same test of three columns: the triples of the few columns of the strongest pairs.
        triple_grids: Mean predicted risk at values of ``first``, ``second`` and ``third`` from the triple's model.
        merged: Levels that were put into another.
        left_out: Columns and pairs without an effect, or with a part left out, and why.
        notes: What else limits the numbers.
    """

    records: int
    risk: float
    confidence: float
    reason: str = ""
    effects: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=Effect._fields))
    predictions: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=Prediction._fields))
    columns: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=ColumnTest._fields))
    interactions: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=columns_of_tests(2)))
    grids: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=columns_of_grids(2)))
    triples: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=columns_of_tests(3)))
    triple_grids: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=columns_of_grids(3)))
    merged: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=Merged._fields))
    left_out: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=LeftOut._fields))
    notes: tuple[str, ...] = ()


def attribution(
    scores: Any,
    table: pd.DataFrame,
    quasi_identifiers: Sequence[str] | str,
    interactions: bool = True,
    confidence: float = 0.95,
    entities: Any = None,
) -> Attribution:
    """Explain which records are at risk by a logistic regression on the quasi-identifiers.

    logit P(at risk) = a + sum_j b_j x_j; numerics in standard deviations with a column "is missing", categoricals as
    dummies against their most frequent level. A share as score is a fractional response (Papke and Wooldridge 1996).
    Average marginal effect of a level: 1/n sum_i P(i at the level) - P(i at the reference). Intervals: delta method, t
    quantile, robust sandwich covariance (summed by entity where given) with factor n/(n - p), given the table's
    records. Each pair of columns is tested in a model of its own, main effects of all columns plus the products of the
    two, which is possible in small tables and with many levels.

    The fit is maximum likelihood with a ridge of ``RIDGE``: too small to move an estimable number (Firth's correction
    moves all by O(1/n)), and enough where columns are collinear. If all records of a level, or of an interacting
    combination, have the same flag, half a record of the other kind is added (Haldane and Anscombe), and its records
    count with variance P(1 - P), for the sandwich alone would be 0. Columns that others determine are left out. If only
    some levels are collinear, their effects are marked and have no limits.

    Args:
        scores: (n,) 0/1 flags, or the share of releases in which a record was at risk; NaN = not scored, left out.
        table: (n, p) the records, in the order of the scores.
        quasi_identifiers: Columns that explain. Levels with fewer than ``RARE`` records are merged into "other", as
            are those beyond the 19 most frequent of a column with more than ``LEVELS``.
        interactions: Whether pairs of columns are tested, between their ``CROSSED_LEVELS`` most frequent levels; of
            more than ``CROSSED_COLUMNS`` columns, the strongest, and of more than ``FITTED_PAIRS`` pairs those that are
            the strongest by a score test, which takes no fit (``score_tests``). And triples of the ``TRIPLED_COLUMNS``
            columns of the strongest pairs, in models with all products of the three.
        confidence: Confidence level of all intervals.
        entities: (n,) entity of each record, where one entity has several.

    Returns:
        An ``Attribution``; nothing in it depends on the order of rows, columns or categories.

    Raises:
        InputError: An argument breaks its rule, or no record is scored.

    Example:
        >>> people = pd.DataFrame({"sex": list("fmfm") * 50, "age": range(200)})
        >>> flags = [1, 0, 1, 1, 1, 0, 0, 0] * 25
        >>> found = attribution(flags, people, ["sex", "age"])
        >>> found.effects.set_index(["column", "level"])["effect"].round(3)["sex", "m"]
        np.float64(-0.5)
    """
    known = scored(scores, table, quasi_identifiers, "quasi_identifiers", confidence)
    y, units = known.scores, _units(entities, known.kept)
    every, merged, left_out = risk_terms(known.records, known.columns)
    terms, determined = independent(every)
    left_out += determined
    found = Attribution(
        records=len(y),
        risk=float(np.sort(y).sum() / len(y)),
        confidence=confidence,
        reason=_reason(y, terms, units),
        merged=pd.DataFrame(merged, columns=Merged._fields),
        left_out=pd.DataFrame(left_out, columns=LeftOut._fields),
    )
    if found.reason:
        return found
    model = fit(design_matrix(terms), y, units, [term.codes for term in terms], confidence)
    tests, effects = column_tests(model, terms), marginal_effects(model, terms)
    found = replace(found, columns=tests, effects=effects, predictions=predictions(model, terms), notes=_notes(model))
    if not interactions:
        return found
    pairs = pair_interactions(model, terms, tests)
    three = triple_interactions(model, terms, pairs.tests)
    left = pd.DataFrame(left_out + pairs.left_out, columns=LeftOut._fields)
    found = replace(found, triples=three.tests, triple_grids=three.grids)
    return replace(found, interactions=pairs.tests, grids=pairs.grids, left_out=left)


def _units(entities: Any, kept: np.ndarray) -> np.ndarray:  # the independent unit of each scored record
    if entities is None:
        return np.arange(kept.sum())
    column = pd.Series(entities)
    if len(column) != len(kept):
        raise InputError(f"entities must name one entity a record, got {len(column)} for {len(kept)} records")
    if column.isna().any():
        raise InputError(f"entities must name an entity for each record, got {int(column.isna().sum())} missing")
    return pd.factorize(column.to_numpy()[kept])[0]


def _reason(y: np.ndarray, terms: list[Term], units: np.ndarray) -> str:
    if y.min() == y.max():
        return "every scored record has the same score: there is nothing to explain"
    if not terms:
        return "no quasi-identifier has two levels of enough records"
    return "all records are of one entity: effects have no interval" if units.max() == 0 else ""


def _notes(model: RiskModel) -> tuple[str, ...]:
    notes, y = [], model.scores
    if (
        np.isin(y, (0, 1)).all() and np.abs(y - scipy.special.expit(model.design @ model.beta)).max() < 0.5
    ):  # complete separation
        notes.append("the quasi-identifiers tell every flag: the size of effects rests on the penalty")
    if model.design.shape[1] - model.null.shape[1] >= len(y):
        notes.append("the model has as many columns as there are records: intervals are too short")
    return tuple(notes)
