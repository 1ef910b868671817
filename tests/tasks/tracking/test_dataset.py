"""The schema of a dataset is the one that MLflow infers from its cells, without a look at them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow.data import get_source
from mlflow.data.pandas_dataset import from_pandas
from pydantic import TypeAdapter

from synthrisk.conf.study import Data, Source
from synthrisk.tasks.tracking.runs import given, maker_of
from synthrisk.tasks.workspace.references import Generator

COLUMNS = {
    "count": np.array([1, 2, 3]),
    "money": np.array([1.5, np.nan, 3.0]),
    "text": np.array(["a", "b", "<b>"], dtype=object),
    "gap": np.array(["a", None, "c"], dtype=object),
    "yes": np.array([True, False, True]),
    "day": pd.to_datetime(["2020-01-01", None, "2021-02-03"]),
    "kind": pd.Categorical(["x", "y", "x"]),
    "größe €": np.array([2, 4, 8]),
}


@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_column_is_typed_as_mlflow_types_it(name):
    table = pd.DataFrame({name: COLUMNS[name]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = from_pandas(table, name="real", digest="d")._to_mlflow_entity()
    ours = given(table, "real", "d").dataset
    assert json.loads(ours.schema) == json.loads(theirs.schema)
    assert json.loads(ours.profile) == json.loads(theirs.profile)


def test_a_dataset_names_no_script_and_no_user():
    made = given(pd.DataFrame(COLUMNS), "release", "d").dataset
    assert (made.name, made.digest, json.loads(made.source)) == ("release", "d", {"tags": {}})


def test_empty_and_extension_columns_are_typed():
    table = pd.DataFrame({"whole": pd.array([1, None], "Int64"), "flag": pd.array([True, None], "boolean")})
    schema = json.loads(given(table, "real", "d").dataset.schema)["mlflow_colspec"]
    assert [(c["name"], c["type"], c["required"]) for c in schema] == [
        ("whole", "long", False),
        ("flag", "boolean", False),
    ]
    assert json.loads(given(pd.DataFrame({"a": []}), "real", "d").dataset.schema)["mlflow_colspec"][0]["name"] == "a"


@pytest.mark.parametrize(
    ("source", "kind", "told"),
    [
        ("people.csv", "local", {"uri": str(Path("people.csv").absolute())}),
        ("survey.xlsx#Sheet 1", "local", {"uri": str(Path("survey.xlsx#Sheet 1").absolute())}),
        ("s3://bucket/people.parquet", "s3", {"uri": "s3://bucket/people.parquet"}),
        ("https://me:secret@host/p.csv?sig=abc&v=1", "http", {"url": "https://host/p.csv?sig=...&v=1"}),
        ("adult", "code", {"tags": {"mlflow.source.name": "adult"}}),
        ("openml:31", "code", {"tags": {"mlflow.source.name": "openml:31"}}),
        (
            {"url": "postgresql+psycopg://me:${PW}@host/db", "query": "select 1"},
            "code",
            {"tags": {"mlflow.source.name": "postgresql+psycopg://host/db"}},
        ),
    ],
)
def test_the_source_says_where_the_table_is_from_without_secrets(source, kind, told):
    address = Data.model_construct(source=TypeAdapter(Source).validate_python(source)).address
    made = given(pd.DataFrame(COLUMNS), "real", "d", address).dataset
    assert (made.source_type, json.loads(made.source)) == (kind, told)
    assert get_source(made).to_dict() == told  # MLflow reads it back


def test_a_release_that_comes_as_a_file_names_it(tmp_path):
    vendor = Generator("vendor", "files", {"path": "out/{fold}.csv"}, folder=str(tmp_path))
    assert maker_of(vendor) == str(tmp_path / "out/{fold}.csv")
    assert maker_of(Generator("vendor", "files", {"path": "s3://b/x.csv"})) == "s3://b/x.csv"
    assert maker_of(Generator("mine", "cart")) == "synthesizer cart"
