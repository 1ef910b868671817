"""Folders named by a key, found and made: on this machine, and in the shared workspace where there is one.

It is put there before it gets its name here, so that what is here is there too. Of two machines that make the same, the
second takes what the first has made.

A workspace that machines without a common disk share: a URL, and a private copy of it on each machine.

What is named by a key never changes, so that a copy is never old. The folder of a copy bears a mark that says of which
workspace it is one, so that its paths are enough to find the rest.
"""

import json
import os
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import fsspec

from synthrisk.conf.loader import home
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.digests import key_of
from synthrisk.tasks.workspace.failures import RunError, is_full
from synthrisk.tasks.workspace.store import check_writable, claim, draft_name, open_folder, private_folder, replace_file

PROTOCOLS = ("s3", "s3a", "file", "memory")
_T = TypeVar("_T")


class UnreachableError(RunError):
    """A shared workspace cannot be reached; the text names the URL and the kind of error."""


class Remote:
    """The objects under a URL, by names with slashes; credentials and options of its file system come from outside.

    Raises:
        InputError: The URL is of no file system that keeps an object whole, or its package is not installed.
    """

    def __init__(self, url: str) -> None:
        protocol, _, place = url.partition("://")
        if protocol not in PROTOCOLS:
            known = ", ".join(f"{each}://" for each in PROTOCOLS)
            raise InputError(f"workspace must be a folder or begin with {known}, got {url!r}")
        if not place.strip("/") or any(mark in place for mark in "?#@$"):
            raise InputError(
                "workspace must be a place such as s3://bucket/folder, without user, variables or options, which come "
                f"from the environment; got {protocol}://..."
            )
        self.url, self.protocol = url.rstrip("/"), protocol

    @cached_property
    def _files(self) -> Any:
        try:
            return fsspec.filesystem(self.protocol, use_listings_cache=False)
        except ImportError:
            raise InputError(
                f"workspace {self.protocol}:// needs a package that is not installed: pip install 'synthrisk[s3]'"
            ) from None

    def read(self, name: str) -> bytes | None:
        """Return what an object holds; None where there is none."""
        return self._found(lambda: bytes(self._files.cat_file(self._at(name))))

    def has(self, name: str) -> bool:
        """Tell whether there is an object of this name."""
        return self._found(lambda: self._files.info(self._at(name))) is not None

    def names(self, folder: str) -> set[str]:
        """Return the names of the objects in a folder, without it."""
        found = self._found(lambda: self._files.ls(self._at(folder), detail=False)) or []
        return {str(each).rstrip("/").rpartition("/")[2] for each in found}

    def fetch(self, name: str, to: Path) -> bool:
        """Write an object to a file; tell whether there is one."""
        return self._found(lambda: self._files.get_file(self._at(name), str(to)) or True) is not None

    def put(self, file: Path, name: str, *, first: bool = True) -> bool:
        """Put a file; with ``first`` unless there is an object of this name. Tell whether it was put."""
        try:
            self._told(lambda: self._put(file, self._at(name), first))
        except FileExistsError:
            return False
        return True

    def _put(self, file: Path, place: str, first: bool) -> None:
        if self.protocol == "file":
            _put_beside(file, Path(self._files._strip_protocol(place)), first)
        elif self.protocol == "memory":
            self._files.pipe_file(place, file.read_bytes(), mode="create" if first else "overwrite")
        else:  # one conditional request, and of parts the last one
            self._files.put_file(str(file), place, mode="create" if first else "overwrite")

    def _at(self, name: str) -> str:
        return f"{self.url}/{name}"

    def _found(self, action: Callable[[], _T]) -> _T | None:
        try:
            return self._told(action)
        except FileNotFoundError:
            return None

    def _told(self, action: Callable[[], _T]) -> _T:
        """Return what an action returns; of what goes wrong tell the kind alone: the text may hold keys."""
        try:
            return action()
        except (FileNotFoundError, FileExistsError, InputError):
            raise
        except Exception as error:
            if is_full(error):
                raise
            kind = type(error).__name__
        raise UnreachableError(f"the workspace {self.url} cannot be reached ({kind})")


def _put_beside(file: Path, place: Path, first: bool) -> None:
    """Put a file on a disk: it gets its name when it is whole."""
    private_folder(place.parent)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=draft_name())
    os.close(handle)
    try:
        shutil.copyfile(file, name)
        if first:
            claim(Path(name), place)
        else:
            Path(name).replace(place)
    finally:
        Path(name).unlink(missing_ok=True)


FOLDERS = ("releases", "ledgers", "findings")
"""What is kept as a folder under its key, and shared as one archive."""
_ARCHIVE = ".zip"
_MARK = ".shared"
_WORKSPACE = ".gitignore"  # is in every workspace, so that none looks like a part of the one around it
_NAME = "workspace"
_PATIENCE = 5.0  # seconds

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


def open_workspace(workspace: str | Path) -> Path:
    """Return the folder of a workspace: its own, or this machine's copy of one at a URL.

    Raises:
        InputError: It is no folder, or cannot be written.
        UnreachableError: Nobody answers at the URL, or not us.
    """
    folder = folder_of(workspace)
    return open_folder(folder)


def folder_of(workspace: str | Path) -> Path:
    """Return the folder of a workspace, as it is.

    Raises:
        InputError: It is named by a URL at which nothing can be written.
        UnreachableError: Nobody answers there, or not us.
    """
    return opened_in_time(str(workspace)).folder if is_shared(workspace) else Path(workspace)


def there(path: str | Path) -> Path:
    """Return a path; what is at it is copied from the shared workspace unless it is here."""
    path = Path(path)
    if not path.exists():
        shared = shared_of(path)
        if shared is not None:
            shared.fetch(path)
    return path


def address_of(path: Path) -> str:
    """Return the address of a file or folder of a workspace: its path, or its URL in the shared workspace."""
    shared = shared_of(path)
    return str(path.absolute()) if shared is None else shared.address(path)


def is_kept(path: Path) -> bool:
    """Tell whether something is here, or in the shared workspace."""
    if path.exists():
        return True
    shared = shared_of(path)
    return shared is not None and shared.has(path)


def kept_names(folder: Path) -> set[str]:
    """Return the names of what is in a folder of a workspace, here or in the shared one: one request for all."""
    shared = shared_of(folder)
    own = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return own if shared is None else own | shared.names(folder)


def keep(folder: Path, write: Callable[[Path], None]) -> Path:
    """Return ``folder``, filled by ``write`` unless it is there; a half-written one is never seen.

    Folders can only be entered by their owner: they hold records of real people.
    """
    if there(folder).is_dir():
        return folder
    private_folder(folder.parent)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=draft_name()))
    try:
        write(draft)
        if not share(draft, folder):
            return there(folder)
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process was first: its content is the same
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def keep_file(path: Path, write: Callable[[Path], object]) -> Path:
    """Return ``path``, a private file written by ``write`` unless it is there; the first that was written holds."""
    if there(path).exists():
        return path
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=draft_name())  # mode 0600
    os.close(handle)
    try:
        write(Path(name))
        if not share(Path(name), path):
            return there(path)
        with suppress(FileExistsError):  # another process was first
            claim(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)
    return path


def share(draft: Path, path: Path, *, first: bool = True) -> bool:
    """Put a draft of what is to be at a path into the shared workspace; False where another machine was first."""
    shared = shared_of(path)
    return shared is None or shared.put(draft, path, first=first)


def share_file(path: Path) -> Path:
    """Return a file that was written anew, put into the shared workspace too where there is one."""
    share(path, path, first=False)
    return path
