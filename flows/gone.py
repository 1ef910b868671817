"""A Prefect server that goes away while a command runs: the study goes on without it, to its report.

Every request to a server that is gone is tried again for a minute, in the tasks too. So somebody has to look whether it
is there: a thread of the command, which says so once, and from then on nothing is asked of Prefect.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from synthrisk.flows.outcome import Outcome

PATIENCE = 45.0  # seconds in which a server that others run may start again: below the minute of Prefect's retries
_DRAIN = 10.0  # seconds for what is still to be sent when a command ends
_LOOK = 1.0
_GONE, _UNSENT = threading.Event(), threading.Event()
_SETTINGS: list[Any] = []  # of Prefect, in the time of ``watched``: each block of settings has its own
_BEFORE: list[tuple[Any, int, bool]] = []  # such settings, with what they said while there was a server
_ENDED: "list[Outcome]" = []


def is_gone() -> bool:
    """Tell whether the Prefect server of this command has gone."""
    return _GONE.is_set()


@contextmanager
def watched(answers: Callable[[], bool], patience: float) -> Iterator[None]:
    """Look in the time of the block whether a server is there; it has gone when it is away for so many seconds."""
    _ENDED.clear()  # of a flow that nobody watched
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(answers, patience, over), name="Prefect is there", daemon=True)
    also_quiet()
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        _send_the_rest()
        _GONE.clear()
        for settings, retries, logs in reversed(_BEFORE):
            settings.client.max_retries, settings.logging.to_api.enabled = retries, logs
        _BEFORE.clear()
        _SETTINGS.clear()
        _ENDED.clear()


def also_quiet() -> None:
    """Have the settings of Prefect that hold here ask nothing once its server has gone."""
    from prefect.settings import get_current_settings

    _SETTINGS.append(get_current_settings())
    if is_gone():
        _be_quiet()


def remember(outcome: "Outcome") -> None:
    """Remember what the study has ended in: Prefect loses it where its server cannot hear of it."""
    _ENDED[:] = [outcome]


def with_or_without(run: "Callable[[], Outcome]", without: "Callable[[], Outcome]") -> "Outcome":
    """Return what the study ends in, though the server goes in the middle; ``without`` runs it without Prefect.

    Cells that are finished are found again.
    """
    try:
        return run()
    except Exception as error:
        import httpx  # only here: it takes a tenth of a second

        if isinstance(error, httpx.TransportError):
            _GONE.wait(PATIENCE + 2 * _LOOK)  # it may have gone just now
        if not is_gone():
            raise
    return _ENDED[0] if _ENDED else without()


def leave(code: int) -> None:
    """End the process at once where Prefect would go on for minutes to send what nobody hears."""
    if _UNSENT.is_set():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for each in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                each.kill()
        os._exit(code)


def _watch(answers: Callable[[], bool], patience: float, over: threading.Event) -> None:
    last = time.monotonic()
    while not over.wait(_LOOK):
        if answers():
            last = time.monotonic()
        elif time.monotonic() - last >= patience and not over.is_set():
            _GONE.set()
            _be_quiet()
            _end_workers()
            print("the Prefect server has gone: the study goes on without it", file=sys.stderr, flush=True)
            return


def _be_quiet() -> None:
    for settings in _SETTINGS:
        _BEFORE.append((settings, settings.client.max_retries, settings.logging.to_api.enabled))
        settings.client.max_retries = 0
        settings.logging.to_api.enabled = False


def _end_workers() -> None:
    """End worker processes, which would go on to ask a server that has gone, and keep the flow from ending."""
    for each in psutil.Process().children():
        with suppress(psutil.Error):
            if any("multiprocessing.spawn" in part for part in each.cmdline()):
                each.kill()


def _send_the_rest() -> None:
    """Send logs and events that are still to be sent, for some seconds at most."""
    if is_gone():
        _UNSENT.set()
        return
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    last = time.monotonic() + _DRAIN
    for each in (APILogWorker, EventsWorker):
        left: Any = each.drain_all(timeout=max(0.1, last - time.monotonic()))
        if left.not_done:
            _UNSENT.set()
