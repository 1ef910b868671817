"""The real table and the releases as datasets of a run: schema, counts and digest, no cells."""

import warnings

import pandas as pd
from mlflow import MlflowClient
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import DatasetInput, InputTag

from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.store import key_of

REAL, RELEASE = "real", "release"
_CONTEXT = "mlflow.data.context"


def log_real(client: MlflowClient, run_id: str, table: Table) -> None:
    """Record schema, counts and digest of the real table."""
    client.log_inputs(run_id, datasets=[_given(table.read(), REAL, table.digest)])


def log_release(client: MlflowClient, run_id: str, found: Found) -> None:
    """Record schema and counts of a generator's first release, and one digest of all its releases."""
    releases = [each.release for each in found.ledgers]
    if releases:
        digest = key_of(*(each.key for each in releases))[:16]
        client.log_inputs(run_id, datasets=[_given(releases[0].synthetic(), RELEASE, digest)])


def _given(table: pd.DataFrame, name: str, digest: str) -> DatasetInput:
    with warnings.catch_warnings():  # a hint on how models treat missing integers: there is no model here
        warnings.filterwarnings("ignore", "Hint: Inferred schema", UserWarning)
        entity = from_pandas(table, name=name, digest=digest)._to_mlflow_entity()
    return DatasetInput(entity, tags=[InputTag(_CONTEXT, name)])
