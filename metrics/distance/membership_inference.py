"""Whether a release looks more like its members than like others: a classifier as membership attack."""

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedShuffleSplit

from synthrisk.metrics.distance.detection import check_folds
from synthrisk.metrics.intervals.rates import MembershipAttack, attack_summary, placements
from synthrisk.metrics.metric import Metric, Reduction, Score
from synthrisk.metrics.models.features import one_hot_features, ordinal_features
from synthrisk.metrics.models.threads import one_thread, threads
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.neighbours.records import SpaceName
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.row_order import among_equals, canonical
from synthrisk.metrics.tables.tables import Tables

_NAME = "membership_inference_risk"
_TREES = (30, 100)  # fewest and most
_FEWEST = 10  # records of a table of which PrivEval takes a recall
_GROWN = 600_000  # rows of all trees of a forest: with Adult, 30 trees find what 100 do (AUC 0.609, 0.610)


def advantage(auc: float) -> float:
    """Return max(0, 2 AUC - 1): 0 where the attack is no better than chance.

    Example:
        >>> advantage(0.5), advantage(0.75), advantage(0.3)
        (0.0, 0.5, 0.0)
    """
    return max(0.0, 2 * auc - 1)


def membership_inference_risk(tables: Tables, *, folds: int = 5, seed: int = 0) -> Score:
    """MIR: max(0, 2 AUC - 1) of a synthetic-against-control classifier on members against unseen control records.

    Extremely randomised trees (100; fewer from 6,000 records on, at least 30) learn the release (1) against control
    records (0). Members and control records are cut into folds. Those of a fold are scored by trees that never saw its
    control records, and are compared with each other, so that they differ only in whether the release was made from
    them. High = the release resembles its members more than other people: it gives away who was in. Rows are taken in
    canonical order; equal records share what chance gives them.

    The rates pool the folds, whose trees differ in few of their control records. Tried (Adult, 1,000 members and
    control records, of which 0, 10, 50 % released; 15 seeds; true rate at 0.01 from 12,000 others .010, .109, .505):
    pooled .010, .110, .505; folds apart .012, .112, .506: too high, since a fold has few control records.

    In a study a threshold can be set on ``memorization``, the mean score of members minus that of control records,
    whose interval covers both groups. A threshold on ``risk`` is refused: it is cut off at 0, so above 0 by chance, and
    at one release its interval takes the control records as given.

    Without control records the value is not defined, and ``published`` is PrivEval's recall: of the real records that
    trees tell from synthetic ones (a sanity check, no attack). The trees and their splits are those of its program
    (LightGBM's defaults, as scikit-learn has them; ``folds`` splits that hold 30 % of both tables back).

    The source: PrivEval's report takes for the risk the recall of real records by a classifier that tells them from
    synthetic ones; its program prints 1 - recall. Neither has control records, so neither attacks membership: a copy
    cannot be told from the real table, and has a low recall. That recall is ``published`` where no control records are
    given.

    Args:
        tables: Real records, release and control; or real records of both kinds, told apart by ``groups``.
        folds: At least 2; at most as many as there are members or control records. Without control records: how often
            the tables are split.
        seed: Seed of folds and trees.

    Returns:
        A ``Score``; ``records``: score (probability of being released, were there as many released as control records),
        placement (share of its fold's control records with a lower one, equal ones half), called (1 if the probability
        is above 0.5). ``published`` is the recall: the mean of called. Details: ``auc`` (mean placement);
        ``control_recall``; ``advantage``, ``tpr_at_<fpr>`` and ``missing_tpr_at_<fpr>`` with limits, over all folds
        together (``rates.attack_summary``; NaN with fewer than 10/fpr control records);
        and the same for minus the distance to the nearest synthetic record in gower space (``distance_...``).
        Not defined with fewer than two members or control records.

    Raises:
        InputError: ``folds`` breaks its rule, or a numeric column holds something else.

    Example:
        >>> real, control = pd.DataFrame({"x": range(10)}), pd.DataFrame({"x": range(20, 30)})
        >>> MEMBERSHIP_INFERENCE_RISK(real, real, control=control).value
        1.0
    """
    check_folds(folds)
    settings = {"folds": folds, "seed": seed}
    both = tables if tables.groups is not None or tables.control is None else tables.with_control()
    groups = np.ones(len(both.real), dtype=np.int64) if both.groups is None else both.groups
    used = min(folds, int((groups == 1).sum()), int((groups == 0).sum()))
    if used < 2:
        reason = _FEW if (groups == 0).any() else _NO_CONTROL
        records = pd.DataFrame(np.nan, index=tables.real.index, columns=["score", "placement", "called"])
        reduction = Reduction(float("nan"), _detection_recall(both, folds, seed), {"auc": float("nan")}, reason)
        return Score.of(_NAME, records, reduction, {}, settings)
    chance, placement = _scored(both, groups, used, seed)
    controls = chance[groups == 0]
    columns = {"score": chance, "placement": placement, "called": (chance > 0.5).astype(float)}
    rows = canonical(both).real * 3 + groups  # equal records of one kind
    records = pd.DataFrame({name: among_equals(v, rows) for name, v in columns.items()}, index=both.real.index)
    details = attack_summary(chance[groups == 1], controls).details()
    details |= {"control_recall": float(np.mean(controls > 0.5))} | distance_attack(both).details("distance_")
    if tables.groups is None:
        records = records.iloc[: len(tables.real)]
    return Score.of(_NAME, records, reduce_membership(records), details, settings)


_NO_CONTROL = "no control records: nobody to tell the members from"
_FEW = "fewer than two members or control records: nobody to tell apart"


def reduce_membership(records: pd.DataFrame) -> Reduction:
    """Return max(0, 2 AUC - 1), the recall, and the AUC, which is the mean placement."""
    auc = float(records["placement"].mean())
    missing = np.isnan(auc)
    value = float("nan") if missing else advantage(auc)
    return Reduction(value, float(records["called"].mean()), {"auc": auc}, _FEW if missing else None)


def _scored(tables: Tables, groups: np.ndarray, folds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each real record's probability by trees that never saw its fold's control records, and its placement."""
    # placements are among the fold's own control records: the trees of other folds have learned these
    features, ranks = ordinal_features(tables), canonical(tables)
    fold = np.empty(len(groups), dtype=np.int64)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        fold[rows] = _folds(ranks.real[rows], folds, seed_of(seed, "folds", int(group) + 1))
    released = features.synthetic[np.argsort(ranks.synthetic, kind="stable")]
    chance, placement = np.empty(len(groups)), np.empty(len(groups))
    for each in range(folds):
        seen = np.flatnonzero((groups == 0) & (fold != each))
        seen = seen[np.argsort(ranks.real[seen], kind="stable")]
        own = fold == each
        chance[own] = _probability(released, features.real[seen], features.real[own], seed_of(seed, each))
        placement[own] = placements(chance[own], chance[own & (groups == 0)])
    return chance, placement


def _detection_recall(tables: Tables, splits: int, seed: int) -> float:
    """Return PrivEval's recall: of the real records that boosted trees, which never saw them, tell from synthetic ones.

    Trees and splits are those of its program: LightGBM's defaults, and 30 % of both tables held back, as often as there
    are ``splits``. NaN where a table has fewer than 10 records, for which it prints 0.
    """
    if min(len(tables.real), len(tables.synthetic)) < _FEWEST:
        return float("nan")
    features, ranks = one_hot_features(tables), canonical(tables)
    sides = zip(features, (ranks.real, ranks.synthetic), strict=True)
    rows = np.vstack([cells[np.argsort(rank, kind="stable")] for cells, rank in sides])
    is_real = np.repeat([1, 0], [len(features.real), len(features.synthetic)])
    cut = StratifiedShuffleSplit(splits, test_size=0.3, random_state=seed_of(seed, "splits"))
    told = []
    with one_thread():
        for train, test in cut.split(rows, is_real):
            model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
            found = model.fit(rows[train], is_real[train]).predict(rows[test])
            told.append(found[is_real[test] == 1].mean())
    return float(np.mean(told))


def _folds(ranks: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return a fold for each row, of sizes that differ by at most one, whatever the order of the rows."""
    cut = np.empty(len(ranks), dtype=np.int64)
    cut[np.argsort(ranks, kind="stable")] = np.random.default_rng(seed).permutation(len(ranks)) % folds
    return cut


def _probability(ones: np.ndarray, zeros: np.ndarray, queries: np.ndarray, seed: int) -> np.ndarray:
    """Return each query's probability of being of the first class, if both classes were equally frequent."""
    trees = int(np.clip(_GROWN // (len(ones) + len(zeros)), *_TREES))
    model = ExtraTreesClassifier(trees, random_state=seed, n_jobs=threads())
    model.fit(np.vstack([ones, zeros]), np.repeat([1, 0], [len(ones), len(zeros)]))
    model.set_params(n_jobs=1)  # threads would add up the trees in an order of their own
    zero, one = (model.predict_proba(queries) / (len(zeros), len(ones))).T
    return np.asarray(one / (one + zero))


MEMBERSHIP_INFERENCE_RISK = Metric(
    name=_NAME,
    function=membership_inference_risk,
    group="distance",
    needs=("control",),
    without_control=True,
    population=False,
    reference="PrivEval (hereditary-eu): docs/priveval.md; Lautrup et al. 2024, doi:10.1007/s10618-024-01081-4",
    mean=False,
    contribution="placement",
    transform=advantage,
    difference_only=True,
    unaveraged=(*MembershipAttack.limits(), *MembershipAttack.limits("distance_")),
    reduce=reduce_membership,
    check_values=check_folds,
)


def distance_attack(tables: Tables, space: SpaceName = "gower") -> MembershipAttack:
    """Return what the simplest attack achieves: the nearer a synthetic record, the likelier a member.

    The score is minus the distance to the nearest synthetic record; members and control records are told apart by
    ``tables.groups``.
    """
    assert tables.groups is not None  # noqa: S101 - callers make them
    nearness = -real_to_synthetic(tables, space).distances[:, 0]
    return attack_summary(nearness[tables.groups == 1], nearness[tables.groups == 0])
