"""The nearest records of each record: exact, each search made once and shared by all metrics.

Every function takes ``tables``, ``space`` (``euclid`` or ``gower``) and by name ``Options``. ``InputError`` says which
of them breaks its rule, or that fewer than ``k`` records can be found. Distances are standard deviations in
euclid, and a share of the columns' ranges in gower.

The quickest exact search that there is, and how records are divided once for all searches of them.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from typing import Literal, NamedTuple, TypedDict, Unpack

import numpy as np
from pandas.util import hash_array

from synthrisk.metrics.errors import InputError, check_whole
from synthrisk.metrics.neighbours.records import (
    Coarse,
    Plain,
    Ranges,
    Records,
    Scale,
    Search,
    Side,
    Space,
    SpaceName,
    even,
    mixed,
    scale,
    sets_of,
    space_of,
)
from synthrisk.metrics.tables.tables import Tables


def search(reference: Records, scale: Scale, like: Search | None = None) -> Search:
    """Return the quickest search that there is: box trees where numba can be imported.

    ``like`` is a search of the same records at other costs: both divide them in one way, which decides how fast a
    search is, never what it finds.
    """
    return _quickest()(reference, scale, like)


def between(tables: Tables, space: Space, reference: Records, side: Side) -> Search:
    """Return a search of real records for released ones, or of released for real ones, ``side`` the one searched.

    Where cells of the release stand for sets of values, the nearest of these counts.
    """
    sets, costs = sets_of(tables, space), scale(tables, space, side)
    return search(reference, costs) if sets is None else Coarse(reference, costs, sets, side)


def prepare(*, walks: bool = False) -> None:
    """Compile what searches run, so that processes started next need not all do it at once.

    ``walks`` through trees, too: they take ten seconds, and searches of few records do without until they are compiled.
    """
    records = Records(np.array([[0.0], [1.0], [3.0]]), np.array([[0], [1], [1]], dtype=np.int32))
    scale = Scale(np.ones(1), np.ones(1), np.ones(2), np.array([0, 2]), squared=False)
    search(records, scale).prepare(records.take(np.arange(3)), walks=walks)  # of others, which fall into boxes first


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


_MOST = 4  # searches whose results are kept
_Found = tuple[np.ndarray, np.ndarray]
_LAST: list[tuple[Records, bytes]] = []  # records and their digest
_KEPT: "OrderedDict[bytes, _Found]" = OrderedDict()


def found_before(records: Records, scale: Scale, k: int, find: Callable[[], _Found]) -> _Found:
    """Return sums and rows of the k nearest others of each record, or of more.

    They are known by all that decides them, to the bit: the same records with the same costs, and as large a ``k``.
    Where they are not known, ``find`` is called.
    """
    key = _digest(records, scale)
    known = _KEPT.pop(key, None)
    if known is None or known[0].shape[1] < k:
        known = find()
    _KEPT[key] = known
    while len(_KEPT) > _MOST:
        _KEPT.popitem(last=False)
    return known


def _digest(records: Records, scale: Scale) -> bytes:
    return _of(scale[:-1], _of_records(records) + bytes([scale.squared]))


class _Marked(NamedTuple):
    """Records told by their cells: two that differ have one mark with a chance of 2^-64."""

    marks: np.ndarray  # (n,) uint64
    distinct: np.ndarray  # ascending
    first: np.ndarray  # of each distinct mark the position of the first record that has it


_SUMS: "OrderedDict[bytes, tuple[np.ndarray, np.ndarray]]" = OrderedDict()  # distinct marks, and the sums of each
_WORTH = 10**8  # cells of all pairs of records from which a search is worth to be known again
_WIDE = 25  # columns above which all rows are compared: a second one found costs a tenth, and tells who has no tie
_ODD = np.uint64(0x9E3779B97F4A7C15)


def _marked(records: Records) -> _Marked:
    marks = np.zeros(len(records.codes), dtype=np.uint64)
    for cells in (*records.numbers.T, *records.codes.T):
        marks = hash_array(marks * _ODD + hash_array(np.ascontiguousarray(cells)))
    return _Marked(marks, *np.unique(marks, return_index=True))


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


SEVERAL = 5
"""Neighbours that are sought among real records whatever a release holds: who is vulnerable is told by as many."""

Direction = Literal["real_to_synthetic", "synthetic_to_real", "real_to_real", "synthetic_to_synthetic"]


class Options(TypedDict, total=False):
    """What ``records.space_of`` takes: what columns are multiplied by, which of them count, and the kind of ranges."""

    weights: Mapping[str, float] | None
    columns: Sequence[str] | None
    ranges: Ranges


class Nearest(NamedTuple):
    """The k nearest records of n records, the nearest first; among equals the first of the table."""

    distances: np.ndarray  # (n, k) float64
    rows: np.ndarray  # (n, k) positions in the table searched


def nearest_distances(
    tables: Tables, direction: Direction, space: SpaceName, k: int = 1, **options: Unpack[Options]
) -> np.ndarray:
    """Return the distances of the k nearest records of each, (n, k), ascending: quicker than to ask for rows too.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]}))
        >>> nearest_distances(tables, "real_to_synthetic", "gower").tolist()
        [[0.125], [0.0]]
    """
    return Pass(tables, direction, space_of(tables, space, **options)).distances(k)


def real_to_synthetic(tables: Tables, space: SpaceName, k: int = 1, **options: Unpack[Options]) -> Nearest:
    """Return the k nearest synthetic records of each real record.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]}))
        >>> found = real_to_synthetic(tables, "gower", k=2)
        >>> found.distances.tolist(), found.rows.tolist()
        ([[0.125, 0.5], [0.0, 0.375]], [[0, 1], [1, 0]])
    """
    return Pass(tables, "real_to_synthetic", space_of(tables, space, **options)).nearest(k)


def synthetic_to_real(tables: Tables, space: SpaceName, k: int = 1, **options: Unpack[Options]) -> Nearest:
    """Return the k nearest real records of each synthetic record."""
    return Pass(tables, "synthetic_to_real", space_of(tables, space, **options)).nearest(k)


def real_to_real(tables: Tables, space: SpaceName, k: int = 1, **options: Unpack[Options]) -> Nearest:
    """Return the k nearest other real records of each real record; a duplicate is another record."""
    return Pass(tables, "real_to_real", space_of(tables, space, **options)).nearest(k)


def synthetic_to_synthetic(tables: Tables, space: SpaceName, k: int = 1, **options: Unpack[Options]) -> Nearest:
    """Return the k nearest other synthetic records of each synthetic record; a duplicate is another record."""
    return Pass(tables, "synthetic_to_synthetic", space_of(tables, space, **options)).nearest(k)


def synthetic_to_some(tables: Tables, space: SpaceName, rows: np.ndarray, k: int = 1) -> Nearest:
    """Return for each synthetic record the k nearest among some real records, in the space of all real records.

    ``rows`` are distinct positions in the real table, as are the rows returned. Nothing is kept for later.
    """
    where, some = space_of(tables, space), np.sort(rows)
    check_k(k, len(some))
    both = mixed(tables, where)
    searched = between(tables, where, both.real.take(some), "real")
    sums, found = searched.nearest(both.synthetic, np.full(len(tables.synthetic), -1), k)
    return Nearest(as_distances(sums, where), some[found])


class Pass:
    """One search: for each record of a table its nearest records in another table, or in the same, in a space.

    Encodings, trees and results are kept with the tables.
    """

    def __init__(self, tables: Tables, direction: Direction, space: Space):
        sides: dict[Direction, tuple[Side, Side]] = {
            "real_to_synthetic": ("real", "synthetic"),
            "synthetic_to_real": ("synthetic", "real"),
            "real_to_real": ("real", "real"),
            "synthetic_to_synthetic": ("synthetic", "synthetic"),
        }
        if direction not in sides:
            raise InputError(f"direction must be one of {', '.join(sides)}, got {direction!r}")
        self.tables, self.space, self.key = tables, space, (direction, space)
        self._from, self._to = sides[direction]

    @property
    def queries(self) -> Records:
        """The records whose neighbours are sought."""
        return self._records(self._from)

    @property
    def own(self) -> np.ndarray:
        """The position that a query may not find: its own in the same table, -1 in another."""
        n = len(self.queries.codes)
        return np.arange(n) if self._from == self._to else np.full(n, -1)

    @property
    def search(self) -> Search:
        """The table searched; its tree is shared by all passes that search it in this space."""
        sets = sets_of(self.tables, self.space) if self._from != self._to else None
        if sets is not None:
            return between(self.tables, self.space, self._records(self._to), self._to)
        return self.tables.shared(("search", self._to, self.space), self._made)

    def _made(self) -> Search:
        records, costs = self._records(self._to), scale(self.tables, self.space, self._to)
        if set(self.space.weights) != {1.0} or not mixed(self.tables, self.space).complete:
            return search(records, costs)
        key = ("division", self._to, self.space.columns)
        divided = self.tables.shared(key, lambda: division(records, costs.starts, self._to))
        by = ("search by", id(records), costs.squared, *(each.tobytes() for each in costs[:-1]))
        return self.tables.shared(by, lambda: search(records, costs, divided))  # of a copy that of the real records

    def nearest(self, k: int) -> Nearest:
        """Return the k nearest; a pass that was made with a larger k is not made again."""
        sums, rows = self._kept(k, "rows", lambda: self._found(k))
        return Nearest(as_distances(sums[:, :k], self.space), rows[:, :k])

    def distances(self, k: int = 1) -> np.ndarray:
        """Return the distances of the k nearest, (n, k), ascending."""
        return as_distances(self.sums(k)[:, :k], self.space)

    def sums(self, k: int) -> np.ndarray:
        """Return the sums of the k nearest, (n, k) or with more columns, ascending.

        Unlike rows they do not depend on the order of records: so they are found once for all tables that have the same
        records.
        """
        second = self.space.name == "gower" and len(self.space.columns) > _WIDE
        sought = max(k, min(1 + second, self._others))
        return self._kept(k, "sums", lambda: (self._sums(sought),))[0]

    @property
    def _others(self) -> int:
        return len(self._records(self._to).codes) - (self._from == self._to)

    def _kept(self, k: int, what: str, find: Callable[[], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """Return sums, and rows where these are asked for, of k nearest or more."""
        check_k(k, self._others)
        kept: dict[tuple[str, int], tuple[np.ndarray, ...]] = self.tables.shared(("nearest", *self.key), dict)
        enough = [each for each in kept if each[0] in (what, "rows") and each[1] >= k]
        if enough:
            return kept[max(enough, key=lambda each: each[1])]
        found = find()
        kept[what, found[0].shape[1]] = found
        return found

    def _sums(self, k: int) -> np.ndarray:
        """Return the sums of the k nearest, as they were found of the same records in whatever order."""
        ours, theirs, within = self.queries, self._records(self._to), self._from == self._to
        if len(ours.codes) * len(theirs.codes) * len(self.space.columns) < _WORTH:
            return self._found(k)[0]
        if not within and sets_of(self.tables, self.space) is not None:
            return self._found(k)[0]
        own, costs = self._marked(ours), scale(self.tables, self.space, self._to)
        if within and len(own.distinct) < len(own.marks):  # equal records are each other's nearest, and count apart
            return self._found(k)[0]
        key = _of((*costs[:-1], own.distinct, np.sort(self._marked(theirs).marks)), bytes([costs.squared, within]))
        known = _SUMS.pop(key, None)
        if known is None or known[1].shape[1] < k:
            known = own.distinct, self._found(k)[0][own.first]
        _SUMS[key] = known
        while len(_SUMS) > 2 * _MOST:  # a look at a release takes five
            _SUMS.popitem(last=False)
        return known[1][np.searchsorted(known[0], own.marks)]

    def _marked(self, records: Records) -> _Marked:
        return self.tables.shared(("marks", id(records)), lambda: _marked(records))

    def _found(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not self._from == self._to == "real":
            return self.search.nearest(self.queries, self.own, k)
        costs = scale(self.tables, self.space, "real")
        sought = max(k, min(SEVERAL, self._others)) if self._is_of_real_alone(costs) else k
        return found_before(self.queries, costs, sought, lambda: self.search.nearest(self.queries, self.own, sought))

    def _is_of_real_alone(self, costs: Scale) -> bool:
        """Tell whether these costs in gower space are those of the real table without any release."""
        if self.space.name != "gower":
            return False
        alone = scale(self.tables, replace(self.space, ranges="reference"), "real")
        return np.array_equal(costs.factors, alone.factors)

    def _records(self, side: Side) -> Records:
        both = mixed(self.tables, self.space)
        return both.real if side == "real" else both.synthetic


def as_distances(sums: np.ndarray, space: Space) -> np.ndarray:
    """Return the distances of sums: their root in euclid, their mean over columns in gower."""
    return np.asarray(np.sqrt(sums) if space.name == "euclid" else sums / len(space.columns))


def as_sums(distances: np.ndarray, space: Space) -> np.ndarray:
    """Return the sums that have these distances, but for rounding."""
    return np.asarray(distances**2 if space.name == "euclid" else distances * len(space.columns))


def check_k(k: int, most: int) -> None:
    """Refuse a number of neighbours that cannot be found."""
    check_whole("k", k, 1, most, f"a whole number from 1 to the number of records searched, {most}")
