"""What claims come to: the quantities of the GDA score, counted from one row an attempt."""

import numpy as np
import pandas as pd

from synthrisk.metrics.claims.selective_curve import selective_details
from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.intervals.yardsticks import gain
from synthrisk.metrics.metric import Reduction, mean_score
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_ranks import value_ranks

NO_CLAIM = "the attack made no claim"


def reduce_claims(records: pd.DataFrame) -> Reduction:
    """Return right claims / claims, and what the GDA score says beside it.

    Args:
        records: A row for each cell that might be attacked: ``susceptible`` (an attempt can be made), ``attempt`` (one
            was made), ``claim`` (it ended in a claim), ``score`` (1 right, 0 wrong, NaN no claim), ``baseline`` (share
            of entities with the claimed value), ``cells_known`` (of the target) and ``cells_read`` (the attempt's share
            of those of the release); for the selective curve ``confidence`` and ``half`` (``selective_curve.halves``).

    Returns:
        ``value`` = C. Details: ``attempts``, ``claims``, ``correct``; ``confidence`` C; ``statistical_confidence``
        S = mean baseline of the claims, also as ``guess``; ``confidence_improvement`` (C - S)/(1 - S), NaN at S = 1;
        ``claim_probability`` = claims/attempts; ``susceptibility`` = share of the column's cells
        for which an attempt can be made (the GDA view counts all cells of the table: ``gda_view.AttackView``);
        ``prior_knowledge`` = cells known / cells learned (claims); ``work`` = cells read / cells learned;
        ``selective_<share>`` with ``_lower``, ``_upper``, ``_baseline``: see ``selective_curve.selective_curve``.
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
