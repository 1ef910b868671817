"""Studies that wait to be logged: what goes to MLflow is kept in the workspace until all of it is there."""

import datetime
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.register import METRICS
from synthrisk.tasks.tracking.earlier_form import unpickled
from synthrisk.tasks.tracking.logged import Pages
from synthrisk.tasks.workspace.codec import as_json, from_plain
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.store import private_folder, replace_file, versions

FOLDER = "unlogged"
_END, _BEFORE = ".json", ".study"  # the second: pickles of earlier versions


@dataclass(frozen=True, eq=False)
class Waiting:
    """A study that is judged, and how it is to be logged."""

    judged: Judged
    tracking: Tracking  # its address still names variables of the environment
    settings: str  # what was asked, as YAML
    pages: Pages | None  # None while they are drawn
    since: datetime.datetime  # when it was to be logged first
    exposure: bool = True  # whether they include pages of exposure
    origin: Mapping[str, str] = field(default_factory=dict)  # tags that say who ran it, and where

    @property
    def study_id(self) -> str:
        """The study's id."""
        return self.judged.result.study_id

    @property
    def experiment(self) -> str:
        """Name of the experiment that it goes to."""
        return self.tracking.experiment or self.judged.result.name

    @property
    def workspace(self) -> Path:
        """The folder that it is kept in."""
        return Path(self.judged.estimated.sample.workspace).absolute()


def ids_waiting(workspace: Path) -> list[str]:
    """Return the ids of the studies of a workspace that wait to be logged, the oldest first."""
    kept = (path for end in (_END, _BEFORE) for path in (workspace / FOLDER).glob(f"[!.]*{end}"))
    return sorted({path.stem for path in kept})


@contextmanager
def held(workspace: Path, study_id: str) -> Iterator[bool]:
    """Hold a waiting study for the time of the block, so that it is logged once; tell whether it is ours to log."""
    lock = FileLock(private_folder(workspace / FOLDER) / f".{study_id}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
        if study_id not in ids_waiting(workspace):
            Path(lock.lock_file).unlink(missing_ok=True)


def keep_waiting(waiting: Waiting) -> None:
    """Keep a study until it is logged, as JSON that later versions read too."""
    told = as_json(Waiting, waiting)
    text = f'{{"synthrisk": {json.dumps(_version())}, "study": {told}}}\n'
    replace_file(_path(waiting.workspace, waiting.study_id), text)
    _path(waiting.workspace, waiting.study_id, _BEFORE).unlink(missing_ok=True)


def read_waiting(workspace: Path, study_id: str) -> Waiting:
    """Return a study that waits in a workspace.

    Raises:
        InputError: No study of this id waits there, another version of synthrisk has kept it in a form that this one
            cannot read, or a plug-in is not installed that one of its metrics is of.
    """
    waits = ids_waiting(workspace)
    if study_id not in waits:
        known = f"one of {', '.join(waits)}" if waits else "one that waits to be logged, of which there are none"
        raise InputError(f"the study must be {known}, got {study_id!r}")
    now, before = (_path(workspace, study_id, end) for end in (_END, _BEFORE))
    path, read = (now, _read) if now.exists() else (before, _read_before)
    waiting = read(path)
    told = waiting.judged.result
    measures = [*(f.measure for f in told.findings), *(u.measure for u in told.utility)]
    absent = sorted({measure.metric for measure in measures} - set(METRICS))
    if absent:
        raise InputError(
            f"study {study_id} can be logged where the plug-in is installed that gives {', '.join(absent)}, got none "
            f"here; {_given_up(path)}"
        )
    return waiting


def no_longer_waiting(waiting: Waiting) -> None:
    """Forget a study that is logged."""
    for end in (_END, _BEFORE):
        _path(waiting.workspace, waiting.study_id, end).unlink(missing_ok=True)


def _path(workspace: Path, study_id: str, end: str = _END) -> Path:
    return workspace / FOLDER / f"{study_id}{end}"


def _read(path: Path) -> Waiting:
    version = "that is not named there"
    try:
        kept = json.loads(path.read_text("utf-8"))
        version = str(kept["synthrisk"])
        return from_plain(Waiting, kept["study"])
    except (ValueError, KeyError, TypeError):
        raise _unreadable(path, f"what synthrisk {version} has kept, or a damaged file") from None


def _read_before(path: Path) -> Waiting:
    try:
        return unpickled(Waiting, path.read_bytes())
    except ValueError:
        raise _unreadable(path, "the form of an earlier version that holds something else") from None


def _unreadable(path: Path, got: str) -> InputError:
    return InputError(
        f"study {path.stem} must be kept in a form that synthrisk {_version()} can read, got {got}: log it with the "
        f"version that kept it, or run the study again; {_given_up(path)}"
    )


def _given_up(path: Path) -> str:
    return f"to give it up, delete {path}"


def _version() -> str:
    return versions(["synthrisk"])["synthrisk"]
