"""Nearest distances brought to [0, 1]: close values, distant values and their mean; sanity checks, no privacy claim.

d_i = distance of real record i to its nearest synthetic record; t_i = (d_i - min)/(max - min). A copy of the real
table scores 1 in all three, but so does a release at one and the same distance from all: t is relative.

Hitting rate: real records that have a synthetic one equal in words and close in every number.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import ABOVE_0, check_range, check_word
from synthrisk.metrics.metric import Metric, Records, Yardsticks
from synthrisk.metrics.neighbours.distances import TIED, farthest
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.neighbours.records import SpaceName, check_space, near_one
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import Codes, pack
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
    distance = nearest_distances(tables, "real_to_synthetic", space)[:, 0]
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
        check_values=check_normalise,
        records=Records(reduce=reduce),
    )


CLOSE_VALUE_PROBABILITY = _metric(close_value_probability, reduce_mean)
DISTANT_VALUE_PROBABILITY = _metric(distant_value_probability, reduce_complement)
NEAREST_SYNTHETIC_NEIGHBOUR_DISTANCE = _metric(nearest_synthetic_neighbour_distance, reduce_complement)


def hitting_rate(tables: Tables, *, width: float = 30.0, trim: float = 0.0) -> Score:
    """HitR: share of real records hit by a synthetic one: equal in all categoricals, within range/30 in all numerics.

    A numeric column is close where |a - b| <= range/width, range = that of the real values; where the range is 0 it
    must be equal. A missing cell is close to a missing cell alone. ``value = mean(hit)``, in [0, 1], high = the
    release comes close to many real records; ``published`` is the value.

    The source: PrivEval's program is given codes, so that of 31 or more levels those next to each other in the
    alphabet count as equal, and fills missing cells with the mean or the commonest value. Here words are equal or not,
    and a missing cell is close to a missing cell alone.

    Args:
        tables: Real (n records) and synthetic (m records). With control records, ranges are those of both groups.
        width: What a range is divided by, above 0.
        trim: Share of the real values left out at each end before the range is taken, in [0, 0.5): with 0.01 the
            range goes from the 1 % to the 99 % quantile, and one far value does not make everything close.

    Returns:
        A ``Score``; ``records``: score (1 if hit, else 0).

    Raises:
        InputError: ``width`` or ``trim`` breaks its rule, or a numeric column holds text or an infinity in a table.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 30.0, 60.0], "c": ["a", "b", "b"]})
        >>> release = pd.DataFrame({"x": [2.0, 33.0, 59.0], "c": ["a", "b", "b"]})
        >>> round(HITTING_RATE(real, release).value, 4)
        0.6667
    """
    check_width(width, trim)
    words, numbers = [tables.codes([c]) for c in tables.columns if tables.kind(c) == "categorical"], []
    for column in tables.columns:
        if tables.kind(column) == "numeric":
            cells, unit = in_widths(tables.floats(column), width, trim)
            missing = Codes(tuple(np.isnan(c).astype(np.int64) for c in cells), 2)
            words.append(missing if unit else tables.codes([column]))
            numbers += [tuple(np.nan_to_num(c) for c in cells)] if unit else []
    hit = _hit(pack(words), numbers)
    records = pd.DataFrame({"score": hit.astype(float)}, index=tables.real.index)
    return Score.of("hitting_rate", records, reduce_mean(records), {}, {"width": width, "trim": trim})


def _hit(words: Codes, numbers: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """Tell which real points have a synthetic one of the same code within 1 in each number."""
    # the code is one more axis, on which different codes are 2 apart; a tree is searched by the largest difference
    real, synthetic = (
        np.column_stack([2.0 * words.tables[side], *(cells[side] for cells in numbers)]) for side in (0, 1)
    )
    known = np.isin(words.tables[0], words.tables[1])
    tree = scipy.spatial.cKDTree(np.unique(synthetic, axis=0), balanced_tree=False)
    hit = np.zeros(len(real), dtype=bool)
    away, _ = tree.query(real[known], p=np.inf, distance_upper_bound=1 + 2 * TIED)
    hit[known] = away <= 1 + TIED
    return hit


def in_widths(cells: tuple[np.ndarray, np.ndarray], width: float, trim: float) -> tuple[tuple[np.ndarray, ...], float]:
    """Return both tables' cells from the real table's least one on, in units of range/width, and that unit.

    Example:
        >>> in_widths((np.array([1.0, 4.0]), np.array([2.0, np.nan])), 30.0, 0.0)
        ((array([ 0., 30.]), array([10., nan])), 0.1)
    """
    there = cells[0][~np.isnan(cells[0])]
    if not len(there):
        return cells, 0.0
    scaled, exponent = near_one(cells)  # by a power of two: exact, and no range overflows
    low, high = np.quantile(np.ldexp(there, -exponent), [trim, 1 - trim])
    unit = float(high - low) / width
    if unit == 0:
        return cells, 0.0
    return tuple((c - low) / unit for c in scaled), float(np.ldexp(unit, exponent))


def check_width(width: float = 30.0, trim: float = 0.0) -> None:
    """Refuse a width that is not above 0, and a trim that leaves no range."""
    check_range("width", width, ABOVE_0, np.finfo(float).max, "a finite number above 0")
    check_range("trim", trim, 0, np.nextafter(0.5, 0), "a number in [0, 0.5)")


HITTING_RATE = Metric(
    name="hitting_rate",
    function=hitting_rate,
    group="distance",
    reference="Lautrup et al. 2024, doi:10.1007/s10618-024-01081-4; PrivEval (hereditary-eu): docs/priveval.md",
    check_values=check_width,
    records=Records(reduce=reduce_mean),
    yardsticks=Yardsticks(copied=1.0),
)
