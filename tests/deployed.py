"""What tests of deployments wait for on a real Prefect server."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas import FlowRun, TaskRun
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId, TaskRunFilter, TaskRunFilterTags
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.filters import EventFilter, EventNameFilter
from prefect.exceptions import ObjectNotFound
from waiting import until

PATIENCE = 300  # seconds a run, on a slow machine


def deployment_of(client: SyncPrefectClient, name: str, served: "subprocess.Popen[bytes]") -> DeploymentResponse:
    """Wait until a process that serves has made its deployment."""

    def made() -> DeploymentResponse | None:
        assert served.poll() is None, f"no deployment {name}, but exit code {served.poll()}"
        with suppress(ObjectNotFound):
            return client.read_deployment_by_name(name)
        return None

    return until(made, f"no deployment {name}", PATIENCE, pause=1)


def runs(client: SyncPrefectClient, deployment: UUID) -> list[FlowRun]:
    return client.read_flow_runs(deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])))


def is_under_way(run: FlowRun) -> bool:
    return run.state_type in (StateType.PENDING, StateType.RUNNING)


def finished(client: SyncPrefectClient, deployment: UUID, wanted: Callable[[FlowRun], bool]) -> FlowRun:
    """Wait for the first run of a deployment to end; meanwhile they run one at a time."""

    def ended() -> FlowRun | None:
        everyone = runs(client, deployment)
        assert sum(r.state is not None and r.state.is_running() for r in everyone) <= 1, "one at a time"
        return next((r for r in everyone if wanted(r) and r.state is not None and r.state.is_final()), None)

    return until(ended, f"no run ended in {PATIENCE} s", PATIENCE, pause=2)


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
    wanted = EventFilter(event=EventNameFilter(name=[name]))  # 100, the client's limit, is more than the server takes
    return until(lambda: client.read_events(wanted, limit=10).events, f"no event {name}", 60, pause=2)[0].payload


def task_runs(client: SyncPrefectClient, study: str) -> list[TaskRun]:
    """Return the task runs of a study, by the tag that all of them have."""
    return client.read_task_runs(task_run_filter=TaskRunFilter(tags=TaskRunFilterTags(all_=[f"study:{study}"])))
