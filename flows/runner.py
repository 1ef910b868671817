"""Where cells run: processes of this machine, or a Dask cluster."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner

from synthrisk.conf.study import Runner
from synthrisk.flows.workers import compute_with_one_thread
from synthrisk.metrics.errors import InputError


def check_runner(settings: Runner) -> None:
    """Refuse a runner whose extra is not installed, and a script that its worker processes would run again."""
    if settings.kind == "dask" and find_spec("prefect_dask") is None:
        raise InputError(
            "runner.kind dask needs the extra 'dask', which is not installed: pip install 'synthrisk[dask]'"
        )
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script and not settings.address and not _has_guard(Path(script)):
        raise InputError(
            f'{Path(script).name} must start the study under if __name__ == "__main__", for worker processes import it '
            "and would start the study again; got no such line"
        )


@contextmanager
def task_runner(settings: Runner) -> Iterator[TaskRunner[Any]]:
    """Yield a started task runner; each worker computes with one thread, so that workers x threads = cores."""
    # A flow that was called without a server has one of its own: workers must not start theirs.
    api = PREFECT_API_URL.value() or SubprocessASGIServer().api_url
    with temporary_settings({PREFECT_API_URL: api}), _runner(settings) as started:
        yield started


def _has_guard(script: Path) -> bool:
    """Tell whether a script asks for its ``__name__``: without, each worker process would run it again."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True  # no script: a console, a notebook, a zip
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(tree))


def _runner(settings: Runner) -> TaskRunner[Any]:
    if settings.kind == "processes":
        return ProcessPoolTaskRunner(max_workers=settings.workers, initializer=compute_with_one_thread)
    from prefect_dask import DaskTaskRunner

    if settings.address:
        return DaskTaskRunner(address=settings.address)
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": settings.workers, "threads_per_worker": 1, "dashboard_address": None}
    )
