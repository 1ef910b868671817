"""Finding and making what is named by a key: on this machine, and in the shared workspace where there is one.

It is put there before it gets its name here, so that what is here is there too. Of two machines that make the same, the
second takes what the first has made.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from synthrisk.tasks.workspace.shared import is_shared, opened_in_time, shared_of
from synthrisk.tasks.workspace.store import claim, draft_name, open_folder, private_folder


def open_workspace(workspace: str | Path) -> Path:
    """Return the folder of a workspace: its own, or this machine's copy of one at a URL.

    Raises:
        InputError: It is no folder, or cannot be written.
        UnreachableError: Nobody answers at the URL, or not us.
    """
    return open_folder(folder_of(workspace))


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
