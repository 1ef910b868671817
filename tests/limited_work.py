"""Work for the tests of limits: a child process imports it by name."""

import os
import subprocess
import sys
import time
from pathlib import Path

from synthrisk.metrics.errors import InputError

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def writes(path: Path, text: str) -> None:
    """End well."""
    path.write_text(text)


def never_returns(path: Path) -> None:
    """Sleep, and start another process that does."""
    path.write_text(str(subprocess.Popen(SLEEP).pid))
    time.sleep(600)


def takes_memory(path: Path) -> None:
    """Hold 400 MB."""
    path.write_text(str(len(bytearray(os.urandom(1_000_000) * 400))))
    time.sleep(600)


def refuses() -> None:
    """Refuse what it is given."""
    raise InputError("rows must be above 0, got -1")


def fails() -> None:
    """Fail with a cell in its text."""
    raise ValueError("cannot handle Zebrafink-Qx7")


def is_killed() -> None:
    """End as where the machine is out of memory."""
    os.kill(os.getpid(), 9)


def leaves() -> None:
    """End the process behind Python's back."""
    os._exit(7)


def fills(size: int) -> None:
    """Hold so many bytes for a moment."""
    len(b"x" * size)
