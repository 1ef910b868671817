"""How a worker starts, a process or one of a Dask cluster: what it does before its first task."""

import os
import signal
from importlib import import_module
from typing import Any

from threadpoolctl import threadpool_limits

from synthrisk.flows.execution.signals import keep_freed_memory
from synthrisk.flows.orchestration.server import flow_run
from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.tasks.workspace.parent_process import end_with_parent

_TASKS = ("attack", "bootstrap", "synthesize.task")


def compute_with_one_thread() -> None:
    """Limit this process to one thread: libraries not yet loaded by variables, those that are by their own means."""
    os.environ.update(ONE_THREAD)
    threadpool_limits(1)


def begin() -> None:
    """Do what a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends its workers
    end_with_parent()
    keep_freed_memory()
    compute_with_one_thread()


class _ByServer(dict[int, Any]):
    """Services of Prefect by their key and by the address of the API that holds where they are asked for."""

    def __setitem__(self, key: int, service: Any) -> None:
        super().__setitem__(_with_server(key), service)

    def get(self, key: int, default: Any = None) -> Any:
        """See ``dict``, as for the next."""
        return super().get(_with_server(key), default)

    def pop(self, key: int, default: Any = None) -> Any:
        """See ``dict``."""
        return super().pop(_with_server(key), default)


def _with_server(key: int) -> int:
    from prefect.settings import PREFECT_API_URL

    return hash((key, PREFECT_API_URL.value()))


def serve_several_servers() -> None:
    """Have this process, a worker that outlives commands, ask for each call the Prefect server of its own command.

    Each call brings the address of its server along. But Prefect's services, which take slots by tags and send events,
    are one for the whole process, with the address of the first call: the second of two commands, each with a temporary
    server, would wait for that of the first, which has ended, and fail.
    """
    from prefect._internal.concurrency.services import _QueueServiceBase

    services: Any = _QueueServiceBase
    if not isinstance(services._instances, _ByServer):
        services._instances = _ByServer()


def warm() -> None:
    """Import what every worker needs, while the study is still being looked at."""
    for name in _TASKS:
        import_module(f"synthrisk.tasks.{name}")


def compile_all() -> None:
    """Compile what many releases need, where it is not on disk."""
    from synthrisk.metrics.compiled import is_kept
    from synthrisk.metrics.models.forest import prepare as prepare_forest
    from synthrisk.metrics.models.forest_trees import grow
    from synthrisk.metrics.neighbours.box_search import VECTORS, WALKS
    from synthrisk.metrics.neighbours.nearest import prepare

    if not is_kept(grow):
        prepare_forest()
    if not all(map(is_kept, (*VECTORS, *WALKS))):
        prepare(walks=True)


def start_workers() -> None:
    """Have the worker processes of the flow that is under way start now, not when the first cell is there.

    Not in a runner of our own: Prefect enters a copy of the flow's runner in each task run, which would start its own.
    """
    from prefect.task_runners import ProcessPoolTaskRunner

    run = flow_run()
    runner = run.task_runner if run is not None else None
    if isinstance(runner, ProcessPoolTaskRunner) and runner._executor is not None:
        for _ in range(runner._max_workers):
            runner._executor.submit(warm)


def prepare_cluster(address: str | None) -> None:
    """Have all workers of a Dask cluster that outlives this command ask the Prefect server of each command."""
    run = flow_run()
    if address and run is not None:
        runner: Any = run.task_runner
        runner.client.register_worker_callbacks(setup=serve_several_servers)
