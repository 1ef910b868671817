"""Child processes that end when the process that started them is gone, however it went.

    python -m synthrisk.flows.parent MODULE [ARGUMENT ...]

runs a module as ``python -m`` does, for as long as the parent lives.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from runpy import run_module

import psutil

_LOOK = 2.0  # seconds


def end_with_parent(process: int | None = None) -> None:
    """Have this process end within seconds of its parent, or of another that it works for.

    One that is killed cannot end its children itself.
    """
    lives = partial(_is_parent, os.getppid()) if process is None else partial(_lives, psutil.Process(process))
    threading.Thread(target=_watch, args=(lives,), name="end with parent", daemon=True).start()


def _is_parent(process: int) -> bool:
    return os.getppid() == process


def _lives(process: psutil.Process) -> bool:
    """Tell whether a process is there, and not only waits for its own parent to look how it ended."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _watch(lives: Callable[[], bool]) -> None:
    while lives():
        time.sleep(_LOOK)
    os._exit(1)


def main() -> None:
    """Run the module that the command line names."""
    end_with_parent()
    del sys.argv[0]
    run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
