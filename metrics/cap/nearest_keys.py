"""The keys of a release at the smallest Hamming distance of a key: how many records have them, and how many hit."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.tables.codes import Codes, compact, pack, place_values

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
