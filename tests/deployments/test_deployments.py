"""The deployments on a real server and worker, which ``run_services.py`` starts."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas import FlowRun
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.events.filters import EventFilter, EventNameFilter

from synthrisk.tasks.data.adult import read_adult

pytestmark = pytest.mark.services

PATIENCE = 300  # seconds a run, on a slow machine


@pytest.fixture(scope="module")
def client() -> Iterator[SyncPrefectClient]:
    with get_client(sync_client=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def home() -> Path:
    return Path(os.environ["SYNTHRISK_HOME"])


def runs(client: SyncPrefectClient, deployment: UUID) -> list[FlowRun]:
    return client.read_flow_runs(deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])))


def finished(client: SyncPrefectClient, deployment: UUID, wanted: Callable[[FlowRun], bool]) -> FlowRun:
    """Wait for the first run of a deployment to end; meanwhile they run one at a time."""
    seen: list[FlowRun] = []
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        everyone = runs(client, deployment)
        assert sum(r.state is not None and r.state.is_running() for r in everyone) <= 1, "one at a time"
        seen = [r for r in everyone if wanted(r)]
        for run in seen:
            if run.state is not None and run.state.is_final():
                return run
        time.sleep(2)
    states = [(r.name, r.state_name) for r in seen]
    raise AssertionError(f"no run ended in {PATIENCE} s: {states}")


def mlflow_runs(home: Path, experiment: str) -> dict[str, str]:
    """Return the status of the MLflow runs of an experiment by synthesizer."""
    from mlflow import MlflowClient

    store = MlflowClient(f"sqlite:///{home / '.synthrisk' / 'mlflow.db'}")
    found = store.get_experiment_by_name(experiment)
    assert found is not None
    assert found.artifact_location == (home / ".synthrisk" / "artifacts").as_uri()
    return {r.data.tags.get("synthesizer", "study"): r.info.status for r in store.search_runs([found.experiment_id])}


def announced(client: SyncPrefectClient, name: str) -> dict[str, object]:
    """Wait for the event that says how an evaluation ended; return what it says."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        # the client's default limit, 100, is more than the server takes
        found = client.read_events(EventFilter(event=EventNameFilter(name=[name])), limit=10).events
        if found:
            return found[0].payload
        time.sleep(2)
    raise AssertionError(f"no event {name} in 60 s")


def test_a_scheduled_benchmark_finishes(client: SyncPrefectClient, home: Path) -> None:
    deployment = client.read_deployment_by_name("benchmark/benchmark")
    assert deployment.schedules[0].schedule.timezone == "Europe/Vienna"
    assert deployment.concurrency_options is not None
    run = finished(client, deployment.id, lambda r: r.auto_scheduled)
    client.pause_deployment(deployment.id)
    assert run.state is not None
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
    assert run.created_by is not None
    assert run.created_by.type == "AUTOMATION"
    assert run.state is not None
    assert run.state.is_completed(), run.state.message
    assert mlflow_runs(home, "evaluate")["release"] == "FINISHED"
    said = announced(client, "synthetic-data.evaluated")
    assert said["path"] == "published/july.parquet"
    assert said["passed"] is False  # it is a copy of the real table
    assert said["verdicts"] == {"memorization/zero_cap.income": "RISK"}
