"""How well a small network tells real from synthetic records: a sanity check.

Whether a release looks more like its members than like others: a classifier as membership attack.
"""

from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from synthrisk.metrics.errors import check_whole
from synthrisk.metrics.intervals.rates import MembershipAttack, attack_summary, placements
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.models.features import one_hot_features, ordinal_features
from synthrisk.metrics.models.threads import one_thread, side_by_side, threads
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.neighbours.records import SpaceName
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.order import among_equals, canonical
from synthrisk.metrics.tables.tables import Tables

_SEEN = 160_000  # rows that a network sees in all: 200 epochs of 800
_BATCH = 400
_WAY = 0.2  # rate of learning times epochs: scikit-learn's rate and 200 epochs, or fewer and longer steps


def indistinguishable(auc: float) -> float:
    """Return clip(2(1 - AUC), 0, 1): 1 where nothing tells the tables apart, 0 where every record is told.

    Example:
        >>> indistinguishable(0.4), indistinguishable(0.75), indistinguishable(1.0)
        (1.0, 0.5, 0.0)
    """
    return float(np.clip(2 * (1 - auc), 0, 1))


def detection_mlp(tables: Tables, *, folds: int = 5, seed: int = 0) -> Score:
    """D-MLP: clip(2(1 - AUC), 0, 1) of a network that tells real from synthetic records it was not trained on.

    High = synthetic records look like real ones. That is what a good release does too, so the value is no privacy
    claim; it moves with the seed (with 120 records by about 0.1). ``published`` is the AUC: the mean over stratified
    folds, each counted by its real records.

    The network has one hidden layer of 100 units (scikit-learn's default) and sees 160,000 rows, in 10 to 200 epochs,
    the fewer the larger its steps; six times as many rows tell no more apart. It is not stopped early: with some
    thousand records that would be far too early. Inputs: numerics (missing: mean, and a column that says so) and a 0/1
    column a level, standardised on each fold's training records, in canonical order (``row_order``).

    The source: PrivEval's report takes the AUC itself for the risk (``published``, and ``auc`` among the details): high
    = told apart. Its program prints 1 - AUC: high = not told apart. We have the program's direction, since a copy
    cannot be told from the real table, on a scale that reaches 1. The program's network has two layers, stops early,
    and sees the columns in an order that differs from run to run.

    Args:
        tables: Real (n records) and synthetic (m records).
        folds: At least 2; at most as many as the smaller table has records.
        seed: Seed of folds and networks.

    Returns:
        A ``Score``; ``records``: placement (share of the fold's synthetic records that look less real, equal
        ones half), score (1 - placement). Not defined where a table has one record.

    Raises:
        InputError: ``folds`` breaks its rule, or a numeric column holds something else.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3], "c": ["a", "b", "a", "b"]})
        >>> DETECTION_MLP(real, real.assign(x=real["x"] + 100), folds=2).value
        0.0
    """
    check_folds(folds)
    used = min(folds, len(tables.real), len(tables.synthetic))
    placement = np.full(len(tables.real), np.nan)
    if used > 1:
        placement = among_equals(_placements(tables, used, seed), canonical(tables).real)
    records = pd.DataFrame({"score": 1 - placement, "placement": placement}, index=tables.real.index)
    return Score.of("detection_mlp", records, reduce_detection(records), {}, {"folds": folds, "seed": seed})


def reduce_detection(records: pd.DataFrame) -> Reduction:
    """Return the value at the mean placement, which is the AUC."""
    auc = float(records["placement"].mean())
    reason = "a table of one record cannot be cut into folds" if np.isnan(auc) else None
    return Reduction(indistinguishable(auc), auc, {"auc": auc}, reason)


def check_folds(folds: int = 5) -> None:
    """Refuse a number of folds that is none."""
    check_whole("folds", folds, 2)


def _placements(tables: Tables, folds: int, seed: int) -> np.ndarray:
    features, ranks = one_hot_features(tables), canonical(tables)
    orders = [np.argsort(each, kind="stable") for each in (ranks.real, ranks.synthetic)]
    rows = np.vstack([features.real[orders[0]], features.synthetic[orders[1]]])
    is_real = np.repeat([1, 0], [len(features.real), len(features.synthetic)])
    found = np.empty(len(features.real))
    cut = StratifiedKFold(folds, shuffle=True, random_state=seed_of(seed, "folds"))

    def learn(part: tuple[int, tuple[np.ndarray, np.ndarray]]) -> None:
        fold, (train, test) = part
        model = _network(len(train), seed_of(seed, fold)).fit(rows[train], is_real[train])
        chance, real = model.predict_proba(rows[test])[:, 1], is_real[test] == 1
        found[orders[0][test[real]]] = placements(chance[real], chance[~real])

    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # it stops at its last epoch
        side_by_side(learn, enumerate(cut.split(rows, is_real)))
    return found


def _network(rows: int, seed: int) -> Pipeline:
    epochs = int(np.clip(_SEEN // rows, 10, 200))
    return make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        FunctionTransformer(np.float32),  # half the work
        MLPClassifier(
            batch_size=min(_BATCH, rows), learning_rate_init=_WAY / epochs, max_iter=epochs, random_state=seed
        ),
    )


DETECTION_MLP = Metric(
    name="detection_mlp",
    function=detection_mlp,
    group="distance",
    reference="PrivEval (hereditary-eu): docs/priveval.md; Qian et al. 2023, doi:10.48550/arXiv.2301.07573",
    label="sanity",
    check_values=check_folds,
    records=Records(reduce=reduce_detection, mean=False, contribution="placement", transform=indistinguishable),
)

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
    model = ExtraTreesClassifier(trees, random_state=seed, n_jobs=threads(len(ones) + len(zeros)))
    model.fit(np.vstack([ones, zeros]), np.repeat([1, 0], [len(ones), len(zeros)]))
    model.set_params(n_jobs=1)  # threads would add up the trees in an order of their own
    zero, one = (model.predict_proba(queries) / (len(zeros), len(ones))).T
    return np.asarray(one / (one + zero))


MEMBERSHIP_INFERENCE_RISK = Metric(
    name=_NAME,
    function=membership_inference_risk,
    group="distance",
    needs=("control",),
    reference="PrivEval (hereditary-eu): docs/priveval.md; Lautrup et al. 2024, doi:10.1007/s10618-024-01081-4",
    check_values=check_folds,
    records=Records(reduce=reduce_membership, mean=False, contribution="placement", transform=advantage),
    yardsticks=Yardsticks(population=False, without_control=True),
    study=InStudy(difference_only=True, unaveraged=(*MembershipAttack.limits(), *MembershipAttack.limits("distance_"))),
)


def distance_attack(tables: Tables, space: SpaceName = "gower") -> MembershipAttack:
    """Return what the simplest attack achieves: the nearer a synthetic record, the likelier a member.

    The score is minus the distance to the nearest synthetic record; members and control records are told apart by
    ``tables.groups``.
    """
    assert tables.groups is not None  # noqa: S101 - callers make them
    nearness = -nearest_distances(tables, "real_to_synthetic", space)[:, 0]
    return attack_summary(nearness[tables.groups == 1], nearness[tables.groups == 0])
