"""What happens when the store is away: a study waits in the workspace until all of it is logged.

Its pages are drawn meanwhile. Earlier versions kept such studies as pickles, of which little is believed.
"""

import datetime
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.value_scale import MetricTransform
from synthrisk.metrics.register import METRICS
from synthrisk.tasks.tracking.addresses import Pages
from synthrisk.tasks.workspace.digests import versions
from synthrisk.tasks.workspace.failures import DiskError, RunError, told_safely
from synthrisk.tasks.workspace.folders import Place
from synthrisk.tasks.workspace.records import as_json, from_plain, from_text
from synthrisk.tasks.workspace.references import Judged
from synthrisk.tasks.workspace.store import private_folder, replace_file

_T = TypeVar("_T")
_PLAIN = {
    "builtins": {"set", "frozenset", "complex", "bytearray", "slice", "range"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "numpy": {"scalar", "_reconstruct", "_frombuffer", "ndarray", "dtype"},
}
# modules of earlier versions, or "module:name" of a value: where it is now
_MOVED = {
    "synthrisk.conf.reading": "synthrisk.conf.tables",
    "synthrisk.metrics.distance.detection": "synthrisk.metrics.distance.classifiers",
    "synthrisk.metrics.distance.membership_inference": "synthrisk.metrics.distance.classifiers",
    "synthrisk.metrics.intervals.isolated": "synthrisk.metrics.intervals.isolated_records",
    "synthrisk.metrics.intervals.moderated": "synthrisk.metrics.intervals.moderated_intervals",
    "synthrisk.metrics.intervals.scale": "synthrisk.metrics.intervals.value_scale",
    "synthrisk.metrics.release.check": "synthrisk.metrics.release.validity",
    "synthrisk.metrics.release.summary": "synthrisk.metrics.release.validity",
    "synthrisk.metrics.study.carriers": "synthrisk.metrics.verdicts.revealing_columns",
    "synthrisk.metrics.study.compared": "synthrisk.metrics.study.comparison",
    "synthrisk.metrics.study.limits_kept": "synthrisk.metrics.verdicts.verdicts",
    "synthrisk.metrics.study.planned": "synthrisk.metrics.study.ledger",
    "synthrisk.metrics.study.reference_checks": "synthrisk.metrics.verdicts.references",
    "synthrisk.metrics.study.results": "synthrisk.metrics.verdicts.results",
    "synthrisk.metrics.study.utility": "synthrisk.metrics.study.findings",
    "synthrisk.metrics.study.verdicts": "synthrisk.metrics.verdicts.verdicts",
    "synthrisk.tasks.tracking.logged": "synthrisk.tasks.tracking.addresses",
    "synthrisk.tasks.tracking.waiting": "synthrisk.tasks.tracking.store_outage",
    "synthrisk.tasks.workspace.handed": "synthrisk.tasks.workspace.references",
    "synthrisk.tasks.workspace.shared": "synthrisk.tasks.workspace.folders",
}


def unpickled(kind: type[_T], content: bytes) -> _T:
    """Return the value of a pickle that an earlier version has written, with the fields that this one has.

    Only our own frozen values, settings and plain values are made; nothing that the file names is called beside them.
    The function of a metric, which findings held once, becomes its name.

    Raises:
        ValueError: The pickle holds something else, or what it holds no longer fits.
    """
    try:
        found = _OurValues(BytesIO(content)).load()
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises whatever its bytes lead to
        raise ValueError(f"{type(error).__name__} in a pickle") from None
    if not isinstance(found, kind):
        raise ValueError(f"a pickle of {type(found).__name__}")
    _complete(found)
    return from_text(kind, as_json(kind, found))


def _complete(value: object) -> None:
    """Give our values the fields that have come since: a default that is made for each is not found in the class."""
    if is_dataclass(value):
        for field in fields(value):
            if not hasattr(value, field.name) and field.default_factory is not MISSING:
                object.__setattr__(value, field.name, field.default_factory())
            _complete(getattr(value, field.name, None))
    elif isinstance(value, BaseModel):
        _complete(dict(value))
    elif isinstance(value, Mapping):
        _complete(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            _complete(each)


class _OurValues(pickle.Unpickler):
    """Makes our own values and plain ones alone."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of ours, one of plain values, or the name of a metric's function."""
        if name in _PLAIN.get("numpy" if module.startswith("numpy.") else module, ()):
            return getattr(import_module(module), name)
        module = _MOVED.get(f"{module}:{name}", _MOVED.get(module, module))
        if module.startswith("synthrisk."):
            found = getattr(import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module and _is_value(found):
                return found
        for metric in METRICS.values():
            stated = metric.records.transform
            if (getattr(stated, "__module__", None), getattr(stated, "__qualname__", None)) == (module, name):
                return MetricTransform(metric.name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _is_value(kind: type) -> bool:
    return is_dataclass(kind) or kind is Place or issubclass(kind, BaseModel | tuple)


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


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study on its way to its store, with pages that may still be drawn."""

    waiting: Waiting
    draw: Callable[[], Pages]  # waits for them, where they are not there yet

    @cached_property
    def pages(self) -> Pages:
        """Report and pages of exposure, waited for once; where drawing fails they say why: the numbers stand without.

        Raises:
            DiskError: A disk takes no more.
        """
        if self.waiting.pages is not None:
            return self.waiting.pages
        try:
            return told_safely(private_folder(self.waiting.workspace), "pages", self._checked)
        except DiskError:
            raise
        except (InputError, RunError) as error:
            return Pages("", {}, str(error))

    def _checked(self) -> Pages:
        pages = self.draw()
        if not isinstance(pages, Pages):
            raise InputError(f"pages must be a function that returns Pages, got {type(pages).__name__} of it")
        return pages
