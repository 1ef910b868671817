"""What every number means: pure functions from tables to scores, and the study's statistics."""

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.register import ATTACKS, METRICS
from synthrisk.metrics.tables.tables import Tables

__all__ = ["ATTACKS", "METRICS", "Attack", "InputError", "Metric", "Score", "Tables"]
