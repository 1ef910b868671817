"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(look: Callable[[], Found], otherwise: str = "not in time", seconds: float = 120, pause: float = 0.1) -> Found:
    """Look again and again; return what is seen as soon as it is true, and fail where it is not in time."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, otherwise
        time.sleep(pause)
    return found
