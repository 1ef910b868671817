"""How often the records nearest on what an attacker knows tell what he does not."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import check_range
from synthrisk.metrics.metric import Metric, Records, Yardsticks
from synthrisk.metrics.neighbours.distances import Ties, tie_counts, ties
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables, in_order
from synthrisk.metrics.tables.tolerance import NANOSECONDS, absolute_tolerance, check_tolerance, too_wide

_CELLS = 5_000_000  # tied records listed at once
_ROUNDING = 1e-9  # a guess this little beyond the tolerance is at it
_LARGEST = float(np.finfo(float).max)


def attribute_inference_risk(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    space: SpaceName = "euclid",
    tolerance: float | str = 0.10,
) -> Score:
    """AIR: weighted share of sensitive values that the synthetic records nearest on the keys guess right.

    ``value = sum w_i c_i``, in [0, 1]. c_i: mean over the synthetic records tied at the smallest distance over the
    quasi-identifiers of the share of sensitive attributes that they guess right. w_i = -log P_i/(n H): rare rows weigh
    more, with P_i the share of real rows equal to row i in all columns and H their entropy; 1/n where H = 0. High = the
    release gives sensitive values away; a common value does too, so read it beside ``guess`` and control.
    ``published = 2a/(1 + a)`` with the unweighted accuracy a.

    The source: PrivEval's report weighs an F1 score (its equations 6 and 7). Taken of each record alone, that F1 is
    c, and the value is the report's number. Taken of all matches together, each with its record's weight, it is
    ``weighted_f1`` among the details. The program has no false negatives and one F1 of all records, so that the
    weights do nothing: 2a/(1 + a), the formula of ``published``. It prints another number, since it finds other
    nearest records: it searches numbers that are not brought to one scale, and lets a sensitive column of decimals be
    its own key.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed.
        space: ``euclid`` or ``gower``: what nearest is.
        tolerance: A number is right within this share of the true value (of 0: if it is 0), a date or duration within
            this share of the interquartile range of the real column, or within the duration given (``"30 days"``);
            ``"0.1 iqr"`` is a share of that range for numbers too. Words must be equal. Missing equals only missing.

    Returns:
        A ``Score``; ``records``: score (c), weight (w), tied (how many synthetic records are nearest), missed (share of
        guesses that are wrong although some synthetic record holds the true value). Details: ``accuracy`` (mean of c),
        ``weighted_f1`` (2v/(1 + v + u), v the value and u the weighted mean of missed), ``guess`` (weighted success of
        the best constant guess), and of dates and durations ``tolerance_days_<column>``.

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive; an option breaks its rule.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 41, 48], "vote": ["a", "a", "a"]})
        >>> ATTRIBUTE_INFERENCE_RISK(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.5
    """
    check_inference(space, tolerance)
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    attributes = [_attribute(tables, c, tolerance) for c in hidden]
    tied = tie_counts(tables, "real_to_synthetic", space, columns=known)
    weight = rarity(tables.codes(in_order(tables.columns)).tables[0])
    credit, missed = _credits(tables, known, space, attributes, tied)
    columns = {"score": credit, "weight": weight, "tied": tied, "missed": missed}
    records = pd.DataFrame(columns, index=tables.real.index)
    guesses = [a.best_constant(weight) for a in attributes]
    details = {"guess": float(np.mean(guesses))}
    details |= {f"tolerance_days_{c}": a.days for c, a in zip(hidden, attributes, strict=True) if a.days is not None}
    wide = (
        too_wide(s, tables.floats(c)[0], temporal=a.days is not None)
        for s, c, a in zip(guesses, hidden, attributes, strict=True)
        if tables.kind(c) == "numeric"
    )
    warning = next(filter(None, wide), None)
    settings = {"quasi_identifiers": known, "sensitive": hidden, "space": space, "tolerance": tolerance}
    return Score.of("attribute_inference_risk", records, reduce_inference(records), details, settings, warning)


def reduce_inference(records: pd.DataFrame) -> Reduction:
    """Return the weighted mean of the credits, 2a/(1 + a) of the plain mean a, a, and the weighted F1."""
    accuracy = float(records["score"].mean())
    value, missed = (float(np.average(records[c], weights=records["weight"])) for c in ("score", "missed"))
    details = {"accuracy": accuracy, "weighted_f1": 2 * value / (1 + value + missed)}
    return Reduction(value, 2 * accuracy / (1 + accuracy), details)


def check_inference(space: str = "euclid", tolerance: float | str = 0.10) -> None:
    """Refuse a name that is no space, and a tolerance that is neither a share nor has a unit."""
    check_space(space)
    check_tolerance(tolerance)
    if not isinstance(tolerance, str):
        check_range("tolerance", tolerance, 0, 1, "a number from 0 to 1")


def rarity(rows: np.ndarray) -> np.ndarray:
    """Return what rows weigh by their self-information, -log P_i/(n H), from their codes; 1/n where H = 0.

    Example:
        >>> rarity(np.array([0, 0, 1, 2])).round(3).tolist()
        [0.167, 0.167, 0.333, 0.333]
    """
    information = -np.log(np.bincount(rows)[rows] / len(rows))
    total = information.sum()  # n H
    return information / total if total > 0 else np.full(len(rows), 1 / len(rows))


def best_answer(tables: Tables, *, sensitive: Sequence[str] | str, tolerance: float | str = 0.10, **_: object) -> float:
    """Return the weighted share of the sensitive values that one constant guess a column is right about."""
    weight = rarity(tables.codes(in_order(tables.columns)).tables[0])
    hidden = tables.check_columns("sensitive", sensitive)
    return float(np.mean([_attribute(tables, c, tolerance).best_constant(weight) for c in hidden]))


class _Attribute(NamedTuple):
    """A sensitive column: a guess of record i is right from ``low[i]`` to ``high[i]``; infinity is missing."""

    low: np.ndarray  # (n,)
    high: np.ndarray  # (n,)
    guessed: np.ndarray  # (m,)
    days: float | None = None  # the tolerance of a date or duration

    def right(self, real: np.ndarray, place: np.ndarray, near: Ties) -> np.ndarray:
        """Return for some real records the share of the synthetic ones listed at their place that guess right."""
        levels, rank = np.unique(self.guessed, return_inverse=True)
        counts, width = np.diff(near.starts), len(levels) + 1
        listed = np.sort(np.repeat(np.arange(len(counts)), counts) * width + rank[near.rows])
        ends = np.searchsorted(levels, self.low[real], side="left"), np.searchsorted(levels, self.high[real], "right")
        above, up_to = (np.searchsorted(listed, place * width + end) for end in ends)
        return (up_to - above) / counts[place]

    def released(self) -> np.ndarray:
        """Tell of each real record whether some synthetic one guesses it right, (n,)."""
        levels = np.unique(self.guessed)
        return np.searchsorted(levels, self.low, "left") < np.searchsorted(levels, self.high, "right")

    def best_constant(self, weight: np.ndarray) -> float:
        """Return the largest weight of records that one guess is right for: it is the low end of one of them."""
        low, high = np.argsort(self.low), np.argsort(self.high)
        begun, ended = (np.concatenate([[0.0], np.cumsum(weight[order])]) for order in (low, high))
        at = self.low[low]
        inside = begun[np.searchsorted(at, at, side="right")] - ended[np.searchsorted(self.high[high], at)]
        return min(1.0, round(float(inside.max() / weight.sum()), 12))  # sums in other orders of rows differ


def _attribute(tables: Tables, column: str, tolerance: float | str) -> _Attribute:
    if tables.kind(column) == "categorical":
        real, synthetic = tables.codes([column]).tables
        return _Attribute(real, real, synthetic)
    truth, guessed = tables.floats(column)
    temporal, missing = is_temporal(tables.real[column]), np.isnan(truth)
    width = absolute_tolerance(tolerance, truth, temporal=temporal)
    step = (float(tolerance) * np.abs(truth) if width is None else np.full(len(truth), width)) * (1 + _ROUNDING)
    low, high = (np.where(missing, np.inf, np.clip(truth + s, -_LARGEST, _LARGEST)) for s in (-step, step))
    days = width / NANOSECONDS if temporal and width is not None else None
    return _Attribute(low, high, np.where(np.isnan(guessed), np.inf, guessed), days)


def _credits(
    tables: Tables, known: list[str], space: SpaceName, attributes: list[_Attribute], tied: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return c, and the share of what is wrong although it is released; records with equal keys share a search."""
    _, first, back = np.unique(tables.codes(known).tables[0], return_index=True, return_inverse=True)
    records, ends = np.argsort(back, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(back))])
    parts = np.flatnonzero(np.diff(np.cumsum(tied[first]) // _CELLS)) + 1
    right = np.empty((len(attributes), len(back)))
    for classes in np.split(np.arange(len(first)), parts):
        near = ties(tables, "real_to_synthetic", space, columns=known, queries=first[classes])
        real = records[ends[classes[0]] : ends[classes[-1] + 1]]
        for own, attribute in zip(right, attributes, strict=True):
            own[real] = attribute.right(real, back[real] - classes[0], near)
    missed = np.where([a.released() for a in attributes], 1 - right, 0.0)
    return right.mean(axis=0), missed.mean(axis=0)


ATTRIBUTE_INFERENCE_RISK = Metric(
    name="attribute_inference_risk",
    function=attribute_inference_risk,
    group="distance",
    needs=("quasi_identifiers", "sensitive"),
    reference="PrivEval (hereditary-eu): docs/priveval.md; Yan et al. 2022, doi:10.1038/s41467-022-35295-1",
    check_values=check_inference,
    jointly=True,
    records=Records(reduce=reduce_inference, mean=False, weight="weight"),
    yardsticks=Yardsticks(guess="guess", best_answer=best_answer),
)
