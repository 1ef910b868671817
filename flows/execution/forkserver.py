"""Imported by the process that workers are forked from: what it has, each of them has at once.

What each look at a release runs is compiled meanwhile, where it never was on this machine: once, not in every worker
at the same time, and in a process of its own, beside the imports. As a program, ``python -m``, this module compiles
all that many releases need, at set-up.
"""

import multiprocessing.connection
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from synthrisk.tasks.workspace.parent_process import end_with_parent

_NEEDED = (
    *("tasks.synthesize.task", "tasks.synthesize.cart", "tasks.attack", "tasks.bootstrap", "tasks.expose"),
    *("tasks.pages.exposure", "tasks.pages.report"),
)
_COMMAND = os.getppid()


def _make_ready() -> None:
    compiling = None if _is_compiled() else multiprocessing.get_context("fork").Process(target=_compile)
    with suppress(OSError):  # there is no room for it: each worker compiles for itself
        if compiling is not None:
            compiling.start()
    _import(_NEEDED)
    if compiling is None or compiling.pid is None:
        return
    while compiling.is_alive() and os.getppid() == _COMMAND:
        multiprocessing.connection.wait([compiling.sentinel], 0.1)
    compiling.kill()  # for nobody, where it is alive


def _is_compiled() -> bool:
    """Tell whether nothing has to be compiled.

    numba is imported before pandas and scipy, with which the command begins at the same time: where Python has not
    compiled them yet, each does it to others.
    """
    try:
        from synthrisk.metrics.compiled import is_kept
        from synthrisk.metrics.neighbours.box_search import VECTORS

        return all(map(is_kept, VECTORS))
    except Exception:  # noqa: BLE001 - there is no compiler, or it is told to do nothing, or keeps elsewhere: it is tried
        return False


def _import(names: Sequence[str]) -> None:
    for name in names:
        with suppress(ImportError):  # of numba, which may be left out; of others a worker tells
            import_module(f"synthrisk.{name}")


def _compile() -> None:
    end_with_parent()
    with suppress(Exception):  # a worker tells
        from synthrisk.metrics.neighbours.nearest import prepare

        prepare()


if __name__ == "__main__":
    with suppress(Exception):  # without numba there is nothing to compile; of the rest a worker tells
        from synthrisk.flows.execution.workers import compile_all

        compile_all()
else:
    _make_ready()
