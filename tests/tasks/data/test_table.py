import datetime as dt
import pickle
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import infer
from synthrisk.tasks.data import Table, store
from synthrisk.tasks.data.task import data as load
from synthrisk.tasks.workspace.references import digest

FRAME = pd.DataFrame({
    "whole": [1, 2, 3], "huge": pd.array([2**60 + 1, None, 0], dtype="Int64"), "float": [0.1, np.nan, -1e300],
    "text <b>": pd.Categorical(['ł, "q"', None, "a"]), "code": pd.Categorical([20, None, 3]),
    "huge code": pd.Categorical.from_codes([1, -1, 0], [3, 2**60 + 1]),
    "float code": pd.Categorical([0.5, None, 0.25]), "flag": [True, False, True],
    "maybe": pd.array([True, None, False], dtype="boolean"),
    "date": pd.to_datetime(["2024-02-29 01:02:03.000000004", None, "1700-01-01"], format="ISO8601"),
    "wait": pd.to_timedelta([1, None, 3], unit="s"),
})  # fmt: skip


def test_a_table_comes_back_from_its_file_which_all_share_and_its_reference_shows_no_cells(tmp_path):
    table = store(FRAME, tmp_path)
    read = table.read()
    pd.testing.assert_frame_equal(read, FRAME)
    assert isinstance(read.index, pd.RangeIndex)
    assert (digest(read), table.rows, table.columns) == (table.digest, 3, tuple(FRAME.columns))
    assert read is pickle.loads(pickle.dumps(table)).read()
    assert not [cell for cell in ('"q"', "1700") if cell in repr(table)]
    frame = pd.DataFrame({"a": pd.Categorical(["x"])})
    pd.testing.assert_frame_equal(store(frame, tmp_path).read(), frame)


def test_files_are_the_owners_alone_and_used_again_and_no_part_is_left(tmp_path):
    first = store(FRAME, tmp_path)
    path = Path(first.path)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]
    assert list(path.parent.iterdir()) == [path]
    written = path.stat().st_mtime_ns
    assert (store(FRAME.copy(), tmp_path), path.stat().st_mtime_ns) == (first, written)


def test_a_broken_file_is_one_sentence(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"Ada Lovelace")
    with pytest.raises(InputError, match="cannot be read") as caught:
        Table(str(path), "0" * 16, 1, ("a",)).read()
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize("other", [
    FRAME.iloc[::-1].reset_index(drop=True), FRAME[FRAME.columns[::-1]], FRAME.rename(columns={"whole": "half"}),
    FRAME.assign(whole=[1.0, 2.0, 3.0]), FRAME.assign(code=pd.Categorical([20, 20, 3])),
    FRAME.assign(maybe=pd.array([True, False, False], dtype="boolean")),
    FRAME.assign(huge=pd.array([2**60, None, 0], dtype="Int64")),
    FRAME.assign(huge=pd.array([2**60 + 1, 0, 0], dtype="Int64")), FRAME.iloc[:2],
])  # fmt: skip
def test_another_content_has_another_digest(other):
    assert digest(other) != digest(FRAME)


def test_digest_is_of_content_alone_and_fixed():
    other = FRAME.copy()
    other["text <b>"] = pd.Categorical(other["text <b>"], categories=["z", 'ł, "q"', "a"])
    other.index = [7, 8, 9]
    under = pd.arrays.IntegerArray(np.array([2**60 + 1, 99, 0]), np.array([False, True, False]))
    assert digest(other.assign(huge=pd.Series(under, index=other.index))) == digest(FRAME)
    frame = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", None]), "c": [0.5, np.nan]})
    assert digest(frame) == "18a23e7415296fb5"  # a changed one makes every stored release stale


CELLS = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.text(), st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CELLS, min_size=1, max_size=6), st.booleans())
def test_every_typed_column_round_trips(tmp_path, cells, code):
    try:
        frame = pd.DataFrame({"a": infer(pd.Series(cells, dtype=object), code=code), "b": 1})
    except InputError:
        return
    pd.testing.assert_frame_equal(store(frame, tmp_path).read(), frame)


def test_the_task_reads_types_and_stores_as_many_rows_as_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,income,day\n40,low,2024-01-02\n,high,\n30,?,2024-01-01\n")
    data = Data(source=str(path), quasi_identifiers=["age"], sensitive=["income"], missing=["?"])
    table = load.fn(data, Split(folds=2), str(tmp_path / "work"), seed=1)
    read = table.read()
    assert [str(t) for t in read.dtypes] == ["float64", "category", "datetime64[ns]"]
    assert read.isna().sum().tolist() == [1, 1, 1]
    assert load.fn(data, Split(folds=2), str(tmp_path / "work"), seed=1) == table
    assert (load.name, type(table)) == ("data", Table)
    settings = Data(source="adult", quasi_identifiers="*", sensitive=["income"], rows=100)
    table = load.fn(settings, Split(), str(tmp_path), 1)
    assert table.rows == len(table.read()) == 100
