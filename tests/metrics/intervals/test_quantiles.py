"""The quantiles are those of scipy.stats, to the bit."""

import numpy as np
import pytest
from scipy import stats

from synthrisk.metrics.intervals.distributions import normal_quantile, t_quantile, t_two_sided

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.9995, 1 - 1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_normal(level):
    assert normal_quantile(level) == stats.norm.ppf(level)


@pytest.mark.parametrize("level", LEVELS)
def test_t_of_many_degrees_of_freedom(level):
    freedom = np.array([0.3, 1, 2.5, 4, 17.3, 1e3, 1e7, np.inf, 0, -1, np.nan])
    np.testing.assert_array_equal(t_quantile(level, freedom), stats.t.ppf(level, freedom))
    assert [t_quantile(level, each) for each in freedom[:4]] == list(stats.t.ppf(level, freedom[:4]))


@pytest.mark.parametrize("freedom", [1, 3.7, 50, 1e6])
def test_both_tails_of_t(freedom):
    for t in (-3.0, 0.0, 1e-9, 2.2, 40.0):
        assert t_two_sided(t, freedom) == 2 * stats.t.sf(abs(t), freedom)
