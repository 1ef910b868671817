"""A weighted mean as the mean of contributions."""

import math

import numpy as np
import pytest

from synthrisk.metrics.intervals.value_scale import DIFFERENCE, GAIN, SHARE, contributions


def test_the_mean_of_contributions_is_the_weighted_mean_and_equal_weights_leave_the_scores():
    rng = np.random.default_rng(0)
    scores, weights = rng.random((2, 3, 20)), rng.random((2, 3, 20))
    groups = rng.random((2, 3, 20)) < 0.6
    scores[0, 0, :4] = np.nan
    found = contributions(scores, weights, groups)
    for place in np.ndindex(2, 3):
        own = groups[place] & ~np.isnan(scores[place])
        expected = np.average(scores[place][own], weights=weights[place][own])
        assert np.nanmean(found[place]) == pytest.approx(expected, abs=1e-12)
        np.testing.assert_array_equal(np.isnan(found[place]), ~own)
    scores = np.array([0.0, 1.0, 0.5])
    np.testing.assert_allclose(contributions(scores, np.full(3, 0.2), np.ones(3, bool)), scores, atol=1e-15)
    for weight, of_group in ((0.0, True), (1.0, False)):
        assert np.isnan(contributions(np.array([1.0]), np.array([weight]), np.array([of_group]))).all()


def test_their_variance_is_that_of_the_ratio():
    rng = np.random.default_rng(1)
    weights = rng.lognormal(0, 1, (4000, 200))
    scores = (rng.random((4000, 200)) < 0.3 + 0.3 * (weights > 1)).astype(float)
    spread = ((weights * scores).sum(axis=1) / weights.sum(axis=1)).std()
    found = contributions(scores, weights, np.ones_like(scores, bool)).std(axis=1, ddof=1).mean() / np.sqrt(200)
    assert found == pytest.approx(spread, rel=0.06)


@pytest.mark.parametrize("scale", [SHARE, DIFFERENCE, GAIN], ids=["share", "difference", "gain"])
@pytest.mark.parametrize("mean", [-0.99, -0.3, 0.0, 0.002, 0.4, 0.999, 1.0])
def test_limits_stay_in_the_range(scale, mean):
    if mean < scale.lower:
        return
    assert scale.around(mean, 0.0) == (mean, mean)
    for half in (1e-6, 0.01, 0.3, 12.0):
        (lower, upper), narrow = scale.around(mean, half), scale.around(mean, half / 2)
        assert scale.lower <= lower <= narrow[0] <= mean <= narrow[1] <= upper <= scale.upper


def test_the_logit_is_the_delta_method_and_nearly_symmetric_where_it_is_narrow():
    logit = math.log(0.2 / 0.8)
    assert SHARE.around(0.2, 0.1) == pytest.approx([1 / (1 + math.exp(s * 0.1 / 0.16 - logit)) for s in (1, -1)])
    assert SHARE.around(0.2, 1e-4) == pytest.approx((0.2 - 1e-4, 0.2 + 1e-4), abs=1e-7)
    assert all(math.isnan(end) for end in SHARE.between(0.2, math.nan, math.nan))
