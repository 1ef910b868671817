"""A new store that several processes open at once is opened by all, and stays whole."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import mlflow.store.db.utils
import pytest
from mlflow import MlflowClient

from synthrisk.tasks.tracking.store import copied, keep_copy, opened

OPEN = """
import sys
from synthrisk.tasks.tracking.store import opened
opened(sys.argv[1]).create_experiment(sys.argv[2])
"""


@pytest.mark.proof
def test_a_new_file_that_four_processes_open_at_once(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN, uri, f"study {n}"], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    said = [(each.communicate()[1], each.returncode) for each in processes]
    assert [code for _, code in said] == [0] * 4, said
    names = {each.name for each in MlflowClient(uri).search_experiments()}
    assert names == {"Default", *(f"study {n}" for n in range(4))}


DIES = """
import os
from alembic.runtime.migration import HeadMaintainer
HeadMaintainer.update_to_step = lambda *given: os._exit(9)  # a step is done, and not yet said to be done
"""


@pytest.mark.proof
def test_a_new_file_whose_maker_was_killed_halfway_is_made_anew(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    none = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}  # of which an empty store could be copied
    first = [sys.executable, "-c", DIES + OPEN, uri, "first"]
    killed = subprocess.run(first, env=none, capture_output=True, check=False)
    assert killed.returncode == 9
    second = [sys.executable, "-c", OPEN, uri, "second"]
    done = subprocess.run(second, env=none, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {each.name for each in MlflowClient(uri).search_experiments()} == {"Default", "second"}


@pytest.fixture
def opens(monkeypatch):
    """Give a function that opens a store, and returns how often tables were made by MLflow itself."""

    def open_store(uri, name, cache):
        made, upgrade = [], mlflow.store.db.utils._upgrade_db
        with monkeypatch.context() as patch:
            patch.setattr("synthrisk.tasks.tracking.store.user_cache_path", lambda app, **_: cache / app)
            patch.setattr(mlflow.store.db.utils, "_upgrade_db", lambda engine: made.append(1) or upgrade(engine))
            opened(uri).create_experiment(name)
        return len(made)

    return open_store


def tables(uri):
    """Return all tables of a store with their statements, and the experiments with their folders."""
    with sqlite3.connect(uri.removeprefix("sqlite:///")) as store:
        made = store.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        return made, dict(store.execute("SELECT name, artifact_location FROM experiments").fetchall())


def test_a_second_store_is_a_copy_of_the_empty_first_and_holds_nothing_of_it(tmp_path, opens):
    first, second = (f"sqlite:///{tmp_path / name / 'mlflow.db'}" for name in ("one", "two"))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    assert opens(first, "zebrafink", tmp_path / "cache") == 1
    assert opens(second, "other", tmp_path / "cache") == 0
    assert tables(first)[0] == tables(second)[0]
    assert set(tables(first)[1]) == {"Default", "zebrafink"}
    assert set(tables(second)[1]) == {"Default", "other"}
    (kept,) = (tmp_path / "cache" / "synthrisk").iterdir()
    assert str(tmp_path).encode() not in kept.read_bytes()
    with sqlite3.connect(kept) as store:
        assert store.execute("SELECT count(*) FROM experiments").fetchone() == (0,)


@pytest.mark.proof
def test_a_damaged_copy_is_made_anew_and_a_folder_that_cannot_be_written_is_none(tmp_path, opens):
    cache = tmp_path / "cache"
    opens(f"sqlite:///{tmp_path / 'a.db'}", "a", cache)
    (kept,) = (cache / "synthrisk").iterdir()
    kept.write_bytes(b"no database" * 1000)
    assert opens(f"sqlite:///{tmp_path / 'b.db'}", "b", cache) == 1
    assert opens(f"sqlite:///{tmp_path / 'c.db'}", "c", cache) == 0
    (tmp_path / "file").write_text("")
    assert opens(f"sqlite:///{tmp_path / 'd.db'}", "d", tmp_path / "file") == 1
    kept.write_bytes(b"")
    assert opens(f"sqlite:///{tmp_path / 'e.db'}", "e", cache) == 1
    assert [path.name for path in sorted(tmp_path.glob("*.db"))] == [f"{name}.db" for name in "abcde"]


@pytest.mark.parametrize("folder", [RuntimeError("no home"), Path("relative")])
def test_without_a_cache_folder_none_is_kept(tmp_path, monkeypatch, folder):
    def found(*_: object, **__: object) -> Path:
        if isinstance(folder, Exception):
            raise folder
        return folder

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("synthrisk.tasks.tracking.store.user_cache_path", found)
    (tmp_path / "a.db").write_bytes(b"")
    keep_copy(tmp_path / "a.db")
    assert not copied(tmp_path / "b.db")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
