"""Tests of a metric or an attack of one's own in one line each: ``check_metric(MINE)``, ``check_attack(MINE)``."""

from synthrisk.metrics.testing.attacks import check_attack
from synthrisk.metrics.testing.metrics import check_metric

__all__ = ["check_attack", "check_metric"]
