"""Of SAS, only .xpt can be written here; .sas7bdat goes the same way from pyreadstat's columns on."""

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files.statistical import LABELS, read_statistical

SECRET = "Ada Lovelace"


WRITE = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport", ".por": "write_por"}


def written(suffix: str, frame: pd.DataFrame, **options) -> bytes:
    if suffix == ".zsav":
        options["compress"] = True
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        getattr(pyreadstat, WRITE[suffix])(frame, path, **options)
        return path.read_bytes()


def read(suffix: str, frame: pd.DataFrame, *missing: str, **options) -> pd.DataFrame:
    return read_statistical(written(suffix, frame, **options), suffix, "x", missing)


@pytest.mark.parametrize("suffix", WRITE)
def test_cells(suffix):
    frame = pd.DataFrame({"AGE": [40.0, np.nan, 60], "PAY": [1.5, 2, -0.25], "CITY": ["Ulm", "", "01003"]})
    table = read(suffix, frame)
    assert (table.AGE.dtype, table.AGE.isna().tolist()) == ("Int64", [False, True, False])
    assert (table.PAY.tolist(), table.CITY.tolist()[::2]) == ([1.5, 2, -0.25], ["Ulm", "01003"])
    assert (table.CITY.isna().tolist(), table.attrs["notes"]) == ([False, True, False], [])


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_labels_take_the_place_of_codes(suffix):
    frame = pd.DataFrame({"sex": [1.0, 2, np.nan, 2], "whole": [1, 1, 2, 1]})
    labels = {"sex": {1: "männlich", 2: " kobieta ż ", 3: "другое"}, "whole": {1: "no", 2: "yes"}}
    table = read(suffix, frame, variable_value_labels=labels)
    assert (table.sex.dtype, table.sex.tolist()[::3]) == ("category", ["männlich", "kobieta ż"])
    assert table.sex.isna().tolist() == [False, False, True, False]
    assert (table.whole.tolist(), table.attrs["notes"]) == (["no", "no", "yes", "no"], [])


def test_labels_by_pandas(tmp_path):
    frame = pd.DataFrame({"sex": [1, 2], "big": [0.5, 2.0**40]})
    frame.to_stata(tmp_path / "a.dta", write_index=False, value_labels={"sex": {1: "Zoë", 2: "Łucja"}}, version=118)
    table = read_statistical((tmp_path / "a.dta").read_bytes(), ".dta", "x")
    assert (table.sex.tolist(), table.big.tolist()) == (["Zoë", "Łucja"], [0.5, 2.0**40])


def test_codes_of_which_some_have_a_label_stay_numbers_and_are_told():
    frame = pd.DataFrame({"age": [40.0, -9, 50], "trust": [0.0, 5, 10]})
    labels = {"age": {-9: "refused"}, "trust": {0: "none", 10: "full", 5: "  "}}
    table = read(".sav", frame, variable_value_labels=labels)
    assert (table.age.tolist(), table.trust.tolist()) == ([40, -9, 50], [0, 5, 10])
    kept = "keeps its numbers, for not all of them have a label; labelled are"
    listed = "list in data.missing what means no answer"
    assert table.attrs["notes"] == [
        f"column 'age' {kept} -9 ('refused'): {listed}",
        f"column 'trust' {kept} 0 ('none'), 10 ('full'): {listed}",
    ]
    assert read(".sav", frame, "-9", variable_value_labels=labels).age.isna().tolist() == [False, True, False]


def test_codes_and_labels_listed_as_missing_and_codes_with_one_label_that_stay_distinct():
    vote, labels = pd.DataFrame({"vote": [1.0, 2, 9, 8]}), {1: "yes", 2: "no", 8: "unsure", 9: "refused"}
    table = read(".sav", vote, "9", "unsure", variable_value_labels={"vote": labels})
    assert table.vote.isna().tolist() == [False, False, True, True]
    assert table.vote.cat.categories.tolist() == ["no", "yes"]
    job, labels = pd.DataFrame({"job": [1.0, 2, 3]}), {1: "other", 2: "other", 3: "none"}
    table = read(".sav", job, variable_value_labels={"job": labels})
    assert table.job.tolist() == ["other (1)", "other (2)", "none (3)"]
    assert table.attrs["notes"] == ["column 'job': several codes share a label, so all its labels carry their codes"]


def test_values_that_spss_declares_missing():
    frame = pd.DataFrame({"age": [40.0, -9, 97, 99, np.nan], "city": ["Ulm", "zz", "zz", "", "Bonn"]})
    ranges = {"age": [-9, {"lo": 90, "hi": 99}], "city": ["zz"]}
    labels = {"age": {-9: "refused", 99: "refused"}, "city": {"Ulm": "in Ulm", "Bonn": "in Bonn"}}
    table = read(".sav", frame, missing_ranges=ranges, variable_value_labels=labels)
    assert table.age.isna().tolist() == [False, True, True, True, True]
    assert (table.city.isna().tolist(), table.iloc[0].tolist()) == ([False, True, True, True, False], [40, "in Ulm"])
    assert table.attrs["notes"] == [
        "column 'age': missing by codes that the file declares so (90 to 99, -9): 3 cells",
        "column 'city': missing by codes that the file declares so (zz): 2 cells",
    ]


def test_extended_missing_values_of_stata():
    frame = pd.DataFrame({"age": [40, "a", "b", 50], "vote": [1, "a", 2, 1]}, dtype=object)
    labels = {"vote": {1: "no", 2: "yes", "a": "no"}}
    missing = {"age": ["a", "b"], "vote": ["a"]}
    table = read(".dta", frame, missing_user_values=missing, variable_value_labels=labels)
    assert (table.age.isna().tolist(), table.age.dtype) == ([False, True, True, False], "Int64")
    assert table.vote.tolist()[2:] == ["yes", "no"]
    assert [note.partition(" cells")[0] for note in table.attrs["notes"]] == [
        "column 'age': missing by codes that the file declares so (.a, .b): 2",
        "column 'vote': missing by codes that the file declares so (.a): 1",
    ]


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_dates(suffix):
    born, seen = dt.date(1980, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5)
    frame = pd.DataFrame({"BORN": [born, None], "SEEN": [seen, None], "OLD": dt.date(1700, 1, 2)})
    table = read(suffix, frame)
    assert table.dtypes.eq("datetime64[ns]").all()
    assert table.iloc[0].tolist() == list(map(pd.Timestamp, (born, seen, "1700-01-02")))
    assert table.BORN.isna().tolist() == [False, True]


@pytest.mark.parametrize(("suffix", "display"), [(".sav", "TIME8"), (".sav", "DTIME12"), (".xpt", "TIME8")])
def test_times_beyond_a_day_are_durations(suffix, display):
    table = read(suffix, pd.DataFrame({"T": [30 * 3600.0, np.nan, 60]}), variable_format={"T": display})
    assert table["T"].tolist()[::2] == [pd.Timedelta("30h"), pd.Timedelta("1min")]
    assert table["T"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("unit", ["td", "tw", "tm", "tq", "th", "ty", "tc"])
def test_periods_of_stata_as_pandas_reads_them(unit, tmp_path):
    days = {"tw": ["1950-02-05", "2021-04-02"], "tq": ["1950-04-01", "2021-10-01"], "tm": ["1950-02-01", "2021-12-01"]}
    days |= {"th": ["1950-07-01", "2021-01-01"], "ty": ["1950-01-01", "2021-01-01"]}
    when = pd.to_datetime([*days.get(unit, ["1950-02-03", "2021-12-31"]), None])
    pd.DataFrame({"when": when}).to_stata(tmp_path / "a.dta", write_index=False, convert_dates={"when": unit})
    table = read_statistical((tmp_path / "a.dta").read_bytes(), ".dta", "x")
    theirs = pd.read_stata(tmp_path / "a.dta").when.astype("datetime64[ns]")  # objects where %ty has missing cells
    assert table.when.equals(theirs)
    assert table.when[0].year == 1950


SPSS, SAS, MAY = dt.datetime(1582, 10, 14), dt.datetime(1960, 1, 1), dt.datetime(2020, 5, 1)
DAYS = ["MONYY7", "YYMMDDN8", "E8601DA10", "WORDDATE18", "YEAR4", "DDMMYYP10"]


@pytest.mark.parametrize(("suffix", "display", "number"), [
    *((".sav", display, (MAY - SPSS).total_seconds()) for display in ("MOYR8", "QYR8", "JDATE7", "YMDHMS19")),
    *((".xpt", display, float((MAY - SAS).days)) for display in DAYS),
    (".xpt", "DATEAMPM19", (MAY - SAS).total_seconds()),
    *((".sav", display, 2.0) for display in ("F8.2", "COMMA8.0", "DOLLAR9.2")),
])  # fmt: skip
def test_rarer_formats_are_dates_too_and_others_leave_numbers_alone(suffix, display, number):
    due = [2] if number == 2 else [MAY]
    assert read(suffix, pd.DataFrame({"A": [number]}), variable_format={"A": display}).A.tolist() == due


@pytest.mark.parametrize("suffix", [*WRITE, ".sas7bdat"])
def test_damaged_files_give_one_sentence_without_cells(suffix):
    frame = pd.DataFrame({"A": [SECRET] * 300})
    tried = [b"", f"a,b\n{SECRET},2\n".encode(), written(".dta" if "sav" in suffix else ".sav", frame)]
    if suffix in (".sav", ".zsav", ".dta"):  # the others do not say how many rows they have, or cannot be written
        whole = written(suffix, frame)
        tried.append(whole[: len(whole) // 2])
    for raw in tried:
        with pytest.raises(InputError, match="cannot be read as one: it is another kind of file, damaged") as caught:
            read_statistical(raw, suffix, "'a.sav'")
        assert "Ada" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_labels_of_columns_are_carried_and_their_names_stay(suffix):
    table = read(suffix, pd.DataFrame({"V1": [40.0], "V2": [1.5]}), column_labels={"V1": "Age of respondent"})
    assert (list(table), table.attrs[LABELS]) == (["V1", "V2"], {"V1": "Age of respondent"})
