"""Distances to the nearest record against PrivEval's reference values and a plain loop over pairs."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.distances import distances_between, rows_of
from samples.priveval import REFERENCE, priveval
from samples.releases import releases
from synthrisk.metrics import METRICS
from synthrisk.metrics.tables.tables import Tables

DCR = METRICS["distance_to_closest_record"]
NNDR = METRICS["nearest_neighbour_distance_ratio"]
SPACES = ["euclid", "gower"]


def distance_matrix(space, real, synthetic):
    """Distances of each real to each synthetic record; exactly 0 where the records are equal."""
    matrix = np.array(distances_between(real, synthetic, space))
    equal = np.array([[a == b for b in rows_of(synthetic)] for a in rows_of(real)])
    assert not matrix[equal].any()
    return matrix, equal


def assert_equals_brute_force(real, synthetic, space, rtol=1e-9):
    matrix, equal = distance_matrix(space, real, synthetic)
    nearest = matrix.min(axis=1)

    score = DCR(real, synthetic, space=space)
    found = score.records["distance"].to_numpy()
    np.testing.assert_allclose(found, nearest, rtol=rtol, atol=1e-12)
    np.testing.assert_array_equal(found == 0, equal.any(axis=1))
    mean = math.fsum(nearest) / len(nearest)
    expected = 1.0 if mean == 0 else 1 - 1 / (1 + 1 / mean ** (1 / math.log(10)))
    assert score.value == pytest.approx(expected, rel=rtol)
    assert score.published == pytest.approx(mean, rel=rtol)

    score = NNDR(real, synthetic, space=space)
    if len(real) < 2:
        assert math.isnan(score.value)
        assert score.reason
        return
    first, second = np.sort(matrix, axis=0)[:2]
    ratio = np.divide(first, second, out=np.zeros_like(first), where=first > 0)
    found = score.records["score"].to_numpy()
    np.testing.assert_allclose(found, 1 - ratio, rtol=rtol, atol=1e-9)
    assert (found[equal.any(axis=0)] == 1).all()
    assert score.value == pytest.approx(math.fsum(1 - ratio) / len(ratio), rel=rtol, abs=1e-9)


# References


@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_priveval_values(data):
    real, synthetic, expected = priveval(data)
    expected = expected["metrics"]
    assert DCR(real, synthetic).value == pytest.approx(expected["DCR"]["value"], abs=1e-9)
    assert DCR(real, synthetic).published == pytest.approx(expected["DCR"]["mean_distance"], rel=1e-9)
    assert DCR(real, synthetic, space="gower").value == pytest.approx(expected["DCR"]["variants"]["gower"], abs=1e-9)
    score = NNDR(real, synthetic)
    assert score.value == pytest.approx(expected["NNDR"]["value"], abs=1e-9)
    ratio = np.array(expected["NNDR"]["per_record"])
    np.testing.assert_allclose(score.records["score"], 1 - ratio, rtol=0, atol=1e-9)
    assert NNDR(real, synthetic, space="gower").value == pytest.approx(expected["NNDR"]["variants"]["gower"], abs=1e-9)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_priveval_distances(data, space):
    real, synthetic, expected = priveval(data)
    arrays = {name: np.array(values) for name, values in expected["spaces"][space].items()}
    found = DCR(real, synthetic, space=space).records["distance"].to_numpy()
    np.testing.assert_allclose(found, arrays["real_to_syn"], rtol=1e-9, atol=0)
    np.testing.assert_array_equal(found == 0, arrays["real_to_syn"] == 0)
    assert (found == 0).any()
    first, second = arrays["syn_to_real"], arrays["syn_to_real_second"]
    ratio = np.divide(first, second, out=np.zeros_like(first), where=first > 0)
    found = NNDR(real, synthetic, space=space).records["score"]
    np.testing.assert_allclose(found, 1 - ratio, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", json.loads((REFERENCE / "edge_cases.json").read_text()), ids=lambda case: case["name"])
def test_priveval_edge_case(case):
    dtypes = {c: "float64" if kind == "numeric" else "object" for c, kind in case["columns"].items()}
    real, synthetic = (pd.DataFrame(case[t]).astype(dtypes) for t in ("real", "synthetic"))
    score = DCR(real, synthetic)
    assert score.value == pytest.approx(case["expected"]["DCR"]["value"], abs=1e-9)
    found, expected = score.records["distance"].to_numpy(), np.array(case["real_to_syn"])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)
    score = NNDR(real, synthetic)
    assert score.value == pytest.approx(case["expected"]["NNDR"]["value"], abs=1e-9)
    ratio = np.array(case["expected"]["NNDR"]["per_record"])
    np.testing.assert_allclose(score.records["score"], 1 - ratio, rtol=0, atol=1e-9)


# Counted by hand


def test_hand_counted():
    """Real 0 and 4: mean 2, sd 2. The release has 1 (0.5 sd from 0, 1.5 from 4) and 4."""
    real = pd.DataFrame({"x": [0, 4]}, index=["u", "v"])
    synthetic = pd.DataFrame({"x": [1, 4]}, index=[30, 20])
    score = DCR(real, synthetic)
    assert score.records["distance"].to_dict() == {"u": 0.5, "v": 0.0}
    assert score.published == 0.25
    assert score.value == pytest.approx(1 / (1 + 10 ** (math.log10(0.25) / math.log(10))))
    assert DCR(real, synthetic, space="gower").records["distance"].to_dict() == {"u": 0.25, "v": 0.0}
    score = NNDR(real, synthetic)
    assert score.records["score"].to_dict() == pytest.approx({30: 1 - 0.5 / 1.5, 20: 1.0})
    assert score.value == pytest.approx(5 / 6)
    assert score.published == pytest.approx(1 / 6)


def test_a_mismatch_costs_what_its_levels_are_rare():
    """Two levels of one half: each indicator is 2 apart, so sqrt(8); a level unseen in real costs less."""
    real = pd.DataFrame({"c": ["a", "b"]})
    distances = DCR(real, pd.DataFrame({"c": ["a"]})).records["distance"].tolist()
    assert distances == pytest.approx([0, math.sqrt(8)])
    assert DCR(real, pd.DataFrame({"c": ["z"]})).records["distance"].tolist() == pytest.approx(
        [math.sqrt(5), math.sqrt(5)]
    )
    assert DCR(real, pd.DataFrame({"c": ["z"]}), space="gower").records["distance"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("space", SPACES)
def test_an_exact_copy_is_at_distance_zero(space):
    """Values whose mean and squares do not come out even: no rounding may hide a copy."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(
        {
            "x": rng.lognormal(10, 3, 300),
            "far": 1e9 + rng.random(300),
            "tenth": 0.1,
            "c": rng.choice(["a", "b", None], 300),
            "d": rng.random(300).astype("float32"),
        }
    )
    real.loc[::7, "x"] = np.nan
    score = DCR(real, real.sample(frac=1, random_state=1), space=space)
    assert (score.records["distance"] == 0).all()
    assert score.value == 1.0
    assert score.published == 0.0
    assert NNDR(real, real, space=space).value == 1.0


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("value", [0.1, 1e-300, -7.0, 1e15 + 0.3])
def test_a_constant_column_has_no_weight(space, value):
    """Three tenths do not average to a tenth in floating point: the spread is still none."""
    real = pd.DataFrame({"k": [value] * 3, "x": [1.0, 2.0, 4.0]})
    synthetic = pd.DataFrame({"k": [value] * 2, "x": [1.5, 2.0]})
    found = DCR(real, synthetic, space=space).records["distance"].tolist()
    alone = DCR(real[["x"]], synthetic[["x"]], space=space).records["distance"]
    assert found == pytest.approx((alone / (2 if space == "gower" else 1)).tolist())


def test_a_departure_from_a_constant_column_counts_in_its_unit():
    real = pd.DataFrame({"k": [0.1, 0.1, 0.1]})
    assert DCR(real, pd.DataFrame({"k": [2.1]})).records["distance"].tolist() == pytest.approx([2.0] * 3)


def test_near_copies_far_from_the_mean_keep_their_distance():
    """|a|^2 + |b|^2 - 2ab loses these differences."""
    real = pd.DataFrame({"x": [*range(1000), 1e6], "y": [*range(1000), 1e6]})
    synthetic = pd.DataFrame({"x": [1e6 + 1, 5], "y": [1e6, 7]})
    found = DCR(real, synthetic).records["distance"]
    assert found.iloc[-1] == pytest.approx(1 / real["x"].std(ddof=0), rel=1e-7)
    assert found.iloc[6] == pytest.approx(math.sqrt(2) / real["x"].std(ddof=0), rel=1e-7)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("copied", [True, False])
def test_a_copy_is_found_among_many_near_copies(space, copied):
    """The squares' rounding is larger than these gaps: a fixed number of candidates may miss it."""
    real = pd.DataFrame({"x": [*range(1000), 1e6]})
    steps = np.random.default_rng(0).permutation(np.arange(0 if copied else 1, 400))
    synthetic = pd.DataFrame({"x": 1e6 + steps * 1e-5})
    unit = real["x"].std(ddof=0) if space == "euclid" else synthetic["x"].max()
    found = DCR(real, synthetic, space=space).records["distance"].iloc[-1]
    assert found == (0 if copied else pytest.approx(1e-5 / unit, rel=1e-3))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    ("real", "synthetic"),
    [
        ({"x": [1.0]}, {"x": [3.0, 1.5]}),
        ({"x": [1.0, 2.0, 5.0]}, {"x": [3.0]}),
        ({"x": [np.nan, 2.0, 5.0]}, {"x": [3.0, np.nan]}),
        ({"x": [np.nan, np.nan]}, {"x": [3.0, np.nan]}),
        ({"x": [1.0, 2.0]}, {"x": [np.nan, np.nan]}),
        ({"c": ["a", "b", None]}, {"c": ["z", np.nan]}),
        ({"c": ["a", "a"]}, {"c": ["a", "b"]}),
        ({"c": [True, False, True], "d": ["x", "y", "x"]}, {"c": [False, False], "d": ["x", "z"]}),
        ({"c": [True, True]}, {"c": [True, False]}),
        ({"x": [1, 2, 3, 5], "y": [0.5, -0.5, 1e6, 0]}, {"x": [2, 2], "y": [0.0, 1e7]}),
    ],
)
def test_single_kind_tables_work(real, synthetic, space):
    assert_equals_brute_force(pd.DataFrame(real), pd.DataFrame(synthetic), space)


@pytest.mark.parametrize("space", SPACES)
def test_dates_are_numbers_whatever_their_unit(space):
    real = pd.DataFrame({"t": pd.to_datetime(["2020-01-01 00:00", "2021-06-01 00:00", None, "1999-12-31 12:00"])})
    synthetic = pd.DataFrame({"t": pd.to_datetime(["2020-01-02", None])})
    assert_equals_brute_force(real, synthetic, space)
    before = DCR(real, synthetic, space=space).records["distance"]
    for unit in ("s", "ms", "us"):
        for r, s in (
            (real.astype(f"datetime64[{unit}]"), synthetic),
            (real, synthetic.astype(f"datetime64[{unit}]")),
        ):
            after = DCR(r, s, space=space).records["distance"]
            np.testing.assert_allclose(after, before, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_one_real_record_has_no_second_neighbour(space):
    synthetic = pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"]}, index=[8, 9])
    score = NNDR(pd.DataFrame({"x": [1.0], "c": ["a"]}), synthetic, space=space)
    assert math.isnan(score.value)
    assert math.isnan(score.published)
    assert "2" in score.reason or "two" in score.reason
    assert score.records.index.tolist() == [8, 9]
    assert score.records["score"].isna().all()


def test_the_score_of_a_record_falls_with_its_distance():
    real = pd.DataFrame({"x": [0.0, 1.0, 3.0, 7.0, 20.0]})
    records = DCR(real, pd.DataFrame({"x": [0.0]})).records
    assert records["distance"].is_monotonic_increasing
    assert records["score"].is_monotonic_decreasing
    assert records["score"].between(0, 1).all()
    assert records["score"].iloc[0] == 1.0


# Properties


@given(releases())
@pytest.mark.parametrize("space", SPACES)
def test_equals_brute_force(space, release):
    assert_equals_brute_force(*release, space)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("missing", [False, True])
def test_equals_a_dense_pass_on_larger_tables(space, missing):
    """Large enough for a search that prunes: every distance against every other by broadcasting."""
    rng = np.random.default_rng(3)

    def draw(n):
        table = pd.DataFrame(
            {
                "x": rng.normal(size=n),
                "skew": rng.lognormal(8, 2, n).round(),
                "count": rng.poisson(0.3, n),
                "c": rng.choice(list("abcdefgh"), n, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01]),
                "d": rng.choice(["yes", "no"], n, p=[0.99, 0.01]),
            }
        )
        if missing:
            table.loc[rng.random(n) < 0.1, "x"] = np.nan
            table.loc[rng.random(n) < 0.1, "c"] = None
        return table

    real, synthetic = draw(1300), draw(1100)
    synthetic.iloc[:50] = real.iloc[100:150]
    synthetic.loc[60:70, "c"] = "unseen"
    both = pd.concat([real, synthetic], ignore_index=True)
    numeric, n = both[["x", "skew", "count"]], len(real)
    squares = np.zeros((n, len(synthetic)))
    if space == "euclid":
        seen = numeric[:n]
        axes = [((numeric - seen.mean()) / seen.std(ddof=0)).fillna(0.0)]
        flags = pd.get_dummies(both[["c", "d"]], dummy_na=missing)
        flags = flags.loc[:, flags.any()].astype(float)
        if missing:
            flags["x is missing"] = both["x"].isna().astype(float)
        p = flags[:n].mean()
        axes.append((flags - p) / np.sqrt(p * (1 - p)).where((p > 0) & (p < 1), 1.0))
        for column in pd.concat(axes, axis=1).to_numpy().T:
            squares += np.subtract.outer(column[:n], column[n:]) ** 2
        matrix = np.sqrt(squares)
    else:
        for name in numeric:
            column = both[name].to_numpy(float)
            gap = np.abs(np.subtract.outer(column[:n], column[n:])) / (np.nanmax(column) - np.nanmin(column))
            gone = np.isnan(column)
            squares += np.where(np.isnan(gap), np.not_equal.outer(gone[:n], gone[n:]), gap)
        for name in ("c", "d"):
            column = both[name].fillna("missing").to_numpy(str)
            squares += np.not_equal.outer(column[:n], column[n:])
        matrix = squares / 5
    found = DCR(real, synthetic, space=space).records["distance"].to_numpy()
    np.testing.assert_allclose(found, matrix.min(axis=1), rtol=1e-9, atol=0)
    first, second = np.partition(matrix, 1, axis=0)[:2]
    ratio = np.divide(first, second, out=np.zeros_like(first), where=first > 0)
    found = NNDR(real, synthetic, space=space).records["score"]
    np.testing.assert_allclose(found, 1 - ratio, rtol=0, atol=1e-9)


@pytest.mark.proof
@given(releases(least=(2, 1)), st.data())
@pytest.mark.parametrize("space", SPACES)
def test_releasing_real_records_does_not_lower_the_risk(space, release, data):
    """They add no level and no range to the space, come nearer to some record and are hits themselves."""
    real, synthetic = release
    leak = real.iloc[data.draw(st.lists(st.integers(0, len(real) - 1), min_size=1, max_size=4))]
    leaked = pd.DataFrame(
        {c: pd.Series([*synthetic[c].tolist(), *leak[c].tolist()], dtype=str(real[c].dtype)) for c in real}
    )
    assert DCR(real, leaked, space=space).value >= DCR(real, synthetic, space=space).value - 1e-12
    assert NNDR(real, leaked, space=space).value >= NNDR(real, synthetic, space=space).value - 1e-12


def test_records_that_somebody_changes_change_no_later_score():
    real = pd.DataFrame({"x": [0.0, 1.0, 5.0]})
    tables = Tables(real, real + 0.25)
    first = METRICS["distance_to_closest_record"].score(tables)
    first.records["distance"] *= 2
    assert METRICS["distance_to_closest_record"].score(tables).value == first.value
