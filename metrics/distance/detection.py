"""How well a small network tells real from synthetic records: a sanity check."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from synthrisk.metrics.errors import check_whole
from synthrisk.metrics.intervals.rates import placements
from synthrisk.metrics.metric import Metric, Reduction, Score
from synthrisk.metrics.models.features import one_hot_features
from synthrisk.metrics.models.threads import side_by_side
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.row_order import among_equals, canonical
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
    mean=False,
    contribution="placement",
    transform=indistinguishable,
    reduce=reduce_detection,
    check_values=check_folds,
)
