"""The fewest cells in which records differ: by compiled code and by numpy, beside plain loops."""

import sys
from importlib import import_module

import numpy as np
import pytest

from synthrisk.metrics.neighbours import differing_cells
from synthrisk.metrics.neighbours.differing_cells import fewest_differing

COMPILED = "synthrisk.metrics.neighbours.differing_cells_compiled"
KINDS = {"few levels": [3] * 6, "a byte is full": [256, 2, 256], "one level more": [257, 2, 3], "one column": [4]}
KINDS |= {"many levels": [70_000, 5, 40_000, 2], "only many": [300, 300]}
KINDS |= {f"{many} columns": [2] * many for many in (255, 256)}


def drawn(levels: list[int], n: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size, n) for size in levels]


def by_loops(queries: list[np.ndarray], rows: list[np.ndarray]) -> list[int]:
    others, mine = list(zip(*rows, strict=True)), zip(*queries, strict=True)
    return [min(sum(a != b for a, b in zip(own, row, strict=True)) for row in others) for own in mine]


@pytest.mark.parametrize("levels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("rows", [1, 150])
@pytest.mark.parametrize("by", ["numba", "numpy"])
def test_it_is_what_plain_loops_find(levels, rows, by, monkeypatch):
    monkeypatch.setattr(differing_cells, "_MANY", 0 if by == "numba" else 10**18)
    if by == "numba":
        import_module(COMPILED)
    queries, others = drawn(levels, 20, 1), drawn(levels, rows, 2)
    found = fewest_differing(queries, others)
    assert found.tolist() == by_loops(queries, others)
    assert len(levels) == 1 or found.max() > 0


def test_without_numba_numpy_compares(monkeypatch):
    monkeypatch.setattr(differing_cells, "_MANY", 0)
    monkeypatch.setitem(sys.modules, COMPILED, None)
    assert fewest_differing([np.array([0, 1])], [np.array([0, 0])]).tolist() == [0, 1]


@pytest.mark.parametrize("many", [0, 10**18])
def test_rows_beyond_one_chunk_are_compared_too(monkeypatch, many):
    monkeypatch.setattr(differing_cells, "_MANY", many)
    queries, others = drawn([50] * 5, 10, 1), drawn([50] * 5, 9_000, 2)
    for column, own in zip(others, queries, strict=True):
        column[[4_095, 4_096, 8_999]] = own[[7, 8, 9]]
    found = fewest_differing(queries, others)
    assert (found[[7, 8, 9]].tolist(), found.tolist()) == ([0, 0, 0], by_loops(queries, others))
