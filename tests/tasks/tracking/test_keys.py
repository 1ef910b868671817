"""Names of metrics in MLflow: every column name gives a key that it takes, and two never share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow.utils.validation import _validate_metric_name

from synthrisk.tasks.tracking.names import metric_key


def test_key_is_quantity_and_measure():
    assert metric_key("risk", "rapid.income") == "risk/rapid.income"
    assert (
        metric_key("memorization_lower", "distance_to_closest_record")
        == "memorization_lower/distance_to_closest_record"
    )


@pytest.mark.parametrize("name", ["größe", 'the "x"', "a#b", "a\nb", "[x]", "😀", "50%", "a,b", "it's", "x=y", "a\\b"])
def test_odd_characters_become_what_mlflow_takes(name):
    key = metric_key("risk", f"rapid.{name}")
    assert key.startswith("risk/rapid.")
    assert key.isascii()
    _validate_metric_name(key)


def test_long_names_are_cut_and_stay_apart():
    names = ["x" * 300 + str(n) for n in range(200)]
    keys = [metric_key("memorization_lower", f"rapid.{name}") for name in names]
    assert len(set(keys)) == 200
    assert len({metric_key("risk", f"rapid.{chr(0x4E00 + n)}") for n in range(2000)}) == 2000
    for key in keys:
        _validate_metric_name(key)


@given(st.text(min_size=1, max_size=40))
def test_every_column_name_gives_a_key_that_mlflow_takes(name):
    _validate_metric_name(metric_key("risk", f"rapid.{name}"))


@pytest.mark.parametrize("name", ["a/../b", "a//b", "/", "../x", "a/", "."])
def test_names_that_look_like_paths_give_keys_that_mlflow_takes(name):
    _validate_metric_name(metric_key("risk", f"rapid.{name}"))


@pytest.mark.parametrize("pair", [("ä", "ö"), ("a#", "a%"), ("größe", "gräße")])
def test_columns_apart_have_keys_apart(pair):
    assert len({metric_key("risk", f"rapid.{name}") for name in pair}) == 2


def test_long_names_fit():
    _validate_metric_name(metric_key("memorization_lower", "rapid." + "x" * 400))
