"""Who ran a study, and where: the tags that fill MLflow's own columns, and the flow run of Prefect that it was."""

import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mlflow.entities import SourceType
from mlflow.tracking.context.git_context import GitRunContext
from mlflow.tracking.context.registry import resolve_tags
from mlflow.utils.mlflow_tags import MLFLOW_GIT_COMMIT, MLFLOW_SOURCE_NAME, MLFLOW_SOURCE_TYPE

FLOW_RUN, FLOW_RUN_PAGE = "prefect_flow_run_id", "prefect_flow_run_url"
"""The tags that hold the id and the page of the flow run of Prefect; the second is absent where there is no page."""

_COMMANDS = ("synthrisk", "synthrisk.exe")
_PART = "study"  # the flow that ``benchmark`` and ``evaluate`` run within theirs
_PATIENCE = 5.0  # seconds


def origin() -> dict[str, str]:
    """Return the tags that say who runs a study now: user, source, commit where there is one, and flow run.

    The user, and the kind of the source (a notebook, a job), are told by MLflow's own providers and by those of
    plug-ins, as for runs of MLflow's fluent interface. The source of a study that a command runs is the command,
    without its arguments, which may hold secrets.
    """
    tags = dict(resolve_tags(ignore=[GitRunContext]))
    main = Path(sys.argv[0]) if sys.argv else Path()
    if main.name in _COMMANDS:
        tags |= {MLFLOW_SOURCE_NAME: " ".join(["synthrisk", *(a for a in sys.argv[1:2] if a.isidentifier())])}
    flow = _flow_run()
    if flow.get(FLOW_RUN) and "prefect" in main.parts:  # what a worker of Prefect has started
        tags |= {MLFLOW_SOURCE_NAME: flow["name"], MLFLOW_SOURCE_TYPE: SourceType.to_string(SourceType.JOB)}
    found = commit_of(Path() if main.name in _COMMANDS or not main.is_file() else main.parent)
    tags |= {MLFLOW_GIT_COMMIT: found} if found else {}
    return tags | {name: flow[name] for name in (FLOW_RUN, FLOW_RUN_PAGE) if flow.get(name)}


def commit_of(folder: Path) -> str:
    """Return the commit that is checked out where a folder is; empty where there is none, or no git."""
    try:
        asked = ["git", "-C", str(folder.absolute()), "rev-parse", "--verify", "--quiet", "HEAD"]
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def _flow_run() -> Mapping[str, str]:
    """Return id, name and page of the flow run that is under way: of ``benchmark``, not of the part that is its study.

    Nothing is asked where Prefect is not imported; where its server does not answer, what is known without it stands.
    """
    if "prefect.context" not in sys.modules:
        return {}
    from prefect.client.orchestration import get_client
    from prefect.context import FlowRunContext
    from prefect.utilities.urls import url_for

    under_way = FlowRunContext.get()
    run = under_way.flow_run if under_way is not None else None
    if under_way is None or run is None:
        return {}
    if under_way.flow is not None and under_way.flow.name == _PART and run.parent_task_run_id:
        with suppress(Exception), get_client(sync_client=True) as client:
            parent = client.read_task_run(run.parent_task_run_id).flow_run_id
            run = client.read_flow_run(parent) if parent else run
    page = url_for("flow-run", run.id)
    return {FLOW_RUN: str(run.id), "name": run.name, **({FLOW_RUN_PAGE: page} if page else {})}
