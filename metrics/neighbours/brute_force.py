"""What a search of nearest records is, and the one by numpy: every record against every other.

It is the reference for the others, and what runs without numba. All find the same, to the last bit.
"""

import warnings
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from synthrisk.metrics.neighbours.records import Records, Scale, sums_of


def warn_if_long(queries: int, rows: float, columns: int, limit: float) -> None:
    """Warn if ``queries`` records, each beside ``rows`` others in ``columns``, mean more than ``limit`` cells.

    Cells are counted, not timed, so that the warning is the same on every machine: ``limit`` cells are compared in
    about two minutes by two processors.
    """
    cells = queries * rows * columns
    if cells > limit:
        warnings.warn(
            f"the nearest of each of {queries} records will take about {2 * cells / limit:.0f} minutes of two "
            f"processors: each is compared with about {rows:.0f} others in {columns} columns; fewer records or "
            "columns take less",
            UserWarning,
            stacklevel=2,
        )


_CELLS = 500_000  # distances held at once
_LONG = 5e10  # cells compared in about two minutes


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

    def prepare(self) -> None:
        """Compile what a search of few records does not run."""


class Plain:
    """A ``Search`` of ``reference``, m rows, where ``scale`` is what differences cost; it divides nothing."""

    def __init__(self, reference: Records, scale: Scale, like: object = None):
        self._reference = reference
        self._scale = scale

    def nearest(self, queries: Records, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k smallest sums of each query and their rows (``Search.nearest``)."""
        sums, rows = np.empty((len(own), k)), np.empty((len(own), k), dtype=np.int64)
        columns = queries.numbers.shape[1] + queries.codes.shape[1]
        warn_if_long(len(own), len(self._reference.codes), columns, _LONG)
        for block, away in self._blocks(queries, own):
            each = np.arange(len(away))
            for place in range(k):
                found = np.argmin(away, axis=1)  # the first of equals
                sums[block, place], rows[block, place] = away[each, found], found
                away[each, found] = np.inf
        return sums, rows

    def count(self, queries: Records, own: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Return how many rows have sums within the limit of each query (``Search.count``)."""
        return np.concatenate([(away <= limits[block, None]).sum(axis=1) for block, away in self._blocks(queries, own)])

    def within(self, queries: Records, own: np.ndarray, limits: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return those rows, query after query (``Search.within``)."""
        found = [np.nonzero(away <= limits[block, None])[1] for block, away in self._blocks(queries, own)]
        return np.concatenate(found)

    def forget(self) -> None:
        """Do nothing: no query is kept (``Search.forget``)."""

    def prepare(self) -> None:
        """Do nothing: nothing is compiled (``Search.prepare``)."""

    def _blocks(self, queries: Records, own: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield sums of some queries to all rows, (queries, m); infinite where a query may not find a row."""
        step = max(1, _CELLS // len(self._reference.codes))
        for start in range(0, len(own), step):
            block = slice(start, start + step)
            away = sums_of(Records(*(cells[block, None, :] for cells in queries)), self._reference, self._scale)
            bound = np.flatnonzero(own[block] >= 0)
            away[bound, own[block][bound]] = np.inf
            yield block, away
