"""Inference: claims that a target's sensitive value is v, by any attack, scored by a framework that alone knows it.

Attacks that guess a sensitive value: from the nearest records, from the key class, from a trained model.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.judging import (
    LIMITS,
    check_attempts,
    claimed_once,
    halves,
    ranks_to_draw_by,
    reduce_claims,
    sampled,
    shown_parts,
    shown_release,
    with_unknown,
)
from synthrisk.metrics.errors import BELOW_1, InputError, check_range, check_up_to
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.models.attackers import (
    ATTACKER_MODELS,
    AttackerModel,
    attacker_model,
    class_probabilities,
    predicted_values,
)
from synthrisk.metrics.models.features import level_codes
from synthrisk.metrics.neighbours.distances import same_by_sets, ties
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.register import named_attack
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.codes import factorized, joint_codes
from synthrisk.metrics.tables.entities import has, how_many, how_many_with
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables, shown
from synthrisk.metrics.tables.tolerance import (
    NANOSECONDS,
    Tolerance,
    absolute_tolerance,
    check_tolerance,
    is_close,
    is_close_to_own,
    share_close,
    too_wide,
)


def voted(owner: np.ndarray, rows: np.ndarray, secret: pd.Series, n: int) -> pd.DataFrame:
    """Return the most frequent value of each group of records, or the lower median of numbers.

    Of equally frequent values the one that is more frequent in the whole release is taken, then the one that the
    release names first.

    Args:
        owner: (v,) group of each vote, in [0, n).
        rows: (v,) record of the release that votes.
        secret: The column that is voted on; missing cells do not vote.
        n: Number of groups.

    Returns:
        A frame with n rows: ``guessed`` (missing where nobody votes) and ``confidence``, the share of the votes that
        name the guessed value.
    """
    present = secret.notna().to_numpy()
    owner, rows = owner[present[rows]], rows[present[rows]]
    found = pd.DataFrame({"guessed": pd.Series([None] * n, dtype=object), "confidence": np.full(n, np.nan)})
    if not len(owner):
        return found
    codes, levels = factorized(secret.astype(object).to_numpy())
    overall = np.bincount(codes[present], minlength=len(levels))
    pairs, counts = np.unique(owner * len(levels) + codes[rows], return_counts=True)
    groups, values = np.divmod(pairs, len(levels))
    if kind(secret) == "numeric":
        rank = np.empty(len(levels), dtype=np.int64)
        rank[np.argsort(np.asarray(levels), kind="stable")] = np.arange(len(levels))
        order = np.lexsort((rank[values], groups))
        groups, values, counts = groups[order], values[order], counts[order]
        total = np.bincount(groups, counts, n)
        up_to = np.cumsum(counts) - (np.cumsum(total) - total)[groups]
        chosen = np.flatnonzero((up_to >= total[groups] / 2) & (up_to - counts < total[groups] / 2))
    else:
        total = np.bincount(groups, counts, n)
        order = np.lexsort((values, -overall[values], -counts, groups))
        groups, values, counts = groups[order], values[order], counts[order]
        chosen = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    found.loc[groups[chosen], "guessed"] = np.asarray(levels, dtype=object)[values[chosen]]
    found.loc[groups[chosen], "confidence"] = counts[chosen] / total[groups[chosen]]
    return found


def nearest_record(
    release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator, neighbours: int = 1
) -> pd.DataFrame:
    """Guess the value that the nearest records of the release have, all that are as near as the k-th included.

    Distance: gower over the known columns; of a cell that stands for a set of values, to the nearest of these.
    ``confidence`` = share of the votes for the guessed value x (1 - mean
    distance of the k nearest). It never abstains, unless all that vote have no value.
    """
    check_neighbours(neighbours, len(release))
    view = _view(release, known)
    tied = ties(view, "real_to_synthetic", "gower", k=neighbours)
    owner, rows = np.repeat(np.arange(len(known)), np.diff(tied.starts)), tied.rows
    distance = nearest_distances(view, "real_to_synthetic", "gower", k=neighbours).mean(axis=1)
    found = voted(owner, rows, release[secret], len(known))
    return found.assign(confidence=found["confidence"] * (1 - distance)).set_index(known.index)


def key_class(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
    """Guess the most frequent value (a number: the lower median) among the records with exactly the target's key.

    It abstains where no record has it. ``confidence`` = share of those records that have the guessed value. A cell that
    stands for a set of values is each of them.
    """
    owner, rows = _holders(_view(release, known))
    return voted(owner, rows, release[secret], len(known)).set_index(known.index)


def _view(release: pd.DataFrame, known: pd.DataFrame) -> Tables:
    """Return both tables in the known columns, without those of which the release shows nothing."""
    whole = Tables(known, release[list(known.columns)])
    told = shown(whole, whole.columns)
    return whole if len(told) in (0, len(whole.columns)) else Tables(known[told], release[told])


def _holders(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a real record and a released one that has its values, or may have them."""
    if tables.sets.among(tables.columns):
        return same_by_sets(tables)
    keys = tables.codes(tables.columns)
    targets, holders = (pd.DataFrame({"key": side, "row": np.arange(len(side))}) for side in keys.tables)
    votes = targets.merge(holders, on="key", suffixes=("", "_held"))
    return votes["row"].to_numpy(), votes["row_held"].to_numpy()


def unanimous_class(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
    """Guess the value that all records with exactly the target's key have; abstain where they are divided or absent.

    Missing cells do not vote. ``confidence`` = (v + 1)/(v + 2) of v records that vote, by Laplace's rule of succession:
    the chance that one more has the value too. Numbers are unanimous where they are equal.
    """
    found = key_class(release, known, secret, rng)
    owner, rows = _holders(_view(release, known))
    votes = np.bincount(owner[release[secret].notna().to_numpy()[rows]], minlength=len(known))
    agreed = found["confidence"] == 1
    return found.assign(confidence=(votes + 1) / (votes + 2)).where(agreed)


NEAREST_RECORD = Attack("nearest_record", "inference", nearest_record, "GDA Score, inference; nearest neighbour")
UNANIMOUS_CLASS = Attack("unanimous_class", "inference", unanimous_class, "GDA Score, inference; Taub et al. 2018")
KEY_CLASS = Attack("key_class", "inference", key_class, "Taub et al. 2018; GDA Score, inference")


def model_attack(model: AttackerModel) -> Attack:
    """Return the attack that trains a model on the release and guesses what it finds likeliest.

    ``confidence`` is the probability of the guessed value; of a number there is none.
    """

    def attack(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
        columns = list(known.columns)
        present = release[secret].notna().to_numpy()
        if not present.any():
            return pd.DataFrame({"guessed": None, "confidence": np.nan}, index=known.index)
        tables = Tables(with_unknown(known, release), release)
        design = model.design(tables, columns, tables.columns)
        estimator = model.estimator(kind(release[secret]), int(rng.integers(2**32)), len(release))
        if kind(release[secret]) == "numeric":
            guessed: Any = predicted_values(estimator, design, as_floats(release[secret]))
            return pd.DataFrame({"guessed": guessed, "confidence": np.nan}, index=known.index)
        _, target, levels = level_codes(tables, secret, tables.columns)
        shown = design._replace(synthetic=design.synthetic[present])
        probabilities, classes = class_probabilities(estimator, shown, target[present])
        likeliest = probabilities.argmax(axis=1)
        guessed = levels[classes[likeliest]]
        return pd.DataFrame({"guessed": guessed, "confidence": probabilities.max(axis=1)}, index=known.index)

    return Attack(model.name, "inference", attack, "a model trained on the release")


def check_neighbours(neighbours: int, most: int | None = None) -> None:
    """Refuse a number of neighbours that a release cannot have."""
    check_up_to("neighbours", neighbours, most, "synthetic records")


def check_options(attack: Attack, neighbours: int | None) -> None:
    """Refuse neighbours that the attack does not take, or that no release has."""
    if neighbours is not None:
        attack.check_options({"neighbours": neighbours})
        check_neighbours(neighbours)


def guessed_column(
    tables: Tables, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str, metric: str
) -> tuple[list[str], str, np.ndarray]:
    """Return the columns known, the single one that is guessed, and which real records have a value there."""
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for {metric}, got {hidden!r}")
    susceptible = tables.real[hidden[0]].notna().to_numpy()
    if not susceptible.any():
        raise InputError(f"sensitive must have values in the real table, got missing cells only in {hidden[0]!r}")
    return known, hidden[0], susceptible


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
    known, secret, susceptible = guessed_column(tables, quasi_identifiers, sensitive, "inference")
    attack, truth, rng = resolved(attacker, model), tables.real[secret], np.random.default_rng(seed)
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
    check_options(resolved(attacker, model), neighbours)
    check_attempts(attempts)
    check_tolerance(tolerance)
    if tolerance is not None and not isinstance(tolerance, str):
        check_range("tolerance", tolerance, 0, BELOW_1, "a number in [0, 1)")
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
    records=Records(reduce=reduce_claims),
    yardsticks=Yardsticks(guess="guess", best_answer=best_answer),
    study=InStudy(unaveraged=LIMITS, answered=lambda details: details["claim_probability"]),
)
