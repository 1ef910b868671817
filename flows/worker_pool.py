"""Worker processes of this machine that call tasks without Prefect.

They are forked from a process that has imported what tasks need (``forked_from``), which is begun while the command is
still importing and looking at the table: so a worker is there at once, and the imports are paid for once.
"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

from synthrisk.flows.configured import is_configured
from synthrisk.flows.workers import begin
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import ONE_THREAD

_LONGEST = 107 - len("/pymp-12345678/listener-12345678")  # bytes of a folder: Linux takes 107 of a socket's path
_SHORT = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - the folder made there is this user's alone


def begin_early() -> None:
    """Begin the process that workers are forked from, unless a Prefect API is configured: its flows have others.

    Where it cannot be begun, as without room for temporary files, a study says so when it needs it.
    """
    if not is_configured():
        with suppress(OSError):
            _begin()


def is_begun() -> bool:
    """Tell whether the process that workers are forked from is there."""
    return forkserver._forkserver._forkserver_pid is not None  # type: ignore[attr-defined]


def may_be_found_again(workspace: Path) -> bool:
    """Tell whether all that a study makes may be there already, so that it needs no workers."""
    return os.path.exists(workspace / "ledgers")  # noqa: PTH110 - unlike a Path it says no where a name is too long


def pool_of(workers: int) -> ProcessPoolExecutor:
    """Return worker processes, each with one thread, that end with this process however it ends."""
    from synthrisk.tasks.workspace.code import known

    _begin()
    context = multiprocessing.get_context("forkserver")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(known(),))


def _begin_worker(digests: Mapping[Any, str]) -> None:
    from synthrisk.tasks.workspace.code import learn

    begin()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # what generators start is not to have it blocked
    learn(digests)


def _begin() -> None:
    multiprocessing.set_forkserver_preload(["synthrisk.flows.forked_from"])
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    resource_tracker.ensure_running()  # which unblocks signals
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # it would tell of one with a traceback
    try:
        with _short_place():
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        _restore(before)


@contextmanager
def _short_place() -> Iterator[None]:
    """Have the socket by which workers are asked for lie where its path is short enough, if not among temporary files.

    Raises:
        InputError: There is no such place.
    """
    usual = tempfile.gettempdir()
    if _fits(usual):
        yield
        return
    place = next((each for each in _SHORT if _fits(each) and os.access(each, os.W_OK | os.X_OK)), None)
    if place is None:
        raise InputError(
            f"TMPDIR must be a path of at most {_LONGEST} bytes, for the socket by which workers are asked for lies "
            f"there; got one of {len(os.fsencode(usual))}"
        )
    tempfile.tempdir = place
    try:
        yield
    finally:
        tempfile.tempdir = usual


def _fits(folder: str) -> bool:
    return len(os.fsencode(folder)) <= _LONGEST


def _restore(before: Mapping[str, Any]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
