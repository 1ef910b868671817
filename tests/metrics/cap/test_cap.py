"""CAP against SDMetrics, plain loops over pairs of records, and tables counted by hand."""

import json
import math
import re
import warnings
from functools import cache
from operator import ne
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samples.distances import rows_of
from samples.releases import releases
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data.example_tables import read_adult

REFERENCE = Path(__file__).parents[2] / "reference"
HAND = json.loads((REFERENCE / "disco" / "hand.json").read_text())
CAP = ["categorical_cap", "zero_cap", "generalized_cap"]
NAMES = dict(zip(("CategoricalCAP", "CategoricalZeroCAP", "CategoricalGeneralizedCAP"), CAP, strict=True))
MISSING = {"nan": np.nan, "None": None, "NA": pd.NA, "NaT": pd.NaT}


def cap(name, real, release, keys, sensitive, **options):
    return METRICS[name](real, release, quasi_identifiers=keys, sensitive=sensitive, **options)


def brute_force(real, synthetic, keys, sensitive):
    """Return the Hamming distances of the real records, and by each rule their credits, NaN where not scored."""
    released = list(zip(rows_of(synthetic[keys]), rows_of(synthetic[sensitive]), strict=True))
    distances, credits = [], {name: [] for name in CAP}
    for key, truth in zip(rows_of(real[keys]), rows_of(real[sensitive]), strict=True):
        apart = [sum(map(ne, key, other)) for other, _ in released]
        distances.append(min(apart))
        for name, own in credits.items():
            wanted = min(apart) if name == "generalized_cap" else 0
            right = [value == truth for d, (_, value) in zip(apart, released, strict=True) if d == wanted]
            own.append(np.mean(right) if right else math.nan if name == "categorical_cap" else 0.0)
    return distances, credits


def assert_equals_brute_force(real, synthetic, keys, sensitive):
    distances, due = brute_force(real, synthetic, keys, sensitive)
    for name, credits in due.items():
        score = cap(name, real, synthetic, keys, sensitive)
        np.testing.assert_allclose(score.records["score"].to_numpy(float), credits, rtol=0, atol=1e-12)
        scored = [c for c in credits if not math.isnan(c)]
        if scored:
            assert score.value == pytest.approx(math.fsum(scored) / len(scored), abs=1e-12)
            assert score.published == pytest.approx(1 - score.value, abs=1e-12)
            assert score.reason is None
        else:
            assert math.isnan(score.value)
            assert score.reason
        if name == "generalized_cap":
            assert score.records["distance"].tolist() == distances
        assert score.records.index.equals(real.index)
        assert score.records["baseline"].dropna().between(0, 1).all()


@cache
def sdmetrics_table(data, name):
    folder = REFERENCE / "sdmetrics" / data
    return pd.read_csv(folder / f"{name}.csv").astype(json.loads((folder / "dtypes.json").read_text()))


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("data", ["fair_1000", "anes_200"])
def test_sdmetrics(data, metric):
    folder = REFERENCE / "sdmetrics" / data
    rows = [row for row in json.loads((folder / "expected.json").read_text()) if row["metric"] == metric]
    assert len(rows) >= 40
    real = sdmetrics_table(data, "real")
    for row in rows:
        release = sdmetrics_table(data, f"synthetic_{row['synthetic']}")
        score = cap(NAMES[metric], real, release, row["key_fields"], row["sensitive_fields"])
        assert (1 - score.value, score.published) == pytest.approx((row["result"],) * 2, abs=1e-12), row


def inline_table(spec):
    levels = {name: pd.CategoricalDtype(own) for name, own in spec.get("categories", {}).items()}
    cells = {c: [MISSING[v["$"]] if isinstance(v, dict) else v for v in own] for c, own in spec["columns"].items()}
    return pd.DataFrame({c: pd.Series(own, dtype=levels.get(c, spec["dtypes"][c])) for c, own in cells.items()})


def tricky(metric, name):
    case = TRICKY[name]
    tables = (inline_table(case[t]) for t in ("real", "synthetic"))
    return cap(metric, *tables, case["key_fields"], case["sensitive_fields"])


TRICKY = {case["name"]: case for case in json.loads((REFERENCE / "sdmetrics/tricky/cap_cases.json").read_text())}
# Where METHODS 0 has a rule of its own. All missing values are one value, equal to itself, so these exact
# copies give everything away where every key class is pure.
ONE_MISSING_VALUE = {"nan_object_distinct", "none_vs_nan", "nan_float", "nan_sensitive_float"}
REFUSED = {"int_vs_str": "k", "bool_vs_str": "k", "empty_synthetic": "synthetic", "empty_real": "real"}
REFUSED |= {"tuple_vs_scalar_extra_column": "z"}


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("name", [name for name in TRICKY if name not in REFUSED])
def test_tricky_table(name, metric):
    expected = 0.0 if name in ONE_MISSING_VALUE else TRICKY[name]["expected"][metric]["clean_semantics_value"]
    score = tricky(NAMES[metric], name)
    if expected is None:
        assert np.isnan([score.value, score.published]).all()
        assert score.reason
    else:
        assert score.published == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", CAP)
@pytest.mark.parametrize(("name", "named"), REFUSED.items())
def test_tricky_table_is_refused(name, named, metric):
    with pytest.raises(InputError, match=rf"\b{named}\b"):
        tricky(metric, name)


@pytest.mark.parametrize(
    ("real", "synthetic", "equal"),
    [
        ([1, 2, 3], [1.0, 2.0, 3.0], 1),
        ([1, 2, 3], pd.array([1, 2, 3], dtype="Int8"), 1),
        ([1, 0, 1], [True, False, True], 1),
        ([1.5, np.nan, 1.5], pd.array([1.5, None, 1.5], dtype="Float32"), 1),
        (["a", None, "b"], ["a", np.nan, "b"], 1),
        (["a", None, "b"], pd.array(["a", pd.NA, "b"], dtype="string"), 1),
        (["é", "日本", "ß"], pd.Categorical(["é", "日本", "ß"], categories=["ß", "日本", "é", "x"]), 1),
        (["é", "E", "ss"], ["e\u0301", "e", "ß"], 0),
        ([2**53 + 1, 5, 6], [2.0**53, 7.0, 8.0], 0),
        (*(pd.to_datetime(["2020-01-01", None, "2021-05-05"]).astype(f"datetime64[{u}]") for u in ("ns", "s")), 1),
        (["nan", "None", "a"], ["nan", None, "a "], 1 / 3),
        ([0.0, 1.0, 2.0], [-0.0, 1.0, 2.0], 1),
        ([np.nan] * 3, [None, pd.NA, None], 1),
        ([np.nan] * 3, ["a", "b", "c"], 0),
        (["a", "b", "c"], [np.nan] * 3, 0),
        (pd.Series([1, "1", "a"], dtype=object), pd.Series(["1", 1, "a"], dtype=object), 1 / 3),
    ],
)
@pytest.mark.parametrize("role", ["k", "s"])
def test_values_are_compared_not_types(real, synthetic, equal, role):
    other = {"s": list("pqr")} if role == "k" else {"k": list("pqr")}
    real, synthetic = pd.DataFrame({role: real} | other), pd.DataFrame({role: synthetic} | other)
    alone, found = (cap("zero_cap", real, release, "k", "s").value for release in (real, synthetic))
    assert found == alone * equal


def roles(table):
    return [c for c in table if c[0] == "k"], [c for c in table if c[0] == "s"]


@given(releases(rows=8, columns=6), st.integers(1, 2))
def test_equals_brute_force(release, hidden):
    columns = list(release[0])
    assume(len(columns) > hidden)
    assert_equals_brute_force(*release, columns[:-hidden], columns[-hidden:])


@pytest.mark.parametrize(("keys", "levels"), [(3, 12), (9, 3), (14, 6)])
def test_equals_brute_force_on_larger_tables(keys, levels):
    rng, columns = np.random.default_rng(keys), [*(f"k{j}" for j in range(keys)), "s0", "s1"]
    tables = (pd.DataFrame(rng.integers(0, levels, (n, keys + 2)), columns=columns) for n in (110, 130))
    real, synthetic = tables
    synthetic.iloc[:20] = real.iloc[:20]
    synthetic["s0"] %= 2
    assert_equals_brute_force(real[::-1], synthetic, *roles(real))


def test_many_wide_columns_do_not_overflow_a_packed_key():
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(0, 16, (60, 21))).set_axis([*(f"k{j}" for j in range(20)), "s"], axis=1)
    real["s"] = np.arange(60)
    synthetic = real.copy()
    synthetic.loc[:29, "k0"] = (synthetic.loc[:29, "k0"] + 1) % 16
    assert_equals_brute_force(real, synthetic, *roles(real))
    assert cap("zero_cap", real, synthetic, roles(real)[0], "s").value == 0.5


def people(seed, n):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(20, 24, n), "city": rng.choice(["Ulm", "Łódź"], n)})
    return table.assign(vote=rng.choice(["a", "b", "c"], n))


@pytest.mark.parametrize("name", CAP)
def test_ceiling_is_the_real_table_attacking_itself_and_unseen_keys_are_counted(name):
    real, known = people(1, 60), ["age", "city"]
    ceiling = cap(name, real, people(2, 30), known, "vote").details["ceiling"]
    assert ceiling == pytest.approx(cap(name, real, real, known, "vote").value, abs=1e-12)
    release = people(2, 5)
    keys = set(zip(release["age"], release["city"], strict=True))
    unseen = [key not in keys for key in zip(real["age"], real["city"], strict=True)]
    assert 0 < sum(unseen) < len(unseen)
    found = cap(name, real, release, known, "vote").details["unseen_keys"]
    assert found == pytest.approx(sum(unseen) / len(unseen))


@pytest.mark.parametrize("name", [*CAP, "targeted_cap", "attribute_disclosure"])
def test_a_continuous_quasi_identifier_is_warned_of(name):
    real, release = (people(s, 80).assign(pay=np.random.default_rng(s).lognormal(8, 1, 80)) for s in (1, 2))
    with pytest.warns(UserWarning, match=r"100% of the keys are unseen.*'pay'.*bins="):
        cap(name, real, release, ["age", "pay"], "vote")
    coarse = cap(name, real, release, ["age", "pay"], "vote", bins={"pay": 4})
    assert coarse.warning is None
    assert coarse.settings["bins"] == {"pay": 4}


def test_many_unseen_keys_of_categories_are_no_fault_of_a_continuous_column():
    real, release = (pd.DataFrame({"code": [f"{c}{i}" for i in range(50)], "vote": ["a", "b"] * 25}) for c in "rs")
    score = cap("zero_cap", real, release, ["code"], "vote")
    assert (score.details["unseen_keys"], score.warning) == (1.0, None)


CELLS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=14)


@given(ROWS, ROWS)
def test_targeted_cap_is_that_of_a_plain_loop(real, release):
    columns = {column: pd.CategoricalDtype(["a", "b"]) for column in "kls"}  # of one type, also where all is missing
    tables = [pd.DataFrame(rows, columns=list("kls"), dtype=object).astype(columns) for rows in (real, release)]
    expected = []
    for *key, truth in real:
        values = {z[2] for z in release if list(z[:2]) == key}
        expected.append(float(truth in values) if len(values) == 1 else np.nan)
    found = cap("targeted_cap", *tables, ["k", "l"], "s")
    assert found.records["score"].tolist() == pytest.approx(expected, nan_ok=True)
    assert found.records["claim"].tolist() == [not np.isnan(e) for e in expected]
    if np.isnan(expected).all():
        assert np.isnan(found.value)
        assert "unanimous" in found.reason
    else:
        assert found.value == found.published == pytest.approx(np.nanmean(expected))


def test_counted_by_hand():
    found = cap("targeted_cap", pd.DataFrame(HAND["ori"]), pd.DataFrame(HAND["syn"]), HAND["keys"], HAND["target"])
    assert found.value == pytest.approx(4 / 5)
    assert 100 * found.details["right_among_seen"] == pytest.approx(HAND["result"]["TCAP"], abs=1e-6)
    assert 100 * (1 - found.details["unseen_keys"]) == pytest.approx(HAND["result"]["iS"])
    right = found.value * found.details["claim_probability"]
    assert 100 * right == pytest.approx(HAND["result"]["DiSCO"])


def adult_with_missing(rows: int = 500) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two disjoint parts of Adult, cells of keys, numbers and secrets missing in both."""
    columns = ["age", "education", "occupation", "sex", "race", "income", "hours_per_week"]
    table = read_adult()[columns].sample(2 * rows, random_state=3).reset_index(drop=True).astype(object)
    rng = np.random.default_rng(4)
    for column in ("age", "occupation", "income", "hours_per_week"):
        table.loc[rng.random(len(table)) < 0.06, column] = np.nan
    for column in ("age", "hours_per_week"):
        table[column] = table[column].astype(float)
    return table.iloc[:rows].reset_index(drop=True), table.iloc[rows:].reset_index(drop=True)


def printed(real, synthetic, **given) -> dict[str, float]:
    """Return what SDMetrics says; its own use of pandas is not ours to be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip("sdmetrics.single_table").DisclosureProtection
        return theirs.compute_breakdown(real, synthetic, **given)


PROTECTED = [
    (["education", "sex"], ["income"], [], 10),
    (["age", "education", "sex"], ["income"], ["age"], 10),
    (["education", "race"], ["income", "occupation"], [], 10),
    (["age", "sex"], ["hours_per_week", "income"], ["age", "hours_per_week"], 3),
]


def protection(real, synthetic, known, hidden, **options):
    return METRICS["disclosure_protection"](real, synthetic, quasi_identifiers=known, sensitive=hidden, **options)


@pytest.mark.parametrize("method", ["cap", "zero_cap", "generalized_cap"])
@pytest.mark.parametrize(("known", "hidden", "continuous", "bins"), PROTECTED)
def test_disclosure_protection_is_what_sdmetrics_prints_to_the_last_digit(known, hidden, continuous, bins, method):
    real, synthetic = (table.head(200) for table in adult_with_missing())
    given = {"known_column_names": known, "sensitive_column_names": hidden, "computation_method": method}
    given |= {"continuous_column_names": continuous or None, "num_discrete_bins": bins}
    theirs = printed(real, synthetic, **given)
    ours = protection(real, synthetic, known, hidden, method=method, continuous=continuous, num_bins=bins)
    assert ours.published == theirs["score"]
    for name in ("cap_protection", "baseline_protection"):
        assert ours.details[name] == theirs[name]
    assert ours.value == pytest.approx(1 - theirs["cap_protection"], abs=1e-14)


def test_protection_of_a_column_of_one_level_is_nan_as_in_sdmetrics():
    real, synthetic = (table.head(50).assign(income="one") for table in adult_with_missing())
    score = protection(real, synthetic, ["sex"], "income")
    assert (score.value, score.details["baseline_protection"]) == (1.0, 0.0)
    assert np.isnan(score.published)
    found = printed(real, synthetic, known_column_names=["sex"], sensitive_column_names=["income"])
    assert np.isnan(found["score"])


def test_protection_has_records_control_and_memorization_of_its_rule():
    real, synthetic = adult_with_missing()
    known, members, control = ["education", "sex"], real.head(300), real.tail(200)
    for method, rule in zip(("cap", "zero_cap", "generalized_cap"), CAP, strict=True):
        ours = protection(members, synthetic, known, "income", method=method, control=control)
        own = cap(rule, members, synthetic, known, "income", control=control)
        pd.testing.assert_series_equal(ours.records["score"], own.records["score"])
        for detail in ("control", "control_difference", "control_gain", "guess", "ceiling"):
            assert ours.details[detail] == own.details[detail]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "kap"}, "method must be cap, zero_cap or generalized_cap, got 'kap'"),
        ({"num_bins": 0}, "num_bins must be a whole number from 1 to"),
        ({"continuous": "age"}, "continuous must be a list of columns, got 'age'"),
        ({"continuous": ["sex"]}, "continuous must name numeric columns, got 'sex', which is categorical"),
        ({"continuous": ["aeg"]}, "continuous must name quasi-identifiers or sensitive columns, got 'aeg'"),
    ],
)
def test_protection_refuses(options, words):
    real, synthetic = adult_with_missing(20)
    with pytest.raises(InputError, match=re.escape(words)):
        protection(real, synthetic, ["age", "sex"], "income", **options)
