"""Functions compiled by numba, kept on disk; the only file that knows how numba is told to.

A compiled function is kept beside its source, or in the user's cache folder where that is read-only, or in
``NUMBA_CACHE_DIR`` where that is set; with none of them writable each process compiles for itself. What is kept
is valid for the time stamp of its own file alone: a compiled function calls none of another file.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    """Compile a function on its first call."""
    return _kept(function)


def inlined(function: _F) -> _F:
    """Compile a function into its callers: a call would count the references of every array handed over."""
    return njit(forceinline=True)(function)


def parallel(function: _F) -> _F:
    """Compile a function whose ``prange`` loops run on all of numba's threads."""
    return _kept(function, parallel=True)


def _kept(function: _F, **options: bool) -> _F:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return njit(**options)(function)
