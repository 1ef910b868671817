"""Where runs go: the address of the store. MLflow is not asked."""

from pathlib import Path

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.where import uri_of


def store_address(tracking: Tracking, workspace: Path) -> str:
    """Return where runs go: what the study or its block names, or SQLite in the workspace."""
    return uri_of(tracking) or f"sqlite:///{workspace.absolute() / 'mlflow.db'}"


def store_of(tracking: Tracking, workspace: Path) -> str:
    """Return the address of the store that a study has logged to."""
    if not tracking.uri and not (workspace / "mlflow.db").exists():
        raise InputError(f"the workspace must hold a study's results, got none in {workspace}; run synthrisk benchmark")
    return store_address(tracking, workspace)
