"""Nearest distances brought to [0, 1]: close values, distant values and their mean; sanity checks, no privacy claim.

d_i = distance of real record i to its nearest synthetic record; t_i = (d_i - min)/(max - min). A copy of the real
table scores 1 in all three, but so does a release at one and the same distance from all: t is relative.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import check_word
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.neighbours.distances import TIED, farthest
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.tables.tables import Tables

Normalise = Literal["nearest", "all_pairs"]
CLOSE, DISTANT = 0.2, 0.8


def close_value_probability(tables: Tables, *, space: SpaceName = "euclid", normalise: Normalise = "nearest") -> Score:
    """CVP: share of real records whose nearest synthetic record is close: t < 0.2.

    The source: PrivEval's report takes min and max over all pairs of a real and a synthetic record
    (``normalise="all_pairs"``). Its program takes them over the nearest distances, as we do unless asked, fills missing
    numbers with each table's own mean, and prints 0 = safe where a table has no column of words.

    Args:
        tables: Real (n records) and synthetic (m records).
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).
        normalise: Over what min and max of t = (d - min)/(max - min) are taken: the n ``nearest`` distances, or
            ``all_pairs`` of a real and a synthetic record.

    Returns:
        A ``Score``, high = many close values; ``records``: score (1 if t < 0.2, else 0), normalised (t), distance
        (d). Where all distances are equal, t = 0. Details: ``smallest`` and ``largest`` (min and max).
        ``published`` is the value.

    Raises:
        InputError: ``space`` or ``normalise`` is another word.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        >>> release = pd.DataFrame({"x": [0.0, 1.1, 7.0]})
        >>> round(CLOSE_VALUE_PROBABILITY(real, release).value, 4)
        0.6667
    """
    return _score("close_value_probability", tables, space, normalise, lambda t: t < CLOSE * (1 - TIED), reduce_mean)


def distant_value_probability(
    tables: Tables, *, space: SpaceName = "euclid", normalise: Normalise = "nearest"
) -> Score:
    """DVP: share of real records whose nearest synthetic record is not distant: 1 - share of t >= 0.8.

    As ``close_value_probability``, with score 1 if t < 0.8. ``published`` is the share of t >= 0.8.

    The source: PrivEval's program prints the value; ``published`` is Synthcity's number, which rises with privacy. The
    report takes min and max over all pairs (``normalise="all_pairs"``). What else differs is said at
    ``close_value_probability``.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        >>> release = pd.DataFrame({"x": [0.0, 1.1, 7.0]})
        >>> round(DISTANT_VALUE_PROBABILITY(real, release).value, 4)
        0.6667
    """
    below = DISTANT * (1 - TIED)
    return _score("distant_value_probability", tables, space, normalise, lambda t: t < below, reduce_complement)


def nearest_synthetic_neighbour_distance(
    tables: Tables, *, space: SpaceName = "euclid", normalise: Normalise = "nearest"
) -> Score:
    """NSND: one minus the mean normalised distance of real records to their nearest synthetic one: 1 - mean(t).

    As ``close_value_probability``, with score 1 - t. ``published`` is the mean of t.

    The source: PrivEval's program prints the value, but 0 = safe where all distances are equal, as they are of a copy;
    ``published`` is the mean of t, the report's equation 21, where a high value means privacy. The report takes min and
    max over all pairs (``normalise="all_pairs"``). What else differs is said at ``close_value_probability``.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        >>> release = pd.DataFrame({"x": [0.0, 1.5, 7.0]})
        >>> round(NEAREST_SYNTHETIC_NEIGHBOUR_DISTANCE(real, release).value, 4)
        0.3333
    """
    name = "nearest_synthetic_neighbour_distance"
    return _score(name, tables, space, normalise, lambda t: 1 - t, reduce_complement)


def normalised(distance: np.ndarray, largest: float) -> np.ndarray:
    """Return (d - min)/(max - min), 0 where max is min.

    Example:
        >>> normalised(np.array([1.0, 2.0, 3.0]), 5.0).tolist()
        [0.0, 0.25, 0.5]
    """
    smallest = distance.min()
    if largest - smallest <= TIED * largest:
        return np.zeros(len(distance))
    return np.asarray((distance - smallest) / (largest - smallest))


def check_normalise(space: str = "euclid", normalise: str = "nearest") -> None:
    """Refuse a space or a way to normalise that there is not."""
    check_space(space)
    check_word("normalise", normalise, "nearest", "all_pairs")


def reduce_mean(records: pd.DataFrame) -> Reduction:
    """Return the mean score, which the source prints too."""
    value = mean_score(records)
    return Reduction(value, value, {})


def reduce_complement(records: pd.DataFrame) -> Reduction:
    """Return the mean score, and one minus it, which the source prints."""
    value = mean_score(records)
    return Reduction(value, 1 - value, {})


def _score(
    name: str,
    tables: Tables,
    space: SpaceName,
    normalise: Normalise,
    scored: Callable[[np.ndarray], np.ndarray],
    reduce: Callable[[pd.DataFrame], Reduction],
) -> Score:
    check_normalise(space, normalise)
    distance = real_to_synthetic(tables, space).distances[:, 0]
    largest = float(distance.max()) if normalise == "nearest" else farthest(tables, space)
    t = normalised(distance, largest)
    columns = {"score": scored(t).astype(float), "normalised": t, "distance": distance}
    records = pd.DataFrame(columns, index=tables.real.index)
    details = {"smallest": float(distance.min()), "largest": largest}
    return Score.of(name, records, reduce(records), details, {"space": space, "normalise": normalise})


def _metric(function: Callable[..., Score], reduce: Callable[[pd.DataFrame], Reduction]) -> Metric:
    return Metric(
        name=function.__name__,
        function=function,
        group="distance",
        reference="PrivEval (hereditary-eu): docs/priveval.md; Synthcity, doi:10.48550/arXiv.2301.07573",
        label="sanity",
        reduce=reduce,
        check_values=check_normalise,
    )


CLOSE_VALUE_PROBABILITY = _metric(close_value_probability, reduce_mean)
DISTANT_VALUE_PROBABILITY = _metric(distant_value_probability, reduce_complement)
NEAREST_SYNTHETIC_NEIGHBOUR_DISTANCE = _metric(nearest_synthetic_neighbour_distance, reduce_complement)
