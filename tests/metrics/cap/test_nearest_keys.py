"""The nearest keys of a release, in each way that they are found, against plain loops."""

import sys

import numpy as np
import pytest

from synthrisk.metrics.cap import nearest_keys as module
from synthrisk.metrics.cap.nearest_keys import nearest_keys
from synthrisk.metrics.tables.codes import Codes

WAYS = {"pairs": {"_CELL": 0.0}, "subsets": {"_CELL": 1e9}, "pairs by numpy": {"_CELL": 0.0, "_MOST": 0}}


def loops(keys, target, queries):
    found = []
    for i in queries:
        apart = [sum(k.tables[0][i] != k.tables[1][j] for k in keys) for j in range(len(keys[0].tables[1]))]
        near = [j for j, d in enumerate(apart) if d == min(apart)]
        hits = sum(target.tables[1][j] == target.tables[0][i] for j in near)
        found.append((len(near), hits, min(apart)))
    return found


def found_by(keys, target, queries):
    found = nearest_keys(keys, target, queries)
    return found, list(zip(*(each.tolist() for each in found), strict=True))


def columns(rng, width, levels, real, synthetic):
    sizes = (real, synthetic)
    return [Codes(tuple(rng.integers(levels, size=size) for size in sizes), levels) for _ in range(width)]


def without_exact(keys):
    """Return the positions of real records whose key is not in the release."""
    real, there = (list(zip(*(k.tables[side].tolist() for k in keys), strict=True)) for side in (0, 1))
    return np.array([i for i, key in enumerate(real) if key not in set(there)])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("levels", [3, 300, 70_000])  # codes of one, two and four bytes
@pytest.mark.parametrize("width", [1, 2, 5])
def test_equal_to_plain_loops(width, levels, way, monkeypatch):
    for name, value in way.items():
        monkeypatch.setattr(module, name, value)
    rng = np.random.default_rng(width)
    keys = columns(rng, width, levels, 60, 40)
    keys[0].tables[0][:5] = levels - 1
    keys[0].tables[1][keys[0].tables[1] == levels - 1] = 0
    (target,) = columns(rng, 1, 4, 60, 40)
    queries = without_exact(keys)
    assert len(queries) >= 5
    assert found_by(keys, target, queries)[1] == loops(keys, target, queries)


@pytest.mark.parametrize("width", [254, 255, 256, 300])
def test_more_keys_than_a_byte_counts(width):
    rng = np.random.default_rng(0)
    keys = [Codes((np.zeros(3, dtype=int), np.ones(4, dtype=int)), 2) for _ in range(width)]
    (target,) = columns(rng, 1, 2, 3, 4)
    found, triples = found_by(keys, target, np.arange(3))
    assert (found.distance.tolist(), triples) == ([width] * 3, loops(keys, target, range(3)))


def test_the_smallest_distance_is_found_by_levels_and_then_by_pairs(monkeypatch):
    monkeypatch.setattr(module, "_pairs_are_cheaper", lambda real, synthetic, width, level: level == 3)
    keys = columns(np.random.default_rng(1), 6, 4, 80, 30)
    (target,) = columns(np.random.default_rng(2), 1, 3, 80, 30)
    queries = without_exact(keys)
    found, triples = found_by(keys, target, queries)
    assert {1, 2, 3} <= set(found.distance.tolist())
    assert triples == loops(keys, target, queries)


def test_without_numba_numpy_compares(monkeypatch):
    module.compiled_pairs.cache_clear()
    monkeypatch.setitem(sys.modules, "synthrisk.metrics.cap.nearest_keys_compiled", None)
    try:
        assert module.compiled_pairs() is module.plain_pairs
    finally:
        module.compiled_pairs.cache_clear()
