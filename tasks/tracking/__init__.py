"""What a study leaves in MLflow, and reads back from it; the only room that imports mlflow."""

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

for _name in ("mlflow", "alembic"):  # a new store says how it makes its tables
    logging.getLogger(_name).setLevel(logging.WARNING)


class _Past(ModuleType):
    """What ``history`` was called in version 0.2.0 and its docs; loaded when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module("synthrisk.tasks.tracking.history"), name)


sys.modules.setdefault(f"{__name__}.past", _Past(f"{__name__}.past"))
