"""The nearest others among records, found once a process: the real table is the same for every release."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b

import numpy as np

from synthrisk.metrics.neighbours.records import Records, Scale

_MOST = 4  # searches whose results are kept
_Found = tuple[np.ndarray, np.ndarray]
_LAST: list[tuple[Records, bytes]] = []  # records and their digest
_KEPT: "OrderedDict[bytes, dict[int, _Found]]" = OrderedDict()


def found_before(records: Records, scale: Scale, k: int, sought: int, find: Callable[[], _Found]) -> _Found:
    """Return sums and rows of the k nearest others of each record.

    They are known by all that decides them, to the bit: the same records with the same costs, and as large a ``k``.
    Where they are not known, ``find`` is called, which returns the ``sought`` nearest, k or more.
    """
    key = _digest(records, scale)
    kept = _KEPT.pop(key, {})
    enough = [each for each in kept if each >= k]
    if not enough:
        kept[sought] = find()
    _KEPT[key] = kept
    while len(_KEPT) > _MOST:
        _KEPT.popitem(last=False)
    sums, rows = kept[min(enough, default=sought)]
    return sums[:, :k], rows[:, :k]


def _digest(records: Records, scale: Scale) -> bytes:
    return _of(scale[:-1], _of_records(records) + bytes([scale.squared]))


def _of_records(records: Records) -> bytes:
    """Return their digest, which is taken once of the records that were asked for last."""
    for last, known in [*_LAST]:  # another thread may ask for others meanwhile
        if records is last:
            return known
    digest = _of(records, repr((records.numbers.shape, records.codes.shape)).encode())
    _LAST[:] = [(records, digest)]
    return digest


def _of(arrays: Iterable[np.ndarray], start: bytes) -> bytes:
    digest = blake2b(start)
    for cells in arrays:
        digest.update(np.ascontiguousarray(cells).data)
    return digest.digest()
