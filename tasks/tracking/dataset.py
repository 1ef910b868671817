"""The real table and the releases as datasets of a run: schema, counts and digest, no cells."""

import json
from functools import cache

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag
from mlflow.types import ColSpec, DataType, Schema

from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.references import RELEASE as RELEASE_FILE
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.store import key_of

REAL, RELEASE = "real", "release"
_CONTEXT = "mlflow.data.context"
_TYPES = {
    "b": DataType.boolean,
    "i": DataType.long,
    "u": DataType.long,
    "f": DataType.double,
    "M": DataType.datetime,
}


def log_real(client: MlflowClient, run_id: str, table: Table) -> None:
    """Record schema, counts and digest of the real table."""
    client.log_inputs(run_id, datasets=[_real(table)])


def log_release(client: MlflowClient, run_id: str, found: Found) -> None:
    """Record schema and counts of a generator's first release, and one digest of all its releases."""
    releases = [each.release for each in found.ledgers]
    if releases and (there(releases[0].path) / RELEASE_FILE).exists():  # a workspace may keep ledgers alone
        digest = key_of(*(each.key for each in releases))[:16]
        client.log_inputs(run_id, datasets=[given(releases[0].synthetic(), RELEASE, digest)])


@cache
def _real(table: Table) -> DatasetInput:
    return given(table.read(), REAL, table.digest)


def given(table: pd.DataFrame, name: str, digest: str) -> DatasetInput:
    """Return a table as MLflow's dataset.

    The types are those of its columns: to infer them, as ``mlflow.data.from_pandas`` does, looks at each cell of text.
    """
    schema = Schema([_column(table[c], str(c)) for c in table])
    entity = Dataset(
        name=name,
        digest=digest,
        source_type="code",
        source=json.dumps({"tags": {}}),
        schema=json.dumps({"mlflow_colspec": schema.to_dict()}),
        profile=json.dumps({"num_rows": len(table), "num_elements": table.size}),
    )
    return DatasetInput(entity, tags=[InputTag(_CONTEXT, name)])


def _column(column: pd.Series, name: str) -> ColSpec:
    kind = "" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype.kind
    return ColSpec(_TYPES.get(kind, DataType.string), name, required=not column.hasnans)
