"""How near the release comes to real records: sanity checks, and signals as member/control difference.

What SDMetrics' DCR metrics print: protection by distance to the closest record, with their distance.

Their distance is gower's with each numeric column divided by the range of the table searched, and cut off at 1.
"""

from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.authenticity import ALONE
from synthrisk.metrics.errors import InputError, check_word
from synthrisk.metrics.metric import InStudy, Metric, Records
from synthrisk.metrics.neighbours.distances import (
    ProjectionName,
    chances_among,
    check_projection,
    compared,
    nearest_projected,
)
from synthrisk.metrics.neighbours.nearest import nearest_distances, synthetic_to_some
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.order import level_order
from synthrisk.metrics.tables.tables import Tables

_Way = Literal["real_to_synthetic", "synthetic_to_real"]
Overfitting = Literal["sdmetrics", "corrected"]


def closest_record(tables: Tables) -> np.ndarray:
    """Return SDMetrics' DCR of each synthetic record to the real table, (m,).

    Example:
        >>> closest_record(Tables(pd.DataFrame({"x": [0.0, 10.0]}), pd.DataFrame({"x": [1.0, 40.0]}))).tolist()
        [0.1, 1.0]
    """
    return nearest_distances(tables, "synthetic_to_real", "gower", ranges="reference")[:, 0]


def baseline_protection(tables: Tables, seed: int) -> dict[str, float]:
    """Return DCRBaselineProtection: median DCR of the release / that of random records, at most 1.

    NaN where the random records' median is 0, as SDMetrics has it. 1 = as far from the real table as random records;
    a release that is useful is nearer than that.
    """
    ours = float(np.median(closest_record(tables)))
    random = float(np.median(closest_record(Tables(*random_records(tables, seed)))))
    return {
        "baseline_protection": min(ours / random, 1.0) if random > 0 else float("nan"),
        "median_synthetic": ours,
        "median_random": random,
    }


def overfitting_protection(tables: Tables, rule: Overfitting) -> dict[str, float]:
    """Return DCROverfittingProtection: min(1, 2(1 - share of synthetic records nearer to training than to holdout)).

    Training is what ``tables.groups`` calls members, holdout is control. ``corrected`` gives an ideal release a share
    of a half, score 1. SDMetrics does not, for three reasons:

    - it counts a tie as nearer to the holdout: a release of few distinct values looks safe. Here a tie counts half;
    - the nearest of more records is nearer: with a training table ten times the holdout nearly all of an honest
      release is nearer to it. Here the larger counts as its mean subsample of the size of the smaller;
    - it divides each distance by the ranges of the table searched, and more records have wider ranges, hence smaller
      distances. Here both are divided by the ranges of all records.

    ``closer_to_training_expected`` is the share of a release without knowledge of either table where nothing ties:
    n/(n + h) of n training and h holdout records; 1/2 where corrected.
    """
    training, holdout = (int(np.sum(tables.groups == group)) for group in (1, 0))
    share, tied = _as_sdmetrics(tables) if rule == "sdmetrics" else _corrected(tables)
    return protection(share, tied, rule, training, holdout)


def protection(share: float, tied: float, rule: Overfitting, training: int, holdout: int) -> dict[str, float]:
    """Return what the shares of synthetic records that are nearer to training, and that are tied, come to."""
    return {
        "overfitting_protection": min(2 * (1 - share), 1.0),
        "closer_to_training": share,
        "closer_to_training_expected": training / (training + holdout) if rule == "sdmetrics" else 0.5,
        "closer_to_holdout": 1 - share,
        "ties": tied,
    }


def _as_sdmetrics(tables: Tables) -> tuple[float, float]:  # shares nearer to training, and tied
    parts = [tables.part(group) for group in (1, 0)]
    found = compared(*(closest_record(part) for part in parts if part is not None))
    return float(found.closer.mean()), float(found.tied.mean())


def _corrected(tables: Tables) -> tuple[float, float]:
    training, holdout = (np.flatnonzero(tables.groups == group) for group in (1, 0))
    n, h = len(training), len(holdout)
    ours, theirs = (synthetic_to_some(tables, "gower", rows).distances[:, 0] for rows in (training, holdout))
    nearer, tied = (np.asarray(found, dtype=float) for found in compared(ours, theirs))
    if n > h:
        nearer, tied = chances_among(tables, "gower", training, theirs, h)
    elif n < h:
        farther, tied = chances_among(tables, "gower", holdout, ours, n)
        nearer = 1 - farther - tied
    return float(np.mean(nearer + tied / 2)), float(np.mean(tied))


def random_records(tables: Tables, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the real table and as many random records as synthetic ones, numbers as floats and words as codes.

    Each column is uniform over the range or the levels of real: whole numbers where it has no others; missing cells as
    often as in real. Each column has a generator of its own, keyed by its name, and levels are taken by frequency, then
    ``level_order``, so that neither order nor names move a draw.
    """
    real, random, count = {}, {}, len(tables.synthetic)
    for column in tables.columns:
        rng = np.random.default_rng(seed_of(seed, str(column)))
        if tables.kind(column) == "numeric":
            real[column] = pd.Series(tables.floats(column)[0])
            random[column] = pd.Series(_random_numbers(tables.floats(column)[0], rng, count))
        else:
            codes = tables.codes([column])
            real[column] = pd.Series(codes.tables[0]).astype("category")  # as objects they would be numbers
            drawn = _random_codes(codes.tables[0], level_order(tables, tables.columns)[column], rng, count)
            random[column] = pd.Series(drawn).astype("category")
    return pd.DataFrame(real), pd.DataFrame(random)


def _random_codes(codes: np.ndarray, place: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    frequency = np.bincount(codes, minlength=len(place))
    missing = len(place) - 1  # the last level
    ordered = np.lexsort((place[:missing], -frequency[:missing]))[: np.count_nonzero(frequency[:missing])]
    ordered = ordered if len(ordered) else np.array([missing])
    gone = rng.random(count) < frequency[missing] / len(codes)
    return np.where(gone, missing, ordered[rng.integers(len(ordered), size=count)])


def _random_numbers(values: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    there = values[~np.isnan(values)]
    if not len(there):
        return np.full(count, np.nan)
    low, high = there.min(), there.max()
    gone, share = rng.random(count) < np.isnan(values).mean(), rng.random(count)
    if (there == np.floor(there)).all():
        drawn = np.minimum(np.floor(low * (1 - share) + (high + 1) * share), high)
    else:
        drawn = low * (1 - share) + high * share
    return np.where(gone, np.nan, drawn)


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
        projection: ``famd`` takes distances on the two main axes alone (see ``distances.projected``).
        overfitting: With control records, how SDMetrics' DCROverfittingProtection is counted: as it does
            (``sdmetrics``), or ``corrected`` for ties, sizes and ranges: see ``closest_record.overfitting_protection``.
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
    near = _nearest(tables, "real_to_synthetic", space, projection)
    distance = near[:, 0].copy()  # who is given the records may change them
    similarity = 1 - nearest_distances(tables, "real_to_synthetic", "gower")[:, 0]
    records = pd.DataFrame({"score": similarity, "distance": distance}, index=tables.real.index, copy=False)
    settings: dict[str, object] = {"space": space, "projection": projection}
    settings |= {"overfitting": overfitting, "baseline": baseline} | ({"seed": seed} if baseline else {})
    details = _protection(tables, overfitting, seed if baseline else None)
    return Score.of("distance_to_closest_record", records, reduce_distances(records), details, settings)


def _nearest(tables: Tables, way: _Way, space: SpaceName, projection: ProjectionName | None, k: int = 1) -> np.ndarray:
    if projection is None:
        return nearest_distances(tables, way, space, k=k)
    return nearest_projected(tables, way, k)


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
        projection: ``famd`` takes distances on the two main axes alone (see ``distances.projected``).

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
    first, second = _nearest(tables, "synthetic_to_real", space, projection, 2).T
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
    check_values=check_closest,
    records=Records(reduce=reduce_distances, mean=False, contribution="distance", transform=closeness),
    study=InStudy(difference_only=True, ranking="-distance"),
)
NEAREST_NEIGHBOUR_DISTANCE_RATIO = Metric(
    name="nearest_neighbour_distance_ratio",
    function=nearest_neighbour_distance_ratio,
    group="distance",
    reference=_PRIVEVAL,
    scores="synthetic",
    check_values=check_projection,
    study=InStudy(difference_only=True, against=ratio_against),
)


def median_distance_to_closest_record(tables: Tables, *, space: SpaceName = "euclid") -> Score:
    """MDCR: 2(1 - sigmoid(median d_s / median d_r)): distances to the nearest synthetic and other real record.

    ``value`` in [0, 1], high = the release is nearer to real records than these are to each other; 0.538 where it is
    as near. ``published`` is the ratio of medians; 0/0 counts as ratio 0, x/0 as infinite. (The published program
    stops its scale at 0.5.) The value alone is no privacy claim. A median has no per-record form: with ``control`` and
    in a study, members and control records have medians of their own, of distances among both. The member/control
    difference is taken in gower space, on groups of one size.

    The source: PrivEval's report and program take 1 - sigmoid(ratio), half of the value, so that a copy has 0.5. The
    program prints 0 = safe where the median between real records is 0, as it is with many duplicates. ``published`` is
    the ratio, as SynthEval has it.

    Args:
        tables: Real (n >= 2 records) and synthetic (m records). With control records the other real records are
            those of both groups.
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).

    Returns:
        A ``Score``; ``records``: score (the same scale at the record's own d_s/d_r, in gower space), distance
        (d_s), real_distance (d_r). Details: ``median_distance``, ``median_real_distance``. Not defined for n < 2.

    Raises:
        InputError: ``space`` has another name.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        >>> score = MEDIAN_DISTANCE_TO_CLOSEST_RECORD(real, real + 0.5)
        >>> round(score.published, 4), round(score.value, 4)
        (0.5, 0.7551)
    """
    check_space(space)
    distance, other = _distances(tables, space)
    score = nearness(ratio(*_distances(tables, "gower")))
    columns = {"score": score, "distance": distance, "real_distance": other}
    records = pd.DataFrame(columns, index=tables.real.index)
    name = "median_distance_to_closest_record"
    return Score.of(name, records, reduce_medians(records), {}, {"space": space})


def ratio(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return first/second: 0 where both are 0, infinite where the second alone is, NaN where it is missing.

    Example:
        >>> ratio(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0])).tolist()
        [0.5, 0.0, inf]
    """
    whole = np.where(np.isnan(second), np.nan, np.where(first > 0, np.inf, 0.0))
    return np.divide(first, second, out=whole, where=~(second == 0) & ~np.isnan(second))


def nearness(ratios: np.ndarray) -> np.ndarray:
    """Return 2(1 - sigmoid(r)): 1 at 0, 0 where r is infinite.

    Example:
        >>> nearness(np.array([0.0, 1.0, np.inf])).round(4).tolist()
        [1.0, 0.5379, 0.0]
    """
    small = np.exp(-ratios)
    return np.asarray(2 * small / (1 + small))


def reduce_medians(records: pd.DataFrame) -> Reduction:
    """Return the value at the medians of some records, their ratio, and both medians."""
    ours, theirs = (float(np.median(records[c])) for c in ("distance", "real_distance"))
    found = float(ratio(np.array([ours]), np.array([theirs]))[0])
    details = {"median_distance": ours, "median_real_distance": theirs}
    return Reduction(float(nearness(np.array(found))), found, details, ALONE if np.isnan(theirs) else None)


def medians_against(tables: Tables, rows: np.ndarray, *, space: SpaceName = "euclid") -> float:
    """Return the value of some real records beside all of them, in gower space whatever the ``space``.

    A study takes all differences in gower space: standard deviations would be those of the real records given.
    """
    check_space(space)
    distance, other = _distances(tables, "gower")
    return reduce_medians(pd.DataFrame({"distance": distance[rows], "real_distance": other[rows]})).value


def _distances(tables: Tables, space: SpaceName) -> tuple[np.ndarray, np.ndarray]:
    distance = nearest_distances(tables, "real_to_synthetic", space)[:, 0]
    if len(tables.real) < 2:
        return distance, np.full(1, np.nan)  # one record has no other
    return distance, nearest_distances(tables, "real_to_real", space)[:, 0]


MEDIAN_DISTANCE_TO_CLOSEST_RECORD = Metric(
    name="median_distance_to_closest_record",
    function=median_distance_to_closest_record,
    group="distance",
    per_record=False,
    reference="Lautrup et al. 2024, doi:10.1007/s10618-024-01081-4; PrivEval (hereditary-eu): docs/priveval.md",
    check_values=check_space,
    records=Records(reduce=reduce_medians, mean=False),
    study=InStudy(difference_only=True, against=medians_against),
)
