"""Where cells run: processes of this machine, or a Dask cluster."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

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
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        with _runner(settings) as started:
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
