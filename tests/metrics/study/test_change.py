"""The change from one study to the next: its variance by brute force, its coverage, and that pairing helps."""

from statistics import mean, variance

import numpy as np
import pytest
from scipy import stats

from synthrisk.metrics.intervals.estimates import Estimate, Prior, t_test
from synthrisk.metrics.study.comparison import Change, independent_change, paired_change, prior_of


def study(rng, easy, shift=0.0, repetitions=3, between=0.0, noise=0.3):
    """Return contributions of records of given easiness, with noise and a variance between repetitions."""
    n = len(easy)
    drawn = rng.normal(0, between, (repetitions, 1)) + rng.normal(0, noise, (repetitions, n))
    return easy + shift + drawn


def by_hand(before, after, priors=(None, None)):
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
def test_value_and_interval_are_those_of_loops(first, second, priors):
    rng = np.random.default_rng(first * 10 + second)
    easy = rng.random(40)
    before, after = (study(rng, easy, repetitions=r, between=0.2) for r in (first, second))
    value, spread, freedom = by_hand(before, after, priors)
    half = stats.t.ppf(0.975, freedom) * spread
    found = paired_change(before, after, priors=priors)
    assert found.value == pytest.approx(value)
    assert (found.lower, found.upper) == pytest.approx((value - half, value + half))
    assert bool(found.note) == (min(first, second) == 1)


@pytest.mark.parametrize("between", [0.0, 0.05])
def test_the_interval_covers_what_has_not_changed(between):
    rng = np.random.default_rng(5)
    easy, covered, trials = rng.random(300), 0, 400
    for _ in range(trials):
        found = paired_change(*(study(rng, easy, between=between) for _ in range(2)))
        covered += found.lower <= 0 <= found.upper
    assert 0.92 <= covered / trials <= 0.99


def test_pairing_sees_what_two_estimates_do_not():
    rng = np.random.default_rng(6)
    easy = (rng.random(400) < 0.3).astype(float)
    before, after = study(rng, easy, noise=0.05), study(rng, easy, 0.02, noise=0.05)
    alone = independent_change(t_test(before).estimate, t_test(after).estimate)
    assert alone.lower < 0 < alone.upper
    found = paired_change(before, after)
    assert (found.value, Change(found, True).word) == (pytest.approx(alone.value), "worse")
    assert (Change(paired_change(after, before), True).word, Change(alone, False).word) == ("better", "")


def test_records_of_one_entity_are_one_observation():
    rng = np.random.default_rng(7)
    easy = rng.random(50)
    before, after = study(rng, easy, repetitions=1), study(rng, easy, repetitions=1)
    each = paired_change(before, after)
    many = [np.repeat(e, 4, axis=1) for e in (before, after)]
    told = paired_change(*many, entities=np.repeat(np.arange(50), 4))
    assert (told.lower, told.upper) == pytest.approx((each.lower, each.upper), abs=2e-3)
    ignored = paired_change(*many)
    assert ignored.upper - ignored.lower < 0.6 * (told.upper - told.lower)


def test_records_that_contribute_nothing_are_left_out():
    rng = np.random.default_rng(8)
    easy = rng.random(30)
    before, after = study(rng, easy), study(rng, easy, 0.1)
    gone = np.full((3, 5), np.nan)
    found = paired_change(np.hstack([before, gone]), np.hstack([after, gone]))
    whole = paired_change(before, after)
    assert (found.value, found.lower, found.upper) == pytest.approx((whole.value, whole.lower, whole.upper))
    assert np.isnan(paired_change(gone, gone).value)
    assert np.isnan(paired_change(before[:, :1], after[:, :1]).lower)


def test_few_repetitions_borrow_from_the_studys_other_findings():
    rng = np.random.default_rng(9)
    easy = rng.random(200)
    every = [study(rng, easy, repetitions=2, between=0.02) for _ in range(6)]
    prior = prior_of(every)
    assert prior is not None
    assert prior_of(every[:3]) is None
    plain, moderated = paired_change(*every[:2]), paired_change(*every[:2], priors=(prior, prior))
    assert moderated.value == plain.value
    assert (moderated.lower, moderated.upper) != (plain.lower, plain.upper)


def test_no_value_has_no_change():
    nothing = Estimate(float("nan"), float("nan"), float("nan"))
    one = Estimate(0.1, float("nan"), float("nan"))
    assert np.isnan(independent_change(nothing, one).value)
    assert (independent_change(one, one).value, Change(independent_change(one, one), False).word) == (0, "")
