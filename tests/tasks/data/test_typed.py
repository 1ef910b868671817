import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import typed
from synthrisk.tasks.workspace.files.csv import CODED, read_csv

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70],
        "zip": [1, 2, 1, 2, 3, 3],
        "income": ["low", "high", None, "low", "high", "low"],
        "who": ["Ada", "Bob", "Cy", "Di", "Ed", "Flo"],
    }
)


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
    assert list(table.columns) == ["zip", "income", "who"]
    assert table.zip.cat.categories.tolist() == [1, 2, 3]
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


def test_a_category_of_a_frame_is_none_of_texts():
    labels = pd.Series(pd.Categorical(["2024-02-29", "2024-02-28"]))
    frame = pd.DataFrame({"day": labels, "income": ["a", "b"]})
    frame.attrs[CODED] = ["income"]
    table = typed(frame, settings(quasi_identifiers=["day"], identifier=None), Split(folds=2))
    assert [str(dtype) for dtype in table.dtypes] == ["category", "category"]


def test_sample_is_seeded_and_keeps_the_order():
    frame = pd.DataFrame({"age": np.arange(1000), "income": np.arange(1000) % 7, "zip": 0})
    data = settings(identifier=None, rows=100)
    ages = [typed(frame, data, Split(), seed).age.tolist() for seed in (1, 1, 2)]
    assert ages[0] == ages[1] != ages[2]
    assert ages[0] == sorted(ages[0])
    assert len(set(ages[0])) == 100
    assert typed(frame, data, Split(), np.random.SeedSequence(5)).age.is_monotonic_increasing


def test_levels_outside_the_sample_are_gone():
    frame = pd.DataFrame({"age": [str(i) + "y" for i in range(500)], "income": np.arange(500) % 2, "zip": 0})
    assert typed(frame, settings(identifier=None, rows=50), Split()).age.cat.categories.size == 50


def test_all_problems_at_once():
    data = settings(
        quasi_identifiers=["agee", "zip"],
        sensitive=["incme"],
        categorical=["zpi"],
        identifier="whoo",
        drop=["x"],
        rows=9,
    )
    text = refused(FRAME, data, Split(stratify="regoin"))
    assert text.startswith("7 problems")
    for part in (
        "'agee' (did you mean 'age'?)",
        "'income'?",
        "'zip'?",
        "'who'?",
        "'x'",
        "'regoin'",
        "6 rows",
        "got 9",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("frame", "changes", "says"),
    [
        (FRAME.assign(income="low"), {}, "at least two different values, got one"),
        (FRAME.assign(income=[None, None, "low", "low", "low", "low"]), {}, "at least two different values"),
        (FRAME.assign(income=7.5), {}, "at least two different values"),
        (FRAME.assign(income=None), {}, "missing cells only"),
        (FRAME.assign(age=[1, 2, 3, 4, 5, np.inf]), {}, "finite"),
        (FRAME.assign(age=[["Ada"]] * 6), {}, "single values, got list"),
        (FRAME, {"drop": ["age"]}, "which data.drop drops"),
        (FRAME, {"quasi_identifiers": ["who", "age"]}, "data.identifier must be no column of"),
        (FRAME, {"identifier": "income"}, "data.identifier must be no column of data.sensitive"),
        (FRAME[["income", "who"]], {"quasi_identifiers": "*"}, "other than the sensitive"),
        (FRAME, {"quasi_identifiers": []}, "other than the sensitive"),
        (FRAME.rename(columns={"zip": "Unnamed: 1"}), {"quasi_identifiers": ["age"]}, "empty header"),
        (FRAME.iloc[:0], {}, "must hold rows"),
        (FRAME.iloc[:1], {}, "2 folds for 1 rows"),
        (FRAME.set_axis(["age", "zip", "age", "who"], axis=1), {}, "columns 1 and 3"),
        (FRAME.set_axis(["1", 1, "income", "who"], axis=1), {"quasi_identifiers": ["1"]}, "columns 1 and 2"),
        (pd.DataFrame(), {}, "must hold rows"),
    ],
)
def test_each_problem(frame, changes, says):
    assert says in refused(frame, settings(**changes))


def test_more_rows_than_there_are():
    assert "at most the 6 rows of the table, got 7" in refused(FRAME, settings(rows=7))


def test_folds_are_counted_after_sampling():
    assert "5 folds for 3 rows" in refused(FRAME, settings(rows=3), Split(folds=5))


def test_unhashable_categorical_and_missing_marker_are_told_together():
    frame = FRAME.assign(age=[{"Ada": 1}] * 6, zip=["1", "2", "NA", "3", "4", "5"])
    text = refused(frame, settings())
    assert "dict" in text
    assert "data.missing" in text


@pytest.mark.parametrize("told", [True, None, ["day"]])
def test_attributes_that_others_give_a_frame_say_nothing(told):
    frame = pd.DataFrame({"day": pd.Categorical(["2024-02-29", "2024-02-28"]), "income": ["a", "b"]})
    frame.attrs["coded"] = told
    table = typed(frame, settings(quasi_identifiers=["day"], identifier=None), Split(folds=2))
    assert [str(dtype) for dtype in table.dtypes] == ["category", "category"]
