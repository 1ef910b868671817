"""A workspace that machines without a common disk share: a URL, and a private copy of it on each machine.

What is named by a key never changes, so that a copy is never old. The folder of a copy bears a mark that says of which
workspace it is one, so that its paths are enough to find the rest.
"""

import json
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from synthrisk.conf.loader import home
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.remote import Remote, UnreachableError
from synthrisk.tasks.workspace.store import (
    check_writable,
    draft_name,
    key_of,
    open_folder,
    private_folder,
    replace_file,
)

FOLDERS = ("releases", "ledgers", "findings")
"""What is kept as a folder under its key, and shared as one archive."""
_ARCHIVE = ".zip"
_MARK = ".shared"
_WORKSPACE = ".gitignore"  # is in every workspace, so that none looks like a part of the one around it
_NAME = "workspace"
_PATIENCE = 5.0  # seconds
_T = TypeVar("_T")
_STAMP = (1980, 1, 1, 0, 0, 0)


def is_shared(workspace: object) -> bool:
    """Tell whether a workspace is named by a URL."""
    return "://" in str(workspace)


@dataclass(frozen=True)
class Shared:
    """A shared workspace."""

    url: str
    token: str  # the name that it was given when it was made there: another one is not that of an old copy
    folder: Path  # of this machine's copy

    def has(self, path: Path) -> bool:
        """Tell whether the workspace has what is, or would be, at a path of the copy."""
        return Remote(self.url).has(self._name(path))

    def names(self, folder: Path) -> set[str]:
        """Return the names of what the workspace has in a folder of the copy."""
        kind = folder.relative_to(self.folder).as_posix()
        return {name.removesuffix(_ARCHIVE) if kind in FOLDERS else name for name in Remote(self.url).names(kind)}

    def address(self, path: Path) -> str:
        """Return the URL of what is, or would be, at a path of the copy."""
        return f"{self.url}/{self._name(path)}"

    def put(self, draft: Path, path: Path, *, first: bool = True) -> bool:
        """Share a file or folder as what is to be at a path of the copy; tell whether it was the first."""
        remote, name = Remote(self.url), self._name(path)
        if not draft.is_dir():
            return remote.put(draft, name, first=first)
        with tempfile.TemporaryDirectory(dir=draft.parent, prefix=draft_name()) as place:
            return remote.put(_packed(draft, Path(place) / "packed"), name, first=first)

    def fetch(self, path: Path) -> None:
        """Copy what the workspace has at a path to there, a folder as a whole; nothing where it has nothing."""
        unit = self._unit(path)
        with tempfile.TemporaryDirectory(dir=private_folder(unit.parent), prefix=draft_name()) as place:
            draft = Path(place) / "draft"
            draft.touch(mode=0o600)
            if not Remote(self.url).fetch(self._name(path), draft):
                return
            if self._is_folder(path):
                with zipfile.ZipFile(draft) as archive:
                    archive.extractall(private_folder(Path(place) / "folder"))
                draft = Path(place) / "folder"
            with suppress(OSError):  # another process was first
                draft.rename(unit)
        if not unit.exists():
            raise OSError(f"{unit} cannot be written")

    def _is_folder(self, path: Path) -> bool:
        return path.relative_to(self.folder).parts[0] in FOLDERS

    def _unit(self, path: Path) -> Path:
        """Return the folder with a key that a path is in, or the path itself."""
        kind, *rest = path.relative_to(self.folder).parts
        return self.folder / kind / rest[0] if kind in FOLDERS else path

    def _name(self, path: Path) -> str:
        name = self._unit(path).relative_to(self.folder).as_posix()
        return name + _ARCHIVE if self._is_folder(path) else name


class Place(str):
    """A path in a workspace; one of a shared workspace becomes the path in the copy of each machine it travels to."""

    __slots__ = ()

    def __new__(cls, path: str | Path, url: str = "", token: str = "") -> "Place":
        """Return the place of a path, which is relative where the workspace is given."""
        return super().__new__(cls, copy_of(url, token).folder / path if url else path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as what follows the workspace, and the workspace."""
        shared = shared_of(Path(self))
        if shared is None:
            return Place, (str(self),)
        return Place, (Path(self).relative_to(shared.folder).as_posix(), shared.url, shared.token)


def shared_of(path: Path) -> Shared | None:
    """Return the shared workspace that a path is in the copy of; None where it is in a folder of this machine."""
    for folder in (path, *path.parents):
        if (folder / _WORKSPACE).exists():
            mark = folder / _MARK
            if not mark.exists():
                return None
            url, token = json.loads(mark.read_text("utf-8"))
            return Shared(url, token, folder)
    return None


def copy_of(url: str, token: str) -> Shared:
    """Return a shared workspace with this machine's copy, a folder that its owner alone can enter."""
    folder = private_folder(home()) / key_of(url, token)
    if not (folder / _MARK).exists():
        replace_file(folder / _MARK, json.dumps([url, token]))
        _open.cache_clear()
    _open(folder)
    return Shared(url, token, folder)


_open = cache(open_folder)  # drafts that dead processes have left are looked for once in a process


def opened(url: str) -> Shared:
    """Return the workspace at a URL, which is made there unless it is.

    Raises:
        InputError: The URL is none that can be shared, or nothing can be written there.
        UnreachableError: Nobody answers, or not us.
    """
    remote = Remote(url)
    token = remote.read(_NAME)
    if token is None:
        with tempfile.TemporaryDirectory() as place, suppress(FileNotFoundError):
            own = Path(place) / _NAME
            own.write_text(secrets.token_hex(8))
            remote.put(own, _NAME)
        token = remote.read(_NAME)
    if token is None:
        raise InputError(f"workspace must be a place that can be written, got {remote.url!r}, which is none")
    return copy_of(remote.url, token.decode())


def opened_in_time(url: str) -> Shared:
    """Return ``opened``, or raise ``UnreachableError`` after seconds: some file systems ask for minutes."""
    return _in_time(url, lambda: opened(url))


def look(url: str, token: str) -> str:
    """Return why this process does not see a workspace, in words that hold no secret; empty where it does.

    Raises:
        InputError: It cannot write a copy.
        UnreachableError: Nobody answers within seconds, or not us.
    """
    found = _in_time(url, lambda: Remote(url).read(_NAME))
    if found is None:
        return f"finds no workspace at {url}"
    check_writable("SYNTHRISK_HOME", home(), folder=True)
    return "" if found.decode() == token else f"finds another workspace at {url}"


def _in_time(url: str, action: Callable[[], _T]) -> _T:
    ended: list[_T | Exception] = []

    def act() -> None:
        try:
            ended.append(action())
        except Exception as error:  # noqa: BLE001 - raised again by who waits
            ended.append(error)

    thread = Thread(target=act, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    if not ended:
        raise UnreachableError(f"the workspace {url} cannot be reached (no answer in {_PATIENCE:g} seconds)")
    if isinstance(ended[0], Exception):
        raise ended[0]
    return ended[0]


def _packed(folder: Path, to: Path) -> Path:
    """Write the files of a folder into one, without their times; what is in them is compressed already."""
    with zipfile.ZipFile(to, "w") as archive:
        for file in sorted(folder.iterdir()):
            named = zipfile.ZipInfo(file.name, _STAMP)
            with file.open("rb") as content, archive.open(named, "w", force_zip64=True) as packed:
                shutil.copyfileobj(content, packed)
    return to
