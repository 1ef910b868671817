"""The experiment that runs go to."""

from pathlib import Path

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException


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
