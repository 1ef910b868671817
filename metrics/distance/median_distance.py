"""Median distance: how near the release comes to real records, measured by how near these are to each other."""

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.authenticity import ALONE
from synthrisk.metrics.metric import Metric, Reduction, Score
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.tables.tables import Tables


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
    distance = real_to_synthetic(tables, space).distances[:, 0]
    if len(tables.real) < 2:
        return distance, np.full(1, np.nan)  # one record has no other
    return distance, real_to_real(tables, space).distances[:, 0]


MEDIAN_DISTANCE_TO_CLOSEST_RECORD = Metric(
    name="median_distance_to_closest_record",
    function=median_distance_to_closest_record,
    group="distance",
    per_record=False,
    reference="Lautrup et al. 2024, doi:10.1007/s10618-024-01081-4; PrivEval (hereditary-eu): docs/priveval.md",
    mean=False,
    difference_only=True,
    reduce=reduce_medians,
    against=medians_against,
    check_values=check_space,
)
