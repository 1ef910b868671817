"""What a membership attack achieves, against a plain loop over thresholds and scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve

from synthrisk.metrics.distance.classifiers import distance_attack
from synthrisk.metrics.intervals.rates import RATES, MembershipAttack, attack_summary, placements
from synthrisk.metrics.tables.tables import Tables


def plain(members, controls, rate):
    """The expected true-positive rate of the best rule of the form: above t, or at t with chance u."""
    n, c = len(members), len(controls)
    for t in sorted({*members, *controls}, reverse=True):
        above, at = sum(s > t for s in controls) / c, sum(s == t for s in controls) / c
        if above + at > rate:
            u = (rate - above) / at
            return (sum(s > t for s in members) + u * sum(s == t for s in members)) / n
    return 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_rates_against_a_plain_loop(seed, decimals):
    rng = np.random.default_rng(seed)
    members, controls = rng.normal(0.7, 1, 150).round(decimals), rng.normal(0, 1, 120).round(decimals)
    found = attack_summary(members, controls, rates=(0.1, 0.25, 0.5))
    for rate, estimate in found.rates.items():
        assert estimate.value == pytest.approx(plain(members, controls, rate), abs=1e-12)
        assert 0 <= estimate.lower <= estimate.value <= estimate.upper <= 1
    truth, scores = np.repeat([1, 0], [150, 120]), np.concatenate([members, controls])
    assert found.auc == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert found.advantage == pytest.approx((true - false).max(), abs=1e-12)


def test_auc_is_the_mean_placement():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 30).astype(float), rng.integers(0, 5, 20).astype(float)
    assert placements(x, y).mean() == pytest.approx(mannwhitneyu(x, y).statistic / 600)
    assert placements(y, y).mean() == pytest.approx(0.5)


def test_the_interval_is_clopper_pearson():
    members, controls = np.repeat([2.0, -2.0], [30, 70]), np.repeat([1.0, -1.0], [10, 90])
    found = attack_summary(members, controls).rates[0.1]
    exact = binomtest(30, 100).proportion_ci(0.975, "exact")  # of two directions, each has half the error
    assert found.value == pytest.approx(0.3)
    assert (found.lower, found.upper) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize(("controls", "estimable"), [(99, 0), (100, 1), (999, 1), (1000, 2), (9999, 2), (10000, 3)])
def test_a_rate_needs_ten_expected_false_positives(controls, estimable):
    rng = np.random.default_rng(0)
    found = attack_summary(rng.random(50), rng.random(controls))
    known = [not math.isnan(found.rates[rate].value) for rate in RATES]
    assert known == [place < estimable for place in range(3)]
    for rate in RATES[estimable:]:
        assert found.rates[rate].note == f"fewer than {round(10 / rate)} control records"
        assert math.isnan(found.rates[rate].lower)


@pytest.mark.parametrize(("rate", "controls"), [(0.1, 100), (0.1, 1230), (0.01, 1000), (0.01, 7000), (0.001, 10000)])
def test_a_rate_that_controls_reach_exactly_is_reached(rate, controls):
    scores = np.repeat([1.0, -1.0], [round(rate * controls), controls - round(rate * controls)])
    assert attack_summary(np.repeat([2.0, 0.0], [30, 70]), scores).rates[rate].value == 1


def test_extremes():
    high, low = np.ones(200), np.zeros(200)
    for members, controls, auc, advantage, rate in (
        (high, low, 1, 1, 1),
        (low, high, 0, 0, 0),
        (low, low, 0.5, 0, 0.1),
    ):
        found = attack_summary(members, controls)
        assert (found.auc, found.advantage, found.rates[0.1].value) == (auc, advantage, pytest.approx(rate))


def test_nobody_to_compare():
    for members, controls in (([], [1.0]), ([1.0], []), ([np.nan], [1.0])):
        found = attack_summary(np.array(members), np.array(controls))
        assert math.isnan(found.auc)
        assert math.isnan(found.advantage)
        assert {e.note for e in found.rates.values()} == {"no members or no control records"}


def test_details_are_named():
    names = attack_summary(np.ones(3), np.zeros(3)).details("distance_")
    assert list(names)[:3] == ["distance_auc", "distance_advantage", "distance_tpr_at_0.1"]
    assert {"distance_tpr_at_0.001_upper", "distance_missing_tpr_at_0.001_upper"} <= set(names)
    limits = [name for name in names if name.endswith(("_lower", "_upper"))]
    assert limits == list(MembershipAttack.limits("distance_"))


def test_the_reversed_ranking_is_that_of_the_scores_turned_about_and_who_abstains_stays_last():
    rng = np.random.default_rng(2)
    members, controls = rng.normal(-0.7, 1, 150), rng.normal(0, 1, 120)
    found, turned = attack_summary(members, controls), attack_summary(-members, -controls)
    assert repr(found.missing) == repr(turned.rates)  # NaN is not NaN
    assert repr(found.rates) == repr(turned.missing)
    assert found.missing[0.1].value > found.rates[0.1].value
    silent = attack_summary(np.full(100, -np.inf), rng.normal(0, 1, 100))
    assert (silent.rates[0.1].value, silent.missing[0.1].value) == (0, 0)


def test_members_released_as_they_are_have_no_distance():
    rng = np.random.default_rng(0)
    real, control = pd.DataFrame({"x": rng.random(50)}), pd.DataFrame({"x": rng.random(30)})
    assert distance_attack(Tables(real, real, control).with_control()).auc == 1
    assert distance_attack(Tables(real, control, control).with_control()).auc == 0
