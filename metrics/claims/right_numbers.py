"""When a claim about a number is right: the guessed number lies within a tolerance of the truth."""

import numpy as np


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
