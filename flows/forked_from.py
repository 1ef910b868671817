"""Imported by the process that workers are forked from: what it has, each of them has at once."""

import multiprocessing
from contextlib import suppress
from importlib import import_module

from synthrisk.metrics.neighbours.search import prepare

_TASKS = ("synthesize.task", "synthesize.cart", "attack", "bootstrap", "expose", "pages.exposure", "pages.report")
_COMPILED = ("neighbours.box_search", "neighbours.differing_cells_compiled")


def _import_all() -> None:
    for name in _TASKS:
        import_module(f"synthrisk.tasks.{name}")
    with suppress(ImportError):  # there is no numba
        for name in _COMPILED:
            import_module(f"synthrisk.metrics.{name}")


def _compile() -> None:
    """Compile what each look at a release runs, once, not in every worker at the same time.

    In a process of its own: what is forked from one that has run loops on threads may not run them again.
    """
    compiling = multiprocessing.get_context("fork").Process(target=prepare)
    compiling.start()
    compiling.join()


_import_all()
_compile()
