"""Imported by the process that workers are forked from: what it has, each of them has at once.

What each look at a release runs is compiled meanwhile, once, not in every worker at the same time. It is done in a
process of its own: what is forked from one that has run loops on threads may not run them again.
"""

import multiprocessing
from contextlib import suppress
from importlib import import_module

from synthrisk.metrics.neighbours.search import prepare

_COMPILED = ("neighbours.box_search", "neighbours.differing_cells_compiled")
_TASKS = ("synthesize.task", "synthesize.cart", "attack", "bootstrap", "expose", "pages.exposure", "pages.report")

with suppress(ImportError):  # there is no numba
    for _name in _COMPILED:
        import_module(f"synthrisk.metrics.{_name}")
_compiling = multiprocessing.get_context("fork").Process(target=prepare)
_compiling.start()
for _name in _TASKS:
    import_module(f"synthrisk.tasks.{_name}")
_compiling.join()
