"""The real records that were taken last: the same for every release, so that what is found of them serves again.

A release that is a copy of them, row for row, is recognised too. Records are never changed, so that they can be shared.
"""

from typing import TypeVar

import numpy as np

_T = TypeVar("_T", bound=tuple[np.ndarray, ...])
_FEW = 1_000  # rows that tell most tables apart
_LAST: list[tuple[np.ndarray, ...]] = []  # one at most: a million records take 100 MB


def remembered(real: _T) -> _T:
    """Return the real records that were taken last, if these have the same cells; otherwise keep these."""
    known = recognised(real)
    _LAST[:] = [known]
    return known


def recognised(records: _T) -> _T:
    """Return the real records that were taken last, if these have the same cells; otherwise these."""
    for last in [*_LAST]:  # another thread may take others meanwhile
        if isinstance(last, type(records)) and _are_equal(last, records):
            return last
    return records


def _are_equal(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    pairs = [*zip(one, other, strict=True)]
    return all(np.array_equal(a[:_FEW], b[:_FEW]) for a, b in pairs) and all(np.array_equal(a, b) for a, b in pairs)
