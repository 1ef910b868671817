"""What each worker process does before its first task."""

import os
import signal
from importlib import import_module

from threadpoolctl import threadpool_limits

from synthrisk.flows.memory import keep_freed_memory
from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.tasks.workspace.parent import end_with_parent

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


def warm() -> None:
    """Import what every worker needs, while the study is still being looked at."""
    for name in _TASKS:
        import_module(f"synthrisk.tasks.{name}")
