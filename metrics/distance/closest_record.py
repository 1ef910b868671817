"""How near the release comes to real records: sanity checks, and signals as member/control difference."""

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.sdmetrics_dcr import Overfitting, baseline_protection, overfitting_protection
from synthrisk.metrics.errors import InputError, check_word
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.neighbours.famd import ProjectionName, check_projection, nearest_projected
from synthrisk.metrics.neighbours.nearest import real_to_synthetic, synthetic_to_real, synthetic_to_some
from synthrisk.metrics.neighbours.records import SpaceName
from synthrisk.metrics.neighbours.value_sets import nearest_value_distances
from synthrisk.metrics.tables.tables import Tables

_PRIVEVAL = "PrivEval (hereditary-eu): docs/priveval.md"


def closeness(mean_distance: float) -> float:
    """Return 1 - sigmoid(log10 d): 1 at distance 0, 0.5 at distance 1, towards 0 far away.

    Example:
        >>> closeness(0.0), closeness(1.0), round(closeness(10.0), 3)
        (1.0, 0.5, 0.269)
    """
    return 1.0 if mean_distance <= 0 else float(1 / (1 + np.exp(np.log10(mean_distance))))


def distance_to_closest_record(
    tables: Tables,
    *,
    space: SpaceName = "euclid",
    projection: ProjectionName | None = None,
    overfitting: Overfitting = "sdmetrics",
    baseline: bool = False,
    seed: int = 0,
) -> Score:
    """DCR: how near real records have a synthetic one: 1 - sigmoid(log10(mean d)), 1 where the mean is 0.

    d = distance of a real record to its nearest synthetic record. ``published`` is the mean distance. The value alone
    is no privacy claim, for an ideal generator comes near too: the signal is how much nearer members are than control
    records.

    The source: PrivEval's report and program take distances on two axes (``projection="famd"``). The program goes from
    synthetic records to the nearest real one, the report from real ones to the nearest synthetic one, as we do. The
    program's axes are those of codes, where words are numbers in the order of the alphabet; where it fails, it prints 0
    = safe. ``published`` is the mean distance, as AVATAR has it.

    Args:
        tables: Real (n records) and synthetic (m records).
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges, in [0, 1]). In
            standardised one-hot a mismatch on a 1 % level costs 10 sd, on two 50 % levels 2.8; one numeric
            outlier shrinks a Gower column.
        projection: ``famd`` takes distances on the two main axes alone (see ``famd.projected``).
        overfitting: With control records, how SDMetrics' DCROverfittingProtection is counted: as it does
            (``sdmetrics``), or ``corrected`` for ties, sizes and ranges: see ``sdmetrics_dcr.overfitting_protection``.
        baseline: Whether to add SDMetrics' DCRBaselineProtection, which needs another search, for random records.
        seed: Of those random records.

    Returns:
        A ``Score``; ``records``: distance (d, in ``space``), score (1 - d in gower space, in [0, 1], on which
        member/control differences are taken whatever the ``space``; there the distance to a cell that stands for a set
        of values is that to the nearest of them). Details: ``mean_distance``, ``exact_matches``
        (share), ``quantile_<q>``; and in SDMetrics' distance, on its scale (1 = safe), of members alone: with control
        records ``overfitting_protection``, ``closer_to_training``, ``closer_to_holdout`` and ``ties`` (shares of
        synthetic records), ``closer_to_training_expected`` (from the sizes of the tables alone); with ``baseline``
        ``baseline_protection``, ``median_synthetic``, ``median_random``.

    Raises:
        InputError: An option breaks its rule, or a projection of gower space is asked for.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0], "c": ["a", "b"]})
        >>> DISTANCE_TO_CLOSEST_RECORD(real, real).value
        1.0
    """
    check_closest(space, projection, overfitting, baseline)
    exact = projection is None
    near = real_to_synthetic(tables, space).distances if exact else nearest_projected(tables, "real_to_synthetic")
    distance = near[:, 0].copy()  # who is given the records may change them
    similarity = 1 - nearest_value_distances(tables)
    records = pd.DataFrame({"score": similarity, "distance": distance}, index=tables.real.index, copy=False)
    settings: dict[str, object] = {"space": space, "projection": projection}
    settings |= {"overfitting": overfitting, "baseline": baseline} | ({"seed": seed} if baseline else {})
    details = _protection(tables, overfitting, seed if baseline else None)
    return Score.of("distance_to_closest_record", records, reduce_distances(records), details, settings)


def check_closest(
    space: str = "euclid", projection: str | None = None, overfitting: str = "sdmetrics", baseline: bool = False
) -> None:
    """Refuse option values that there are not."""
    check_projection(projection, space)
    check_word("overfitting", overfitting, "sdmetrics", "corrected")
    if not isinstance(baseline, bool):
        raise InputError(f"baseline must be true or false, got {baseline!r}")


def _protection(tables: Tables, overfitting: Overfitting, seed: int | None) -> dict[str, float]:
    training, holdout = tables.part(1), tables.part(0)
    found = {} if seed is None or training is None else baseline_protection(training, seed)
    return found if training is None or holdout is None else found | overfitting_protection(tables, overfitting)


def reduce_distances(records: pd.DataFrame) -> Reduction:
    """Return closeness at the mean distance, the mean, share of exact matches and quantiles."""
    distance = records["distance"].to_numpy()
    mean = float(distance.mean())
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    quantiles = {f"quantile_{q:.2f}": float(d) for q, d in zip(shares, np.quantile(distance, shares), strict=True)}
    details = {"mean_distance": mean, "exact_matches": float(np.mean(distance == 0)), **quantiles}
    return Reduction(closeness(mean), mean, details)


def nearest_neighbour_distance_ratio(
    tables: Tables, *, space: SpaceName = "euclid", projection: ProjectionName | None = None
) -> Score:
    """NNDR: mean over synthetic records of 1 - d1/d2, d1 and d2 the distances to the two nearest real ones.

    Near 1 where synthetic records sit on one real record and far from the next. d1 = 0 counts as a hit (1),
    also where d2 = 0. ``published`` is the mean of d1/d2 with 0/0 = 0. A study takes member/control differences in
    gower space, whatever ``space`` and ``projection``.

    The source: PrivEval's report and program take distances on two axes (``projection="famd"``), the program on those
    of codes, where words are numbers in the order of the alphabet. Both count d1 = d2 = 0, a released duplicate, as
    safe: ``avatar`` among the details. The program prints 1 minus the mean ratio; ``published`` is the ratio, as AVATAR
    has it.

    Args:
        tables: Real (n >= 2 records) and synthetic (m records).
        space: ``euclid`` or ``gower``.
        projection: ``famd`` takes distances on the two main axes alone (see ``famd.projected``).

    Returns:
        A ``Score`` whose ``records`` are the synthetic ones: score (1 - d1/d2), distance (d1), second_distance (d2).
        Details: ``exact_matches`` (share of d1 = 0), ``duplicates`` (share of d1 = d2 = 0) and ``avatar``, the value if
        such duplicates counted as safe, as AVATAR counts them. Not defined with fewer than two real records.

    Raises:
        InputError: ``space`` or ``projection`` has another name, or a projection of gower space is asked for.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        >>> release = pd.DataFrame({"x": [0.0, 0.25]})
        >>> round(NEAREST_NEIGHBOUR_DISTANCE_RATIO(real, release).value, 4)
        0.8333
    """
    check_projection(projection, space)
    name, settings = "nearest_neighbour_distance_ratio", {"space": space, "projection": projection}
    if len(tables.real) < 2:
        nan = float("nan")
        absent = dict.fromkeys(("score", "distance", "second_distance"), nan)
        records = pd.DataFrame(absent, index=tables.synthetic.index)
        reason = "fewer than two real records: no second nearest"
        return Score(name, nan, nan, records, settings=settings, reason=reason)
    if projection is None:
        first, second = synthetic_to_real(tables, space, k=2).distances.T
    else:
        first, second = nearest_projected(tables, "synthetic_to_real", 2).T
    ratio = np.divide(first, second, out=np.zeros(len(first)), where=first > 0)
    columns = {"score": 1 - ratio, "distance": first, "second_distance": second}
    records = pd.DataFrame(columns, index=tables.synthetic.index)
    value, duplicates = mean_score(records), float(np.mean(second == 0))
    details = {"exact_matches": float(np.mean(first == 0)), "duplicates": duplicates, "avatar": value - duplicates}
    return Score(name, value, 1 - value, records, details, settings)


def ratio_against(
    tables: Tables, rows: np.ndarray, *, space: SpaceName = "euclid", projection: ProjectionName | None = None
) -> float:
    """Return NNDR's value in gower against some of the real records, in the space of all of them.

    It is in gower space whatever ``space`` and ``projection``. A member/control difference is taken on it, between
    groups of one size: the nearest of more records is nearer.
    """
    check_projection(projection, space)
    first, second = synthetic_to_some(tables, "gower", rows, k=2).distances.T
    return float(np.mean(1 - np.divide(first, second, out=np.zeros(len(first)), where=first > 0)))


DISTANCE_TO_CLOSEST_RECORD = Metric(
    name="distance_to_closest_record",
    function=distance_to_closest_record,
    group="distance",
    reference=_PRIVEVAL,
    mean=False,
    contribution="distance",
    transform=closeness,
    reduce=reduce_distances,
    difference_only=True,
    check_values=check_closest,
    ranking="-distance",
)
NEAREST_NEIGHBOUR_DISTANCE_RATIO = Metric(
    name="nearest_neighbour_distance_ratio",
    function=nearest_neighbour_distance_ratio,
    group="distance",
    reference=_PRIVEVAL,
    scores="synthetic",
    difference_only=True,
    against=ratio_against,
    check_values=check_projection,
)
