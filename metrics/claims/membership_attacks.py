"""Attacks that say who was in the training data: by distances, by densities, by a classifier, by all three.

Each is handed the release and the distinct rows of the targets, members and others in no order that tells; each
target's neighbours among the other targets stand for the population that the release would resemble anyway.
"""

import numpy as np
import pandas as pd
import scipy
from sklearn.ensemble import ExtraTreesClassifier

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference_attacks import check_neighbours
from synthrisk.metrics.models.features import ordinal_features
from synthrisk.metrics.models.threads import threads
from synthrisk.metrics.neighbours.distances import tie_counts
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.neighbours.value_sets import nearest_value_distances
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables

_DIGITS = 12  # differences of distances are equal but for rounding: what is tied must be found tied
_TREES = 50
_FOLDS = 3
_FEW_TREES = 25  # of the classifier in ``combined``: as much seen with the others, at a quarter of the time
_TWO_FOLDS = 2


def combined(release: pd.DataFrame, known: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Say how high the target ranks by nearness, by density and by a classifier together.

    ``confidence`` = mean over ``distance_difference``, ``density_ratio`` and ``classifier`` (25 trees, 2 folds) of
    -log(1 - (rank - 1/2)/q), the rank among the q targets, from the lowest (ties: their mean). It is Fisher's
    combination of three rank tests (Fisher 1932), in [0, log(2 q)]: high where any of them is very sure, low where all
    are low. Each finds leaks that the others miss, and none must be chosen beforehand. Where one abstains, the mean of
    the others.

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
    sure = np.stack([_nearer(view), _denser(view, 1), _more_like_the_release(view, rng, _FEW_TREES, _TWO_FOLDS)])
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
    synthetic = nearest_value_distances(view)
    several = len(view.real) > 1
    others = real_to_real(view, "gower").distances[:, 0] if several else np.zeros(len(view.real))
    return np.round(others - synthetic, _DIGITS)


def _denser(view: Tables, neighbours: int) -> np.ndarray:
    k, targets = min(neighbours, len(view.synthetic)), len(view.real)
    radius = {"release": real_to_synthetic(view, "gower", k=k).distances[:, k - 1]}
    within = {"release": tie_counts(view, "real_to_synthetic", "gower", k=k) / len(view.synthetic)}
    if targets > 1:
        k = min(neighbours, targets - 1)
        radius["targets"] = real_to_real(view, "gower", k=k).distances[:, k - 1]
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
            model = ExtraTreesClassifier(trees, random_state=int(rng.integers(2**32)), n_jobs=threads())
            model.fit(np.vstack([released, seen]), np.repeat([1, 0], [len(released), len(seen)]))
            model.set_params(n_jobs=1)  # threads would add up the trees in an order of their own
            other, one = (model.predict_proba(features.real[own]) / (len(seen), len(released))).T
            chance[own] = one / (one + other)
    votes = chance * trees
    return np.asarray(np.round(np.log(votes + 1) - np.log(trees - votes + 1), _DIGITS))


COMBINED = Attack(
    "combined",
    "membership",
    combined,
    "Fisher's combination of the other three; Fisher 1932, Statistical Methods for Research Workers, 4th edition",
)
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
