import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.conform import conform, is_like
from synthrisk.tasks.workspace.files.fitted_cells import kind_of


def one(cells: object, like: pd.Series) -> pd.Series:
    return conform(pd.DataFrame({"x": cells}), pd.DataFrame({"x": like}), "release")["x"]


ROUND_TRIPS = {
    "int": pd.Series([1, -2, 2**53 + 1]), "uint64": pd.Series([1, 2**64 - 1], dtype="uint64"),
    "int8": pd.Series([1, -128], dtype="int8"), "Int64": pd.Series([1, None, 2**53 + 1], dtype="Int64"),
    "float": pd.Series([0.1, np.nan, 1e300, np.inf]), "float32": pd.Series([0.5, np.nan], dtype="float32"),
    "Float64": pd.Series([0.1, None], dtype="Float64"), "bool": pd.Series([True, False]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "truth as object": pd.Series([True, np.nan, False], dtype=object),
    "object": pd.Series(['a "quoted", ü', "it's\nhere", "日本", "007", " padded "]),
    "string": pd.Series(["a", "b"], dtype="string"),
    "category": pd.Series(pd.Categorical(["b", None], ["unused", "b", "a"], ordered=True)),
    "code list": pd.Series(pd.Categorical([1, 2, None])), "float codes": pd.Series(pd.Categorical([1.5, 2.0])),
    "truth codes": pd.Series(pd.Categorical([True, False, None])),
    "date codes": pd.Series(pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"]))),
    "date": pd.Series(pd.to_datetime(["2020-01-01", None, "2020-02-29 12:34:56.789"], format="ISO8601")),
    "seconds": pd.Series(pd.to_datetime(["2020-01-01", None])).astype("M8[s]"),
    "zoned": pd.Series(pd.date_range("2020-03-28 22:00", periods=8, freq="h", tz="Europe/Vienna")),
    "duration": pd.Series(pd.to_timedelta([1, 10**9], "s")), "nothing": pd.Series([np.nan, np.nan]),
}  # fmt: skip


@pytest.mark.parametrize("column", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_a_table_comes_back_from_text_and_of_the_right_types_stays_as_it_is(column):
    text = column.astype(object).map(lambda cell: None if pd.isna(cell) else str(cell))
    for cells in (text, column, column.astype(object)):
        pd.testing.assert_series_equal(one(cells, column), column, check_names=False)


def test_columns_are_ordered_and_rows_numbered():
    like = pd.DataFrame({"a": [1], "b": ["x"]})
    frame = pd.DataFrame({"b": ["y", "z"], "a": [3, 4]}, index=[7, 7])
    pd.testing.assert_frame_equal(conform(frame, like, "release"), pd.DataFrame({"a": [3, 4], "b": ["y", "z"]}))
    assert list(frame.columns) == ["b", "a"]


def test_unseen_categories_are_added_behind_and_others_get_the_order_of_the_real_column():
    like = pd.Series(pd.Categorical(["a"], ["z", "a"], ordered=True))
    got = one(["new", "a", None], like)
    assert (got.cat.categories.tolist(), got.cat.ordered) == (["z", "a", "new"], True)
    assert is_like(got.dtype, like.dtype)
    assert one(["3", "1"], pd.Series(pd.Categorical([1, 2]))).cat.categories.tolist() == [1, 2, 3]
    like = pd.Series(pd.Categorical(["a"], ["b", "a"]))
    got = one(pd.Categorical(["a", None, "b"], ["a", "b"]), like)
    assert is_like(got.dtype, like.dtype)
    assert got.tolist()[::2] == ["a", "b"]
    got = one(pd.Categorical(["z", "b", "y"], ["b", "unused", "y", "z"]), like)
    assert got.cat.categories.tolist() == ["b", "a", "z", "y"], "unseen ones as they appear, as those of texts"


@pytest.mark.parametrize("levels", [["a", "b"], ["a", "b", "a\0c"]])
def test_texts_that_differ_after_a_nul_character_are_kept(levels):
    cells = ["a", "a\0b", "b", "c\0d", "c", None, "a\0c"]
    got = one(cells, pd.Series(pd.Categorical(["a"], levels)))
    assert got.astype(object).where(got.notna(), None).tolist() == cells
    assert got.cat.categories.tolist() == list(dict.fromkeys([*levels, "a\0b", "c\0d", "c", "a\0c"]))


def test_cells_become_what_the_real_column_holds():
    assert one(pd.Categorical(["1", None]), pd.Series([0.5])).tolist()[0] == 1.0
    assert one(pd.Categorical([1, None]), pd.Series([1, 2])).tolist() == [1, pd.NA]
    assert one(pd.Categorical(["u", "v"]), pd.Series(["a"])).tolist() == ["u", "v"]
    assert one([1, 2], pd.Series(["1", "2"])).tolist() == ["1", "2"]
    assert one([1.0, np.nan], pd.Series(["1", None])).tolist()[0] == "1"
    assert one([1.5], pd.Series(["a", "2"], dtype="string")).tolist() == ["1.5"]
    whole, truth = one(["5", ""], pd.Series([1, 2])), one([True, None], pd.Series([True, False]))
    assert (whole.dtype, truth.dtype) == (pd.Int64Dtype(), pd.BooleanDtype())
    assert is_like(whole.dtype, np.dtype("int64"))
    assert one(["NA", "1.5", " nan "], pd.Series([0.5])).isna().tolist() == [True, False, True]
    assert one(["NaT", "2020-01-01"], ROUND_TRIPS["date"]).isna().tolist() == [True, False]
    assert one(["NA", "None"], pd.Series(["a"])).tolist() == ["NA", "None"]
    assert one([date(2020, 1, 2)], ROUND_TRIPS["date"]).tolist() == [pd.Timestamp("2020-01-02")]


@pytest.mark.parametrize("cells", [[1.5, 2], ["1.5", " 2 "], pd.array([1.5, 2], dtype="Float64")])
@pytest.mark.parametrize("like", [pd.Series([1]), pd.Series([1], dtype="Int64"), pd.Series([1], dtype="uint8")])
def test_decimals_stay_where_the_real_column_holds_whole_numbers(cells, like):
    found = one(cells, like)
    assert (found.tolist(), found.dtype) == ([1.5, 2.0], np.dtype("float64"))
    assert is_like(found.dtype, like.dtype)
    assert one([2.0, 300.0][: 1 + (like.dtype != "uint8")], like).dtype == like.dtype


@pytest.mark.parametrize(("cells", "like"), [
    *((["secret"], pd.Series(like)) for like in ([1], [0.5], [True], pd.Categorical([1, 2]))),
    *(([cell], ROUND_TRIPS["date"]) for cell in ("secret", "01/02/2020", 20200101)),
    *(([cell], ROUND_TRIPS["duration"]) for cell in ("secret", 5)), ([np.inf], pd.Series([1])),
    ([300], pd.Series([1], dtype="int8")), ([-1], pd.Series([1], dtype="uint64")), ([2], pd.Series([True])),
    (pd.to_datetime(["2020-01-01"]), pd.Series([1.0])),
])  # fmt: skip
def test_what_cannot_be_cast_is_named_without_showing_it(cells, like):
    rule = f"release: column 'x' must hold {kind_of(like)} as the real table does, got cells that are not"
    with pytest.raises(InputError) as caught:
        one(cells, like)
    assert str(caught.value).startswith(rule)
    assert not {"secret", "dtype", "int64", "object"} & set(str(caught.value).split())
    assert "--drop x" in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("kind", ["category", "object", "string"])
def test_numbers_alone_are_codes_where_the_real_column_has_texts_that_differ_from_them_in_more_than_blanks(kind):
    for cells in ([0, 1], [1.0, None], ["0", "1"]):
        with pytest.raises(InputError, match="column 'x' must hold texts as the real table does, got numbers only"):
            one(cells, pd.Series(["cook", "nurse"], dtype=kind))
    grouped = pd.Series(["1234 010190", "1235 020285"], dtype=kind)
    assert one(["1234010190", "1235020285"], grouped).tolist() == ["1234010190", "1235020285"]
    assert one(["1", "2"], pd.Series(["1", "b"], dtype=kind)).tolist() == ["1", "2"]
    assert one([1, "b"], pd.Series(["a", "b"], dtype=kind)).tolist() == ["1", "b"]
    assert one([None, None], pd.Series(["a", "b"], dtype=kind)).isna().all()


@pytest.mark.parametrize(("names", "sentence"), [
    (["age", "vot"], r"absent: \['vote'\], extra: column 2 \(nearly 'vote'"),
    (["age", "vote", "id"], r"absent: none, extra: column 3$"),
    (["Graz", "vote", "Linz", "Wien"], r"absent: \['age'\], extra: columns 1, 3 and 4; rename it, or leave"),
    (["age", "vote", "age"], "every column once, got 'age' twice"),
])  # fmt: skip
def test_wrong_columns_are_named(names, sentence):
    like = pd.DataFrame({"age": [1], "vote": ["a"]})
    with pytest.raises(InputError, match=sentence) as told:
        conform(pd.DataFrame([[1] * len(names)], columns=names), like, "release")
    assert "Graz" not in str(told.value)


def test_each_text_is_cast_once_however_many_cells_hold_it(monkeypatch):
    cast = []
    module = sys.modules[conform.__module__]
    monkeypatch.setattr(module, "_text", lambda cell: (cast.append(cell), str(cell))[1])
    like = pd.DataFrame({"vote": pd.Categorical(["a", "b"])})
    column = pd.Series(["c", None, "a\0", "a", "c"] * 100, dtype=object)
    found = conform(pd.DataFrame({"vote": column}), like, "release")["vote"]
    assert found.cat.categories.tolist() == ["a", "b", "c", "a\0"]
    assert found.astype(object).where(found.notna(), None).tolist() == column.tolist()
    assert sorted(cast) == ["a", "a\0", "c"]
