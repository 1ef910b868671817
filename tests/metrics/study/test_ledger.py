"""Rows of the ledger: columns, types, membership, texts, and the way to Parquet and back."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from samples.findings import Kept
from synthrisk.metrics import METRICS
from synthrisk.metrics.score import Ceiling, Score
from synthrisk.metrics.study.estimation import Releases, attacked_records
from synthrisk.metrics.study.ledger import (
    COLUMNS,
    Cell,
    Measure,
    OfIsolation,
    OfRecords,
    OfRelease,
    OfUtility,
    Planned,
    Reasons,
    as_frame,
    ledger_of,
    ledger_rows,
    values_as_plain,
    values_from_plain,
)
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


def test_columns_and_types_members_controls_and_neither():
    rows = rows_of_cap()
    assert (tuple(rows.columns), rows["record"].dtype, rows["claim"].dtype) == (COLUMNS, np.int64, bool)
    assert rows["record"].tolist() == [0, 1, 2, 3]
    types = [{str(rows[c].dtype) for c in own} for own in (("member", "at_risk"), TEXTS, FLOATS)]
    assert types == [{"boolean"}, {"string"}, {"float64"}]
    pd.testing.assert_series_equal(rows["member"], pd.Series(MEMBER, name="member"))
    pd.testing.assert_frame_equal(rows_of_cap(REAL.set_axis(["x", "x", "y", "z"])), rows)  # any index will do


def test_an_unseen_key_is_not_scored_and_makes_no_claim():
    rows = rows_of_cap()  # nobody of 50 in the release
    np.testing.assert_array_equal(rows["score"], [1.0, 0.0, 0.0, np.nan])
    assert rows["claim"].tolist() == [True, True, True, False]
    assert rows[["attacker", "guessed"]].isna().all(axis=None)
    nothing = framed(Score("m", 0.0, 0.0, pd.DataFrame({"score": [0.0] * 4})), Measure("d", "m"), MEMBER, None)
    assert nothing[["truth", "sensitive"]].isna().all(axis=None)


def test_what_a_metric_says_of_a_record_is_copied():
    gains, sure = [0.9, 0.1, np.nan, 0.5], [0.95, 0.2, np.nan, 0.6]
    said = pd.DataFrame({"score": [1.0, 0.0, np.nan, 1.0], "gain": gains, "confidence": sure})
    said = said.assign(at_risk=[True, False, False, True], guessed=["a", "a", None, 3])
    measure = Measure("rapid-logistic", "rapid", "vote", "logistic")
    rows = framed(Score("rapid", 0.5, 0.5, said), measure, MEMBER, REAL["vote"])
    for name in ("score", "gain", "confidence"):
        np.testing.assert_array_equal(rows[name], said[name])
    assert rows["guessed"].tolist() == ["a", "a", pd.NA, "3"]
    assert (rows["at_risk"].tolist(), set(rows["attacker"])) == ([True, False, False, True], {"logistic"})
    assert (set(rows["metric"]), rows["distance"].isna().all()) == ({"rapid-logistic"}, True)
    with pytest.raises(ValueError, match="no per-record form"):
        ledger_rows(Score("auc", 0.5, 0.5), CAP, MEMBER, None)
    assert (CAP.key, Measure("distance", "distance_to_closest_record").key) == ("cap.vote", "distance")


def test_a_release_attacked_by_several_measures_goes_to_parquet_and_back(tmp_path):
    numeric, keys = Measure("rapid", "rapid", "pay", "linear"), {"quasi_identifiers": ["age"]}
    planned = [
        Planned(CAP, keys | {"sensitive": "vote"}),
        Planned(numeric, keys | {"sensitive": "pay", "attacker": "linear"}),
        Planned(Measure("distance", "distance_to_closest_record")),
    ]
    rows, values = attack_release(REAL, RELEASE, MEMBER, planned, 1, Cell("cart", 0, 0))
    assert (len(rows), set(values)) == (12, {"cap.vote", "rapid.pay", "distance"})
    pay = rows[rows["metric"] == "rapid"].reset_index()
    assert np.isnan(pay["score"][1])  # pay is missing: not scored, and not said to be safe
    assert pay["at_risk"].isna().tolist() == [False, True, False, False]
    rows.to_parquet(tmp_path / "ledger.parquet", compression="zstd")
    texts = dict.fromkeys(rows.select_dtypes("string"), "string")  # read as pandas keeps them, not as Arrow does
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "ledger.parquet"), rows.astype(texts))
    again, _ = attack_release(REAL, RELEASE, MEMBER, planned[::-1], 1, Cell("cart", 0, 0))
    for each in planned:
        mine = [r.loc[r["metric"] == each.measure.label].reset_index(drop=True) for r in (rows, again)]
        pd.testing.assert_frame_equal(*mine)


TRUTHS = {
    "texts": ["a", None, "a\0b", "a"],
    "levels": pd.Categorical(["x", None, "y", "x"]),
    "codes": pd.Categorical([20, None, 3, 20]),
    "numbers as levels": pd.Categorical([0.1 + 0.2, None, 1.0, 1e300]),
    "levels of one text": pd.Categorical([1, "1", None, "ü"]),
    "mixed and missing": [pd.NA, "a", float("nan"), 2],
    "no levels": pd.Categorical([None] * 4),
    "mixed": [1, True, "1", None],
    "numbers": np.array([0.5, np.nan, 2.0, 1e-7]),
    "nothing": [None] * 4,
    "dates": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-01"]),
}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_truth_is_the_text_of_each_cell(truth):
    truth = pd.Series(truth, dtype=object if isinstance(truth, list) else None)
    score = Score("zero_cap", 0.5, 0.5, pd.DataFrame({"score": [1.0, 0.0, 1.0, 0.0]}))
    rows = framed(score, Measure("cap", "zero_cap", "vote"), pd.array([True] * 4, dtype="boolean"), truth)
    expected = [pd.NA if pd.isna(cell) else str(cell) for cell in truth.astype(object)]
    assert (rows["truth"].dtype, rows["truth"].tolist()) == ("string", expected)
    assert (rows["metric"].tolist(), rows["attacker"].isna().all()) == (["cap"] * 4, True)


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
    np.testing.assert_array_equal(ledger["depth"], [1, 2, 3, 4, *[np.nan] * 4])
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


SAID = {
    "cap.vote": OfRecords({"guess": 0.1 + 0.2}, {"guess": 1 / 3}, {}, True, Reasons("no member"), "read with care"),
    "nndr": OfRelease(0.5, 0.25, 1 / 7, 0.0, {"smallest": 1e-300}, Reasons(difference="too few")),
    "two": OfIsolation(0.5, {"isolated": 3.0}),
    "coverage": OfUtility(0.5, {"columns": 2.0}, Ceiling(0.75, 0.5, 8.0, {"columns": 2.0})),
    "accuracy": OfUtility(0.5, reason="no query has an answer"),
}


def test_each_kind_of_what_is_said_comes_back_from_json_to_the_last_bit():
    plain = json.loads(json.dumps(values_as_plain(SAID)))
    assert values_from_plain(plain) == SAID
    assert [each["kind"] for each in plain.values()] == [type(each).__name__ for each in SAID.values()]
    none = {"nndr": replace(SAID["nndr"], control=float("nan"))}  # and not as zero
    assert np.isnan(values_from_plain(json.loads(json.dumps(values_as_plain(none))))["nndr"].control)
    with pytest.raises(KeyError, match="OfNothing"):
        values_from_plain({"x": {"kind": "OfNothing"}})


def people(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 4, n), "pay": rng.normal(size=n).round(1)})
    return frame.assign(vote=np.where(rng.random(n) < 0.4, "yes", "no"))


def measured(name, sensitive=None, **options):
    roles = {} if sensitive is None else {"quasi_identifiers": ["a"], "sensitive": sensitive}
    return Planned(Measure(name, name, sensitive), roles | options)


MEASURED = [
    *(measured("rapid", sensitive, attacker="cart") for sensitive in ("vote", "pay")),
    *(measured(name) for name in ("singling_out", "membership", "membership_inference_risk")),
    *(measured(name, "vote") for name in ("inference", "zero_cap")),
]


def test_limits_p_values_and_curves_of_our_metrics_are_declared_to_have_no_mean():
    member = pd.array([True] * 24 + [False] * 16, dtype="boolean")
    _, values = attack_release(people(0), people(1, 25), member, MEASURED, 1, Cell("cart", 0, 0))
    for planned in MEASURED:
        said = values[planned.measure.key]
        details = said.all if isinstance(said, OfRecords) else said.details
        of_one = {n for n in details if n.endswith(("_lower", "_upper", "_p_value")) or "curve_" in n}
        assert of_one <= set(METRICS[planned.measure.metric].study.unaveraged)
    told = [(values[p.measure.key].gains, values[p.measure.key].errors) for p in MEASURED[:2]]
    assert told == [(True, False), (False, True)]  # a number has no gains


def test_a_detail_is_kept_whatever_its_column_is_called():
    measure = Measure("attribute_inference_risk", "attribute_inference_risk")
    rows = pd.DataFrame({name: [1.0, 0.0] for name in COLUMNS}).assign(metric=measure.label)
    said = [OfRecords({"guess": 0.5, "tolerance_days_pay_lower": days}) for days in (1.0, 3.0)]
    ledgers = [Kept(Cell("cart", place, 0), rows, {measure.key: each}) for place, each in enumerate(said)]
    found = attacked_records(Releases(ledgers, pd.DataFrame(), None, {}), measure)
    assert found.details == {"guess": (0.5, 0.5), "tolerance_days_pay_lower": (2.0, 2.0)}
    assert found.guess == 0.5
