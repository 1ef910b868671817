"""Inference in the form of the GDA score: claims that all people with certain values have one more in common."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference import guessed_column, most_common, resolved
from synthrisk.metrics.claims.judging import LIMITS, halves, reduce_claims, shown_parts, shown_release
from synthrisk.metrics.intervals.yardsticks import gain
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.codes import Codes, joint_codes
from synthrisk.metrics.tables.entities import has, how_many, how_many_with
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables

_NOBODY = "no claim is about a real record"


def group_inference(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: str | Attack = "unanimous_class",
    seed: int = 0,
) -> Score:
    """Group inference: share of the records that claims speak of whose claim "all with this key have v" is right.

    The attack sees the release alone. About each key (the values of the quasi-identifiers together) that occurs there
    it may claim once: all people with this key have the sensitive value v. The claim is right where some real record
    has the key and every real record with the key has v. Numbers must be equal: coarsen them with ``bins``. Real
    records without a sensitive value do not count. ``value = mean(score)`` over the real records with the key of a
    claim, in [0, 1], high = what the release says of whole groups is true. ``published`` is the source's confidence,
    which counts claims, not records: C = right claims / claims, where a claim about a key that nobody has is wrong.

    With control records a claim is judged on members and control records together, so that both face one truth. Judged
    apart, the smaller group would be unanimous more often, and control records would seem easier than members even if
    the release says nothing of either.

    Where an entity has several records, it has v if one of its records does.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns of the key.
        sensitive: The one column claimed.
        attacker: ``unanimous_class`` claims where all released records with the key agree; any attack of the kind
            ``inference``, or a model's name (see ``rapid``), which is handed the keys of the release as its targets.
        seed: Seed of the attack.

    Returns:
        A ``Score``; ``records``: score (1 right, 0 wrong, NaN no claim), claim, guessed, truth, confidence, baseline
        (share of the real records, or entities, that have v), attempt (the key occurs in the release), susceptible,
        cells_known (0: no target is known), cells_read, half, and what ``reduce_groups`` counts claims with: group
        (number of the claim), empty and empty_baseline (the record's share of the claims about nobody, and of their
        baselines). Details: those of ``judging.reduce_claims``, on records, and of ``reduce_groups``, on claims.

    Raises:
        InputError: An argument breaks its rule, the attack's claims do, or no real record has a value.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 40, 50], "vote": list("aabac")})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 50, 60], "vote": list("aabbb")})
        >>> score = GROUP_INFERENCE(real, release, quasi_identifiers=["age"], sensitive="vote")
        >>> score.records["score"].tolist(), score.value, score.published  # nobody is 60
        ([1.0, 1.0, 0.0, 0.0, 0.0], 0.4, 0.25)
    """
    known, secret, susceptible = guessed_column(tables, quasi_identifiers, sensitive, "group_inference")
    attack, truth = resolved(attacker), tables.real[secret]
    found = _claims(tables, attack, known, secret, np.random.default_rng(seed))
    judged = _judged(tables, found, secret, susceptible)
    attempt = susceptible & (found.of >= 0)
    claim = attempt & judged.made[found.of]
    of = np.where(claim, found.of, 0)
    nobody = judged.made & (np.bincount(of[claim], minlength=len(judged.made)) == 0)
    n = len(truth)
    records = pd.DataFrame(
        {
            "score": np.where(claim, judged.right[of], np.nan),
            "claim": claim,
            "guessed": found.claims["guessed"].iloc[of].where(claim).to_numpy(),
            "truth": truth.to_numpy() if tables.kind(secret) == "numeric" else truth.astype(object).to_numpy(),
            "confidence": np.where(claim, found.claims["confidence"].to_numpy(dtype=float)[of], np.nan),
            "baseline": np.where(claim, judged.share[of], np.nan),
            "attempt": attempt,
            "susceptible": susceptible,
            "cells_known": 0.0,
            "cells_read": np.where(attempt, tables.synthetic.size / max(attempt.sum(), 1), 0.0),
            "half": halves(tables, seed),
            "group": np.where(claim, of, -1),
            "empty": nobody.sum() / n,
            "empty_baseline": judged.share[nobody].sum() / n,
        },
        index=tables.real.index,
    )
    settings: dict[str, Any] = {"quasi_identifiers": known, "sensitive": secret, "attacker": attack.name, "seed": seed}
    details = {"constant_guess": judged.constant}
    return Score.of("group_inference", records, reduce_groups(records), details, settings)


def reduce_groups(records: pd.DataFrame) -> Reduction:
    """Return the share of records that a right claim speaks of, and the source's counts, a claim of a group once.

    Returns:
        The value and details of ``judging.reduce_claims``, on records. ``published`` and ``group_confidence`` C = right
        claims / claims; ``group_claims``, ``group_correct``, ``group_empty`` (claims about nobody, which are wrong;
        each of several groups of records has its share); ``group_statistical_confidence`` S = mean over the claims of
        the share of records, or entities, that have the value; ``group_confidence_improvement`` (C - S)/(1 - S).
    """
    found = reduce_claims(records)
    once = records[records["claim"].to_numpy(bool)].drop_duplicates("group").sort_values("group")
    empty = float(records["empty"].sum())
    claims, correct = len(once) + empty, float(once["score"].sum())
    shares = float(once["baseline"].astype(float).sum() + records["empty_baseline"].sum())
    confidence, statistical = (correct / claims, shares / claims) if claims else (float("nan"), float("nan"))
    details = {
        "group_claims": claims,
        "group_correct": correct,
        "group_empty": empty,
        "group_confidence": confidence,
        "group_statistical_confidence": statistical,
        "group_confidence_improvement": gain(confidence, statistical),
    }
    reason = _NOBODY if np.isnan(found.value) and claims else found.reason
    return found._replace(published=confidence, details=found.details | details, reason=reason)


def check_values(attacker: str | Attack = "unanimous_class") -> None:
    """Refuse options of ``group_inference`` that break their rules."""
    resolved(attacker)


def best_answer(tables: Tables, *, sensitive: Sequence[str] | str, **_: object) -> float:
    """Return the share of the real records, or entities, that have the commonest value, among those with a value."""
    return most_common(tables, tables.check_columns("sensitive", sensitive)[0])


class _Claims(NamedTuple):
    claims: pd.DataFrame  # (q,) guessed and confidence about each key of the release
    of: np.ndarray  # (n,) which of them speaks about each real record, -1 none


class _Judged(NamedTuple):
    made: np.ndarray  # (q,) whether a value is claimed
    right: np.ndarray  # (q,) whether all real records with the key have it
    share: np.ndarray  # (q,) share of the real records, or entities, that have it
    constant: float  # the largest share that any value has


def _claims(tables: Tables, attack: Attack, known: list[str], secret: str, rng: np.random.Generator) -> _Claims:
    release = shown_release(tables).cells
    keys = shown_parts(Tables(release, release), known).cells
    found = attack.claims(keys.index, release, keys, secret, rng)[["guessed", "confidence"]]
    codes = Tables(tables.real[known], keys).codes(known)
    place = np.full(codes.size, -1)
    place[codes.tables[1]] = np.arange(len(keys))
    return _Claims(found, place[codes.tables[0]])


def _judged(tables: Tables, found: _Claims, secret: str, susceptible: np.ndarray) -> _Judged:
    codes = _values(tables.real[secret], found.claims["guessed"].rename(secret))
    truth, claimed = codes.tables
    counts = how_many_with(truth, codes.size, tables.entities)
    shares = counts / how_many(susceptible, tables.entities)  # the last is missing, which nobody claims
    spoken = susceptible & (found.of >= 0)
    refuted = spoken & ~has(truth, np.where(spoken, claimed[found.of], -1), tables.entities)
    size, against = (np.bincount(found.of[rows], minlength=len(claimed)) for rows in (spoken, refuted))
    made = claimed < codes.size - 1
    return _Judged(made, made & (size > 0) & (against == 0), shares[claimed], float(shares[:-1].max()))


def _values(truth: pd.Series, guessed: pd.Series) -> Codes:
    if is_temporal(truth):
        guessed = pd.Series(guessed.to_numpy(), dtype=truth.dtype, name=guessed.name)
    return joint_codes([truth, guessed])[0]


GROUP_INFERENCE = Metric(
    name="group_inference",
    function=group_inference,
    group="claims",
    claims=True,
    needs=("quasi_identifiers", "sensitive"),
    reference="GDA Score (Francis, MPI-SWS, 2018), inference: all users with attributes A, B, C have X",
    check_values=check_values,
    looks_up=True,
    records=Records(reduce=reduce_groups),
    yardsticks=Yardsticks(guess="guess", best_answer=best_answer),
    study=InStudy(unaveraged=LIMITS),
)
