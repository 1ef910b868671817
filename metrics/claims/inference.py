"""Inference: claims that a target's sensitive value is v, by any attack, scored by a framework that alone knows it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.attackers_view import ranks_to_draw_by, shown_parts, shown_release
from synthrisk.metrics.claims.inference_attacks import check_neighbours, model_attack
from synthrisk.metrics.claims.judging import check_attempts, claimed_once, reduce_claims, sampled
from synthrisk.metrics.claims.right_numbers import is_close, is_close_to_own, share_close
from synthrisk.metrics.claims.selective_curve import LIMITS, halves
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.models.attackers import ATTACKER_MODELS, AttackerModel, attacker_model
from synthrisk.metrics.named_attack import named_attack
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.entities import has, how_many, how_many_with
from synthrisk.metrics.tables.kinds import as_floats, is_temporal
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import NANOSECONDS, Tolerance, absolute_tolerance, check_tolerance, too_wide


def inference(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: str | Attack = "nearest_record",
    model: str | BaseEstimator | AttackerModel | None = None,
    neighbours: int | None = None,
    tolerance: Tolerance = None,
    scale: float | None = None,
    attempts: int | None = None,
    seed: int = 0,
) -> Score:
    """Inference: share of right claims among the claims that a target's sensitive value is v.

    The attack sees the release and each distinct combination of the targets' quasi-identifiers once, in an order that
    tells it nothing. Targets that look the same get the same claim. A claim is right where v is the target's value; of
    a number where |v - value| <= ``tolerance`` x max(|value|, ``scale``); of a date or duration where |v - value| <= 10
    % of the interquartile range of the real column, unless given. ``value = published = C = right claims / claims``, in
    [0, 1].

    A released cell that stands for a set of values (bands, beginnings of codes) is each of them where records are
    compared; where it is what is claimed, the claim is that v is in the set, and luck is the share of the real records
    in it. A suppressed cell claims nothing.

    Where an entity has several records, a claim is that entity e has value v: right if some record of e has v.
    S(v) = |{e: some record has v}| / |{e: some record has a value}| is the chance to be right by luck. Each fact counts
    once: of claims of one v about one e the surest, the others are attempts without a claim. More is claimed, and
    right, about an entity with more records, so that C lies above S even if a release says nothing.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: The one column guessed. A target without a value there cannot be attacked.
        attacker: ``nearest_record``, ``key_class``, the name of an attacker model (see ``rapid``) or of an installed
            attack, or an ``Attack``.
        model: An attacker model instead, by name or as a scikit-learn estimator.
        neighbours: How many nearest records vote (``nearest_record``); 1 unless given.
        tolerance: Share of the value within which a guessed number is right, in [0, 1), 0.05 unless given; of dates and
            durations a share of ``scale``. A duration (``"30 days"``) or a share of the column's interquartile range
            (``"0.1 iqr"``) is taken as it is, without ``scale``.
        scale: Least value that a share is taken of, in the column's unit (dates and durations: seconds); unless given
            the standard deviation in the real table (dates and durations: their interquartile range).
        attempts: Attack only so many targets, drawn at random; None attacks all.
        seed: Seed of the draw and of the attack.

    Returns:
        A ``Score``; ``records``: score (1 right, 0 wrong, NaN no claim), claim, guessed, truth, confidence, baseline
        (share of the real records for which the same claim would be right), attempt, susceptible, cells_known,
        cells_read, half (0 or 1: the halves of the selective curve). Details: those of ``judging.reduce_claims``
        and ``constant_guess`` (the success of the best constant claim).

    Raises:
        InputError: An argument breaks its rule, the attack's claims do, or no target has a value.

    Example:
        >>> real = pd.DataFrame({"age": [30, 40, 50, 60], "vote": ["a", "a", "b", "b"]})
        >>> release = pd.DataFrame({"age": [31, 49, 52, 90], "vote": ["a", "b", "b", "a"]})
        >>> found = INFERENCE(real, release, quasi_identifiers=["age"], sensitive="vote")
        >>> found.records["guessed"].tolist(), found.value
        (['a', 'a', 'b', 'b'], 1.0)
    """
    check_values(attacker, model, neighbours, tolerance, scale, attempts)
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for inference, got {hidden!r}")
    secret = hidden[0]
    attack = resolved(attacker, model)
    rng = np.random.default_rng(seed)
    truth = tables.real[secret]
    susceptible = truth.notna().to_numpy()
    if not susceptible.any():
        raise InputError(f"sensitive must have values in the real table, got missing cells only in {secret!r}")
    chosen = susceptible if attempts is None else sampled(susceptible, attempts, ranks_to_draw_by(tables), rng)
    options = {} if neighbours is None else {"neighbours": neighbours}
    claims = _claims(tables, attack, known, secret, chosen, rng, options)
    numeric = tables.kind(secret) == "numeric"
    judge = _judged_numbers if numeric else _judged_levels
    judged = _of_sets(tables, secret, claims["guessed"], judge(tables, secret, claims["guessed"], tolerance, scale))
    confidence = claims["confidence"].to_numpy(dtype=float)
    claim = claimed_once(tables, chosen & claims["guessed"].notna().to_numpy(), judged.claimed, confidence)
    records = pd.DataFrame(
        {
            "score": np.where(claim, judged.right, np.nan),
            "claim": claim,
            "guessed": claims["guessed"].where(claim).to_numpy(),
            "truth": truth.to_numpy() if numeric else truth.astype(object).to_numpy(),
            "confidence": np.where(claim, confidence, np.nan),
            "baseline": np.where(claim, judged.share, np.nan),
            "attempt": chosen,
            "susceptible": susceptible,
            "cells_known": np.where(chosen, float(len(known)), 0.0),
            "cells_read": np.where(chosen, tables.synthetic.size / chosen.sum(), 0.0),
            "half": halves(tables, seed),
        },
        index=tables.real.index,
    )
    reduced = reduce_claims(records)
    settings: dict[str, Any] = {"quasi_identifiers": known, "sensitive": secret, "attacker": attack.name, "seed": seed}
    settings |= {"tolerance": judged.tolerance} if numeric else {}
    details = {"constant_guess": judged.constant} | ({} if judged.days is None else {"tolerance_days": judged.days})
    return Score.of("inference", records, reduced, details, settings, judged.warning)


def resolved(
    attacker: str | Attack = "nearest_record", model: str | BaseEstimator | AttackerModel | None = None
) -> Attack:
    """Return the inference attack that is meant."""
    if model is not None:
        return model_attack(attacker_model(model))
    if isinstance(attacker, str) and attacker in ATTACKER_MODELS:
        return model_attack(ATTACKER_MODELS[attacker])
    return named_attack("inference", attacker, also=ATTACKER_MODELS)


def check_values(
    attacker: str | Attack = "nearest_record",
    model: str | BaseEstimator | AttackerModel | None = None,
    neighbours: int | None = None,
    tolerance: Tolerance = None,
    scale: float | None = None,
    attempts: int | None = None,
) -> None:
    """Refuse options of ``inference`` that break their rules."""
    attack = resolved(attacker, model)
    if neighbours is not None:
        attack.check_options({"neighbours": neighbours})
        check_neighbours(neighbours)
    check_attempts(attempts)
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    check_tolerance(tolerance)
    if tolerance is not None and not isinstance(tolerance, str) and (not number or not 0 <= tolerance < 1):
        raise InputError(f"tolerance must be a number in [0, 1), got {tolerance!r}")
    if isinstance(tolerance, str) and scale is not None:
        raise InputError(f"scale must be left out with a tolerance in units, got {scale!r}")
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 <= scale < np.inf):
        raise InputError(f"scale must be a number of at least 0, or None, got {scale!r}")


def best_answer(
    tables: Tables,
    *,
    sensitive: Sequence[str] | str,
    tolerance: Tolerance = None,
    scale: float | None = None,
    **_: object,
) -> float:
    """Return the share of the real records, or entities, with a value, for which the best constant claim is right."""
    (secret,) = tables.check_columns("sensitive", sensitive)
    if tables.kind(secret) == "categorical":
        return most_common(tables, secret)
    nobody = pd.Series(np.full(len(tables.real), np.nan), name=secret)
    return _judged_numbers(tables, secret, nobody, tolerance, scale).constant


def most_common(tables: Tables, secret: str) -> float:
    """Return the share of the real records, or entities, that have the commonest value, among those with a value."""
    codes = joint_codes([tables.real[secret]])[0]
    own = codes.tables[0]
    counts = how_many_with(own, codes.size, tables.entities)[:-1]  # the last is missing, which nobody claims
    return float(counts.max(initial=0) / max(how_many(own < codes.size - 1, tables.entities), 1))


def _claims(
    tables: Tables,
    attack: Attack,
    known: list[str],
    secret: str,
    chosen: np.ndarray,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> pd.DataFrame:
    parts = shown_parts(tables, known)
    targets = np.unique(parts.own[chosen])  # each distinct key once
    shown = parts.cells.iloc[targets].reset_index(drop=True)
    release = shown_release(tables).cells
    found = attack.claims(shown.index, release, shown, secret, rng, **options)[["guessed", "confidence"]]
    place = np.full(len(parts.cells), -1)
    place[targets] = np.arange(len(targets))
    rows = np.where(chosen, place[parts.own], 0)
    return found.iloc[rows].reset_index(drop=True)


class _Judged(NamedTuple):
    claimed: np.ndarray  # (n,) number of the value claimed
    right: np.ndarray  # (n,) whether the claim is right
    share: np.ndarray  # (n,) share of the real records, or entities, for which it would be
    constant: float  # the largest share that any claim could have
    tolerance: Tolerance = None  # of a number: the one in force
    days: float | None = None  # of a date or duration: the same in days
    warning: str | None = None


def _judged_levels(
    tables: Tables, secret: str, guessed: pd.Series, tolerance: Tolerance, scale: float | None
) -> _Judged:
    codes, _ = joint_codes([tables.real[secret], guessed.rename(secret)])
    truth, claimed = codes.tables
    counts = how_many_with(truth, codes.size, tables.entities)
    shares = counts / how_many(truth < codes.size - 1, tables.entities)  # the last is missing, which nobody claims
    return _Judged(claimed, has(truth, claimed, tables.entities), shares[claimed], float(shares[:-1].max()))


def _judged_numbers(
    tables: Tables, secret: str, guessed: pd.Series, tolerance: Tolerance, scale: float | None
) -> _Judged:
    temporal = is_temporal(tables.real[secret])
    truth = tables.floats(secret)[0]
    guessed = pd.Series(guessed.to_numpy(), dtype=tables.real[secret].dtype) if temporal else guessed
    claimed = as_floats(guessed.rename(secret))
    there, made, own = ~np.isnan(truth), ~np.isnan(claimed), tables.entities
    present, of_present = truth[there], None if own is None else own[there]
    rule, relative = _rule(tolerance, scale, present, temporal=temporal)
    share, right = np.full(len(claimed), np.nan), np.zeros(len(claimed), dtype=bool)
    if own is None:
        right = is_close(claimed, truth, *rule, relative=relative)
    else:
        right[made] = is_close_to_own(claimed[made], own[made], present, own[there], *rule, relative=relative)

    def shares(guesses: np.ndarray) -> np.ndarray:
        return share_close(guesses, present, *rule, relative=relative, entities=of_present)

    share[made] = shares(claimed[made])
    values = np.unique(claimed, return_inverse=True)[1]
    constant = float(shares(np.unique(present)).max())
    days = rule[0] * rule[1] / NANOSECONDS if temporal else None
    in_force = rule[0] if relative else tolerance
    return _Judged(values, right, share, constant, in_force, days, too_wide(constant, present, temporal=temporal))


def _of_sets(tables: Tables, secret: str, guessed: pd.Series, judged: _Judged) -> _Judged:
    """Return the judgement where what is claimed may be a set of values: right is who has one of them."""
    sets = tables.sets.columns.get(secret, {})
    if not sets:
        return judged
    real, claimed = tables.real[secret], guessed.astype(object).to_numpy()
    truth = real.astype(object).to_numpy()
    if tables.kind(secret) == "numeric":
        truth = tables.floats(secret)[0]
        claimed = as_floats(pd.Series(claimed, dtype=real.dtype if is_temporal(real) else float, name=secret))
    elif isinstance(real.dtype, pd.CategoricalDtype) and is_numeric_dtype(real.cat.categories.dtype):
        truth, claimed = (pd.to_numeric(pd.Series(each, dtype=object)).to_numpy(float) for each in (truth, claimed))
    right, share = judged.right.copy(), judged.share.copy()
    people, own = how_many(tables.real[secret].notna().to_numpy(), tables.entities), tables.entities
    for value, each in sets.items():
        here, held = claimed == value, each.holds(truth)
        share[here] = how_many(held, own) / people
        right[here] = (held if own is None else np.isin(own, own[held]))[here]
    return judged._replace(right=right, share=share)


def _rule(
    tolerance: Tolerance, scale: float | None, present: np.ndarray, *, temporal: bool
) -> tuple[tuple[float, float], bool]:
    if scale is not None or not (temporal or isinstance(tolerance, str)):
        share = 0.05 if tolerance is None else float(tolerance)
        width = float(np.std(np.sort(present))) if scale is None else scale * (1e9 if temporal else 1.0)
        return (share, width), not temporal
    found = absolute_tolerance(tolerance, present, temporal=temporal)
    assert found is not None  # noqa: S101 - temporal, or in units
    return (1.0, found), False


INFERENCE = Metric(
    name="inference",
    function=inference,
    group="claims",
    claims=True,
    needs=("quasi_identifiers", "sensitive"),
    reference="GDA Score (Francis, MPI-SWS, 2018); Article 29 Working Party, Opinion 05/2014",
    check_values=check_values,
    reduce=reduce_claims,
    guess="guess",
    unaveraged=LIMITS,
    answered=lambda details: details["claim_probability"],
    best_answer=best_answer,
)
