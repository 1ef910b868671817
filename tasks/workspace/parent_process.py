"""Child processes that end when the process that started them is gone, however it went.

    python -m synthrisk.tasks.workspace.parent_process PROCESS MODULE [ARGUMENT ...]

runs a module as ``python -m`` does, for as long as the parent lives, which is the process of that number.
"""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from runpy import run_module

import psutil

_LOOK = 2.0  # seconds
_EXIT = partial(os._exit, 1)


def end_with_parent(parent: int | None = None, end: Callable[[], object] = _EXIT) -> None:
    """Have this process end within seconds of the one that started it: one that is killed cannot end its children.

    Args:
        parent: Its number, which a process of ``multiprocessing`` knows itself, though it was forked from a server. It
            is not asked for here: of a parent that is gone already the system knows nothing.
        end: What ends it.

    Raises:
        TypeError: The number is neither given nor known.
    """
    known = multiprocessing.parent_process()
    number = parent or (known.pid if known is not None else None)
    if number is None:
        raise TypeError("parent must be given where multiprocessing has not started this process, got None")
    try:
        process = psutil.Process(number)
    except psutil.NoSuchProcess:
        end()
        return
    threading.Thread(target=_watch, args=(process, end), name="end with parent", daemon=True).start()


def _lives(process: psutil.Process) -> bool:
    """Tell whether a process is there, and not only waits for its own parent to look how it ended."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, OSError):  # it cannot be told now, as where no more files may be opened
        return True


def _watch(process: psutil.Process, end: Callable[[], object]) -> None:
    while _lives(process):
        time.sleep(_LOOK)
    end()


def main() -> None:
    """Run the module that the command line names."""
    end_with_parent(int(sys.argv[1]))
    del sys.argv[:2]
    run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
