"""Success against its yardsticks: by hand, by root finding, by simulation."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from scipy.special import expit, logit

from samples.estimates import wilson
from samples.findings import ZERO as CAP
from samples.findings import attacked as attacked_in
from samples.findings import folds
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval, t_test
from synthrisk.metrics.intervals.proportions import correlation, share, share_gain
from synthrisk.metrics.intervals.yardsticks import against_control, against_guess, against_population, gain
from synthrisk.metrics.study.findings import contributions_of, find
from synthrisk.metrics.study.yardsticks import beside_control, beside_guess, beside_population

NAN = float("nan")


def ends(found, name="control"):
    return found[f"{name}_lower"], found[f"{name}_upper"]


def test_right_and_wrong_scores_have_newcombes_interval_and_others_welchs():
    found = against_control(*(pd.Series(np.repeat([1.0, 0.0], counts)) for counts in ([56, 14], [48, 32])))
    assert (found["control_difference"], found["control_gain"]) == pytest.approx((0.2, (0.8 - 0.6) / 0.4))
    assert ends(found) == pytest.approx((0.0524, 0.3339), abs=5e-5)  # Newcombe 1998, table II, case (a)
    rng = np.random.default_rng(1)
    x, y = rng.random(30), rng.random(50) * 0.5
    expected = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
    assert ends(against_control(pd.Series([*x, NAN]), pd.Series(y))) == pytest.approx((expected.low, expected.high))


def test_a_group_without_scores_has_no_difference_one_score_no_interval_and_equal_ones_a_point():
    for groups in (([], [1.0]), ([1.0], []), ([NAN], [1.0])):
        assert np.isnan(list(against_control(*(pd.Series(g, dtype=float) for g in groups)).values())).all()
    alone = against_control(pd.Series([0.5]), pd.Series([0.25, 0.5]))
    assert (alone["control_difference"], math.isnan(alone["control_lower"])) == (0.125, True)
    assert ends(against_control(pd.Series([0.5, 0.5]), pd.Series([0.25, 0.25]))) == (0.25, 0.25)
    assert (math.isnan(gain(1.0, 1.0)), gain(0.0, 0.5)) == (True, -1)


def table(both, first, second, neither):
    counts = [both, first, second, neither]
    return np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.repeat([1.0, 0.0, 1.0, 0.0], counts)


def test_right_and_wrong_scores_of_the_same_records_have_newcombes_paired_interval():
    x, y = (pd.Series(s) for s in table(20, 12, 2, 16))
    found = against_population(x, y)
    phi = (20 * 16 - 12 * 2 - 50 / 2) / math.sqrt(32 * 18 * 22 * 28)
    (l1, u1), (l2, u2) = wilson(32 / 50, 50), wilson(22 / 50, 50)
    a, b = 0.64 - l1, u2 - 0.44
    lower = 0.2 - math.sqrt(a * a - 2 * phi * a * b + b * b)
    a, b = u1 - 0.64, 0.44 - l2
    upper = 0.2 + math.sqrt(a * a - 2 * phi * a * b + b * b)
    assert (found["population_difference"], found["population_gain"]) == pytest.approx((0.2, 0.2 / 0.56))
    assert ends(found, "population") == pytest.approx((lower, upper), abs=1e-12)
    assert (lower, upper) == pytest.approx((0.0562, 0.3292), abs=5e-5)


@pytest.mark.parametrize("cells", [(20, 12, 2, 16), (2, 8, 7, 33), (0, 3, 0, 40), (30, 0, 5, 5)])
@pytest.mark.parametrize("paired", [True, False])
def test_limits_of_the_gain_are_those_of_a_difference_that_is_zero(cells, paired):
    x, y = table(*cells)
    first, second = share(x, 0.95), share(y, 0.95)
    phi = correlation(x, y) if paired else 0.0
    found = share_gain(first, second, phi)
    assert found.value == pytest.approx(gain(x.mean(), y.mean()))
    q1, q2 = 1 - first.value, 1 - second.value

    def limit(ratio, sign):
        a = q1 - (1 - first.upper) if sign < 0 else (1 - first.lower) - q1
        b = ratio * ((1 - second.lower) - q2 if sign < 0 else q2 - (1 - second.upper))
        return q1 - ratio * q2 + sign * math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))

    assert found.upper == pytest.approx(1 - optimize.brentq(limit, 0, q1 / q2, args=(-1,)), abs=1e-9)
    assert found.lower == pytest.approx(1 - optimize.brentq(limit, q1 / q2, 1e4, args=(1,)), abs=1e-9)
    assert found.lower <= found.value <= found.upper


def test_phi_by_hand_and_no_gain_over_who_is_always_right():
    for cells, phi in (
        ((20, 12, 2, 16), 271 / math.sqrt(32 * 18 * 22 * 28)),
        ((5, 5, 4, 5), 0.0),  # ad - bc = 5, below n/2
        ((2, 8, 7, 3), -50 / math.sqrt(10 * 10 * 9 * 11)),
        ((4, 6, 0, 0), 0.0),  # an empty margin
    ):
        assert correlation(*table(*cells)) == pytest.approx(phi)
    x, y = table(5, 0, 5, 0)
    assert math.isnan(share_gain(share(x, 0.95), share(y, 0.95)).value)


def test_other_paired_scores_have_students_interval_and_those_of_one_count_in_its_mean_only():
    rng = np.random.default_rng(3)
    x, y = rng.random(40), rng.random(40)
    expected = stats.ttest_rel(x, y).confidence_interval(0.95)
    found = against_population(pd.Series(x), pd.Series(y))
    assert ends(found, "population") == pytest.approx((expected.low, expected.high))
    found = against_population(pd.Series([1.0, 0.0, 1.0, NAN]), pd.Series([NAN, 0.0, 0.5, 0.5]))
    lower, upper = ends(found, "population")
    assert found["population_difference"] == pytest.approx(2 / 3 - 1 / 3)
    assert lower < found["population_difference"] < upper
    assert np.isnan(list(against_population(pd.Series([NAN]), pd.Series([1.0])).values())).all()


REAL = pd.DataFrame({"age": [30, 30, 40, 40, 50], "vote": ["a", "b", "a", "a", "b"]})
CONTROL = pd.DataFrame({"age": [30, 30, 40, 60], "vote": ["b", "b", "a", "a"]})
RELEASE = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "b", "b"]})
ROLES = {"quasi_identifiers": ["age"], "sensitive": "vote"}


def test_population_of_a_direct_call_by_hand_count():
    found = METRICS["zero_cap"](REAL, RELEASE, control=CONTROL, **ROLES).details
    value = (0.5 + 0.5 + 0 + 0 + 1) / 5
    told = [found[f"population{end}"] for end in ("", "_difference", "_gain", "_upper")]
    differences = np.array([0.5 - 0, 0.5 - 1, 0 - 1, 0 - 1, 1 - 0])
    half = stats.t.ppf(0.975, 4) * differences.std(ddof=1) / math.sqrt(5)
    assert told == pytest.approx([3 / 5, value - 3 / 5, (value - 0.6) / 0.4, differences.mean() + half])


ADULT = {
    "rapid": {"attacker": "logistic", "baseline": "scored"},
    "detection_mlp": {"folds": 2},
    "linkability": {"columns_a": ["age", "education"], "columns_b": ["sex", "income"]},
}
WITH_POPULATION = [n for n, m in METRICS.items() if m.has_population]


def adult_options(name):
    roles = {"quasi_identifiers": ["age", "education", "sex"], "sensitive": "income"}
    return {role: given for role, given in roles.items() if role in METRICS[name].needs} | ADULT.get(name, {})


@pytest.mark.parametrize("name", WITH_POPULATION)
def test_population_is_the_metric_with_control_as_the_release(name, adult_parts, scored_beside_control):
    members, control, _ = adult_parts
    metric, options = METRICS[name], adult_options(name)
    found = scored_beside_control(name)
    alone = metric(members, control, **options)
    if name == "attribute_inference_risk":  # its weights are shares among all real records, the control's too
        both = pd.concat([members, control], ignore_index=True)
        own = METRICS[name](both, control, **options).records.head(200)
        alone = replace(alone, records=own, value=float(np.average(own["score"], weights=own["weight"])))
    due = {"": alone.value, "_difference": found.value - alone.value, "_gain": gain(found.value, alone.value)}
    told = {end: found.details[f"population{end}"] for end in due}
    assert told == pytest.approx(due, abs=1e-12, nan_ok=True)
    x, s = (each.records[metric.records.contribution].to_numpy(dtype=float) for each in (found, alone))
    if metric.records.weight is None and metric.records.transform is None and not np.isnan(np.append(x, s)).any():
        expected = against_population(pd.Series(x), pd.Series(s))  # record by record
        assert {k: found.details[k] for k in expected} == pytest.approx(expected, abs=1e-12)
    limits = [found.details[f"population_{end}"] for end in ("lower", "difference", "upper")]
    assert limits == sorted(limits)


@pytest.mark.parametrize("name", WITH_POPULATION)
def test_each_yardstick_of_a_direct_call_has_gain_difference_and_intervals(name, scored_beside_control):
    d = scored_beside_control(name).details
    assert ("guess" in d) == ("sensitive" in METRICS[name].needs or name == "linkability")
    assert METRICS[name].yardsticks.uninformed == "guess" or METRICS[name].yardsticks.uninformed in d
    for yardstick in ("guess", "control", "population"):
        if yardstick not in d:
            assert not [k for k in d if k.startswith(yardstick)]
            continue
        gains = [d[f"{yardstick}_{k}"] for k in ("gain_lower", "gain", "gain_upper")]
        differences = [d[f"{yardstick}_{k}"] for k in ("lower", "difference", "upper")]
        assert d[yardstick] == 1 or gains[0] < gains[1] < gains[2] or gains[0] == gains[2]
        assert differences[0] < differences[1] < differences[2] or differences[0] == differences[2]


def test_distances_to_non_members_by_hand():
    members, control = pd.DataFrame({"x": [0.0, 4.0, 10.0]}), pd.DataFrame({"x": [1.0, 7.0]})
    found = METRICS["distance_to_closest_record"](members, members + 0.5, control=control, space="gower")
    own, others = 0.5 / 10.5, np.array([0.1, 0.3, 0.3])  # in shares of each space's range
    x, s = (1 / (1 + np.exp(np.log10(m))) for m in (own, others.mean()))
    slope = -s * (1 - s) / (math.log(10) * others.mean())
    half = stats.t.ppf(0.975, 2) * (slope * others).std(ddof=1) / math.sqrt(3)
    told = [found.details[f"population{end}"] for end in ("", "_difference", "_upper")]
    assert [found.value, *told] == pytest.approx([x, s, x - s, x - s + half])


def test_a_non_member_is_never_compared_with_itself_and_who_was_in_has_no_population():
    members, control = pd.DataFrame({"x": [0.0, 1.0, 10.0, 11.0]}), pd.DataFrame({"x": [-4.0, 10.4, 30.0]})
    for name in ("authenticity", "identifiability_score"):
        assert METRICS[name](members, members, control=control).details["population"] == 0.5
    halves = pd.DataFrame({"a": [0.0, 10.0, 20.0], "b": [0.0, 500.0, 900.0]})
    options = {"columns_a": ["a"], "columns_b": ["b"], "control": halves + 1.0}
    assert METRICS["linkability"](halves, halves.iloc[::-1], **options).details["population"] == 1
    without = {n for n, m in METRICS.items() if not (m.has_population or m.by_release)}
    assert without == {"membership", "hidden_rate", "membership_inference_risk"}
    linked = METRICS["hidden_rate"](REAL, RELEASE, control=CONTROL, links=[0, 1, 2, 3]).details
    assert "control" in linked
    assert not [k for k in linked if k.startswith("population")]


@pytest.mark.parametrize("scores", [[1.0, 0.0, 1.0, 1.0, NAN], [0.2, 0.9, 0.5, 0.7, NAN]])
def test_limits_beside_a_guess_are_those_of_the_success(scores):
    found, x = against_guess(pd.Series(scores), 0.4), np.array(scores[:4])
    half = stats.t.ppf(0.975, 3) * stats.sem(x) / (x.mean() * (1 - x.mean()))
    limits = wilson(3 / 4, 4) if x.max() == 1 else expit(logit(x.mean()) + np.array([-half, half]))
    assert ends(found, "guess") == pytest.approx([e - 0.4 for e in limits])
    assert ends(found, "guess_gain") == pytest.approx([(e - 0.4) / 0.6 for e in limits])
    assert np.isnan(list(against_guess(pd.Series([NAN]), 0.4).values())).all()


@pytest.mark.parametrize("paired", [True, False])
def test_limits_of_the_gain_of_other_scores_are_those_of_resampled_records(paired):
    rng = np.random.default_rng(9)
    x = rng.beta(4, 2, 400)
    y = np.clip(x - rng.random(400) * 0.3, 0, 1) if paired else rng.beta(2, 3, 300)
    against, name = (against_population, "population") if paired else (against_control, "control")
    found = against(pd.Series(x), pd.Series(y))
    draws = []
    for _ in range(2000):
        rows = rng.integers(len(x), size=len(x))
        draws.append(gain(x[rows].mean(), y[rows if paired else rng.integers(len(y), size=len(y))].mean()))
    assert found[f"{name}_gain"] == pytest.approx(gain(x.mean(), y.mean()))
    lower, upper = ends(found, f"{name}_gain")
    assert (upper - lower) / 2 / 1.965 == pytest.approx(np.std(draws), rel=0.1)


def test_population_is_all_control_records_whatever_the_release_and_none_where_they_are_attacked(adult_parts):
    members, control, release = adult_parts
    roles = {"quasi_identifiers": ["age", "education", "sex"], "sensitive": "income", "control": control}
    a, b = (METRICS["generalized_cap"](members, r, **roles).details["population"] for r in (release, members))
    assert a == b
    attacked = METRICS["rapid"](members, release, mode="holdout", attacker="logistic", **roles)
    assert "population" not in attacked.details


@pytest.fixture(scope="module")
def adult_parts():
    from synthrisk.tasks.data import read

    adult = read("adult")[["age", "education", "sex", "income"]].sample(600, random_state=0)
    return tuple(adult.iloc[i : i + 200].reset_index(drop=True) for i in (0, 200, 400))


@pytest.fixture(scope="module")
def scored_beside_control(adult_parts):
    """Return the score of a metric by its name, made once."""
    members, control, release = adult_parts
    return cache(lambda name: METRICS[name](members, release, control=control, **adult_options(name)))


def studied(rng, R=3, K=3, n=60, chance=0.5, scores=None):
    held_out = folds(rng, R, K, n)
    drawn = (rng.random(held_out.shape) < chance) * 1.0 if scores is None else scores
    attacked = attacked_in(drawn, held_out, guess=0.3)
    return find("a", "synthesizer", CAP, attacked, Interval()), contributions_of(attacked), held_out


def test_all_three_yardsticks_are_one_formula():
    rng = np.random.default_rng(5)
    (finding, own, _), (population, of_population, _) = studied(rng), studied(rng, chance=0.4)
    guess, control = beside_guess(finding), beside_control(finding, own, Interval(), None)
    beside = beside_population(finding, own, population, of_population, Interval(), None)
    assert (control.success, beside.success) == (finding.risk_control, population.risk)
    x = finding.risk.value
    for each in (guess, control, beside):
        s = each.success.value
        assert (each.gain.value, each.difference.value) == pytest.approx(((x - s) / (1 - s), x - s), abs=1e-12)
        assert each.gain.lower < each.gain.value < each.gain.upper
    assert control.difference == finding.memorization
    expected = t_test(own.risk - of_population.risk).estimate
    assert (beside.difference.lower, beside.difference.upper) == pytest.approx((expected.lower, expected.upper))


def test_the_interval_of_a_gain_is_that_of_resampled_records():
    rng = np.random.default_rng(6)
    (finding, own, _), (population, of_population, _) = studied(rng, R=1, n=500), studied(rng, R=1, n=500, chance=0.3)
    found = beside_population(finding, own, population, of_population, Interval(), None).gain
    draws = []
    for _ in range(1500):
        rows = rng.integers(500, size=500)
        draws.append(gain(own.risk[0, rows].mean(), of_population.risk[0, rows].mean()))
    assert (found.upper - found.lower) / 2 / 1.965 == pytest.approx(np.std(draws), rel=0.1)


def test_one_release_of_right_and_wrong_is_paired_as_newcombe_does():
    x, y = table(20, 12, 2, 16)
    nobody = np.zeros((1, 1, 50), bool)
    made = [attacked_in(scores[None, None], nobody) for scores in (x, y)]
    one, other = ((find("a", "synthesizer", CAP, each, Interval()), contributions_of(each)) for each in made)
    beside = beside_population(*one, *other, Interval(), None)
    direct = against_population(pd.Series(x), pd.Series(y))
    assert (beside.difference.lower, beside.difference.upper) == pytest.approx(ends(direct, "population"))
    assert (beside.difference.method, "one repetition" in beside.gain.note) == ("newcombe", True)
    assert beside_control(*one, Interval(), None) is None


def test_a_control_that_always_succeeds_leaves_a_difference_and_no_gain_and_nobody_scored_no_yardstick():
    finding, own, held_out = studied(np.random.default_rng(7))
    population, of_population, _ = studied(np.random.default_rng(8), scores=np.full(held_out.shape, NAN))
    assert beside_population(finding, own, population, of_population, Interval(), None) is None
    finding, own, _ = studied(np.random.default_rng(7), scores=np.where(held_out, 1.0, 0.5))
    found = beside_control(finding, own, Interval(), None)
    assert found.difference.value == pytest.approx(-0.5)
    assert (math.isnan(found.gain.value), "always right" in found.gain.note) == (True, True)


def test_the_guess_of_claims_is_that_of_the_claims_about_members():
    members, control = (pd.DataFrame({"x": [k, k], "v": v}) for k, v in ((0, ["a", "a"]), (1, ["a", "b"])))
    release = pd.DataFrame({"x": [0, 1], "v": ["a", "b"]})
    roles = {"quasi_identifiers": ["x"], "sensitive": "v", "attacker": "key_class"}
    found = METRICS["inference"](members, release, control=control, **roles).details
    assert (found["guess"], found["statistical_confidence"], found["control_guess"]) == (0.75, 0.75, 0.25)
    assert found["guess_gain"] == found["confidence_improvement"] == 1.0
