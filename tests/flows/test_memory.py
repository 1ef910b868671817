"""Memory that a command frees is not asked for again."""

import subprocess
import sys

import pytest

from synthrisk.flows.execution import signals

_FAULTS = """
import resource
from synthrisk.flows.execution.signals import keep_freed_memory
if {kept}:
    keep_freed_memory()
for _ in range(20):
    b"x" * 40_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an allocator of its own")
def test_freed_memory_is_not_taken_from_the_system_again():
    faults = [
        int(subprocess.run([sys.executable, "-c", _FAULTS.format(kept=kept)], check=True, capture_output=True).stdout)
        for kept in (False, True)
    ]
    assert faults[1] < faults[0] / 4


def test_where_the_c_library_is_another_nothing_is_changed(monkeypatch):

    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: object())
    signals.keep_freed_memory()
    assert "ARROW_DEFAULT_MEMORY_POOL" not in signals.os.environ


def test_a_pool_that_the_environment_names_stays(monkeypatch):

    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")

    class Library:
        gnu_get_libc_version = mallopt = staticmethod(lambda *_: 1)

    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: Library)
    signals.keep_freed_memory()
    assert signals.os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"


@pytest.mark.parametrize(("most", "expected"), [(2**31, 2**31 - 1), (2**25, 2**25), (0, None)])
def test_an_older_library_is_told_the_most_that_it_takes_or_nothing(monkeypatch, most, expected):

    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    taken = {}

    class Library:
        gnu_get_libc_version = None

        @staticmethod
        def mallopt(parameter: int, value: int) -> bool:
            if parameter == -3 and value > most:
                return False
            taken[parameter] = value
            return True

    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: Library)
    signals.keep_freed_memory()
    assert (taken.get(-3), -1 in taken) == (expected, expected is not None)
