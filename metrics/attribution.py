"""Why records are at risk: logistic regression of the flag on the quasi-identifiers, read as marginal effects.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", section 5.5.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import linalg, sparse, stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.kinds import is_temporal, kind
from synthrisk.metrics.spaces import center_and_spread
from synthrisk.metrics.subgroups import MISSING, NANOSECONDS_A_DAY, column_levels, finite_floats, scored, value_texts

RIDGE = 1e-3
"""Penalty RIDGE/2 |b|^2 on all coefficients but the intercept, of numerics in standard deviations and 0/1 dummies."""
RARE, LEVELS = 10, 20
"""Fewest records of a level, and most levels of a column, in the model."""
CROSSED_LEVELS, CROSSED_COLUMNS = 6, 12
"""Most levels of a column that interact, and most columns whose pairs are looked at."""
CURVE_POINTS, GRID_POINTS = 25, 9
"""Values of a numeric column in ``predictions`` and on the first axis of ``grids``."""
OTHER = "other"
_ALIASED = 1e-6

EFFECTS = ("column", "kind", "level", "reference", "records", "effect", "lower", "upper", "note")
PREDICTIONS = ("column", "kind", "level", "value", "records", "risk", "lower", "upper", "note")
COLUMNS = ("column", "kind", "reference", "statistic", "freedom", "p_value", "collinear_with")
INTERACTIONS = ("first", "second", "statistic", "freedom", "p_value", "p_holm", "left_out")
GRIDS = ("first", "second", "first_level", "first_value", "second_level", "records", "risk", "lower", "upper")
MERGED, LEFT_OUT = ("column", "level", "records", "into"), ("column", "crossed_with", "reason")


def _table(rows: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


@dataclass(frozen=True, eq=False)
class Attribution:
    """Which quasi-identifiers go with risk: effects, tests and predictions of a logistic regression.

    Attributes:
        records: Scored records.
        risk: Their mean score.
        confidence: Confidence level of all intervals.
        reason: Why there are no effects, or an empty string.
        effects: Average marginal effects, differences of probability. ``kind`` says which: ``level`` (P at ``level``
            minus P at ``reference``), ``one_sd`` (P with the value one standard deviation higher minus P) and
            ``per_unit`` (derivative of P per unit of a number, per day of a date or duration). ``note`` names what
            limits an effect.
        predictions: Mean predicted risk with all records at a level, or at a value (``value``: numbers as they are,
            dates in nanoseconds; the place of a level otherwise), with its interval.
        columns: Joint Wald test of each quasi-identifier in the main-effects model; ``statistic`` is chi-square.
        interactions: Joint Wald test of each pair, strongest first; ``p_holm`` is adjusted for all pairs,
            ``left_out`` counts combinations of levels with too few records for a column of their own.
        grids: Mean predicted risk at values of ``first`` (x axis) and ``second`` (lines) from the pair's model;
            ``records`` counts those at this combination of levels.
        merged: Levels that were put into another.
        left_out: Columns and pairs without an effect, or with a part left out, and why.
        notes: What else limits the numbers.
    """

    records: int
    risk: float
    confidence: float
    reason: str = ""
    effects: pd.DataFrame = field(default_factory=partial(_table, (), EFFECTS))
    predictions: pd.DataFrame = field(default_factory=partial(_table, (), PREDICTIONS))
    columns: pd.DataFrame = field(default_factory=partial(_table, (), COLUMNS))
    interactions: pd.DataFrame = field(default_factory=partial(_table, (), INTERACTIONS))
    grids: pd.DataFrame = field(default_factory=partial(_table, (), GRIDS))
    merged: pd.DataFrame = field(default_factory=partial(_table, (), MERGED))
    left_out: pd.DataFrame = field(default_factory=partial(_table, (), LEFT_OUT))
    notes: tuple[str, ...] = ()


class _Block(NamedTuple):
    """A quasi-identifier as model columns, of which each record has at most one that is not 0."""

    column: Hashable
    kind: str  # categorical, number, date, duration
    codes: np.ndarray  # (n,) level of each record; numerics: 0 = has a value, 1 = missing
    names: list[str]  # name of each level
    reference: int
    place: np.ndarray  # (n,) which model column, -1 = none
    value: np.ndarray  # (n,) its value
    rows: np.ndarray  # (levels, p) the model columns at each level
    crossed: list[int]  # levels that interact, beside the reference
    source: pd.Series
    center: float = 0.0
    spread: float = 0.0

    @property
    def is_numeric(self) -> bool:
        return self.kind != "categorical"


class _Model(NamedTuple):
    design: Any  # (n, p) sparse, the intercept first
    beta: np.ndarray
    covariance: np.ndarray
    null: np.ndarray  # (p, k) orthonormal: directions in which the design does not move
    freedom: int
    confidence: float

    @property
    def quantile(self) -> float:
        return float(stats.t.ppf(0.5 + self.confidence / 2, self.freedom))


def attribution(
    scores: Any,
    table: pd.DataFrame,
    quasi_identifiers: Sequence[str] | str,
    interactions: bool = True,
    confidence: float = 0.95,
    entities: Any = None,
) -> Attribution:
    """Explain which records are at risk by a logistic regression on the quasi-identifiers.

    logit P(at risk) = a + sum_j b_j x_j; numerics in standard deviations with a column "is missing", categoricals
    as dummies against their most frequent level. A share as score is a fractional response (Papke and Wooldridge
    1996). Average marginal effect of a level: 1/n sum_i P(i at the level) - P(i at the reference). Intervals: delta
    method, t quantile, robust sandwich covariance (summed by entity where given) with factor n/(n - p); they hold
    the table's records as given. Each pair of columns is tested in a model of its own, main effects of all columns
    plus the products of the two, so that small tables and many levels do not exhaust it.

    The fit is maximum likelihood with a ridge of ``RIDGE``: too small to move an estimable number (unlike Firth's
    correction, which moves all by O(1/n)) and enough where columns are collinear. Where all records of a level, or
    of an interacting combination, have the same flag, half a record of the other kind is added to it (Haldane and
    Anscombe), and its records count with variance P(1 - P): the sandwich alone would be 0. Columns that others
    determine are left out; where only some levels are collinear, their effects are marked and have no limits.

    Args:
        scores: (n,) 0/1 flags, or the share of releases in which a record was at risk; NaN = not scored, left out.
        table: (n, p) the records, in the order of the scores.
        quasi_identifiers: Columns that explain. Levels with fewer than ``RARE`` records are merged into "other", as
            are those beyond the 19 most frequent of a column with more than ``LEVELS``.
        interactions: Whether pairs of columns are tested, between their ``CROSSED_LEVELS`` most frequent levels; of
            more than ``CROSSED_COLUMNS`` columns, the strongest.
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
    blocks, merged, left_out = _blocks(known.records, known.columns)
    about: dict[str, Any] = {
        "records": len(y),
        "risk": float(np.sort(y).sum() / len(y)),
        "confidence": confidence,
        "merged": _table(merged, MERGED),
    }
    reason = _reason(y, blocks, units)
    if reason:
        return Attribution(**about, reason=reason, left_out=_table(left_out, LEFT_OUT))
    model = _fit(y, units, _design(blocks), [b.codes for b in blocks], confidence)
    tests = _column_tests(model, blocks)
    chosen = _strongest(blocks, tests, left_out) if interactions else []
    pairs = _pairs(y, units, model, blocks, chosen, left_out)
    return Attribution(
        **about,
        effects=_effects(model, blocks, y),
        predictions=_predictions(model, blocks, y),
        columns=tests,
        interactions=pairs[0],
        grids=pairs[1],
        left_out=_table(left_out, LEFT_OUT),
        notes=_notes(y, model),
    )


def _units(entities: Any, kept: np.ndarray) -> np.ndarray:
    """Return which independent unit each scored record belongs to."""
    if entities is None:
        return np.arange(kept.sum())
    column = pd.Series(entities)
    if len(column) != len(kept):
        raise InputError(f"entities must name one entity a record, got {len(column)} for {len(kept)} records")
    if column.isna().any():
        raise InputError(f"entities must name an entity for each record, got {int(column.isna().sum())} missing")
    return pd.factorize(column.to_numpy()[kept])[0]


def _reason(y: np.ndarray, blocks: list[_Block], units: np.ndarray) -> str:
    if y.min() == y.max():
        return "every scored record has the same score: there is nothing to explain"
    if not blocks:
        return "no quasi-identifier has two levels of enough records"
    return "all records are of one entity: effects have no interval" if units.max() == 0 else ""


# ---- columns of the model


def _blocks(table: pd.DataFrame, names: list[str]) -> tuple[list[_Block], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the model columns of each quasi-identifier, the levels merged, and the columns left out."""
    blocks, merged, left_out = [], [], []
    for name in names:
        block, into_other = (_numeric if kind(table[name]) == "numeric" else _categorical)(table[name])
        merged += into_other
        if isinstance(block, str):
            left_out.append((name, "", block))
        else:
            blocks.append(block)
    return _independent(blocks, left_out), merged, left_out


def _independent(blocks: list[_Block], left_out: list[tuple[Any, ...]]) -> list[_Block]:
    """Return the blocks without those that the others determine, narrow ones and late names first."""
    while blocks:
        design = _design(blocks)
        shared = _null(_gram(design.T.tocsr(), design, np.ones(design.shape[0])))
        owns = [_own(blocks, block) for block in blocks]
        inside = [i for i, own in enumerate(owns) if (linalg.svdvals(shared[own]) > _ALIASED).sum() == len(own)]
        if not inside:
            break
        gone = min(inside, key=lambda i: (len(owns[i]), -i))
        left_out.append((blocks[gone].column, "", f"determined by {_partners(shared, blocks, gone, owns[gone])}"))
        blocks = [block for i, block in enumerate(blocks) if i != gone]
    return blocks


def _partners(null: np.ndarray, blocks: Sequence[_Block], at: int, own: np.ndarray) -> str:
    """Return the columns that share a direction of no movement with the model columns ``own`` of block ``at``."""
    shared = np.linalg.norm(null @ null[own].T, axis=1) > _ALIASED
    return ", ".join(str(b.column) for i, b in enumerate(blocks) if i != at and shared[_own(blocks, b)].any())


def _categorical(column: pd.Series) -> tuple[_Block | str, list[tuple[Any, ...]]]:
    found = column_levels(column, None)
    counts = np.bincount(found.codes)
    order = np.lexsort((np.arange(len(counts)), -counts))  # of equally frequent levels the first in level order
    frequent = [int(code) for code in order if counts[code] >= RARE]
    if len(frequent) + (len(frequent) < len(counts)) > LEVELS:
        frequent = frequent[: LEVELS - 1]
    if not frequent:
        return f"every level has fewer than {RARE} records", []
    kept = sorted(frequent)
    others = sorted(set(range(len(counts))) - set(kept))
    names = [found.names[code] for code in kept]
    other = OTHER if OTHER not in names else f"({OTHER})"
    merged = [(column.name, found.names[code], int(counts[code]), other) for code in others]
    if len(kept) + bool(others) < 2:
        return "constant", merged
    names += [other] if others else []
    rank = np.full(len(counts), len(kept))
    rank[kept] = np.arange(len(kept))
    codes = rank[found.codes]
    reference = kept.index(frequent[0])
    places = np.arange(len(names)) - (np.arange(len(names)) > reference)
    places[reference] = -1
    block = _Block(
        column=column.name,
        kind="categorical",
        codes=codes,
        names=names,
        reference=reference,
        place=places[codes],
        value=np.ones(len(codes)),
        rows=(places[:, None] == np.arange(len(names) - 1)).astype(float),
        crossed=sorted(kept.index(code) for code in frequent[1:CROSSED_LEVELS]),
        source=column,
    )
    return block, merged


def _numeric(column: pd.Series) -> tuple[_Block | str, list[tuple[Any, ...]]]:
    values = finite_floats(column)
    missing = np.isnan(values)
    if (~missing).sum() < RARE:
        return f"fewer than {RARE} records have a value", []
    largest = np.abs(values[~missing]).max() or 1.0  # so that no square overflows
    center, spread = (largest * part for part in center_and_spread(values / largest))
    own_level, width = bool(missing.sum() >= RARE), int(spread > 0)
    merged = [] if own_level or not missing.any() else [(column.name, MISSING, int(missing.sum()), "the mean")]
    if not own_level and not width:
        return "constant", merged
    rows = np.zeros((1 + own_level, width + own_level))
    rows[1:, width:] = 1
    block = _Block(
        column=column.name,
        kind={"M": "date", "m": "duration"}[column.dtype.kind] if is_temporal(column) else "number",
        codes=(missing & own_level).astype(int),
        names=["mean", MISSING][: 1 + own_level],
        reference=0,
        place=np.where(missing, width if own_level else -1, width - 1),
        value=np.where(missing, 1.0, (values - center) / (spread or 1.0)),
        rows=rows,
        crossed=[],
        source=column,
        center=center,
        spread=spread,
    )
    return block, merged


def _sparse(place: np.ndarray, value: np.ndarray, width: int) -> Any:
    """Return the (n, width) matrix with each record's value at its place."""
    there = np.flatnonzero(place >= 0)
    return sparse.csr_matrix((value[there], (there, place[there])), shape=(len(place), width))


def _design(blocks: Sequence[_Block]) -> Any:
    parts = [_sparse(b.place, b.value, b.rows.shape[1]) for b in blocks]
    return sparse.hstack([np.ones((parts[0].shape[0], 1)), *parts], format="csr")


def _own(blocks: Sequence[_Block], block: _Block) -> np.ndarray:
    """Return which columns of the design are the block's."""
    start = 1
    for each in blocks:
        if each is block:
            break
        start += each.rows.shape[1]
    return np.arange(start, start + block.rows.shape[1])


# ---- the fit


def _fit(
    y: np.ndarray,
    units: np.ndarray,
    design: Any,
    groups: Iterable[np.ndarray],
    confidence: float,
    start: np.ndarray | None = None,
) -> _Model:
    target, extra = _softened(y, units, groups)
    across = design.T.tocsr()
    null = _null(_gram(across, design, np.ones(len(y))))
    beta = _coefficients(design, target, start)
    penalty = RIDGE * (np.arange(len(beta)) > 0)
    p = expit(design @ beta)
    inverse = linalg.inv(_gram(across, design, p * (1 - p)) + np.diag(penalty))
    beta = beta + inverse @ (across @ (target - p) - penalty * beta)  # a last Newton step
    n, rank, count = len(y), len(beta) - null.shape[1], int(units.max()) + 1
    residual, weight = y - p, p * (1 - p)
    meat = _gram(across, design, residual**2 if count == n else np.zeros(n), extra * weight)
    if count < n:
        sums = sparse.csr_matrix((residual, (units, np.arange(n)))) @ design
        meat = meat + (sums.T @ sums).toarray()
    factor = n / max(n - rank, 1) if count == n else count / (count - 1) * (n - 1) / max(n - rank, 1)
    dispersion = min(1.0, float((residual**2 + extra * weight).sum() / weight.sum()))
    covariance = _floored(factor * inverse @ meat @ inverse, dispersion * inverse, null)
    freedom = max(n - rank if count == n else count - 1, 1)
    return _Model(design, beta, covariance, null, freedom, confidence)


def _floored(sandwich: np.ndarray, plain: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return the sandwich, with the model's own variance in directions where it is ten times as large or more.

    There the fit passes through the records (separation) or entities are few: residuals do not measure what is not
    known. Directions of ``null`` are left alone: the ridge settles them, and the effects concerned are marked.
    """
    basis = linalg.null_space(null.T) if null.size else np.eye(len(plain))
    root = linalg.cholesky(basis.T @ (plain + plain.T) @ basis / 2, lower=True)
    half = linalg.solve_triangular(root, basis.T @ sandwich @ basis, lower=True)
    values, vectors = linalg.eigh(linalg.solve_triangular(root, half.T, lower=True))
    low = values < 0.1
    raised = basis @ root @ vectors[:, low] * np.sqrt(1 - values[low])
    return sandwich + raised @ raised.T


def _softened(y: np.ndarray, units: np.ndarray, groups: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with half a unit of the other kind in each group of one flag, and weights of its variance."""
    shift, extra = np.zeros(len(y)), np.zeros(len(y))
    for codes in groups:
        there = codes >= 0
        counts, sums = np.bincount(codes[there]), np.bincount(codes[there], y[there])
        for code in np.flatnonzero((counts > 0) & ((sums == 0) | (sums == counts))):
            inside = codes == code
            count = len(np.unique(units[inside]))
            shift[inside] = np.maximum(shift[inside], 0.5 / (count + 1))
            extra[inside] = np.maximum(extra[inside], inside.sum() / count)
    return np.where(y == 0, shift, np.where(y == 1, 1 - shift, y)), extra


def _coefficients(design: Any, target: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """Return intercept and coefficients; a share counts as both flags, weighted."""
    share = np.flatnonzero((target > 0) & (target < 1))
    x = design[:, 1:]
    model = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-6, max_iter=200, warm_start=True)
    if start is not None:
        model.intercept_, model.coef_ = start[:1], start[None, 1:]
    weight = np.concatenate([np.where(target > 0, target, 1.0), 1 - target[share]])
    model.fit(
        sparse.vstack([x, x[share]], format="csr") if len(share) else x,
        np.concatenate([target > 0, np.zeros(len(share), dtype=bool)]),
        sample_weight=weight,
    )
    return np.concatenate([model.intercept_, model.coef_[0]])


def _gram(across: Any, design: Any, *weights: np.ndarray) -> np.ndarray:
    """Return X'WX, the weights summed; ``across`` is X' by rows."""
    weighted = design.copy()
    weighted.data = design.data * np.repeat(sum(weights), np.diff(design.indptr))
    return (across @ weighted).toarray()


def _null(gram: np.ndarray) -> np.ndarray:
    """Return orthonormal directions, (p, k), in which the design does not move."""
    size = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    values, vectors = linalg.eigh(gram / np.outer(size, size))
    return linalg.orth(vectors[:, values < 1e-9] / size[:, None])


def _wald(model: _Model, own: np.ndarray) -> tuple[float, int, float]:
    """Return chi-square, its degrees of freedom and p of the estimable part of some coefficients."""
    _, size, directions = linalg.svd(model.null[own].T)
    basis = directions[(size > _ALIASED).sum() :].T if len(size) else np.eye(len(own))
    found, covariance = basis.T @ model.beta[own], basis.T @ model.covariance[np.ix_(own, own)] @ basis
    if not len(found):
        return 0.0, 0, 1.0
    values, vectors = linalg.eigh(covariance)
    there = values > 1e-10 * values.max()
    chi2 = float((((vectors.T @ found) ** 2)[there] / values[there]).sum())
    freedom = int(there.sum())
    return chi2, freedom, float(stats.f.sf(chi2 / freedom, freedom, model.freedom))


# ---- effects and predictions: means over the records of a probability, and the delta method


def _margins(model: _Model, own: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean P with the columns ``own`` set to each row, (k,), and its gradients in all coefficients, (k, p)."""
    n = model.design.shape[0]
    others = model.beta.copy()
    others[own] = 0
    rest, shift = model.design @ others, rows @ model.beta[own]
    risk, gradient = np.empty(len(rows)), np.empty((len(rows), len(model.beta)))
    step = max(1, 4_000_000 // n)
    for at in range(0, len(rows), step):
        p = expit(rest[:, None] + shift[at : at + step])
        risk[at : at + step] = p.mean(axis=0)
        p *= 1 - p
        gradient[at : at + step] = (model.design.T @ p).T / n
        gradient[at : at + step, own] = p.mean(axis=0)[:, None] * rows[at : at + step]
    return risk, gradient


def _spreads(model: _Model, gradient: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, model.covariance, gradient), 0))


def _limits(model: _Model, risk: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of mean probabilities, made on the logit scale."""
    inside = np.clip(risk, 1e-12, 1 - 1e-12)
    middle = np.log(inside / (1 - inside))
    half = model.quantile * _spreads(model, gradient) / (inside * (1 - inside))
    return expit(middle - half), expit(middle + half)


def _effects(model: _Model, blocks: Sequence[_Block], y: np.ndarray) -> pd.DataFrame:
    found = []
    for at, block in enumerate(blocks):
        found += _level_effects(model, blocks, at, y)
        if block.spread > 0:
            found += _numeric_effects(model, blocks, at)
    return _table(found, EFFECTS)


def _level_effects(model: _Model, blocks: Sequence[_Block], at: int, y: np.ndarray) -> list[tuple[Any, ...]]:
    """Return P(level) - P(reference) of each level.

    Where a level has one flag only, its P lies near 0 or 1 and the delta method is too sure of it: the limits are
    then put together from the limits l, u of both P as Newcombe's are, d - sqrt((P - l)^2 + (u_0 - P_0)^2).
    """
    block, zero = blocks[at], blocks[at].reference
    risk, gradient = _margins(model, _own(blocks, block), block.rows)
    one_flag, collinear = _one_flag(block, y), _collinear(model, blocks, at)
    lower, upper = _widened(model, _own(blocks, block), block.rows, one_flag, *_limits(model, risk, gradient))
    half = model.quantile * _spreads(model, gradient - gradient[zero])
    counts = np.bincount(block.codes, minlength=len(block.names))
    found = []
    for code, name in enumerate(block.names):
        if code == zero:
            continue
        below = above = half[code]
        if one_flag[code] or one_flag[zero]:
            below = np.hypot(risk[code] - lower[code], upper[zero] - risk[zero])
            above = np.hypot(upper[code] - risk[code], risk[zero] - lower[zero])
        effect = risk[code] - risk[zero]
        ends = (-1.0, 1.0) if collinear[code] else (max(effect - below, -1.0), min(effect + above, 1.0))
        few = f"fewer than {RARE} records" if counts[code] < RARE else ""
        note = "; ".join(text for text in (collinear[code], one_flag[code], few) if text)
        found.append((block.column, "level", name, block.names[zero], counts[code], effect, *ends, note))
    return found


def _one_flag(block: _Block, y: np.ndarray) -> list[str]:
    """Return, for each level, whether all or none of its records are at risk, or an empty string."""
    counts, sums = (np.bincount(block.codes, w, minlength=len(block.names)) for w in (None, y))
    texts = {0: "none at risk", 1: "all at risk"}
    return [texts.get(share, "") for share in sums / counts]


def _widened(
    model: _Model, own: np.ndarray, rows: np.ndarray, one_flag: Sequence[str], lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of mean P that, at levels of one flag, hold those of P at both limits of the coefficient.

    There the coefficient is so uncertain that mean P is no straight line in it.
    """
    lower, upper = lower.copy(), upper.copy()
    for code, row in enumerate(rows):
        if one_flag[code] and row.any():
            at = own[row != 0][0]
            others = model.beta.copy()
            others[own] = 0
            half = model.quantile * np.sqrt(model.covariance[at, at])
            ends = [expit(model.design @ others + model.beta[at] + shift).mean() for shift in (-half, half)]
            lower[code], upper[code] = min(lower[code], ends[0]), max(upper[code], ends[1])
    return lower, upper


def _collinear(model: _Model, blocks: Sequence[_Block], at: int) -> list[str]:
    """Return, for each level (a numeric's first: its value), the columns it cannot be told apart from."""
    block, own = blocks[at], _own(blocks, blocks[at])
    columns = [own[row != 0] for row in block.rows]
    if block.spread > 0:
        columns[0] = own[:1]
    partners = [_partners(model.null, blocks, at, each) for each in columns]
    return [f"collinear with {names}" if names else "" for names in partners]


def _numeric_effects(model: _Model, blocks: Sequence[_Block], at: int) -> list[tuple[Any, ...]]:
    """Return the change of P for one standard deviation more, and the derivative of P, over records with a value."""
    block, own, note = blocks[at], _own(blocks, blocks[at])[0], _collinear(model, blocks, at)[0]
    there = np.flatnonzero(block.place == 0)
    design, slope = model.design[there], model.beta[own]
    eta = design @ model.beta
    before, after = expit(eta), expit(eta + slope)
    low, high = before * (1 - before), after * (1 - after)
    first = design.T @ (high - low) / len(there)
    first[own] += high.mean()
    second = design.T @ (slope * low * (1 - 2 * before)) / len(there)
    second[own] += low.mean()
    if block.kind == "number":
        size = value_texts(block.source, np.array([block.spread]))[0]
        sd, unit, scale = f"+1 sd ({size})", "per unit", 1 / block.spread
    else:
        days = block.spread / NANOSECONDS_A_DAY
        sd, unit, scale = f"+1 sd ({days:.3g} days)", "per day", 1 / days
    found = []
    for label, effect, gradient, bound, factor in (
        (("one_sd", sd, "as it is"), (after - before).mean(), first, 1.0, 1.0),
        (("per_unit", unit, ""), slope * low.mean() * scale, second, np.inf, scale),
    ):
        half = np.inf if note else model.quantile * _spreads(model, gradient[None])[0] * factor
        ends = (max(effect - half, -bound), min(effect + half, bound))
        found.append((block.column, *label, len(there), effect, *ends, note))
    return found


def _predictions(model: _Model, blocks: Sequence[_Block], y: np.ndarray) -> pd.DataFrame:
    parts = []
    for at, block in enumerate(blocks):
        names, rows, notes, one_flag = block.names, block.rows, _collinear(model, blocks, at), _one_flag(block, y)
        counts = np.bincount(block.codes, minlength=len(names))
        values = np.full(len(names), np.nan) if block.is_numeric else np.arange(len(names), dtype=float)
        if block.spread > 0:
            ends = _quantiles(block, np.array([0.01, 0.99]))
            curve = np.linspace(ends[0], ends[-1], CURVE_POINTS)
            names = value_texts(block.source, curve) + names[1:]
            values, rows = np.append(curve, values[1:]), np.vstack([_standardised(block, curve), rows[1:]])
            counts, notes = np.append(np.full(len(curve), counts[0]), counts[1:]), notes[:1] * len(curve) + notes[1:]
            one_flag = [""] * len(curve) + one_flag[1:]
        risk, gradient = _margins(model, _own(blocks, block), rows)
        lower, upper = _widened(model, _own(blocks, block), rows, one_flag, *_limits(model, risk, gradient))
        free = [note != "" for note in notes]
        found = (names, values, counts, risk, np.where(free, 0.0, lower), np.where(free, 1.0, upper), notes)
        parts += [(block.column, block.kind, *row) for row in zip(*found, strict=True)]
    return _table(parts, PREDICTIONS)


def _quantiles(block: _Block, shares: np.ndarray) -> np.ndarray:
    """Return quantiles of a numeric; where they are one value (most records have it), those of the others too."""
    values = finite_floats(block.source)[block.place == 0]
    found = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    if len(found) > 1:
        return found
    return np.unique(np.append(found, np.quantile(values[values != found[0]], shares, method="inverted_cdf")))


def _standardised(block: _Block, values: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(values), block.rows.shape[1]))
    rows[:, 0] = (values - block.center) / block.spread
    return rows


# ---- tests of columns and pairs


def _column_tests(model: _Model, blocks: Sequence[_Block]) -> pd.DataFrame:
    rows = []
    for at, block in enumerate(blocks):
        own = _own(blocks, block)
        reference = "" if block.is_numeric else block.names[block.reference]
        rows.append((block.column, block.kind, reference, *_wald(model, own), _partners(model.null, blocks, at, own)))
    return _table(rows, COLUMNS)


def _strongest(blocks: Sequence[_Block], tests: pd.DataFrame, left_out: list[tuple[Any, ...]]) -> list[_Block]:
    """Return the columns whose pairs are looked at."""
    order = _strength(tests)
    for i in order[CROSSED_COLUMNS:]:
        left_out.append((blocks[i].column, "any", f"interactions: not among the {CROSSED_COLUMNS} strongest columns"))
    chosen = [blocks[i] for i in sorted(order[:CROSSED_COLUMNS])]
    for block in chosen:
        if not block.is_numeric and len(block.names) > len(block.crossed) + 1:
            left_out.append((block.column, "any", f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"))
    return chosen


def _strength(tests: pd.DataFrame) -> np.ndarray:
    """Return the order of tests by p, and by chi-square per degree of freedom where p is 0."""
    ratio = tests["statistic"] / tests["freedom"].clip(lower=1)
    return np.lexsort((np.arange(len(tests)), -ratio, tests["p_value"]))


def _pairs(
    y: np.ndarray,
    units: np.ndarray,
    main: _Model,
    blocks: Sequence[_Block],
    chosen: Sequence[_Block],
    left_out: list[tuple[Any, ...]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    tests, grids = [], []
    for pair in combinations(chosen, 2):
        first, second = sorted(pair, key=lambda b: (b.spread == 0, -len(b.crossed), str(b.column)))
        cells, kept, dropped = _cells(first, second)
        names = (first.column, second.column)
        if not len(kept):
            left_out.append((*names, f"no combination of interacting levels has {RARE} records"))
            continue
        products = _sparse(cells, first.value * second.value, len(kept))
        design = sparse.hstack([main.design, products], format="csr")
        groups = [*(b.codes for b in blocks), _combinations(first, second, cells)]
        start = np.append(main.beta, np.zeros(len(kept)))
        model = _fit(y, units, design, groups, main.confidence, start)
        own = np.arange(len(main.beta), len(start))
        test = _wald(model, own)
        if test[1] == 0:
            left_out.append((*names, "the products add nothing to the main effects"))
            continue
        tests.append((*names, *test, np.nan, dropped))
        grids += _grid(model, blocks, first, second, own, kept)
    return _adjusted(tests), _table(grids, GRIDS)


def _crossed_places(block: _Block) -> np.ndarray:
    """Return which model columns of the block interact."""
    if block.is_numeric:
        return np.arange(int(block.spread > 0))
    return block.rows[block.crossed].argmax(axis=1).astype(int)


def _cells(first: _Block, second: _Block) -> tuple[np.ndarray, np.ndarray, int]:
    """Return each record's product column (-1 = none), which products have enough records, and how many have not."""
    widths, places = [], []
    for block in (first, second):
        crossed = _crossed_places(block)
        lookup = np.full(block.rows.shape[1] + 1, -1)  # the last place is picked by -1
        lookup[crossed] = np.arange(len(crossed))
        widths.append(len(crossed))
        places.append(lookup[block.place])
    size = widths[0] * widths[1]
    cells = np.where((places[0] >= 0) & (places[1] >= 0), places[0] * widths[1] + places[1], size)
    counts = np.bincount(cells, minlength=size + 1)[:size]
    kept = np.flatnonzero(counts >= RARE)
    rank = np.full(size + 1, -1)
    rank[kept] = np.arange(len(kept))
    return rank[cells], kept, size - len(kept)


def _combinations(first: _Block, second: _Block, cells: np.ndarray) -> np.ndarray:
    """Return the combination of levels of each record, -1 where the model does not fit it by itself."""
    at_reference = (first.codes == first.reference) | (second.codes == second.reference)
    own = (cells >= 0) | at_reference
    if first.is_numeric or second.is_numeric:
        own = np.zeros(len(cells), dtype=bool)
    return np.where(own, first.codes * len(second.names) + second.codes, -1)


def _grid(
    model: _Model, blocks: Sequence[_Block], first: _Block, second: _Block, own: np.ndarray, kept: np.ndarray
) -> list[tuple[Any, ...]]:
    labels, values, left, left_codes = _points(first, np.array([0.05, 0.95]), GRID_POINTS)
    lines, _, right, right_codes = _points(second, np.array([0.1, 0.5, 0.9]))
    at, line = (i.ravel() for i in np.indices((len(labels), len(lines))))
    a, b = left[at][:, _crossed_places(first)], right[line][:, _crossed_places(second)]
    products = (a[:, :, None] * b[:, None, :]).reshape(len(at), -1)[:, kept]
    columns = np.concatenate([_own(blocks, first), _own(blocks, second), own])
    risk, gradient = _margins(model, columns, np.hstack([left[at], right[line], products]))
    lower, upper = _limits(model, risk, gradient)
    counts = np.zeros((len(first.names), len(second.names)), dtype=int)
    np.add.at(counts, (first.codes, second.codes), 1)
    records = counts[left_codes[at], right_codes[line]]
    shown = ([labels[i] for i in at], values[at], [lines[i] for i in line], records, risk, lower, upper)
    return [(first.column, second.column, *row) for row in zip(*shown, strict=True)]


def _points(block: _Block, shares: np.ndarray, count: int = 0) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return names, values, model columns and levels of the points of a grid."""
    if block.is_numeric:
        values = _quantiles(block, shares)
        values = np.linspace(values[0], values[-1], count) if count else values
        return value_texts(block.source, values), values, _standardised(block, values), np.zeros(len(values), dtype=int)
    codes = np.array(sorted([block.reference, *block.crossed]))
    return [block.names[code] for code in codes], codes.astype(float), block.rows[codes], codes


def _adjusted(tests: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the tests, strongest first, with Holm's adjustment for all of them."""
    found = _table(tests, INTERACTIONS)
    found = found.iloc[_strength(found)].reset_index(drop=True)
    steps = found["p_value"] * np.arange(len(found), 0, -1)
    return found.assign(p_holm=steps.cummax().clip(upper=1))


def _notes(y: np.ndarray, model: _Model) -> tuple[str, ...]:
    notes = []
    if np.isin(y, (0, 1)).all() and np.abs(y - expit(model.design @ model.beta)).max() < 0.5:  # complete separation
        notes.append("the quasi-identifiers tell every flag: the size of effects rests on the penalty")
    if model.design.shape[1] - model.null.shape[1] >= len(y):
        notes.append("the model has as many columns as there are records: intervals are too short")
    return tuple(notes)
