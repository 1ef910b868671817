"""Searches of mixed-type records, to the last bit, against plain loops over all pairs."""

import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from synthrisk.metrics import compiled
from synthrisk.metrics.neighbours import box_search, box_tree
from synthrisk.metrics.neighbours.box_search import Forest
from synthrisk.metrics.neighbours.nearest import search
from synthrisk.metrics.neighbours.records import Plain, Records, Scale, even


def random_case(seed):
    """Queries, reference and scale: lattice values for ties, many levels, duplicates, weights of 0."""
    rng = np.random.default_rng(seed)
    p, q = [(0, 1), (1, 0), (2, 2), (0, 4), (4, 0), (3, 5)][seed % 6] if seed < 48 else (30, 60)
    sizes = rng.choice([1, 2, 3, 7, 64, 65, 300], q)
    starts, squared = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), bool(seed // 6 % 2)
    weights = rng.choice([0.0, 1.0, 1.0, 0.3, 7.0], p + q)

    def draw(n):
        numbers = rng.choice([0.0, 0.25, 0.5, 1.0, 4.0, -1.0], (n, p)) * rng.choice([1.0, rng.random()])
        continuous = rng.random(p) < 0.5
        numbers[:, continuous] = rng.normal(size=(n, p))[:, continuous] * 10.0 ** rng.integers(-3, 4)
        codes = (rng.random((n, q)) ** 3 * sizes).astype(np.int32)
        records = Records(np.ascontiguousarray(numbers), codes)
        return records.take(np.r_[np.arange(n), rng.integers(0, n, n // 4)])  # duplicates

    reference, queries = draw(int(rng.choice([1, 2, 30, 150]))), draw(int(rng.choice([1, 20, 60])))
    some = rng.random(len(queries.codes)) < 0.3  # copies among the queries
    copied = reference.take(rng.integers(0, len(reference.codes), some.sum()))
    queries.numbers[some], queries.codes[some] = copied
    costs = [rng.choice([0.5, 1.0, 4.5, 100.0], s) if squared else np.full(s, 0.5) for s in sizes]
    level_costs = [own * w for own, w in zip(costs, weights[p:], strict=True)]
    factors = weights[:p] * rng.choice([1.0, 0.1, 3.3], p)
    caps = np.full(p, 1e150) if squared else weights[:p].copy()
    return queries, reference, Scale(factors, caps, np.concatenate([[], *level_costs]), starts, squared)


def loops(queries, reference, scale):
    """All sums, pair by pair, term by term."""
    matrix = np.zeros((len(queries.codes), len(reference.codes)))
    ours, theirs = [[(n.tolist(), c.tolist()) for n, c in zip(*r, strict=True)] for r in (queries, reference)]
    factors, caps, costs, starts = (a.tolist() for a in scale[:4])
    for i, (number, code) in enumerate(ours):
        for j, (other, level) in enumerate(theirs):
            total = 0.0
            for a, b, start in zip(code, level, starts, strict=False):
                if a != b:
                    total += costs[start + a] + costs[start + b]
            for a, b, factor, cap in zip(number, other, factors, caps, strict=True):
                step = min(abs(a - b) * factor, cap)
                total += step * step if scale.squared else step
            matrix[i, j] = total
    return matrix


WAYS = {  # patches of the search
    "tree": (Forest, {}),
    "deep tree": (Forest, {"_LEAF": 2}),
    "no tree": (Forest, {"_CELLS": 0, "_BOX": 10**9}),  # looks at every row, in vectors
    "numpy": (Plain, {}),
}


@pytest.mark.parametrize("seed", [*range(12), 48])
def test_bit_equal_to_plain_loops(seed, monkeypatch):
    queries, reference, scale = random_case(seed)
    matrix, itself = loops(queries, reference, scale), loops(reference, reference, scale)
    np.fill_diagonal(itself, np.inf)
    others = np.full(len(queries.codes), -1), np.arange(len(reference.codes))
    for one, own, sums in zip((queries, reference), others, (matrix, itself), strict=True):
        ranks, nearest = np.argsort(sums, axis=1, kind="stable"), np.sort(sums, axis=1)
        limits = nearest[:, min(3, sums.shape[1] - 1)]
        bounded = np.where(np.isfinite(limits), limits, 1e200)
        near = sums <= bounded[:, None]
        for way, (make, patched) in WAYS.items():
            with monkeypatch.context() as patch:
                for name, value in patched.items():
                    patch.setattr(box_search, name, value)
                searched = make(reference, scale)
                for k in (1, 2, 5, sums.shape[1] - (own[0] == 0)):
                    if 1 <= k <= np.isfinite(sums[0]).sum():
                        found, rows = searched.nearest(one, own, k)
                        np.testing.assert_array_equal(rows, ranks[:, :k], err_msg=way)
                        np.testing.assert_array_equal(found, nearest[:, :k], err_msg=way)
                counts = searched.count(one, own, bounded)
                np.testing.assert_array_equal(counts, near.sum(axis=1), err_msg=way)
                rows = searched.within(one, own, bounded, counts)
                np.testing.assert_array_equal(rows, np.nonzero(near)[1], err_msg=way)


def records(rng, n, p=0, q=0, levels=8):
    return Records(rng.random((n, p)), rng.integers(0, levels, (n, q)).astype(np.int32))


def gower(p, q, levels=8):
    return Scale(np.ones(p), np.ones(p), np.full(q * levels, 0.5), np.arange(q + 1) * levels, squared=False)


def work(reference, scale, queries, k=1):
    """Return how many rows' time a query takes through the tree."""
    one, own = Forest(reference, scale), np.full(len(queries.codes), -1)
    return one._nearest(one._boxes.placed(queries), own, k)[2] / len(own)


def test_a_search_looks_at_few_rows():
    rng, few = np.random.default_rng(0), 60 * box_search._BOX
    assert work(records(rng, 20_000, p=2), gower(2, 0), records(rng, 500, p=2)) < few
    assert work(records(rng, 20_000, q=3), gower(0, 3), records(rng, 500, q=3), k=5) < few


@pytest.mark.parametrize("seed", range(12))
def test_queries_stand_leaf_after_leaf(seed):
    queries, reference, scale = random_case(seed)
    splits = box_tree.split(reference, scale, 2)
    order, homes = box_tree.by_leaf(splits, reference, scale)
    assert sorted(order) == list(range(len(reference.codes)))
    places = np.empty(len(reference.codes), dtype=int)
    places[splits.rows] = np.arange(len(places))
    starts = [start for (start, _), child in zip(splits.spans, splits.child, strict=True) if not child]
    own = np.searchsorted(np.sort(starts), places, side="right")  # a row of the reference falls into its own leaf
    assert order.tolist() == np.argsort(own, kind="stable").tolist()
    assert homes.tolist() == np.sort(starts)[own - 1].tolist()
    assert sorted(box_tree.by_leaf(splits, queries, scale)[0]) == list(range(len(queries.codes)))


def test_rows_at_one_place_are_looked_at_once():
    rng = np.random.default_rng(0)
    one = Records(np.full((50_000, 1), 0.5), np.full((50_000, 1), 3, dtype=np.int32))
    assert work(one, gower(1, 1), records(rng, 100, p=1, q=1), k=2) < 50
    found = Forest(one, gower(1, 1)).nearest(one.take(np.arange(3)), np.arange(3), 3)
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_array_equal(found[1], [[1, 2, 3], [0, 2, 3], [0, 1, 3]])


@pytest.mark.parametrize("levels", [64, 65, 20_000])
def test_many_levels_are_told_apart(levels):
    rng = np.random.default_rng(0)
    reference, queries = (records(rng, n, q=1, levels=levels) for n in (20_000, 500))
    assert work(reference, gower(0, 1, levels), queries) < 60 * box_search._BOX


def test_a_few_rows_among_many_equal_ones_are_set_apart():
    rng = np.random.default_rng(0)
    reference = Records(np.zeros((30_000, 2)), np.zeros((30_000, 2), dtype=np.int32))
    odd = rng.choice(30_000, 40, replace=False)
    reference.numbers[odd], reference.codes[odd] = records(rng, 40, 2, 2)
    assert work(reference, gower(2, 2), records(rng, 200, 2, 2)) < 100 * box_search._BOX


def test_a_pilot_finds_out_that_a_tree_saves_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(box_search, "_CELLS", 10**6)
    structured, noise = (records(rng, 4000, p=p) for p in (2, 14))
    own = np.full(4000, -1)
    for reference, p, saves in ((structured, 2, True), (noise, 14, False)):
        assert Forest(reference, gower(p, 0))._saves(records(rng, 4000, p=p), own, 1, ()) == saves


def test_a_long_search_is_told_before_it_starts(monkeypatch):
    rng = np.random.default_rng(0)
    reference, queries, own = records(rng, 2000, p=14), records(rng, 2000, p=14), np.full(2000, -1)
    for make, module in ((Forest, box_search), (Plain, sys.modules["synthrisk.metrics.neighbours.records"])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make(reference, gower(14, 0)).nearest(queries, own, 1)
        monkeypatch.setattr(module, "_LONG", 1e6)
        monkeypatch.setattr(box_search, "_CELLS", 10**6)
        with pytest.warns(UserWarning, match=r"2000 records .* about \d+ minutes .* 14 columns"):
            make(reference, gower(14, 0)).nearest(queries, own, 1)


def test_each_kernel_is_compiled_once():
    rng = np.random.default_rng(0)
    for p, q in ((0, 1), (1, 0), (2, 2)):
        for squared in (False, True):
            reference, scale = records(rng, 50, p, q), gower(p, q)._replace(squared=squared)
            one, own = search(reference, scale), np.arange(50)
            limits = one.nearest(reference, own, 2)[0][:, 1]
            one.within(reference, own, limits, one.count(reference, own, limits))
            compared = Forest(reference, scale)
            compared._saves = lambda *given: False
            compared.within(reference, own, limits, compared.count(reference, own, limits))
            compared.nearest(reference, own, 2)
    assert [len(kernel.signatures) for kernel in (*box_search.VECTORS, *box_search.WALKS)] == [1] * 7


def test_a_kernel_is_compiled_where_nothing_can_be_kept(monkeypatch):
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled, "njit", njit)
    monkeypatch.setattr(compiled, "_FUNCTIONS", [])
    assert compiled.threaded(math.sqrt) is math.sqrt
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]


def told_by(code: str, **given) -> str:
    """Return what a process of its own prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, **given).stdout.strip()


@pytest.mark.proof
def test_what_was_compiled_is_known_until_its_source_is_edited(tmp_path):
    kernel = "from synthrisk.metrics.compiled import compiled\n\n\n@compiled\ndef twice(x):\n    return 2 * x\n"
    (tmp_path / "kernels.py").write_text(kernel)
    code = "import kernels\nfrom synthrisk.metrics.compiled import are_kept\n{}\nprint(are_kept())"

    def told(middle: str) -> str:
        return told_by(code.format(middle), cwd=tmp_path)

    assert [told(middle) for middle in ("", "kernels.twice(1)", "")] == ["False", "True", "True"]
    later = (tmp_path / "kernels.py").stat().st_mtime + 60
    os.utime(tmp_path / "kernels.py", (later, later))
    assert told("") == "False"


def test_without_numba_numpy_searches():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from synthrisk.metrics.neighbours.nearest import prepare, search\n"
        "from synthrisk.metrics.neighbours.records import Records, Scale\n"
        "import numpy as np\n"
        "prepare()\n"
        "one = Records(np.array([[0.0], [1.0]]), np.zeros((2, 0), dtype=np.int32))\n"
        "found = search(one, Scale(np.ones(1), np.ones(1), np.ones(0), np.zeros(1, dtype=int), False))\n"
        "print(type(found).__name__, found.nearest(one, np.arange(2), 1))\n"
    )
    assert told_by(code).startswith("Plain (array([[1.],\n       [1.]]), array([[1],\n       [0]]))")


def test_rows_divided_by_other_costs_are_found_alike():
    for seed in range(60):
        queries, reference, scale = random_case(seed)
        own, k = np.full(len(queries.codes), -1), min(1 + seed % 3, len(reference.codes))
        shared = search(reference, scale, search(reference, even(reference, scale.starts)))
        alone = search(reference, scale).nearest(queries, own, k)
        for _ in range(2):  # the second time in an order that is kept
            found = shared.nearest(queries, own, k)
            assert all((ours == theirs).all() for ours, theirs in zip(found, alone, strict=True))


@pytest.mark.proof
def test_few_records_are_compared_in_vectors_until_walks_are_compiled_or_would_pay(tmp_path):
    code = (
        "import numpy as np\n"
        "from synthrisk.metrics.compiled import is_kept\n"
        "from synthrisk.metrics.neighbours import box_search\n"
        "from synthrisk.metrics.neighbours.nearest import prepare, search\n"
        "from synthrisk.metrics.neighbours.records import Records, Scale\n"
        "def kept(): return [sum(map(is_kept, kind)) for kind in (box_search.VECTORS, box_search.WALKS)]\n"
        "before = kept()\n"
        "prepare()\n"
        "rng = np.random.default_rng(0)\n"
        "one, other = (Records(rng.normal(size=(500, 2)), rng.integers(0, 3, (500, 1), np.int32)) for _ in range(2))\n"
        "scale = Scale(np.ones(2), np.ones(2), np.ones(3), np.array([0, 3]), False)\n"
        "sums, rows = search(one, scale).nearest(other, np.full(500, -1), 2)\n"
        "small, box_search._COMPILING = kept(), 1\n"
        "again = search(one, scale).nearest(other, np.full(500, -1), 2)\n"
        "print(before, small, kept(), (sums == again[0]).all(), (rows == again[1]).all(), sums.sum())\n"
    )

    first, second = (told_by(code, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}) for _ in range(2))
    assert first.startswith("[0, 0] [2, 0] [2, 4] True True ")  # what lists all within a distance was not asked
    assert second.startswith("[2, 4] [2, 4] [2, 4] True True ")
    assert first.split()[-1] == second.split()[-1]
