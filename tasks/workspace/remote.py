"""Objects under a URL, through fsspec: each is there whole or not at all, and the first that puts it may claim it."""

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import fsspec

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.failure import RunError, is_full
from synthrisk.tasks.workspace.store import claim, draft_name, private_folder

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
