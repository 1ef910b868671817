"""The selective curve: how often claims are right where an attacker makes only those that he is surest of."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.proportions import wilson
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.row_order import canonical
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
