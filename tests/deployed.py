"""What tests of deployments wait for on a real Prefect server."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas import FlowRun, TaskRun
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId, TaskRunFilter, TaskRunFilterTags
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.filters import EventFilter, EventNameFilter
from prefect.exceptions import ObjectNotFound

PATIENCE = 300  # seconds a run, on a slow machine


def deployment_of(client: SyncPrefectClient, name: str, served: "subprocess.Popen[bytes]") -> DeploymentResponse:
    """Wait until a process that serves has made its deployment."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and served.poll() is None:
        try:
            return client.read_deployment_by_name(name)
        except ObjectNotFound:
            time.sleep(1)
    raise AssertionError(f"no deployment {name} (exit code {served.poll()})")


def runs(client: SyncPrefectClient, deployment: UUID) -> list[FlowRun]:
    return client.read_flow_runs(deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])))


def is_under_way(run: FlowRun) -> bool:
    return run.state_type in (StateType.PENDING, StateType.RUNNING)


def finished(client: SyncPrefectClient, deployment: UUID, wanted: Callable[[FlowRun], bool]) -> FlowRun:
    """Wait for the first run of a deployment to end; meanwhile they run one at a time."""
    seen: list[FlowRun] = []
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
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
    end = time.monotonic() + 60
    while time.monotonic() < end:
        # the client's default limit, 100, is more than the server takes
        found = client.read_events(EventFilter(event=EventNameFilter(name=[name])), limit=10).events
        if found:
            return found[0].payload
        time.sleep(2)
    raise AssertionError(f"no event {name} in 60 s")


def task_runs(client: SyncPrefectClient, study: str) -> list[TaskRun]:
    """Return the task runs of a study, by the tag that all of them have."""
    return client.read_task_runs(task_run_filter=TaskRunFilter(tags=TaskRunFilterTags(all_=[f"study:{study}"])))


def until(holds: Callable[[], bool], otherwise: str, seconds: float = 120) -> None:
    """Wait until something holds; fail where it does not in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(1)
