"""Keys matched with sets of values: which released records may be of a key, and how many of them say the secret."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.cap.nearest_keys import nearest_keys
from synthrisk.metrics.neighbours.brute_force import warn_if_long
from synthrisk.metrics.tables.codes import Codes, frequencies, matches, pack, values_in_class
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_sets import Inside, inside, shown

_CELLS = 2_000_000  # pairs compared at once
_LONG = 1e10  # cells compared in about two minutes


class Pools(NamedTuple):
    """What is found of each real record in the released records whose key is nearest to its own, (n,) each."""

    total: np.ndarray  # released records at the smallest distance
    hit: np.ndarray  # of these, those that say the sensitive values: each with the share of its set that they are
    distance: np.ndarray  # quasi-identifiers of which the set does not hold the real value
    unanimous: np.ndarray  # whether all say one and the same, and no set of values


def pools(tables: Tables, known: Sequence[str], hidden: Sequence[str]) -> Pools:
    """Return the pool of each real record: the released records at the smallest distance of its key.

    The distance counts the quasi-identifiers whose released cell neither is the real value nor holds it. A released
    sensitive cell that stands for a set says its values as often as they are among the real records: of the true
    values t the record says p(t) / p(set) if the set holds them, p the share of the real records; several columns
    are taken jointly.
    """
    return tables.shared(("pools", tuple(known), tuple(hidden)), lambda: _any_pools(tables, known, hidden))


def _any_pools(tables: Tables, known: Sequence[str], hidden: Sequence[str]) -> Pools:
    """Return the pools; columns of which nothing is shown tell no two keys apart, and need not be compared."""
    keys, secrets = shown(tables, known), shown(tables, hidden)
    if tables.sets.among(keys) or (secrets and tables.sets.among(hidden)):
        return _pools(tables, keys, hidden)
    return _of_exact(tables, keys, hidden, says=bool(secrets))


def _of_exact(tables: Tables, known: Sequence[str], hidden: Sequence[str], *, says: bool) -> Pools:
    """Return the pools where all cells that are shown are exact; ``says``: whether any of the secret is."""
    n, m, target = len(tables.real), len(tables.synthetic), tables.codes(hidden)
    key = tables.codes(known) if known else Codes((np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)), 1)
    pair = pack([key, target])
    total, hit, distance = (each.astype(float) for each in (matches(key), matches(pair), np.zeros(n)))
    seen, unseen = total > 0, np.flatnonzero(total == 0)
    if len(unseen):
        found = nearest_keys([tables.codes([c]) for c in known], target, unseen)
        total[unseen], hit[unseen], distance[unseen] = found.total, found.hit, found.distance
    if says:
        return Pools(total, hit, distance, seen & (values_in_class(key, pair, 1)[key.tables[0]] == 1))
    return Pools(total, total * frequencies(target)[target.tables[0]], distance, np.zeros(n, dtype=bool))


def _pools(tables: Tables, known: Sequence[str], hidden: Sequence[str]) -> Pools:
    keys, target = [tables.codes([c]) for c in known], tables.codes(hidden)
    ours, theirs = (_distinct(side) for side in pack([*keys, target]).tables)
    sets = [inside(tables, c) if tables.sets.among([c]) else None for c in known]
    shares = _Shares.of(tables, hidden) if tables.sets.among(hidden) else None
    weights, released = np.bincount(theirs.of_row).astype(float), target.tables[1][theirs.first]
    is_set = np.zeros(len(released), dtype=bool) if shares is None else shares.is_set[released]
    warn_if_long(len(ours.first), len(released), len(known), _LONG)
    found, step = np.zeros((4, len(ours.first))), max(1, _CELLS // len(released))
    for start in range(0, len(ours.first), step):
        rows = ours.first[start : start + step, None]
        apart = np.zeros((len(rows), len(released)), dtype=np.min_scalar_type(len(keys)))
        for codes, own in zip(keys, sets, strict=True):
            real, other = codes.tables[0][rows], codes.tables[1][theirs.first]
            apart += ~((real == other) if own is None else own.equal(real, other))
        distance = apart.min(axis=1)
        near = apart == distance[:, None]
        truth = target.tables[0][rows]
        says = near & (truth == released) if shares is None else near * shares.said(truth, released)
        first = released[near.argmax(axis=1), None]
        alike = (~near | ((released == first) & ~is_set)).all(axis=1)
        found[:, start : start + step] = near @ weights, says @ weights, distance, alike
    total, hit, distance, unanimous = (each[ours.of_row] for each in found)
    return Pools(total, hit, distance, unanimous > 0)


class _Rows(NamedTuple):
    first: np.ndarray  # the first row of each distinct record
    of_row: np.ndarray  # which of them each row is


def _distinct(codes: np.ndarray) -> _Rows:
    return _Rows(*np.unique(codes, return_index=True, return_inverse=True)[1:])


class _Shares(NamedTuple):
    """How often sensitive values are said, of which some are released as sets; several columns are joint codes."""

    is_set: np.ndarray  # (size,) whether a released code stands for a set in any column
    share: np.ndarray  # (sets + 1, size) of each set the shares of the real values that it holds, which sum to 1
    row: np.ndarray  # (size,) row of each released code; 0 where it is no set

    @classmethod
    def of(cls, tables: Tables, hidden: Sequence[str]) -> "_Shares":
        joint = tables.codes(hidden)
        real, released = (_distinct(side) for side in joint.tables)
        codes = [side.tables for side in (tables.codes([c]) for c in hidden)]
        within: list[Inside] = [inside(tables, c) for c in hidden]
        coarse = np.any([i.row[c[1][released.first]] > 0 for i, c in zip(within, codes, strict=True)], axis=0)
        frequency = np.bincount(joint.tables[0], minlength=joint.size) / len(joint.tables[0])
        row, shares = np.zeros(joint.size, dtype=np.int64), [np.zeros(joint.size)]
        mine = joint.tables[0][real.first]
        for place in released.first[coarse]:
            pairs = zip(within, codes, strict=True)
            held = np.all([i.equal(c[0][real.first], c[1][place]) for i, c in pairs], axis=0)
            own = np.zeros(joint.size)
            own[mine[held]] = frequency[mine[held]]
            row[joint.tables[1][place]] = len(shares)
            shares.append(own / (own.sum() or 1.0))
        return cls(row > 0, np.array(shares), row)

    def said(self, truth: np.ndarray, released: np.ndarray) -> np.ndarray:
        """Return how often each released code says each true one; arrays are broadcast."""
        row = self.row[released]
        return np.where(row > 0, self.share[row, truth], truth == released)
