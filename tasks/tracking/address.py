"""Where runs go: the address of the store, and of the experiment in it."""

from pathlib import Path

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

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


def experiment_of(client: MlflowClient, name: str, folder: Path | None) -> str:
    """Return the id of an experiment, which is made where it is not there, its artifacts in ``folder`` if given."""
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    try:
        place = None if folder is None else (folder / "artifacts").as_uri()
        return str(client.create_experiment(name, artifact_location=place))
    except MlflowException:  # another process was first
        found = client.get_experiment_by_name(name)
        if found is None:
            raise
        return str(found.experiment_id)
