"""Limits of a cell: what takes more is ended with all that it started, and told in words without a cell."""

import time

import limited_work as work
import psutil
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.failure import CellError
from synthrisk.tasks.workspace.limited import NO_LIMITS, Limits, within

PLENTY = Limits(seconds=120, gigabytes=8)


@pytest.mark.parametrize("limits", [NO_LIMITS, PLENTY])
def test_work_that_keeps_its_limits_leaves_its_file_and_no_other(tmp_path, limits):
    within(limits, tmp_path, "cell", work.writes, tmp_path / "out", "text")
    assert (tmp_path / "out").read_text() == "text"
    assert not any((tmp_path / "limited").glob("*")) if limits.any else not (tmp_path / "limited").exists()


def test_work_that_never_returns_is_ended_with_what_it_started(tmp_path):
    start = time.monotonic()
    with pytest.raises(CellError, match=r"^it took longer than runner.time_limit, 6 seconds$"):
        within(Limits(seconds=6), tmp_path, "cell", work.never_returns, tmp_path / "pid")
    assert time.monotonic() - start < 60
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):  # a killed process goes when the system has a moment
        if has_ended(child):
            break
        time.sleep(0.1)
    assert has_ended(child)


def has_ended(process: int) -> bool:
    """Tell whether a process is gone, or only its number is still there."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_work_that_takes_memory_is_ended(tmp_path):
    with pytest.raises(CellError, match=r"^it took more memory than runner.memory_limit, 0.4 GB$"):
        within(Limits(gigabytes=0.4), tmp_path, "cell", work.takes_memory, tmp_path / "held")


def test_what_is_refused_is_refused_in_its_words(tmp_path):
    with pytest.raises(InputError, match="rows must be above 0, got -1"):
        within(PLENTY, tmp_path, "cell", work.refuses)


def test_what_fails_is_told_without_its_text(tmp_path):
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
