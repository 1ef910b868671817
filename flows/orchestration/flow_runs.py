"""Flow runs: their names, tags, the forms of their parameters, and those whose process was killed, shown as Crashed."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import httpx
import psutil
from prefect import runtime, tags
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterParentFlowRunId
from prefect.context import FlowRunContext
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed
from pydantic import WithJsonSchema

from synthrisk.conf import Study, load
from synthrisk.conf.loader import shipped
from synthrisk.conf.secrets import without_secrets
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.store import machine, replace_file


def name_of_benchmark() -> str:
    """Return the name of a run: that of the study, as its settings have it; of a study that cannot be read its file."""
    given = runtime.flow_run.parameters["study"]
    try:
        return f"benchmark {load(given, runtime.flow_run.parameters.get('overrides') or ()).name}"
    except InputError:
        return f"benchmark {Path(given).stem if isinstance(given, str | Path) else 'study'}"


def file_of(synthetic: str) -> str:
    """Return the name of a release's file: what runs, artifacts and events are named after."""
    return Path(without_secrets(str(synthetic))).name


def name_of_evaluation() -> str:
    """Return the name of a run: that of the release's file."""
    return f"evaluate {file_of(runtime.flow_run.parameters['synthetic'])}"


_SHIPPED = {"title": "shipped", "enum": list(shipped())}  # without a type, so that older pages show a file as text
_FILE = {"title": "file", "type": "string"}
_NONE = {"type": "null"}
_SETTINGS = {"title": "settings", "type": "object"}

StudyChoice = Annotated[str | Path | dict[str, Any] | Study, WithJsonSchema({"anyOf": [_SHIPPED, _FILE, _SETTINGS]})]
"""A shipped study by its name, a file by its path, or settings."""

StudyName = Annotated[str | None, WithJsonSchema({"anyOf": [_SHIPPED, _FILE, _NONE]})]
"""A shipped study by its name, or a file by its path, or none."""

_NAMES = {"title": "names", "type": "array", "items": {"type": "string", "enum": ["all", *METRICS]}}
_WITH_OPTIONS = {"title": "with options", "type": "array", "items": {}}

MetricNames = Annotated[list[str | dict[str, Any]] | None, WithJsonSchema({"anyOf": [_NAMES, _WITH_OPTIONS, _NONE]})]
"""Metrics by name, or mappings as in a study, or none."""

_FOLDER = "running"
_WHY = "its process was killed; what was finished is kept, and the same command goes on from there"
_FORGOTTEN = 30 * 86_400.0  # seconds after which a run that this Prefect API does not know is no longer looked for


@contextmanager
def tagged(study: str) -> Iterator[None]:
    """Tag the flow run that is under way by its study, and all runs that begin in the block."""
    tag = f"study:{study}"
    tag_run(tag)
    with tags(tag):
        yield


def tag_run(*added: str) -> None:
    """Add tags to the flow run that is under way."""
    run = FlowRunContext.get()
    if run is None or run.flow_run is None:
        return
    with get_client(sync_client=True) as client:
        known = client.read_flow_run(run.flow_run.id).tags
        client.update_flow_run(run.flow_run.id, tags=sorted({*known, *added}))


@contextmanager
def noted(workspace: Path) -> Iterator[None]:
    """Note the flow run that is under way, with its process, in the time of the block; mark those that have crashed."""
    run = FlowRunContext.get()
    if run is None or run.flow_run is None:
        yield
        return
    with suppress(httpx.HTTPError):  # a server that has just gone is dealt with elsewhere
        mark_crashed(workspace)
    process = psutil.Process()
    note = {"machine": machine(), "process": process.pid, "begun": process.create_time()}
    path = workspace / _FOLDER / f"{run.flow_run.id}.json"
    replace_file(path, json.dumps(note))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def mark_crashed(workspace: Path) -> list[UUID]:
    """Have Prefect show as Crashed what runs of this workspace still seem to run; return which.

    Only runs that a process of this machine began which is dead. One that this Prefect API does not know is left for a
    study that talks to the API that does.
    """
    dead = [path for path in (workspace / _FOLDER).glob("[!.]*.json") if _is_dead(path)]
    if not dead:
        return []
    marked: list[UUID] = []
    with get_client(sync_client=True) as client:
        for path in dead:
            try:
                marked += _mark(client, UUID(path.stem))
            except ObjectNotFound:
                if time.time() - path.stat().st_mtime < _FORGOTTEN:
                    continue
            path.unlink(missing_ok=True)
    return marked


def _mark(client: SyncPrefectClient, run_id: UUID) -> list[UUID]:
    below = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[run_id]))
    runs = [client.read_flow_run(run_id), *client.read_flow_runs(flow_run_filter=below)]
    open_runs = [run for run in runs if run.state is not None and not run.state.is_final()]
    for run in reversed(open_runs):
        client.set_flow_run_state(run.id, Crashed(message=_WHY), force=True)
    return [run.id for run in open_runs]


def _is_dead(path: Path) -> bool:
    try:
        note: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if note["machine"] != machine() or note["process"] == os.getpid():
            return False
        return bool(abs(psutil.Process(note["process"]).create_time() - note["begun"]) > 1)
    except psutil.NoSuchProcess:
        return True
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return False
