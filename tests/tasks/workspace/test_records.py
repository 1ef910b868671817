import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.judged import judged_study
from samples.studies import judged
from synthrisk.conf.study import Bootstrap, Tracking
from synthrisk.conf.tables import FileForm, Reading
from synthrisk.metrics.intervals.estimates import Estimate, Prior, Variances
from synthrisk.metrics.intervals.value_scale import MetricTransform, ValueScale
from synthrisk.metrics.study.ledger import Measure, Planned
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.references import Check
from synthrisk.tasks.workspace.records import (
    NUMBERS,
    as_json,
    from_text,
    keep_exposed,
    kept_exposed,
    read_coded,
    read_where,
    repeated,
    write_records,
)
from synthrisk.tasks.workspace.references import Judged


def texts(*cells):
    return pa.array(cells, pa.string()).dictionary_encode()


def test_codes_are_read_as_texts_of_either_list(tmp_path):
    parts = [pa.table({"record": [0, 1], "metric": texts(*cells)}) for cells in (("a", "b"), ("b", None), (None, None))]
    write_records(pa.concat_tables(parts), tmp_path / "x.parquet", 2)
    read = pq.read_table(tmp_path / "x.parquet")
    assert read.schema.field("metric").type == pa.string()
    assert read["metric"].to_pylist() == ["a", "b", "b", None, None, None]
    assert pd.read_parquet(tmp_path / "x.parquet", filters=[("metric", "==", "b")])["record"].tolist() == [1, 0]


@pytest.mark.parametrize(("rows", "groups"), [(40_000, 1), (200_000, 3)])
def test_many_rows_of_a_measure_stand_apart_from_others(tmp_path, rows, groups):
    record = pa.array(np.tile(np.arange(rows), 3))
    metric = pa.array(np.repeat(["a", "b", "c"], rows)).dictionary_encode()
    write_records(pa.table({"record": record, "metric": metric}), tmp_path / "x.parquet", rows)
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups == groups
    found = read_where(tmp_path / "x.parquet", ["record"], {"metric": "b"})
    assert found["record"].tolist() == list(range(rows))


@pytest.mark.parametrize("size", [2, 2**17], ids=["few rows", "groups apart"])
@pytest.mark.parametrize(
    "own", [{"metric": "a", "of": "ü"}, {"metric": "a", "of": "x"}, {"metric": "b"}, {"metric": "c"}, {"metric": "aa"}]
)
def test_rows_of_a_measure_are_those_that_hold_its_texts(tmp_path, size, own):
    flags, at = pa.array([True, None] * (size // 2)), pa.array([0] * size)
    told = ("a", "x", np.arange(size) / 3), ("a", "ü", np.ones(size)), ("b", None, np.zeros(size))
    rows = [
        pa.table({"metric": texts(metric).take(at), "of": texts(of).take(at), "member": flags, "score": score})
        for metric, of, score in told
    ]
    write_records(pa.concat_tables(rows), tmp_path / "x.parquet", size)
    found = read_where(tmp_path / "x.parquet", ("member", "score"), own)
    filters = [(name, "==", text) for name, text in own.items()]
    expected = pd.read_parquet(tmp_path / "x.parquet", columns=["member", "score"], filters=filters)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert len(found) == size * (own["metric"] in "ab")


def test_a_group_without_a_text_or_with_several_is_looked_through(tmp_path):
    rows = pa.table({"metric": texts("a", None, "a"), "record": [0, 1, 2]})
    write_records(rows, tmp_path / "x.parquet")
    rows.to_pandas().to_parquet(tmp_path / "y.parquet", row_group_size=2)  # as older versions wrote it
    for name in ("x", "y"):
        assert read_where(tmp_path / f"{name}.parquet", ["record"], {"metric": "a"})["record"].tolist() == [0, 2]


def test_names_of_records_are_in_no_list_of_codes(tmp_path):
    names = [f"{k:016x}" for k in range(50)]
    write_records(pa.table({"record": names, "metric": ["a"] * 50}), tmp_path / "x.parquet")
    group = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0)
    assert [group.column(k).has_dictionary_page for k in (0, 1)] == [False, True]
    assert pq.read_table(tmp_path / "x.parquet")["record"].to_pylist() == names


@pytest.mark.parametrize("rows", [3, 2**17])
def test_a_column_that_there_is_not_is_an_error_however_many_rows_there_are(tmp_path, rows):
    parts = [pa.table({"record": np.arange(rows), "measure": texts(*[name] * rows)}) for name in ("a", "b")]
    write_records(pa.concat_tables(parts), tmp_path / "x.parquet", rows)
    with pytest.raises(pa.ArrowInvalid):
        read_where(tmp_path / "x.parquet", ["record", "score"], {"measure": "a"})


NONE = [None] * 5
ROWS = pd.DataFrame({"record": np.arange(5), "metric": ["a", "a", "ü", None, "a"]})
ROWS = ROWS.assign(attacker=pd.array(NONE, dtype="string"), at_risk=pd.array(NONE, dtype="boolean"))
ROWS = ROWS.assign(score=[-0.0, np.nan, 5e-324, np.inf, 3.0], error=[np.nan] * 5, gain=[np.nan] * 5)


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_numbers_come_back_to_the_bit_and_columns_without_a_value_are_there_all_the_same(tmp_path, statistics, rows):
    table = ROWS.head(rows)
    table.to_parquet(tmp_path / "x.parquet", row_group_size=2, write_statistics=statistics)
    read = read_coded(tmp_path / "x.parquet")
    assert read.column_names == list(ROWS)
    assert {c: read[c].null_count for c in ROWS} == table.isna().sum().to_dict()
    write_records(read, tmp_path / "y.parquet")
    given, written = (pd.read_parquet(tmp_path / name) for name in ("x.parquet", "y.parquet"))
    pd.testing.assert_frame_equal(given, written, check_exact=True)
    assert np.signbit(written["score"].head(1)).all()


def test_columns_are_left_out(tmp_path):
    ROWS.to_parquet(tmp_path / "x.parquet")
    left = [c for c in ROWS if c not in ("gain", "metric")]
    assert read_coded(tmp_path / "x.parquet", ["gain", "metric"]).column_names == left


@pytest.mark.parametrize("rows", [0, 1, 2**16, 2**16 + 1, 200_000])
def test_one_number_stands_in_all_rows(rows):
    assert (repeated(3, rows).to_pylist(), repeated(3, rows).type) == ([3] * rows, pa.int64())


def said(seed: int, rows: int) -> pd.DataFrame:
    numbers = np.random.default_rng(seed).normal(size=(rows, len(NUMBERS)))
    numbers[::3, 2] = np.nan
    return pd.DataFrame(numbers, columns=NUMBERS)


def test_what_each_measure_says_is_read_to_the_bit(tmp_path):
    made = {"zero_cap.job": said(1, 7), 'it\'s "odd" / ü': said(2, 7), "none": said(3, 7).assign(lower=np.nan)}
    keep_exposed(tmp_path / "exposed.parquet", made)
    for key, rows in made.items():
        found = kept_exposed(str(tmp_path / "exposed.parquet"), key)
        pd.testing.assert_frame_equal(found[list(NUMBERS)], rows, check_exact=True)
        assert found["record"].tolist() == list(range(7))
    assert kept_exposed(str(tmp_path / "exposed.parquet"), "unknown").empty


def test_a_measure_is_a_row_group_and_its_name_a_text(tmp_path):
    keep_exposed(tmp_path / "exposed.parquet", {"b": said(1, 5), "a": said(2, 3)})
    assert [pq.ParquetFile(tmp_path / "exposed.parquet").metadata.row_group(i).num_rows for i in (0, 1)] == [5, 3]
    every = pd.read_parquet(tmp_path / "exposed.parquet")
    assert every["measure"].tolist() == ["b"] * 5 + ["a"] * 3
    assert not isinstance(every["measure"].dtype, pd.CategoricalDtype)


def test_without_measures_records_or_rows_there_are_no_rows(tmp_path):
    keep_exposed(tmp_path / "nothing.parquet", {})
    keep_exposed(tmp_path / "nobody.parquet", {"a": said(1, 0)})
    for name in ("nothing", "nobody"):
        assert kept_exposed(str(tmp_path / f"{name}.parquet"), "a").empty
    nothing = pa.table({"record": pa.array([], pa.int64()), "metric": texts()})
    write_records(nothing, tmp_path / "x.parquet", 4)
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 0


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(st.floats(), st.floats(), st.floats())
def test_numbers_of_an_estimate_come_back_to_the_bit(value, lower, upper):
    parts = Variances(value, lower, upper, 3, 2, Prior(20.0, value))
    found = Estimate(value, lower, upper, "moderated", "note", parts, lower, ValueScale(value, upper))
    again = from_text(Estimate, as_json(Estimate, found))
    pairs = (found, again), (parts, again.parts), (found.scale, again.scale), (parts.prior, again.parts.prior)
    for one, other in pairs:
        for name, number in vars(one).items():
            if isinstance(number, float) and not np.isnan(number):
                assert bits(getattr(other, name)) == bits(number)
            elif isinstance(number, float):
                assert np.isnan(getattr(other, name))
    assert repr(again) == repr(found)


def test_a_transform_is_kept_by_the_name_of_its_metric():
    found = ValueScale(0.0, 1.0, MetricTransform("distance_to_closest_record"))
    text = as_json(ValueScale, found)
    assert json.loads(text)["transform"] == {"metric": "distance_to_closest_record"}
    again = from_text(ValueScale, text)
    assert (again, again.value(0.5)) == (found, found.value(0.5))


def test_numbers_of_numpy_are_numbers_and_what_is_no_plain_value_its_text():
    check = Check("copy", "all", "sees", np.bool_(True), "it does")
    power = Power(np.float64(0.01), np.float64("inf"), ((np.float32(0.5), np.bool_(False)),))
    odd = {"threshold": np.float64("nan"), "bins": np.array([1, 2]), "n": np.int64(3), "attacker": Measure}
    planned = Planned(Measure("a", "rapid"), odd)
    assert from_text(Check, as_json(Check, check)) == check
    assert from_text(Power, as_json(Power, power)) == Power(0.01, float("inf"), ((0.5, False),))
    options = from_text(Planned, as_json(Planned, planned)).options
    assert (options["bins"], options["n"], np.isnan(options["threshold"])) == ([1, 2], 3, True)
    assert options["attacker"] == str(Measure)  # no plain value is its text


def test_a_whole_study_comes_back():
    found = judged(judged_study(warnings=("mind",), leaked={"leaky": 0.1}))
    again = from_text(Judged, as_json(Judged, found))
    assert as_json(Judged, again) == as_json(Judged, found)
    assert again.result.verdict("cart") == found.result.verdict("cart") == "RISK"
    assert (again.estimated.sample, again.estimated.settings) == (found.estimated.sample, found.estimated.settings)
    assert vars(again.result).keys() == vars(found.result).keys()


@pytest.mark.parametrize("settings", [
    Bootstrap(confidence=0.9), Tracking(uri="http://me:${PASSWORD}@host", records="none"),
    FileForm(columns={"a": Reading(type="number", unit="%"), "b": Reading(type="date", format="%d.%m.%Y")}),
], ids=lambda each: type(each).__name__)  # fmt: skip
def test_settings_come_back_with_what_was_given_and_what_was_not(settings):
    again = from_text(type(settings), as_json(type(settings), settings))
    assert (again, again.model_fields_set) == (settings, settings.model_fields_set)


@dataclass(frozen=True)
class _Later:
    label: str
    looks: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: {"none": ()})
    word: str = "CANNOT TELL"


def test_a_field_that_a_file_lacks_takes_its_default_and_one_too_much_is_left_out():
    Earlier = make_dataclass("Earlier", [("label", str), ("gone", float)], frozen=True)
    text = as_json(Earlier, Earlier("cap", float("nan")))
    assert from_text(_Later, text) == _Later("cap")
    later = '{"label": "cap", "metric": "zero_cap", "of_tomorrow": {"a": [NaN]}}'
    assert from_text(Measure, later) == Measure("cap", "zero_cap")
    text = '{"uri": "sqlite:///x.db", "proxy": "p", "records": "none", "tls": {"a": 1}}'
    assert from_text(Tracking, text) == Tracking(uri="sqlite:///x.db", records="none")
    form = '{"columns": {"a": {"type": "number", "unit": "%", "locale": "de"}}}'
    assert from_text(FileForm, form) == FileForm(columns={"a": Reading(type="number", unit="%")})


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"label": 3}', '{"metric": "zero_cap"}'])
def test_what_is_no_such_value_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        from_text(Measure, text)
