"""Hitting rate: real records that have a synthetic one equal in words and close in every number."""

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.distance.normalised_distance import reduce_mean
from synthrisk.metrics.errors import ABOVE_0, check_range
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.records import near_one
from synthrisk.metrics.tables.codes import Codes, pack
from synthrisk.metrics.tables.tables import Tables


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
    copied=1.0,
    reduce=reduce_mean,
    check_values=check_width,
)
