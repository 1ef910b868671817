import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.data.types import infer
from synthrisk.tasks.workspace.files.parquet import category


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([1, 2], "int64"),
        (pd.array([1, None], dtype="Int64"), "float64"),
        (pd.array([2**60 + 1, None], dtype="Int64"), "Int64"),
        (pd.array([1, 2], dtype="UInt8"), "int64"),
        (np.array([1, 2], dtype="float32"), "float64"),
        (np.array([1.1, 2], dtype="float32"), "float32"),
        (pd.array([1.1, None], dtype="float[pyarrow]"), "float32"),
        (pd.array([np.timedelta64(1, "s"), None], dtype=object), "timedelta64[ns]"),
        (pd.array([1.5, None], dtype="Float64"), "float64"),
        ([Decimal("1.5"), None], "float64"),
        ([1, 2.5, Decimal(3)], "float64"),
        ([True, False], "bool"),
        ([True, None], "boolean"),
        (["2024-02-29", None], "datetime64[ns]"),
        (["2024-02-29T10:00:00+02:00", "2024-02-29"], "datetime64[ns]"),
        ([dt.date(2024, 2, 29), None], "datetime64[ns]"),
        (pd.to_datetime(["2024-02-29"]).as_unit("s"), "datetime64[ns]"),
        (pd.to_datetime(["2024-02-29"]).tz_localize("Europe/Warsaw"), "datetime64[ns]"),
        ([dt.timedelta(days=1), None], "timedelta64[ns]"),
        (pd.arrays.SparseArray([0, 0, 1]), "int64"),
    ],
)
def test_dtypes(cells, dtype):
    assert str(infer(pd.Series(cells)).dtype) == dtype


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["b", "a", None, "<i>ł</i>"], ["<i>ł</i>", "a", "b"]),
        (["NA", "None", "x"], ["NA", "None", "x"]),
        (["2024-02-30", "2024-02-29"], ["2024-02-29", "2024-02-30"]),
        (["2024-01-01", "unknown"], ["2024-01-01", "unknown"]),
        ([1, "a", None], ["1", "a"]),
        ([2**70, 3], ["1180591620717411303424", "3"]),
        ([dt.time(10), None], ["10:00:00"]),
        (pd.Categorical(["a", "b", None], categories=["c", "b", "a"]), ["a", "b"]),
        (pd.Categorical([2, "1", None, 1]), ["1", "2"]),
        (pd.Categorical([20, 3, None]), [3, 20]),
        (pd.period_range("2024-01", periods=2, freq="M"), ["2024-01", "2024-02"]),
    ],
)
def test_categories(cells, levels):
    column = infer(pd.Series(cells))
    assert column.cat.categories.tolist() == levels
    assert column.isna().tolist() == pd.Series(cells).isna().tolist()


def test_cells_of_several_types_keep_their_rows():
    assert infer(pd.Series([None, 1, "a", uuid.UUID(int=1)])).tolist()[1:] == [
        "1",
        "a",
        str(uuid.UUID(int=1)),
    ]


def test_categories_of_booleans_are_booleans():
    assert infer(pd.Series(pd.Categorical([True, None, False]))).tolist() == [True, pd.NA, False]


def test_zones_become_utc():
    column = infer(pd.Series(["2024-07-01T10:00:00+02:00", "2024-07-01 10:00"]))
    assert column.tolist() == [pd.Timestamp("2024-07-01 08:00"), pd.Timestamp("2024-07-01 10:00")]


def test_code_lists():
    assert infer(pd.Series([3, 1], dtype="int64"), code=True).cat.categories.tolist() == [1, 3]
    exact = infer(pd.Series([2**60 + 1, None], dtype="Int64"), code=True)
    assert exact.cat.categories.tolist() == [2**60 + 1]
    assert infer(pd.Series(["2024-01-01"]), code=True).cat.categories.tolist() == ["2024-01-01"]
    assert infer(pd.Series(["1", "NA"]), code=True).cat.categories.tolist() == ["1", "NA"]
    assert infer(pd.Series([True, False]), code=True).dtype == bool


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([["Ada"], None], "list"),
        ([{"Ada": 1}], "dict"),
        ([b"Ada"], "bytes"),
        ([("Ada", 1)], "tuple"),
        ([np.array(["Ada"])], "ndarray"),
        ([1 + 2j], "complex"),
        (["1815", "NA"], "data.missing"),
        (["1815.5", "12", "?"], "data.missing"),
        (["1815-12-10", "9999-12-31"], "1677"),
        ([dt.date(9999, 12, 31)], "1677"),
        (pd.Series(np.array(["9999-12-31"], dtype="datetime64[s]")), "1677"),
    ],
)
def test_refused_without_showing_cells(cells, says):
    with pytest.raises(InputError, match=says) as caught:
        infer(pd.Series(cells, name="who"))
    assert "'who'" in str(caught.value)
    for cell in ("Ada", "1815", "9999"):
        assert cell not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_empty_columns():
    assert infer(pd.Series([None, None])).isna().all()
    assert len(infer(pd.Series([], dtype=object))) == 0
    assert len(infer(pd.Series([], dtype="Int64"), code=True)) == 0


CELLS = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.booleans())


@given(st.lists(CELLS, max_size=8))
def test_missing_cells_and_length_are_kept_and_types_are_stable(cells):
    column = pd.Series(cells, dtype=object)
    try:
        once = infer(column)
    except InputError:
        return
    assert once.isna().tolist() == column.isna().tolist()
    twice = infer(once)
    pd.testing.assert_series_equal(once, twice)
    assert kind(once) in ("numeric", "categorical")


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_integers_stay_exact(cells):
    column = infer(pd.Series(cells, dtype=object))
    assert [None if v is None or pd.isna(v) else int(v) for v in column.tolist()] == cells


@example(["", "\0"])
@example(["a\0b", None, "a"])
@given(st.lists(st.one_of(st.none(), st.text())))
def test_category_keeps_values(cells):
    column = category(pd.Series(cells, dtype="string"))
    assert [None if pd.isna(v) else v for v in column.tolist()] == cells
    assert column.cat.categories.tolist() == sorted({c for c in cells if c is not None})
