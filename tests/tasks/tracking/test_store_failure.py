"""A store that fails says why, in the message and in the workspace, without secrets and without what it was told."""

import base64
import re
import sqlite3
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
import requests
from mlflow.entities import Dataset, DatasetInput
from mlflow.exceptions import MlflowException, RestException
from sqlalchemy.exc import IntegrityError, OperationalError

from samples.judged import judged_study
from synthrisk.tasks.log import NotLoggedError, deliver
from synthrisk.tasks.tracking.store import StoreError, opened, reason_of, text_of
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.workspace.references import store

FIRST, PASSWORD, USER, CELL = "20261123-013609-1ddbd6", "Blaumeise-Kq9", "steward", "Zebrafink-Qx7"


def server(status, body, to="/"):
    """Return a server of this machine that answers so below a path, and elsewhere that there is nothing."""

    class Answers(BaseHTTPRequestHandler):
        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            own = to in self.path
            said = body.encode() if own else b'{"experiments": []}'
            self.send_response(status if own else 200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815 - as http.server calls them

        def log_message(self, *_):
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Answers)


@pytest.fixture
def table(tmp_path):
    return store(pd.DataFrame({"age": np.arange(4.0), "city": [CELL, "b", CELL, "b"]}), tmp_path)


PAGE = f"<html>{PASSWORD} and {CELL}</html>"
MESSAGE = '{"error_code": "%s", ' + f'"message": "no \'{CELL}\' for {USER}, {PASSWORD}"' + "}"


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, MESSAGE % "UNAUTHENTICATED", r"refused \(401\)"),
        (403, PAGE, r"refused \(403\)"),
        (404, PAGE, r"refused \(404\)"),
        (500, MESSAGE % "INTERNAL_ERROR", r"failed \(500\)"),
        (503, PAGE, r"failed \(503\)"),
    ],
)
def test_what_a_server_refuses_is_told_by_its_status(tmp_path, table, logged_of, monkeypatch, status, body, told):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with server(status, body) as refuses:
        threading.Thread(target=refuses.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("STORE_PASSWORD", PASSWORD)
        monkeypatch.setenv("SYNTHRISK_VARIABLES", "STORE_PASSWORD")
        port = refuses.server_port
        with pytest.raises(StoreError, match=rf"got http://127\.0\.0\.1:{port} \({told}\)$"):
            opened(f"http://{USER}:{PASSWORD}@127.0.0.1:{port}")
        uri = f"http://{USER}:${{STORE_PASSWORD}}@127.0.0.1:{port}"
        with pytest.raises(NotLoggedError) as raised:
            logged_of(judged_study(FIRST), table, tmp_path, tracking_uri=uri)
        with pytest.raises(NotLoggedError, match=told):
            deliver(tmp_path, FIRST)
        refuses.shutdown()
    assert ids_waiting(tmp_path) == [FIRST]
    kept = (tmp_path / "failures" / f"log-{FIRST}.txt").read_text("utf-8")
    said = f"{raised.value} {kept}"
    assert re.search(rf"\(its store {told}; in its words: \S*failures/log-{FIRST}\.txt\)", str(raised.value))
    assert kept.startswith(("MlflowException: API request", "RestException: "))
    for secret in (PASSWORD, USER, CELL, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(), "<html>"):
        assert secret not in said


def test_a_database_says_what_is_wrong_and_not_what_it_was_told(tmp_path, table, logged_of):
    opened(f"sqlite:///{tmp_path / 'mlflow.db'}")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("CREATE TRIGGER t BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no room for runs'); END")
    with pytest.raises(NotLoggedError, match=r"\(its store failed: IntegrityError: no room for runs; in its words: "):
        logged_of(judged_study(FIRST), table, tmp_path)
    kept = (tmp_path / "failures" / f"log-{FIRST}.txt").read_text("utf-8")
    assert "no room for runs" in kept
    assert "INSERT INTO" not in kept
    assert "cart" not in kept


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


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            raised_from(MlflowException(LOCKED), LOCKED),
            "failed: OperationalError: (sqlite3.OperationalError) database is locked",
        ),
        (
            raised_from(MlflowException(TAKEN), TAKEN),
            "failed: IntegrityError: (builtins.Exception) duplicate key value",
        ),
        (
            MlflowException(f"Invalid value '{CELL}' for tag \"{CELL}\""),
            "failed: MlflowException: Invalid value '...' for tag \"...\"",
        ),
        (
            PermissionError(13, "Permission denied", "/srv/store"),
            "failed: PermissionError: [Errno 13] Permission denied: '/srv/store'",
        ),
        (
            MlflowException(f"no such host in {URI}"),
            "failed: MlflowException: no such host in postgresql://db.example:5432/runs",
        ),
        (
            MlflowException(f"password {PASSWORD} of {USER} is wrong, Bearer abc.def"),
            "failed: MlflowException: password ... of ... is wrong, Bearer ...",
        ),
        (http_error(413), "refused (413)"),
        (raised_from(MlflowException("upload"), http_error(507)), "failed (507)"),
        (
            RestException({"error_code": "INVALID_PARAMETER_VALUE", "message": "no such view"}),
            "refused (400): RestException: INVALID_PARAMETER_VALUE: no such view",
        ),
        (
            raised_from(MlflowException("API request failed"), requests.ConnectTimeout(f"to {PASSWORD}")),
            "does not answer",
        ),
        (ConnectionRefusedError(111, "refused"), "does not answer"),
    ],
)
def test_words_of_stores_are_told_without_secrets_and_values(error, reason):
    assert reason_of(error, URI) == reason
    told = text_of(error, URI)
    for secret in (PASSWORD, CELL, "abc.def"):
        assert secret not in told
    assert reason_of(error, URI, quote=False).count(" ") <= 3


def test_with_full_records_no_word_of_the_store_is_repeated(tmp_path, table, logged_of):
    opened(f"sqlite:///{tmp_path / 'mlflow.db'}")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute(f"CREATE TRIGGER t BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no {CELL} here'); END")
    with pytest.raises(NotLoggedError, match=r"\(its store failed: MlflowException; in its words"):
        logged_of(judged_study(FIRST), table, tmp_path, records="full")
    assert (tmp_path / "failures" / f"log-{FIRST}.txt").read_text("utf-8") == "failed: MlflowException\n"


def test_studies_that_say_the_same_to_a_store_at_once_are_both_heard(tmp_path):
    """MLflow looks and then puts: of four that look at once three were refused, mostly."""
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
    assert digests == [{f"digest{turn}" for turn in range(8)}] * 4
    assert client.get_experiment(place).tags == {}
