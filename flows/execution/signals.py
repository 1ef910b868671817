"""Ctrl-C and SIGTERM: all ends within seconds, in one line, and the next run goes on from what is finished.

Before that, a process is told to keep the memory that it frees.
"""

import contextvars
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import psutil

from synthrisk.flows.orchestration.server import flow_run

_SAID = "stopped: what is finished is kept, and the same command goes on from there"
_TOLD = 5.0  # seconds for Prefect to hear of it
_PATIENCE = 2.0  # seconds for children to end
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CLEAN = "\r\x1b[2K\x1b[?25h"  # wipes the line and shows the cursor
_CAUGHT: list[str] = []  # what is said, in the time of ``stoppable``


@contextmanager
def stoppable(said: str = _SAID) -> Iterator[None]:
    """End this process and all that it started on the first signal, saying what is left; on a second one at once.

    The exit code is 130 after Ctrl-C, 143 after SIGTERM. Signals belong to the main thread; elsewhere none is caught.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [signal.signal(each, _stop) for each in _SIGNALS]
    _CAUGHT.append(said)
    try:
        yield
    finally:
        _CAUGHT.pop()
        for each, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(each, handler)


@contextmanager
def interruptible(patience: float, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Have Ctrl-C do what it did before, and end this process and all that it started where it has not ended in time.

    For a block that ends by itself what it has begun, as a runner of Prefect does. ``meanwhile`` is done in a thread of
    its own as soon as Ctrl-C is heard. A second Ctrl-C ends all at once.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, _end_at_once)
        threading.Thread(target=meanwhile, daemon=True).start()
        late = threading.Timer(patience, _end_at_once, (number, None))
        late.daemon = True
        late.start()
        if callable(before):
            before(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def catch_again() -> None:
    """Catch the signals again in the time of ``stoppable``: Prefect puts a handler of its own around a flow run.

    That one waits for the tasks that are under way, which may be hours.
    """
    if _CAUGHT and threading.current_thread() is threading.main_thread():
        for each in _SIGNALS:
            signal.signal(each, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        signal.signal(each, _end_at_once)
    _end_moving()
    with suppress(OSError):  # nobody reads it any more
        os.write(2, f"{_on_a_line_of_its_own()}{_CAUGHT[-1]}\n".encode())  # print may be under way
    context = flow_run()
    run = context and context.flow_run
    if run is not None:
        teller = threading.Thread(target=contextvars.copy_context().run, args=(_tell_prefect, run), daemon=True)
        teller.start()
        teller.join(_TOLD)
    _end(number)


def _end_moving() -> None:
    """Take away the line that moves on the terminal: it would be drawn again below what is said."""
    progress = sys.modules.get("synthrisk.flows.orchestration.progress")
    if progress is not None:  # where nothing has imported it, nothing moves
        progress.end_moving()


def _on_a_line_of_its_own() -> str:
    """Return what goes before a sentence: the ^C of a terminal is wiped away, and its cursor is shown again."""
    return _CLEAN if os.isatty(2) else "\n"


def _end_at_once(number: int, frame: FrameType | None) -> None:
    if os.isatty(2):
        with suppress(OSError):
            os.write(2, _CLEAN.encode())
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            each.kill()
    os._exit(128 + number)


def _end(number: int) -> None:
    children = psutil.Process().children(recursive=True)
    for each in children:
        with suppress(psutil.Error):
            each.terminate()
    for each in psutil.wait_procs(children, timeout=_PATIENCE)[1]:
        with suppress(psutil.Error):
            each.kill()
    os._exit(128 + number)


def _tell_prefect(run: Any) -> None:
    """Have the pages of Prefect say that a flow run and those around it were stopped, if its server answers in time."""
    from prefect.client.orchestration import get_client
    from prefect.states import Cancelled

    with suppress(Exception), get_client(sync_client=True) as client:
        while run is not None:
            client.set_flow_run_state(run.id, Cancelled(message=_SAID), force=True)
            around = run.parent_task_run_id and client.read_task_run(run.parent_task_run_id).flow_run_id
            run = client.read_flow_run(around) if around else None


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h of the GNU C library numbers them
_KEPT = 2**31 - 1  # bytes: the most that can be said
_OLD_MOST = 2**25  # the most that older versions of the library take


def keep_freed_memory() -> None:
    """Let this process keep what it has freed: arrays of a million numbers come and go by the thousand.

    Arrow takes its memory from the same allocator then, unless the environment names another. Where the C library is
    not GNU's, nothing is changed.
    """
    try:
        allocator = ctypes.CDLL(None)
        allocator.gnu_get_libc_version  # noqa: B018 - mallopt of another library may mean something else
    except (AttributeError, OSError, TypeError):
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if any(allocator.mallopt(_MMAP_THRESHOLD, most) for most in (_KEPT, _OLD_MOST)):
        allocator.mallopt(_TRIM_THRESHOLD, _KEPT)
