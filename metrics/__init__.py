"""What every number means: pure functions from tables to scores, and the study's statistics."""

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.tables import Tables

__all__ = ["METRICS", "InputError", "Metric", "Score", "Tables"]
