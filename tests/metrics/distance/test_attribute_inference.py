"""Attribute inference risk against plain loops over pairs, and counted by hand."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from samples.cells import cell, is_numeric
from samples.distances import distances_between
from samples.priveval import priveval, schema
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError

AIR = METRICS["attribute_inference_risk"]


def attack(real, synthetic, keys="key", sensitive="secret", **options):
    return AIR(real, synthetic, quasi_identifiers=keys, sensitive=sensitive, **options)


def cells(column):
    return [cell(value) for value in column.tolist()]


def is_right(guess, truth, number):
    if guess is None or truth is None:
        return guess is truth
    return abs(guess - truth) <= 0.1 * abs(truth) * (1 + 1e-9) if number else guess == truth


def nearest(real, synthetic, keys, space):
    """Return the places of the nearest synthetic records of each real one."""
    rows = distances_between(real, synthetic, space, keys)
    return [[j for j, d in enumerate(row) if d <= min(row) * (1 + 1e-9) + 1e-15] for row in rows]


def brute_force(real, synthetic, keys, sensitive, space):
    """Return credits, weights, and the shares of each record's pairs that are a false negative.

    A pair is a true positive if it is right, else a false positive; and a false negative too, if some synthetic record
    holds the true value.
    """
    n, credits, missed = len(real), [], []
    asked = [(cells(real[s]), cells(synthetic[s]), is_numeric(real[s])) for s in sensitive]
    for i, near in enumerate(nearest(real, synthetic, keys, space)):
        right = [[is_right(guesses[j], truths[i], number) for j in near] for truths, guesses, number in asked]
        held = [any(is_right(g, truths[i], number) for g in guesses) for truths, guesses, number in asked]
        credits.append(np.mean(right))
        missed.append(np.mean([h * (1 - np.mean(own)) for own, h in zip(right, held, strict=True)]))
    rows = list(zip(*(cells(real[c]) for c in real), strict=True))
    share = [Counter(rows)[row] / n for row in rows]
    entropy = -math.fsum(count / n * math.log(count / n) for count in Counter(rows).values())
    weights = [-math.log(p) / (n * entropy) for p in share] if len(set(rows)) > 1 else [1 / n] * n
    return np.array(credits), np.array(weights), np.array(missed)


def assert_equals_brute_force(real, synthetic, keys, sensitive, space="euclid"):
    score = attack(real, synthetic, keys, sensitive, space=space)
    credits, weights, missed = brute_force(real, synthetic, keys, sensitive, space)
    np.testing.assert_allclose(score.records["score"], credits, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(score.records["weight"], weights, rtol=1e-9)
    assert score.value == pytest.approx(math.fsum(credits * weights), abs=1e-9)
    accuracy = math.fsum(credits) / len(credits)
    assert score.details["accuracy"] == pytest.approx(accuracy, abs=1e-9)
    assert score.published == pytest.approx(2 * accuracy / (1 + accuracy), abs=1e-9)
    f1 = 2 * (weights @ credits) / (weights @ credits + 1 + weights @ missed)  # equations 6 and 7 of PrivEval's report
    assert score.details["weighted_f1"] == pytest.approx(f1, abs=1e-9)
    return credits, missed


@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_of_single_records_the_f1_of_priveval_is_the_share_of_right_guesses(data):
    real, synthetic, expected = priveval(data)
    (hidden,) = schema(data)["sensitive"]
    credits, missed = assert_equals_brute_force(real, synthetic, expected["keys"], [hidden])
    assert 2 * credits / (credits + 1 + missed) == pytest.approx(credits, abs=1e-12)


def test_hand_counted():
    real = pd.DataFrame({"key": [0.0, 0.0, 4.0, 8.0], "secret": ["a", "a", "b", "b"]}, index=[*"wxyz"])
    synthetic = pd.DataFrame({"key": [1.0, -1.0, 4.0, 5.0], "secret": ["a", "b", "b", "a"]})
    score = attack(real, synthetic)
    assert score.records["score"].to_dict() == {"w": 0.5, "x": 0.5, "y": 1.0, "z": 0.0}
    assert score.records["tied"].tolist() == [2, 2, 1, 1]
    assert score.records["weight"].tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3])  # of H = 1.5 log 2
    assert (score.value, score.details["accuracy"]) == (pytest.approx(0.5), 0.5)
    assert score.published == pytest.approx(2 / 3)
    assert score.details["guess"] == pytest.approx(2 / 3)  # b, weighted
    # 1/2 right, 1/2 wrong, and of all that are wrong the truth is elsewhere: F1 = 1/(1 + 1/2 + 1/2)
    assert score.details["weighted_f1"] == pytest.approx(1 / 2)
    unknown = attack(real, synthetic.replace({"secret": {"b": "c"}}))
    assert unknown.value == pytest.approx(1 / 6)  # b is nowhere: what is wrong of it is missed nowhere
    assert unknown.details["weighted_f1"] == pytest.approx((1 / 3) / (1 / 3 + 5 / 6 + 1 / 6))


def test_equal_rows_weigh_the_same_where_there_is_no_entropy():
    real = pd.DataFrame({"key": [1.0] * 3, "secret": ["a"] * 3})
    score = attack(real, real)
    assert (score.records["weight"].tolist(), score.value) == (pytest.approx([1 / 3] * 3), 1.0)


@pytest.mark.parametrize(
    ("truth", "guess", "right"),
    [
        *((100, 110, 1), (100, 90, 1), (100, 110.1, 0), (-50, -55, 1), (-50, -44.9, 0), (0, 0, 1), (0, 1e-9, 0)),
        *((0.7, 0.77, 1), (None, None, 1), (None, 0, 0), (5, None, 0), (1e308, 1.7e308, 0)),
    ],
)
def test_a_number_is_right_within_a_tenth(truth, guess, right):
    real = pd.DataFrame({"key": ["k", "other"], "secret": [truth, 1.0]}).astype({"secret": float})
    synthetic = pd.DataFrame({"key": ["k"], "secret": [guess]}).astype({"secret": float})
    assert attack(real, synthetic).records["score"].iloc[0] == right


def test_tolerance_is_an_option():
    real = pd.DataFrame({"key": ["k", "l"], "secret": [10.0, 20.0]})
    synthetic = real.assign(secret=[12.0, 20.0])
    assert [attack(real, synthetic, tolerance=t).value for t in (0, 0.1, 0.2)] == [0.5, 0.5, 1.0]


def test_a_date_must_be_equal():
    real = pd.DataFrame({"key": ["k", "l"], "day": pd.to_datetime(["2020-01-01", None])})
    synthetic = pd.DataFrame({"key": ["k", "l"], "day": pd.to_datetime(["2020-01-02", None])})
    assert attack(real, synthetic, sensitive="day").records["score"].tolist() == [0, 1]
    assert attack(real, real, sensitive="day").value == 1


def draw(rng, n, small):
    def gaps(values, missing):
        return np.where(rng.random(n) < 0.15, missing, values)

    table = pd.DataFrame({"x": gaps(rng.integers(0, 4 if small else 1000, n), np.nan)})
    table["c"] = gaps(rng.choice([*"abc"], n), None)
    table["flag"] = rng.random(n) < 0.5
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 3, n), unit="D")
    table = table.assign(one=7, amount=gaps(rng.integers(-12, 12, n), np.nan))
    return table.assign(illness=gaps(rng.choice(["none", "mild"], n), None))


@pytest.mark.parametrize(("seed", "space"), [(0, "euclid"), (1, "euclid"), (1, "gower"), (2, "gower")])
@pytest.mark.parametrize(
    ("keys", "sensitive"),
    [
        (["x", "c", "flag", "day", "one"], ["illness"]),
        (["x", "c"], ["amount"]),
        (["c", "flag"], ["illness", "amount"]),
        *((["x"], ["illness"]), (["one"], ["amount"]), (["flag"], ["illness"])),
    ],
)
def test_random_tables(seed, keys, sensitive, space):
    rng = np.random.default_rng(seed)
    real, synthetic = draw(rng, 40, seed % 2), draw(rng, 30, seed % 2)
    real.iloc[5:8] = real.iloc[:3]
    synthetic.iloc[3:10] = synthetic.iloc[:7]
    synthetic.iloc[20:25] = real.iloc[:5]
    synthetic.loc[2, "c"] = "unseen"
    assert_equals_brute_force(real, synthetic, keys, sensitive, space)
    assert_equals_brute_force(real.iloc[:1], synthetic, keys, sensitive, space)
    assert_equals_brute_force(real, synthetic.iloc[:1], keys, sensitive, space)


def test_many_ties_are_taken_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    real, synthetic = draw(rng, 60, True), draw(rng, 50, True)
    whole = attack(real, synthetic, ["c"], ["amount"])
    monkeypatch.setattr("synthrisk.metrics.distance.attribute_inference._CELLS", 7)
    pd.testing.assert_frame_equal(whole.records, attack(real, synthetic, ["c"], ["amount"]).records)


def test_the_guess_is_the_best_constant():
    rng = np.random.default_rng(3)
    real, synthetic = draw(rng, 50, True), draw(rng, 20, True)
    score = attack(real, synthetic, ["x"], ["illness", "amount"])
    weights, best = score.records["weight"].to_numpy(), 0.0
    for name in ("illness", "amount"):
        truths = cells(real[name])
        candidates = set(truths)
        if name == "amount":
            candidates |= {0.9 * t for t in truths if t} | {1.1 * t for t in truths if t}
        hits = [[is_right(c, t, name == "amount") for t in truths] for c in candidates]
        best += max(weights @ np.array(h) for h in hits) / 2
    assert score.details["guess"] == pytest.approx(best, abs=1e-9)


def test_control_is_weighted_as_members_are():
    rng = np.random.default_rng(1)
    real, synthetic, control = draw(rng, 30, True), draw(rng, 40, True), draw(rng, 20, True)
    roles = {"quasi_identifiers": ["c", "flag"], "sensitive": ["illness"]}
    score = AIR(real, synthetic, control=control, **roles)
    everyone = AIR(pd.concat([real, control], ignore_index=True), synthetic, **roles).records
    for rows, found in ((everyone[:30], score.value), (everyone[30:], score.details["control"])):
        assert found == pytest.approx(np.average(rows["score"], weights=rows["weight"]), abs=1e-12)


@pytest.mark.parametrize(("option", "value"), [("space", "cosine"), ("tolerance", -0.1), ("tolerance", True)])
def test_bad_options(option, value):
    table = pd.DataFrame({"a": [1, 2], "b": [1, 2]})
    for refused in (
        lambda: attack(table, table, ["a"], "b", **{option: value}),
        lambda: AIR.check_choices({option: value}),
    ):
        with pytest.raises(InputError, match=option):
            refused()
