"""A release that a check has read is handed to who reads it next: to read a million rows takes seconds."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import pandas as pd

from synthrisk.tasks.synthesize.synthesizer import Job


class _Read(NamedTuple):
    path: str
    stamp: tuple[int, int]  # when the file was last written, and its size
    job: Job
    release: pd.DataFrame


_LAST: list[_Read] = []  # one at most
_LOCK = Lock()


def read_once(path: str, job: Job, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return what ``read`` gives, or gave the last time for the same file beside the same records.

    What was read is handed over once, and then forgotten. Files elsewhere (``s3://`` and others) are read each time,
    and so are those of a study of several releases, whose records differ.
    """
    with _LOCK:
        last = _LAST.pop() if _LAST else None
    if last and _is_same(last, path, job):
        return last.release
    stamp = _stamp(path)
    release = read()
    if stamp and stamp == _stamp(path) and job.releases == 1 and job.held_out.empty:
        _LAST[:] = [_Read(path, stamp, job, release.copy(deep=False))]
    return release


def _is_same(last: _Read, path: str, job: Job) -> bool:
    return (last.path, last.stamp, last.job.form, last.job.releases) == (
        path,
        _stamp(path),
        job.form,
        job.releases,
    ) and all(before.equals(now) for before, now in ((last.job.train, job.train), (last.job.held_out, job.held_out)))


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
