"""The quickest exact search that there is, and how records are divided once for all searches of them."""

from collections.abc import Callable
from functools import cache

import numpy as np

from synthrisk.metrics.neighbours.brute_force import Plain, Search
from synthrisk.metrics.neighbours.differing_cells import fewest_differing
from synthrisk.metrics.neighbours.records import Records, Scale, Side, even


def search(reference: Records, scale: Scale, like: Search | None = None) -> Search:
    """Return the quickest search that there is: box trees where numba can be imported.

    ``like`` is a search of the same records at other costs: both divide them in one way, which decides how fast a
    search is, never what it finds.
    """
    return _quickest()(reference, scale, like)


def prepare() -> None:
    """Compile what searches run, so that processes started next need not all do it at once."""
    records = Records(np.array([[0.0], [1.0], [3.0]]), np.array([[0], [1], [1]], dtype=np.int32))
    scale = Scale(np.ones(1), np.ones(1), np.ones(2), np.array([0, 2]), squared=False)
    own = np.arange(3)
    searched = search(records, scale)
    limits = searched.nearest(records, own, 1)[0][:, 0]
    searched.within(records, own, limits, searched.count(records, own, limits))
    searched.prepare()
    fewest_differing([own], [own])


@cache
def _quickest() -> Callable[[Records, Scale, Search | None], Search]:
    try:
        from synthrisk.metrics.neighbours.box_search import Forest
    except ImportError:
        return Plain
    return Forest


_REAL: list[tuple[Records, Search]] = []  # those divided last, one at most: 150 MB a million


def division(records: Records, starts: np.ndarray, side: Side) -> Search:
    """Return a search by even costs: searches of the same records are quicker for its boxes, in either space."""
    for known, made in [*_REAL]:  # another thread may divide others meanwhile
        if known is records:
            made.forget()
            return made
    made = search(records, even(records, starts))
    if side == "real":
        _REAL[:] = [(records, made)]
    return made
