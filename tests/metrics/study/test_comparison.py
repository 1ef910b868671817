"""Pairs of synthesizers against plain loops, hand-made tables, and simulated studies in which nothing differs."""

import math
from itertools import pairwise
from operator import attrgetter
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from samples.estimates import ENDS, crossed_by_hand
from samples.findings import attacked, folds
from synthrisk.metrics.intervals.distributions import holm
from synthrisk.metrics.intervals.estimates import Estimate, Interval, Prior, t_test, t_test_across_repetitions
from synthrisk.metrics.study.comparison import Change, compare, independent_change, paired_change, prior_of
from synthrisk.metrics.study.findings import contributions_of, find
from synthrisk.metrics.study.ledger import Measure, ReleasedValues

CAP, OTHER = Measure("zero_cap", "zero_cap", "income"), Measure("rapid", "rapid", "income")


def contributed(scores, held_out, *more):
    return contributions_of(attacked(scores, held_out, *more))


def by_hand(x, y, held_out, quantity):
    """Return difference, lower, upper and p-value, from what each record contributes in each repetition."""
    R, K, n = x.shape
    e = [[0.0] * n for _ in range(R)]
    for r, i in np.ndindex(R, n):
        own = []
        for scores in (x, y):
            value = sum(scores[r, k, i] for k in range(K) if not held_out[r, k, i]) / (K - 1)
            as_control = sum(scores[r, k, i] for k in range(K) if held_out[r, k, i])
            own.append(value - (as_control if quantity == "memorization" else 0.0))
        e[r][i] = own[0] - own[1]
    return crossed_by_hand(e)


@pytest.mark.parametrize("quantity", ["risk", "memorization"])
def test_a_pair_is_the_plain_loop(quantity):
    rng = np.random.default_rng(0)
    held_out = folds(rng, 3, 3, 12)
    x, y = (rng.random(held_out.shape) for _ in range(2))
    every = compare({CAP: {"a": contributed(x, held_out), "b": contributed(y, held_out)}})
    (row,) = [c for c in every if c.quantity == quantity]
    assert (*ENDS(row.difference), row.p_value) == pytest.approx(by_hand(x, y, held_out, quantity), abs=1e-12)
    assert (row.first, row.second) == ("a", "b")


def test_the_difference_is_that_of_the_findings():
    rng = np.random.default_rng(1)
    held_out = folds(rng, 2, 3, 40)
    cubes = {n: attacked((rng.random(held_out.shape) < p) * 1.0, held_out) for n, p in (("a", 0.5), ("b", 0.4))}
    found = {n: find(n, "synthesizer", CAP, c, Interval()) for n, c in cubes.items()}
    for row in compare({CAP: {n: contributions_of(c) for n, c in cubes.items()}}):
        one, other = (getattr(found[n], row.quantity).value for n in ("a", "b"))
        assert row.difference.value == pytest.approx(one - other, abs=1e-12)


def test_a_transformed_measure_is_compared_on_its_own_scale():
    rng = np.random.default_rng(2)
    held_out = folds(rng, 1, 3, 400)
    near, far = (rng.gamma(2, s, held_out.shape) for s in (0.9, 1.0))
    made = [contributed(-d, held_out, d, lambda m: math.exp(-m)) for d in (near, far)]
    row = compare({CAP: dict(zip("ab", made, strict=True))})[0]
    first, second = (math.exp(-d[~held_out].mean()) for d in (near, far))
    assert row.difference.value == pytest.approx(first - second, abs=1e-12)
    draws = []  # the records resampled instead of linearised
    for _ in range(600):
        own = rng.integers(400, size=400)
        draws.append(np.subtract(*(math.exp(-d[..., own][~held_out[..., own]].mean()) for d in (near, far))))
    assert (row.difference.upper - row.difference.lower) / 3.93 == pytest.approx(np.std(draws), rel=0.12)
    zero = np.zeros(held_out.shape)  # a copy has no slope
    assert (contributed(zero + 1, held_out, zero, lambda m: 1.0 if m == 0 else 0.5).risk == 1).all()


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
    nobody = np.zeros((1, 1, 9), bool)
    made = [contributed(np.random.default_rng(s).random((1, 1, 9)), nobody) for s in (0, 1)]
    risk, memorization = compare({CAP: dict(zip("ab", made, strict=True))})
    assert math.isfinite(risk.p_value)
    assert np.isnan([memorization.p_value, memorization.p_holm]).all()
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

    def made(**chances):
        return {n: contributed((rng.random(held_out.shape) < p) * 1.0, held_out) for n, p in chances.items()}

    one = made(a=0.3, b=0.3, c=0.6)
    both = compare({CAP: one, OTHER: made(a=0.2, b=0.8)})
    alone = compare({CAP: one})
    told = attrgetter("measure", "quantity", "first", "second", "p_holm")
    assert [*map(told, both[:6])] == [*map(told, alone)]
    risks = [c for c in alone if c.quantity == "risk"]
    assert [c.p_holm for c in risks] == holm([c.p_value for c in risks]).tolist()
    assert [c.p_fdr for c in both] == stats.false_discovery_control([c.p_value for c in both]).tolist()
    assert [c.lower for c in risks] == ["", "a", "b"]
    assert compare({CAP: {"c": one["c"], "a": one["a"]}})[0].lower == "a"  # the second, where it is lower


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 20), st.floats(0, 1), st.sampled_from([0.8, 0.95]))
def test_the_p_value_is_small_exactly_where_the_interval_leaves_zero_out(seed, R, n, shift, confidence):
    rng = np.random.default_rng(seed)
    for found in (
        t_test(rng.normal(shift, 1, size=(R, n)), confidence),
        t_test_across_repetitions(rng.normal(shift, 1, size=(R + 1, 2)), confidence),
    ):
        outside = found.estimate.lower > 0 or found.estimate.upper < 0
        assert (found.p_value < 1 - confidence) == outside


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
            made[name] = contributed((rng.random(held_out.shape) < ease + ~held_out * drift) * 1.0, held_out)
        row = next(c for c in compare({CAP: made}) if c.quantity == quantity)
        covered.append(row.difference.lower <= 0 <= row.difference.upper)
    assert 0.935 <= np.mean(covered) <= 0.985


def study(rng, easy, shift=0.0, repetitions=3, between=0.0, noise=0.3):
    """Return contributions of records of given easiness, with noise and a variance between repetitions."""
    drawn = rng.normal(0, between, (repetitions, 1)) + rng.normal(0, noise, (repetitions, len(easy)))
    return easy + shift + drawn


def change_by_hand(before, after, priors=(None, None)):
    """Return value and standard error, and degrees of freedom, from loops over records and repetitions."""
    n = before.shape[1]
    changed = [mean(after[:, i]) - mean(before[:, i]) for i in range(n)]
    terms = [(variance(changed) / n, n - 1)]
    for each, prior in zip((before, after), priors, strict=True):
        repetitions = len(each)
        if repetitions == 1:
            continue
        s2_rep = variance([mean(row) for row in each])
        s2_in = mean([variance(each[:, i]) for i in range(n)]) / n
        freedom = repetitions - 1
        if prior is not None:
            s2_rep = (prior.freedom * prior.ratio * s2_in + freedom * s2_rep) / (prior.freedom + freedom)
            freedom += prior.freedom
        terms.append((max(0.0, s2_rep - s2_in) / repetitions, freedom))
    total = sum(v for v, _ in terms)
    return mean(changed), total**0.5, total**2 / sum(v**2 / f for v, f in terms if v > 0)


@pytest.mark.parametrize("priors", [(None, None), (Prior(4.0, 1.5), Prior(9.0, 0.7))])
@pytest.mark.parametrize(("first", "second"), [(3, 3), (2, 5), (1, 3), (1, 1)])
def test_a_change_and_its_interval_are_those_of_loops(first, second, priors):
    rng = np.random.default_rng(first * 10 + second)
    easy = rng.random(40)
    before, after = (study(rng, easy, repetitions=r, between=0.2) for r in (first, second))
    value, spread, freedom = change_by_hand(before, after, priors)
    half = stats.t.ppf(0.975, freedom) * spread
    found = paired_change(before, after, priors=priors)
    assert ENDS(found) == pytest.approx((value, value - half, value + half))
    assert bool(found.note) == (min(first, second) == 1)


def test_pairing_sees_what_two_estimates_do_not():
    rng = np.random.default_rng(6)
    easy = (rng.random(400) < 0.3).astype(float)
    before, after = study(rng, easy, noise=0.05), study(rng, easy, 0.02, noise=0.05)
    alone = independent_change(t_test(before).estimate, t_test(after).estimate)
    assert alone.lower < 0 < alone.upper
    found = paired_change(before, after)
    assert (found.value, Change(found, True).word) == (pytest.approx(alone.value), "worse")
    assert (Change(paired_change(after, before), True).word, Change(alone, False).word) == ("better", "")


def test_records_of_one_entity_are_one_observation_of_a_change_and_who_contributes_nothing_is_none():
    rng = np.random.default_rng(7)
    easy = rng.random(50)
    before, after = (study(rng, easy, repetitions=1) for _ in range(2))
    each = paired_change(before, after)
    many = [np.repeat(e, 4, axis=1) for e in (before, after)]
    told, ignored = paired_change(*many, entities=np.repeat(np.arange(50), 4)), paired_change(*many)
    assert (told.lower, told.upper) == pytest.approx((each.lower, each.upper), abs=2e-3)
    assert ignored.upper - ignored.lower < 0.6 * (told.upper - told.lower)
    before, after, gone = study(rng, easy), study(rng, easy, 0.1), np.full((3, 5), np.nan)
    found = paired_change(np.hstack([before, gone]), np.hstack([after, gone]))
    assert ENDS(found) == pytest.approx(ENDS(paired_change(before, after)))
    assert np.isnan(paired_change(gone, gone).value)
    assert np.isnan(paired_change(before[:, :1], after[:, :1]).lower)


def test_few_repetitions_borrow_from_the_studys_other_findings():
    rng = np.random.default_rng(9)
    easy = rng.random(200)
    every = [study(rng, easy, repetitions=2, between=0.02) for _ in range(6)]
    prior = prior_of(every)
    assert prior_of(every[:3]) is None
    plain, moderated = paired_change(*every[:2]), paired_change(*every[:2], priors=(prior, prior))
    assert moderated.value == plain.value
    assert (moderated.lower, moderated.upper) != (plain.lower, plain.upper)


def test_equal_differences_are_certain_and_no_value_has_no_difference_and_no_change():
    assert (t_test(np.zeros((2, 5))).p_value, t_test(np.full((2, 5), 0.5)).p_value) == (1, 0)
    one, none = np.array([[0.3]]), np.empty((2, 0))
    assert np.isnan([t_test(one).p_value, t_test(none).p_value, t_test_across_repetitions(one).p_value]).all()
    nothing, one = Estimate(math.nan, math.nan, math.nan), Estimate(0.1, math.nan, math.nan)
    assert np.isnan(independent_change(nothing, one).value)
    assert (independent_change(one, one).value, Change(independent_change(one, one), False).word) == (0, "")
