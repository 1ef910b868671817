"""Membership: claims that a record was in the training data, by any attack, scored by a framework that knows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.attackers_view import shown_parts, shown_release
from synthrisk.metrics.claims.inference_attacks import check_neighbours
from synthrisk.metrics.claims.selective_curve import LIMITS, claim_rule, halves, named, selective_curve, taken
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.rates import MembershipAttack, attack_summary
from synthrisk.metrics.intervals.yardsticks import against_control, gain
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.named_attack import named_attack
from synthrisk.metrics.tables.tables import Tables, in_order
from synthrisk.metrics.tables.value_ranks import value_ranks


def membership(
    tables: Tables,
    *,
    columns: Sequence[str] | None = None,
    attacker: str | Attack = "combined",
    neighbours: int | None = None,
    claim_share: float = 0.5,
    seed: int = 0,
) -> Score:
    """Membership: share of members that an attack claims were in the training data, at a fixed share of claims.

    Targets are members and control records together. The attack sees the release and the distinct rows of the targets,
    in an order that tells it nothing, and says how likely each was in the training data. That is claimed of the
    ``claim_share`` of the targets with the highest confidence (ties by their share): ``score`` = 1 claimed, 0 not.
    ``value = published`` = share of members claimed (true-positive rate); ``control`` = share of control records
    claimed (false-positive rate). Without information both are ``claim_share`` on average: only the difference is a
    signal. It is at most min(1, claim_share / S) with S the share of members among the targets.

    Where an entity has several records it is one target, as sure as the surest of them; the score is at its first
    record in the order of values.

    Args:
        tables: Real records, release and control; or real records of both kinds, told apart by ``groups`` (those
            that are neither are shown to the attack too, and count nowhere; a study leaves them out).
        columns: What the attacker knows of a target: what his table and the protected one have in common; all
            unless given.
        attacker: ``combined``, ``distance_difference``, ``density_ratio``, ``classifier``, the name of an installed
            attack, or an ``Attack``.
        neighbours: k of ``density_ratio``; 1 unless given.
        claim_share: Share of the targets claimed, in (0, 1).
        seed: Seed of the attack, and of the halves of the selective curve.

    Returns:
        A ``Score``; ``records``: score, claim, confidence, baseline (= S). Details: ``auc``, ``advantage`` (largest
        difference over all cuts), ``tpr_at_<fpr>`` with limits (``rates.attack_summary``; NaN with fewer than
        10/fpr control records), and ``missing_tpr_at_<fpr>``, the same where the least likely are said to be members:
        high where rows near members were left out of the release;
        of the claims: ``attempts claims correct confidence`` (C = members claimed / claimed)
        ``statistical_confidence`` (S) ``confidence_improvement claim_probability susceptibility prior_knowledge
        work``, as in ``judging.reduce_claims``; ``selective_<share>`` (``selective_curve``); called with ``control=``,
        also ``control``, ``control_difference`` and ``control_gain`` with limits. Not defined without
        members or without control records.

    Raises:
        InputError: An argument breaks its rule, or what the attack returns does.

    Example:
        >>> real, control = pd.DataFrame({"x": [0, 10, 20]}), pd.DataFrame({"x": [5, 15, 25]})
        >>> found = MEMBERSHIP(real, real, control=control)
        >>> found.value, found.details["control"], found.details["auc"]
        (1.0, 0.0, 1.0)
    """
    check_values(columns, attacker, neighbours, claim_share)
    known = in_order(tables.columns if columns is None else tables.check_columns("columns", columns))
    attack = named_attack("membership", attacker)
    settings: dict[str, Any] = {"columns": known, "attacker": attack.name, "claim_share": claim_share, "seed": seed}
    settings |= {} if neighbours is None else {"neighbours": neighbours}
    both = tables if tables.groups is not None or tables.control is None else tables.with_control()
    groups = np.ones(len(both.real), dtype=np.int64) if both.groups is None else both.groups
    if not (groups == 1).any() or not (groups == 0).any():
        records = pd.DataFrame(np.nan, index=both.real.index, columns=["score", "claim", "confidence", "baseline"])
        return Score.of("membership", records.assign(claim=False), reduce_claimed(records), {}, settings)
    options = {} if neighbours is None else {"neighbours": neighbours}
    sure = _confidence(both, attack, known, np.random.default_rng(seed), options)
    sure, is_target = (sure, np.ones(len(sure), dtype=bool)) if both.entities is None else _surest(both, groups, sure)
    counted = is_target & (groups >= 0)
    score = np.full(len(sure), np.nan)
    score[counted] = _claimed(sure[counted], claim_share)
    share = float((groups[counted] == 1).mean())
    records = pd.DataFrame(
        {
            "score": score,
            "claim": score > 0,
            "confidence": np.where(is_target, sure, np.nan),
            "baseline": np.where(counted, share, np.nan),
        },
        index=both.real.index,
    )
    ranked = np.where(np.isnan(sure), -np.inf, sure)  # who abstains finds a target less likely than any other
    details = attack_summary(ranked[is_target & (groups == 1)], ranked[is_target & (groups == 0)]).details()
    shown = int((groups >= 0).sum()) * len(known)
    details |= _of_claims(score[counted], groups[counted] == 1, shown, both.synthetic.size)
    half = halves(both, seed)[counted]
    curve = selective_curve(sure[counted], groups[counted] == 1, np.full(len(half), share), half)
    details |= named(curve)
    if tables.groups is None:
        controls = records["score"][groups == 0]
        records = records.iloc[: len(tables.real)]
        details |= {"control": float(controls.mean())} | against_control(records["score"], controls)
    return Score.of("membership", records, reduce_claimed(records), details, settings)


def reduce_claimed(records: pd.DataFrame) -> Reduction:
    """Return the share of records claimed: of members the true-, of control records the false-positive rate."""
    value = mean_score(records)
    return Reduction(value, value, {}, "no members or no control records" if np.isnan(value) else None)


def check_values(
    columns: Sequence[str] | None = None,
    attacker: str | Attack = "combined",
    neighbours: int | None = None,
    claim_share: float = 0.5,
) -> None:
    """Refuse options of ``membership`` that break their rules; ``columns`` are checked with the tables."""
    attack = named_attack("membership", attacker)
    if neighbours is not None:
        attack.check_options({"neighbours": neighbours})
        check_neighbours(neighbours)
    if isinstance(claim_share, bool) or not isinstance(claim_share, int | float) or not 0 < claim_share < 1:
        raise InputError(f"claim_share must be a number in (0, 1), got {claim_share!r}")


def _confidence(
    tables: Tables, attack: Attack, known: list[str], rng: np.random.Generator, options: dict[str, Any]
) -> np.ndarray:
    shown, own = shown_parts(tables, known)
    release = shown_release(tables, in_order(tables.columns)).cells
    found = attack.claims(shown.index, release, shown, rng, **options)
    return found["confidence"].to_numpy(dtype=float)[own]


def _surest(tables: Tables, groups: np.ndarray, sure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure the attack is of each record's entity, and which records are the first of theirs by value."""
    # Values alone decide, so that in a study it is the same record against every release. An entity with members and
    # control records, which no split makes, is two.
    assert tables.entities is not None  # noqa: S101 - the caller asks first
    order = np.argsort(value_ranks(Tables(tables.real, tables.real)), kind="stable")
    names = np.column_stack([groups, tables.entities])
    _, first, whose = np.unique(names[order], axis=0, return_index=True, return_inverse=True)
    own = np.empty(len(sure), dtype=np.int64)
    own[order] = whose
    surest = np.full(len(first), -np.inf)
    np.fmax.at(surest, own, sure)
    is_first = np.zeros(len(sure), dtype=bool)
    is_first[order[first]] = True
    return np.where(np.isneginf(surest), np.nan, surest)[own], is_first


def _claimed(sure: np.ndarray, share: float) -> np.ndarray:
    ordered = np.sort(sure[~np.isnan(sure)])[::-1]
    where = claim_rule(ordered, share * len(sure))
    return (~np.isnan(sure)).astype(float) if where is None else taken(sure, where)


def _of_claims(score: np.ndarray, member: np.ndarray, known: int, read: int) -> dict[str, float]:
    """Return what the GDA score says of claims: ``known`` cells of the targets, ``read`` cells of the release."""
    claims, correct, attempts = float(score.sum()), float(score[member].sum()), len(score)
    confidence, statistical = correct / claims if claims else np.nan, float(member.mean())
    return {
        "attempts": float(attempts),
        "claims": claims,
        "correct": correct,
        "confidence": confidence,
        "statistical_confidence": statistical,
        "confidence_improvement": gain(confidence, statistical) if claims else np.nan,
        "claim_probability": claims / attempts,
        "susceptibility": 1.0,
        "prior_knowledge": known / claims if claims else np.nan,
        "work": read / claims if claims else np.nan,
    }


MEMBERSHIP = Metric(
    name="membership",
    function=membership,
    group="claims",
    claims=True,
    needs=("control",),
    population=False,
    reference="GDA Score (Francis, MPI-SWS, 2018), linkability; Yeom et al. 2018, doi:10.1109/CSF.2018.00027",
    difference_only=True,
    check_values=check_values,
    reduce=reduce_claimed,
    ranking="confidence",
    unaveraged=(*LIMITS, *MembershipAttack.limits()),
)
