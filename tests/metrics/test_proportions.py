"""Wilson and Newcombe against their formulas and the published cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics.proportions import share, share_difference

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
    assert (found.lower, found.upper) == pytest.approx(wilson(*case), abs=1e-9)
    assert found.value == case[0] / case[1]


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
