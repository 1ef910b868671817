"""Estimates with an interval of a given half width, the ends of others, and limits by their plain formulas."""

import math
from operator import attrgetter
from statistics import variance

import numpy as np
from scipy import stats

from synthrisk.metrics.intervals.estimates import Estimate

Z = 1.959963984540054
ENDS = attrgetter("value", "lower", "upper")


def around(value, half):
    return Estimate(value, value - half, value + half)


def half_width(found):
    return (found.upper - found.lower) / 2


def wilson(p, n, z=Z):
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def crossed_by_hand(e, confidence=0.95):
    """Return the mean of scores by repetition and record, its limits and p-value: every sum of METHODS 6."""
    R, n = len(e), len(e[0])
    means = [sum(e[r][i] for r in range(R)) / R for i in range(n)]
    first, second = variance(means) / n, 0.0
    if R > 1:
        between = variance([sum(row) / n for row in e])
        within = sum(variance([e[r][i] for r in range(R)]) for i in range(n)) / n
        second = max(0.0, between - within / n) / R
    below = first**2 / (n - 1) + (second**2 / (R - 1) if R > 1 else 0.0)
    value, spread, freedom = sum(means) / n, math.sqrt(first + second), (first + second) ** 2 / below
    half = stats.t.ppf(0.5 + confidence / 2, freedom) * spread
    return value, value - half, value + half, 2 * (1 - stats.t.cdf(abs(value) / spread, freedom))


def resampled_means(e, method, rng, units, spread, resamples):
    """Return the resampled means by a loop that draws positions and takes the mean anew in each resample."""
    repetitions, n = e.shape
    sizes = np.ones(n) if units is None else np.bincount(units)
    draws = np.empty(resamples)
    for b in range(resamples):
        rows = rng.integers(repetitions, size=repetitions) if method in ("pigeonhole", "repetitions") else slice(None)
        means = e[rows].mean(axis=0)
        sums = means if units is None else np.bincount(units, means)
        picked = np.arange(len(sums)) if method == "repetitions" else rng.integers(len(sums), size=len(sums))
        draws[b] = sums[picked].sum() / sizes[picked].sum()
    return draws + rng.normal(0, spread, resamples) if method == "crossed_bootstrap" else draws
