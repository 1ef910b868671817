"""SDMetrics' DCR: its rows and both protections, against what it returned and what it returns here."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
RELEASES = ["gaussian_copula", "gaussian_copula_half", "marginal_shuffle", "leaky_bootstrap15", "exact_copy"]
SAMPLES = ["anes_200", "fair_1000"]
MISSING = {"nan": np.nan, "None": None, "NA": pd.NA, "NaT": pd.NaT}

releases = pytest.mark.parametrize(("data", "name"), list(itertools.product(SAMPLES, RELEASES)))


def kinds(folder):
    (table,) = json.loads((folder / "metadata.json").read_text())["tables"].values()
    return {c: column["sdtype"] for c, column in table["columns"].items()}


def read(folder, name, sdtypes):
    table = pd.read_csv(folder / f"{name}.csv").astype(json.loads((folder / "dtypes.json").read_text()))
    return table.astype({c: "float64" if kind == "numerical" else "category" for c, kind in sdtypes.items()})


def sample(data, name):
    folder = REFERENCE / data
    sdtypes = kinds(folder)
    real, holdout, synthetic = (read(folder, t, sdtypes) for t in ("real", "holdout", f"synthetic_{name}"))
    results = {
        r["metric"]: r["result"]
        for r in json.loads((folder / "dcr_expected.json").read_text())
        if r["synthetic"] == name
    }
    return real, holdout, synthetic, pd.read_csv(folder / f"dcr_rows_{name}.csv"), results


@releases
def test_rows_and_protections_as_sdmetrics_has_them(data, name):
    real, holdout, synthetic, rows, results = sample(data, name)
    np.testing.assert_allclose(closest_record(Tables(real, synthetic)), rows["dcr_to_real"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        closest_record(Tables(holdout, synthetic)), rows["dcr_to_holdout"], rtol=1e-9, atol=1e-12
    )
    details = DCR(real, synthetic, control=holdout, baseline=True).details
    expected = results["DCROverfittingProtection"]
    assert details["overfitting_protection"] == pytest.approx(expected["score"], abs=1e-9)
    shares = expected["synthetic_data_percentages"]
    assert details["closer_to_training"] == pytest.approx(shares["closer_to_training"], abs=1e-9)
    assert details["closer_to_holdout"] == pytest.approx(shares["closer_to_holdout"], abs=1e-9)
    expected = results["DCRBaselineProtection"]
    medians = expected["median_DCR_to_real_data"]
    assert details["median_synthetic"] == pytest.approx(medians["synthetic_data"], abs=1e-9)
    assert details["median_random"] == pytest.approx(medians["random_data_baseline"], rel=0.1)  # other random records
    assert details["baseline_protection"] == pytest.approx(expected["score"], abs=0.05)


TRICKY = {case["name"]: case for case in json.loads((REFERENCE / "tricky/dcr_cases.json").read_text())}
LEFT_OUT = {"id_excluded", "only_id", "ordinal", "int_vs_str_category"}  # roles of columns; types apart are refused


def inline(table, columns):
    def cell(value):
        return MISSING[value["$"]] if isinstance(value, dict) else value

    found = {}
    for name, values in table["columns"].items():
        kind = columns[name]["sdtype"]
        dtype = {"numerical": "float64", "datetime": "datetime64[ns]"}.get(kind, object)
        found[name] = pd.Series([cell(v) for v in values], dtype=dtype)
    return pd.DataFrame(found)


@pytest.mark.parametrize("name", sorted(set(TRICKY) - LEFT_OUT))
def test_tricky_tables(name):
    case = TRICKY[name]
    columns = case["metadata"]["tables"]["t"]["columns"]
    real, holdout, synthetic = (inline(case[t], columns) for t in ("real", "holdout", "synthetic"))
    expected = case["expected"]
    if "result" in expected["dcr_rows"]:
        found = closest_record(Tables(real, synthetic))
        np.testing.assert_allclose(found, expected["dcr_rows"]["result"], rtol=1e-12, atol=1e-12)
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
    return pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "count": rng.poisson(3, n),
            "c": rng.choice(["a", "b", None], n),
            "t": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
        }
    )


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
    """The ranges are those of all records, training, holdout and release."""
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
    """A small holdout makes it look overfitted, ties make it look safe."""
    rng = np.random.default_rng(0)
    population = pd.DataFrame(rng.normal(size=(2400, 2)), columns=["x", "y"])
    training, holdout, release = population[:2000], population[2000:2100], population[2100:]
    with pytest.warns(UserWarning, match="100 control records for 2,000 members are few"):
        plain = DCR(training, release, control=holdout).details
    with pytest.warns(UserWarning, match="100 control records for 2,000 members are few"):
        corrected = DCR(training, release, control=holdout, overfitting="corrected").details["closer_to_training"]
    assert plain["closer_to_training"] > 0.85
    assert plain["closer_to_training_expected"] == 2000 / 2100
    assert corrected == pytest.approx(0.5, abs=0.08)
    few = pd.DataFrame({"c": ["a", "b"] * 50})
    assert DCR(few, few, control=few).details["closer_to_training"] == 0
    assert DCR(few, few, control=few, overfitting="corrected").details["closer_to_training"] == 0.5


@pytest.mark.parametrize(("n", "h"), [(300, 100), (100, 300), (200, 200)])
def test_the_share_expected_is_that_of_releases_which_know_neither_table(n, h):
    """Records of one square, none alike; the wider range of more records moves the share by a little more."""
    shares, expected = [], set()
    for seed in range(20):
        people = pd.DataFrame(np.random.default_rng(seed).uniform(size=(n + h + 300, 2)), columns=["x", "y"])
        parts = people[:n], people[n + h :], people[n : n + h]
        found = DCR(*parts[:2], control=parts[2]).details
        corrected = DCR(*parts[:2], control=parts[2], overfitting="corrected").details
        shares.append([found["closer_to_training"], corrected["closer_to_training"]])
        expected.add((found["closer_to_training_expected"], corrected["closer_to_training_expected"]))
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


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"overfitting": "half"}, "overfitting must be sdmetrics or corrected, got 'half'"),
        ({"baseline": 1}, "baseline must be true or false, got 1"),
    ],
)
def test_bad_options_are_refused(options, text):
    table = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(InputError, match=text):
        DCR(table, table, **options)
    with pytest.raises(InputError, match=text):
        DCR.check_choices(options)
