"""The schema of a dataset is the one that MLflow infers from its cells, without a look at them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from mlflow.data.pandas_dataset import from_pandas

from synthrisk.tasks.tracking.dataset import given

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
