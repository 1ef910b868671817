"""The deployments on a real server and worker, which ``run_services.py`` starts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from deployed import PATIENCE, announced, finished, is_under_way, mlflow_runs, runs
from prefect.client.orchestration import SyncPrefectClient
from waiting import until

from synthrisk.tasks.data.example_tables import read_adult

pytestmark = pytest.mark.services


def test_a_scheduled_benchmark_finishes(client: SyncPrefectClient, home: Path) -> None:
    deployment = client.read_deployment_by_name("benchmark/benchmark")
    assert deployment.schedules[0].schedule.timezone == "Europe/Vienna"
    assert deployment.concurrency_options is not None
    until(lambda: any(is_under_way(r) for r in runs(client, deployment.id)), "the schedule starts no run", PATIENCE)
    client.pause_deployment(deployment.id)  # one run is enough: another each minute would take its core
    run = finished(client, deployment.id, lambda r: r.auto_scheduled)
    assert run.state.is_completed(), run.state.message
    assert set(mlflow_runs(home, "smoke").values()) == {"FINISHED"}


def test_a_published_table_is_evaluated(client: SyncPrefectClient, home: Path) -> None:
    rows = read_adult().sample(600, random_state=1).reset_index(drop=True)
    for name, part in {"real": rows[:400], "control": rows[400:], "published/july": rows[:400]}.items():
        (home / name).parent.mkdir(exist_ok=True)
        part.to_parquet(home / f"{name}.parquet")
    deployment = client.read_deployment_by_name("evaluate/evaluate")
    publish = ["event", "emit", "synthetic-data.published", "--resource-id", "synthetic-data.july"]
    payload = json.dumps({"path": "published/july.parquet"})
    subprocess.run([sys.executable, "-m", "prefect", *publish, "--payload", payload], check=True, timeout=120)
    run = finished(client, deployment.id, lambda r: True)
    assert run.parameters["synthetic"] == "published/july.parquet"
    assert run.created_by.type == "AUTOMATION"
    assert run.state.is_completed(), run.state.message
    assert mlflow_runs(home, "evaluate")["release"] == "FINISHED"
    said = announced(client, "synthetic-data.evaluated")
    assert (said["path"], said["passed"]) == ("published/july.parquet", False)  # it is a copy of the real table
    assert said["verdicts"] == {"memorization/zero_cap.income": "RISK", "look/nearness": "RISK"}
