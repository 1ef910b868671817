"""CAP against SDMetrics, PrivEval's reference values and a plain loop over pairs of records."""

import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.cells import same
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data.example_tables import read_adult

REFERENCE = Path(__file__).parents[2] / "reference"
NAMES = {
    "CategoricalCAP": "categorical_cap",
    "CategoricalZeroCAP": "zero_cap",
    "CategoricalGeneralizedCAP": "generalized_cap",
}
CAP = list(NAMES.values())
MISSING = {"nan": np.nan, "None": None, "NA": pd.NA, "NaT": pd.NaT}


# The oracle: two loops over records, and what METHODS 0 calls equal.


def rows(table, columns):
    return list(zip(*(table[c].tolist() for c in columns), strict=True))


def brute_force(name, real, synthetic, keys, sensitive):
    """Credits of the real records, NaN where not scored, and their Hamming distances."""
    pairs = list(zip(rows(synthetic, keys), rows(synthetic, sensitive), strict=True))
    credits, distances = [], []
    for key, truth in zip(rows(real, keys), rows(real, sensitive), strict=True):
        apart = [sum(not same(a, b) for a, b in zip(key, other, strict=True)) for other, _ in pairs]
        wanted = min(apart) if name == "generalized_cap" else 0
        chosen = [value for d, (_, value) in zip(apart, pairs, strict=True) if d == wanted]
        right = [all(same(a, b) for a, b in zip(truth, value, strict=True)) for value in chosen]
        empty = math.nan if name == "categorical_cap" else 0.0
        credits.append(sum(right) / len(right) if right else empty)
        distances.append(min(apart))
    return credits, distances


def assert_equals_brute_force(real, synthetic, keys, sensitive):
    for name in CAP:
        credits, distances = brute_force(name, real, synthetic, keys, sensitive)
        score = METRICS[name](real, synthetic, quasi_identifiers=keys, sensitive=sensitive)
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


# References


def sdmetrics_rows():
    for data in ("fair_1000", "anes_200"):
        for row in json.loads((REFERENCE / "sdmetrics" / data / "expected.json").read_text()):
            yield data, row


@pytest.fixture(scope="module")
def sdmetrics_table():
    tables = {}

    def read(data, name):
        if (data, name) not in tables:
            folder = REFERENCE / "sdmetrics" / data
            dtypes = json.loads((folder / "dtypes.json").read_text())
            tables[data, name] = pd.read_csv(folder / f"{name}.csv").astype(dtypes)
        return tables[data, name]

    return read


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("data", ["fair_1000", "anes_200"])
def test_sdmetrics(sdmetrics_table, data, metric):
    expected = [row for name, row in sdmetrics_rows() if name == data and row["metric"] == metric]
    assert len(expected) >= 40
    real = sdmetrics_table(data, "real")
    for row in expected:
        score = METRICS[NAMES[metric]](
            real,
            sdmetrics_table(data, f"synthetic_{row['synthetic']}"),
            quasi_identifiers=row["key_fields"],
            sensitive=row["sensitive_fields"],
        )
        assert score.published == pytest.approx(row["result"], abs=1e-12), row
        assert score.value == pytest.approx(1 - row["result"], abs=1e-12), row


def inline_table(spec):
    cell = lambda v: MISSING[v["$"]] if isinstance(v, dict) else v  # noqa: E731
    columns = {}
    for name, values in spec["columns"].items():
        dtype = spec["dtypes"][name]
        if dtype == "category":
            dtype = pd.CategoricalDtype(spec["categories"][name])
        columns[name] = pd.Series([cell(v) for v in values], dtype=dtype)
    return pd.DataFrame(columns)


TRICKY = {case["name"]: case for case in json.loads((REFERENCE / "sdmetrics/tricky/cap_cases.json").read_text())}
# Where METHODS 0 has a rule of its own. All missing values are one value, equal to itself, so these exact
# copies give everything away where every key class is pure.
ONE_MISSING_VALUE = {"nan_object_distinct", "none_vs_nan", "nan_float", "nan_sensitive_float"}
REFUSED = {
    "int_vs_str": "k",
    "bool_vs_str": "k",
    "empty_synthetic": "synthetic",
    "empty_real": "real",
    "tuple_vs_scalar_extra_column": "z",
}


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("name", [name for name in TRICKY if name not in REFUSED])
def test_tricky_table(name, metric):
    case = TRICKY[name]
    expected = 0.0 if name in ONE_MISSING_VALUE else case["expected"][metric]["clean_semantics_value"]
    score = METRICS[NAMES[metric]](
        inline_table(case["real"]),
        inline_table(case["synthetic"]),
        quasi_identifiers=case["key_fields"],
        sensitive=case["sensitive_fields"],
    )
    if expected is None:
        assert math.isnan(score.value)
        assert math.isnan(score.published)
        assert score.reason
    else:
        assert score.published == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", CAP)
@pytest.mark.parametrize(("name", "named"), REFUSED.items())
def test_tricky_table_is_refused(name, named, metric):
    case = TRICKY[name]
    with pytest.raises(InputError, match=rf"\b{named}\b"):
        METRICS[metric](
            inline_table(case["real"]),
            inline_table(case["synthetic"]),
            quasi_identifiers=case["key_fields"],
            sensitive=case["sensitive_fields"],
        )


@pytest.mark.filterwarnings("ignore:.*keys are unseen")  # they are: that is what the reference measures
@pytest.mark.parametrize(("source", "name"), [("ZCAP", "zero_cap"), ("GCAP", "generalized_cap")])
@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_priveval(data, source, name):
    folder = REFERENCE / "priveval" / data
    expected = json.loads((folder / "expected.json").read_text())
    kinds = json.loads((folder / "schema.json").read_text())["columns"]
    dtypes = {c: "float64" if kind == "numeric" else "object" for c, kind in kinds.items()}
    real, synthetic = (pd.read_csv(folder / f"{t}.csv", dtype=dtypes) for t in ("real", "synthetic"))
    score = METRICS[name](real, synthetic, quasi_identifiers=expected["keys"], sensitive=expected["sensitive"])
    expected = expected["metrics"][source]
    assert score.value == pytest.approx(expected["value"], abs=1e-9)
    np.testing.assert_allclose(score.records["score"], expected["per_record"], rtol=0, atol=1e-9)
    if name == "generalized_cap":
        assert score.records["distance"].tolist() == expected["hamming_distance"]


@pytest.mark.parametrize(("source", "name"), [("ZCAP", "zero_cap"), ("GCAP", "generalized_cap")])
@pytest.mark.parametrize(
    "case", json.loads((REFERENCE / "priveval/edge_cases.json").read_text()), ids=lambda c: c["name"]
)
def test_priveval_edge_case(case, source, name):
    dtypes = {c: "float64" if kind == "numeric" else "object" for c, kind in case["columns"].items()}
    keys = [c for c in dtypes if c not in case["sensitive"]]
    score = METRICS[name](
        pd.DataFrame(case["real"]).astype(dtypes),
        pd.DataFrame(case["synthetic"]).astype(dtypes),
        quasi_identifiers=keys,
        sensitive=case["sensitive"],
    )
    expected = case["expected"][source]
    assert score.value == pytest.approx(expected["value"], abs=1e-9)
    np.testing.assert_allclose(score.records["score"], expected["per_record"], rtol=0, atol=1e-9)


# Counted by hand


@pytest.mark.parametrize(
    ("name", "credits", "value"),
    [
        # (a, x) has p, p, q in the release; (b, y) has q; (c, z) is absent: (a, z) and (c, y) are nearest
        ("categorical_cap", [2 / 3, 1 / 3, 1.0, math.nan], 2 / 3),
        ("zero_cap", [2 / 3, 1 / 3, 1.0, 0.0], 1 / 2),
        ("generalized_cap", [2 / 3, 1 / 3, 1.0, 1 / 2], 5 / 8),
    ],
)
def test_hand_counted(name, credits, value):
    real = pd.DataFrame({"k": list("aabc"), "l": list("xxyz"), "s": list("pqqp")}, index=[7, 3, 9, 1])
    synthetic = pd.DataFrame({"k": list("aaabac"), "l": list("xxxyzy"), "s": list("ppqqpq")})
    score = METRICS[name](real, synthetic, quasi_identifiers=["k", "l"], sensitive="s")
    assert score.value == pytest.approx(value)
    assert score.published == pytest.approx(1 - value)
    assert score.records.index.tolist() == [7, 3, 9, 1]
    np.testing.assert_allclose(score.records["score"], credits)
    assert score.records["baseline"].between(0, 1).all()


@pytest.mark.parametrize(
    ("real", "synthetic", "equal"),
    [
        ([1, 2, 3], [1.0, 2.0, 3.0], True),
        ([1, 2, 3], pd.array([1, 2, 3], dtype="Int8"), True),
        ([1, 0, 1], [True, False, True], True),
        ([1.5, np.nan, 1.5], pd.array([1.5, None, 1.5], dtype="Float32"), True),
        (["a", None, "b"], ["a", np.nan, "b"], True),
        (["a", None, "b"], pd.array(["a", pd.NA, "b"], dtype="string"), True),
        (["é", "日本", "ß"], pd.Categorical(["é", "日本", "ß"], categories=["ß", "日本", "é", "x"]), True),
        (["é", "E", "ss"], ["e\u0301", "e", "ß"], False),
        ([2**53 + 1, 5, 6], [2.0**53, 7.0, 8.0], False),
        (
            pd.to_datetime(["2020-01-01", None, "2021-05-05"]).astype("datetime64[ns]"),
            pd.to_datetime(["2020-01-01", None, "2021-05-05"]).astype("datetime64[s]"),
            True,
        ),
        ([np.nan, np.nan, np.nan], [None, pd.NA, None], True),
        ([np.nan, np.nan, np.nan], ["a", "b", "c"], False),
        (["a", "b", "c"], [np.nan, np.nan, np.nan], False),
    ],
)
@pytest.mark.parametrize("role", ["k", "s"])
def test_values_are_compared_not_types(real, synthetic, equal, role):
    other = {"s": list("pqr")} if role == "k" else {"k": list("pqr")}
    real, synthetic = pd.DataFrame({role: real} | other), pd.DataFrame({role: synthetic} | other)
    zero_cap = lambda release: METRICS["zero_cap"](real, release, quasi_identifiers="k", sensitive="s")  # noqa: E731
    assert zero_cap(synthetic).value == (zero_cap(real).value if equal else 0.0)


def test_a_mixed_column_keeps_the_number_and_the_text_apart():
    real = pd.DataFrame({"k": pd.Series([1, "1", "a"], dtype=object), "s": list("pqr")})
    synthetic = pd.DataFrame({"k": pd.Series(["1", 1, "a"], dtype=object), "s": list("pqr")})
    score = METRICS["zero_cap"](real, synthetic, quasi_identifiers="k", sensitive="s")
    assert score.records["score"].tolist() == [0.0, 0.0, 1.0]


# Properties

POOLS = [
    ["a", "b", "ä", "a ", None, np.nan],
    [0, 1, 2, -3],
    [0.5, 1.0, -0.0, 2.25, np.nan],
    [True, False],
    ["", "nan", "None", None],
    [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-02-29"), pd.NaT],
]


@st.composite
def releases(draw, max_sensitive=2):
    """A real and a synthetic table of the same columns: few levels, so that keys and values collide."""
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    n_keys, n_sensitive = draw(st.integers(1, 4)), draw(st.integers(1, max_sensitive))
    real, synthetic = {}, {}
    for j in range(n_keys + n_sensitive):
        name = f"k{j}" if j < n_keys else f"s{j}"
        pool = draw(st.sampled_from(POOLS))
        shared = draw(st.sampled_from(pool))  # one value in both tables, so that their types overlap
        cells = draw(st.lists(st.sampled_from(pool), min_size=n + m - 2, max_size=n + m - 2))
        real[name] = [shared, *cells[: n - 1]]
        synthetic[name] = [*cells[n - 1 :], shared]
    return pd.DataFrame(real), pd.DataFrame(synthetic)


def roles(table):
    return [c for c in table if c[0] == "k"], [c for c in table if c[0] == "s"]


@given(releases())
def test_equals_brute_force(release):
    assert_equals_brute_force(*release, *roles(release[0]))


@given(st.data(), st.integers(8, 14), st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))
def test_equals_brute_force_at_deep_hamming_levels(data, keys, n, m, shared):
    """Only a few key columns have common levels, so that the nearest records are many keys apart."""
    cells = data.draw(st.lists(st.integers(0, 1), min_size=(n + m) * (keys + 1), max_size=(n + m) * (keys + 1)))
    codes = np.array(cells).reshape(n + m, keys + 1)
    codes[n:, shared:keys] += 2
    table = pd.DataFrame(codes, columns=[*(f"k{j}" for j in range(keys)), "s"]).astype(str)
    real, synthetic = table.iloc[:n], table.iloc[n:].reset_index(drop=True)
    assert_equals_brute_force(real, synthetic, *roles(real))
    depths = METRICS["generalized_cap"](real, synthetic, quasi_identifiers=roles(real)[0], sensitive="s")
    assert depths.records["distance"].min() >= keys - shared


@pytest.mark.parametrize(("keys", "levels"), [(3, 12), (9, 3), (14, 6)])
def test_equals_brute_force_on_larger_tables(keys, levels):
    rng = np.random.default_rng(keys)
    columns = [*(f"k{j}" for j in range(keys)), "s0", "s1"]
    draw = lambda n: pd.DataFrame(rng.integers(0, levels, (n, keys + 2)), columns=columns)  # noqa: E731
    real, synthetic = draw(110), draw(130)
    synthetic.iloc[:20] = real.iloc[:20]
    synthetic["s0"] %= 2
    assert_equals_brute_force(real, synthetic, *roles(real))


def test_many_wide_columns_do_not_overflow_a_packed_key():
    """20 columns of 16 levels have 2^80 keys: a code that wraps around would join different keys."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(0, 16, (60, 21))).set_axis([*(f"k{j}" for j in range(20)), "s"], axis=1)
    real["s"] = np.arange(60)
    synthetic = real.copy()
    synthetic.loc[:29, "k0"] = (synthetic.loc[:29, "k0"] + 1) % 16
    assert_equals_brute_force(real, synthetic, *roles(real))
    assert METRICS["zero_cap"](real, synthetic, quasi_identifiers=roles(real)[0], sensitive="s").value == 0.5


# What stands beside a value


def people(seed, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": rng.integers(20, 24, n), "city": rng.choice(["Ulm", "Łódź"], n), "vote": rng.choice(["a", "b", "c"], n)}
    )


@pytest.mark.parametrize("name", CAP)
def test_ceiling_is_the_real_table_attacking_itself(name):
    real, release = people(1, 60), people(2, 30)
    roles = {"quasi_identifiers": ["age", "city"], "sensitive": "vote"}
    score = METRICS[name](real, release, **roles)
    assert score.details["ceiling"] == pytest.approx(METRICS[name](real, real, **roles).value, abs=1e-12)


@pytest.mark.parametrize("name", CAP)
def test_unseen_keys_are_counted(name):
    real, release = people(1, 60), people(2, 5)
    score = METRICS[name](real, release, quasi_identifiers=["age", "city"], sensitive="vote")
    keys = set(zip(release["age"], release["city"], strict=True))
    unseen = [key not in keys for key in zip(real["age"], real["city"], strict=True)]
    assert 0 < sum(unseen) < len(unseen)
    assert score.details["unseen_keys"] == pytest.approx(sum(unseen) / len(unseen))


@pytest.mark.parametrize("name", [*CAP, "targeted_cap", "attribute_disclosure"])
def test_a_continuous_quasi_identifier_is_warned_of(name):
    real, release = (people(s, 80).assign(pay=np.random.default_rng(s).lognormal(8, 1, 80)) for s in (1, 2))
    with pytest.warns(UserWarning, match=r"100% of the keys are unseen.*'pay'.*bins="):
        METRICS[name](real, release, quasi_identifiers=["age", "pay"], sensitive="vote")
    coarse = METRICS[name](real, release, quasi_identifiers=["age", "pay"], sensitive="vote", bins={"pay": 4})
    assert coarse.warning is None
    assert coarse.settings["bins"] == {"pay": 4}


def test_many_unseen_keys_of_categories_are_no_fault_of_a_continuous_column():
    real = pd.DataFrame({"code": [f"r{i}" for i in range(50)], "vote": ["a", "b"] * 25})
    release = pd.DataFrame({"code": [f"s{i}" for i in range(50)], "vote": ["a", "b"] * 25})
    score = METRICS["zero_cap"](real, release, quasi_identifiers=["code"], sensitive="vote")
    assert (score.details["unseen_keys"], score.warning) == (1.0, None)


# Disclosure protection


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


@pytest.mark.parametrize("method", ["cap", "zero_cap", "generalized_cap"])
@pytest.mark.parametrize(("known", "hidden", "continuous", "bins"), PROTECTED)
def test_disclosure_protection_is_what_sdmetrics_prints_to_the_last_digit(known, hidden, continuous, bins, method):
    real, synthetic = (table.head(200) for table in adult_with_missing())
    theirs = printed(
        real,
        synthetic,
        known_column_names=known,
        sensitive_column_names=hidden,
        computation_method=method,
        continuous_column_names=continuous or None,
        num_discrete_bins=bins,
    )
    ours = METRICS["disclosure_protection"](
        real, synthetic, quasi_identifiers=known, sensitive=hidden, method=method, continuous=continuous, num_bins=bins
    )
    assert ours.published == theirs["score"]
    assert ours.details["cap_protection"] == theirs["cap_protection"]
    assert ours.details["baseline_protection"] == theirs["baseline_protection"]
    assert ours.value == pytest.approx(1 - theirs["cap_protection"], abs=1e-14)


def test_protection_of_a_column_of_one_level_is_nan_as_in_sdmetrics():
    real, synthetic = (table.head(50).assign(income="one") for table in adult_with_missing())
    given = {"quasi_identifiers": ["sex"], "sensitive": "income"}
    score = METRICS["disclosure_protection"](real, synthetic, **given)
    assert (score.value, score.details["baseline_protection"]) == (1.0, 0.0)
    assert np.isnan(score.published)
    found = printed(real, synthetic, known_column_names=["sex"], sensitive_column_names=["income"])
    assert np.isnan(found["score"])


def test_protection_has_records_control_and_memorization_of_its_rule():
    real, synthetic = adult_with_missing()
    given = {"quasi_identifiers": ["education", "sex"], "sensitive": "income"}
    for method, rule in (("cap", "categorical_cap"), ("zero_cap", "zero_cap"), ("generalized_cap", "generalized_cap")):
        members, control = real.head(300), real.tail(200)
        ours = METRICS["disclosure_protection"](members, synthetic, method=method, control=control, **given)
        own = METRICS[rule](members, synthetic, control=control, **given)
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
        METRICS["disclosure_protection"](
            real, synthetic, quasi_identifiers=["age", "sex"], sensitive="income", **options
        )
