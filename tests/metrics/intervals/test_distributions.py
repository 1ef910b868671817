"""Resamples by counts against the plain loop: the same intervals within Monte Carlo error, in little memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from samples.estimates import resampled_means
from synthrisk.metrics.intervals.bootstrap import GROUPS, bootstraps, resampled_sums
from synthrisk.metrics.intervals.distributions import normal_quantile, t_quantile, t_two_sided

RESAMPLES, TAIL = 4000, 0.025
METHODS = ("crossed_bootstrap", "records", "repetitions", "pigeonhole")


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.9995, 1 - 1e-9])
def test_quantiles_are_those_of_scipy_to_the_bit(level):
    assert normal_quantile(level) == stats.norm.ppf(level)
    freedom = np.array([0.3, 1, 2.5, 4, 17.3, 1e3, 1e7, np.inf, 0, -1, np.nan])
    np.testing.assert_array_equal(t_quantile(level, freedom), stats.t.ppf(level, freedom))
    assert [t_quantile(level, each) for each in freedom[:4]] == list(stats.t.ppf(level, freedom[:4]))
    for t in (-3.0, 0.0, 1e-9, 2.2, 40.0):
        for of in (1, 3.7, 50, 1e6):
            assert t_two_sided(t, of) == 2 * stats.t.sf(abs(t), of)


def scores(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "right or wrong":
        return (rng.random((3, n)) < rng.beta(0.3, 0.7, n)).astype(float)
    return rng.gamma(0.3, size=(3, n)) + rng.gamma(0.2, size=n)  # long tails


@pytest.mark.proof
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("n", [300, 3 * GROUPS + 7])
@pytest.mark.parametrize("kind", ["right or wrong", "real"])
def test_limits_are_those_of_the_plain_loop_within_monte_carlo_error(kind, n, clustered):
    rng = np.random.default_rng(n)
    e = scores(kind, n, rng)
    units = np.unique(np.sort(rng.integers(0, n // 2, n)), return_inverse=True)[1] if clustered else None
    spread = 0.3 * float(e.std()) / np.sqrt(n)
    found = bootstraps(e, units, METHODS, RESAMPLES, 1, spread)
    density = 0.0584  # of the normal distribution at its 2.5 % quantile
    for method in METHODS:
        expected = resampled_means(e, method, rng, units, spread, RESAMPLES)
        sd = expected.std()
        error = sd * np.sqrt(TAIL * (1 - TAIL) / RESAMPLES) / density * np.sqrt(2)
        for share in (TAIL, 1 - TAIL):
            between = np.quantile(found[method], share) - np.quantile(expected, share)
            assert abs(between) < 4.5 * error, (method, share, between / error)
        assert found[method].mean() == pytest.approx(e.mean(), abs=4.5 * sd / np.sqrt(RESAMPLES))
        assert found[method].std() == pytest.approx(sd, rel=0.07)


def test_up_to_a_number_of_units_it_is_the_bootstrap_itself():
    sums = resampled_sums(np.eye(40), 5000, 3)
    assert (np.array_equal(sums, np.round(sums)), (sums.sum(axis=1) == 40).all()) == (True, True)
    assert sums.mean(axis=0) == pytest.approx(np.ones(40), abs=0.07)
    assert sums.var(axis=0) == pytest.approx(np.full(40, 39 / 40), abs=0.12)
    between = np.cov(sums.T)[~np.eye(40, dtype=bool)]
    assert between.mean() == pytest.approx(-1 / 40, abs=0.002)


def test_the_draws_of_a_method_do_not_depend_on_what_was_drawn_before():
    e = np.random.default_rng(0).normal(size=(2, 2000))
    together = bootstraps(e, None, METHODS, 50, 7, 0.1)
    for method in reversed(METHODS):
        resampled_sums(np.ones((1, 10 + len(method))), 5, 7)
        assert np.array_equal(bootstraps(e, None, [method], 50, 7, 0.1)[method], together[method])
    assert not np.array_equal(bootstraps(e, None, ["records"], 50, 8, 0.1)["records"], together["records"])


def test_memory_does_not_grow_with_resamples_times_records():
    values = np.random.default_rng(0).normal(size=(1, 200_000))
    tracemalloc.start()
    resampled_sums(values, 1000, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * values.nbytes + 3 * 8 * 1000 * GROUPS  # a matrix of resamples x records would be 1,600 MB
