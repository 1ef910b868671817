"""Attacks that say who was in the training data: by distances, by densities, by a classifier.

Each is handed the release and the distinct rows of the targets, members and others in no order that tells; each
target's neighbours among the other targets stand for the population that the release would resemble anyway.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference_attacks import check_neighbours
from synthrisk.metrics.models.record_features import ordinal_features
from synthrisk.metrics.models.threads import threads
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.neighbours.ties import tie_counts
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables

_DIGITS = 12  # differences of distances are equal but for rounding: what is tied must be found tied
_TREES = 50
_FOLDS = 3


def distance_difference(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how much nearer the release comes to the target than other people do.

    ``confidence = d_t - d_s``, in [-1, 1]: distances in gower space over the known columns to the nearest other
    target and to the nearest synthetic record. The first calibrates: a target in a crowd has near neighbours
    whether it was seen or not. (Of one target alone: ``-d_s``.)

    Example:
        >>> known, release = pd.DataFrame({"x": [0.0, 4.0, 10.0]}), pd.DataFrame({"x": [0.0, 6.0]})
        >>> distance_difference(release, known, np.random.default_rng(0))["confidence"].tolist()
        [0.4, 0.2, 0.2]
    """
    view = _view(release, known)
    synthetic = real_to_synthetic(view, "gower").distances[:, 0]
    others = real_to_real(view, "gower").distances[:, 0] if len(known) > 1 else np.zeros(len(known))
    return pd.DataFrame({"confidence": np.round(others - synthetic, _DIGITS)}, index=known.index)


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
    view = _view(release, known)
    k = min(neighbours, len(release))
    radius = {"release": real_to_synthetic(view, "gower", k=k).distances[:, k - 1]}
    within = {"release": tie_counts(view, "real_to_synthetic", "gower", k=k) / len(release)}
    if len(known) > 1:
        k = min(neighbours, len(known) - 1)
        radius["targets"] = real_to_real(view, "gower", k=k).distances[:, k - 1]
        within["targets"] = tie_counts(view, "real_to_real", "gower", k=k) / (len(known) - 1)
    positive = np.concatenate(list(radius.values()))
    least = positive[positive > 0].min(initial=1.0) / 2
    logs = {s: np.log(within[s]) - len(view.columns) * np.log(np.maximum(radius[s], least)) for s in radius}
    ratio = logs["release"] - logs.get("targets", 0.0)
    return pd.DataFrame({"confidence": np.round(ratio, _DIGITS)}, index=known.index)


def classifier(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how much the target looks like the release to a classifier that tells the release from people.

    ``confidence`` = log odds of release, from 50 extremely randomised trees that learned the release against the
    targets of other folds (3), were both as many: log((r + 1)/(t + 1)) of the trees' votes. A member whose copy was
    released falls where the copy is; another falls among people. One target alone: it abstains.
    """
    folds = min(_FOLDS, len(known))
    chance = np.full(len(known), np.nan)
    if folds > 1:
        view = _view(release, known)
        features, ranks = ordinal_features(view), canonical(view)
        fold = rng.permutation(len(known)) % folds
        released = features.synthetic[np.argsort(ranks.synthetic, kind="stable")]
        for each in range(folds):
            seen, own = features.real[fold != each], fold == each
            model = ExtraTreesClassifier(_TREES, random_state=int(rng.integers(2**32)), n_jobs=threads())
            model.fit(np.vstack([released, seen]), np.repeat([1, 0], [len(released), len(seen)]))
            model.set_params(n_jobs=1)  # threads would add up the trees in an order of their own
            other, one = (model.predict_proba(features.real[own]) / (len(seen), len(released))).T
            chance[own] = one / (one + other)
    votes = chance * _TREES
    odds = np.log(votes + 1) - np.log(_TREES - votes + 1)
    return pd.DataFrame({"confidence": np.round(odds, _DIGITS)}, index=known.index)


def _view(release: pd.DataFrame, known: pd.DataFrame) -> Tables:
    return Tables(known, release[list(known.columns)])


DISTANCE_DIFFERENCE = Attack(
    "distance_difference",
    "membership",
    distance_difference,
    "Chen et al. 2020 (GAN-Leaks, calibrated), doi:10.1145/3372297.3417238; Hyeong et al. 2022",
)
DENSITY_RATIO = Attack(
    "density_ratio", "membership", density_ratio, "van Breugel et al. 2023 (DOMIAS), arXiv:2302.12580"
)
CLASSIFIER = Attack(
    "classifier",
    "membership",
    classifier,
    "density ratio by classification; Hayes et al. 2019, doi:10.2478/popets-2019-0008",
)
