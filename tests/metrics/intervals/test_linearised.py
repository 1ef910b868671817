"""A weighted mean as the mean of contributions."""

import numpy as np
import pytest

from synthrisk.metrics.intervals.value_scale import contributions


def test_the_mean_of_contributions_is_the_weighted_mean():
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


def test_equal_weights_leave_the_scores():
    scores = np.array([0.0, 1.0, 0.5])
    np.testing.assert_allclose(contributions(scores, np.full(3, 0.2), np.ones(3, bool)), scores, atol=1e-15)


def test_their_variance_is_that_of_the_ratio():
    rng = np.random.default_rng(1)
    weights = rng.lognormal(0, 1, (4000, 200))
    scores = (rng.random((4000, 200)) < 0.3 + 0.3 * (weights > 1)).astype(float)
    spread = ((weights * scores).sum(axis=1) / weights.sum(axis=1)).std()
    found = contributions(scores, weights, np.ones_like(scores, bool)).std(axis=1, ddof=1).mean() / np.sqrt(200)
    assert found == pytest.approx(spread, rel=0.06)


def test_a_group_without_weight_or_records_has_no_mean():
    assert np.isnan(contributions(np.array([1.0]), np.array([0.0]), np.array([True]))).all()
    assert np.isnan(contributions(np.array([1.0]), np.array([1.0]), np.array([False]))).all()
