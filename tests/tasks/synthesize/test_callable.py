import sys

import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import run
from synthrisk.tasks.synthesize.callable import CALLABLE
from synthrisk.tasks.synthesize.synthesizer import Job

SOURCE = """
from dataclasses import dataclass
@dataclass
class Settings:
    size: "int" = 1
LIMIT = 3
def bootstrap(train, rows, seed):
    return train.sample(rows, replace=True, random_state=seed)
def careless(train, rows, seed):
    train["age"] = 0
    return train.astype(str).head(rows)[["vote", "age"]]
short = lambda train, rows, seed: train.head(1)
listed = lambda train, rows, seed: train.to_dict("records")
renamed = lambda train, rows, seed: train.rename(columns={"age": "ages"})
def failing(train, rows, seed):
    raise RuntimeError("mine")
"""
TRAIN = pd.DataFrame({"age": [30, 40, 50, 60], "vote": pd.Categorical(list("abab"), ["b", "a"])})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_generators.py"
    path.write_text(SOURCE)
    return path


def release(path: object, seed: int = 1) -> pd.DataFrame:
    return run(Job(TRAIN, TRAIN.head(0), 4, seed), CALLABLE, {"path": path}).synthetic


def test_a_function_of_a_file_or_an_installed_module_gets_training_table_rows_and_seed(file, tmp_path, monkeypatch):
    due = TRAIN.sample(4, replace=True, random_state=1).reset_index(drop=True)
    pd.testing.assert_frame_equal(release(f"{file}:bootstrap"), due)
    assert not release(f"{file}:bootstrap", seed=2).equals(due)
    monkeypatch.syspath_prepend(tmp_path)
    pd.testing.assert_frame_equal(release("my_generators:bootstrap"), release(f"{file}:bootstrap"))
    assert CALLABLE.inputs({"path": "my_generators:bootstrap"}, 0, 0) == [str(file)]
    sys.modules.pop("my_generators")


def test_a_result_is_cast_the_training_table_left_alone_and_its_failure_its_own(file):
    got = release(f"{file}:careless")
    assert (got.dtypes.tolist(), got["age"].tolist()) == (TRAIN.dtypes.tolist(), [0] * 4)
    assert TRAIN["age"].tolist() == [30, 40, 50, 60]
    with pytest.raises(RuntimeError, match="mine"):
        release(f"{file}:failing")
    assert CALLABLE.inputs({"path": "no_such_package.module:f"}, 0, 0) == []


def test_an_edited_file_is_read_anew(file):
    assert len(release(f"{file}:bootstrap")) == 4
    file.write_text("def bootstrap(train, rows, seed):\n    return train[::-1]  # now reversed, and longer text\n")
    assert release(f"{file}:bootstrap")["age"].tolist() == [60, 50, 40, 30]
    assert CALLABLE.inputs({"path": f"{file}:bootstrap"}, 0, 0) == [str(file)]


@pytest.mark.parametrize(("path", "sentence"), [
    ("{file}:LIMIT", "must name a function of .*, got a int"),
    ("{file}:short", "must return 4 rows, got 1"), ("{file}:listed", "must return a DataFrame of pandas, got list"),
    ("{file}:renamed", r"absent: \['age'\], extra: column 1 \(nearly 'age'\)"),
    ("no_such_package.module:f", "cannot be imported: ModuleNotFoundError"),
    ("pandas", "path must read 'package.module:function' or 'file.py:function', got 'pandas'"),
    ("pandas:", "path must read"), (":f", "path must read"), (3, "path must read"),
])  # fmt: skip
def test_wrong_functions_and_paths_are_named(file, path, sentence):
    with pytest.raises(InputError, match=sentence):
        release(path.replace("{file}", str(file)) if isinstance(path, str) else path)
