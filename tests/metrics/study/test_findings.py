"""What a study says of a measure, from small cubes of scores and by hand."""

import math
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from samples.estimates import ENDS, crossed_by_hand
from samples.findings import attacked as attacked_in
from samples.findings import folds
from synthrisk.metrics.exposure.single_records import record_exposure
from synthrisk.metrics.intervals.estimates import Interval, paired
from synthrisk.metrics.score import Ceiling
from synthrisk.metrics.study.findings import (
    Attacked,
    find,
    find_released,
    release_values,
    standardised_difference,
    usefulness,
    utility_table,
)
from synthrisk.metrics.study.ledger import Cell, Measure, OfUtility, Planned, Reasons, ReleasedValues
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.tasks.data import read

MEASURE = Measure("zero_cap", "zero_cap", "income")


def said(attacked, interval=None, methods=()):
    return find("a", "synthesizer", MEASURE, attacked, interval or Interval(), methods)


def holdout(x, out):
    held_out = np.zeros((1, 1, len(x)), bool)
    held_out[..., out] = True
    return attacked_in(np.asarray(x, float)[None, None], held_out)


def pooled(x, chosen, r):
    values = [x[r, k, i] for k in range(x.shape[1]) for i in range(x.shape[2]) if chosen[r, k, i]]
    values = [v for v in values if not math.isnan(v)]
    return sum(values) / len(values)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 4), st.booleans())
def test_risk_control_and_memorization_are_pooled_means(seed, R, K, fresh):
    rng = np.random.default_rng(seed)
    held_out = folds(rng, R, K, 24)
    x = rng.normal(size=held_out.shape)
    x[rng.random(x.shape) < 0.2] = np.nan
    control = held_out & (rng.random(x.shape) < 0.6) if fresh else held_out
    control[:, :, 0] = held_out[:, :, 0]
    x[:, :, 0] = 0.5  # one record is always scored, so that each repetition has a control record
    found = said(Attacked(x, ~held_out, control, guess=0.25))
    risk = sum(pooled(x, ~held_out, r) for r in range(R)) / R
    of_control = sum(pooled(x, control, r) for r in range(R)) / R
    assert found.risk.value == pytest.approx(risk, abs=1e-12)
    assert found.risk_control.value == pytest.approx(of_control, abs=1e-12)
    assert found.memorization.value == pytest.approx(risk - of_control, abs=1e-12)
    assert found.risk_gain.value == pytest.approx((risk - 0.25) / 0.75)
    assert found.risk_gain.lower == pytest.approx((found.risk.lower - 0.25) / 0.75)
    assert found.control_gain == pytest.approx((risk - of_control) / (1 - of_control))
    assert len(found.release_risk) == R * K


def test_memorization_of_complete_folds_is_member_minus_control_of_each_record():
    rng = np.random.default_rng(0)
    held_out = folds(rng, 2, 3, 30)
    x = rng.normal(size=held_out.shape)
    each = []
    for i in range(30):
        own = [[x[r, k, i] for r in range(2) for k in range(3) if held_out[r, k, i] == out] for out in (False, True)]
        as_member, as_control = map(np.mean, own)
        each.append((as_member, as_control, as_member - as_control))
    columns = ["as_member", "as_control", "memorization"]
    np.testing.assert_allclose(record_exposure(x, ~held_out, held_out)[columns], each, atol=1e-12)
    assert said(attacked_in(x, held_out)).memorization.value == pytest.approx(np.mean(each, axis=0)[2])
    one = holdout([0.2, 0.4, 0.9], [2])
    found = record_exposure(one.scores, one.member, one.control)[columns].to_numpy()
    np.testing.assert_array_equal(found, [[0.2, np.nan, np.nan], [0.4, np.nan, np.nan], [np.nan, 0.9, np.nan]])


def test_one_release_of_right_and_wrong_has_wilson_and_newcombe():
    one = holdout([1.0] * 56 + [0.0] * 14 + [1.0] * 48 + [0.0] * 32, range(70, 150))
    found = said(one)
    assert (found.memorization.lower, found.memorization.upper) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (found.risk.method, found.memorization.method) == ("wilson", "newcombe")
    assert all("one repetition" in each.note for each in (found.risk, found.memorization))
    assert said(one, Interval(method="records")).memorization.method == "records"
    plain, distance = holdout([1.0, 0.0, 1.0, 0.0], [2, 3]), np.array([[[0.0, 2.0, 1.0, 1.0]]])
    attacked = Attacked(plain.scores, plain.member, plain.control, distance, lambda d: math.exp(-d))
    assert said(attacked).risk.value == pytest.approx(math.exp(-1.0))  # it keeps its transform


@pytest.mark.parametrize("held_out", [60, 100, 140])
def test_a_holdout_has_the_variance_of_two_independent_means(held_out):
    x = np.random.default_rng(1).normal(size=200)
    found = said(holdout(x, range(held_out)))
    parts = x[:held_out], x[held_out:]
    variance = sum(sum((v - p.mean()) ** 2 for v in p) / len(p) ** 2 for p in parts) * 200 / 199
    half = 1.971956544249395 * math.sqrt(variance)  # t of 199
    assert found.memorization.upper - found.memorization.value == pytest.approx(half, abs=1e-9)


def test_no_control_gives_a_risk_and_no_memorization():
    found = said(holdout([0.1, 0.5, 0.6], []))
    assert found.risk.value == pytest.approx(0.4)
    assert np.isnan([found.memorization.value, found.risk_control.value]).all()
    assert paired(np.zeros((1, 3)), np.empty((1, 0))).shape == (1, 0)


def test_what_has_no_value_says_why():
    nothing, parts = np.full((2, 2, 6), np.nan), folds(np.random.default_rng(0), 2, 2, 6)
    unscored = said(attacked_in(nothing, parts)).risk
    assert (math.isnan(unscored.value), unscored.note) == (True, "not scored")
    assert np.isnan(release_values(nothing, parts)).all()
    x, held_out = np.full((1, 1, 6), np.nan), np.arange(6)[None, None] > 3
    quantities = attrgetter("risk.note", "risk_control.note", "memorization.note")
    found = said(attacked_in(x, held_out, reasons=Reasons("no key", "no control key")))
    assert quantities(found) == ("no key", "no control key", "no key")
    half = np.where(held_out, np.nan, 0.5)
    found = said(attacked_in(half, held_out, reasons=Reasons("", "no control key")))
    assert (found.risk.value, *quantities(found)[1:]) == (0.5, *["no control key"] * 2)
    assert "key" not in found.risk.note
    found = said(Attacked(x, ~held_out, np.zeros_like(held_out), reasons=Reasons("no key", "")))
    assert (found.risk.note, found.memorization.note) == ("no key", "no control records")
    why, values = ("one record", "no control records", "too few"), ReleasedValues(*np.full((4, 2, 2), np.nan))
    reasons = Reasons(**dict(zip(("members", "controls", "difference"), why, strict=True)))
    assert quantities(find_released("a", "synthesizer", MEASURE, values, Interval(), reasons)) == why


def test_a_decreasing_transform_turns_the_interval_round():
    rng = np.random.default_rng(2)
    held_out = folds(rng, 2, 3, 60)
    distance = rng.gamma(2, size=held_out.shape)
    scores = rng.normal(size=held_out.shape)
    found = said(Attacked(scores, ~held_out, held_out, distance, lambda d: math.exp(-d)))
    assert found.risk.lower < found.risk.value < found.risk.upper
    mean = np.mean([pooled(distance, ~held_out, r) for r in range(2)])
    assert found.risk.value == pytest.approx(math.exp(-mean))
    gap = np.mean([pooled(scores, ~held_out, r) - pooled(scores, held_out, r) for r in range(2)])
    assert found.memorization.value == pytest.approx(gap)
    assert found.release_risk[0] == pytest.approx(math.exp(-distance[0, 0][~held_out[0, 0]].mean()))


def test_a_value_a_release_has_intervals_over_repetitions():
    members, controls = np.array([[0.5, 0.7], [0.9, 0.7]]), np.array([[0.1, 0.1], [0.3, 0.3]])
    values = (members, controls + 0.4, members, controls)
    found = find_released("a", "synthesizer", MEASURE, ReleasedValues(*values), Interval())
    assert ENDS(found.risk) == pytest.approx((0.7, 0, 1))  # 1.27 to either side, clipped to the range of a share
    small = ReleasedValues(*(v / 20 for v in values))
    close = find_released("a", "synthesizer", MEASURE, small, Interval()).risk
    half = 12.706204736432095 * math.sqrt(0.02 / 400 / 2)
    assert (close.upper - close.value, close.lower) == (pytest.approx(half), 0)
    assert ENDS(found.memorization) == pytest.approx((0.5, 0.5, 0.5))  # in both
    assert found.release_risk == (0.5, 0.7, 0.9, 0.7)
    assert (found.risk_control.value, found.control_gain) == (pytest.approx(0.6), pytest.approx(0.25))


def test_all_methods_are_there_on_request():
    rng = np.random.default_rng(3)
    held_out = folds(rng, 2, 2, 40)
    found = said(attacked_in(rng.random(held_out.shape), held_out), methods=("crossed", "records"))
    assert found.intervals["memorization"]["crossed"] == found.memorization
    assert found.intervals["risk"]["records"].method == "records"


def test_adult_copy_memorizes_and_fresh_does_not():
    rng = np.random.default_rng(0)
    table = read("adult")
    real = table.iloc[rng.permutation(len(table))[:3000]].reset_index(drop=True)
    known = ["age", "education", "occupation", "sex", "race"]
    planned = [Planned(MEASURE, {"quasi_identifiers": known, "sensitive": "income"})]
    held_out = folds(rng, 2, 3, 3000)
    cubes = {kind: np.full((2, *held_out.shape), np.nan) for kind in ("copy", "fresh")}
    for r, k in np.ndindex(2, 3):
        drawn_from = rng.permutation(np.flatnonzero(held_out[r, k]))[:500]
        for kind, cube in cubes.items():
            member = pd.array(~held_out[r, k], dtype="boolean")
            release = real[~held_out[r, k]]
            if kind == "fresh":
                member[drawn_from] = pd.NA
                release = real.iloc[rng.choice(drawn_from, 2000)]
            rows, _ = attack_release(real, release.reset_index(drop=True), member, planned, 1, Cell(kind, r, k))
            cube[:, r, k] = rows["score"], rows["member"].to_numpy(dtype=float, na_value=np.nan)
    copy, fresh = (said(Attacked(x, who == 1, who == 0)).memorization for x, who in cubes.values())
    assert copy.lower > 0.5
    assert fresh.lower < 0 < fresh.upper < 0.05


@pytest.mark.parametrize(("chance", "controls"), [(0.05, 10), (0.05, 20), (0.5, 12), (0.9, 30)])
def test_few_control_records_that_are_alike_are_not_taken_for_known(chance, controls):
    rng = np.random.default_rng(4)
    beside = []
    for _ in range(400):
        x = (rng.random(300) < chance) * rng.uniform(0.9, 1.0, 300)  # not quite right or wrong: no share of 0 and 1
        found = said(holdout(x, range(controls))).memorization
        beside.append((found.lower > 0, found.upper < 0))
    above, below = np.mean(beside, axis=0)
    assert max(above, below) <= 0.06  # 2.5 %, and what is skewed


NAME = "standardised_difference"


def ranked(ranking, held_out):
    return attacked_in(ranking, held_out, ranking=ranking)


def standardised(ranking, held_out, confidence=0.95):
    """Return value, lower and upper end of the standardised difference."""
    found = standardised_difference(ranked(ranking, held_out), Interval(confidence))
    return [found[f"{NAME}{end}"][0] for end in ("", "_lower", "_upper")]


@pytest.mark.parametrize(("R", "K"), [(2, 2), (3, 4)])
def test_the_standardised_difference_is_what_plain_loops_say(R, K):
    rng, n = np.random.default_rng(R), 40
    held_out = folds(rng, R, K, n)
    sure = rng.normal(size=held_out.shape) + 0.7 * ~held_out
    own = [sure[r, k, i] for r in range(R) for k in range(K) for i in range(n) if held_out[r, k, i]]
    mean = sum(own) / len(own)
    spread = math.sqrt(sum((x - mean) ** 2 for x in own) / len(own))
    # by record: what it is as member less what it is held out, in each of the repetitions
    each = np.zeros((R, n))
    for r, i in np.ndindex(R, n):
        as_member = sum(sure[r, k, i] for k in range(K) if not held_out[r, k, i]) / (K - 1)
        each[r, i] = (as_member - sum(sure[r, k, i] for k in range(K) if held_out[r, k, i])) / spread
    assert standardised(sure, held_out, 0.9) == pytest.approx(crossed_by_hand(each.tolist(), 0.9)[:3], abs=1e-9)


@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=20)
def test_the_standardised_difference_has_no_unit(seed, factor, shift):
    rng = np.random.default_rng(seed)
    held_out = folds(rng, 2, 2, 30)
    sure = rng.normal(size=held_out.shape) + 0.5 * ~held_out
    assert standardised(sure * factor + shift, held_out) == pytest.approx(standardised(sure, held_out), abs=1e-8)


def test_who_the_attack_abstains_of_is_as_sure_as_the_least_sure():
    rng = np.random.default_rng(5)
    held_out = folds(rng, 2, 2, 30)
    sure = rng.normal(size=held_out.shape) + 0.5 * ~held_out
    absent = sure.copy()
    for r, k in np.ndindex(2, 2):
        order = np.argsort(sure[r, k])
        absent[r, k, order[:3]] = -np.inf
        sure[r, k, order[:3]] = sure[r, k, order[3]]
    assert standardised(absent, held_out) == pytest.approx(standardised(sure, held_out))


def test_there_is_no_standardised_difference_where_nothing_is_ranked_or_all_alike():
    held_out = folds(np.random.default_rng(0), 1, 2, 10)
    flat = np.ones(held_out.shape)
    silent, without = ranked(np.full(flat.shape, -np.inf), held_out), Attacked(flat, ~held_out, held_out & False)
    for attacked in (attacked_in(flat, held_out), ranked(flat, held_out), silent, replace(without, ranking=flat)):
        assert standardised_difference(attacked, Interval()) == {}


ACCURACY = Measure("accuracy", "accuracy")


def useful(releases):
    return usefulness("cart", "synthesizer", ACCURACY, releases)


def test_utility_and_its_ceiling_are_means_over_repetitions_with_an_interval():
    values = {(0, 0): 0.8, (0, 1): 0.6, (1, 0): 0.9, (1, 1): 0.8, (2, 0): 0.5, (2, 1): 0.6}
    ceiling = {k: Ceiling(v / 2, v - 0.1, 5.0, {"mean": 0.1}) for k, v in values.items()}
    found = useful({k: OfUtility(v, {"mean": v}, ceiling[k]) for k, v in values.items()})
    half = stats.t.ppf(0.975, 2) * 0.15 / math.sqrt(3)  # of 0.7, 0.85 and 0.55
    assert ENDS(found.value) == pytest.approx((0.7, 0.7 - half, 1))  # no utility is more than 1
    assert found.ceiling.value == pytest.approx(0.35)
    assert found.thinned.value == found.at_one_size.value == pytest.approx(0.6)
    assert (found.releases, found.details) == (tuple(values.values()), {"mean": pytest.approx((0.7, 0.1))})


def test_without_control_utility_has_no_ceiling_and_without_a_value_it_says_why():
    found = useful({(0, 0): OfUtility(0.8, {"sum": 0.7})})
    assert found.value.value == found.at_one_size.value == 0.8
    assert np.isnan([found.value.lower, found.ceiling.value, found.details["sum"][1]]).all()
    assert found.details["sum"][0] == 0.7
    nothing = useful({(0, 0): OfUtility(math.nan, reason="no query has an answer")})
    assert (math.isnan(nothing.value.value), nothing.reason) == (True, "no query has an answer")
    row = utility_table([nothing]).iloc[0][["synthesizer", "measure", "note"]]
    assert row.tolist() == ["cart", "accuracy", "not scored; no query has an answer"]
