"""A Prefect server that goes in the middle: the study goes on to its report without it, and ends in time."""

import os
import signal
import socket
import threading
import time
from functools import partial

import psutil
import pytest
import yaml
from mlflow import MlflowClient

from synthrisk.flows.connections import answers_at
from synthrisk.flows.orchestration.server import is_gone, remember, watched, with_or_without


def wait_until_gone(patience: float) -> None:
    last = time.monotonic() + patience
    while not is_gone() and time.monotonic() < last:
        time.sleep(0.1)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch) -> None:
    monkeypatch.setattr("synthrisk.flows.orchestration.server._LOOK", 0.05)


def refused() -> str:
    raise ConnectionError("nobody is there")


def test_a_server_that_goes_is_seen_and_what_was_found_stands(monkeypatch, capsys):
    monkeypatch.setattr("synthrisk.flows.orchestration.server._UNSENT", threading.Event())
    server = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{server.getsockname()[1]}/api"
    with watched(partial(answers_at, address), 0):
        time.sleep(0.2)
        assert not is_gone()
        with pytest.raises(ConnectionError):
            with_or_without(refused, lambda: "without")
        server.close()
        wait_until_gone(30)
        assert is_gone()
        assert with_or_without(refused, lambda: "without") == "without"
        remember("found")
        assert with_or_without(refused, lambda: "without") == "found"
        assert with_or_without(lambda: "with", lambda: "without") == "with"
    assert not is_gone()
    assert capsys.readouterr().err == "the Prefect server has gone: the study goes on without it\n"


def test_one_that_is_back_in_time_has_not_gone():
    there, back = iter([True, False, False, True, True]), threading.Event()

    def answers() -> bool:
        found = next(there, None)
        if found is None:
            back.set()
        return found is not False

    with watched(answers, 30):
        assert back.wait(30)
        assert not is_gone()


@pytest.mark.proof
def test_a_study_whose_server_is_killed_ends_with_its_verdict(folder, settings, start_python):
    path, workspace = folder / "gone.yaml", folder / "gone"
    parts = {"split": {"folds": 3, "repetitions": 2}, "references": ["copy"], "metrics": ["zero_cap"]}
    limits = {"thresholds": {"memorization/zero_cap.income": -1}}
    path.write_text(yaml.safe_dump(settings(workspace, folder / "people.csv", name="gone", **parts, **limits)))
    arguments = ["benchmark", str(path), "--prefect"]
    command = f"import sys; sys.argv[1:] = {arguments}; from synthrisk.flows.cli.app import main; main()"
    script = folder / "gone.py"
    script.write_text(f"import os; os.environ.pop('PREFECT_API_URL', None)\nif __name__ == '__main__':\n    {command}\n")
    process = start_python(script, cwd=folder)
    own = psutil.Process(process.pid)
    last = time.monotonic() + 240
    while time.monotonic() < last and not [p for p in workspace.glob("ledgers/*") if p.name[0] != "."]:
        time.sleep(0.2)
    (server,) = [each for each in own.children() if "uvicorn" in each.cmdline()]
    os.kill(server.pid, signal.SIGKILL)
    children = own.children(recursive=True)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 1, err
    assert "the Prefect server has gone: the study goes on without it" in err
    assert "Traceback" not in err
    assert "RISK" in out
    assert list(workspace.glob("reports/*/report.html"))
    client = MlflowClient(f"sqlite:///{workspace / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("gone").experiment_id])
    assert {run.data.tags["role"] for run in runs} == {"synthesizer", "reference", "study"}
    assert not psutil.wait_procs(children, timeout=10)[1]
