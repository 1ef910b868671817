"""``synthrisk serve`` against a real server: the schedule is there, its runs finish, and Ctrl-C pauses it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from deployed import PATIENCE, deployment_of, finished, is_under_way, mlflow_runs, runs
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.schedules import CronSchedule
from waiting import until

pytestmark = pytest.mark.services


@pytest.fixture
def served(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    arguments = ["serve", "smoke", "--cron", "* * * * *", "--timezone", "Europe/Vienna", "--name", "nightly"]
    command = [sys.executable, "-m", "synthrisk.flows.cli.app", *arguments]
    with (tmp_path / "served.log").open("wb") as log:
        streams = {"stdout": log, "stderr": subprocess.STDOUT, "start_new_session": True}
        process = subprocess.Popen(command, cwd=tmp_path, **streams)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_served_study_runs_by_its_schedule(
    client: SyncPrefectClient, served: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    found = deployment_of(client, "benchmark/nightly", served)
    (schedule,) = found.schedules
    assert isinstance(schedule.schedule, CronSchedule)
    assert (schedule.schedule.cron, schedule.schedule.timezone, schedule.active) == ("* * * * *", "Europe/Vienna", True)
    assert found.parameters == {"study": "smoke", "overrides": []}
    assert (found.work_pool_name, found.entrypoint) == (None, "synthrisk.flows.benchmark.benchmark")
    until(lambda: any(is_under_way(r) for r in runs(client, found.id)), "the schedule has started no run", PATIENCE)
    client.pause_deployment(found.id)  # one run is enough: another each minute would take its core
    run = finished(client, found.id, lambda r: r.auto_scheduled)
    assert run.state.is_completed(), run.state.message
    assert set(mlflow_runs(tmp_path, "smoke").values()) == {"FINISHED"}
    until(lambda: not any(is_under_way(r) for r in runs(client, found.id)), "a run is always under way")
    client.resume_deployment(found.id)
    os.killpg(served.pid, signal.SIGINT)
    served.wait(60)
    assert client.read_deployment(found.id).paused
    assert "Traceback" not in (tmp_path / "served.log").read_text("utf-8", "replace")
