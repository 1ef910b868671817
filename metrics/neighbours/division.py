"""How records are divided into boxes, for all searches of them; the real records once for all releases."""

import numpy as np

from synthrisk.metrics.neighbours.records import Records, Side, even
from synthrisk.metrics.neighbours.search import Search, search

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
