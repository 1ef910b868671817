import gzip
import os
import sqlite3
import traceback

import fsspec
import pandas as pd
import pytest

from synthrisk.conf.study import Sql
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data.source import read

FRAME = pd.DataFrame({"age": [40, 41], "name": ["Zoë", None]})


def refused(source, *says):
    with pytest.raises(InputError) as caught:
        read(source)
    text = str(caught.value)
    for part in says:
        assert part in text
    assert "\n" not in text
    return "".join(traceback.format_exception(caught.value))


def test_csv_parquet_and_compressed(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for name in ("a.csv", "a.parquet", "a.csv.gz"):
        frame = read(str(tmp_path / name))
        assert frame.age.tolist() == [40, 41]
        assert frame.name.isna().tolist() == [False, True]


def test_urls(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    with fsspec.open("memory://folder/a.csv", "w") as file:
        FRAME.to_csv(file, index=False)
    assert read((tmp_path / "a.csv").as_uri()).age.tolist() == [40, 41]
    assert read("memory://folder/a.csv").age.tolist() == [40, 41]


def test_parquet_integers_beside_missing_cells_stay_exact(tmp_path):
    pd.DataFrame({"a": pd.array([2**60 + 1, None], dtype="Int64")}).to_parquet(tmp_path / "a.parquet")
    assert read(str(tmp_path / "a.parquet")).a.iloc[0] == 2**60 + 1


def test_built_in():
    assert read("adult").shape == (32561, 15)


def test_nearest_right_name(tmp_path):
    refused("adlut", "did you mean 'adult'?", "built in: adult")
    (tmp_path / "patients.csv").write_text("a\n1\n")
    refused(str(tmp_path / "patient.csv"), "no file", "did you mean 'patients.csv'?")
    refused(str(tmp_path / "nowhere" / "patient.csv"), "no file")


def test_not_a_table(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    (tmp_path / "a.parquet").write_bytes(b"Ada Lovelace, 1815")
    (tmp_path / "a.csv.gz").write_bytes(b"Ada Lovelace, 1815")
    (tmp_path / "folder.csv").mkdir()
    refused(str(tmp_path / "a.xlsx"), "must be an Excel or OpenDocument workbook")
    assert "Ada" not in refused(str(tmp_path / "a.parquet"), "must be a Parquet file")
    assert "Ada" not in refused(str(tmp_path / "a.csv.gz"), "cannot be read")
    refused(str(tmp_path / "folder.csv"), "one file")
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "none.parquet")
    refused(str(tmp_path / "none.parquet"), "must hold rows")


@pytest.mark.parametrize(("protocol", "sentence"), [("gs", "pip install 'gcsfs'"), ("s3", "cannot be read")])
def test_url_errors_show_no_credentials(protocol, sentence):
    if protocol == "s3":
        pytest.importorskip("s3fs")
    text = refused(f"{protocol}://key:hunter2@bucket/a.csv?token=abc", sentence)
    assert "hunter2" not in text
    assert "abc" not in text


def test_urls_that_lead_nowhere():
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
    assert frame.id.iloc[0] == 2**60 + 1
    assert frame.id.isna().tolist() == [False, True]
    assert frame.name.tolist() == ["Ada", "50%"]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("select * from people where name = 'nobody'", "none"),
        ("select hunter2 from people", "OperationalError"),
        ("selec", "OperationalError"),
        ("select * from people where name = :x", "StatementError"),
        ("create table other (a integer)", "ResourceClosedError"),
    ],
)
def test_sql_errors_show_neither_query_nor_url(database, query, says):
    text = refused(Sql(url=database, query=query), says)
    assert query not in text.replace("source.query", "").split("InputError")[-1]
    assert database not in text


def test_sql_urls():
    text = refused(
        Sql(url="postgresql://reader:hunter2@host/db", query="select 1"),
        "pip install 'synthrisk[postgresql]'",
    )
    assert "hunter2" not in text
    text = refused(Sql(url="mysql+pymysql://reader:hunter2@host/db", query="select 1"), "pip install 'pymysql'")
    assert "hunter2" not in text
    assert "hunter2" not in refused(Sql(url="hunter2", query="select 1"), "must be a SQLAlchemy URL")
    assert "hunter2" not in refused(Sql(url="nosuch://u:hunter2@h/db", query="select 1"), "must be a SQLAlchemy URL")


def test_a_closed_database_shows_no_password():
    pytest.importorskip("psycopg")
    closed = Sql(url="postgresql+psycopg://reader:hunter2@127.0.0.1:1/db", query="select 1")
    assert "hunter2" not in refused(closed, "OperationalError")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    refused(str(path), "PermissionError")
