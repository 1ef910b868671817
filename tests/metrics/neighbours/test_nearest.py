"""The neighbour passes of a release against PrivEval's reference values, SDMetrics, and the definition pair by pair."""

import json
import multiprocessing
import subprocess
import sys
from collections import Counter, OrderedDict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.cells import is_numeric
from samples.distances import distance_of, rows_of
from samples.priveval import priveval
from samples.releases import releases
from synthrisk.metrics import Tables
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.single_records import NEIGHBOURS
from synthrisk.metrics.neighbours import nearest
from synthrisk.metrics.neighbours.distances import tie_counts, ties
from synthrisk.metrics.neighbours.nearest import SEVERAL, Pass, real_to_real, real_to_synthetic, synthetic_to_real
from synthrisk.metrics.neighbours.records import Plain, space_of

SPACES = ["euclid", "gower"]
SEARCH = Pass.search
PASSES = {f.__name__: f for f in (real_to_synthetic, synthetic_to_real, real_to_real)}
PASSES["synthetic_to_synthetic"] = nearest.synthetic_to_synthetic
in_spaces = pytest.mark.parametrize("space", SPACES)
reference = pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
some_release = releases(least=(2, 2), rows=8, columns=5)


def sides(direction, real, synthetic):
    tables = {"real": real, "synthetic": synthetic}
    first, second = direction.split("_to_")
    return tables[first], tables[second], first == second


def matrix(direction, real, synthetic, space, weights=None, ranges="both"):
    """All distances of a pass; infinite from a record to itself."""
    queries, searched, itself = sides(direction, real, synthetic)
    away = distance_of(real, synthetic, space, weights, searched if ranges == "reference" else None)
    found = np.array([[away(u, v) for v in rows_of(searched)] for u in rows_of(queries)])
    if itself:
        np.fill_diagonal(found, np.inf)
    return found


def assert_pass(direction, real, synthetic, space, k=1, weights=None, **options):
    expected = matrix(direction, real, synthetic, space, weights, **options)
    found = PASSES[direction](Tables(real, synthetic), space, k, weights=weights, **options)
    least = np.sort(expected, axis=1)[:, :k]
    np.testing.assert_allclose(found.distances, least, rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(found.distances == 0, least == 0)
    np.testing.assert_allclose(np.take_along_axis(expected, found.rows, axis=1), found.distances, rtol=1e-9)
    assert all(len(set(row)) == k for row in found.rows.tolist())


@in_spaces
@reference
def test_distances_are_those_of_the_reference(data, space):
    real, synthetic, expected = priveval(data)
    tables, expected = Tables(real, synthetic), expected["spaces"][space]
    arrays = {name.replace("synthetic", "syn"): find(tables, space).distances[:, 0] for name, find in PASSES.items()}
    arrays["syn_to_real_second"] = synthetic_to_real(tables, space, k=2).distances[:, 1]
    assert set(arrays) == set(expected)
    for name, found in arrays.items():
        np.testing.assert_allclose(found, expected[name], rtol=1e-9, atol=0, err_msg=name)
        np.testing.assert_array_equal(found == 0, np.equal(expected[name], 0), err_msg=name)


@pytest.mark.parametrize("direction", PASSES)
def test_ranges_of_the_reference_as_sdmetrics_has_them(direction):
    dcr = pytest.importorskip("sdmetrics.single_table.privacy.dcr_utils").calculate_dcr
    real, synthetic, _ = priveval("ugly_80x50")
    synthetic = synthetic.assign(**{c: synthetic[c] * 3 for c in synthetic.select_dtypes("number")})
    columns = {c: {"sdtype": "numerical" if is_numeric(real[c]) else "categorical"} for c in real}
    queries, searched, itself = sides(direction, real, synthetic)
    assert_pass(direction, real, synthetic, "gower", ranges="reference")
    if not itself:
        found = PASSES[direction](Tables(real, synthetic), "gower", ranges="reference").distances[:, 0]
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(found, dcr(queries, searched, {"columns": columns}), rtol=1e-12)


@given(some_release, st.data())
@in_spaces
def test_equals_the_definition(space, release, data):
    real, synthetic = release
    direction = data.draw(st.sampled_from(list(PASSES)))
    _, searched, itself = sides(direction, real, synthetic)
    k = data.draw(st.integers(1, len(searched) - itself))
    weights = {c: data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for c in real}
    assert_pass(direction, real, synthetic, space, k, weights)


@given(some_release, st.randoms(use_true_random=False))
@in_spaces
def test_order_names_and_types_move_no_bit(space, release, random):
    real, synthetic = release
    order, other = (random.sample(range(len(t)), len(t)) for t in release)
    columns = random.sample(list(real), len(real.columns))
    moved = [real.iloc[order][columns], synthetic.iloc[other]]
    moved = [t.set_axis(["label"] * len(t)) for t in moved]
    for table, name in ((t, c) for t in moved for c in t):
        if table[name].dtype == object:
            levels = random.sample(["a", "b", "ü", "unused"], 4)
            table[name] = table[name].astype(pd.CategoricalDtype(levels))
        elif table[name].dtype == np.int64:
            table[name] = table[name].astype(random.choice(["int8", "float32", "Int16"]))
    before, after = Tables(real, synthetic), Tables(*moved)
    for direction, found in PASSES.items():
        rows = order if direction.startswith("real") else other
        old, new = found(before, space), found(after, space)
        np.testing.assert_array_equal(new.distances, old.distances[rows])
        np.testing.assert_array_equal(tie_counts(after, direction, space), tie_counts(before, direction, space)[rows])


@given(some_release)
@in_spaces
def test_all_ties_are_found(space, release):
    tables = Tables(*release)
    for direction in PASSES:
        expected = matrix(direction, *release, space)
        least = expected.min(axis=1, keepdims=True)
        tied = [np.flatnonzero(row).tolist() for row in expected <= least * (1 + 1e-9)]
        assert tie_counts(tables, direction, space).tolist() == [len(t) for t in tied]
        found = ties(tables, direction, space)
        assert [found.rows[a:b].tolist() for a, b in zip(found.starts, found.starts[1:], strict=False)] == tied
        some = ties(tables, direction, space, queries=np.array([1, 0]))
        assert some.rows.tolist() == [*tied[1], *tied[0]]
        counts = tie_counts(tables, direction, space, queries=np.array([1, 0]))
        assert counts.tolist() == [len(tied[1]), len(tied[0])]


def test_sums_in_another_order_are_ties():
    real = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, 1.0]})
    synthetic = pd.DataFrame({"a": [0.1, 0.3, 0.7], "b": [0.2, 0.0, 0.8], "c": [0.0, 0.0, 0.9]})
    tables = Tables(real, synthetic)
    assert 0.1 + 0.2 != 0.3
    assert tie_counts(tables, "real_to_synthetic", "gower").tolist() == [2, 1]
    assert ties(tables, "real_to_synthetic", "gower").rows.tolist() == [0, 1, 2]


def test_columns_count_alone():
    real = pd.DataFrame({"x": [0.0, 10.0], "c": ["a", "b"]})
    synthetic = pd.DataFrame({"x": [0.0, 10.0], "c": ["b", "a"]})
    tables = Tables(real, synthetic)
    assert real_to_synthetic(tables, "gower").distances.tolist() == [[0.5], [0.5]]
    assert real_to_synthetic(tables, "gower", columns=["c"]).rows.tolist() == [[1], [0]]
    assert real_to_synthetic(tables, "gower", columns="x").rows.tolist() == [[0], [1]]
    assert real_to_synthetic(tables, "euclid", columns=["c", "x"], weights={"x": 0}).rows.tolist() == [[1], [0]]


@in_spaces
def test_huge_and_tiny_numbers_keep_their_differences(space):
    real = pd.DataFrame({"huge": [1e308, -1e308, 0.0], "tiny": [1e-305, 2e-305, 3e-305]})
    found = real_to_real(Tables(real, real), space, k=2).distances
    assert np.isfinite(found).all()
    assert (found > 0).all()
    small = pd.DataFrame({"huge": [1.0, -1.0, 0.0], "tiny": [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(found, real_to_real(Tables(small, small), space, k=2).distances, rtol=1e-12)
    tables = Tables(pd.DataFrame({"x": [1.0, 1.0]}), pd.DataFrame({"x": [1e200]}))  # far from a constant
    assert np.isfinite(real_to_synthetic(tables, "euclid").distances).all()


def test_some_records_are_searched_in_the_space_of_all():
    real = pd.DataFrame({"x": [0.0, 1.0, 4.0, 10.0]})
    tables = Tables(real, pd.DataFrame({"x": [1.0, 9.0]}))
    found = nearest.synthetic_to_some(tables, "gower", np.array([3, 0]), k=2)
    assert (found.rows.tolist(), found.distances.tolist()) == ([[0, 3], [3, 0]], [[0.1, 0.9], [0.1, 0.9]])


def test_a_pass_is_made_once_and_serves_smaller_k(monkeypatch):
    made, one = [], Plain.nearest
    monkeypatch.setattr(nearest, "search", Plain)
    monkeypatch.setattr(Plain, "nearest", lambda self, *args: made.append(args[2]) or one(self, *args))
    real = pd.DataFrame({"x": [0.0, 1.0, 4.0, 10.0]})
    tables = Tables(real, real)
    larger = real_to_real(tables, "gower", k=3)
    np.testing.assert_array_equal(real_to_real(tables, "gower", k=1).rows, larger.rows[:, :1])
    real_to_real(tables, "gower", k=2)
    real_to_real(tables, "gower", columns=["x"], weights={"x": 1})
    assert made == [3]
    synthetic_to_real(tables, "gower")
    real_to_real(tables, "euclid")
    assert made == [3, 1, 1]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"space": "l2"}, "space must be euclid or gower, got 'l2'"),
        ({"k": 0}, "k must be a whole number from 1 to the number of records searched, 2, got 0"),
        ({"k": 3}, "k must be .* 2, got 3"),
        *(({"k": each}, f"k must be .*got {each}") for each in (True, 1.0)),
        ({"columns": ["y"]}, "columns must name columns of the table, got 'y'"),
        ({"columns": []}, "columns must name at least one column"),
        ({"weights": {"y": 1}}, "weights must name columns of the table, got 'y'"),
        ({"weights": {"x": -1}}, "weights must be numbers from 0 to 1e[+]100, got -1 for 'x'"),
        *(({"weights": {"x": each}}, "weights must be numbers") for each in (np.inf, np.nan, "1")),
        ({"ranges": "real"}, "ranges must be both, or reference in gower space, got 'real' in gower"),
        ({"ranges": "reference", "space": "euclid"}, "ranges must be both.*got 'reference' in euclid"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options, text):
    tables = Tables(pd.DataFrame({"x": [0.0, 1.0]}), pd.DataFrame({"x": [0.0, 1.0]}))
    with pytest.raises(InputError, match=text):
        real_to_synthetic(tables, **{"space": "gower", **options})


def test_a_single_record_has_no_other():
    tables = Tables(pd.DataFrame({"x": [0.0]}), pd.DataFrame({"x": [1.0]}))
    assert real_to_synthetic(tables, "gower").distances.tolist() == [[1.0]]
    with pytest.raises(InputError, match="number of records searched, 0, got 1"):
        real_to_real(tables, "gower")
    with pytest.raises(InputError, match=r"direction must be one of real_to_synthetic.*got 'both'"):
        ties(tables, "both", "gower")


def random_release(n=400):
    rng = np.random.default_rng(5)

    def draw():
        table = pd.DataFrame({"x": rng.normal(size=n), "c": rng.choice([*"abcdef", None], n)})
        table["count"] = np.where(rng.random(n) < 0.1, np.nan, rng.poisson(3, n))
        return table.assign(name=rng.integers(0, 200, n).astype(str))

    return draw(), draw()


def digest(found):
    return [found.distances.tobytes().hex()[:200], float(found.distances.sum()), found.rows.sum().item()]


@pytest.mark.proof
def test_a_spawned_process_finds_the_same():
    tables = Tables(*random_release())
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [pool.submit(synthetic_to_real, tables, space, 2).result() for space in SPACES]
    assert [*map(digest, found)] == [digest(synthetic_to_real(tables, space, 2)) for space in SPACES]


def test_values_are_the_same_without_numba():
    code = (
        "import sys, json; sys.modules['numba'] = None\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[2])]!r}\n"
        "from test_nearest import PASSES, SPACES, Tables, digest, random_release\n"
        "tables = Tables(*random_release())\n"
        "print(json.dumps([digest(f(tables, s, 2)) for s in SPACES for f in PASSES.values()]))\n"
        "assert 'synthrisk.metrics.neighbours.box_search' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tables = Tables(*random_release())
    assert json.loads(done.stdout) == [digest(f(tables, s, 2)) for s in SPACES for f in PASSES.values()]


def test_as_many_neighbours_are_sought_as_tell_who_is_vulnerable():
    assert SEVERAL >= NEIGHBOURS


def test_a_real_table_is_searched_once_for_all_releases(monkeypatch):
    monkeypatch.setattr(nearest, "_KEPT", OrderedDict())
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"x": rng.integers(0, 50, 300) / 7, "c": rng.choice(list("abc"), 300)})
    inside, wider = people.sample(200, random_state=1), people.assign(x=people["x"] * 2)
    calls = []
    monkeypatch.setattr(Pass, "search", property(lambda own: calls.append(own.key) or SEARCH.fget(own)))
    for space in SPACES:
        for release in (inside, people, wider):
            for k in (1, 5, 2):
                tables = Tables(people, release)
                found = real_to_real(tables, space, k)
                one = Pass(tables, "real_to_real", space_of(tables, space))
                sums, rows = SEARCH.fget(one).nearest(one.queries, one.own, k)
                assert (found.distances == nearest.as_distances(sums, one.space)).all()
                assert (found.rows == rows).all()
    by_space = Counter(space.name for _, space in calls)
    assert by_space == {"euclid": 2 * 2, "gower": 1 + 2}, "k = 1 and 5; in gower five at once; again where it is wider"


def test_only_the_latest_searches_are_kept(monkeypatch):
    monkeypatch.setattr(nearest, "_KEPT", kept := OrderedDict())
    for n in range(2, 12):
        people = pd.DataFrame({"x": range(n)})
        real_to_real(Tables(people, people), "gower")
    assert len(kept) == 4
