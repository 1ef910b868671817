"""The real table as a dataset of a run: schema, counts and digest, no cells."""

import warnings

from mlflow import MlflowClient
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import DatasetInput

from synthrisk.tasks.workspace.references import Table


def log_dataset(client: MlflowClient, run_id: str, table: Table) -> None:
    """Record schema, counts and digest of the real table; no cells."""
    with warnings.catch_warnings():  # a hint on how models treat missing integers: there is no model here
        warnings.filterwarnings("ignore", "Hint: Inferred schema", UserWarning)
        dataset = from_pandas(table.read(), name="real", digest=table.digest)
        entity = dataset._to_mlflow_entity()
    client.log_inputs(run_id, datasets=[DatasetInput(entity, tags=[])])
