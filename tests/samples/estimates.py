"""Estimates with an interval of a given half width, the ends of others, and the limits of Wilson."""

import math
from operator import attrgetter

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
