"""Estimates with an interval of a given half width."""

from synthrisk.metrics.intervals.estimates import Estimate


def around(value, half):
    return Estimate(value, value - half, value + half)
