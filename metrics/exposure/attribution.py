"""Why records are at risk: logistic regression of the flag on the quasi-identifiers, read as marginal effects.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", section 5.5.

Pairs of quasi-identifiers, and few triples, are each tested in a model of its own with their products: of many pairs
only the strongest by their score tests get one. ``risk_gaps`` tells how far predicted risk lies apart between levels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.predicted_risk import (
    PLACES,
    Effect,
    Prediction,
    columns_of_grids,
    grid,
    marginal_effects,
    predictions,
)
from synthrisk.metrics.exposure.risk_model import (
    ColumnTest,
    RiskModel,
    column_tests,
    fit,
    independent,
    strongest_first,
    strongest_products,
    wald,
)
from synthrisk.metrics.exposure.risk_terms import (
    CROSSED_LEVELS,
    RARE,
    LeftOut,
    Merged,
    Products,
    Term,
    design_matrix,
    products,
    risk_terms,
    scored,
)
from synthrisk.metrics.intervals.distributions import holm
from synthrisk.metrics.intervals.estimates import Estimate

_TEST = ("statistic", "freedom", "p_value", "p_holm", "left_out")


def columns_of_tests(crossed: int) -> list[str]:
    """Return the columns of a table of tests of two or of three quasi-identifiers.

    Example:
        >>> columns_of_tests(2)
        ['first', 'second', 'statistic', 'freedom', 'p_value', 'p_holm', 'left_out']
    """
    return [*PLACES[:crossed], *_TEST]


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
            the strongest by a score test, which takes no fit (``risk_model.strongest_products``). And triples of
            the ``TRIPLED_COLUMNS`` columns of the strongest pairs, in models with all products of the three.
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
    separated = np.abs(y - scipy.special.expit(model.design @ model.beta)).max() < 0.5
    if np.isin(y, (0, 1)).all() and separated:
        notes.append("the quasi-identifiers tell every flag: the size of effects rests on the penalty")
    if model.design.shape[1] - model.null.shape[1] >= len(y):
        notes.append("the model has as many columns as there are records: intervals are too short")
    return tuple(notes)


CROSSED_COLUMNS = 12
"""Most columns whose pairs are looked at."""


FITTED_PAIRS = 12
"""Most pairs that are tested in a model of their own: all pairs of five columns, of more the strongest."""


TRIPLED_COLUMNS = 4
"""Columns whose triples are looked at: those of the strongest pairs."""


class Interactions(NamedTuple):
    """Tests of pairs, or of triples, with their predictions."""

    tests: pd.DataFrame  # ``columns_of_tests``, the strongest first
    grids: pd.DataFrame  # ``predicted_risk.columns_of_grids``
    left_out: list[LeftOut]


def pair_interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of the pairs of the strongest columns, by the ``tests`` of their main effects.

    Of more than ``FITTED_PAIRS`` pairs score tests tell the strongest (``risk_model.strongest_products``): these are
    tested in models of their own, the others are left out. ``p_holm`` is adjusted for all of them.
    """
    chosen, left_out = _strongest(terms, tests)
    kept, weaker = _screened(main, [_product(some) for some in combinations(chosen, 2)])
    found = _crossed(main, terms, kept, 2, len(weaker))
    beyond = f"interactions: not among the {FITTED_PAIRS} strongest pairs by their score tests"
    passed_over = [LeftOut(each.terms[0].column, each.terms[1].column, beyond) for each in weaker]
    return found._replace(left_out=left_out + found.left_out + passed_over)


def triple_interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of the triples of the columns of the strongest pairs, by the ``tests`` of pairs.

    The products of three are tested beside all main effects and the products of each two of the three. A triple of
    which no combination has enough records, or whose products add nothing, has no row.
    """
    names = tests[["first", "second"]].to_numpy(dtype=object).ravel()
    chosen = list(dict.fromkeys(names))[:TRIPLED_COLUMNS]
    every = [_product(some) for some in combinations([term for term in terms if term.column in chosen], 3)]
    return _crossed(main, terms, every, 3)


def _product(some: Iterable[Term]) -> Products:
    """Return the products of some terms, numbers on the first axis, else what has most levels."""
    return products(*sorted(some, key=lambda term: (term.spread == 0, -len(term.crossed), str(term.column))))


def _screened(main: RiskModel, every: Sequence[Products]) -> tuple[list[Products], list[Products]]:
    """Return the pairs to fit, in their order, and those that their score tests show to be weaker."""
    able = [i for i, each in enumerate(every) if len(each.kept)]
    if len(able) <= FITTED_PAIRS:
        return list(every), []
    strongest, nothing = strongest_products(main, [every[i] for i in able], FITTED_PAIRS)
    # what adds nothing says so when it is fitted
    weaker = sorted(set(able) - {able[i] for i in (*strongest, *nothing)})
    return [each for i, each in enumerate(every) if i not in weaker], [every[i] for i in weaker]


def _crossed(
    main: RiskModel, terms: Sequence[Term], every: Iterable[Products], size: int, weaker: int = 0
) -> Interactions:
    """Return the tests of the products of ``size`` terms, grids, and what is left out.

    Each test is made in a model of its own: all main effects, the products of each two of the terms, and of all.
    ``weaker`` counts the tests that are not made, for their p-values are larger.
    """
    found, points, left_out = [], [], []
    for crossed in every:
        first, second, *third = (term.column for term in crossed.terms)
        if not len(crossed.kept):
            left_out.append(LeftOut(first, second, f"no combination of interacting levels has {RARE} records"))
            continue
        added = [*crossed.inside, crossed]
        design = scipy.sparse.hstack([main.design, *(each.columns for each in added)], format="csr")
        groups = [*(term.codes for term in terms), *(each.groups for each in added)]
        start = np.append(main.beta, np.zeros(design.shape[1] - len(main.beta)))
        model = fit(design, main.scores, main.units, groups, main.confidence, start)
        own = np.arange(len(model.beta) - len(crossed.kept), len(model.beta))
        statistic, freedom, p = wald(model, own)
        if freedom == 0:
            left_out.append(LeftOut(first, second, "the products add nothing to the main effects"))
            continue
        found.append((first, second, *third, statistic, freedom, p, np.nan, crossed.left_out))
        points += grid(model, crossed, len(main.beta))
    tests = pd.DataFrame(found, columns=columns_of_tests(size))
    tests = tests.iloc[strongest_first(tests)].reset_index(drop=True)
    tests = tests.assign(p_holm=holm(tests["p_value"], weaker))
    return Interactions(tests, pd.DataFrame(points, columns=columns_of_grids(size)), left_out)


def _strongest(terms: Sequence[Term], tests: pd.DataFrame) -> tuple[list[Term], list[LeftOut]]:
    order = strongest_first(tests)
    beyond = f"interactions: not among the {CROSSED_COLUMNS} strongest columns"
    left_out = [LeftOut(terms[i].column, "any", beyond) for i in order[CROSSED_COLUMNS:]]
    chosen = [terms[i] for i in sorted(order[:CROSSED_COLUMNS])]
    rarer = f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"
    cut = [term for term in chosen if not term.is_numeric and len(term.names) > len(term.crossed) + 1]
    return chosen, left_out + [LeftOut(term.column, "any", rarer) for term in cut]


@dataclass(frozen=True)
class Gap:
    """One quasi-identifier whose levels differ in risk."""

    column: str
    lowest: Estimate  # mean predicted risk with all records at the level (or value) of least risk
    highest: Estimate
    rises: bool | None  # of numbers and dates, whether risk is highest at a larger value than it is lowest; else None
    p_holm: float  # joint Wald test of the column, adjusted for all columns


def risk_gaps(
    scores: Any,
    table: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
) -> list[Gap]:
    """Return the quasi-identifiers that go with risk, the widest gap first; none where the model has no effects.

    The model is that of ``attribution`` without interactions. The gap is between mean predicted risks with all records
    at one level; levels of fewer than ``RARE`` records and levels with a note have no part in it. A column whose joint
    test has Holm's p at or above 1 - confidence is left out. No value of the table is told.

    Args:
        scores: (n,) in [0, 1], NaN = not scored.
        table: (n, p) the records.
        quasi_identifiers: Columns that explain.
        confidence: Confidence level of the intervals and of the tests.
        entities: (n,) entity of each record, or None.

    Example:
        >>> people = pd.DataFrame({"sex": list("fmfm") * 50, "age": range(200)})
        >>> [gap.column for gap in risk_gaps([1, 0, 1, 1, 1, 0, 0, 0] * 25, people, ["sex", "age"])]
        ['sex']
    """
    found = attribution(scores, table, quasi_identifiers, False, confidence, entities)
    if found.reason:
        return []
    adjusted = dict(zip(found.columns["column"], holm(found.columns["p_value"].to_numpy(float)), strict=True))
    gaps = []
    for column, own in found.predictions.groupby("column", sort=False):
        known = own[(own["records"] >= RARE) & (own["note"] == "") & own["risk"].notna()].reset_index(drop=True)
        if len(known) < 2 or not adjusted[column] < 1 - confidence:
            continue
        risks, places = known["risk"].to_numpy(float), known["value"].to_numpy(float)
        low, high = int(risks.argmin()), int(risks.argmax())
        rises = None
        if known["kind"][low] != "categorical" and not np.isnan(places[[low, high]]).any():
            rises = bool(places[high] > places[low])
        limits = known[["risk", "lower", "upper"]].to_numpy(float)
        ends = Estimate(*limits[low]), Estimate(*limits[high])
        gaps.append(Gap(str(column), ends[0], ends[1], rises, float(adjusted[column])))
    return sorted(gaps, key=lambda gap: gap.lowest.value - gap.highest.value)
