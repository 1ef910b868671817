"""Wilson, Clopper-Pearson, bootstrap and Newcombe against their formulas, published cases and exact coverage."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.proportions import expected_share, share, share_difference

Z = 1.959963984540054


def scores(count, n):
    return np.array([1.0] * count + [0.0] * (n - count))


def wilson(count, n, z=Z):
    p = count / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_the_formula(case):
    found = share(scores(*case), 0.95)
    assert ((found.lower, found.upper), found.value) == (pytest.approx(wilson(*case), abs=1e-9), case[0] / case[1])


@pytest.mark.parametrize(
    ("count", "n", "lower", "upper"),  # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_published(count, n, lower, upper):
    found = share(scores(count, n), 0.95)
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=5.1e-5)


@pytest.mark.parametrize(
    ("first", "second", "lower", "upper"),  # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_published(first, second, lower, upper):
    found = share_difference(share(scores(*first), 0.95), share(scores(*second), 0.95))
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=5.1e-5)
    assert found.value == pytest.approx(first[0] / first[1] - second[0] / second[1])
    mirrored = share_difference(share(scores(*second), 0.95), share(scores(*first), 0.95))
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-found.upper, -found.lower), abs=1e-12)


def test_more_confidence_is_wider():
    narrow, wide = share(scores(8, 20), 0.8), share(scores(8, 20), 0.99)
    assert wide.lower < narrow.lower < 0.4 < narrow.upper < wide.upper


METHODS = ["wilson", "clopper_pearson", "bootstrap"]


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_is_the_beta_quantile(case):
    count, n = case
    found = share(scores(*case), 0.95, "clopper_pearson")
    low = beta.ppf(0.025, count, n - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, n - count) if count < n else 1.0
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("count", "n", "lower", "upper"),  # Newcombe 1998, Statistics in Medicine 17:857, table I, method 5
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_clopper_pearson_published(count, n, lower, upper):
    found = share(scores(count, n), 0.95, "clopper_pearson")
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=5.1e-5)


@pytest.mark.parametrize(("count", "n"), [(3, 10), (40, 200), (199, 200), (500, 1000)])
def test_bootstrap_is_what_resampling_gives(count, n):
    found, rng = share(scores(count, n), 0.95, "bootstrap"), np.random.default_rng(0)
    means = [rng.choice(scores(count, n), n).mean() for _ in range(4000)]
    assert (found.lower, found.upper) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1.01 / n)


@pytest.mark.parametrize("value", [0, 1])
def test_bootstrap_has_no_width_where_all_agree(value):
    found = share(np.full(30, float(value)), 0.95, "bootstrap")
    assert (found.value, found.lower, found.upper) == (value, value, value)


@pytest.mark.parametrize("method", METHODS)
@given(case=st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_limits_hold_the_share_and_mirror(method, case):
    count, n = case
    found, mirrored = share(scores(count, n), 0.95, method), share(scores(n - count, n), 0.95, method)
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    off = 1 / n if method == "bootstrap" else 1e-9  # a quantile of a count may fall on either of two neighbours
    assert (mirrored.lower, mirrored.upper) == pytest.approx((1 - found.upper, 1 - found.lower), abs=off + 1e-9)
    assert found.method == method


def covers(p, n, method):
    """Return the coverage, summed over all counts: nothing is simulated."""
    chances = binom.pmf(np.arange(n + 1), n, p)
    found = {k: share(scores(k, n), 0.95, method) for k in np.flatnonzero(chances > 1e-14)}
    return sum(chances[k] for k, e in found.items() if e.lower <= p <= e.upper)


@pytest.mark.parametrize(("p", "n"), [(0.01, 200), (0.05, 200), (0.3, 200), (0.7, 100), (0.95, 400)])
@pytest.mark.parametrize("method", METHODS)
def test_coverage(method, p, n):
    found = covers(p, n, method)
    if method == "clopper_pearson":
        assert found >= 0.95 - 1e-9
    elif method == "bootstrap" and (p, n) == (0.01, 200):
        assert found == pytest.approx(0.865, abs=5e-4)  # two records expected: the bootstrap cannot do better
    else:
        assert 0.93 <= found <= 0.97


@pytest.mark.parametrize("method", ["exact", "Wilson", None])
def test_unknown_method_is_refused(method):
    with pytest.raises(InputError, match="method must be wilson, clopper_pearson or bootstrap"):
        share(scores(1, 2), 0.95, method)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (56, 70)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_expected_hits_have_wilsons_limits_where_they_are_whole(hits, n, confidence):
    found = expected_share(float(hits), n, confidence)
    whole = share(np.repeat([1.0, 0.0], [hits, n - hits]), confidence)
    assert (found.value, found.lower) == (whole.value, pytest.approx(whole.lower, abs=1e-12))
    assert found.upper == pytest.approx(whole.upper, abs=1e-12)


def test_limits_grow_with_expected_hits():
    found = [expected_share(h, 20, 0.95) for h in np.linspace(0, 20, 81)]
    for low, high in pairwise(found):
        assert low.lower <= high.lower
        assert low.upper <= high.upper
        assert 0 <= low.lower <= low.value <= low.upper <= 1
