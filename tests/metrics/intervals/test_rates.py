"""Members found at low false-positive rates over many releases: against loops, by resamples made of rows, by truth."""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binomtest, mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve

from samples.estimates import ENDS
from samples.findings import folds
from synthrisk.metrics.distance.classifiers import distance_attack
from synthrisk.metrics.intervals.rates import RATES, MembershipAttack, placements
from synthrisk.metrics.tables.tables import Tables

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.pooled_rates import DESIGNS, held
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.intervals.rates import _cells, _true_positive_rates, attack_summary, pooled_rates
from synthrisk.metrics.study.ledger import COLUMNS


def plain(members, controls, rate):
    """The expected true-positive rate of the best rule of the form: above t, or at t with chance u."""
    n, c = len(members), len(controls)
    for t in sorted({*members, *controls}, reverse=True):
        above, at = sum(s > t for s in controls), sum(s == t for s in controls)
        if above + at > rate * c:
            u = (rate * c - above) / at
            return (sum(s > t for s in members) + u * sum(s == t for s in members)) / n
    raise AssertionError("the lowest score holds all controls")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_rates_of_one_release_against_a_plain_loop(seed, decimals):
    rng = np.random.default_rng(seed)
    members, controls = rng.normal(0.7, 1, 150).round(decimals), rng.normal(0, 1, 120).round(decimals)
    found = attack_summary(members, controls, rates=(0.1, 0.25, 0.5))
    for rate, estimate in found.rates.items():
        assert estimate.value == pytest.approx(plain(members, controls, rate), abs=1e-12)
        assert 0 <= estimate.lower <= estimate.value <= estimate.upper <= 1
    truth, scores = np.repeat([1, 0], [150, 120]), np.concatenate([members, controls])
    false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
    due = roc_auc_score(truth, scores), (true - false).max()
    assert (found.auc, found.advantage) == pytest.approx(due, abs=1e-12)
    placed = placements(members, controls).mean()
    assert placed == pytest.approx(mannwhitneyu(members, controls).statistic / 150 / 120)


@pytest.mark.parametrize(("controls", "estimable"), [(99, 0), (100, 1), (999, 1), (1000, 2), (9999, 2), (10000, 3)])
def test_a_rate_of_one_release_needs_ten_expected_false_positives(controls, estimable):
    rng = np.random.default_rng(0)
    found = attack_summary(rng.random(50), rng.random(controls)).rates
    assert [not math.isnan(found[rate].value) for rate in RATES] == [place < estimable for place in range(3)]
    for rate in RATES[estimable:]:
        assert found[rate].note == f"fewer than {round(10 / rate)} control records"
        assert math.isnan(found[rate].lower)


@pytest.mark.parametrize(("rate", "controls"), [(0.1, 100), (0.1, 1230), (0.01, 1000), (0.01, 7000), (0.001, 10000)])
def test_a_rate_that_controls_reach_exactly_is_reached(rate, controls):
    scores = np.repeat([1.0, -1.0], [round(rate * controls), controls - round(rate * controls)])
    assert attack_summary(np.repeat([2.0, 0.0], [30, 70]), scores).rates[rate].value == 1


def test_extremes_and_nobody_to_compare():
    high, low = np.ones(200), np.zeros(200)
    for members, controls, due in ((high, low, (1, 1, 1)), (low, high, (0, 0, 0)), (low, low, (0.5, 0, 0.1))):
        found = attack_summary(members, controls)
        assert (found.auc, found.advantage, found.rates[0.1].value) == pytest.approx(due)
    for members, controls in (([], [1.0]), ([1.0], []), ([np.nan], [1.0])):
        found = attack_summary(np.array(members), np.array(controls))
        assert np.isnan([found.auc, found.advantage]).all()
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
    assert (repr(found.missing), repr(found.rates)) == (repr(turned.rates), repr(turned.missing))  # NaN is not NaN
    assert found.missing[0.1].value > found.rates[0.1].value
    silent = attack_summary(np.full(100, -np.inf), rng.normal(0, 1, 100))
    assert (silent.rates[0.1].value, silent.missing[0.1].value) == (0, 0)


def test_the_interval_of_one_release_is_clopper_pearson_and_a_copy_has_no_distance():
    members, controls = np.repeat([2.0, -2.0], [30, 70]), np.repeat([1.0, -1.0], [10, 90])
    exact = binomtest(30, 100).proportion_ci(0.975, "exact")  # of two directions, each has half the error
    found = ENDS(attack_summary(members, controls).rates[0.1])
    assert found == pytest.approx((0.3, exact.low, exact.high), abs=1e-9)
    rng = np.random.default_rng(0)
    real, control = pd.DataFrame({"x": rng.random(50)}), pd.DataFrame({"x": rng.random(30)})
    aucs = [distance_attack(Tables(real, release, control).with_control()).auc for release in (real, control)]
    assert aucs == [1, 0]


def made(rng, n=400, repetitions=3, K=2, decimals=1, leaked=0.0, holes=0.0):
    """Return scores, members and control records of a study; leaked members score above all others."""
    member = ~folds(rng, repetitions, K, n)
    scores = rng.normal(size=n) + rng.normal(size=member.shape)
    scores = np.where(member & (rng.random(member.shape) < leaked), 9.0, scores.round(decimals))
    scores[rng.random(member.shape) < holes] = np.nan
    scores[rng.random(member.shape) < holes / 2] = -np.inf
    control = ~member & (rng.random(member.shape) > holes)
    return scores, member, control


def pooled(scores, member, control, rate=0.01, **more):
    return pooled_rates(scores, member, control, rates=(rate,), **more)[rate]


@pytest.mark.parametrize(("seed", "decimals"), [(0, 0), (1, 1), (2, 12)])
@pytest.mark.parametrize(("leaked", "holes"), [(0.0, 0.0), (0.1, 0.2), (1.0, 0.0)])
def test_the_rate_is_that_of_a_plain_loop_over_all_pooled_scores(seed, decimals, leaked, holes):
    scores, member, control = made(np.random.default_rng(seed), 300, decimals=decimals, leaked=leaked, holes=holes)
    told = [scores[own & ~np.isnan(scores)].tolist() for own in (member, control)]
    for rate, found in pooled_rates(scores, member, control, rates=(0.1, 0.02, 0.5)).items():
        turned = [[s if math.isinf(s) else -s for s in group] for group in told]
        near, missing = plain(*told, rate), plain(*turned, rate)
        assert found.value == pytest.approx(max(near, missing), abs=1e-12)
        assert (found.note == "members are told by what is missing") == (missing > near + 1e-12)
        assert 0 <= found.lower <= found.value <= found.upper <= 1


@pytest.mark.parametrize("with_entities", [False, True])
def test_a_resample_is_what_a_study_of_the_drawn_records_would_show(with_entities):
    rng = np.random.default_rng(3)
    scores, member, control = made(rng, 300, decimals=1, leaked=0.05, holes=0.1)
    own = rng.permutation(300) % 90 if with_entities else np.arange(300)
    size = own.max() + 1
    scored = ~np.isnan(scores)
    weights = rng.multinomial(size, np.full(size, 1 / size), size=20)
    found = _true_positive_rates(_cells(scores, member & scored, control & scored, own, 0.1), weights, (0.1, 0.05))
    for drawn, rates in zip(weights, found.T, strict=True):
        times = drawn[own]
        groups = [np.repeat(scores, times, axis=2)[np.repeat(each, times, axis=2)] for each in (member, control)]
        expected = [e.value for e in attack_summary(*groups, rates=(0.1, 0.05)).rates.values()]
        assert rates == pytest.approx(expected, abs=1e-12)


def test_the_limits_are_exact_ones_at_the_effective_number_of_a_plain_bootstrap():
    rng = np.random.default_rng(5)
    scores, member, control = made(rng, 300, decimals=2, leaked=0.05)
    found = pooled(scores, member, control, 0.05, interval=Interval(resamples=2000))
    values = []
    for _ in range(400):
        drawn = rng.integers(300, size=300)
        parts = [scores[:, :, drawn][each[:, :, drawn]] for each in (member, control)]
        values.append(attack_summary(*parts, rates=(0.05,)).rates[0.05].value)
    count = found.value * (1 - found.value) / np.var(values)
    tail = (found.value - found.lower, found.upper - found.value)
    hits, misses = found.value * count, (1 - found.value) * count
    low, high = beta.ppf(0.0125, hits, misses + 1), beta.ppf(0.9875, hits + 1, misses)  # half the error
    assert tail == pytest.approx((found.value - low, high - found.value), rel=0.1)


def test_members_told_by_what_is_missing_count_as_much():
    rng = np.random.default_rng(4)
    member = np.arange(4000).reshape(1, 1, -1) < 2000
    scores = np.where(np.arange(4000) < 100, -9.0, rng.normal(size=4000)).reshape(1, 1, -1)
    found, turned = pooled(scores, member, ~member), pooled(-scores, member, ~member)
    assert found.value == turned.value > 0.05
    assert 0.04 < found.lower == turned.lower
    assert (found.note, turned.note) == ("members are told by what is missing", "")


def test_one_record_seen_in_ten_repetitions_is_one_record():
    study = made(np.random.default_rng(0), 2000, repetitions=1)
    once, often = pooled(*study), pooled(*(np.repeat(each, 10, axis=0) for each in study))
    families = pooled(*study, entities=np.arange(2000) // 20)
    assert once.value == often.value == families.value
    assert often.upper - often.lower == pytest.approx(once.upper - once.lower, rel=0.15)
    assert families.upper - families.lower != once.upper - once.lower


def test_no_order_decides():
    rng = np.random.default_rng(1)
    study = made(rng, 500, leaked=0.02, holes=0.1)
    entities, order, names = rng.integers(0, 300, 500), rng.permutation(500), rng.permutation(300)
    moved = pooled_rates(*(e[:, :, order] for e in study), None, names[entities[order]], (0.05, 0.02))
    assert moved == pooled_rates(*study, None, entities, (0.05, 0.02))


@pytest.mark.parametrize(("n", "estimable"), [(999, []), (1000, [0.01]), (10000, [0.01, 0.001])])
def test_a_rate_needs_ten_expected_false_positives(n, estimable):
    scores = np.random.default_rng(0).random((1, 1, n + 50))
    member = np.arange(n + 50).reshape(1, 1, -1) < 50
    found = pooled_rates(scores, member, ~member)
    assert [rate for rate, e in found.items() if not math.isnan(e.value)] == estimable
    for rate, e in found.items():
        assert (e.note == f"fewer than {round(10 / rate)} control scores") == (rate not in estimable)
    assert {e.note for e in pooled_rates(scores, member, member & False).values()} == {"no control records"}
    assert {e.note for e in pooled_rates(scores, member & False, member).values()} == {"no members"}


def test_where_nobody_is_found_the_limit_is_exact_and_one_entity_has_no_interval():
    member = np.arange(3000).reshape(1, 1, -1) < 1000
    found = pooled(np.where(member, -np.inf, 1.0), member, ~member)
    assert ENDS(found) == (0, 0, pytest.approx(1 - 0.0125 ** (1 / (1 / (1 / 1000 + 1 / 2000)))))
    assert ENDS(pooled(np.where(member, 1.0, 0.0), member, ~member)) == (1, pytest.approx(1 - found.upper), 1)
    found = pooled(*made(np.random.default_rng(0), 400), rate=0.1, entities=np.zeros(400))
    assert (found.value > 0, math.isnan(found.lower)) == (True, True)
    assert found.note.endswith("one record: no interval")


@pytest.mark.parametrize("rate", [0, 1, -0.1, True])
def test_a_rate_out_of_range(rate):
    with pytest.raises(InputError, match=r"rates must be numbers in \(0, 1\)"):
        pooled(*made(np.random.default_rng(0), 20), rate=rate)


@pytest.mark.proof
def test_intervals_hold_what_is_true():
    for design in (DESIGNS[0], DESIGNS[4], DESIGNS[7]):
        assert float(held(design, 1000, 3, 2, 60)[0].split()[0]) >= 52 / 60


def test_the_columns_that_rank_are_in_every_ledger():
    ranked = {name: m.study.ranking for name, m in METRICS.items() if m.study.ranking}
    assert ranked == {"membership": "confidence", "distance_to_closest_record": "-distance"}
    assert {column.lstrip("-") for column in ranked.values()} <= set(COLUMNS)
