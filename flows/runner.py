"""Where cells run: processes of this machine, or a Dask cluster."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner

from synthrisk.conf.study import Runner
from synthrisk.metrics.errors import InputError

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def check_runner(settings: Runner) -> None:
    """Refuse a runner whose extra is not installed."""
    if settings.kind == "dask" and find_spec("prefect_dask") is None:
        raise InputError(
            "runner.kind dask needs the extra 'dask', which is not installed: pip install 'synthrisk[dask]'"
        )


@contextmanager
def task_runner(settings: Runner) -> Iterator[TaskRunner[Any]]:
    """Yield a started task runner; each worker computes with one thread, so that workers x threads = cores."""
    # A flow that was called without a server has one of its own: workers must not start theirs.
    api = PREFECT_API_URL.value() or SubprocessASGIServer().api_url
    own = dict.fromkeys(ONE_THREAD, "1") | {"PREFECT_API_URL": api}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        with temporary_settings({PREFECT_API_URL: api}), _runner(settings) as started:
            yield started
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _runner(settings: Runner) -> TaskRunner[Any]:
    if settings.kind == "processes":
        return ProcessPoolTaskRunner(max_workers=settings.workers)
    from prefect_dask import DaskTaskRunner

    if settings.address:
        return DaskTaskRunner(address=settings.address)
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": settings.workers, "threads_per_worker": 1, "dashboard_address": None}
    )
