"""Imported by the process that workers are forked from: what it has, each of them has at once.

What each look at a release runs is compiled meanwhile, where it never was on this machine: once, not in every worker
at the same time, and in processes of its own, beside the imports.
"""

import multiprocessing.connection
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module

from synthrisk.metrics.neighbours.nearest import PREPARATIONS
from synthrisk.tasks.workspace.parent_process import end_with_parent

_NEEDED = (
    *("tasks.synthesize.task", "tasks.synthesize.cart", "tasks.attack", "tasks.bootstrap", "tasks.expose"),
    *("tasks.pages.exposure", "tasks.pages.report"),
)
_COMMAND = os.getppid()


def _make_ready() -> None:
    compiling = []
    for part in () if _is_compiled() else PREPARATIONS:
        process = multiprocessing.get_context("fork").Process(target=_compile, args=(part,))
        with suppress(OSError):  # there is no room for it: each worker compiles for itself
            process.start()
            compiling.append(process)
    _import(_NEEDED)
    while any(each.is_alive() for each in compiling) and os.getppid() == _COMMAND:
        multiprocessing.connection.wait([each.sentinel for each in compiling if each.is_alive()], 0.1)
    for each in compiling:
        each.kill()  # for nobody, where it is alive


def _is_compiled() -> bool:
    try:
        from synthrisk.metrics.compiled import is_kept
        from synthrisk.metrics.neighbours.box_search import PREPARED

        return all(map(is_kept, PREPARED))
    except Exception:  # noqa: BLE001 - there is no compiler, or it is told to do nothing, or keeps elsewhere: it is tried
        return False


def _import(names: Sequence[str]) -> None:
    for name in names:
        with suppress(ImportError):  # of numba, which may be left out; of others a worker tells
            import_module(f"synthrisk.{name}")


def _compile(part: Callable[[], None]) -> None:
    end_with_parent()
    with suppress(Exception):  # a worker tells
        part()


_make_ready()
