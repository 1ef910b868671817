"""What every number means: pure functions from tables to scores, and the study's statistics.

The names are loaded on first use, so that help and lists need neither pandas nor scipy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthrisk.metrics.attack import Attack
    from synthrisk.metrics.errors import InputError
    from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
    from synthrisk.metrics.register import ATTACKS, METRICS
    from synthrisk.metrics.score import Score
    from synthrisk.metrics.tables.tables import Tables

__all__ = [
    "ATTACKS",
    "METRICS",
    "Attack",
    "InStudy",
    "InputError",
    "Metric",
    "Records",
    "Score",
    "Tables",
    "Yardsticks",
]

_MODULES = {
    "ATTACKS": "register",
    "METRICS": "register",
    "Attack": "attack",
    "InStudy": "metric",
    "InputError": "errors",
    "Metric": "metric",
    "Records": "metric",
    "Score": "metric",
    "Tables": "tables.tables",
    "Yardsticks": "metric",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found
