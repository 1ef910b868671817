"""Threads of models, and fits of scikit-learn beside each other: the same numbers for any number, to the bit."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import threadpool_limits

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
) | {"OMP_WAIT_POLICY": "passive"}
"""Environment of a process that computes with one thread, as each of several workers does."""
# the limit holds for the process: two that set it would restore it in the wrong order
_LOCK = threading.RLock()


_FEW = 2_000  # records of which a fit is over before threads have begun


def threads(records: float = float("inf")) -> int:
    """Return how many threads fits of models use: as many as numba may (a study's workers have one each).

    One where there are few ``records``: those of scikit-learn empty each other's list of filters of warnings, so that
    one warns of nothing now and then.
    """
    if records < _FEW:
        return 1
    try:
        from numba import config
    except ImportError:
        from joblib import cpu_count

        return int(cpu_count())
    return int(config.NUMBA_NUM_THREADS)


def side_by_side(function: Callable[[_Item], _Found], items: Iterable[_Item]) -> list[_Found]:
    """Return what the function gives for each item, in the order of the items.

    Products of matrices take one thread each meanwhile: more gain nothing for small ones, lose much where other
    processes hold a core, and change the last bits.

    Example:
        >>> side_by_side(lambda x: x * x, [3, 1, 2])
        [9, 1, 4]
    """
    with _LOCK, threadpool_limits(1), ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(function, items))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let libraries that bring threads of their own compute with one, and let nobody else in this process do so.

    Whoever draws from generators of numbers that the process has one of, or sets what holds for all of it, does so in
    here: two threads would draw from each other's stream. A thread that is in here may enter again.
    """
    with _LOCK, threadpool_limits(1):
        yield
