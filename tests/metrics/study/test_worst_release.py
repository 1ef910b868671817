"""The worst release, against plain loops, scipy's Wilson limits, and releases of known risk."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from synthrisk.metrics.distance.closest_record import closeness
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Interval
from synthrisk.metrics.intervals.proportions import worst_release, worst_value
from synthrisk.metrics.study.findings import Attacked, find, find_released
from synthrisk.metrics.study.ledger import Measure, ReleasedValues

MEASURE = Measure("m", "zero_cap")


def drawn(rng, shape=(2, 3, 40)):
    member = rng.random(shape) < 0.7
    return np.where(rng.random(shape) < 0.1, np.nan, (rng.random(shape) < 0.4).astype(float)), member


def test_right_and_wrong_scores_have_the_wilson_limits_of_each_release_at_the_shared_level():
    scores, member = drawn(np.random.default_rng(1))
    values, lowers, uppers = [], [], []
    for r in range(2):
        for k in range(3):
            own = [scores[r, k, i] for i in range(40) if member[r, k, i] and not np.isnan(scores[r, k, i])]
            interval = binomtest(int(sum(own)), len(own)).proportion_ci(1 - 0.05 / 6, "wilson")
            values.append(sum(own) / len(own))
            lowers.append(interval.low)
            uppers.append(interval.high)
    found = worst_release(scores, member, 0.95)
    assert found.value == pytest.approx(max(values))
    assert (found.lower, found.upper) == pytest.approx((max(lowers), max(uppers)))


def test_scores_between_have_the_limits_of_as_many_records_as_their_error_is_worth():
    rng = np.random.default_rng(2)
    row = rng.random(30)
    p, se2 = row.mean(), sum((x - row.mean()) ** 2 for x in row) / 29 / 30
    size, z = p * (1 - p) / se2 + 1, norm.ppf(0.975)
    middle = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z * np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    found = worst_release(row[None, None], np.ones((1, 1, 30), bool), 0.95)
    assert (found.lower, found.upper) == pytest.approx((middle - half, middle + half))


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_scores_that_are_all_alike_have_a_width_and_keep_to_the_range(score):
    found = worst_release(np.full((1, 2, 25), score), np.ones((1, 2, 25), bool), 0.95)
    assert found.value == pytest.approx(score)
    assert 0 <= found.lower <= score <= found.upper <= 1
    assert found.upper - found.lower > 0.05


def test_records_of_one_entity_count_together():
    rng = np.random.default_rng(3)
    once = (rng.random((1, 3, 30)) < 0.5).astype(float)
    twice, entities = np.repeat(once, 2, axis=2), np.repeat(np.arange(30), 2)
    member = np.ones(once.shape, bool)
    alone, paired = (
        worst_release(once, member, 0.95),
        worst_release(twice, np.repeat(member, 2, 2), 0.95, None, entities),
    )
    assert (paired.value, paired.lower, paired.upper) == pytest.approx((alone.value, alone.lower, alone.upper))


def test_a_transform_is_taken_of_the_mean_and_of_its_limits():
    row = np.random.default_rng(4).exponential(2, 50)
    half = norm.ppf(0.975) * row.std(ddof=1) / np.sqrt(50)
    found = worst_release(row[None, None], np.ones((1, 1, 50), bool), 0.95, closeness)
    expected = [closeness(row.mean() + sign * half) for sign in (0, 1, -1)]  # a nearer release is a worse one
    assert [found.value, found.lower, found.upper] == pytest.approx(expected)


def test_order_of_records_and_of_releases_moves_nothing():
    scores, member = drawn(np.random.default_rng(5))
    order = np.random.default_rng(6).permutation(40)
    first, other = (
        worst_release(scores, member, 0.95),
        worst_release(scores[::-1, :, order], member[::-1, :, order], 0.95),
    )
    assert (other.value, other.lower, other.upper) == pytest.approx((first.value, first.lower, first.upper), abs=1e-12)


def test_more_releases_make_the_limit_wider_and_a_lone_record_has_none():
    row = (np.arange(40) % 4 == 0).astype(float)
    uppers = [worst_release(np.tile(row, (m, 1, 1)), np.ones((m, 1, 40), bool), 0.95).upper for m in (1, 2, 10, 100)]
    assert uppers == sorted(uppers)
    assert uppers[0] < uppers[-1]
    lone = worst_release(np.array([[[1.0, np.nan]]]), np.ones((1, 1, 2), bool), 0.95)
    assert (lone.value, lone.lower, lone.upper) == (1, 0, 1)
    assert lone.note


def test_nothing_scored_is_not_estimable():
    empty = np.full((2, 2, 5), np.nan)
    assert worst_release(empty, np.ones(empty.shape, bool), 0.95) == NOT_ESTIMABLE
    assert worst_value(np.full((2, 2), np.nan)) == NOT_ESTIMABLE


def test_the_largest_true_risk_lies_between_the_limits_as_often_as_they_say():
    rng, truth, inside, naive = np.random.default_rng(7), 0.2, 0, 0
    for _ in range(600):
        scores = (rng.random((3, 3, 150)) < truth).astype(float)
        found = worst_release(scores, np.ones(scores.shape, bool), 0.95)
        inside += found.lower <= truth <= found.upper
        low, high = binomtest(int(scores.sum(axis=2).max()), 150).proportion_ci(0.95, "wilson")
        naive += low <= truth <= high
    assert inside / 600 > 0.93
    assert naive < inside  # the interval of the largest alone does not know that it was picked


def test_findings_carry_it():
    scores, member = drawn(np.random.default_rng(8))
    found = find("cart", "synthesizer", MEASURE, Attacked(scores, member, ~member), Interval(0.9))
    assert (found.worst, found.worst.value) == (worst_release(scores, member, 0.9), max(found.release_risk))
    values = np.array([[0.2, 0.4], [0.1, 0.3]])
    released = find_released("cart", "synthesizer", MEASURE, ReleasedValues(*[values] * 4), Interval())
    assert released.worst.value == 0.4
    assert np.isnan(released.worst.upper)
    assert released.worst.note
