"""Whether the workspace of a study is one that the command, and each of its workers, can use: asked at the start."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthrisk.conf.loader import home
from synthrisk.conf.study import Runner
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.remote import UnreachableError
from synthrisk.tasks.workspace.shared import Shared, is_shared, look, opened_in_time
from synthrisk.tasks.workspace.store import check_writable

_PATIENCE = 5.0  # seconds for a scheduler to answer
_NAMED = 3  # workers that a sentence names


def check_workspace(workspace: str, runner: Runner) -> None:
    """Refuse a workspace that cannot be written, or that a worker does not see.

    Raises:
        InputError: So it is.
    """
    if not is_shared(workspace):
        check_writable("workspace", Path(workspace), folder=True)
        return
    check_writable("SYNTHRISK_HOME", home(), folder=True)
    try:
        shared = opened_in_time(workspace)
    except UnreachableError as error:
        raise InputError(f"workspace must be a place that answers, but {error}") from None
    if shared.url.startswith("memory:") and runner.is_ours:
        raise InputError(f"workspace memory:// is in one process alone, which workers of {runner.kind} do not see")
    if runner.address:
        _check_workers(runner.address, shared)


def _check_workers(address: str, shared: Shared) -> None:
    """Have each worker of a Dask cluster look for the workspace; ``check_address`` tells where there is no cluster."""
    import distributed

    client_of: Any = distributed.Client  # which is not typed
    try:
        with client_of(address, timeout=_PATIENCE, set_as_default=False) as client:
            found: Mapping[str, object] = client.run(look, shared.url, shared.token, on_error="return")
    except OSError:
        return
    blind = {worker: _why(said, shared.url) for worker, said in found.items() if said != ""}
    if blind:
        told = "; ".join(f"{worker} {why}" for worker, why in list(blind.items())[:_NAMED])
        raise InputError(
            f"all workers must reach the workspace, but {len(blind)} of {len(found)} do not: {told}"
            + ("; ..." if len(blind) > _NAMED else "")
        )


def _why(said: object, url: str) -> str:
    if isinstance(said, UnreachableError | InputError):
        return f"says: {said}"
    return (
        said
        if isinstance(said, str)
        else f"cannot look at {url} ({type(said).__name__}): is this version of synthrisk installed?"
    )
