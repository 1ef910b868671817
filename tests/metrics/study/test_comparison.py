"""Pairs of synthesizers against plain loops, hand-made tables, and simulated studies in which nothing differs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from synthrisk.metrics.intervals.distributions import holm
from synthrisk.metrics.intervals.estimates import Interval, t_test, t_test_across_repetitions
from synthrisk.metrics.study.comparison import compare
from synthrisk.metrics.study.findings import Attacked, contributions_of, find
from synthrisk.metrics.study.ledger import Measure, ReleasedValues

CAP, OTHER = Measure("zero_cap", "zero_cap", "income"), Measure("rapid", "rapid", "income")


def folds(rng, R, K, n):
    return np.stack([rng.permutation(n) % K for _ in range(R)])[:, None, :] == np.arange(K)[None, :, None]


def variance(values):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def by_hand(x, y, held_out, quantity):
    """Return difference, lower, upper and p-value, with every sum of METHODS 6 written out."""
    R, K, n = x.shape
    e = [[0.0] * n for _ in range(R)]
    for r in range(R):
        for i in range(n):
            own = []
            for scores in (x, y):
                as_member = [scores[r, k, i] for k in range(K) if not held_out[r, k, i]]
                as_control = [scores[r, k, i] for k in range(K) if held_out[r, k, i]]
                value = sum(as_member) / (K - 1)
                own.append(value - (sum(as_control) if quantity == "memorization" else 0.0))
            e[r][i] = own[0] - own[1]
    means = [sum(e[r][i] for r in range(R)) / R for i in range(n)]
    first = variance(means) / n
    between = variance([sum(row) / n for row in e])
    noise = sum(variance([e[r][i] for r in range(R)]) for i in range(n)) / n / n
    second = max(0.0, between - noise) / R
    freedom = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (R - 1))
    value, spread = sum(means) / n, math.sqrt(first + second)
    half = stats.t.ppf(0.975, freedom) * spread
    return value, value - half, value + half, 2 * (1 - stats.t.cdf(abs(value) / spread, freedom))


@pytest.mark.parametrize("quantity", ["risk", "memorization"])
def test_a_pair_is_the_plain_loop(quantity):
    rng = np.random.default_rng(0)
    held_out = folds(rng, 3, 3, 12)
    x, y = (rng.random(held_out.shape) for _ in range(2))
    made = {name: contributions_of(Attacked(s, ~held_out, held_out)) for name, s in (("a", x), ("b", y))}
    (row,) = [c for c in compare({CAP: made}) if c.quantity == quantity]
    found = (row.difference.value, row.difference.lower, row.difference.upper, row.p_value)
    assert (found, row.first, row.second) == (pytest.approx(by_hand(x, y, held_out, quantity), abs=1e-12), "a", "b")


def test_the_difference_is_that_of_the_findings():
    rng = np.random.default_rng(1)
    held_out = folds(rng, 2, 3, 40)
    cubes = {
        n: Attacked((rng.random(held_out.shape) < p) * 1.0, ~held_out, held_out) for n, p in (("a", 0.5), ("b", 0.4))
    }
    found = {n: find(n, "synthesizer", CAP, c, Interval()) for n, c in cubes.items()}
    for row in compare({CAP: {n: contributions_of(c) for n, c in cubes.items()}}):
        one, other = (getattr(found[n], row.quantity).value for n in ("a", "b"))
        assert row.difference.value == pytest.approx(one - other, abs=1e-12)


def test_a_transformed_measure_is_compared_on_its_own_scale():
    rng = np.random.default_rng(2)
    held_out = folds(rng, 1, 3, 400)
    near, far = (rng.gamma(2, s, held_out.shape) for s in (0.9, 1.0))
    made = [contributions_of(Attacked(-d, ~held_out, held_out, d, lambda m: math.exp(-m))) for d in (near, far)]
    row = compare({CAP: dict(zip("ab", made, strict=True))})[0]
    first, second = (math.exp(-d[~held_out].mean()) for d in (near, far))
    assert row.difference.value == pytest.approx(first - second, abs=1e-12)
    draws = []  # the records resampled instead of linearised
    for _ in range(600):
        own = rng.integers(400, size=400)
        draws.append(np.subtract(*(math.exp(-d[..., own][~held_out[..., own]].mean()) for d in (near, far))))
    assert (row.difference.upper - row.difference.lower) / 3.93 == pytest.approx(np.std(draws), rel=0.12)


def test_a_copy_at_distance_zero_has_no_slope():
    held_out = folds(np.random.default_rng(3), 2, 2, 10)
    zero = np.zeros(held_out.shape)
    made = contributions_of(Attacked(zero + 1, ~held_out, held_out, zero, lambda m: 1.0 if m == 0 else 0.5))
    assert (made.risk == 1).all()


def test_metrics_of_releases_are_paired_over_repetitions():
    rng = np.random.default_rng(4)
    a, b = rng.random((4, 4, 2)), rng.random((4, 4, 2))
    risk, memorization = compare({CAP: {"a": ReleasedValues(*a), "b": ReleasedValues(*b)}})
    for row, one, other in ((risk, a[0], b[0]), (memorization, a[2] - a[3], b[2] - b[3])):
        test = stats.ttest_rel(one.mean(axis=1), other.mean(axis=1))
        ends = test.confidence_interval(0.95)
        assert row.p_value == pytest.approx(test.pvalue)
        assert (row.difference.lower, row.difference.upper) == pytest.approx((ends.low, ends.high))


def test_controls_never_held_out_have_a_risk_but_no_memorization():
    everyone = np.ones((1, 1, 9), bool)
    made = [contributions_of(Attacked(np.random.default_rng(s).random((1, 1, 9)), everyone, ~everyone)) for s in (0, 1)]
    risk, memorization = compare({CAP: dict(zip("ab", made, strict=True))})
    assert math.isfinite(risk.p_value)
    assert math.isnan(memorization.p_value)
    assert math.isnan(memorization.p_holm)
    assert memorization.lower == ""


def test_holm_by_hand():
    # 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1, and never below the one before
    assert holm([0.02, 0.5, 0.01, 0.03]) == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert np.isnan(holm([math.nan, 0.2])).tolist() == [True, False]
    assert holm([math.nan, 0.2])[1] == 0.2
    assert holm([]).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(p):
    found = holm(p)
    assert all(a <= b <= min(1, a * len(p)) + 1e-12 for a, b in zip(p, found, strict=True))
    order = np.argsort(p, kind="stable")
    assert all(a <= b for a, b in pairwise(found[order]))


def test_adjusted_over_pairs_of_one_measure_and_the_false_discoveries_over_all():
    rng = np.random.default_rng(5)
    held_out = folds(rng, 3, 3, 200)

    def made(chance):
        return contributions_of(Attacked((rng.random(held_out.shape) < chance) * 1.0, ~held_out, held_out))

    one = {"a": made(0.3), "b": made(0.3), "c": made(0.6)}
    both = compare({CAP: one, OTHER: {"a": made(0.2), "b": made(0.8)}})
    alone = compare({CAP: one})
    assert [(c.measure, c.quantity, c.first, c.second, c.p_holm) for c in both[:6]] == [
        (c.measure, c.quantity, c.first, c.second, c.p_holm) for c in alone
    ]
    risks = [c for c in alone if c.quantity == "risk"]
    assert [c.p_holm for c in risks] == holm([c.p_value for c in risks]).tolist()
    assert [c.p_fdr for c in both] == stats.false_discovery_control([c.p_value for c in both]).tolist()
    assert [c.lower for c in risks] == ["", "a", "b"]


def test_the_second_is_named_where_it_is_lower():
    rng = np.random.default_rng(6)
    held_out = folds(rng, 3, 2, 100)
    high, low = (contributions_of(Attacked(rng.random(held_out.shape) * s, ~held_out, held_out)) for s in (1, 0.2))
    assert compare({CAP: {"high": high, "low": low}})[0].lower == "low"


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 20), st.floats(0, 1), st.sampled_from([0.8, 0.95]))
def test_the_p_value_is_small_exactly_where_the_interval_leaves_zero_out(seed, R, n, shift, confidence):
    rng = np.random.default_rng(seed)
    for found in (
        t_test(rng.normal(shift, 1, size=(R, n)), confidence),
        t_test_across_repetitions(rng.normal(shift, 1, size=(R + 1, 2)), confidence),
    ):
        outside = found.estimate.lower > 0 or found.estimate.upper < 0
        assert (found.p_value < 1 - confidence) == outside


def test_equal_differences_are_certain_and_none_is_no_difference():
    assert (t_test(np.zeros((2, 5))).p_value, t_test(np.full((2, 5), 0.5)).p_value) == (1, 0)
    assert math.isnan(t_test(np.array([[0.3]])).p_value)
    assert math.isnan(t_test(np.empty((2, 0))).p_value)
    assert math.isnan(t_test_across_repetitions(np.array([[0.3]])).p_value)


@pytest.mark.slow
@pytest.mark.parametrize(("R", "K", "n"), [(2, 2, 300), (3, 3, 400), (5, 2, 300)])
@pytest.mark.parametrize("quantity", ["risk", "memorization"])
def test_two_equal_synthesizers_differ_one_time_in_twenty(quantity, R, K, n):
    rng, covered = np.random.default_rng(11), []
    for _ in range(700):
        held_out = folds(rng, R, K, n)
        ease = rng.uniform(0.2, 0.6, n)
        made = {}
        for name in ("a", "b"):
            drift = rng.normal(0.1, 0.01, R)[:, None, None]
            scores = (rng.random(held_out.shape) < ease + ~held_out * drift) * 1.0
            made[name] = contributions_of(Attacked(scores, ~held_out, held_out))
        row = next(c for c in compare({CAP: made}) if c.quantity == quantity)
        covered.append(row.difference.lower <= 0 <= row.difference.upper)
    assert 0.935 <= np.mean(covered) <= 0.985
