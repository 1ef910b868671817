"""How claims are judged: what an attack is shown, and how often its claims are right, from the surest to the last."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.intervals.proportions import wilson
from synthrisk.metrics.intervals.yardsticks import gain
from synthrisk.metrics.score import Reduction, mean_score
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.kinds import as_floats, kind
from synthrisk.metrics.tables.order import canonical, dense_ranks, lexicographic_ranks, value_ranks
from synthrisk.metrics.tables.tables import Tables

SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the attempts that end in a claim, at which details are given."""
FEWEST = 10
"""Claims that a share of all attempts must come to, for its precision to be estimable."""


class Point(NamedTuple):
    """A point of the curve; all NaN but ``share`` where it is not estimable."""

    share: float  # of the attempts that end in a claim
    precision: float  # share of right claims among them
    lower: float
    upper: float
    baseline: float  # S: share of entities for which these claims would be right, mean over them


class ClaimRule(NamedTuple):
    """Claims are made above a threshold, and with this chance at it."""

    threshold: float
    at: float


def selective_curve(
    surety: np.ndarray,
    right: np.ndarray,
    baseline: np.ndarray,
    half: np.ndarray,
    shares: Sequence[float] = SHARES,
    confidence: float = 0.95,
) -> list[Point]:
    """Return how often claims are right, of the attacker who claims about a share of his targets only.

    For a share q of the attempts: the threshold above which the share q of one half's attempts lie (ties by chance, so
    that it is exactly q) is used on the other half, both ways, so that no claim has a part in the threshold that it is
    judged by. The claims of both halves together have precision = sum w right / sum w, with w in [0, 1] the chance that
    an attempt ends in a claim. Confidence without information makes a flat curve.

    Args:
        surety: (n,) how sure the attack is of each attempt's claim; NaN where it abstains.
        right: (n,) 1 right, 0 wrong; anything where it abstains.
        baseline: (n,) share of entities for which the claim would be right.
        half: (n,) 0 or 1, the same for the same data: see ``halves``.
        shares: Shares of the attempts, in (0, 1].
        confidence: Level of the Wilson intervals, over the claims (tied ones count their share).

    Returns:
        A point a share. Not estimable where it is fewer than 10 of the attempts, or where the attack makes too few
        claims in a half to claim that share of it.

    Example:
        >>> sure, half = np.arange(100.0), np.arange(100) % 2
        >>> right = (sure >= 80).astype(float)
        >>> for p in selective_curve(sure, right, np.full(100, 0.2), half, shares=(0.05, 0.2, 0.5)):
        ...     print(p.share, round(p.precision, 2), round(p.lower, 2), round(p.upper, 2), round(p.baseline, 2))
        0.05 nan nan nan nan
        0.2 1.0 0.83 1.0 0.2
        0.5 0.41 0.28 0.55 0.2
    """
    claimed = ~np.isnan(surety)
    ordered = [np.sort(surety[claimed & (half == own)])[::-1] for own in (0, 1)]
    attempts = [int((half == own).sum()) for own in (0, 1)]
    points = []
    for share in shares:
        cuts = [claim_rule(each, share * n) for each, n in zip(ordered, attempts, strict=True)]
        weight = np.zeros(len(surety))
        for own, found in enumerate(cuts):
            if found is not None:
                weight[half != own] = taken(surety[half != own], found)
        estimable = None not in cuts and share * len(surety) > FEWEST - 1e-9
        points.append(_judged(share, weight, right, baseline, confidence, estimable=estimable))
    return points


def detail_of(share: float) -> str:
    """Return the name of the detail that holds the precision at a share of the attempts."""
    return f"selective_{share:g}"


LIMITS = tuple(f"{detail_of(share)}_{end}" for share in SHARES for end in ("lower", "upper"))
"""Names of the details that are limits of one release's curve."""


def selective_details(records: pd.DataFrame) -> dict[str, float]:
    """Return the curve of some claims as named floats: ``selective_<share>``, ``_lower``, ``_upper``, ``_baseline``.

    Args:
        records: A row a cell that might be attacked: ``attempt``, ``claim``, ``confidence`` (a claim without one is
            made after all others), ``score`` (1 right, 0 wrong), ``baseline``, ``half``.
    """
    made = records[records["attempt"].to_numpy(bool)]
    sure = made["confidence"].to_numpy(dtype=float)
    surety = np.where(made["claim"].to_numpy(bool), np.where(np.isnan(sure), -np.inf, sure), np.nan)
    right, baseline, half = (made[c].to_numpy(dtype=float) for c in ("score", "baseline", "half"))
    return named(selective_curve(surety, right, baseline, half))


def named(points: Sequence[Point]) -> dict[str, float]:
    """Return points as named floats."""
    found: dict[str, float] = {}
    for p in points:
        name = detail_of(p.share)
        found |= {name: p.precision, f"{name}_lower": p.lower, f"{name}_upper": p.upper, f"{name}_baseline": p.baseline}
    return found


def halves(tables: Tables, seed: int, scores: Literal["real", "synthetic"] = "real") -> np.ndarray:
    """Return 0 or 1 for each record of a table, at random, whatever the order of the rows.

    Equal records are in the same half, as are all records of an entity, and entities whose first records are equal.

    Example:
        >>> table = pd.DataFrame({"x": [3, 1, 2, 3]})
        >>> halves(Tables(table, table), seed=0).tolist(), halves(Tables(table[::-1], table), seed=0)[::-1].tolist()
        ([0, 0, 1, 0], [0, 0, 1, 0])
    """
    ranks = canonical(tables).real if scores == "real" else canonical(tables).synthetic
    if scores == "real" and tables.entities is not None:
        _, entity = np.unique(tables.entities, return_inverse=True)
        least = np.full(len(ranks), len(ranks) + len(tables.synthetic))
        np.minimum.at(least, entity, ranks)
        ranks = least[entity]
    kinds, own = np.unique(ranks, return_inverse=True)
    drawn = np.random.default_rng(seed_of(seed, "halves")).permutation(len(kinds)) % 2
    return np.asarray(drawn[own])


def claim_rule(ordered: np.ndarray, claims: float) -> ClaimRule | None:
    """Return the threshold above which that many lie, tied ones by their share; None where there are fewer.

    ``ordered`` has the highest value first; the number of claims, above 0, need not be whole.

    Example:
        >>> claim_rule(np.array([0.9, 0.5, 0.5, 0.1]), 1.5)
        ClaimRule(threshold=0.5, at=0.25)
    """
    claims = round(claims) if abs(claims - round(claims)) < 1e-9 else claims  # 0.1 x 30 is a little above 3
    if not 0 < claims <= len(ordered):
        return None
    threshold = float(ordered[int(np.ceil(claims)) - 1])
    above, up_to = (np.searchsorted(-ordered, -threshold, side=side) for side in ("left", "right"))
    return ClaimRule(threshold, float((claims - above) / (up_to - above)))


def taken(surety: np.ndarray, where: ClaimRule) -> np.ndarray:
    """Return the chance that each is claimed: 1 above the threshold, its share at it, 0 below and where NaN."""
    return np.where(surety > where.threshold, 1.0, np.where(surety == where.threshold, where.at, 0.0))


def _judged(
    share: float, weight: np.ndarray, right: np.ndarray, baseline: np.ndarray, confidence: float, *, estimable: bool
) -> Point:
    claims, made = float(weight.sum()), weight > 0
    if not estimable or not claims:  # none, where the halves have nothing in common
        return Point(share, np.nan, np.nan, np.nan, np.nan)
    precision, expected = (float(weight[made] @ values[made] / claims) for values in (right, baseline))
    low, high = wilson(precision, claims, confidence)
    return Point(share, precision, float(low), float(high), expected)


NO_CLAIM = "the attack made no claim"


def reduce_claims(records: pd.DataFrame) -> Reduction:
    """Return right claims / claims, and what the GDA score says beside it.

    Args:
        records: A row for each cell that might be attacked: ``susceptible`` (an attempt can be made), ``attempt`` (one
            was made), ``claim`` (it ended in a claim), ``score`` (1 right, 0 wrong, NaN no claim), ``baseline`` (share
            of entities with the claimed value), ``cells_known`` (of the target) and ``cells_read`` (the attempt's share
            of those of the release); for the selective curve ``confidence`` and ``half`` (``judging.halves``).

    Returns:
        ``value`` = C. Details: ``attempts``, ``claims``, ``correct``; ``confidence`` C; ``statistical_confidence``
        S = mean baseline of the claims, also as ``guess``; ``confidence_improvement`` (C - S)/(1 - S), NaN at S = 1;
        ``claim_probability`` = claims/attempts; ``susceptibility`` = share of the column's cells
        for which an attempt can be made (the GDA view counts all cells of the table: ``gda.AttackView``);
        ``prior_knowledge`` = cells known / cells learned (claims); ``work`` = cells read / cells learned;
        ``selective_<share>`` with ``_lower``, ``_upper``, ``_baseline``: see ``judging.selective_curve``.
    """
    claim, attempt = records["claim"].to_numpy(bool), records["attempt"].to_numpy(bool)
    claims, attempts = int(claim.sum()), int(attempt.sum())
    value = mean_score(records)
    luck = np.sort(records["baseline"].to_numpy(dtype=float)[claim])  # sorted: the same bits in any order of rows
    statistical = float(luck.mean()) if claims else float("nan")
    details = {
        "attempts": float(attempts),
        "claims": float(claims),
        "correct": float(np.nansum(records["score"].to_numpy(dtype=float))),
        "confidence": value,
        "statistical_confidence": statistical,
        "guess": statistical,
        "confidence_improvement": gain(value, statistical),
        "claim_probability": claims / attempts if attempts else float("nan"),
        "susceptibility": float(records["susceptible"].mean()),
        "prior_knowledge": _per(records["cells_known"], claims),
        "work": _per(records["cells_read"], claims),
    }
    if "half" in records:
        details |= selective_details(records)
    return Reduction(value, value, details, NO_CLAIM if np.isnan(value) else None)


def sampled(susceptible: np.ndarray, attempts: int, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which of the ``susceptible`` cells, (n,) booleans, are attacked: ``attempts`` drawn at random, or all.

    ``ranks``, (n,), are those of the rows by their values, so that their order has no part in who is drawn.
    """
    rows = np.flatnonzero(susceptible)
    if attempts >= len(rows):
        return susceptible.copy()
    chosen = np.zeros(len(susceptible), dtype=bool)
    chosen[rng.choice(rows[np.argsort(ranks[rows], kind="stable")], attempts, replace=False)] = True
    return chosen


def claimed_once(tables: Tables, claim: np.ndarray, value: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Return the claims that count, (n,) booleans: the same value of the same entity is one fact, claimed once.

    The surest claim counts, of equally sure ones that of the first record in the order of values. Members and control
    records are apart. All arrays are (n,): ``claim`` booleans, ``value`` the number of the value claimed,
    ``confidence`` perhaps NaN.
    """
    if tables.entities is None:
        return claim
    groups = np.ones(len(claim), dtype=np.int64) if tables.groups is None else tables.groups
    sure = np.where(np.isnan(confidence), -np.inf, confidence)
    order = np.lexsort((value_ranks(tables), -sure))
    order = order[claim[order]]
    facts = np.column_stack([groups, tables.entities, value])[order]
    counted = np.zeros(len(claim), dtype=bool)
    counted[order[np.unique(facts, axis=0, return_index=True)[1]]] = True
    return counted


def check_attempts(attempts: int | None) -> None:
    """Refuse a number of attempts that cannot be made."""
    if attempts is not None and not is_whole(attempts, 1):
        raise InputError(f"attempts must be a whole number of at least 1, or None for all, got {attempts!r}")


def _per(cells: pd.Series, claims: int) -> float:
    return float(cells.sum() / claims) if claims else float("nan")


class Parts(NamedTuple):
    """The distinct cells of some columns among the real records."""

    cells: pd.DataFrame  # (q, columns), in canonical order with a fresh index
    own: np.ndarray  # (n,) which of them each real record has


class ShownRelease(NamedTuple):
    """The release as an attack sees it."""

    cells: pd.DataFrame  # (m, columns), in canonical order with a fresh index
    rows: np.ndarray  # (m,) position in the release of each row shown


def shown_parts(tables: Tables, columns: Sequence[str]) -> Parts:
    """Return each distinct combination of values once, and which one each real record has.

    Their order depends on them and the release alone, not on other cells of a record, or how many records there are.

    Example:
        >>> real = pd.DataFrame({"x": [5, 3, 5], "y": [1, 2, 3]})
        >>> found = shown_parts(Tables(real, real), ["x"])
        >>> found.cells["x"].tolist(), found.own.tolist()
        ([3, 5], [1, 0, 1])
    """
    names = list(columns)
    _, first, own = np.unique(tables.codes(names).tables[0], return_index=True, return_inverse=True)
    parts = tables.real[names].iloc[first].reset_index(drop=True)
    ranks = dense_ranks(value_ranks(Tables(with_unknown(parts, tables.synthetic), tables.synthetic)))
    return Parts(parts.iloc[np.argsort(ranks)].reset_index(drop=True), ranks[own])


def with_unknown(known: pd.DataFrame, release: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of some targets with the other columns of the release, all cells of which are missing."""
    others = release[[c for c in release.columns if c not in known.columns]]
    return pd.concat([known, others.iloc[:0].reindex(known.index)], axis=1)


def shown_release(tables: Tables, columns: Sequence[str] | None = None) -> ShownRelease:
    """Return the release in an order that depends on its values alone; columns have the kinds of the real table.

    Raises:
        InputError: A column of the release cannot hold values of the real table's, or infinite numbers.
    """
    key, names = (None, tables.columns) if columns is None else (tuple(columns), list(columns))
    return tables.shared(("shown release", key), lambda: _shown(tables, names))


def _shown(tables: Tables, names: list[str]) -> ShownRelease:
    tables.check_comparable(names)
    cells = tables.synthetic[names].copy()
    for column in names:
        if kind(cells[column]) != tables.kind(column):
            numeric = tables.kind(column) == "numeric"
            cells[column] = as_floats(cells[column]) if numeric else cells[column].astype("category")
    rows = np.argsort(value_ranks(Tables(cells, cells)), kind="stable")
    return ShownRelease(cells.iloc[rows].reset_index(drop=True), rows)


def ranks_to_draw_by(tables: Tables) -> np.ndarray:
    """Return ranks of the real rows by their values, and of equal rows by all rows of their entities, (n,)."""
    ranks = value_ranks(tables)
    if tables.entities is None:
        return ranks
    _, own = np.unique(tables.entities, return_inverse=True)
    order = np.lexsort((ranks, own))
    rows = pd.Series(ranks[order]).groupby(own[order]).agg(tuple).tolist()
    place = {held: rank for rank, held in enumerate(sorted(set(rows)))}
    return lexicographic_ranks([ranks, np.array([place[held] for held in rows])[own]])
