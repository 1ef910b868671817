"""Moderated intervals: the moments written out in loops, known d0 and s0, and simulated studies of known truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma, polygamma
from scipy.stats import t

from samples.findings import attacked as attacked_in
from samples.findings import folds
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import (
    BORROWED,
    TWO_REPETITIONS,
    Estimate,
    Interval,
    Prior,
    Variances,
    estimate,
    from_parts,
    t_test,
)
from synthrisk.metrics.intervals.moderated_intervals import moderate, prior, trigamma_inverse
from synthrisk.metrics.intervals.value_scale import DIFFERENCE, GAIN, LINE, SHARE
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.findings import find
from synthrisk.metrics.study.groups import find_groups
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.yardsticks import moderated_findings, moderated_yardsticks, with_moderated_beside


@given(st.floats(1e-4, 1e6))
def test_the_inverse_of_trigamma_is_inverse(x):
    assert trigamma_inverse(float(polygamma(1, x))) == pytest.approx(x, rel=1e-6)


def prior_by_hand(ratios, repetitions):
    d = repetitions - 1
    e = [math.log(rho) - digamma(d / 2) + math.log(d / 2) for rho in ratios]
    mean = sum(e) / len(e)
    v = sum((x - mean) ** 2 for x in e) / (len(e) - 1) - polygamma(1, d / 2)
    if v > 0:
        d0 = 2 * trigamma_inverse(v)
        return min(d0, 20.0), math.exp(mean + digamma(d0 / 2) - math.log(d0 / 2))
    return 20.0, math.exp(mean)


def moderated_by_hand(estimates, confidence=0.95):
    """Return the limits mean -+ t spread of estimates that all take part."""
    R = estimates[0].parts.repetitions
    d0, s0 = prior_by_hand([e.parts.between / e.parts.noise for e in estimates], R)
    limits = []
    for e in estimates:
        p = e.parts
        rho = (d0 * s0 + (R - 1) * p.between / p.noise) / (d0 + R - 1)
        first, second = p.records, max(0.0, rho - 1) * p.noise / R
        freedom = (first + second) ** 2 / (first**2 / (p.count - 1) + second**2 / (d0 + R - 1))
        half = t.ppf(0.5 + confidence / 2, freedom) * math.sqrt(first + second)
        limits.append((e.mean - half, e.mean + half))
    return limits


@given(st.integers(0, 10**6), st.integers(4, 30), st.integers(2, 6), st.floats(0, 2))
def test_prior_and_limits_are_the_formulas(seed, count, R, wild):
    rng = np.random.default_rng(seed)
    ratios = rng.chisquare(R - 1, count) / (R - 1) * np.exp(wild * rng.normal(size=count))
    made = prior(ratios, np.full(count, R - 1))
    assert (made.freedom, made.ratio) == pytest.approx(prior_by_hand(ratios.tolist(), R), rel=1e-6)
    noise = rng.uniform(0.5, 2, count) * 1e-4
    parts = [Variances(4 * u, u * rho, u, 300, R) for u, rho in zip(noise, ratios, strict=True)]
    crossed = [from_parts(float(rng.normal()), each, LINE, 0.95) for each in parts]
    found = moderate(crossed, 0.95)
    assert [e.method for e in found] == ["moderated"] * count
    np.testing.assert_allclose([(e.lower, e.upper) for e in found], moderated_by_hand(crossed), rtol=1e-6)


@pytest.mark.parametrize(("d0", "R"), [(3.0, 2), (8.0, 3), (3.0, 5)])
def test_d0_and_s0_are_recovered(d0, R):
    ratios = 1.7 * np.random.default_rng(0).f(R - 1, d0, 200_000)
    found = prior(ratios, np.full(len(ratios), R - 1))
    assert (found.freedom, found.ratio) == (pytest.approx(d0, rel=0.08), pytest.approx(1.7, rel=0.03))


def test_ratios_borrow_at_most_twenty_degrees_of_freedom_and_none_where_they_have_nothing_in_common():
    found = prior(np.full(6, 2.5), np.full(6, 2))
    assert found.freedom == 20
    assert found.ratio == pytest.approx(2.5 * math.exp(-digamma(1)))  # log(d/2) is 0 at d = 2
    nearly = 1.0 * np.random.default_rng(1).f(2, 400, 50_000)  # d0 is 400, not infinite
    assert prior(nearly, np.full(len(nearly), 2)).freedom == 20
    assert prior(np.exp(np.random.default_rng(2).normal(0, 30, 200)), np.full(200, 2)).freedom < 0.1
    for ratios in ([1.0], [0.0, 1.0, 2.0]):
        with pytest.raises(InputError, match="two or more, all above 0"):
            prior(np.array(ratios), np.ones(len(ratios)))
    with pytest.raises(InputError, match="y must be above 0, got -1"):
        trigamma_inverse(-1)


def crossed(rng, n=200, R=2, scale=LINE):
    return estimate((rng.random((R, n)) < 0.3 + 0.2 * rng.random(n)) * 1.0, scale=scale)


def some_crossed(seed, count, R=2):
    rng = np.random.default_rng(seed)
    return [crossed(rng, R=R) for _ in range(count)]


def test_one_repetition_and_no_noise_take_no_part():
    four = some_crossed(4, 4)
    still = estimate(np.full((2, 9), 0.1) + 1e-17 * np.arange(9))
    others = [*some_crossed(5, 1, 1), still, estimate(np.full((2, 3), np.nan)), Estimate(0.1, 0.0, 0.2, "wilson")]
    assert moderate(others + four[:3]) == others + four[:3]
    mixed = moderate([others[0], four[0], others[1], *four[1:], *others[2:]])
    assert ([mixed[0], mixed[2]], [mixed[1], *mixed[3:6]]) == (others[:2], moderate(four))


def test_means_that_tie_are_moderated_by_the_prior_of_the_others():
    four, rng = some_crossed(13, 4), np.random.default_rng(14)
    tied = estimate(np.array([[0.0, 1.0] * 50, [1.0, 0.0] * 50]) * 0.5 + 0.1 * rng.random(100))
    assert tied.parts.between < 1e-30 < tied.parts.noise
    *others, own = moderate([*four, tied])
    assert (others, own.parts.prior) == (moderate(four), others[0].parts.prior)
    assert own.parts.posterior > 0
    assert moderate([*four[:3], tied]) == [*four[:3], tied]


def test_neither_order_nor_a_second_time_change_what_is_moderated():
    four = some_crossed(3, 4)
    once = moderate(four)
    assert (moderate(four[:3]), {e.method for e in once}, moderate(once)) == (four[:3], {"moderated"}, once)
    found = some_crossed(6, 6)
    for one, other in zip(moderate(found), moderate(found[::-1])[::-1], strict=True):
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=1e-12)


def test_a_transform_is_applied_in_the_scale_of_the_mean():
    rng = np.random.default_rng(8)
    made = [estimate(rng.gamma(2, size=(2, 50)), scale=LINE) for _ in range(4)]
    closeness = SHARE.__class__(0.0, 1.0, lambda d: math.exp(-d))
    again = [from_parts(e.mean, e.parts, closeness, 0.95) for e in made]
    for plain, e in zip(moderate(made), moderate(again), strict=True):
        assert e.value == pytest.approx(math.exp(-plain.value))
        expected = math.exp(-plain.upper), min(1.0, math.exp(-plain.lower))
        assert (e.lower, e.upper) == pytest.approx(expected)


def studied(count, methods=()):
    rng, rows, made = np.random.default_rng(9), np.arange(120) < 40, []
    for place in range(count):
        held_out = folds(rng, 2, 2, 120)
        x = (rng.random(held_out.shape) < 0.3 + 0.05 * place * ~held_out) * 1.0
        own = attacked_in(x, held_out, guess=0.2, transform=(lambda m: m**2) if place == 1 else None)
        f = find(f"g{place}", "synthesizer", Measure("m", "zero_cap"), own, Interval(method="moderated"), methods)
        made.append(replace(f, groups=find_groups(f, own, {"some": rows}, Interval())))
    return made


def test_each_quantity_of_all_and_of_each_group_is_a_kind():
    before = studied(5)
    after = moderated_findings(before, 0.95)
    for quantity in ("risk", "risk_control", "memorization"):
        assert [getattr(f, quantity) for f in after] == moderate([getattr(f, quantity) for f in before])
        groups = [getattr(f.groups["some"], quantity) for f in before]
        assert [getattr(f.groups["some"], quantity) for f in after] == moderate(groups)
        assert {getattr(f, quantity).method for f in after} == {"moderated"}
    for f in after:
        assert f.risk_gain.lower == pytest.approx((f.risk.lower - 0.2) / 0.8)
    few = moderated_findings(before[:3], 0.95)
    assert [(f.risk, f.groups["some"].risk) for f in few] == [(f.risk, f.groups["some"].risk) for f in before[:3]]
    lacking, *others = moderated_findings([replace(before[0], groups={}), *before[1:]], 0.95)
    assert lacking.groups == {}
    assert [f.groups["some"].risk for f in others] == moderate([f.groups["some"].risk for f in before[1:]])


def test_the_table_of_intervals_has_the_moderated_one_beside_the_others():
    before = studied(4, ("crossed", "records"))
    for quantity in ("risk", "memorization"):
        found = [f.intervals[quantity] for f in with_moderated_beside(before, 0.95)]
        assert [list(each) for each in found] == [["crossed", "records", "moderated"]] * 4
        assert [each["moderated"] for each in found] == moderate([f.intervals[quantity]["crossed"] for f in before])
    assert all("moderated" not in f.intervals["risk"] for f in with_moderated_beside(before[:3], 0.95))


def test_each_yardstick_has_kinds_of_its_own():
    rng = np.random.default_rng(10)
    success = Estimate(0.3, 0.2, 0.4)
    some = [
        {n: Yardstick(success, crossed(rng, scale=GAIN), crossed(rng, scale=DIFFERENCE)) for n in names}
        for names in (("control", "population"),) * 2 + (("control",),) + (("control", "population"),) * 2
    ]
    after = moderated_yardsticks(some, 0.95)
    for name in ("control", "population"):
        before, found = zip(*((b[name], a[name]) for b, a in zip(some, after, strict=True) if name in b), strict=True)
        assert [a.gain for a in found] == moderate([b.gain for b in before])
        assert [a.difference for a in found] == moderate([b.difference for b in before])
        assert {a.success for a in found} == {success}
    assert "population" not in after[2]


def simulated(rng, findings, R, n=400):
    """Return memorization of a study's findings, truth 0, in which repetitions drift as much as the noise is."""
    noise = np.sqrt(0.25 / n)
    made = []
    for _ in range(findings):
        e = rng.normal(0, 0.5, (R, n)) + rng.normal(0, 0.3, n) + rng.normal(0, noise / 2, (R, 1))
        made.append(t_test(e, scale=DIFFERENCE).estimate)
    return made


@pytest.mark.parametrize(("findings", "R", "narrower"), [(8, 2, 2.0), (30, 2, 2.0), (8, 3, 1.2)])
def test_coverage_stays_and_the_widest_intervals_become_narrow(findings, R, narrower):
    rng = np.random.default_rng(11)
    studies = [simulated(rng, findings, R) for _ in range(1200 // findings)]
    before = [e for each in studies for e in each]
    after = [e for each in studies for e in moderate(each)]
    covered = [np.mean([e.lower <= 0 <= e.upper for e in made]) for made in (before, after)]
    assert covered[1] >= 0.925
    assert covered[1] >= covered[0] - 0.03
    wide = [np.quantile([e.upper - e.lower for e in made], 0.99) for made in (before, after)]
    assert wide[0] / wide[1] > narrower


def test_two_repetitions_say_what_they_rest_on_the_prior_that_the_interval_uses():
    two, three = some_crossed(9, 4), some_crossed(8, 4, 3)
    notes = [{e.note for e in each} for each in (two, moderate(two), three, moderate(three))]
    assert notes == [{TWO_REPETITIONS}, {BORROWED}, {""}, {""}]
    parts = Variances(1e-4, 9e-4, 2e-4, 100, 3, Prior(6.0, 1.5))
    assert (parts.posterior, parts.between_freedom) == (pytest.approx((6 * 1.5 * 2e-4 + 2 * 9e-4) / 8), 8)
    assert parts.terms[1] == pytest.approx((parts.posterior - 2e-4) / 3)
