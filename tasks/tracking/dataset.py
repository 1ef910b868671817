"""The real table and the releases as datasets of a run: schema, counts, digest and where they are from, no cells."""

import json
import re
from functools import cache
from pathlib import Path

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag
from mlflow.types import ColSpec, DataType, Schema
from mlflow.utils.mlflow_tags import MLFLOW_SOURCE_NAME

from synthrisk.conf.secrets import mask, without_secrets
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.references import RELEASE as RELEASE_FILE
from synthrisk.tasks.workspace.references import Generator, Table
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


_FILES = ("s3", "gs", "wasbs", "abfss", "hdfs", "ftp", "sftp", "dbfs")
"""Schemes of addresses at which MLflow itself looks for files."""


def log_real(client: MlflowClient, run_id: str, table: Table, source: str = "") -> None:
    """Record schema, counts and digest of the real table, and where it comes from."""
    client.log_inputs(run_id, datasets=[_real(table, source)])


def log_release(client: MlflowClient, run_id: str, found: Found) -> None:
    """Record schema and counts of a generator's first release, one digest of all its releases, and who made them."""
    releases = [each.release for each in found.ledgers]
    if releases and (there(releases[0].path) / RELEASE_FILE).exists():  # a workspace may keep ledgers alone
        digest = key_of(*(each.key for each in releases))[:16]
        client.log_inputs(run_id, datasets=[given(releases[0].synthetic(), RELEASE, digest, maker_of(found.generator))])


def source_of(address: str) -> tuple[str, str]:
    """Return the type and the text of MLflow's source of a dataset: a file or address that MLflow can load, or a name.

    What has no type of its own in MLflow (a built-in table, a database, OpenML) is named as code, by the tag that
    names the source of a run.

    Example:
        >>> source_of("/data/people.csv")
        ('local', '{"uri": "/data/people.csv"}')
        >>> source_of("https://host/people.csv")
        ('http', '{"url": "https://host/people.csv"}')
        >>> source_of("adult")
        ('code', '{"tags": {"mlflow.source.name": "adult"}}')
    """
    told = mask(without_secrets(address))
    scheme = told.partition(":")[0].lower() if re.match(r"\w[\w+.-]+:", told) else ""
    if scheme in ("http", "https"):
        return "http", json.dumps({"url": told})
    if scheme in _FILES:
        return scheme, json.dumps({"uri": told})
    if told and not scheme and Path(told).is_absolute():
        return "local", json.dumps({"uri": told})
    return "code", json.dumps({"tags": {MLFLOW_SOURCE_NAME: told} if told else {}})


def maker_of(generator: Generator) -> str:
    """Return where a generator's releases come from: the files that it reads, or its kind."""
    path = generator.options.get("path") if generator.kind == "files" else None
    if not isinstance(path, str):
        return f"synthesizer {generator.kind}"
    return path if "://" in path else str(Path(generator.folder, path).absolute())


@cache
def _real(table: Table, source: str) -> DatasetInput:
    return given(table.read(), REAL, table.digest, source)


def given(table: pd.DataFrame, name: str, digest: str, source: str = "") -> DatasetInput:
    """Return a table as MLflow's dataset, with where it comes from.

    The types are those of its columns: to infer them, as ``mlflow.data.from_pandas`` does, looks at each cell of text.
    """
    schema = Schema([_column(table[c], str(c)) for c in table])
    kind, address = source_of(source)
    entity = Dataset(
        name=name,
        digest=digest,
        source_type=kind,
        source=address,
        schema=json.dumps({"mlflow_colspec": schema.to_dict()}),
        profile=json.dumps({"num_rows": len(table), "num_elements": table.size}),
    )
    return DatasetInput(entity, tags=[InputTag(_CONTEXT, name)])


def _column(column: pd.Series, name: str) -> ColSpec:
    kind = "" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype.kind
    return ColSpec(_TYPES.get(kind, DataType.string), name, required=not column.hasnans)
