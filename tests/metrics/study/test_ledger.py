"""Rows of the ledger: columns, types, membership, texts, and the way to Parquet and back."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.score import Score
from synthrisk.metrics.study.ledger import COLUMNS, Cell, Measure, Planned, as_frame, ledger_of, ledger_rows
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.tasks.workspace.records import write_records

REAL = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", None, "b"], "pay": [1.0, np.nan, 3.0, 40.0]})
RELEASE = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"], "pay": [1.0, 2.0, 3.0, 4.0]})
MEMBER = pd.array([True, True, False, pd.NA], dtype="boolean")
CAP = Measure("cap", "categorical_cap", "vote")
FLOATS = ("confidence", "score", "baseline", "gain", "error", "distance", "weight", "placement")
TEXTS = ("metric", "attacker", "sensitive", "guessed", "truth")


def framed(*of):
    """Return the rows of a measure as pandas has them."""
    return as_frame(ledger_of([ledger_rows(*of)]))


def rows_of_cap(real=REAL):
    score = METRICS["categorical_cap"](real, RELEASE, quasi_identifiers=["age"], sensitive="vote")
    return framed(score, CAP, MEMBER, real["vote"])


def test_columns_and_types():
    rows = rows_of_cap()
    assert (tuple(rows.columns), rows["record"].dtype, rows["record"].tolist()) == (COLUMNS, np.int64, [0, 1, 2, 3])
    assert {str(rows[c].dtype) for c in ("member", "at_risk")} == {"boolean"}
    assert {str(rows[c].dtype) for c in TEXTS} == {"string"}
    assert ({str(rows[c].dtype) for c in FLOATS}, rows["claim"].dtype) == ({"float64"}, bool)


def test_members_controls_and_neither():
    rows = rows_of_cap()
    assert rows["member"].tolist()[:3] == [True, True, False]
    assert rows["member"].isna().tolist() == [False, False, False, True]


def test_an_unseen_key_is_not_scored_and_makes_no_claim():
    rows = rows_of_cap()  # nobody of 50 in the release
    assert rows["score"].tolist()[:3] == [1.0, 0.0, 0.0]
    assert np.isnan(rows["score"][3])
    assert rows["claim"].tolist() == [True, True, True, False]
    assert rows["attacker"].isna().all()
    assert rows["guessed"].isna().all()


def test_texts_of_truth_keep_missing_missing():
    rows = rows_of_cap()
    assert (rows["truth"].tolist()[:2], rows["truth"].isna().tolist()) == (["a", "b"], [False, False, True, False])
    as_category = framed(
        Score("m", 0.0, 0.0, pd.DataFrame({"score": [0.0] * 4})), CAP, MEMBER, REAL["vote"].astype("category")
    )
    assert as_category["truth"].equals(rows["truth"])
    nothing = framed(Score("m", 0.0, 0.0, pd.DataFrame({"score": [0.0] * 4})), Measure("d", "m"), MEMBER, None)
    assert nothing["truth"].isna().all()
    assert nothing["sensitive"].isna().all()


def test_any_index_of_the_real_table_will_do():
    odd = REAL.set_axis(["x", "x", "y", "z"])
    pd.testing.assert_frame_equal(rows_of_cap(odd), rows_of_cap())


def test_what_a_metric_says_of_a_record_is_copied():
    said = pd.DataFrame(
        {
            "score": [1.0, 0.0, np.nan, 1.0],
            "at_risk": [True, False, False, True],
            "gain": [0.9, 0.1, np.nan, 0.5],
            "confidence": [0.95, 0.2, np.nan, 0.6],
            "guessed": ["a", "a", None, 3],
        }
    )
    measure = Measure("rapid-logistic", "rapid", "vote", "logistic")
    rows = framed(Score("rapid", 0.5, 0.5, said), measure, MEMBER, REAL["vote"])
    for name in ("score", "gain", "confidence"):
        np.testing.assert_array_equal(rows[name], said[name])
    assert (rows["guessed"].tolist()[:2], rows["guessed"][3]) == (["a", "a"], "3")
    assert rows["guessed"].isna()[2]
    assert (rows["at_risk"].tolist(), set(rows["attacker"])) == ([True, False, False, True], {"logistic"})
    assert set(rows["metric"]) == {"rapid-logistic"}
    assert rows["distance"].isna().all()


def test_a_metric_without_records_has_no_rows():
    with pytest.raises(ValueError, match="no per-record form"):
        ledger_rows(Score("auc", 0.5, 0.5), CAP, MEMBER, None)


def test_keys():
    assert (CAP.key, Measure("distance", "distance_to_closest_record").key) == ("cap.vote", "distance")


def test_a_release_attacked_by_several_measures_goes_to_parquet_and_back(tmp_path):
    numeric = Measure("rapid", "rapid", "pay", "linear")
    planned = [
        Planned(CAP, {"quasi_identifiers": ["age"], "sensitive": "vote"}),
        Planned(numeric, {"quasi_identifiers": ["age"], "sensitive": "pay", "attacker": "linear"}),
        Planned(Measure("distance", "distance_to_closest_record")),
    ]
    rows, values = attack_release(REAL, RELEASE, MEMBER, planned, 1, Cell("cart", 0, 0))
    assert (len(rows), set(values)) == (12, {"cap.vote", "rapid.pay", "distance"})
    assert np.isnan(rows.loc[rows["metric"] == "rapid", "score"].to_numpy()[1])  # pay is missing: not scored
    rows.to_parquet(tmp_path / "ledger.parquet", compression="zstd")
    texts = dict.fromkeys(rows.select_dtypes("string"), "string")  # read as pandas keeps them, not as Arrow does
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "ledger.parquet"), rows.astype(texts))
    again, _ = attack_release(REAL, RELEASE, MEMBER, planned[::-1], 1, Cell("cart", 0, 0))
    for each in planned:
        mine = [r.loc[r["metric"] == each.measure.label].reset_index(drop=True) for r in (rows, again)]
        pd.testing.assert_frame_equal(*mine)


def test_a_record_that_is_not_scored_is_not_said_to_be_safe():
    planned = [
        Planned(
            Measure("rapid", "rapid", "pay"), {"quasi_identifiers": ["age"], "sensitive": "pay", "attacker": "linear"}
        )
    ]
    rows, _ = attack_release(REAL, RELEASE, MEMBER, planned, 1, Cell("cart", 0, 0))
    assert rows["at_risk"].isna().tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    "truth",
    [
        pd.Series(["a", None, "a\0b", "a"], dtype=object),
        pd.Series(pd.Categorical(["x", None, "y", "x"])),
        pd.Series(pd.Categorical([20, None, 3, 20])),
        pd.Series(pd.Categorical([0.1 + 0.2, None, 1.0, 1e300])),
        pd.Series(pd.Categorical([1, "1", None, "ü"])),
        pd.Series([pd.NA, "a", float("nan"), 2], dtype=object),
        pd.Series(pd.Categorical([None] * 4)),
        pd.Series([1, True, "1", None], dtype=object),
        pd.Series([0.5, np.nan, 2.0, 1e-7]),
        pd.Series([None] * 4, dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-01"])),
    ],
    ids=[
        "texts",
        "levels",
        "codes",
        "numbers as levels",
        "levels of one text",
        "mixed and missing",
        "no levels",
        "mixed",
        "numbers",
        "nothing",
        "dates",
    ],
)
def test_truth_is_the_text_of_each_cell(truth):
    score = Score("zero_cap", 0.5, 0.5, pd.DataFrame({"score": [1.0, 0.0, 1.0, 0.0]}))
    member = pd.array([True] * 4, dtype="boolean")
    rows = framed(score, Measure("cap", "zero_cap", "vote"), member, truth)
    expected = [pd.NA if pd.isna(cell) else str(cell) for cell in truth.astype(object)]
    assert (rows["truth"].dtype, rows["truth"].tolist()) == ("string", expected)
    assert rows["metric"].tolist() == ["cap"] * 4
    assert rows["attacker"].isna().all()


def test_each_measure_has_its_own_columns_and_those_of_others_are_missing(tmp_path):
    def rows(label, said, kept):
        score = Score("m", 0.5, 0.5, pd.DataFrame(said))
        return ledger_rows(score, Measure(label, "m"), MEMBER, None, kept)

    parts = [
        rows("one", {"score": [1.0, 0.0, np.nan, -0.0], "depth": [1, 2, 3, 4]}, ["depth"]),
        rows("two", {"score": [0.0] * 4, "width": [0.5] * 4}, ["score", "width"]),
    ]
    ledger = as_frame(ledger_of(parts))
    assert list(ledger.columns) == [*COLUMNS, "depth", "width"]
    assert ledger.dtypes[["depth", "width"]].tolist() == [np.float64] * 2
    assert ledger["depth"].tolist()[:4] == [1.0, 2.0, 3.0, 4.0]
    assert ledger["depth"].isna().tolist() == [False] * 4 + [True] * 4
    assert ledger["claim"].tolist() == [True, True, False, True] + [True] * 4
    assert np.signbit(ledger["score"][3])
    assert ledger["metric"].tolist() == ["one"] * 4 + ["two"] * 4
    write_records(ledger_of(parts), tmp_path / "ledger.parquet", 4)
    texts = dict.fromkeys(TEXTS, "string")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "ledger.parquet"), ledger.astype(texts), check_exact=True)


def test_a_ledger_without_rows_has_its_columns_with_their_types():
    nothing = as_frame(ledger_of([]))
    assert list(nothing.columns) == list(COLUMNS)
    assert nothing.dtypes.astype(str).tolist() == rows_of_cap().dtypes.astype(str).tolist()
