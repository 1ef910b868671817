import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import limited_work as work
import psutil
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace import work_limits
from synthrisk.tasks.workspace.failures import CellError
from synthrisk.tasks.workspace.store import sweep
from synthrisk.tasks.workspace.work_limits import NO_LIMITS, Limits, within

PLENTY = Limits(seconds=120, gigabytes=8)


@pytest.mark.parametrize("limits", [NO_LIMITS, PLENTY])
def test_work_that_keeps_its_limits_leaves_its_file_alone_and_says_what_it_took_beyond_what_there_was(tmp_path, limits):
    bytearray(400_000_000).find(1)  # memory that the process had before, and has given back
    taken = within(limits, tmp_path, "cell", work.writes, tmp_path / "out", "text")
    assert (tmp_path / "out").read_text() == "text"
    assert 0 < taken.seconds < 100
    assert not any((tmp_path / "limited").glob("*")) if limits.any else not (tmp_path / "limited").exists()
    if os.access("/proc/self/clear_refs", os.W_OK):  # only Linux tells it
        large = within(limits, tmp_path, "cell", work.fills, 200_000_000).megabytes
        assert 150 < large - taken.megabytes < 300


def test_where_the_most_memory_is_not_told_time_is_taken_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(work_limits, "_PROCESS", tmp_path / "absent")
    assert within(NO_LIMITS, tmp_path, "cell", work.writes, tmp_path / "out", "text").megabytes is None


def test_work_that_never_returns_is_ended_with_what_it_started(tmp_path, monkeypatch):
    begun = tmp_path / "pid"
    late = lambda: 12.1 if begun.exists() and begun.read_text() else 0.0  # noqa: E731
    monkeypatch.setattr(work_limits, "time", SimpleNamespace(monotonic=late))  # the limit is reached once it sleeps
    with pytest.raises(CellError, match=r"^it took longer than runner.time_limit, 12 seconds$"):
        within(Limits(seconds=12), tmp_path, "cell", work.never_returns, begun)
    assert ends_soon(int(begun.read_text()))


NEVER_RETURNS = """
import sys
from pathlib import Path
import limited_work as work
from synthrisk.tasks.workspace.work_limits import Limits, within
within(Limits(seconds=600), Path(sys.argv[1]), "cell", work.never_returns, Path(sys.argv[1]) / "pid")
"""


@pytest.mark.proof
def test_work_ends_with_who_asked_for_it_and_what_it_leaves_is_swept(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(work.__file__).parent)}
    asks = subprocess.Popen([sys.executable, "-c", NEVER_RETURNS, str(tmp_path)], env=environment)
    begun = tmp_path / "pid"
    while asks.poll() is None and not (begun.exists() and begun.read_text()):
        time.sleep(0.1)
    asks.kill()
    asks.wait()
    assert ends_soon(int(begun.read_text()))
    sweep(tmp_path)
    assert not any((tmp_path / "limited").glob("*"))


def ends_soon(process: int) -> bool:
    """Tell whether a process ends in 15 seconds, or only its number is still there."""
    for _ in range(150):
        try:
            if psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.proof
def test_work_that_takes_memory_is_ended(tmp_path):
    with pytest.raises(CellError, match=r"^it took more memory than runner.memory_limit, 0.4 GB$"):
        within(Limits(gigabytes=0.4), tmp_path, "cell", work.takes_memory, tmp_path / "held")


def test_what_is_refused_is_refused_in_its_words_and_what_fails_is_told_without_its_text(tmp_path):
    with pytest.raises(InputError, match="rows must be above 0, got -1"):
        within(PLENTY, tmp_path, "cell", work.refuses)
    with pytest.raises(CellError, match=r"^ValueError in limited_work\.py") as caught:
        within(PLENTY, tmp_path, "cell", work.fails)
    assert "Zebrafink" not in str(caught.value)
    (kept,) = (tmp_path / "failures").iterdir()
    assert "Zebrafink" in kept.read_text()


@pytest.mark.parametrize(
    ("ends", "how"), [(work.is_killed, r"by signal 9 \(SIGKILL\)"), (work.leaves, "with exit code 7")]
)
def test_a_process_that_is_ended_from_outside_is_a_failure(tmp_path, ends, how):
    with pytest.raises(CellError, match=f"^its process was ended {how}$"):
        within(PLENTY, tmp_path, "cell", ends)
