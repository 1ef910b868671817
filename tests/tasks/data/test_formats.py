"""Sources in the files of other programs, from path, home folder and URL to the typed table of a study."""

import sys

import fsspec
import pandas as pd
import pyreadstat
import pytest

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.data.task import given

FRAME = pd.DataFrame({"age": [40, 41, 42, 43], "plz": ["01003", "83022", "01003", "10115"]})
LABELLED = pd.DataFrame({"age": [40.0, -9, 42, 43], "vote": [1.0, 2, 1, 2]})


@pytest.fixture
def folder(tmp_path):
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        FRAME.to_excel(book, sheet_name="Data", index=False)
        FRAME[["age"]].to_excel(book, sheet_name="Only age", index=False)
    labels, missing = {"vote": {1: "no", 2: "yes"}}, {"age": [-9]}
    pyreadstat.write_sav(LABELLED, tmp_path / "people.sav", variable_value_labels=labels, missing_ranges=missing)
    FRAME.to_stata(tmp_path / "people.dta", write_index=False)
    return tmp_path


@pytest.mark.parametrize("file", ["people.xlsx", "people.XLSX", "people.dta", "people.xlsx#Data"])
def test_paths_home_folder_and_urls(folder, file, monkeypatch):
    if "XLSX" in file:
        (folder / "people.xlsx").rename(folder / file)
    monkeypatch.setenv("HOME", str(folder))
    name, _, sheet = file.partition("#")
    with fsspec.open(f"memory://formats/{name}", "wb") as copy:
        copy.write((folder / name).read_bytes())
    for source in (str(folder / file), f"~/{file}", f"memory://formats/{file}", f"file://{folder}/{file}"):
        frame = read(source)
        assert frame.age.tolist() == [40, 41, 42, 43]
        assert frame.plz.tolist() == ["01003", "83022", "01003", "10115"]
    assert list(read(f"{folder / name}#Only age").columns) == ["age"] if sheet else True


def test_a_study_has_labels_and_knows_what_is_missing(folder):
    frame = read(str(folder / "people.sav"))
    assert frame.attrs["notes"] == ["column 'age': missing by codes that the file declares so (-9): 1 cells"]
    settings = Data(source="people.sav", quasi_identifiers=["age"], sensitive=["vote"])
    table = typed(frame, settings, Split(holdout=0.5))
    assert table.vote.cat.categories.tolist() == ["no", "yes"]
    assert table.age.isna().tolist() == [False, True, False, False]
    assert table.age.dtype == "float64"
    assert not table.attrs


def test_dates_before_1677_are_refused_by_name_and_may_be_dropped(tmp_path):
    seconds = pd.DataFrame({"born": [0.0, 1e10], "vote": [1.0, 2], "age": [40.0, 41]})
    pyreadstat.write_sav(seconds, tmp_path / "a.sav", variable_format={"born": "DATE11"})
    frame = read(str(tmp_path / "a.sav"))
    settings = Data(source="a.sav", quasi_identifiers="*", sensitive=["vote"])
    with pytest.raises(InputError, match="'born' must hold dates from 1677 to 2262"):
        typed(frame, settings, Split(holdout=0.5))
    assert "born" not in typed(frame, settings.model_copy(update={"drop": ["born"]}), Split(holdout=0.5))


@pytest.mark.parametrize(
    ("module", "file"), [("python_calamine", "people.xlsx"), ("pyreadstat", "people.sav"), ("pyreadstat", "people.dta")]
)
def test_a_package_that_is_not_installed_is_named(folder, module, file, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"is not installed: pip install 'synthrisk\[files\]'") as caught:
        read(str(folder / file))
    assert module.replace("_", "-") in str(caught.value)


def test_other_suffixes(folder):
    (folder / "a.pdf").touch()
    with pytest.raises(InputError, match=r"must end in .csv, .*, .xlsx, .*, .sav, .* got '.*a.pdf'"):
        read(str(folder / "a.pdf"))
    with pytest.raises(InputError, match="must end in"):
        read(str(folder / "people.sav.gz"))


def test_no_rows(tmp_path):
    pyreadstat.write_sav(LABELLED.head(0), tmp_path / "a.sav")
    with pytest.raises(InputError, match="must hold rows, got none"):
        read(str(tmp_path / "a.sav"))


def test_control_records_with_codes_where_real_ones_have_labels_are_refused(folder):
    """A code without a label, held by one control record alone, makes all of that column numbers."""
    odd = LABELLED.assign(vote=[1.0, 2, 7, 2])
    pyreadstat.write_sav(odd, folder / "control.sav", variable_value_labels={"vote": {1: "no", 2: "yes"}})
    settings = Data(source=str(folder / "people.sav"), quasi_identifiers=["age"], sensitive=["vote"])
    with pytest.raises(InputError, match="control must hold labels in column 'vote' as real does, got numbers"):
        given.fn(settings, str(folder / "control.sav"), 1, str(folder))
    swapped = settings.model_copy(update={"source": str(folder / "control.sav")})
    with pytest.raises(InputError, match="control must hold numbers in column 'vote' as real does, got labels"):
        given.fn(swapped, str(folder / "people.sav"), 1, str(folder))
