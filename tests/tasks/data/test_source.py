import gzip
import json
import os
import sqlite3
import sys
import traceback

import fsspec
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from synthrisk.conf.study import Data, Split, Sql
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.data.task import given

FRAME = pd.DataFrame({"age": [40, 41], "name": ["Zoë", None]})


def refused(source, *says):
    with pytest.raises(InputError) as caught:
        read(source)
    text = str(caught.value)
    assert [part for part in says if part not in text] == []
    assert "\n" not in text
    return "".join(traceback.format_exception(caught.value))


def test_files_and_urls_are_read_and_integers_beside_missing_cells_stay_exact(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for name in ("a.csv", "a.parquet", "a.csv.gz"):
        frame = read(str(tmp_path / name))
        assert (frame.age.tolist(), frame.name.isna().tolist()) == ([40, 41], [False, True])
    with fsspec.open("memory://folder/a.csv", "w") as file:
        FRAME.to_csv(file, index=False)
    assert read((tmp_path / "a.csv").as_uri()).age.tolist() == [40, 41]
    assert read("memory://folder/a.csv").age.tolist() == [40, 41]
    pd.DataFrame({"a": pd.array([2**60 + 1, None], dtype="Int64")}).to_parquet(tmp_path / "a.parquet")
    assert read(str(tmp_path / "a.parquet")).a.iloc[0] == 2**60 + 1


WRITTEN = {
    "json": lambda frame, path: frame.to_json(path, orient="records"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json.gz": lambda frame, path: frame.to_json(path, orient="split"),
    "ndjson.zip": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "feather": lambda frame, path: frame.to_feather(path),
    "tsv.xz": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "csv.zip": lambda frame, path: frame.to_csv(path, index=False),
    "csv.zst": lambda frame, path: path.write_bytes(
        pa.Codec("zstd").compress(frame.to_csv(index=False).encode(), asbytes=True)
    ),
    "parquet": lambda frame, path: [
        path.mkdir(), frame[:1].to_parquet(path / "0.parquet"), frame[1:].to_parquet(path / "1.parquet")
    ],
}  # fmt: skip


@pytest.mark.parametrize("ending", WRITTEN)
def test_real_tables_are_read_from_each_kind_of_file_that_releases_are_read_from(tmp_path, ending):
    WRITTEN[ending](FRAME.assign(large=[2**53, 1]), tmp_path / f"a.{ending}")
    frame = read(str(tmp_path / f"a.{ending}"))
    assert (frame.age.tolist(), frame.name.isna().tolist(), frame.name[0]) == ([40, 41], [False, True], "Zoë")
    table = typed(frame, Data(source="a", quasi_identifiers=["age"], sensitive=["large"]), Split(holdout=0.5))
    assert table.dtypes.astype(str).tolist() == ["int64", "category", "int64"]


@pytest.mark.parametrize("text", [
    ",age,name\n0,40,Zoë\n1,41,\n", "age,name,,\n40,Zoë,,\n41,,,\n", "age,name\n40,Zoë,\n41,,\n",
    "sep=,\nage,name\n40,Zoë\n41,\n,\n,\n", "age,name\n1,40,Zoë\n2,41,\n", "age,name,\n40,Zoë\n41,\n",
])  # fmt: skip
def test_what_programs_write_around_a_table_is_left_out(tmp_path, text):
    for end in ("\n", "\r\n"):
        (tmp_path / "a.csv").write_text(text.replace("\n", end), "utf-8", newline="")
        for as_texts in (False, True):
            frame = read(str(tmp_path / "a.csv"), as_texts=as_texts)
            assert list(frame.columns) == ["age", "name"]
            assert (frame.age.astype(int).tolist(), frame.name.isna().tolist()) == ([40, 41], [False, True])


@pytest.mark.parametrize(("text", "names"), [
    ("age,name,\n40,Zoë,3\n41,,4\n", ["Zoë", None]), ('age,name\n40,"Zoë\n,"\n41,"\n,\n"\n', ["Zoë\n,", "\n,\n"]),
    ("age,name\n40,Zoë\n,\n41,\n", ["Zoë", None, None]),
])  # fmt: skip
def test_what_holds_something_or_stands_inside_is_not_left_out(tmp_path, text, names):
    (tmp_path / "a.csv").write_text(text, "utf-8")
    frame = read(str(tmp_path / "a.csv"))
    assert [None if pd.isna(name) else name for name in frame.name] == names
    assert frame.shape[1] == text.partition("\n")[0].count(",") + 1
    (tmp_path / "a.csv").write_text("age,name\n40,Zoë,1\n41,,2\n", "utf-8")
    refused(str(tmp_path / "a.csv"), "must have as many cells in each row as names in its header")


@pytest.mark.parametrize(
    ("ending", "part"), [(".csv", "csv"), ("", "csv.gz"), ("", "tsv"), ("", "json"), (".csv", "part")]
)
def test_folders_of_csv_and_json_parts_as_spark_writes_them_are_one_table(tmp_path, ending, part):
    folder = tmp_path / f"people{ending}"
    folder.mkdir()
    for name in ("_SUCCESS", "._SUCCESS.crc", ".part-2.csv.crc"):
        (folder / name).write_bytes(b"\0")
    for k in (10, 9, 2):
        own = pd.DataFrame({"plz": ["01003" if k == 2 else "83022"], "age": [k]})
        path = folder / f"part-000{k:02d}-5d1e.{part}"
        own.to_json(path, orient="records", lines=True) if part == "json" else own.to_csv(
            path, index=False, sep="\t" if part == "tsv" else ",", lineterminator="\r\n"
        )
    frame = read(str(folder))
    assert (frame.plz.tolist(), frame.age.tolist()) == (["01003", "83022", "83022"], [2, 9, 10])
    assert "its 3 files were read as the parts of one table" in frame.attrs["notes"][0]


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet", "feather"])
def test_records_in_cells_are_columns_lists_stay_and_so_do_records_whose_keys_are_their_own(tmp_path, ending):
    parts = [{"city": "Ulm", "geo": {"x": 1}}, None, {"city": "Graz", "geo": {"x": 2}}]
    frame = pd.DataFrame({"age": [40, 41, 42], "home": parts, "tags": [["a"], ["b", "c"], []]})
    WRITTEN[ending](frame, tmp_path / f"a.{ending}")
    table = read(str(tmp_path / f"a.{ending}"))
    assert list(table) == ["age", "home.city", "home.geo.x", "tags"]
    assert (table["home.geo.x"].dtype, table["home.city"].tolist()[::2]) == ("Int64", ["Ulm", "Graz"])
    assert table.attrs["notes"] == ["column 'home' holds records: each of their parts is a column, as 'home.city'"]
    own = [{"age": 40, "paid": {"Ada": 1}}, {"age": 41, "paid": {"Ben": 2}}, {"age": 42, "paid": {"Cy": 2}}]
    (tmp_path / "b.json").write_text(json.dumps(own))
    assert list(read(str(tmp_path / "b.json"))) == ["age", "paid"]


@pytest.mark.parametrize("content", [b'{"a": [1, "secret"', b"\xff\xfesecret", b'{"secret": 3}', b"[1, 2]", b""])
def test_json_that_holds_no_records_is_refused_without_showing_it(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    assert "secret" not in refused(str(tmp_path / "a.json"), "a.json' must hold").split("InputError")[-1]


def test_nearest_right_name_of_what_leads_nowhere(tmp_path):
    refused("adlut", "did you mean 'adult'?", "built in: adult")
    (tmp_path / "patients.csv").write_text("a\n1\n")
    refused(str(tmp_path / "patient.csv"), "no file", "did you mean 'patients.csv'?")
    refused(str(tmp_path / "nowhere" / "patient.csv"), "no file")
    refused("memroy://a.csv", "did you mean 'memory'?")
    refused("memory://nothing.csv", "'memory://nothing.csv' must lead to a file, found none there")


@pytest.mark.parametrize("number", ["", "adult", "-1", "1.5", "²"])
def test_openml_id(number):
    refused(f"openml:{number}", "openml:<number>")


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute("create table people (id integer, name text, photo blob)")
    connection.executemany("insert into people values (?, ?, ?)", [(2**60 + 1, "Ada", b"x"), (None, "50%", None)])
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


def test_sql(database):
    frame = read(Sql(url=database, query="select id, name from people where name like '%' order by name desc"))
    assert (frame.id.iloc[0], frame.id.isna().tolist()) == (2**60 + 1, [False, True])
    assert frame.name.tolist() == ["Ada", "50%"]


@pytest.mark.parametrize(("query", "says"), [
    ("select * from people where name = 'nobody'", "none"), ("select hunter2 from people", "OperationalError"),
    ("selec", "OperationalError"), ("select * from people where name = :x", "StatementError"),
    ("create table other (a integer)", "ResourceClosedError"),
])  # fmt: skip
def test_sql_errors_show_neither_query_nor_url(database, query, says):
    text = refused(Sql(url=database, query=query), says)
    assert query not in text.replace("source.query", "").split("InputError")[-1]
    assert database not in text


@pytest.mark.parametrize(("address", "needs", "says"), [
    ("gs://key:hunter2@bucket/a.csv?token=hunter2", "pytest", "pip install 'gcsfs'"),
    ("s3://key:hunter2@bucket/a.csv?token=hunter2", "s3fs", "cannot be read"),
    ("postgresql://reader:hunter2@host/db", "pytest", "pip install 'synthrisk[postgresql]'"),
    ("postgresql+psycopg://reader:hunter2@127.0.0.1:1/db", "psycopg", "OperationalError"),
    ("mysql+pymysql://reader:hunter2@host/db", "pytest", "pip install 'pymysql'"),
    *((url, "pytest", "must be a SQLAlchemy URL") for url in ("hunter2", "nosuch://u:hunter2@h/db")),
])  # fmt: skip
def test_errors_of_addresses_show_no_password(address, needs, says):
    pytest.importorskip(needs)
    is_file = address.startswith(("gs:", "s3:"))
    assert "hunter2" not in refused(address if is_file else Sql(url=address, query="select 1"), says)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    refused(str(path), "PermissionError")


PEOPLE = pd.DataFrame({"age": [40, 41, 42, 43], "plz": ["01003", "83022", "01003", "10115"]})
LABELLED = pd.DataFrame({"age": [40.0, -9, 42, 43], "vote": [1.0, 2, 1, 2]})


@pytest.fixture
def folder(tmp_path):
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        PEOPLE.to_excel(book, sheet_name="Data", index=False)
        PEOPLE[["age"]].to_excel(book, sheet_name="Only age", index=False)
    labels, missing = {"vote": {1: "no", 2: "yes"}}, {"age": [-9]}
    pyreadstat.write_sav(LABELLED, tmp_path / "people.sav", variable_value_labels=labels, missing_ranges=missing)
    PEOPLE.to_stata(tmp_path / "people.dta", write_index=False)
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
        assert (frame.age.tolist(), frame.plz.tolist()) == ([40, 41, 42, 43], ["01003", "83022", "01003", "10115"])
    assert list(read(f"{folder / name}#Only age").columns) == ["age"] if sheet else True


def test_a_study_has_labels_and_knows_what_is_missing(folder):
    frame = read(str(folder / "people.sav"))
    assert frame.attrs["notes"] == ["column 'age': missing by codes that the file declares so (-9): 1 cells"]
    settings = Data(source="people.sav", quasi_identifiers=["age"], sensitive=["vote"])
    table = typed(frame, settings, Split(holdout=0.5))
    assert table.vote.cat.categories.tolist() == ["no", "yes"]
    assert (table.age.isna().tolist(), table.age.dtype) == ([False, True, False, False], "float64")
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


def test_other_suffixes_and_files_without_rows_are_refused(folder, tmp_path):
    (folder / "a.pdf").touch()
    with pytest.raises(InputError, match=r"must end in .csv, .*, .xlsx, .*, .sav, .* got '.*a.pdf'"):
        read(str(folder / "a.pdf"))
    with pytest.raises(InputError, match="must end in"):
        read(str(folder / "people.sav.gz"))
    pyreadstat.write_sav(LABELLED.head(0), tmp_path / "a.sav")
    with pytest.raises(InputError, match="must hold rows, got none"):
        read(str(tmp_path / "a.sav"))


def test_control_records_with_codes_where_real_ones_have_labels_are_refused(folder):
    odd = LABELLED.assign(vote=[1.0, 2, 7, 2])
    pyreadstat.write_sav(odd, folder / "control.sav", variable_value_labels={"vote": {1: "no", 2: "yes"}})
    settings = Data(source=str(folder / "people.sav"), quasi_identifiers=["age"], sensitive=["vote"])
    with pytest.raises(InputError, match="control must hold labels in column 'vote' as real does, got numbers"):
        given.fn(settings, str(folder / "control.sav"), 1, str(folder))
    swapped = settings.model_copy(update={"source": str(folder / "control.sav")})
    with pytest.raises(InputError, match="control: column 'vote' must hold numbers as the real table does"):
        given.fn(swapped, str(folder / "people.sav"), 1, str(folder))
