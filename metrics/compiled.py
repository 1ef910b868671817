"""Functions compiled by numba, kept on disk; the only file that knows how numba is told to.

A compiled function is kept beside its source, or in the user's cache folder where that is read-only, or in
``NUMBA_CACHE_DIR`` where that is set; with none of them writable each process compiles for itself. What is kept
is valid for the time stamp of its own file alone: a compiled function calls none of another file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

_F = TypeVar("_F", bound=Callable[..., Any])
_FUNCTIONS: list[Any] = []  # those imported so far


def compiled(function: _F) -> _F:
    """Compile a function on its first call."""
    return _kept(function)


def inlined(function: _F) -> _F:
    """Compile a function into its callers: a call would count the references of every array handed over."""
    return njit(forceinline=True)(function)


def parallel(function: _F) -> _F:
    """Compile a function whose ``prange`` loops run on all of numba's threads."""
    return _kept(function, parallel=True)


def parallel_beside(function: _F) -> _F:
    """Compile such a function so that other threads of Python run meanwhile, as the one that says how far it is.

    Callers see to it that one thread at a time enters any of these.
    """
    return _kept(function, parallel=True, nogil=True)


def are_kept() -> bool:
    """Tell whether every function that was imported so far has been compiled before, and is found on disk."""
    return all(map(_is_kept, _FUNCTIONS))


def _is_kept(function: Any) -> bool:
    folder, code = function.stats.cache_path, function.py_func.__code__
    source = Path(code.co_filename)
    start, since = f"{source.stem}.{function.py_func.__qualname__}-{code.co_firstlineno}.", source.stat().st_mtime
    there = Path(folder).glob("*.nbi") if folder else ()
    return any(each.name.startswith(start) and each.stat().st_mtime >= since for each in there)


def _kept(function: _F, **options: bool) -> _F:
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        made = njit(**options)(function)
    _FUNCTIONS.append(made)
    return made
