"""Exact searches by numpy, every record against every other: the reference, and what runs without numba."""

from collections.abc import Iterator

import numpy as np

from synthrisk.metrics.neighbours.long_search import warn_if_long
from synthrisk.metrics.neighbours.records import Records, Scale, sums_of

_CELLS = 500_000  # distances held at once
_LONG = 5e10  # cells compared in about two minutes


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

    def _blocks(self, queries: Records, own: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield sums of some queries to all rows, (queries, m); infinite where a query may not find a row."""
        step = max(1, _CELLS // len(self._reference.codes))
        for start in range(0, len(own), step):
            block = slice(start, start + step)
            away = sums_of(Records(*(cells[block, None, :] for cells in queries)), self._reference, self._scale)
            bound = np.flatnonzero(own[block] >= 0)
            away[bound, own[block][bound]] = np.inf
            yield block, away
