"""Distances to the nearest record against a plain loop over pairs; protections against SDMetrics'."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.distances import distances_between, rows_of
from samples.mixed import large
from samples.releases import releases
from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.distance.closest_record import (
    baseline_protection,
    closest_record,
    overfitting_protection,
    random_records,
)
from synthrisk.metrics.errors import InputError

REFERENCE = Path(__file__).parents[2] / "reference" / "sdmetrics"
DCR = METRICS["distance_to_closest_record"]
NNDR = METRICS["nearest_neighbour_distance_ratio"]
in_spaces = pytest.mark.parametrize("space", ["euclid", "gower"])


def distances(real, synthetic, space="euclid"):
    return DCR(pd.DataFrame(real), pd.DataFrame(synthetic), space=space).records["distance"]


def hits(matrix):
    """Return one minus the ratio of the distances to the nearest and the second nearest real record."""
    first, second = np.partition(matrix, 1, axis=0)[:2]
    return 1 - np.divide(first, second, out=np.zeros_like(first), where=first > 0)


def assert_equals_brute_force(real, synthetic, space):
    matrix = np.array(distances_between(real, synthetic, space))
    equal = np.array([[a == b for b in rows_of(synthetic)] for a in rows_of(real)])
    assert not matrix[equal].any()
    nearest = matrix.min(axis=1)

    score = DCR(real, synthetic, space=space)
    found = score.records["distance"].to_numpy()
    np.testing.assert_allclose(found, nearest, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found == 0, equal.any(axis=1))
    mean = math.fsum(nearest) / len(nearest)
    expected = 1.0 if mean == 0 else 1 - 1 / (1 + 1 / mean ** (1 / math.log(10)))
    assert (score.value, score.published) == (pytest.approx(expected, rel=1e-9), pytest.approx(mean, rel=1e-9))

    score = NNDR(real, synthetic, space=space)
    if len(real) < 2:
        assert np.isnan([score.value, score.published, *score.records["score"]]).all()
        assert score.records.index.equals(synthetic.index)
        assert "2" in score.reason or "two" in score.reason
        return
    found = score.records["score"].to_numpy()
    np.testing.assert_allclose(found, hits(matrix), rtol=1e-9, atol=1e-9)
    assert (found[equal.any(axis=0)] == 1).all()
    assert score.value == pytest.approx(math.fsum(hits(matrix)) / len(found), rel=1e-9, abs=1e-9)


def test_hand_counted():
    real = pd.DataFrame({"x": [0, 4]}, index=["u", "v"])
    synthetic = pd.DataFrame({"x": [1, 4]}, index=[30, 20])
    score = DCR(real, synthetic)
    assert (score.records["distance"].to_dict(), score.published) == ({"u": 0.5, "v": 0.0}, 0.25)
    assert score.value == pytest.approx(1 / (1 + 10 ** (math.log10(0.25) / math.log(10))))
    assert distances(real, synthetic, "gower").to_dict() == {"u": 0.25, "v": 0.0}
    score = NNDR(real, synthetic)
    assert score.records["score"].to_dict() == pytest.approx({30: 1 - 0.5 / 1.5, 20: 1.0})
    assert (score.value, score.published) == (pytest.approx(5 / 6), pytest.approx(1 / 6))


@in_spaces
def test_an_exact_copy_is_at_distance_zero(space):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"x": rng.lognormal(10, 3, 300), "far": 1e9 + rng.random(300), "tenth": 0.1})
    real["c"], real["d"] = rng.choice(["a", "b", None], 300), rng.random(300).astype("float32")
    real.loc[::7, "x"] = np.nan
    score = DCR(real, real.sample(frac=1, random_state=1), space=space)
    assert (score.records["distance"] == 0).all()
    assert (score.value, score.published, NNDR(real, real, space=space).value) == (1.0, 0.0, 1.0)


@in_spaces
@pytest.mark.parametrize("value", [0.1, 1e-300, -7.0, 1e15 + 0.3])
def test_a_constant_column_has_no_weight(space, value):
    real = pd.DataFrame({"k": [value] * 3, "x": [1.0, 2.0, 4.0]})
    synthetic = pd.DataFrame({"k": [value] * 2, "x": [1.5, 2.0]})
    found, alone = (distances(real[c], synthetic[c], space).to_numpy() for c in (["k", "x"], ["x"]))
    assert found == pytest.approx(alone / (2 if space == "gower" else 1))


def test_near_copies_far_from_the_mean_keep_their_distance():
    real = pd.DataFrame({"x": [*range(1000), 1e6], "y": [*range(1000), 1e6]})
    synthetic = pd.DataFrame({"x": [1e6 + 1, 5], "y": [1e6, 7]})
    found = DCR(real, synthetic).records["distance"]
    assert found.iloc[-1] == pytest.approx(1 / real["x"].std(ddof=0), rel=1e-7)
    assert found.iloc[6] == pytest.approx(math.sqrt(2) / real["x"].std(ddof=0), rel=1e-7)


@in_spaces
@pytest.mark.parametrize("copied", [True, False])
def test_a_copy_is_found_among_many_near_copies(space, copied):
    real = pd.DataFrame({"x": [*range(1000), 1e6]})
    steps = np.random.default_rng(0).permutation(np.arange(0 if copied else 1, 400))
    synthetic = pd.DataFrame({"x": 1e6 + steps * 1e-5})
    unit = real["x"].std(ddof=0) if space == "euclid" else synthetic["x"].max()
    found = distances(real, synthetic, space).iloc[-1]
    assert found == (0 if copied else pytest.approx(1e-5 / unit, rel=1e-3))


@in_spaces
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
        ({"k": [0.1] * 3}, {"k": [2.1]}),
        ({"c": ["a", "b"]}, {"c": ["z"]}),
    ],
)
def test_single_kind_tables_work(real, synthetic, space):
    assert_equals_brute_force(pd.DataFrame(real), pd.DataFrame(synthetic), space)


@in_spaces
def test_dates_are_numbers_whatever_their_unit(space):
    real = pd.DataFrame({"t": pd.to_datetime(["2020-01-01 00:00", "2021-06-01 00:00", None, "1999-12-31 12:00"])})
    synthetic = pd.DataFrame({"t": pd.to_datetime(["2020-01-02", None])})
    assert_equals_brute_force(real, synthetic, space)
    before = distances(real, synthetic, space)
    for unit in ("s", "ms", "us"):
        other = f"datetime64[{unit}]"
        for tables in ((real.astype(other), synthetic), (real, synthetic.astype(other))):
            np.testing.assert_allclose(distances(*tables, space), before, rtol=1e-12)


def test_the_score_of_a_record_falls_with_its_distance():
    real = pd.DataFrame({"x": [0.0, 1.0, 3.0, 7.0, 20.0]})
    records = DCR(real, pd.DataFrame({"x": [0.0]})).records
    assert records["distance"].is_monotonic_increasing
    assert 1.0 == records["score"].iloc[0] >= records["score"].iloc[-1] >= 0.0
    assert records["score"].is_monotonic_decreasing


@given(releases())
@in_spaces
def test_equals_brute_force(space, release):
    assert_equals_brute_force(*release, space)


@in_spaces
@pytest.mark.parametrize("missing", [False, True])
def test_equals_brute_force_on_larger_tables(space, missing):
    real, synthetic = (
        table if missing else table.fillna({"x": 0.3, "d": "no"}) for table in map(large, (1, 2), (250, 200))
    )
    synthetic.iloc[:20] = real.iloc[100:120]
    synthetic.loc[60:70, "c"] = "unseen"
    assert_equals_brute_force(real, synthetic, space)


@pytest.mark.proof
@given(releases(least=(2, 1)), st.data())
@in_spaces
def test_releasing_real_records_does_not_lower_the_risk(space, release, data):
    real, synthetic = release
    leak = real.iloc[data.draw(st.lists(st.integers(0, len(real) - 1), min_size=1, max_size=4))]
    kinds = {c: str(column.dtype) for c, column in real.items()}
    more = {c: pd.Series([*synthetic[c].tolist(), *leak[c].tolist()], dtype=kinds[c]) for c in real}
    for metric in (DCR, NNDR):
        before, after = (metric(real, release, space=space).value for release in (synthetic, pd.DataFrame(more)))
        assert after >= before - 1e-12


def test_records_that_somebody_changes_change_no_later_score():
    real = pd.DataFrame({"x": [0.0, 1.0, 5.0]})
    tables = Tables(real, real + 0.25)
    first = DCR.score(tables)
    first.records["distance"] *= 2
    assert DCR.score(tables).value == first.value


RELEASES = ["gaussian_copula", "gaussian_copula_half", "marginal_shuffle", "leaky_bootstrap15", "exact_copy"]
SAMPLES = ["anes_200", "fair_1000"]
MISSING = {"nan": np.nan, "None": None, "NA": pd.NA, "NaT": pd.NaT}

releases = pytest.mark.parametrize(("data", "name"), list(itertools.product(SAMPLES, RELEASES)))


def read(folder, name):
    (kinds,) = json.loads((folder / "metadata.json").read_text())["tables"].values()
    kinds = {c: "float64" if kind["sdtype"] == "numerical" else "category" for c, kind in kinds["columns"].items()}
    table = pd.read_csv(folder / f"{name}.csv").astype(json.loads((folder / "dtypes.json").read_text()))
    return table.astype(kinds)


def sample(data, name):
    folder = REFERENCE / data
    expected = json.loads((folder / "dcr_expected.json").read_text())
    results = {r["metric"]: r["result"] for r in expected if r["synthetic"] == name}
    tables = (read(folder, t) for t in ("real", "holdout", f"synthetic_{name}"))
    return *tables, pd.read_csv(folder / f"dcr_rows_{name}.csv"), results


@releases
def test_rows_and_protections_as_sdmetrics_has_them(data, name):
    real, holdout, synthetic, rows, results = sample(data, name)
    for table, column in ((real, "dcr_to_real"), (holdout, "dcr_to_holdout")):
        np.testing.assert_allclose(closest_record(Tables(table, synthetic)), rows[column], rtol=1e-9, atol=1e-12)
    details = DCR(real, synthetic, control=holdout, baseline=True).details
    expected = results["DCROverfittingProtection"]
    assert details["overfitting_protection"] == pytest.approx(expected["score"], abs=1e-9)
    for share in ("closer_to_training", "closer_to_holdout"):
        assert details[share] == pytest.approx(expected["synthetic_data_percentages"][share], abs=1e-9)
    expected = results["DCRBaselineProtection"]
    medians = expected["median_DCR_to_real_data"]
    assert details["median_synthetic"] == pytest.approx(medians["synthetic_data"], abs=1e-9)
    assert details["median_random"] == pytest.approx(medians["random_data_baseline"], rel=0.1)  # other random records
    assert details["baseline_protection"] == pytest.approx(expected["score"], abs=0.05)


TRICKY = {case["name"]: case for case in json.loads((REFERENCE / "tricky/dcr_cases.json").read_text())}
LEFT_OUT = {"id_excluded", "only_id", "ordinal", "int_vs_str_category"}  # roles of columns; types apart are refused


def inline(table, columns):
    found = {}
    for name, values in table["columns"].items():
        dtype = {"numerical": "float64", "datetime": "datetime64[ns]"}.get(columns[name]["sdtype"], object)
        found[name] = pd.Series([MISSING[v["$"]] if isinstance(v, dict) else v for v in values], dtype=dtype)
    return pd.DataFrame(found)


@pytest.mark.parametrize("name", sorted(set(TRICKY) - LEFT_OUT))
def test_tricky_tables(name):
    case = TRICKY[name]
    columns = case["metadata"]["tables"]["t"]["columns"]
    real, holdout, synthetic = (inline(case[t], columns) for t in ("real", "holdout", "synthetic"))
    expected = case["expected"]
    if "result" in expected["dcr_rows"]:
        rows = expected["dcr_rows"]["result"]
        np.testing.assert_allclose(closest_record(Tables(real, synthetic)), rows, rtol=1e-12, atol=1e-12)
    result = expected["DCROverfittingProtection"].get("result")
    if result is not None:
        found = DCR(real, synthetic, control=holdout).details
        assert found["overfitting_protection"] == pytest.approx(result["score"], abs=1e-12)
        shares = json.loads(result["synthetic_data_percentages"])
        assert found["closer_to_training"] == pytest.approx(shares["closer_to_training"], abs=1e-12)
    result = expected["DCRBaselineProtection(_seed=0,np.random.seed(0))"].get("result")
    if result is not None:
        found = baseline_protection(Tables(real, synthetic), 0)
        medians = json.loads(result["median_DCR_to_real_data"])
        assert found["median_synthetic"] == pytest.approx(medians["synthetic_data"], abs=1e-12)
        if medians["random_data_baseline"] == 0 and name != "random_median_zero":
            assert found["median_random"] == 0
            assert math.isnan(found["baseline_protection"])


@pytest.mark.parametrize("data", SAMPLES)
def test_the_baseline_is_what_sdmetrics_makes_of_the_same_random_records(data):
    dcr = pytest.importorskip("sdmetrics.single_table.privacy.dcr_utils").calculate_dcr
    real, _, synthetic, _, _ = sample(data, "gaussian_copula_half")
    real, synthetic = real.iloc[:150], synthetic.iloc[:80]
    tables = Tables(real, synthetic)
    coded, random = random_records(tables, 3)
    sdtypes = {c: {"sdtype": "numerical" if tables.kind(c) == "numeric" else "categorical"} for c in real}
    texts = {c: object for c, kind in sdtypes.items() if kind["sdtype"] == "categorical"}
    found = dcr(random.astype(texts), coded.astype(texts), {"columns": sdtypes})
    np.testing.assert_allclose(closest_record(Tables(coded, random)), found, rtol=1e-9, atol=1e-12)
    details = baseline_protection(tables, 3)
    assert details["median_random"] == pytest.approx(found.median(), rel=1e-9)
    assert details["baseline_protection"] == pytest.approx(details["median_synthetic"] / found.median(), rel=1e-9)


def draw(seed, n):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(size=n), "count": rng.poisson(3, n), "c": rng.choice(["a", "b", None], n)})
    return table.assign(t=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"))


def test_random_records_are_uniform_over_ranges_and_levels():
    real = draw(0, 400)
    coded, random = random_records(Tables(real, draw(1, 4000)), 0)
    assert len(random) == 4000
    for name in ("x", "count", "t"):
        assert random[name].between(coded[name].min(), coded[name].max()).all()
        middle = (coded[name].min() + coded[name].max()) / 2
        assert (random[name] < middle).mean() == pytest.approx(0.5, abs=0.1)
    assert set(random["count"]) == set(range(int(real["count"].min()), int(real["count"].max()) + 1))
    missing = coded["c"][real["c"].isna()].iloc[0]
    assert (random["c"] == missing).mean() == pytest.approx(real["c"].isna().mean(), abs=0.03)


def test_order_and_dtype_move_no_random_record():
    real, synthetic = draw(0, 60), draw(1, 50)
    before = baseline_protection(Tables(real, synthetic), 5)
    for other in (real.iloc[::-1], real[["t", "c", "x", "count"]], real.astype({"count": "float32", "c": "category"})):
        assert baseline_protection(Tables(other, synthetic), 5) == pytest.approx(before, rel=1e-12)
    assert baseline_protection(Tables(real, synthetic), 6) != before


@pytest.mark.parametrize(("n", "h"), [(6, 3), (3, 5), (4, 4)])
def test_corrected_is_the_mean_over_all_subsamples_with_ties_split(n, h):
    rng = np.random.default_rng(n)
    training, holdout, synthetic = (
        pd.DataFrame({"x": rng.integers(0, 4, k), "c": rng.choice(["a", "b"], k)}) for k in (n, h, 7)
    )
    width = np.ptp(pd.concat([training, holdout, synthetic])["x"].to_numpy())

    def matrix(table):
        x = np.abs(np.subtract.outer(synthetic["x"].to_numpy(), table["x"].to_numpy())) / width
        return (x + np.not_equal.outer(synthetic["c"].to_numpy(), table["c"].to_numpy())) / 2

    to_training, to_holdout, k = matrix(training), matrix(holdout), min(n, h)
    shares = []
    for a in itertools.combinations(range(n), k):
        for b in itertools.combinations(range(h), k):
            first, second = to_training[:, a].min(axis=1), to_holdout[:, b].min(axis=1)
            tied = np.isclose(first, second, rtol=1e-9, atol=0)
            shares.append(np.mean(((first < second) & ~tied) + tied / 2))
    found = overfitting_protection(Tables(training, synthetic, holdout).with_control(), "corrected")
    assert found["closer_to_training"] == pytest.approx(np.mean(shares), abs=1e-9)
    assert found["overfitting_protection"] == pytest.approx(min(1, 2 * (1 - np.mean(shares))), abs=1e-9)


def test_corrected_gives_an_honest_release_a_half():
    rng = np.random.default_rng(0)
    population = pd.DataFrame(rng.normal(size=(2400, 2)), columns=["x", "y"])
    training, holdout, release = population[:2000], population[2000:2100], population[2100:]
    details = {}
    for overfitting in ("sdmetrics", "corrected"):
        with pytest.warns(UserWarning, match="100 control records for 2,000 members are few"):
            details[overfitting] = DCR(training, release, control=holdout, overfitting=overfitting).details
    assert details["sdmetrics"]["closer_to_training"] > 0.85
    assert details["sdmetrics"]["closer_to_training_expected"] == 2000 / 2100
    assert details["corrected"]["closer_to_training"] == pytest.approx(0.5, abs=0.08)
    few = pd.DataFrame({"c": ["a", "b"] * 50})
    assert DCR(few, few, control=few).details["closer_to_training"] == 0
    assert DCR(few, few, control=few, overfitting="corrected").details["closer_to_training"] == 0.5


@pytest.mark.parametrize(("n", "h"), [(300, 100), (100, 300), (200, 200)])
def test_the_share_expected_is_that_of_releases_which_know_neither_table(n, h):
    shares, expected = [], set()
    for seed in range(20):
        people = pd.DataFrame(np.random.default_rng(seed).uniform(size=(n + h + 300, 2)), columns=["x", "y"])
        training, holdout, release = people[:n], people[n : n + h], people[n + h :]
        both = [DCR(training, release, control=holdout, overfitting=o).details for o in ("sdmetrics", "corrected")]
        shares.append([found["closer_to_training"] for found in both])
        expected.add(tuple(found["closer_to_training_expected"] for found in both))
    assert expected == {(n / (n + h), 0.5)}
    assert np.mean(shares, axis=0) == pytest.approx((n / (n + h), 0.5), abs=0.03)


def test_members_alone_are_the_training_table():
    members, controls, synthetic = draw(0, 40), draw(1, 30), draw(2, 50)
    alone = DCR(members, synthetic, baseline=True, seed=2)
    beside = DCR(members, synthetic, control=controls, baseline=True, seed=2)
    assert "overfitting_protection" not in alone.details
    for name in ("median_synthetic", "median_random", "baseline_protection"):
        assert beside.details[name] == pytest.approx(alone.details[name], rel=1e-12)
    assert alone.settings["seed"] == 2
    assert "baseline_protection" not in DCR(members, synthetic).details


def test_bad_options_are_refused():
    table = pd.DataFrame({"x": [1.0, 2.0]})
    for name, value, words in (("overfitting", "half", "sdmetrics or corrected"), ("baseline", 1, "true or false")):
        with pytest.raises(InputError, match=f"{name} must be {words}, got {value!r}"):
            DCR(table, table, **{name: value})
        with pytest.raises(InputError, match=f"{name} must be {words}, got {value!r}"):
            DCR.check_choices({name: value})
