"""Exact nearest records of mixed types; compiled code and numpy find the same, to the last bit."""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np

from synthrisk.metrics.neighbours.brute_force import Plain
from synthrisk.metrics.neighbours.differing_cells import fewest_differing
from synthrisk.metrics.neighbours.records import Records, Scale


class Search(Protocol):
    """Records that others are searched among: ``Search(reference, scale, like)``."""

    def nearest(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k smallest sums of each query and their rows, (n, k) each, the nearest first.

        Among equals the lowest row number comes first.

        Args:
            queries: n records.
            own: (n,) the row that a query may not find, -1 for none.
            k: How many; at most as many as a query may find.
        """

    def count(self, queries: Records, own: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return how many rows have sums within the limit of each query, (n,)."""

    def within(self, queries: Records, own: np.ndarray, limits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return those rows, ascending, query after query, where ``counts`` says how many they are."""

    def forget(self) -> None:
        """Let go of all queries but the records searched."""


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
    fewest_differing([own], [own])


@cache
def _quickest() -> Callable[[Records, Scale, Search | None], Search]:
    try:
        from synthrisk.metrics.neighbours.box_search import Forest
    except ImportError:
        return Plain
    return Forest
