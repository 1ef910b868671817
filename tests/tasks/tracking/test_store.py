import base64
import os
import re
import sqlite3
import subprocess
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import Mock

import mlflow.store.db.utils
import numpy as np
import pandas as pd
import pytest
import requests
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput
from mlflow.exceptions import MlflowException, RestException
from sqlalchemy.exc import IntegrityError, OperationalError

from samples.judged import judged_study
from synthrisk.tasks.log import NotLoggedError, deliver
from synthrisk.tasks.tracking.store import StoreError, copied, keep_copy, opened, reason_of, text_of
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.workspace.references import store

OPEN = """
import sys
from synthrisk.tasks.tracking.store import opened
opened(sys.argv[1]).create_experiment(sys.argv[2])
"""
DIES = """
import os
from alembic.runtime.migration import HeadMaintainer
HeadMaintainer.update_to_step = lambda *given: os._exit(9)  # a step is done, and not yet said to be done
"""


def opening(uri, name, begin="", **given):
    command = [sys.executable, "-c", begin + OPEN, uri, name]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **given)


def names_in(uri):
    return {each.name for each in MlflowClient(uri).search_experiments()}


@pytest.mark.proof
def test_a_new_file_that_four_processes_open_at_once(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    processes = [opening(uri, f"study {n}") for n in range(4)]
    said = [(each.communicate()[1], each.returncode) for each in processes]
    assert [code for _, code in said] == [0] * 4, said
    assert names_in(uri) == {"Default", *(f"study {n}" for n in range(4))}


@pytest.mark.proof
def test_a_new_file_whose_maker_was_killed_halfway_is_made_anew(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    none = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}  # of which an empty store could be copied
    for name, begin, code in (("first", DIES, 9), ("second", "", 0)):
        process = opening(uri, name, begin, env=none)
        said = process.communicate()[1]
        assert process.returncode == code, said
    assert names_in(uri) == {"Default", "second"}


@pytest.fixture
def opens(tmp_path, monkeypatch):
    """Give a function that opens a store, and returns how often tables were made by MLflow itself."""

    def opens(name, cache=tmp_path / "cache"):
        made, upgrade = [], mlflow.store.db.utils._upgrade_db
        with monkeypatch.context() as patch:
            patch.setattr("synthrisk.tasks.workspace.digests.user_cache_path", lambda app, **_: cache / app)
            patch.setattr(mlflow.store.db.utils, "_upgrade_db", lambda engine: made.append(1) or upgrade(engine))
            opened(f"sqlite:///{tmp_path / name}.db").create_experiment(name)
        return len(made)

    return opens


def tables(path):
    """Return all tables of a store with their statements, and the names of its experiments."""
    with sqlite3.connect(path) as store:
        made = store.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        return made, {name for (name,) in store.execute("SELECT name FROM experiments")}


def test_a_second_store_is_a_copy_of_the_empty_first_and_holds_nothing_of_it(tmp_path, opens):
    assert (opens("zebrafink"), opens("other")) == (1, 0)
    (first, names), (second, others) = (tables(tmp_path / f"{name}.db") for name in ("zebrafink", "other"))
    assert (first, names, others) == (second, {"Default", "zebrafink"}, {"Default", "other"})
    (kept,) = (tmp_path / "cache" / "synthrisk").iterdir()
    assert str(tmp_path).encode() not in kept.read_bytes()
    assert tables(kept)[1] == set()


@pytest.mark.proof
def test_a_damaged_copy_is_made_anew_and_a_folder_that_cannot_be_written_is_none(tmp_path, opens):
    opens("a")
    (kept,) = (tmp_path / "cache" / "synthrisk").iterdir()
    kept.write_bytes(b"no database" * 1000)
    assert (opens("b"), opens("c")) == (1, 0)
    (tmp_path / "file").write_text("")
    assert opens("d", tmp_path / "file") == 1
    kept.write_bytes(b"")
    assert opens("e") == 1
    assert [path.name for path in sorted(tmp_path.glob("*.db"))] == [f"{name}.db" for name in "abcde"]


@pytest.mark.parametrize("folder", [Mock(side_effect=RuntimeError("no home")), lambda *_, **__: Path("relative")])
def test_without_a_cache_folder_none_is_kept(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("synthrisk.tasks.workspace.digests.user_cache_path", folder)
    (tmp_path / "a.db").write_bytes(b"")
    keep_copy(tmp_path / "a.db")
    assert not copied(tmp_path / "b.db")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


FIRST, PASSWORD, USER, CELL = "20261123-013609-1ddbd6", "Blaumeise-Kq9", "steward", "Zebrafink-Qx7"


def server(status, body, to="/"):
    """Return a server of this machine that answers so below a path, and elsewhere that there is nothing."""

    class Answers(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            own = to in self.path
            said = body.encode() if own else b'{"experiments": []}'
            self.send_response(status if own else 200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815 - as http.server calls them
        log_message = lambda *_: None  # noqa: E731

    return ThreadingHTTPServer(("127.0.0.1", 0), Answers)


@pytest.fixture
def fails(tmp_path, logged_of):
    """Give a function that logs a study, and returns why that failed and what the workspace keeps of it."""
    table = store(pd.DataFrame({"age": np.arange(4.0), "city": [CELL, "b", CELL, "b"]}), tmp_path)

    def fails(**options):
        with pytest.raises(NotLoggedError) as raised:
            logged_of(judged_study(FIRST), table, tmp_path, **options)
        return str(raised.value), (tmp_path / "failures" / f"log-{FIRST}.txt").read_text("utf-8")

    return fails


PAGE = f"<html>{PASSWORD} and {CELL}</html>"
MESSAGE = '{"error_code": "%s", ' + f'"message": "no \'{CELL}\' for {USER}, {PASSWORD}"' + "}"


@pytest.mark.parametrize(("status", "body", "told"), [
    (401, MESSAGE % "UNAUTHENTICATED", r"refused \(401\)"), (403, PAGE, r"refused \(403\)"),
    (404, PAGE, r"refused \(404\)"), (500, MESSAGE % "INTERNAL_ERROR", r"failed \(500\)"),
    (503, PAGE, r"failed \(503\)"),
])  # fmt: skip
def test_what_a_server_refuses_is_told_by_its_status(tmp_path, fails, monkeypatch, status, body, told):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with server(status, body) as refuses:
        threading.Thread(target=refuses.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("STORE_PASSWORD", PASSWORD)
        monkeypatch.setenv("SYNTHRISK_VARIABLES", "STORE_PASSWORD")
        port = refuses.server_port
        with pytest.raises(StoreError, match=rf"got http://127\.0\.0\.1:{port} \({told}\)$"):
            opened(f"http://{USER}:{PASSWORD}@127.0.0.1:{port}")
        raised, kept = fails(tracking_uri=f"http://{USER}:${{STORE_PASSWORD}}@127.0.0.1:{port}")
        with pytest.raises(NotLoggedError, match=told):
            deliver(tmp_path, FIRST)
        refuses.shutdown()
    assert ids_waiting(tmp_path) == [FIRST]
    assert re.search(rf"\(its store {told}; in its words: \S*failures/log-{FIRST}\.txt\)", raised)
    assert kept.startswith(("MlflowException: API request", "RestException: "))
    for secret in (PASSWORD, USER, CELL, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(), "<html>"):
        assert secret not in f"{raised} {kept}"


def refuse_runs(folder, words):
    opened(f"sqlite:///{folder / 'mlflow.db'}")
    with sqlite3.connect(folder / "mlflow.db") as database:
        database.execute(f"CREATE TRIGGER t BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, '{words}'); END")


def test_a_database_says_what_is_wrong_and_not_what_it_was_told(tmp_path, fails):
    refuse_runs(tmp_path, "no room for runs")
    raised, kept = fails()
    assert "(its store failed: IntegrityError: no room for runs; in its words: " in raised
    assert "no room for runs" in kept
    assert "INSERT INTO" not in kept
    assert "cart" not in kept


def test_with_full_records_no_word_of_the_store_is_repeated(tmp_path, fails):
    refuse_runs(tmp_path, f"no {CELL} here")
    raised, kept = fails(records="full")
    assert "(its store failed: MlflowException; in its words" in raised
    assert kept == "failed: MlflowException\n"


def raised_from(error, cause):
    try:
        raise error from cause
    except type(error) as made:
        return made


def http_error(status):
    answer = requests.Response()
    answer.status_code = status
    return requests.HTTPError(f"{status} Client Error: no for url: http://h/x?token={PASSWORD}", response=answer)


URI = f"postgresql://{USER}:{PASSWORD}@db.example:5432/runs"
LOCKED = OperationalError(
    "INSERT INTO tags VALUES (?)", {"value": CELL}, sqlite3.OperationalError("database is locked")
)
TAKEN = IntegrityError(
    "INSERT", {"value": CELL}, Exception(f"duplicate key value\nDETAIL:  Key (value)=({CELL}) already exists.")
)


@pytest.mark.parametrize(("error", "reason"), [
    (raised_from(MlflowException(LOCKED), LOCKED),
     "failed: OperationalError: (sqlite3.OperationalError) database is locked"),
    (raised_from(MlflowException(TAKEN), TAKEN), "failed: IntegrityError: (builtins.Exception) duplicate key value"),
    (MlflowException(f"Invalid value '{CELL}' for tag \"{CELL}\""),
     "failed: MlflowException: Invalid value '...' for tag \"...\""),
    (PermissionError(13, "Permission denied", "/srv/store"),
     "failed: PermissionError: [Errno 13] Permission denied: '/srv/store'"),
    (MlflowException(f"no such host in {URI}"),
     "failed: MlflowException: no such host in postgresql://db.example:5432/runs"),
    (MlflowException(f"password {PASSWORD} of {USER} is wrong, Bearer abc.def"),
     "failed: MlflowException: password ... of ... is wrong, Bearer ..."),
    (http_error(413), "refused (413)"), (raised_from(MlflowException("upload"), http_error(507)), "failed (507)"),
    (RestException({"error_code": "INVALID_PARAMETER_VALUE", "message": "no such view"}),
     "refused (400): RestException: INVALID_PARAMETER_VALUE: no such view"),
    (raised_from(MlflowException("API request failed"), requests.ConnectTimeout(f"to {PASSWORD}")), "does not answer"),
    (ConnectionRefusedError(111, "refused"), "does not answer"),
])  # fmt: skip
def test_words_of_stores_are_told_without_secrets_and_values(error, reason):
    assert reason_of(error, URI) == reason
    told = text_of(error, URI)
    for secret in (PASSWORD, CELL, "abc.def"):
        assert secret not in told
    assert reason_of(error, URI, quote=False).count(" ") <= 3


def test_studies_that_say_the_same_to_a_store_at_once_are_both_heard(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    client = opened(uri)
    place = client.create_experiment("people")
    meet, refused = threading.Barrier(4), []

    def study(run_id):
        own = opened(uri)
        for turn in range(8):
            given = DatasetInput(Dataset("people", f"digest{turn}", "local", "{}"))
            for say in (
                partial(own.log_inputs, run_id, [given]),
                partial(own.set_experiment_tag, place, f"note{turn}", "in words"),
                partial(own.delete_experiment_tag, place, f"note{turn}"),
            ):
                meet.wait(60)
                try:
                    say()
                except MlflowException as error:
                    refused.append(str(error))

    runs = [client.create_run(place).info.run_id for _ in range(4)]
    threads = [threading.Thread(target=study, args=(run,)) for run in runs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert refused == []
    digests = [{each.dataset.digest for each in client.get_run(run).inputs.dataset_inputs} for run in runs]
    assert (digests, client.get_experiment(place).tags) == ([{f"digest{turn}" for turn in range(8)}] * 4, {})
