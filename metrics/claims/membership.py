"""Membership: claims that a record was in the training data, by any attack, scored by a framework that knows it.

Attacks that say who was in the training data: by distances, by densities, by a classifier, by all three.

Each is handed the release and the distinct rows of the targets, members and others in no order that tells; each
target's neighbours among the other targets stand for the population that the release would resemble anyway.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from sklearn.ensemble import ExtraTreesClassifier

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference import check_neighbours, check_options
from synthrisk.metrics.claims.judging import (
    LIMITS,
    claim_rule,
    halves,
    named,
    selective_curve,
    shown_parts,
    shown_release,
    taken,
)
from synthrisk.metrics.errors import ABOVE_0, BELOW_1, check_range
from synthrisk.metrics.intervals.rates import MembershipAttack, attack_summary
from synthrisk.metrics.intervals.yardsticks import against_control, gain
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.models.features import ordinal_features
from synthrisk.metrics.models.threads import threads
from synthrisk.metrics.neighbours.distances import tie_counts
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.register import named_attack
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.order import canonical, value_ranks
from synthrisk.metrics.tables.tables import Tables, in_order

_DIGITS = 12  # differences of distances are equal but for rounding: what is tied must be found tied
_TREES = 50
_FOLDS = 3
_FEW_TREES = 25  # of the classifier in ``combined``: as much seen with the others, at a quarter of the time
_GROWN = 50_000 * _FEW_TREES  # records learned from x trees there, at most
_LEAST_TREES = 8
_TWO_FOLDS = 2
_LOW = 0.95  # of what a copy reads as, below which it is told


def combined(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how high the target ranks by nearness, by density and by a classifier together.

    ``confidence`` = mean over ``distance_difference``, ``density_ratio`` and ``classifier`` (25 trees, 2 folds) of
    -log(1 - (rank - 1/2)/q), the rank among the q targets, from the lowest (ties: their mean). It is Fisher's
    combination of three rank tests (Fisher 1932), in [0, log(2 q)]: high where any of them is very sure, low where all
    are low. Each finds leaks that the others miss, and none must be chosen beforehand. Where one abstains, the mean of
    the others. A fold that learns from more than 50,000 records, released and real, grows fewer trees, 8 at least, in
    as much time: they see as much together with the others (``benchmarks/membership.py trees``).

    Tried on Adult (2,000 members, 2,000 control records, 2 or 3 releases of each kind): true-positive rate at a
    false-positive rate of 1 %, and AUC.

    ==========================  =====================  ===============  ============  ============  ===============
    release                     distance_difference    density_ratio    classifier    combined      mean of ranks
    ==========================  =====================  ===============  ============  ============  ===============
    near copies                 .273  .840             .508  .826       .171  .727    .427  .833    .425  .829
    3 % copied                  .022  .510             .044  .514       .040  .509    .044  .507    .037  .508
    10 % copied                 .045  .540             .112  .547       .110  .546    .103  .552    .094  .551
    CART, leaves of 5           .038  .595             .059  .589       .073  .631    .064  .618    .059  .615
    CART, leaves of 20          .020  .548             .037  .547       .029  .577    .037  .568    .037  .566
    columns shuffled in threes  .020  .534             .020  .521       .021  .537    .025  .537    .023  .536
    fresh                       .010  .498             .014  .498       .009  .494    .015  .499    .013  .499
    ==========================  =====================  ===============  ============  ============  ===============

    Example:
        >>> known, release = pd.DataFrame({"x": range(40)}), pd.DataFrame({"x": range(0, 20)})
        >>> found = combined(release, known, np.random.default_rng(0))["confidence"]
        >>> bool(found[:20].min() > found[20:].max())
        True
    """
    view = _view(release, known)
    learned = len(release) + len(known) // _TWO_FOLDS
    trees = min(_FEW_TREES, max(_GROWN // learned, _LEAST_TREES))
    sure = np.stack([_nearer(view), _denser(view, 1), _more_like_the_release(view, rng, trees, _TWO_FOLDS)])
    sure = sure[~np.isnan(sure).any(axis=1)]
    ranks = (scipy.stats.rankdata(sure, axis=1) - 0.5) / len(known)
    return _said(-np.log1p(-ranks).mean(axis=0), known)


def distance_difference(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how much nearer the release comes to the target than other people do.

    ``confidence = d_t - d_s``, in [-1, 1]: distances in gower space over the known columns to the nearest other
    target and to the nearest synthetic record; of a cell there that stands for a set, to the nearest of its values.
    The first calibrates: a target in a crowd has near neighbours whether it was seen or not. (Of one target alone:
    ``-d_s``.)

    Example:
        >>> known, release = pd.DataFrame({"x": [0.0, 4.0, 10.0]}), pd.DataFrame({"x": [0.0, 6.0]})
        >>> distance_difference(release, known, np.random.default_rng(0))["confidence"].tolist()
        [0.4, 0.2, 0.2]
    """
    return _said(_nearer(_view(release, known)), known)


def density_ratio(
    release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator, neighbours: int = 1
) -> pd.DataFrame:
    """Say how much denser the release is at the target than people are.

    ``confidence = log(p_s / p_t)`` with the density of k nearest neighbours p = c/(n r^d): r the gower distance to
    the k-th nearest of n records, c how many lie within it (k, or more where there are ties), d the number of known
    columns. p_t is taken among the other targets (leave-one-out). Equal records lie at half the smallest distance
    that there is. Where there are fewer than k records, all of them.

    Args:
        release: The release.
        known: The targets.
        rng: Not used.
        neighbours: k, at least 1. With more than one a copy is not seen: the k-th nearest is another record.

    Example:
        >>> known, release = pd.DataFrame({"x": [0.0, 4.0, 10.0]}), pd.DataFrame({"x": [1.0, 6.0]})
        >>> found = density_ratio(release, known, np.random.default_rng(0))["confidence"]
        >>> np.exp(found).round(3).tolist()  # 4/1, 4/2, 6/4
        [4.0, 2.0, 1.5]
    """
    check_neighbours(neighbours)
    return _said(_denser(_view(release, known), neighbours), known)


def classifier(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how much the target looks like the release to a classifier that tells the release from people.

    ``confidence`` = log odds of release, from 50 extremely randomised trees that learned the release against the
    targets of other folds (3), were both as many: log((r + 1)/(t + 1)) of the trees' votes. A member whose copy was
    released falls where the copy is; another falls among people. One target alone: it abstains.
    """
    return _said(_more_like_the_release(_view(release, known), rng, _TREES, _FOLDS), known)


def _view(release: pd.DataFrame, known: pd.DataFrame) -> Tables:
    return Tables(known, release[list(known.columns)])


def _said(confidence: np.ndarray, known: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"confidence": np.round(confidence, _DIGITS)}, index=known.index)


def _nearer(view: Tables) -> np.ndarray:
    synthetic = nearest_distances(view, "real_to_synthetic", "gower")[:, 0]
    several = len(view.real) > 1
    others = nearest_distances(view, "real_to_real", "gower")[:, 0] if several else np.zeros(len(view.real))
    return np.round(others - synthetic, _DIGITS)


def _denser(view: Tables, neighbours: int) -> np.ndarray:
    k, targets = min(neighbours, len(view.synthetic)), len(view.real)
    radius = {"release": nearest_distances(view, "real_to_synthetic", "gower", k=k)[:, k - 1]}
    within = {"release": tie_counts(view, "real_to_synthetic", "gower", k=k) / len(view.synthetic)}
    if targets > 1:
        k = min(neighbours, targets - 1)
        radius["targets"] = nearest_distances(view, "real_to_real", "gower", k=k)[:, k - 1]
        within["targets"] = tie_counts(view, "real_to_real", "gower", k=k) / (targets - 1)
    positive = np.concatenate(list(radius.values()))
    least = positive[positive > 0].min(initial=1.0) / 2
    logs = {s: np.log(within[s]) - len(view.columns) * np.log(np.maximum(radius[s], least)) for s in radius}
    return np.round(logs["release"] - logs.get("targets", 0.0), _DIGITS)


def _more_like_the_release(view: Tables, rng: np.random.Generator, trees: int, most_folds: int) -> np.ndarray:
    targets = len(view.real)
    folds, chance = min(most_folds, targets), np.full(targets, np.nan)
    if folds > 1:
        features, ranks = ordinal_features(view), canonical(view)
        fold = rng.permutation(targets) % folds
        released = features.synthetic[np.argsort(ranks.synthetic, kind="stable")]
        for each in range(folds):
            seen, own = features.real[fold != each], fold == each
            at_once = threads(len(released) + len(seen))
            model = ExtraTreesClassifier(trees, random_state=int(rng.integers(2**32)), n_jobs=at_once)
            model.fit(np.vstack([released, seen]), np.repeat([1, 0], [len(released), len(seen)]))
            model.set_params(n_jobs=1)  # threads would add up the trees in an order of their own
            other, one = (model.predict_proba(features.real[own]) / (len(seen), len(released))).T
            chance[own] = one / (one + other)
    votes = chance * trees
    return np.asarray(np.round(np.log(votes + 1) - np.log(trees - votes + 1), _DIGITS))


_FISHER = "Fisher's combination of the other three; Fisher 1932, Statistical Methods for Research Workers, 4th edition"
_CALIBRATED = "Chen et al. 2020 (GAN-Leaks, calibrated), doi:10.1145/3372297.3417238; Hyeong et al. 2022"
_DOMIAS = "van Breugel et al. 2023 (DOMIAS), arXiv:2302.12580"
_CLASSIFIED = "density ratio by classification; Hayes et al. 2019, doi:10.2478/popets-2019-0008"
COMBINED = Attack("combined", "membership", combined, _FISHER)
DISTANCE_DIFFERENCE = Attack("distance_difference", "membership", distance_difference, _CALIBRATED)
DENSITY_RATIO = Attack("density_ratio", "membership", density_ratio, _DOMIAS)
CLASSIFIER = Attack("classifier", "membership", classifier, _CLASSIFIED)


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
    settings: dict[str, Any] = {
        "columns": known,
        "attacker": attack.name,
        "claim_share": float(claim_share),
        "seed": seed,
    }
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
    if tables.groups is not None:
        return Score.of("membership", records, reduce_claimed(records), details, settings)
    controls = records["score"][groups == 0]
    records = records.iloc[: len(tables.real)]
    details |= {"control": float(controls.mean())} | against_control(records["score"], controls)
    told = _too_few_claims(claim_share, groups[counted])
    return Score.of("membership", records, reduce_claimed(records), details, settings, told)


def _too_few_claims(claim_share: float, groups: np.ndarray) -> str | None:
    """Return what is told where fewer targets are claimed than there are members, by so much that it matters."""
    members = int((groups == 1).sum())
    most = claim_share * len(groups) / members
    if most >= _LOW:
        return None
    return (
        f"{len(groups) - members:,} control records for {members:,} members: a copy of the members reads as {most:.3f}"
        f" at most, since the {claim_share:.0%} of all that are claimed are fewer than they; draw as many members as"
        " control records, or set claim_share to the share of members"
    )


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
    check_options(named_attack("membership", attacker), neighbours)
    check_range("claim_share", claim_share, ABOVE_0, BELOW_1, "a number in (0, 1)")


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
    reference="GDA Score (Francis, MPI-SWS, 2018), linkability; Yeom et al. 2018, doi:10.1109/CSF.2018.00027",
    check_values=check_values,
    records=Records(reduce=reduce_claimed),
    yardsticks=Yardsticks(population=False),
    study=InStudy(difference_only=True, ranking="confidence", unaveraged=(*LIMITS, *MembershipAttack.limits())),
)
