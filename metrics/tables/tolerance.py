"""How near a guess of a number must come: as a share of its value, of the column's spread, or in days.

When a claim about a number is right: the guessed number lies within a tolerance of the truth.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables

Tolerance: TypeAlias = float | str | None
ErrorName = Literal["symmetric", "stabilized_relative", "absolute"]

OF_SPREAD = 0.10  # of the interquartile range: the tolerance of dates and durations unless one is given
TOO_WIDE = 0.9  # share of the records that one constant guess is right for, from which a tolerance says nothing
NANOSECONDS = 86_400e9  # of a day
_SPREAD = "iqr"


def check_tolerance(tolerance: object) -> None:
    """Refuse a text that is neither a duration above 0 nor a share of the interquartile range; numbers pass.

    Example:
        >>> check_tolerance("30 days"), check_tolerance("0.1 iqr"), check_tolerance(0.05)
        (None, None, None)
    """
    if isinstance(tolerance, str) and _read(tolerance) is None:
        rule = "a number, a duration such as '30 days', or a share of the interquartile range such as '0.1 iqr'"
        raise InputError(f"tolerance must be {rule}, got {tolerance!r}")


def interquartile_range(values: np.ndarray) -> float:
    """Return the distance of the quartiles, without missing values; NaN where there are no others.

    Example:
        >>> interquartile_range(np.array([1.0, 2.0, 3.0, 4.0, 5.0, np.nan]))
        2.0
    """
    there = values[~np.isnan(values)]
    return float(np.subtract(*np.quantile(there, [0.75, 0.25]))) if len(there) else float("nan")


def absolute_tolerance(tolerance: Tolerance, truth: np.ndarray, *, temporal: bool) -> float | None:
    """Return a tolerance in the units of the column, None where it is a share of each value.

    For numbers a tolerance t is a share of each value. Dates and durations have no meaningful zero, so t is a share of
    the interquartile range of the real column, 10 % unless given. A duration such as ``"30 days"`` is taken as it is.
    ``"0.1 iqr"`` is a share of the interquartile range of any column; it suits numbers far from zero, such as years.

    Args:
        tolerance: As the user gave it; ``check_tolerance`` has passed it.
        truth: (n,) real values, NaN where missing; dates and durations in nanoseconds.
        temporal: Whether they are dates or durations.

    Raises:
        InputError: A duration for plain numbers.

    Example:
        >>> days = np.array([0.0, 10.0, 20.0, 30.0, 40.0]) * NANOSECONDS
        >>> [absolute_tolerance(t, days, temporal=True) / NANOSECONDS for t in (None, 0.5, "0.5 iqr", "36 hours")]
        [2.0, 10.0, 10.0, 1.5]
        >>> absolute_tolerance(0.1, days, temporal=False) is None
        True
    """
    if isinstance(tolerance, str):
        amount, unit = _read(tolerance) or (float("nan"), "")
        if unit != _SPREAD and not temporal:
            raise InputError(f"tolerance of numbers must be a number or a share such as '0.1 iqr', got {tolerance!r}")
        return amount * interquartile_range(truth) if unit == _SPREAD else amount
    if not temporal:
        return None
    return (OF_SPREAD if tolerance is None else float(tolerance)) * interquartile_range(truth)


def too_wide(guess: float, truth: np.ndarray, *, temporal: bool = False) -> str | None:
    """Return a warning where one constant guess is right about more than nine in ten different values, else None.

    Where the middle half of the records have one value that is what they are like, and no fault of the tolerance.
    """
    if not guess > TOO_WIDE or not interquartile_range(truth) > 0:
        return None
    instead = "a shorter duration" if temporal else "a share of the column's spread, such as tolerance '0.1 iqr'"
    return (
        f"the tolerance is wider than the column: one constant guess is right about {guess:.0%} of the records; "
        f"give {instead}"
    )


class NumericTarget(NamedTuple):
    """A numeric column to be guessed and what counts as near; dates and durations in days."""

    truth: np.ndarray  # (n,) real values, NaN where missing
    released: np.ndarray  # (m,)
    limit: float
    error: ErrorName
    temporal: bool


def numeric_target(tables: Tables, column: str, tolerance: Tolerance, error: ErrorName) -> NumericTarget:
    """Return the values of a numeric column, and the error and tolerance in force.

    Dates, durations and a tolerance with a unit have the absolute error, whose tolerance then is in units of the
    column (days). Others have the error given and a tolerance of 0.10 unless given.

    Raises:
        InputError: No value is there; another error is asked for where only the absolute one makes sense; an
            interquartile range of 0, of which every share is 0.
    """
    (truth, released), temporal = tables.floats(column), is_temporal(tables.real[column])
    if np.isnan(truth).all():
        raise InputError(f"sensitive must have values in the real table, got missing cells only in {column!r}")
    limit = absolute_tolerance(tolerance, truth, temporal=temporal)
    if limit is None:
        return NumericTarget(truth, released, 0.10 if tolerance is None else float(tolerance), error, temporal)
    if error == "stabilized_relative" or (error == "absolute" and not isinstance(tolerance, str)):
        raise InputError(f"error of dates and durations must be left out or absolute with a unit, got {error!r}")
    if not limit > 0:
        instead = "a duration such as '30 days'" if temporal else "a share of each value such as 0.1"
        rule = f"tolerance must be {instead} where the middle half of the values are equal, as in {column!r}"
        raise InputError(f"{rule}, got {tolerance!r}")
    unit = NANOSECONDS if temporal else 1.0
    return NumericTarget(truth / unit, released / unit, limit / unit, "absolute", temporal)


def _read(text: str) -> tuple[float, str] | None:
    """Return the amount and the unit: ``iqr``, or nothing for nanoseconds; None where the text breaks the rule."""
    words = text.lower().split()
    try:
        if len(words) == 2 and words[1] == _SPREAD:
            amount, unit = float(words[0]), _SPREAD
        elif any(c.isalpha() for c in text):
            amount, unit = float(pd.Timedelta(text).value), ""
        else:
            return None
    except ValueError:
        return None
    return (amount, unit) if 0 < amount < np.inf and not text.lower().startswith("na") else None


def is_close(guessed: np.ndarray, truth: np.ndarray, tolerance: float, scale: float, *, relative: bool) -> np.ndarray:
    """Tell whether |guessed - truth| <= tolerance x max(|truth|, scale), or tolerance x scale where not ``relative``.

    ``scale`` keeps truths near 0 from asking for more than the data know; dates have no 0 that a share of them could
    be taken of, so there it stands alone. ``guessed`` and ``truth`` are (n,) floats, ``tolerance`` lies in [0, 1), and
    ``scale`` is in units of the truth, >= 0.

    Example:
        >>> is_close(np.array([-95.0, 0.4]), np.array([-100.0, 0.0]), 0.05, 10.0, relative=True).tolist()
        [True, True]
    """
    allowed = tolerance * np.maximum(np.abs(truth), scale) if relative else np.full(np.shape(truth), tolerance * scale)
    return np.asarray(np.abs(guessed - truth) <= allowed)


def share_close(
    guesses: np.ndarray,
    truths: np.ndarray,
    tolerance: float,
    scale: float,
    *,
    relative: bool,
    entities: np.ndarray | None = None,
) -> np.ndarray:
    """Return for each guess the share of all truths that it is close to, (n,).

    ``guesses``, (n,), and ``truths``, (m,) with m >= 1, are floats without NaN. With ``entities``, (m,), the number of
    the entity of each truth, it is the share of the entities that have a truth close to the guess.

    Example:
        >>> guesses, truths = np.array([1.0, 50.0]), np.array([1.0, 1.04, 9.0, 100.0])
        >>> share_close(guesses, truths, 0.05, 0.0, relative=True).tolist()
        [0.5, 0.0]
        >>> share_close(guesses, truths, 0.05, 0.0, relative=True, entities=np.array([7, 7, 8, 9])).round(3).tolist()
        [0.333, 0.0]
    """
    order, values, back = np.argsort(truths, kind="stable"), *np.unique(guesses, return_inverse=True)
    first, last = _ranges(values, truths[order], tolerance, scale, relative=relative)
    if entities is None:
        return ((last - first + 1) / len(truths))[back]
    return (_distinct(first, last, entities[order]) / len(np.unique(entities)))[back]


def is_close_to_own(
    guesses: np.ndarray,
    of: np.ndarray,
    truths: np.ndarray,
    entities: np.ndarray,
    tolerance: float,
    scale: float,
    *,
    relative: bool,
) -> np.ndarray:
    """Tell for each guess whether any truth of the entity that it is about is close to it, (n,) booleans.

    ``of``, (n,), is the number of the entity that each guess is about; all others as in ``share_close``.

    Example:
        >>> guesses, truths = np.array([9.0, 9.0]), np.array([1.0, 9.1, 2.0])
        >>> is_close_to_own(guesses, np.array([7, 8]), truths, np.array([7, 7, 8]), 0.05, 0.0, relative=True).tolist()
        [True, False]
    """
    m, order, values, back = len(truths), np.argsort(truths, kind="stable"), *np.unique(guesses, return_inverse=True)
    first, last = _ranges(values, truths[order], tolerance, scale, relative=relative)
    places = np.sort(entities[order] * m + np.arange(m))  # entity by entity, the smallest truth first
    low, high = of * m + first[back], of * m + last[back]
    found = places[np.minimum(np.searchsorted(places, low), m - 1)]
    return np.asarray((low <= found) & (found <= high))


def _ranges(
    values: np.ndarray, ordered: np.ndarray, tolerance: float, scale: float, *, relative: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last place in ``ordered`` that each value is close to; last = first - 1 where none is."""
    # With a tolerance below 1 the close truths have no gap between them: both ends are found by bisection of the rule.
    middle = np.searchsorted(ordered, values)

    def end(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
        while True:
            open_ = np.abs(outside - inside) > 1
            if not open_.any():
                return inside
            tried = np.where(open_, (inside + outside) // 2, inside)
            close = is_close(values, ordered[np.clip(tried, 0, len(ordered) - 1)], tolerance, scale, relative=relative)
            inside = np.where(open_ & close, tried, inside)
            outside = np.where(open_ & ~close, tried, outside)

    return end(middle, np.full(len(values), -1)), end(middle - 1, np.full(len(values), len(ordered)))


def _distinct(first: np.ndarray, last: np.ndarray, entities: np.ndarray) -> np.ndarray:
    """Return how many entities are at the places from first to last, both ascending, (k,).

    An entity counts at its first place in a range: place i, whose entity was last at p, if p < first <= i <= last.
    """
    places, by_entity = np.arange(len(entities)), np.argsort(entities, kind="stable")
    again = entities[by_entity][1:] == entities[by_entity][:-1]
    before = np.full(len(entities), -1)
    before[by_entity[1:][again]] = by_entity[:-1][again]
    start = np.maximum(np.searchsorted(last, places), np.searchsorted(first, before, side="right"))
    stop = np.maximum(np.searchsorted(first, places, side="right"), start)
    counts = [np.bincount(border, minlength=len(first) + 1) for border in (start, stop)]
    return np.asarray(np.cumsum(counts[0] - counts[1])[: len(first)])
