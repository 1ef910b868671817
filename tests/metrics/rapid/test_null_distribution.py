"""RAPID's nulls against all permutations of tiny tables, plain loops and the R package's levels."""

import itertools
import json
import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from samples.attacked import workers
from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.rapid import null_distribution
from synthrisk.metrics.rapid.null_distribution import null_of_permuted_numbers, null_of_permuted_real, permutation_null
from synthrisk.metrics.rapid.prediction_error import prediction_error
from synthrisk.metrics.seeds import seed_of

REFERENCE = Path(__file__).parents[2] / "reference" / "rapid"
LEVELS = json.loads((REFERENCE / "permutation_null.json").read_text())
THRESHOLDS = {"t1": 0.1, "t3": 0.3, "t5": 0.5, "t7": 0.7}
RAPID = METRICS["rapid"]
ERRORS = [("symmetric", 0.5), ("stabilized_relative", 0.4), ("absolute", 2.0)]
PERMUTE = pytest.mark.parametrize("permute", ["synthetic", "real"])
SENSITIVE = pytest.mark.parametrize("sensitive", ["band", "pay"])


def draw_classes(seed, n=6, classes=3, absent=0):
    """Return probabilities, class shares and true codes; -1 for ``absent`` records whose class the release lacks."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(classes), rng.integers(classes, size=n - classes - absent), np.full(absent, -1)]
    shares = np.bincount(codes[codes >= 0], minlength=classes) / n
    return rng.dirichlet(np.full(classes, 0.5), n), shares, codes


def count_classes(probabilities, shares, codes, threshold):
    """Return the share at risk by a plain loop."""
    gains = [(p[c] - shares[c]) / (1 - shares[c]) for p, c in zip(probabilities, codes, strict=True) if c >= 0]
    return sum(g > threshold for g in gains) / len(codes)


@pytest.mark.parametrize("absent", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_moments_and_threshold_of_classes_are_those_of_all_permutations_and_pairs(seed, absent):
    probabilities, shares, codes = draw_classes(seed, absent=absent)
    for threshold in (0.0, 0.3, 0.7):
        null = null_of_permuted_real(probabilities, shares, codes, threshold)
        everything = [count_classes(probabilities, shares, p, threshold) for p in itertools.permutations(codes)]
        assert null.mean == pytest.approx(np.mean(everything), abs=1e-12)
        assert null.sd == pytest.approx(np.std(everything), abs=1e-9)
        assert null.observed == count_classes(probabilities, shares, codes, threshold)
        assert (null.permute, null.permutations, null.tolerance, null.values.size) == ("real", 0, None, 0)
    probabilities, shares, codes = draw_classes(seed, n=12, absent=absent)
    null = null_of_permuted_real(probabilities, shares, codes, 0.3)
    pairs = [(p[c] - shares[c]) / (1 - shares[c]) if c >= 0 else -1 for p in probabilities for c in codes]
    smallest = min(t for t in [0.0, *pairs] if t >= 0 and sum(g > t for g in pairs) <= 0.05 * len(pairs))
    assert null.threshold == pytest.approx(smallest, abs=1e-12)


def draw_numbers(seed, n=6):
    """Return predictions and true values, ties and both signs among them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(-4, 9, n).astype(float)
    return truth + rng.integers(-3, 4, n) * rng.choice([0.5, 1.0]), truth


@pytest.mark.parametrize(("error", "tolerance"), ERRORS)
@pytest.mark.parametrize("seed", range(5))
def test_moments_of_numbers_are_those_of_all_permutations(seed, error, tolerance):
    predicted, truth = draw_numbers(seed)
    null = null_of_permuted_numbers(predicted, truth, tolerance, error)
    everything = [
        np.mean(prediction_error(np.array(p), predicted, error) < tolerance) for p in itertools.permutations(truth)
    ]
    assert null.mean == pytest.approx(np.mean(everything), abs=1e-12)
    assert null.sd == pytest.approx(np.std(everything), abs=1e-9)
    assert null.observed == np.mean(prediction_error(truth, predicted, error) < tolerance)
    assert null.threshold is None


@pytest.mark.parametrize(("error", "tolerance"), ERRORS)
@pytest.mark.parametrize("n", [7, 40])
def test_numbers_against_the_matrix_of_all_pairs(n, error, tolerance):
    predicted, truth = draw_numbers(11, n)
    null = null_of_permuted_numbers(predicted, truth, tolerance, error)
    errors = prediction_error(truth[None, :], predicted[:, None], error)
    near = errors < tolerance
    _, sd = null_distribution.permutation_moments(near.mean(axis=1), near.mean(axis=0))
    assert null.mean == pytest.approx(near.mean(), abs=1e-12)
    assert null.sd == pytest.approx(sd, abs=1e-12)
    largest = max(t for t in errors.ravel() if (errors < t).mean() <= 0.05)
    assert null.tolerance == pytest.approx(largest, rel=1e-9, abs=1e-9)


def test_missing_numbers_stay_out_and_one_number_does_not_vary():
    predicted, truth = draw_numbers(3, 12)
    gaps = np.arange(12) % 3 == 0
    found = null_of_permuted_numbers(predicted, np.where(gaps, np.nan, truth), 0.5, permutations=9)
    expected = null_of_permuted_numbers(predicted[~gaps], truth[~gaps], 0.5, permutations=9)
    assert vars(found) | {"values": found.values.tolist()} == vars(expected) | {"values": expected.values.tolist()}
    null = null_of_permuted_numbers(np.array([1.0]), np.array([1.0]), 0.1)
    assert (null.observed, null.mean, null.sd, null.quantile, null.p_value) == (1.0, 1.0, 0.0, 1.0, 1.0)


def test_draws_agree_with_the_exact_moments():
    probabilities, shares, codes = draw_classes(7, n=300)
    null = null_of_permuted_real(probabilities, shares, codes, 0.3, permutations=2000)
    normal = null_of_permuted_real(probabilities, shares, codes, 0.3)
    assert null.values.mean() == pytest.approx(null.mean, abs=4 * null.sd / math.sqrt(2000))
    assert null.values.std() == pytest.approx(null.sd, rel=0.07)
    assert normal.quantile == pytest.approx(null.quantile, abs=0.2 * null.sd)
    assert normal.quantile == pytest.approx(normal.mean + 1.6449 * normal.sd, abs=1e-4)
    assert normal.p_value == pytest.approx(null.p_value, abs=0.03)
    assert normal.p_value == pytest.approx(norm.sf((null.observed - 1 / 600 - null.mean) / null.sd))


@PERMUTE
def test_quantile_and_p_value_follow_from_the_values(permute, release):
    null = attack(release, permute=permute, permutations=8)
    assert null.quantile == pytest.approx(np.quantile(null.values, 0.95))
    assert null.p_value == (1 + sum(v >= null.observed for v in null.values)) / 9
    if permute == "synthetic":
        assert null.mean == pytest.approx(null.values.mean())
        assert null.sd == pytest.approx(null.values.std(ddof=1))


KEYS = ["age", "city", "hours"]


def draw(n, seed):
    table, rng = workers(n, seed), np.random.default_rng(seed)
    for name in ("hours", "pay"):
        table.loc[rng.random(n) < 0.05, name] = np.nan
    return table


@pytest.fixture(scope="module")
def release():
    return draw(100, 1), draw(130, 2)


def attack(release, sensitive="band", attacker="cart", **options):
    return permutation_null(Tables(*release), quasi_identifiers=KEYS, sensitive=sensitive, attacker=attacker, **options)


FOREST = {
    "band": RandomForestClassifier(100, max_features="sqrt", min_samples_split=11),
    "pay": RandomForestRegressor(100, max_features="sqrt", min_samples_split=6),
}


def commonest_first(column):
    counts = column.value_counts()
    assert counts.is_unique
    return {level: place for place, level in enumerate(counts.index)}


@SENSITIVE
@pytest.mark.parametrize("attacker", ["cart", "random_forest"])
def test_refits_are_a_plain_loop(release, sensitive, attacker):
    real, synthetic = release
    options = {"threshold": 0.2, "tolerance": 0.3}
    null = attack(release, sensitive, attacker, permutations=3, seed=7, **options)
    model = FOREST[sensitive] if attacker == "random_forest" else attacker

    def score(table, seed):
        return RAPID(real, table, quasi_identifiers=KEYS, sensitive=sensitive, attacker=model, seed=seed, **options)

    places = {c: commonest_first(synthetic[c]) for c in ("city", "band")}
    rows = synthetic.sort_values(KEYS, key=lambda c: c.map(places[c.name]) if c.name in places else c)
    column = synthetic[sensitive].sort_values(key=lambda c: c.map(places[c.name]) if c.name in places else c).to_numpy()
    permuted = []
    for b in range(3):
        shuffled = np.random.default_rng(seed_of(7, "permutation", b)).permutation(column)
        permuted.append(score(rows.assign(**{sensitive: shuffled}), seed_of(7, "model", b)))
    assert null.observed == score(synthetic, 7).value
    assert null.values.tolist() == pytest.approx([s.value for s in permuted])
    evidence, sign = ("gain", 1) if sensitive == "band" else ("error", -1)
    limit, other = (null.threshold, null.tolerance) if sensitive == "band" else (null.tolerance, null.threshold)
    pooled = sign * np.concatenate([s.records[evidence].dropna() for s in permuted])
    assert other is None
    assert (pooled > sign * limit).mean() <= 0.05 < (pooled >= sign * limit).mean()


@pytest.mark.parametrize(("sensitive", "attacker"), [("band", "random_forest"), ("pay", "cart"), ("pay", "linear")])
def test_the_model_stays_where_the_real_column_is_permuted(release, sensitive, attacker):
    null = attack(release, sensitive, attacker, permute="real", seed=4)
    score = RAPID(*release, quasi_identifiers=KEYS, sensitive=sensitive, attacker=attacker, seed=4)
    assert null.observed == pytest.approx(score.value, abs=1e-12)
    if sensitive == "pay":
        records = score.records
        numbers = null_of_permuted_numbers(records["guessed"].to_numpy(), records["truth"].to_numpy(), 0.1)
        assert (null.mean, null.sd, null.tolerance) == (numbers.mean, numbers.sd, numbers.tolerance)


def reference(case):
    folder = REFERENCE / case
    expected = json.loads((folder / "expected.json").read_text())
    return pd.read_csv(folder / "original.csv"), pd.read_csv(folder / "synthetic.csv"), expected


@pytest.mark.parametrize("level", THRESHOLDS)
@pytest.mark.parametrize("case", ["cat3_mixed", "paper_appendix_B"])
def test_real_permuted_on_r_probabilities(case, level):
    real, _, expected = reference(case)
    forest = expected["attackers"]["rf"] if "prob_columns" in expected["attackers"]["rf"] else expected
    codes = real[expected["sensitive_attribute"]].map(forest["prob_columns"].index).to_numpy()
    probabilities = np.array(expected["attackers"]["rf"]["probs"])
    null = null_of_permuted_real(probabilities, np.bincount(codes) / len(codes), codes, THRESHOLDS[level])
    assert null.mean == pytest.approx(LEVELS[case]["perm_orig_mean"][level], abs=0.007)
    assert null.quantile == pytest.approx(LEVELS[case]["perm_orig_q95"][level], abs=0.015)


def forest_null(case, permute, **options):
    real, synthetic, expected = reference(case)
    roles = {"quasi_identifiers": expected["quasi_identifiers"], "sensitive": expected["sensitive_attribute"]}
    return permutation_null(Tables(real, synthetic), **roles, permute=permute, **options)


@pytest.mark.parametrize(("level", "within"), [pytest.param("t1", 0.015, marks=pytest.mark.proof), ("t3", 0.008)])
def test_synthetic_permuted_as_in_r(level, within):
    null = forest_null("cat3_mixed", "synthetic", threshold=THRESHOLDS[level])
    assert null.mean == pytest.approx(LEVELS["cat3_mixed"]["perm_syn_mean"][level], abs=within)
    assert null.quantile == pytest.approx(LEVELS["cat3_mixed"]["perm_syn_q95"][level], abs=3 * within)
    assert null.p_value == pytest.approx(1 / 21)


@pytest.mark.parametrize(("permute", "r", "ours"), [("synthetic", 0.0, 0.143), ("real", 0.07915, 0.240)])
def test_real_permuted_as_in_r_and_three_coarse_columns_as_in_another_forest(permute, r, ours):
    name = "perm_syn_mean" if permute == "synthetic" else "perm_orig_mean"
    assert LEVELS["paper_appendix_B"][name]["t3"] == r
    assert forest_null("paper_appendix_B", permute).mean == pytest.approx(ours, abs=0.02)
    if permute == "real":  # exact on our side; R's mean of 20 draws has an sd of .0024
        assert forest_null("cat3_mixed", permute).mean == pytest.approx(LEVELS["cat3_mixed"][name]["t3"], abs=0.01)


@PERMUTE
def test_a_copy_is_far_above_its_null(permute):
    real = draw(150, 4)
    assert attack((real, real), permute=permute).p_value == pytest.approx(1 / 21)


@PERMUTE
@SENSITIVE
def test_a_release_of_one_value_knows_nothing(permute, sensitive):
    real, synthetic = draw(60, 5), draw(60, 6)
    constant = real[sensitive].dropna().iloc[0]
    attacker = "cart" if sensitive == "band" else DecisionTreeRegressor()
    null = attack((real, synthetic.assign(**{sensitive: constant})), sensitive, attacker, permute=permute)
    assert (null.mean, null.quantile) == pytest.approx((null.observed, null.observed))
    assert (null.sd, null.p_value) == (pytest.approx(0, abs=1e-7), 1.0)


@PERMUTE
def test_the_limits_are_strict(permute):
    table = pd.DataFrame({"k": ["a"] * 40, "s": ["x", "y"] * 20, "v": [1.0, 5.0] * 20})
    options = {"quasi_identifiers": ["k"], "attacker": "cart", "permute": permute}
    classes = permutation_null(Tables(table, table), sensitive="s", threshold=0.0, **options)
    assert (classes.observed, classes.mean, classes.values.max(), classes.threshold) == (0.0, 0.0, 0.0, 0.0)
    numbers = permutation_null(Tables(table, table), sensitive="v", error="absolute", tolerance=2.0, **options)
    assert (numbers.observed, numbers.mean, numbers.values.max(), numbers.tolerance) == (0.0, 0.0, 0.0, 2.0)


@PERMUTE
def test_a_class_that_the_release_lacks_is_never_at_risk(permute):
    real, synthetic = draw(80, 7), draw(90, 8)
    real["band"] = np.where(np.arange(80) < 72, "new", real["band"])
    null = attack((real, synthetic), permute=permute, threshold=0.0)
    assert max(null.observed, null.mean, null.values.max()) <= 0.1
    assert null.p_value > 0
    only_new = attack((real.assign(band=np.repeat(["new", "newer"], 40)), synthetic), permute=permute)
    assert (only_new.observed, only_new.mean, only_new.threshold, only_new.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        *(("illness", *each) for each in (("cart", "synthetic", 20), ("cart", "real", 20), ("logistic", "real", 0))),
        *(("income", *each) for each in (("cart", "synthetic", 20), ("cart", "real", 0))),
    ],
    ids=str,
)
def test_few_tables_without_information_are_flagged(design):
    simulation = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "permutation_level.py"))
    p_values = simulation["p_values"](design, 0.0, rows=120, seed=1)
    assert np.mean(p_values <= 0.05) <= 0.08
    assert 0.4 < p_values.mean() < 0.65


@PERMUTE
@SENSITIVE
def test_seeds(release, permute, sensitive):
    few, many = (attack(release, sensitive, permute=permute, permutations=b, seed=1) for b in (3, 6))
    assert few.values.tolist() == many.values[:3].tolist()
    if sensitive == "band":
        assert attack(release, permute=permute, permutations=6, seed=2).values.tolist() != many.values.tolist()


@PERMUTE
@pytest.mark.parametrize(("sensitive", "attacker"), [("band", "logistic"), ("pay", "cart")])
def test_order_moves_nothing(release, permute, sensitive, attacker):
    shuffled = [t.sample(frac=1, random_state=3)[list(t.columns[::-1])] for t in release]
    options = {"permute": permute, "permutations": 3, "threshold": 0.1}
    found, expected = (attack(r, sensitive, attacker, **options) for r in (shuffled, release))
    for name, value in vars(expected).items():
        assert getattr(found, name) == (value if isinstance(value, str | None) else pytest.approx(value, abs=1e-9))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"permute": "original"}, "permute must be synthetic or real"),
        ({"permutations": 1}, "permutations must be a whole number of at least 2"),
        *(({"permutations": each}, "permutations") for each in (2.5, True)),
        ({"permute": "real", "permutations": -1}, "permutations must be a whole number of at least 0"),
        *(({"seed": each}, "seed") for each in (-1, "one")),
        ({"threshold": 1}, "threshold"),
        ({"error": "squared"}, "error"),
        ({"attacker": ["cart", "logistic"]}, "attacker"),
        ({"attacker": "linear"}, "attacker .*linear"),
        ({"sensitive": ["band", "pay"]}, "sensitive must be one column"),
        ({"sensitive": "age"}, "quasi_identifiers and sensitive"),
        ({"sensitive": "pay", "error": "absolute"}, "tolerance"),
    ],
)
def test_bad_argument(release, options, named):
    with pytest.raises(InputError, match=named) as caught:
        attack(release, **options)
    assert "\n" not in str(caught.value)


@PERMUTE
@SENSITIVE
def test_nothing_to_guess(permute, sensitive):
    real = draw(30, 1).assign(**{sensitive: "secret-value" if sensitive == "band" else np.nan})
    with pytest.raises(InputError, match="sensitive must have") as caught:
        attack((real, draw(30, 2)), sensitive, permute=permute)
    assert "secret-value" not in str(caught.value)


def test_nothing_divided_by_nothing_under_a_permutation():
    with pytest.raises(InputError, match="delta"):
        null_of_permuted_numbers(np.array([0.0, 5.0]), np.array([5.0, 0.0]), 0.1, delta=0)
