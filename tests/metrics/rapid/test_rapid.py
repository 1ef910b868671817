"""RAPID against the R package's numbers, and its rules on tables whose answer is known; cross-validated by hand."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from samples.attacked import workers
from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.yardsticks import normalized_gain, threshold_curve
from synthrisk.metrics.rapid.null_distribution import permutation_null
from synthrisk.metrics.rapid.prediction_error import prediction_error
from synthrisk.metrics.rapid.rapid import cross_validated

REFERENCE = Path(__file__).parents[2] / "reference" / "rapid"
RAPID = METRICS["rapid"]
CATEGORICAL = ["cat3_mixed", "paper_appendix_B"]
CATEGORICAL_ATTACKERS = ["random_forest", "logistic"]
CONTINUOUS_ATTACKERS = ["random_forest", "linear"]
ERRORS = {"symmetric": "symmetric", "stabilized_relative": "stabilised_relative", "absolute": "absolute"}
TREE, REGRESSION_TREE = DecisionTreeClassifier(), DecisionTreeRegressor()


def load(case):
    tables = (pd.read_csv(REFERENCE / case / f"{table}.csv") for table in ("original", "synthetic"))
    return *tables, json.loads((REFERENCE / case / "expected.json").read_text())


def attack(case, **options):
    real, synthetic, expected = load(case)
    roles = {"quasi_identifiers": expected["quasi_identifiers"], "sensitive": expected["sensitive_attribute"]}
    return RAPID(real, synthetic, **roles, **options)


@pytest.mark.parametrize("attacker", ["rf", "cart", "gbm", "multinom"])
@pytest.mark.parametrize("case", CATEGORICAL)
def test_gain_of_r_probabilities(case, attacker):
    real, _, expected = load(case)
    truth, expected = real[expected["sensitive_attribute"]], expected["attackers"][attacker]
    columns = [expected["prob_columns"].index(value) for value in truth]
    confidence = np.array(expected["probs"])[np.arange(len(real)), columns]
    baseline = truth.map(truth.value_counts(normalize=True)).to_numpy()
    gain = normalized_gain(confidence, baseline)
    np.testing.assert_allclose(gain, expected["gain"], rtol=0, atol=1e-9)
    thresholds = [float(t) for t in expected["curve"]]
    curve = threshold_curve(gain, thresholds)
    np.testing.assert_allclose(curve, list(expected["curve"].values()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("attacker", ["lm", "rf", "cart", "gbm"])
def test_errors_and_number_at_risk_of_r_predictions(attacker):
    real, _, expected = load("cont_income")
    expected, ours = expected["attackers"][attacker], {theirs: name for name, theirs in ERRORS.items()}
    predicted, truth = np.array(expected["predicted"]), real["income"].to_numpy()
    if attacker in ("lm", "rf"):
        for error, delta in itertools.product(ERRORS, (0.01, 1)):
            name = "absolute_delta0.01" if error == "absolute" else f"{ERRORS[error]}_delta{delta}"
            found = prediction_error(truth, predicted, error, delta)
            np.testing.assert_allclose(found, expected["errors"][name], rtol=1e-9, atol=1e-9)
    for row in expected["table"]:
        error = prediction_error(truth, predicted, ours[row["metric"]], row["delta"])
        assert int((error < row["epsilon"]).sum()) == row["n_at_risk"], row


@pytest.mark.parametrize(
    ("error", "delta", "expected"),
    [
        ("symmetric", 0.0, [2 / 3, 0.0, 2.0, 2.0, 2.0]),
        ("symmetric", 1.0, [4 / 8, 0.0, 12 / 8, 8 / 6, 8 / 6]),
        ("stabilized_relative", 1.0, [2 / 5, 0.0, 6 / 5, 4.0, 4 / 5]),
        ("absolute", 1.0, [2.0, 0.0, 6.0, 4.0, 4.0]),
        ("absolute", 0.0, [2.0, 0.0, 6.0, 4.0, 4.0]),
    ],
)
def test_error_counted_by_hand(error, delta, expected):
    truth, predicted = np.array([4.0, -4.0, 4.0, 0.0, -4.0]), np.array([2.0, -4.0, -2.0, 4.0, 0.0])
    np.testing.assert_allclose(prediction_error(truth, predicted, error, delta), expected, rtol=1e-12)


@pytest.mark.parametrize("case", CATEGORICAL)
def test_logistic_attacker_equals_r(case):
    _, _, expected = load(case)
    expected, score = expected["attackers"]["multinom"], attack(case, attacker="logistic")
    np.testing.assert_allclose(score.records["gain"], expected["gain"], rtol=0, atol=1e-6)
    assert score.value == pytest.approx(expected["curve"]["0.3"], abs=1e-9)
    assert score.details["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-9)
    for threshold, rate in expected["curve"].items():
        assert score.details[f"curve_{float(threshold):.2f}"] == pytest.approx(rate, abs=1e-9)


def test_linear_attacker_equals_r():
    _, _, expected = load("cont_income")
    expected, score = expected["attackers"]["lm"], attack("cont_income", attacker="linear")
    np.testing.assert_allclose(score.records["guessed"], expected["predicted"], rtol=1e-6)
    for name in ("rmse", "mae"):
        assert score.details[name] == pytest.approx(expected[name], rel=1e-6)
    for row in expected["table"][::3]:
        error = next(name for name, theirs in ERRORS.items() if theirs == row["metric"])
        score = attack("cont_income", attacker="linear", error=error, delta=row["delta"], tolerance=row["epsilon"])
        assert score.value == pytest.approx(row["n_at_risk"] / 1000, abs=1e-9), row
        errors = expected["errors"][f"{row['metric']}_delta{row['delta']:g}"]
        np.testing.assert_allclose(score.records["error"], errors, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("case", "column", "theirs", "alike"),
    [("cat3_mixed", "gain", "gain", 0.98), ("cont_income", "guessed", "pred", 0.99)],
)
def test_forest_is_near_its_reference(case, column, theirs, alike):
    seeds = load(case)[2]["attackers"]["rf"]["ten_seeds"]
    centre = seeds["mean"]["symmetric_0.1"] if case == "cont_income" else seeds["confidence_rate_mean"]
    score = attack(case, attacker="random_forest", seed=0)
    assert score.value == pytest.approx(centre, abs=0.025)
    assert np.corrcoef(score.records[column], seeds[f"per_record_{theirs}_mean"])[0, 1] > alike


def test_forest_of_three_coarse_columns_is_surer_than_rs():
    """Ranger makes a leaf of a node that none of the variables drawn can split, scikit-learn looks on (METHODS 2.5)."""
    seeds = load("paper_appendix_B")[2]["attackers"]["rf"]["ten_seeds"]
    assert seeds["confidence_rate_mean"] == pytest.approx(0.156, abs=5e-4)
    assert attack("paper_appendix_B", attacker="random_forest", seed=0).value == pytest.approx(0.381, abs=0.025)


@pytest.mark.parametrize(("case", "apart"), [("paper_appendix_B", 0.02), ("cat3_mixed", 0.055)])
def test_rangers_rule_is_rs_forest_record_by_record(case, apart):
    seeds = load(case)[2]["attackers"]["rf"]["ten_seeds"]
    scores = [attack(case, attacker="ranger", seed=seed) for seed in range(3)]
    assert np.mean([score.value for score in scores]) == pytest.approx(seeds["confidence_rate_mean"], abs=0.015)
    assert np.mean([s.details["accuracy"] for s in scores]) == pytest.approx(seeds["accuracy_mean"], abs=0.012)
    gain = np.mean([score.records["gain"] for score in scores], axis=0)
    assert np.sqrt(np.mean((gain - seeds["per_record_gain_mean"]) ** 2)) < apart


RELEASE = pd.DataFrame({"k": list("aaaabbbb"), "s": list("xxxyyyyx")})  # a: x with 3/4; b: y with 3/4
REAL = pd.DataFrame({"k": list("abab"), "s": list("xyyx")}, index=[4, 2, 9, 7])


def categorical(real=REAL, synthetic=RELEASE, attacker=TREE, **options):
    return RAPID(real, synthetic, quasi_identifiers="k", sensitive="s", attacker=attacker, **options)


@pytest.mark.parametrize("booleans", [False, True])
def test_classes_are_counted_by_hand_and_limits_are_strict(booleans):
    tables = [t.assign(s=t["s"] == "x") if booleans else t for t in (REAL, RELEASE)]
    score = categorical(*tables)
    expected = {
        "confidence": [0.75, 0.75, 0.25, 0.25],
        "baseline": [0.5] * 4,
        "gain": [0.5, 0.5, -0.5, -0.5],
        "at_risk": [True, True, False, False],
        "score": [1.0, 1.0, 0.0, 0.0],
        "truth": tables[0]["s"].tolist(),
    }
    assert score.records.index.tolist() == [4, 2, 9, 7]
    assert {name: score.records[name].tolist() for name in expected} == expected
    assert score.records["guessed"].tolist() == [v == "x" if booleans else v for v in "xyxy"]
    found = [score.details[name] for name in ("accuracy", "mean_gain", "curve_0.00", "curve_0.45", "curve_0.50")]
    assert [score.value, *found] == [0.5, 0.5, 0.0, 0.5, 0.5, 0.0]
    for threshold, value in ((0.5, 0.0), (0.4999, 0.5), (0.0, 0.5), (0, 0.5), (0.99, 0.0)):
        assert categorical(*tables, threshold=threshold).value == value


@pytest.mark.parametrize("attacker", CATEGORICAL_ATTACKERS)
def test_a_class_that_only_the_release_has_is_never_right_and_one_class_is_certain(attacker):
    synthetic = pd.DataFrame({"k": list("aaaabbbb"), "s": list("zzzxzzyy")})
    score = categorical(synthetic=synthetic, attacker=attacker)
    assert score.records["confidence"].between(0, 1).all()
    assert score.details["accuracy"] <= 0.5
    score = categorical(synthetic=pd.DataFrame({"k": list("ab"), "s": list("xx")}), attacker=attacker)
    assert (score.records["confidence"].tolist(), score.value) == (pytest.approx([1.0, 0.0, 0.0, 1.0]), 0.5)


@pytest.mark.parametrize("attacker", [*CATEGORICAL_ATTACKERS, TREE], ids=str)
def test_missing_is_a_class_of_its_own(attacker):
    real = pd.DataFrame({"k": list("abab"), "s": ["x", None, "x", np.nan]})
    synthetic = pd.DataFrame({"k": list("ab") * 20, "s": ["x", np.nan] * 20})
    score = categorical(real, synthetic, attacker)
    assert score.records["baseline"].tolist() == [0.5] * 4
    assert (score.records["confidence"] > 0.9).all()
    assert (score.value, score.details["accuracy"]) == (1.0, 1.0)


def test_a_tied_guess_is_right_by_halves():
    synthetic = pd.DataFrame({"k": list("aabb"), "s": list("xyyx")})
    real = pd.DataFrame({"k": list("abab"), "s": list("xxxy")})
    accuracy = categorical(real, synthetic).details["accuracy"]
    renamed = [t.assign(s=t["s"].map({"x": "z", "y": "a"})) for t in (real, synthetic)]
    assert categorical(*renamed).details["accuracy"] == accuracy == 0.5


@pytest.mark.parametrize("threshold", [0, 0.3, 0.9])
@pytest.mark.parametrize("attackers", [DummyClassifier(), [DummyClassifier(), "cart"]], ids=["one", "several"])
def test_the_guess_is_the_value_of_an_attacker_who_answers_the_class_shares(threshold, attackers):
    real = pd.DataFrame({"k": list("abcabca"), "s": list("xxxxyyz")})
    shares = categorical(real, real, DummyClassifier(), threshold=threshold)
    assert shares.records["gain"].abs().max() < 1e-12
    found = categorical(real, real, attackers, threshold=threshold).details
    assert shares.value == found["guess"] == 0
    assert shares.details["accuracy"] == found["accuracy_guess"] == 4 / 7


NUMBERS = pd.DataFrame({"k": list("aabb"), "s": [90.0, 110.0, -10.0, 10.0]})  # a: 100; b: 0
ZERO = {"truth": [100.0, 0.0], "attacker": REGRESSION_TREE, "delta": 0}


def continuous(truth, attacker=REGRESSION_TREE, synthetic=NUMBERS, **options):
    real = pd.DataFrame({"k": list("ab" * len(truth))[: len(truth)], "s": truth})
    return RAPID(real, synthetic, quasi_identifiers="k", sensitive="s", attacker=attacker, **options)


def test_continuous_hand_counted():
    score = continuous([100.0, 5.0, 150.0, 0.0])
    assert score.records["guessed"].tolist() == [100.0, 0.0, 100.0, 0.0]
    assert score.records["truth"].tolist() == [100.0, 5.0, 150.0, 0.0]
    assert score.records["error"].tolist() == pytest.approx([0, 10 / 5.02, 100 / 250.02, 0])
    assert (score.records["at_risk"].tolist(), score.value) == ([True, False, False, True], 0.5)
    assert score.details["mae"] == pytest.approx(55 / 4)
    assert score.details["rmse"] == pytest.approx(math.sqrt(2525 / 4))


def test_the_tolerance_is_strict():
    for tolerance, value in ((50, 0.5), (50.0001, 1.0), (5, 0.25), (5.0001, 0.5)):
        score = continuous([100.0, 5.0, 150.0, 50.0], error="absolute", tolerance=tolerance)
        assert (score.value, score.records["at_risk"].mean()) == (value, value)


def test_a_missing_continuous_truth_is_not_scored_and_one_alone_is():
    score = continuous([100.0, np.nan, 150.0, np.nan])
    np.testing.assert_array_equal(score.records["score"], [1.0, np.nan, 0.0, np.nan])
    assert (score.records["error"].isna().tolist(), score.value) == ([False, True, False, True], 0.5)
    assert score.details["mae"] == pytest.approx(25.0)
    assert continuous(pd.array([100, None, 150, None], dtype="Int64")).value == 0.5
    assert [continuous(truth).value for truth in ([100.0], [70.0], [100.0, np.nan, 100.0])] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("attacker", [*CONTINUOUS_ATTACKERS, REGRESSION_TREE], ids=str)
def test_a_missing_number_in_the_release_is_not_a_zero(attacker):
    gaps = pd.concat([NUMBERS, NUMBERS.assign(s=np.nan)])
    with_gaps = continuous([100.0, 5.0], attacker, gaps).records["guessed"]
    without = continuous([100.0, 5.0], attacker, NUMBERS).records["guessed"]
    assert with_gaps.tolist() == pytest.approx(without.tolist(), abs=1e-6)


@pytest.mark.parametrize(
    ("error", "tolerance"), [("absolute", 3.0), ("symmetric", 0.1), ("symmetric", 0.9), ("stabilized_relative", 0.4)]
)
def test_the_guess_is_the_value_of_the_best_constant_prediction(error, tolerance):
    truth = np.random.default_rng(4).normal(2, 9, 30).round(1)
    rule, grid = {"error": error, "tolerance": tolerance}, np.arange(truth.min(), truth.max(), 0.3)

    def value(constant):
        return np.mean(prediction_error(truth, np.full(30, constant), error, 0.01) < tolerance)

    best = max(grid, key=value)
    constant = continuous(truth, DummyRegressor(strategy="constant", constant=best), **rule)
    assert constant.value == pytest.approx(value(best), abs=1e-12)
    assert continuous(truth, **rule).details["guess"] == pytest.approx(value(best), abs=1e-12)


@pytest.mark.parametrize("attacker", [*CATEGORICAL_ATTACKERS, "linear"])
@pytest.mark.parametrize("gaps", ["real", "synthetic", "both", "whole column of synthetic"])
def test_unseen_and_missing_quasi_identifiers_do_not_crash(attacker, gaps):
    rng = np.random.default_rng(5)

    def draw(n, levels):
        table = pd.DataFrame({"age": rng.normal(50, 10, n), "city": rng.choice(levels, n)})
        table["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
        table["member"] = rng.random(n) < 0.5
        table["s"] = table["age"] + 5 * table["member"]
        if attacker != "linear":
            table["s"] = np.where(table["s"] > 52, "high", "low")
        return table

    real, synthetic = draw(60, ["a", "b", "unseen"]), draw(80, ["a", "b", "only here"])
    for name, table in (("real", real), ("synthetic", synthetic)):
        if gaps in (name, "both"):
            table.loc[::5, ["age", "city", "when"]] = None
    if gaps.startswith("whole"):
        synthetic["age"] = np.nan
    known = ["age", "city", "when", "member"]
    score = RAPID(real, synthetic, quasi_identifiers=known, sensitive="s", attacker=attacker)
    assert np.isfinite(score.records["error" if attacker == "linear" else "confidence"]).all()
    assert 0 <= score.value <= 1


@pytest.mark.parametrize("attacker", [*CATEGORICAL_ATTACKERS, TREE], ids=str)
def test_an_unseen_level_is_guessed_like_nothing_in_particular(attacker):
    real = pd.DataFrame({"k": ["b", "new", "newer", "a"], "s": list("xxxy")})
    confidence = categorical(real, attacker=attacker).records["confidence"]
    assert confidence.iloc[1] == pytest.approx(confidence.iloc[2], abs=1e-9)


@pytest.mark.parametrize("attacker", CATEGORICAL_ATTACKERS)
def test_missing_keys_can_be_learned(attacker):
    synthetic = pd.DataFrame({"k": ["a", None] * 30, "x": [1.0, np.nan] * 30, "s": ["p", "q"] * 30})
    real = pd.DataFrame({"k": ["a", np.nan], "x": [1.0, np.nan], "s": ["p", "q"]})
    for keys in (["k"], ["x"], ["k", "x"]):
        score = RAPID(real, synthetic, quasi_identifiers=keys, sensitive="s", attacker=attacker)
        assert (score.records["confidence"] > 0.9).all(), keys


@pytest.mark.parametrize(
    ("options", "named"),
    [
        *(({"threshold": each}, "threshold") for each in (1.5, -0.1, math.nan, "0.3")),
        ({"attacker": "random_forrest"}, "attacker .*random_forest"),
        ({"attacker": "linear"}, "attacker .*linear"),
        *(({"attacker": each}, "attacker") for each in (DecisionTreeRegressor(), 3, None)),
        ({"sensitive": ["s", "t"]}, "sensitive"),
        *(({"quasi_identifiers": each}, "quasi_identifiers") for each in ([], ["k", "s"])),
        *(({"attacker": "random_forest", "seed": each}, "seed") for each in (-1, "one")),
        ({"real": REAL.assign(s="x", t=REAL["k"])}, "sensitive"),
    ],
)
def test_bad_categorical_argument(options, named):
    tables = {"real": REAL.assign(t=REAL["k"]), "synthetic": RELEASE.assign(t=RELEASE["k"])}
    with pytest.raises(InputError, match=named) as caught:
        RAPID(**tables | {"quasi_identifiers": ["k"], "attacker": "logistic", "sensitive": "s"} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        *(({"tolerance": each}, "tolerance") for each in (-0.1, math.nan, "5%")),
        ({"error": "symetric"}, "error .*symmetric"),
        ({"error": None}, "error"),
        *(({"error": "absolute"} | each, "tolerance") for each in ({}, {"tolerance": None})),
        *(({"delta": each}, "delta") for each in (-0.01, math.nan, math.inf)),
        ({"attacker": "logistic"}, "attacker .*logistic"),
        ({"attacker": DecisionTreeClassifier()}, "attacker"),
        ({"truth": [np.nan, np.nan]}, "sensitive"),
        # the second record is 0 and guessed 0
        *((ZERO | {"error": each}, "delta") for each in ("symmetric", "stabilized_relative")),
    ],
)
def test_bad_continuous_argument(options, named):
    with pytest.raises(InputError, match=named) as caught:
        continuous(**{"truth": [100.0, 5.0], "attacker": "linear"} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [("symmetric", [0.0, 2.0]), ("stabilized_relative", [0.0, 1.0]), ("absolute", [0.0, 5.0])],
)
def test_delta_zero_is_taken_where_no_truth_is_zero(error, expected):
    tolerance = {"tolerance": 1.0} if error == "absolute" else {}
    records = continuous([100.0, 5.0], error=error, delta=0, **tolerance).records
    assert records["error"].tolist() == expected


def test_text_in_place_of_a_number_is_refused():
    real = pd.DataFrame({"k": [1.0, 2.0], "s": [1.0, 2.0]})
    for column in ("k", "s"):
        with pytest.raises(InputError, match=f"'{column}'"):
            RAPID(real, real.astype({column: str}), quasi_identifiers="k", sensitive="s", attacker="linear")


@pytest.fixture(scope="module")
def release():
    return workers(120, 11), workers(150, 12)


KEYS = ["age", "city", "hours"]
DETERMINISTIC = [("band", "logistic"), ("pay", "linear")]
CASES = [("band", RandomForestClassifier(101)), ("pay", RandomForestRegressor(10)), *DETERMINISTIC]


def scores(real, synthetic, sensitive, attacker, keys=KEYS):
    records = RAPID(real, synthetic, quasi_identifiers=keys, sensitive=sensitive, attacker=attacker, seed=3).records
    return records["gain" if sensitive == "band" else "error"].to_numpy(float)


@pytest.mark.parametrize(("sensitive", "attacker"), CASES, ids=str)
def test_value_and_details_follow_from_the_records(release, sensitive, attacker):
    score = RAPID(*release, quasi_identifiers=KEYS, sensitive=sensitive, attacker=attacker, threshold=0.35)
    records, details = score.records, score.details
    assert score.value == pytest.approx(records["score"].mean(), abs=1e-12)
    assert 0 < score.value < 1
    assert records["score"].tolist() == records["at_risk"].astype(float).tolist()
    assert records["truth"].tolist() == release[0][sensitive].tolist()
    right = records["guessed"] == records["truth"]
    if sensitive == "pay":
        gap = (records["guessed"] - records["truth"]).astype(float)
        assert records["at_risk"].tolist() == (records["error"] < 0.10).tolist()
        assert details["rmse"] == pytest.approx(math.sqrt((gap**2).mean()))
        assert details["mae"] == pytest.approx(gap.abs().mean())
        return
    share = release[0][sensitive].value_counts(normalize=True)
    np.testing.assert_allclose(records["baseline"], records["truth"].map(share), rtol=1e-12)
    gain = (records["confidence"] - records["baseline"]) / (1 - records["baseline"])
    np.testing.assert_allclose(records["gain"], gain, rtol=0, atol=1e-12)
    assert records["at_risk"].tolist() == (records["gain"] > 0.35).tolist()
    assert details["accuracy"] == pytest.approx(right.mean())
    assert details["mean_gain"] == pytest.approx(records["gain"].mean())
    names = [name for name in details if name.startswith("curve_")]
    assert names == [f"curve_{k / 100:.2f}" for k in range(0, 100, 5)]  # test_curves counts what each says
    assert details["curve_0.35"] == pytest.approx(score.value, abs=1e-12)


@pytest.mark.parametrize(("sensitive", "attacker"), CASES, ids=str)
def test_one_record_is_attacked_as_among_many(release, sensitive, attacker):
    real, synthetic = release
    options = {"quasi_identifiers": KEYS, "sensitive": sensitive, "attacker": attacker, "seed": 3}
    column = "confidence" if sensitive == "band" else "guessed"
    found, alone = (RAPID(part, synthetic, **options).records[column] for part in (real, real.iloc[:40]))
    np.testing.assert_allclose(alone, found.iloc[:40], rtol=1e-12)


@pytest.mark.parametrize(("sensitive", "attacker"), DETERMINISTIC)
def test_names_and_units_move_nothing(release, sensitive, attacker):
    before = scores(*release, sensitive, attacker)
    names = {"city": {"a": "z", "b": "y", "c": "x"}, "band": {"low": "3", "middle": "1", "high": "2"}}
    renamed = [t.replace(names).assign(hours=t["hours"] * 3600 + 1e6) for t in release]
    np.testing.assert_allclose(scores(*renamed, sensitive, attacker), before, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sensitive", ["band", "pay"])
def test_the_seed_decides_the_forest(release, sensitive):
    options = {"quasi_identifiers": KEYS, "sensitive": sensitive, "attacker": "random_forest"}
    column = "confidence" if sensitive == "band" else "guessed"
    first, other = (RAPID(*release, **options, seed=s).records[column] for s in (1, 2))
    assert (first != other).any()


def test_an_estimator_given_is_seeded_and_left_unfitted(release):
    forest = RandomForestClassifier(n_estimators=5)
    first, again = (scores(*release, "band", forest) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not hasattr(forest, "classes_")
    assert forest.random_state is None


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=10),
    st.lists(st.tuples(st.sampled_from("abd"), st.sampled_from("xyw")), min_size=1, max_size=10),
    st.integers(0, 99),
)
def test_equals_a_recount_of_shares(real, synthetic, percent):
    real, synthetic = (pd.DataFrame(t, columns=["k", "s"]) for t in (real, synthetic))
    if real["s"].nunique() < 2:
        real.loc[len(real)] = ["a", "x" if real["s"].iloc[0] != "x" else "y"]
    score, gains = categorical(real, synthetic, threshold=percent / 100), []
    told = score.records[["confidence", "gain"]].to_numpy()
    for key, truth, (confidence, gain) in zip(real["k"], real["s"], told, strict=True):
        released = [s for k, s in zip(synthetic["k"], synthetic["s"], strict=True) if k == key]
        if released:
            assert confidence == pytest.approx(released.count(truth) / len(released), abs=1e-12)
        if truth not in set(synthetic["s"]):
            assert confidence == 0
        b = real["s"].tolist().count(truth) / len(real)
        assert gain == pytest.approx((confidence - b) / (1 - b), abs=1e-12)
        gains.append(gain)
    assert score.value == sum(g > percent / 100 for g in gains) / len(gains)


@pytest.fixture
def paid(release):
    return [t.assign(pay=np.arange(len(t)) % 7 + 1.0) for t in release]


FREE, DRAWN = {"permute": "real", "permutations": 0}, {"permute": "real", "permutations": 50}


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize(
    ("sensitive", "attacker", "permuted"),
    [
        *((*each, FREE) for each in (("band", "cart"), ("pay", "linear"))),
        *((*each, DRAWN) for each in (("band", "random_forest"), ("band", "cart"), ("pay", "linear"))),
        ("band", "cart", {"permutations": 20}),
    ],
)
def test_nulls_are_those_of_permutation_null_and_say_whose_values_were_permuted(
    paid, sensitive, attacker, permuted, absent
):
    real, synthetic = paid
    if absent:  # a class that the release lacks, a value that is missing
        real = real.assign(band=real["band"].astype(str).where(np.arange(len(real)) > 3, "rare"))
        real = real.assign(pay=real["pay"].where(np.arange(len(real)) > 3))
    options = {"quasi_identifiers": KEYS, "sensitive": sensitive, "attacker": attacker, "seed": 4}
    score = RAPID(real, synthetic, **options, **permuted if permuted is not FREE else {})
    null = permutation_null(Tables(real, synthetic), **options, **permuted)
    limit = [] if permuted is FREE else ["tolerance" if sensitive == "pay" else "threshold"]
    for name in ("mean", "quantile", "p_value", *limit):
        assert score.details[f"null_{null.permute}_{name}"] == pytest.approx(getattr(null, name), abs=1e-12)
    assert "null_real_mean" in score.details
    if permuted is not FREE:
        assert (score.settings["permute"], score.settings["permutations"]) == (null.permute, null.permutations)
    if permuted is DRAWN:
        rank = score.details["null_real_p_value"] * 51  # drawn: the normal tail is no multiple of 1/51
        assert rank == pytest.approx(round(rank))


class CountingTree(DecisionTreeClassifier):
    fits = 0

    def fit(self, *arguments):
        CountingTree.fits += 1
        return super().fit(*arguments)


@pytest.mark.parametrize(("permute", "fits"), [("real", 1), ("synthetic", 1 + 1 + 7)])
def test_permuted_real_values_need_no_further_fit(release, permute, fits):
    CountingTree.fits = 0
    options = {"quasi_identifiers": KEYS, "sensitive": "band", "attacker": CountingTree()}
    RAPID(*release, **options, permute=permute, permutations=7)
    assert CountingTree.fits == fits


def test_three_intervals_of_the_share_stand_beside_it(release):
    score = RAPID(*release, quasi_identifiers=KEYS, sensitive="band", attacker="cart")
    count, n = int(score.records["score"].sum()), len(score.records)
    for name, method in (("wilson", "wilson"), ("clopper_pearson", "exact")):
        ends = binomtest(count, n).proportion_ci(0.95, method)
        assert (score.details[f"{name}_lower"], score.details[f"{name}_upper"]) == (ends.low, ends.high)
    assert score.details["bootstrap_lower"] <= score.value <= score.details["bootstrap_upper"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"permutations": 1}, "permutations must be a whole number of at least 2, got 1"),
        ({"permutations": -1, "permute": "real"}, "at least 0, got -1"),
        *(({"permutations": each}, f"got {each}") for each in (2.5, True)),
        ({"permute": "both"}, "permute must be synthetic or real, got 'both'"),
        ({"permutations": 20, "attacker": ["cart", "logistic"]}, "permutations need one attacker"),
        ({"mode": "holdout"}, "control must be given for the mode holdout"),
        ({"mode": "cross_validated"}, r"mode must be match or holdout, got 'cross_validated'.*cross_validated"),
        ({"baseline": "synthetic"}, "baseline must be real or scored, got 'synthetic'"),
    ],
)
def test_bad_permutations_modes_and_baselines_are_refused(release, options, said):
    with pytest.raises(InputError, match=said):
        RAPID(*release, **{"quasi_identifiers": KEYS, "sensitive": "band", "attacker": "cart"} | options)


def test_a_tolerance_above_one_is_warned_of(paid):
    options = {"quasi_identifiers": KEYS, "sensitive": "pay", "attacker": "linear"}
    with pytest.warns(UserWarning, match=r"tolerance 5 is a share of the value.*0\.05"):
        assert RAPID(*paid, **options, tolerance=5).value == 1
    with pytest.warns(UserWarning, match="wider than the column"):  # 5 of 1 to 7: a guess of 4 is always near
        RAPID(*paid, **options, tolerance=5, error="absolute")
    assert RAPID(*paid, **options, tolerance=0.5, error="absolute").warning is None


def test_no_stabiliser_is_needed_where_nothing_is_divided_by_zero():
    real = pd.DataFrame({"k": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0]})
    synthetic = pd.DataFrame({"k": [0.0, 1.0, 2.0], "y": [1.0, 0.0, 5.0]})
    options = {"quasi_identifiers": ["k"], "sensitive": "y", "attacker": DecisionTreeRegressor()}
    score = RAPID(real, synthetic, **options, delta=0)
    assert score.value == 0
    assert "null_real_mean" not in score.details
    assert "null_real_mean" in RAPID(real, synthetic, **options).details
    with pytest.raises(InputError, match="delta must be above 0"):
        RAPID(real, synthetic, **options, delta=0, permute="real", permutations=5)


RNG = np.random.default_rng(8)
VOTERS = pd.DataFrame({"age": RNG.integers(20, 60, 200), "job": RNG.choice(list("abc"), 200)})
VOTERS["vote"] = np.where((VOTERS["age"] > 40) ^ (RNG.random(200) < 0.1), "yes", "no")
OPTIONS = {"sensitive": "vote", "quasi_identifiers": ["age", "job"], "attacker": "cart"}


def folds_of(real=VOTERS, release=lambda train, seed: train, **options):
    return cross_validated(real, release, **OPTIONS | options)


def test_each_fold_is_attacked_by_a_release_that_never_saw_it():
    seen = []
    found = folds_of(release=lambda train, seed: seen.append((train, seed)) or train, folds=4, seed=3)
    assert (len({seed for _, seed in seen}), {len(train) for train, _ in seen}) == (4, {150})
    values, shares = [], VOTERS["vote"].value_counts(normalize=True)
    for train, _ in seen:
        held_out = [tuple(row) for row in VOTERS.itertuples(index=False)]
        for row in train.itertuples(index=False):
            held_out.remove(tuple(row))
        out = pd.DataFrame(held_out, columns=VOTERS.columns)
        records = RAPID(out, train, **OPTIONS).records
        gain = (records["confidence"] - out["vote"].map(shares)) / (1 - out["vote"].map(shares))
        values.append((gain > 0.3).mean())
    assert (found.folds, found.value) == (pytest.approx(values, abs=1e-12), pytest.approx(np.mean(values)))
    half = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert (found.lower, found.upper) == pytest.approx((found.value - half, found.value + half))


def test_folds_are_stratified_and_repeatable():
    counts = []

    def count(train, seed):
        counts.append((train["vote"] == "yes").sum())
        return train

    first, again, other = (folds_of(release=count, seed=s) for s in (1, 1, 2))
    assert max(counts) - min(counts) <= 1
    assert first == again != other


def test_a_numeric_secret_and_a_rare_class_are_cut_without_strata():
    real = VOTERS.assign(pay=RNG.lognormal(8, 1, 200))
    assert 0 <= folds_of(real, sensitive="pay", quasi_identifiers=["age"], attacker="linear").value <= 1
    assert len(folds_of(VOTERS.assign(vote=["rare", *VOTERS["vote"][1:]])).folds) == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        *(({"folds": each}, "folds must be a whole number") for each in (1, 0, 201, 2.0, True, "5")),
        ({"sensitive": "vota", "quasi_identifiers": ["age"]}, "sensitive must be a column"),
    ],
)
def test_folds_and_secrets_that_are_none_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        folds_of(**options)


def test_modes_of_one_release_and_the_baseline_among_the_records_scored():
    members, controls = VOTERS.iloc[:120], VOTERS.iloc[120:]
    match, holdout, scored = (
        RAPID(members, members, **OPTIONS, control=controls, **options)
        for options in ({"mode": "match"}, {"mode": "holdout"}, {"mode": "holdout", "baseline": "scored"})
    )
    assert (len(match.records), len(holdout.records)) == (120, 80)
    assert holdout.value == match.details["control"]
    for found, among in ((holdout, VOTERS), (scored, controls)):
        shares = among["vote"].value_counts(normalize=True)
        assert found.records["baseline"].tolist() == pytest.approx(controls["vote"].map(shares).tolist())
