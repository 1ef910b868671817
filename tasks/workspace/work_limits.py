"""Work that may take so long and so much memory: in a process of its own, which is ended where it takes more."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from synthrisk.tasks.workspace.failures import CellError, told_safely
from synthrisk.tasks.workspace.parent_process import end_with_parent
from synthrisk.tasks.workspace.store import draft_name, private_folder

_LOOK = 0.1  # seconds between two looks at the memory
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Limits:
    """What a cell may take to be made, and again to be attacked; None: as much as it likes."""

    seconds: float | None = None
    gigabytes: float | None = None  # resident memory of the process and all that it starts
    apart: bool = False  # in a process of its own, whatever else is limited

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return self.apart or self.seconds is not None or self.gigabytes is not None


NO_LIMITS = Limits()


TAKEN = "taken.json"
"""What it took to make what a folder holds."""


@dataclass(frozen=True)
class Taken:
    """What work has taken."""

    seconds: float  # of the clock
    megabytes: float | None = None  # the most resident memory of its process meanwhile; None where nobody tells


def within(limits: Limits, folder: Path, cell: str, work: Callable[..., object], *given: Any) -> Taken:
    """Do work that leaves its results in files; with limits in a process group of its own, which is ended above them.

    Return what it has taken, of a process of its own without its start.

    Args:
        limits: The limits.
        folder: The workspace.
        cell: What is worked on, for the name of the private file with the text of a failure.
        work: A function of a module.
        *given: What it is given: places, never records.

    Raises:
        InputError: As the work raises it.
        CellError: The work failed, took more than a limit, or its process was ended by something else.
    """
    if not limits.any:
        return _measured(work, *given)
    with TemporaryDirectory(prefix=draft_name(), dir=private_folder(folder / "limited")) as place:
        asked = Path(place) / "asked"
        asked.write_bytes(pickle.dumps((folder, cell, work, given)))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__, str(os.getpid()), str(asked)], env=environment, start_new_session=True
        )
        try:
            over = _wait(process, limits)
        finally:
            _end(process)
        failure = asked.with_name("failure")
        if over:
            raise CellError(over)
        if failure.exists():
            raise pickle.loads(failure.read_bytes())  # noqa: S301 - written by our own process
        if process.returncode:
            raise CellError(_ended(process.returncode))
        return Taken(**json.loads(asked.with_name("taken").read_text()))


_PROCESS = Path("/proc/self")


def _measured(work: Callable[..., object], *given: Any) -> Taken:
    """Do work; return what it has taken. Only Linux tells the most memory of a while, and not in each container."""
    told = True
    try:
        (_PROCESS / "clear_refs").write_text("5")  # the high-water mark begins anew
    except OSError:
        told = False
    began = time.monotonic()
    work(*given)
    seconds = time.monotonic() - began
    most = re.search(r"VmHWM:\s+(\d+) kB", (_PROCESS / "status").read_text()) if told else None
    return Taken(seconds, int(most[1]) * 1024 / 1e6 if most else None)


def _wait(process: subprocess.Popen[bytes], limits: Limits) -> str:
    """Wait for the end, or for a limit; return which limit it was, in words."""
    start = time.monotonic()
    while process.poll() is None:
        if limits.seconds is not None and time.monotonic() - start > limits.seconds:
            return f"it took longer than runner.time_limit, {limits.seconds:g} seconds"
        if limits.gigabytes is not None and _memory(process.pid) > limits.gigabytes * _GIGABYTE:
            return f"it took more memory than runner.memory_limit, {limits.gigabytes:g} GB"
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
    return ""


def _memory(pid: int) -> int:
    total = 0
    with suppress(psutil.Error):
        own = psutil.Process(pid)
        for each in (own, *own.children(recursive=True)):
            with suppress(psutil.Error):
                total += each.memory_info().rss
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group, whose leader may have ended already."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ended(code: int) -> str:
    by = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
    return f"its process was ended {by}"


def _main(asker: int, asked: Path) -> None:
    end_with_parent(asker, lambda: os.killpg(0, signal.SIGKILL))  # with all that the work has started
    folder, cell, work, given = pickle.loads(asked.read_bytes())  # noqa: S301 - written by our own process
    try:
        taken = told_safely(folder, cell, lambda: _measured(work, *given))
        asked.with_name("taken").write_text(json.dumps(asdict(taken)))
    except Exception as error:  # noqa: BLE001 - InputError and CellError: their texts hold no cells
        asked.with_name("failure").write_bytes(pickle.dumps(error))


if __name__ == "__main__":
    _main(int(sys.argv[1]), Path(sys.argv[2]))
