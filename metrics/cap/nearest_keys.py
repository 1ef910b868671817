"""The keys of a release at the smallest Hamming distance of a key: how many records have them, and how many hit.

Keys matched with sets of values: which released records may be of a key, and how many of them say the secret.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.neighbours.records import warn_if_long
from synthrisk.metrics.tables.codes import Codes, compact, frequencies, matches, pack, place_values, values_in_class
from synthrisk.metrics.tables.tables import Inside, Tables, inside, shown

_BLOCK = 2_000_000  # cells of a block where all pairs are compared by numpy
_MOST = 255  # keys that compiled code counts in a byte
_CELL = 0.015  # nanoseconds that it takes for a cell of a pair, as measured


class NearestKeys(NamedTuple):
    """What is found of each query, (n,) floats each."""

    total: np.ndarray  # synthetic records at the smallest distance
    hit: np.ndarray  # those of them with the query's sensitive values
    distance: np.ndarray  # quasi-identifiers that differ


_Pairs = Callable[[np.ndarray, np.ndarray, np.ndarray], NearestKeys]


def nearest_keys(
    keys: list[Codes], target: Codes, queries: np.ndarray, weights: np.ndarray | None = None
) -> NearestKeys:
    """Count the synthetic records at the smallest Hamming distance of some real records, and the hits.

    A synthetic record at distance d from a key agrees with it on exactly one subset of k - d columns. So summing counts
    over all subsets of that size, level by level, counts each nearest record once. Where that takes longer than to
    compare all pairs, all pairs are compared.

    Args:
        keys: Codes of each of the k quasi-identifiers, real and synthetic.
        target: Codes of the sensitive values.
        queries: (n,) positions of real records, none of whose keys is in the release.
        weights: (m,) how many records each synthetic one stands for, where all are distinct; None: each for itself.
    """
    real = np.column_stack([k.tables[0][queries] for k in keys] + [target.tables[0][queries]])
    synthetic = np.column_stack([k.tables[1] for k in keys] + [target.tables[1]])
    width = len(keys)
    if _pairs_are_cheaper(len(real), len(synthetic), width, 1):
        return _all_pairs(real, synthetic, np.ones(len(synthetic), dtype=np.int64) if weights is None else weights)
    sizes = [k.size for k in keys] + [target.size]
    (first, back), _ = _distinct(real, sizes)
    if weights is None:
        (rows, _), weights = _distinct(synthetic, sizes)
        synthetic = synthetic[rows]
    found = _by_subsets(real[first], synthetic, weights, sizes)
    return NearestKeys(*(each[back] for each in found))


def _by_subsets(real: np.ndarray, synthetic: np.ndarray, weight: np.ndarray, sizes: list[int]) -> NearestKeys:
    width = len(sizes) - 1
    radix = place_values(sizes[:width])
    total, hit, distance = (np.zeros(len(real)) for _ in range(3))
    live = np.arange(len(real))
    for level in range(1, width + 1):
        if _pairs_are_cheaper(len(live), len(synthetic), width, level):
            total[live], hit[live], distance[live] = _all_pairs(real[live], synthetic, weight)
            break
        here, there = real[live], synthetic
        words = [np.concatenate([here[:, c], there[:, c]]) * r for c, r in enumerate(radix)]
        whole = np.sum(words, axis=0)
        found = np.zeros((2, len(live)))
        for dropped in combinations(range(width), level):
            if words:  # one number a row holds all its codes: those of the dropped columns are taken out
                kept = whole - words[dropped[0]] - sum(words[c] for c in dropped[1:])
                key = compact([kept[: len(live)], kept[len(live) :]])
            else:
                own = [Codes((here[:, c], there[:, c]), sizes[c]) for c in range(width) if c not in dropped]
                key = pack([Codes((np.zeros_like(here[:, 0]), np.zeros_like(there[:, 0])), 1), *own])
            pair = pack([key, Codes((here[:, width], there[:, width]), sizes[width])])
            for count, codes in zip(found, (key, pair), strict=True):
                count += np.bincount(codes.tables[1], weight, codes.size)[codes.tables[0]]
        total[live], hit[live] = found
        distance[live] = level
        live = live[found[0] == 0]
        if not len(live):
            break
    return NearestKeys(total, hit, distance)


def _pairs_are_cheaper(real: int, synthetic: int, width: int, level: int) -> bool:
    subsets = comb(width, level) * (60_000 + 12 * (real + synthetic))  # nanoseconds, as measured
    return subsets > _CELL * real * synthetic * (width + 4)


def _distinct(rows: np.ndarray, sizes: list[int]) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return positions of distinct rows, the map back to all rows, and how often each occurs."""
    codes = pack([Codes((rows[:, c],), size) for c, size in enumerate(sizes)]).tables[0]
    _, first, back, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return (first, back), counts


def _all_pairs(real: np.ndarray, synthetic: np.ndarray, weight: np.ndarray) -> NearestKeys:
    narrow = np.min_scalar_type(max(real.max(), synthetic.max()))  # the fewest bytes compare fastest
    compare = compiled_pairs() if real.shape[1] <= _MOST + 1 else plain_pairs
    return compare(real.astype(narrow), np.ascontiguousarray(synthetic.T.astype(narrow)), weight)


@cache
def compiled_pairs() -> _Pairs:
    """Return the comparison of all pairs by compiled code, or ``plain_pairs`` where numba cannot be imported."""
    try:
        from synthrisk.metrics.cap.nearest_keys_compiled import pooled
    except ImportError:
        return plain_pairs
    return lambda real, columns, weight: NearestKeys(*pooled(real, columns, weight))


def plain_pairs(real: np.ndarray, columns: np.ndarray, weight: np.ndarray) -> NearestKeys:
    """Compare all pairs by numpy: the reference, and what runs without numba; arguments as ``pooled``."""
    width = len(columns) - 1
    total, hit, distance = (np.zeros(len(real)) for _ in range(3))
    step = max(1, _BLOCK // len(weight))
    for start in range(0, len(real), step):
        block = real[start : start + step]
        differ = np.zeros((len(block), len(weight)), dtype=np.min_scalar_type(width))
        for column in range(width):
            differ += block[:, column, None] != columns[column]
        smallest = differ.min(axis=1)
        row, near = np.divmod(np.flatnonzero(differ == smallest[:, None]), len(weight))
        right = block[row, width] == columns[width][near]
        own = slice(start, start + step)
        total[own], distance[own] = np.bincount(row, weight[near], len(block)), smallest
        hit[own] = np.bincount(row, weight[near] * right, len(block))
    return NearestKeys(total, hit, distance)


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
    ours, theirs = (_distinct_rows(side) for side in pack([*keys, target]).tables)
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


def _distinct_rows(codes: np.ndarray) -> _Rows:
    return _Rows(*np.unique(codes, return_index=True, return_inverse=True)[1:])


class _Shares(NamedTuple):
    """How often sensitive values are said, of which some are released as sets; several columns are joint codes."""

    is_set: np.ndarray  # (size,) whether a released code stands for a set in any column
    share: np.ndarray  # (sets + 1, size) of each set the shares of the real values that it holds, which sum to 1
    row: np.ndarray  # (size,) row of each released code; 0 where it is no set

    @classmethod
    def of(cls, tables: Tables, hidden: Sequence[str]) -> "_Shares":
        joint = tables.codes(hidden)
        real, released = (_distinct_rows(side) for side in joint.tables)
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
