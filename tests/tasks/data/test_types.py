import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import category, infer
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.data import typed
from synthrisk.tasks.workspace.files.csv import CODED, read_csv


@pytest.mark.parametrize(("cells", "dtype"), [
    ([1, 2], "int64"), (pd.array([1, None], dtype="Int64"), "float64"),
    (pd.array([2**60 + 1, None], dtype="Int64"), "Int64"), (pd.array([1, 2], dtype="UInt8"), "int64"),
    (np.array([1, 2], dtype="float32"), "float64"), (np.array([1.1, 2], dtype="float32"), "float32"),
    (pd.array([1.1, None], dtype="float[pyarrow]"), "float32"),
    (pd.array([np.timedelta64(1, "s"), None], dtype=object), "timedelta64[ns]"),
    (pd.array([1.5, None], dtype="Float64"), "float64"), ([Decimal("1.5"), None], "float64"),
    ([1, 2.5, Decimal(3)], "float64"), ([True, False], "bool"), ([True, None], "boolean"),
    (["2024-02-29", None], "datetime64[ns]"), (["2024-02-29T10:00:00+02:00", "2024-02-29"], "datetime64[ns]"),
    ([dt.date(2024, 2, 29), None], "datetime64[ns]"),
    (pd.to_datetime(["2024-02-29"]).as_unit("s"), "datetime64[ns]"),
    (pd.to_datetime(["2024-02-29"]).tz_localize("Europe/Warsaw"), "datetime64[ns]"),
    ([dt.timedelta(days=1), None], "timedelta64[ns]"), (pd.arrays.SparseArray([0, 0, 1]), "int64"),
])  # fmt: skip
def test_dtypes(cells, dtype):
    assert str(infer(pd.Series(cells)).dtype) == dtype


@pytest.mark.parametrize(("cells", "levels"), [
    (["b", "a", None, "<i>ł</i>"], ["<i>ł</i>", "a", "b"]), (["NA", "None", "x"], ["NA", "None", "x"]),
    (["2024-02-30", "2024-02-29"], ["2024-02-29", "2024-02-30"]),
    (["2024-01-01", "unknown"], ["2024-01-01", "unknown"]), ([1, "a", None], ["1", "a"]),
    (["m", "f ", "m ", None], ["f", "m"]), (["m ", "f "], ["f ", "m "]),
    ([2**70, 3], ["1180591620717411303424", "3"]), ([dt.time(10), None], ["10:00:00"]),
    (pd.Categorical(["a", "b", None], categories=["c", "b", "a"]), ["a", "b"]),
    (pd.Categorical([2, "1", None, 1]), ["1", "2"]), (pd.Categorical([20, 3, None]), [3, 20]),
    (pd.period_range("2024-01", periods=2, freq="M"), ["2024-01", "2024-02"]),
])  # fmt: skip
def test_categories(cells, levels):
    column = infer(pd.Series(cells))
    assert (column.cat.categories.tolist(), column.isna().tolist()) == (levels, pd.Series(cells).isna().tolist())


def test_cells_of_several_types_keep_their_rows_zones_become_utc_and_nothing_is_nothing():
    assert infer(pd.Series([None, 1, "a", uuid.UUID(int=1)])).tolist()[1:] == ["1", "a", str(uuid.UUID(int=1))]
    assert infer(pd.Series(pd.Categorical([True, None, False]))).tolist() == [True, pd.NA, False]
    column = infer(pd.Series(["2024-07-01T10:00:00+02:00", "2024-07-01 10:00"]))
    assert column.tolist() == [pd.Timestamp("2024-07-01 08:00"), pd.Timestamp("2024-07-01 10:00")]
    assert infer(pd.Series([None, None])).isna().all()
    assert (len(infer(pd.Series([], dtype=object))), len(infer(pd.Series([], dtype="Int64"), code=True))) == (0, 0)


@pytest.mark.parametrize(
    ("cells", "levels"),
    [([3, 1], [1, 3]), (pd.array([2**60 + 1, None], dtype="Int64"), [2**60 + 1])]
    + [(texts, texts) for texts in (["2024-01-01"], ["1", "NA"])],
)
def test_code_lists(cells, levels):
    assert infer(pd.Series(cells), code=True).cat.categories.tolist() == levels
    assert infer(pd.Series([True, False]), code=True).dtype == bool


@pytest.mark.parametrize(("cells", "says"), [
    ([["Ada"], None], "list"), ([{"Ada": 1}], "dict"), ([b"Ada"], "bytes"), ([("Ada", 1)], "tuple"),
    ([np.array(["Ada"])], "ndarray"), ([1 + 2j], "complex"), (["1815", "NA"], "data.missing"),
    (["1815.5", "12", "?"], "data.missing"), (["1815-12-10", "9999-12-31"], "1677"),
    ([dt.date(9999, 12, 31)], "1677"), (pd.Series(np.array(["9999-12-31"], dtype="datetime64[s]")), "1677"),
])  # fmt: skip
def test_refused_without_showing_cells(cells, says):
    with pytest.raises(InputError, match=says) as caught:
        infer(pd.Series(cells, name="who"))
    assert "'who'" in str(caught.value)
    for cell in ("Ada", "1815", "9999"):
        assert cell not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


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


FRAME = pd.DataFrame({
    "age": [20, 30, 40, 50, 60, 70], "zip": [1, 2, 1, 2, 3, 3], "income": ["low", "high", None, "low", "high", "low"],
    "who": ["Ada", "Bob", "Cy", "Di", "Ed", "Flo"],
})  # fmt: skip


def settings(**changes):
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["income"], "identifier": "who"}
    return Data(**{"source": "adult", **roles, **changes})


def refused(frame, data, split=None):
    with pytest.raises(InputError) as caught:
        typed(frame, data, split or Split(folds=2))
    text = str(caught.value)
    assert "\n" not in text
    for cell in ("Ada", "Flo", "low"):
        assert cell not in text
    return text


def test_columns_and_types():
    table = typed(FRAME, settings(categorical=["zip"], drop=["age"], quasi_identifiers=["zip"]), Split())
    assert (list(table.columns), table.zip.cat.categories.tolist()) == (["zip", "income", "who"], [1, 2, 3])
    assert isinstance(table.index, pd.RangeIndex)


def test_the_source_is_not_changed():
    before = FRAME.copy()
    typed(FRAME, settings(categorical=["zip"], rows=5), Split(folds=2))
    pd.testing.assert_frame_equal(FRAME, before)
    given = pd.DataFrame({1: [1.5, 2.5], "b": ["x", "y"]}, index=[7, 8])
    table = typed(given, settings(quasi_identifiers=["1"], sensitive=["b"], identifier=None), Split(folds=2))
    table.iloc[:, 0] = 0.0
    assert (given.columns.tolist(), given.index.tolist(), given[1].tolist()) == ([1, "b"], [7, 8], [1.5, 2.5])


def test_texts_that_were_read_as_codes_are_typed_as_texts():
    raw = b"day,zip,income,who\n2024-02-29,01,high,Bob\n2024-02-28,2,,Ada\n2024-02-29,3,low,Cy\n"
    plain, coded = (read_csv(raw, "x.csv", coded=coded) for coded in (False, True))
    data = settings(quasi_identifiers=["day"], categorical=["zip"])
    assert isinstance(coded["day"].dtype, pd.CategoricalDtype)
    pd.testing.assert_frame_equal(typed(coded, data, Split(folds=2)), typed(plain, data, Split(folds=2)))
    assert typed(coded, data, Split(folds=2))["day"].dtype.kind == "M"
    marked = read_csv(raw.replace(b"01", b"NA"), "x.csv", coded=True)
    assert "'zip' holds numbers and the text 'NA'" in refused(marked, settings(quasi_identifiers=["day"]))


@pytest.mark.parametrize(("name", "told"), [(CODED, ["income"]), ("coded", True), ("coded", None), ("coded", ["day"])])
def test_a_category_of_a_frame_is_none_of_texts_whatever_attributes_others_give_it(name, told):
    frame = pd.DataFrame({"day": pd.Categorical(["2024-02-29", "2024-02-28"]), "income": ["a", "b"]})
    frame.attrs[name] = told
    table = typed(frame, settings(quasi_identifiers=["day"], identifier=None), Split(folds=2))
    assert [str(dtype) for dtype in table.dtypes] == ["category", "category"]


def test_a_sample_is_seeded_keeps_the_order_and_only_its_levels():
    frame = pd.DataFrame({"age": np.arange(1000), "income": np.arange(1000) % 7, "zip": 0})
    data = settings(identifier=None, rows=100)
    ages = [typed(frame, data, Split(), seed).age.tolist() for seed in (1, 1, 2)]
    assert ages[0] == ages[1] != ages[2]
    assert (ages[0], len(set(ages[0]))) == (sorted(ages[0]), 100)
    assert typed(frame, data, Split(), np.random.SeedSequence(5)).age.is_monotonic_increasing
    frame = pd.DataFrame({"age": [str(i) + "y" for i in range(500)], "income": np.arange(500) % 2, "zip": 0})
    assert typed(frame, settings(identifier=None, rows=50), Split()).age.cat.categories.size == 50


def test_all_problems_at_once():
    wrong = {"quasi_identifiers": ["agee", "zip"], "sensitive": ["incme"], "categorical": ["zpi"]}
    text = refused(FRAME, settings(**wrong, identifier="whoo", drop=["x"], rows=9), Split(stratify="regoin"))
    assert text.startswith("7 problems")
    told = "'agee' (did you mean 'age'?)", "'income'?", "'zip'?", "'who'?", "'x'", "'regoin'", "6 rows", "got 9"
    assert [part for part in told if part not in text] == []
    frame = FRAME.assign(age=[{"Ada": 1}] * 6, zip=["1", "2", "NA", "3", "4", "5"])
    text = refused(frame, settings())
    assert [each for each in ("dict", "data.missing") if each not in text] == []
    assert "5 folds for 3 rows" in refused(FRAME, settings(rows=3), Split(folds=5))


@pytest.mark.parametrize(("frame", "changes", "says"), [
    (FRAME.assign(income=7.5), {}, "at least two different values"),
    (FRAME, {"drop": ["age"]}, "which data.drop drops"),  # a quasi-identifier
    (FRAME.iloc[:0], {}, "must hold rows"), (pd.DataFrame(), {}, "must hold rows"),
    (FRAME.set_axis(["age", "zip", "age", "who"], axis=1), {}, "columns 1 and 3"),
    (FRAME.set_axis(["1", 1, "income", "who"], axis=1), {"quasi_identifiers": ["1"]}, "columns 1 and 2"),
])  # fmt: skip
def test_each_problem_that_no_command_line_of_the_bad_inputs_has(frame, changes, says):
    assert says in refused(frame, settings(**changes))
