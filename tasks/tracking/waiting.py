"""Studies that wait to be logged: what goes to MLflow is kept in the workspace until all of it is there."""

import builtins
import datetime
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.logged import Pages
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.store import private_folder, write_file

FOLDER = "unlogged"
_END = ".study"
_PLAIN = {"set", "frozenset", "complex", "bytearray", "slice", "range"}
_NUMPY = {"scalar", "_reconstruct", "_frombuffer", "ndarray", "dtype"}


@dataclass(frozen=True, eq=False)
class Waiting:
    """A study that is judged, and how it is to be logged."""

    judged: Judged
    tracking: Tracking  # its address still names variables of the environment
    settings: str  # what was asked, as YAML
    pages: Pages | None  # None while they are drawn
    since: datetime.datetime  # when it was to be logged first
    exposure: bool = True  # whether they include pages of exposure

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
    return sorted(path.name.removesuffix(_END) for path in (workspace / FOLDER).glob(f"[!.]*{_END}"))


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
    """Keep a study until it is logged."""
    write_file(_path(waiting.workspace, waiting.study_id), lambda draft: draft.write_bytes(pickle.dumps(waiting)))


def read_waiting(workspace: Path, study_id: str) -> Waiting:
    """Return a study that waits in a workspace.

    Raises:
        InputError: No study of this id waits there, or another version of synthrisk has kept it.
    """
    waits = ids_waiting(workspace)
    if study_id not in waits:
        known = f"one of {', '.join(waits)}" if waits else "one that waits to be logged, of which there are none"
        raise InputError(f"the study must be {known}, got {study_id!r}")
    try:
        return _read(_path(workspace, study_id).read_bytes())
    except (pickle.UnpicklingError, ImportError, AttributeError, TypeError, EOFError, IndexError, KeyError):
        raise InputError(
            f"study {study_id} must be logged by the version of synthrisk that kept it, got another; or run the study "
            "again: what it has computed is found again"
        ) from None


def no_longer_waiting(waiting: Waiting) -> None:
    """Forget a study that is logged."""
    _path(waiting.workspace, waiting.study_id).unlink(missing_ok=True)


def _path(workspace: Path, study_id: str) -> Path:
    return workspace / FOLDER / f"{study_id}{_END}"


def _read(content: bytes) -> Waiting:
    found = _OurClasses(BytesIO(content)).load()
    if not isinstance(found, Waiting):
        raise pickle.UnpicklingError
    return found


class _OurClasses(pickle.Unpickler):
    """Reads our classes and numbers alone: nothing that a file names is called beside them."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of ours, or one that holds plain values."""
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if module == "datetime":
            return getattr(datetime, name)
        own, numbers = module.startswith("synthrisk."), module.partition(".")[0] == "numpy" and name in _NUMPY
        found = getattr(import_module(module), name) if own or numbers else None
        if numbers or isinstance(found, type):
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")
