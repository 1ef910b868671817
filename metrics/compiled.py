"""Functions compiled by numba, kept on disk; the only file that knows how numba is told to.

A compiled function is kept beside its source, or in the user's cache folder where that is read-only, or in
``NUMBA_CACHE_DIR`` where that is set; with none of them writable each process compiles for itself. What is kept
is valid for the time stamp of its own file alone: a compiled function calls none of another file.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

_F = TypeVar("_F", bound=Callable[..., Any])
_FUNCTIONS: list[Any] = []  # those imported so far
_PARTS = 8  # parts of the work of each thread, so that none waits long for the last


def compiled(function: _F) -> _F:
    """Compile a function on its first call."""
    return _kept(function)


def inlined(function: _F) -> _F:
    """Compile a function into its callers: a call would count the references of every array handed over."""
    return njit(forceinline=True)(function)


def threaded(function: _F) -> _F:
    """Compile a function of some blocks, ``(first, last, ...)``, for ``in_blocks``; threads need not wait in it.

    numba's own parallel loops take twice the time to compile.
    """
    return _kept(function, nogil=True)


def blocks_of(rows: int, size: int) -> int:
    """Return how many blocks of a size, the last one perhaps smaller, rows are divided into."""
    return -(-rows // size)


def in_blocks(function: Callable[..., object], blocks: int, *given: Any) -> None:
    """Run a ``threaded`` function over all blocks, on as many threads as numba may use.

    Args:
        function: Writes what it finds in a block to places that no other block writes to.
        blocks: How many there are.
        given: What the function takes after the first block and the one after its last.
    """
    at_once = min(int(config.NUMBA_NUM_THREADS), blocks)
    if at_once < 2:
        function(0, blocks, *given)
        return
    size = blocks_of(blocks, _PARTS * at_once)
    with ThreadPoolExecutor(at_once) as pool:
        parts = [pool.submit(function, k, min(k + size, blocks), *given) for k in range(0, blocks, size)]
        for part in parts:
            part.result()


def are_kept() -> bool:
    """Tell whether every function that was imported so far has been compiled before, and is found on disk."""
    return all(_is_on_disk(each) for each in _FUNCTIONS if hasattr(each, "stats"))


def is_kept(function: Any) -> bool:
    """Tell whether a function was compiled in this process, or before and is found on disk, or is not to be."""
    return not hasattr(function, "signatures") or bool(function.signatures) or _is_on_disk(function)


def _is_on_disk(function: Any) -> bool:
    folder, code = function.stats.cache_path, function.py_func.__code__
    if not folder:
        return False
    source = Path(code.co_filename)
    start, since = f"{source.stem}.{function.py_func.__qualname__}-{code.co_firstlineno}.", source.stat().st_mtime
    there = Path(folder).glob("*.nbi")
    return any(each.name.startswith(start) and each.stat().st_mtime >= since for each in there)


def _kept(function: _F, **options: bool) -> _F:
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        made = njit(**options)(function)
    _FUNCTIONS.append(made)
    return made
