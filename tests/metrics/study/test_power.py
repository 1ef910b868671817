"""The smallest leak that is seen, against simulated studies and by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from samples.findings import attacked, folds
from synthrisk.metrics.intervals.estimates import Estimate, Interval, Prior, Variances, t_test, variances
from synthrisk.metrics.intervals.moderated_intervals import moderate
from synthrisk.metrics.study.findings import contributions_of, find
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.power import Leak, power

CAP = Measure("zero_cap", "zero_cap", "income")
SHARES = (0.01, 0.02, 0.05, 0.1)


def leak(share, value, half=0.01, count=10_000):
    spread = half / stats.t.ppf(0.975, count - 1)
    return Leak(share, Estimate(value, value - half, value + half), Variances(spread**2, 0.0, 0.0, count, 1))


def test_one_repetition_by_hand():
    found = power([leak(f, 0.5 * f) for f in SHARES])
    spread = 0.01 / stats.t.ppf(0.975, 9999)
    assert found.slope == pytest.approx(0.5)
    assert found.share == pytest.approx((0.01 + stats.norm.ppf(0.8) * spread) / 0.5, abs=1e-5)
    assert found.seen == ((0.01, False), (0.02, False), (0.05, True), (0.1, True))
    assert not found.beyond
    assert "a leak of 2.9% of the training rows would have been seen in four studies of five" in found.words
    assert "1% missed, 2% missed, 5% seen, 10% seen" in found.words


def test_the_line_goes_through_zero_weighs_what_is_sure_and_has_no_order():
    sure, vague = leak(0.1, 0.05, 0.01), leak(0.05, 0.9, 1.0)
    w = [1 / x.variances.records for x in (sure, vague)]
    slope = (w[0] * 0.1 * 0.05 + w[1] * 0.05 * 0.9) / (w[0] * 0.01 + w[1] * 0.0025)
    assert power([sure, vague]).slope == pytest.approx(slope)
    leaks = [leak(f, 0.5 * f + 0.001 * i, 0.01 + f / 9) for i, f in enumerate((0.0, *SHARES))]
    assert power(leaks) == power(leaks[::-1])


def test_a_share_that_is_not_seen_or_beyond_those_run_says_so():
    blind = power([leak(f, -0.2 * f) for f in SHARES])
    assert (blind.slope, math.isnan(blind.share)) == (0.0, True)
    assert "no leak would have been seen" in blind.words
    assert math.isnan(power([leak(f, 0.01 * f, 0.05) for f in SHARES]).share)  # even a copy would be missed
    far = power([leak(f, 0.5 * f, 0.1) for f in SHARES])
    assert (far.share > 0.2, "beyond" in far.words) == (True, True)
    unmeasured = Estimate(0.2, math.nan, math.nan)
    assert power([leak(0.0, 0.0)]) is power([Leak(0.1, unmeasured, Variances(0, 0, 0, 1, 1))]) is None


def test_more_noise_or_confidence_asks_for_a_larger_share():
    def share(half, confidence=0.95):
        return power([leak(f, 0.5 * f, half) for f in SHARES], confidence).share

    assert share(0.005) < share(0.01) < share(0.02)
    assert share(0.01, 0.9) < share(0.01, 0.95) < share(0.01, 0.99)


def study(rng, share, R, K, n, drift):
    """Draw scores: an ease of the record, and a leak that gives the leaked members away."""
    held_out = folds(rng, R, K, n)
    ease = rng.uniform(0.1, 0.4, n)
    moved = rng.normal(0, drift, R)[:, None, None] * ~held_out
    leaked = ~held_out & (rng.random(held_out.shape) < share)
    return attacked(((rng.random(held_out.shape) < ease + moved) | leaked) * 1.0, held_out)


def seen_by(rng, share, **design):
    made = study(rng, share, **design)
    memorization = find("a", "reference", CAP, made, Interval()).memorization
    return Leak(share, memorization, variances(contributions_of(made).memorization))


def detection(studies, tries, moderated=False, **design):
    """Return how often leaks of the stated size are seen: the share is stated by one study, judged by others."""
    rng, hits = np.random.default_rng(4 if moderated else 3), []

    def looked(shares):
        leaks = [seen_by(rng, f, **design) for f in shares]
        if not moderated:
            return leaks
        made = moderate([x.memorization for x in leaks])
        return [replace(x, memorization=e, variances=e.parts) for x, e in zip(leaks, made, strict=True)]

    for _ in range(studies):
        share = power(looked((0.0, *SHARES))).share
        shares = (0.0, *SHARES[:3], share) if moderated else (share,)  # others, to borrow from
        hits += [looked(shares)[-1].memorization.lower > 0 for _ in range(tries)]
    return float(np.mean(hits))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("R", "K", "n", "drift"),
    [(1, 2, 600, 0.0), (2, 3, 600, 0.0), (2, 3, 600, 0.01), (3, 3, 1500, 0.01), (5, 2, 600, 0.0)],
)
def test_a_leak_of_the_stated_size_is_seen_four_times_in_five(R, K, n, drift):
    assert 0.73 <= detection(60, 25, R=R, K=K, n=n, drift=drift) <= 0.88


def test_what_other_findings_say_lets_smaller_leaks_be_seen():
    parts = [Variances(4e-6, 4e-6, 2e-6, 500, 2, None) for _ in SHARES]
    known = [Leak(f, Estimate(0.5 * f, 0.4 * f, 0.6 * f), p) for f, p in zip(SHARES, parts, strict=True)]
    lent = [replace(x, variances=replace(x.variances, prior=Prior(12.0, 2.0))) for x in known]
    assert power(lent).share < 0.9 * power(known).share
    vague = [replace(x, variances=replace(x.variances, prior=Prior(1e-9, 2.0))) for x in known]
    assert power(vague).share == pytest.approx(power(known).share, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("R", "drift"), [(2, 0.0), (2, 0.01), (3, 0.01)])
def test_a_leak_of_the_stated_size_is_seen_four_times_in_five_by_moderated_intervals(R, drift):
    assert 0.72 <= detection(40, 10, moderated=True, R=R, K=2, n=600, drift=drift) <= 0.89


def test_the_variances_are_those_of_the_interval():
    rng = np.random.default_rng(1)
    made = contributions_of(study(rng, 0.05, 3, 3, 90, 0.01)).memorization
    parts, tested = variances(made), t_test(made).estimate
    half = stats.t.ppf(0.975, parts.freedom) * parts.spread
    assert (tested.lower, tested.upper) == pytest.approx((tested.value - half, tested.value + half))
