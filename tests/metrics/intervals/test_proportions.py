"""Wilson, Clopper-Pearson, bootstrap and Newcombe against their formulas, published cases and exact coverage."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from samples.estimates import ENDS, Z, wilson
from samples.findings import ZERO
from synthrisk.metrics.distance.closest_record import closeness
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Interval
from synthrisk.metrics.intervals.proportions import expected_share, share, share_difference, worst_release, worst_value
from synthrisk.metrics.study.findings import Attacked, find, find_released
from synthrisk.metrics.study.ledger import ReleasedValues

METHODS = ["wilson", "clopper_pearson", "bootstrap"]
COUNTS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def of(count, n, method="wilson", confidence=0.95):
    return share(np.repeat([1.0, 0.0], [count, n - count]), confidence, method)


@given(COUNTS)
def test_wilson_is_the_formula_and_clopper_pearson_the_beta_quantile(case):
    count, n = case
    assert ENDS(of(*case)) == pytest.approx((count / n, *wilson(count / n, n)), abs=1e-9)
    low = beta.ppf(0.025, count, n - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, n - count) if count < n else 1.0
    assert ENDS(of(*case, "clopper_pearson")) == pytest.approx((count / n, low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "lower", "upper"),  # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10
    [
        *(((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090)),
        *(((6, 7), (2, 7), 0.0582, 0.8062), ((5, 56), (0, 29), -0.0381, 0.1926)),
        *(((0, 10), (0, 20), -0.1611, 0.2775), ((0, 10), (0, 10), -0.2775, 0.2775)),
        *(((10, 10), (0, 20), 0.6791, 1.0), ((10, 10), (0, 10), 0.6075, 1.0)),
    ],
)
def test_newcombe_published(first, second, lower, upper):
    found = share_difference(of(*first), of(*second))
    due = first[0] / first[1] - second[0] / second[1], lower, upper
    assert ENDS(found) == pytest.approx(due, abs=5.1e-5)
    assert found.value == pytest.approx(due[0])
    mirrored = share_difference(of(*second), of(*first))
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-found.upper, -found.lower), abs=1e-12)


def test_more_confidence_is_wider():
    narrow, wide = of(8, 20, confidence=0.8), of(8, 20, confidence=0.99)
    assert wide.lower < narrow.lower < 0.4 < narrow.upper < wide.upper


@pytest.mark.parametrize(("count", "n"), [(3, 10), (40, 200), (199, 200), (500, 1000)])
def test_bootstrap_is_what_resampling_gives(count, n):
    found, rng = of(count, n, "bootstrap"), np.random.default_rng(0)
    means = [rng.choice(np.arange(n) < count, n).mean() for _ in range(4000)]
    assert (found.lower, found.upper) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1.01 / n)
    assert [ENDS(of(k, 30, "bootstrap")) for k in (0, 30)] == [(0, 0, 0), (1, 1, 1)]  # no width where all agree


@pytest.mark.parametrize("method", METHODS)
@given(case=st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_limits_hold_the_share_and_mirror(method, case):
    count, n = case
    found, mirrored = of(count, n, method), of(n - count, n, method)
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    off = 1 / n if method == "bootstrap" else 1e-9  # a quantile of a count may fall on either of two neighbours
    assert (mirrored.lower, mirrored.upper) == pytest.approx((1 - found.upper, 1 - found.lower), abs=off + 1e-9)
    assert found.method == method


@pytest.mark.parametrize("method", ["exact", "Wilson", None])
def test_unknown_method_is_refused(method):
    with pytest.raises(InputError, match="method must be wilson, clopper_pearson or bootstrap"):
        of(1, 2, method)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (56, 70)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_expected_hits_have_wilsons_limits_where_they_are_whole(hits, n, confidence):
    due = ENDS(of(hits, n, confidence=confidence))
    assert ENDS(expected_share(float(hits), n, confidence)) == pytest.approx(due, abs=1e-12)


def test_limits_grow_with_expected_hits():
    found = [expected_share(h, 20, 0.95) for h in np.linspace(0, 20, 81)]
    for low, high in pairwise(found):
        assert low.lower <= high.lower
        assert low.upper <= high.upper
        assert 0 <= low.lower <= low.value <= low.upper <= 1


def drawn(rng, shape=(2, 3, 40)):
    member = rng.random(shape) < 0.7
    return np.where(rng.random(shape) < 0.1, np.nan, (rng.random(shape) < 0.4).astype(float)), member


def worst(scores, *more):
    """Return the worst of releases of which all records are members."""
    scores = np.asarray(scores, float)
    return worst_release(scores, np.ones(scores.shape, bool), 0.95, *more)


def test_right_and_wrong_scores_have_the_wilson_limits_of_each_release_at_the_shared_level():
    scores, member = drawn(np.random.default_rng(1))
    every = []
    for place in np.ndindex(2, 3):
        own = [s for s, m in zip(scores[place], member[place], strict=True) if m and not math.isnan(s)]
        interval = binomtest(int(sum(own)), len(own)).proportion_ci(1 - 0.05 / 6, "wilson")
        every.append((sum(own) / len(own), interval.low, interval.high))
    assert ENDS(worst_release(scores, member, 0.95)) == pytest.approx([max(each) for each in zip(*every, strict=True)])


def test_scores_between_have_the_limits_of_as_many_records_as_their_error_is_worth():
    row = np.random.default_rng(2).random(30)
    p, se2 = row.mean(), sum((x - row.mean()) ** 2 for x in row) / 29 / 30
    found = worst(row[None, None])
    assert (found.lower, found.upper) == pytest.approx(wilson(p, p * (1 - p) / se2 + 1))


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_scores_that_are_all_alike_have_a_width_and_keep_to_the_range(score):
    found = worst(np.full((1, 2, 25), score))
    assert found.value == pytest.approx(score)
    assert 0 <= found.lower <= score <= found.upper <= 1
    assert found.upper - found.lower > 0.05


def test_of_the_worst_release_records_of_one_entity_count_together_and_no_order_counts():
    once = (np.random.default_rng(3).random((1, 3, 30)) < 0.5).astype(float)
    twice = worst(np.repeat(once, 2, axis=2), None, np.repeat(np.arange(30), 2))
    assert ENDS(twice) == pytest.approx(ENDS(worst(once)))
    scores, member = drawn(np.random.default_rng(5))
    order = np.random.default_rng(6).permutation(40)
    other = worst_release(scores[::-1, :, order], member[::-1, :, order], 0.95)
    assert ENDS(other) == pytest.approx(ENDS(worst_release(scores, member, 0.95)), abs=1e-12)


def test_a_transform_is_taken_of_the_mean_and_of_its_limits():
    row = np.random.default_rng(4).exponential(2, 50)
    half = Z * row.std(ddof=1) / np.sqrt(50)
    expected = [closeness(row.mean() + sign * half) for sign in (0, 1, -1)]  # a nearer release is a worse one
    assert ENDS(worst(row[None, None], closeness)) == pytest.approx(expected)


def test_more_releases_make_the_limit_wider_a_lone_record_has_none_and_nothing_scored_no_value():
    row = (np.arange(40) % 4 == 0).astype(float)
    uppers = [worst(np.tile(row, (m, 1, 1))).upper for m in (1, 2, 10, 100)]
    assert uppers == sorted(uppers)
    assert uppers[0] < uppers[-1]
    lone = worst([[[1.0, np.nan]]])
    assert (*ENDS(lone), bool(lone.note)) == (1, 0, 1, True)
    assert worst(np.full((2, 2, 5), np.nan)) == worst_value(np.full((2, 2), np.nan)) == NOT_ESTIMABLE


def test_findings_carry_the_worst_release():
    scores, member = drawn(np.random.default_rng(8))
    found = find("cart", "synthesizer", ZERO, Attacked(scores, member, ~member), Interval(0.9))
    assert (found.worst, found.worst.value) == (worst_release(scores, member, 0.9), max(found.release_risk))
    values = ReleasedValues(*[np.array([[0.2, 0.4], [0.1, 0.3]])] * 4)
    released = find_released("cart", "synthesizer", ZERO, values, Interval()).worst
    assert (released.value, math.isnan(released.upper), bool(released.note)) == (0.4, True, True)
