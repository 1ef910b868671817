"""A block holds the address of the store: its password is in no parameter, file, log or database."""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest
from connections import Answering, free_port, serving
from mlflow import MlflowClient
from prefect.client.orchestration import get_client
from waiting import until

from synthrisk.conf import load
from synthrisk.conf.study import Tracking
from synthrisk.flows.benchmark import benchmark, settings_of
from synthrisk.flows.preflight import check
from synthrisk.metrics import InputError
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.log import NotLoggedError
from synthrisk.tasks.tracking.addresses import allowed, uri_of
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.tracking_block import SynthriskTracking
from synthrisk.tasks.workspace.references import store

pytestmark = pytest.mark.proof  # with a Prefect server
PASSWORD = "Blaumeise-Kq9"


def holding(secret: str, *folders: Path) -> list[str]:
    files = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return [str(p) for p in files if secret.encode() in p.read_bytes()]


@pytest.fixture(scope="module")
def block(prefect_database, folder) -> str:
    SynthriskTracking(uri=f"sqlite:///{folder / 'shared.db'}", records="none").save("stores", overwrite=True)
    return "stores"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[int]:
    place, port = tmp_path_factory.mktemp("server"), free_port()
    store = ["--backend-store-uri", f"sqlite:///{place / 'mlflow.db'}", "--artifacts-destination", str(place / "kept")]
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port), *store],
        env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}, cwd=place, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        until(lambda: process.poll() is not None or _answers(port), "no MLflow server", 240, pause=0.5)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(port: int) -> bool:
    with suppress(OSError):
        urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
        return True
    return False


def test_a_password_is_nowhere_but_in_prefects_secrets(run, folder, server, prefect_database, caplog):
    uri, workspace = f"http://me:{PASSWORD}@127.0.0.1:{server}", folder / "of-the-block"
    SynthriskTracking(uri=uri, records="none", workspace=str(workspace)).save("remote", overwrite=True)
    with caplog.at_level("INFO"):
        outcome = run("asked", tracking={"block": "remote", "records": "full"}, metrics=["zero_cap"])
    assert (workspace / "reports").is_dir()
    assert not (folder / "asked").exists()
    assert not (workspace / "mlflow.db").exists()
    runs = MlflowClient(f"http://127.0.0.1:{server}").search_runs([outcome.logged.experiment_id])
    assert {r.data.tags["role"] for r in runs} == {"study", "synthesizer"}
    assert outcome.logged.uri == f"http://127.0.0.1:{server}"
    assert PASSWORD not in caplog.text + repr(outcome)
    assert holding(PASSWORD, folder, prefect_database.parent) == []
    assert len(holding("remote", folder, prefect_database.parent)) >= 2  # what is looked for is seen where it is


class _Breaks(Answering):
    def do_GET(self) -> None:
        none = 404, b'{"error_code": "RESOURCE_DOES_NOT_EXIST"}'
        self.answer(*((200, b'{"experiments": []}') if "search" in self.path else none))

    def do_POST(self) -> None:
        if "search" in self.path:
            self.do_GET()
        self.close_connection = True


def test_a_store_that_breaks_does_not_tell_its_password(logged_of, tmp_path, prefect_database, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with serving(_Breaks) as port:
        SynthriskTracking(uri=f"http://me:{PASSWORD}@127.0.0.1:{port}").save("breaks", overwrite=True)
        table = store(pd.DataFrame({"x": np.arange(4.0)}), tmp_path)
        with pytest.raises(NotLoggedError, match="not logged yet: `synthrisk log s") as raised:
            logged_of(StudyResult("s", "people", [], [], []), table, tmp_path, tracking_block="breaks")
    assert raised.value.logged.waits.startswith("its store does not answer; in its words: ")
    (kept,) = (tmp_path / "failures").iterdir()
    assert "RemoteDisconnected" in kept.read_text("utf-8")
    assert ids_waiting(tmp_path) == ["s"]
    assert PASSWORD not in "".join(traceback.format_exception(raised.value))
    assert holding(PASSWORD, tmp_path) == []


def test_a_block_limits_what_is_tracked_of_records(block):
    assert allowed(Tracking(block=block, records="full")).records == "none"
    assert settings_of({**load("smoke").model_dump(), "tracking": {"block": block}}).tracking.records == "none"
    SynthriskTracking(uri="sqlite:///x.db", records="full").save("open", overwrite=True)
    assert allowed(Tracking(block="open")).records == "hashed"


def test_an_address_given_to_the_flow_takes_the_place_of_the_block_and_a_study_has_one_alone(block):
    settings = {**load("smoke").model_dump(), "tracking": {"block": block}}
    tracking = settings_of(settings, None, "sqlite:///other.db").tracking
    assert (tracking.uri, tracking.block) == ("sqlite:///other.db", None)
    with pytest.raises(InputError, match="give uri or block, not both, got uri and block='stores'"):
        load("smoke", ["tracking.uri=sqlite:///x.db", f"tracking.block={block}"])
    with get_client(sync_client=True) as client:
        shown = client.read_block_document_by_name("stores", "synthrisk-tracking", include_secrets=False)
    assert "*" in str(shown.data["uri"])
    assert PASSWORD not in str(shown)


def test_a_block_that_is_not_there_or_leads_nowhere_is_refused_without_its_password(prefect_database):
    with pytest.raises(InputError, match=r"tracking\.block must name a block .* SynthriskTracking, got 'absent'"):
        benchmark("smoke", ["tracking.block=absent"])
    port = free_port()
    SynthriskTracking(uri=f"http://me:{PASSWORD}@127.0.0.1:{port}").save("away", overwrite=True)
    assert uri_of(Tracking(block="away")) == f"http://me:{PASSWORD}@127.0.0.1:{port}"
    with pytest.raises(InputError, match=rf"tracking\.block must lead to .* got none at 127.0.0.1:{port}") as told:
        check(load("smoke", ["tracking.block=away"]))
    assert PASSWORD not in str(told.value)
