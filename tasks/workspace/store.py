"""Where finished work is kept: folders named by a digest of all that went into them, written atomically.

Typed tables are Parquet files: what is written comes back with the same types, code lists included.
"""

import hashlib
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from synthrisk.metrics.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_ABANDONED = 86_400.0  # seconds
_CODES = b"synthrisk.codes"  # columns that are categories of something else than text
_LONGEST = 255  # bytes of a name, on most file systems


def private_folder(folder: Path) -> Path:
    """Return ``folder``, created for its owner alone, with all that is absent above it."""
    if not folder.is_dir():
        private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def write_file(path: Path, write: Callable[[Path], object]) -> Path:
    """Have a private file written at once or not at all."""
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=draft_name())  # mode 0600
    os.close(handle)
    try:
        write(Path(name))
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return path


def claim(draft: Path, path: Path) -> None:
    """Give a file that is whole its name, unless another has it; where a disk knows no links, nearly as surely.

    Raises:
        FileExistsError: Another has it.
    """
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        if path.exists():
            raise FileExistsError(path) from None
        draft.replace(path)


def replace_file(path: Path, text: str) -> Path:
    """Write a private text file at once or not at all."""
    return write_file(path, lambda draft: draft.write_text(text, "utf-8"))


def save_array(array: np.ndarray, path: Path) -> None:
    """Write an array under exactly this name."""
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def save_arrays(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Write named arrays under exactly this name; arrays of objects are refused, for they would be pickled."""
    if objects := [name for name, array in arrays.items() if np.asarray(array).dtype.hasobject]:
        raise ValueError(f"arrays must hold no objects, got some in {objects[0]!r}")
    named: Any = dict(arrays)  # without allow_pickle, which numpy 2.0 takes for the name of one
    with path.open("wb") as file:
        np.savez(file, **named)


def check_writable(argument: str, path: Path, *, folder: bool) -> None:
    """Refuse a place that nothing can be written to, before anything is computed.

    Raises:
        InputError: A folder is wanted where a file is, or a file where a folder is, or it cannot be made.
    """
    kind, other = ("folder", "file") if folder else ("file", "folder")
    cannot = InputError(f"{argument} must be a {kind} that can be written, got {str(path)!r}, which cannot")
    if "\0" in str(path) or any(len(os.fsencode(part)) > _LONGEST for part in path.parts):
        raise cannot
    if path.exists() and path.is_dir() != folder:
        raise InputError(f"{argument} must be a {kind}, got {str(path)!r}, which is a {other}")
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if there != path and not there.is_dir():
        raise InputError(f"{argument} must be a {kind} in a folder, got {str(path)!r}, and {str(there)!r} is a file")
    try:
        tempfile.TemporaryFile(dir=there if there.is_dir() else there.parent).close()
    except OSError:  # what access() says is not so for the superuser and on some file systems
        raise cannot from None


def open_folder(folder: Path) -> Path:
    """Return the folder of a workspace, created for its owner alone, kept out of version control, and swept.

    Raises:
        InputError: It is no folder, or cannot be written.
    """
    check_writable("workspace", folder, folder=True)
    private_folder(folder)
    sweep(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        replace_file(ignore, "*\n")
    return folder.absolute()


def sweep(folder: Path) -> None:
    """Remove drafts of processes of this machine that are gone, and others that are a day old: they hold records."""
    for draft in (*folder.glob(".draft-*"), *folder.glob("*/.draft-*")):
        with suppress(OSError):  # it has just gone, or what a dead process has started is still about to end
            if _is_left(draft.name) or time.time() - draft.stat().st_mtime > _ABANDONED:
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()


def draft_name() -> str:
    """Return how the name of a draft of this process begins: one that is left by a dead process is removed."""
    return f".draft-{machine()}-{os.getpid()}-"


def _is_left(name: str) -> bool:
    """Tell whether the process of this machine that a draft is of is gone."""
    _, place, process, *_ = (*name.split("-"), "", "", "")
    return place == machine() and process.isdecimal() and not psutil.pid_exists(int(process))


def machine() -> str:
    """Return a name of this machine that says nothing of it."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def read_typed(path: Path) -> "pd.DataFrame":
    """Return a table that ``write_typed`` wrote."""
    import pyarrow as pa
    from pyarrow import parquet

    from synthrisk.metrics.tables.codes import category

    try:
        stored = parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"table {path.name} cannot be read from the workspace: {type(error).__name__}") from None
    frame: pd.DataFrame = stored.to_pandas()
    for name in json.loads((stored.schema.metadata or {}).get(_CODES, b"[]")):
        frame[name] = category(frame[name])
    return frame


def write_typed(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table; categories of numbers or booleans, which Parquet does not know, are marked as such."""
    import pyarrow as pa
    from pyarrow import parquet

    codes = [str(c) for c, dtype in frame.dtypes.items() if dtype == "category" and not _is_text(frame[c])]
    plain = frame.assign(**{c: _plain(frame[c]) for c in codes}) if codes else frame
    try:
        arrow = pa.Table.from_pandas(plain, preserve_index=False)
        arrow = arrow.replace_schema_metadata({**arrow.schema.metadata, _CODES: json.dumps(codes).encode()})
        parquet.write_table(arrow, path, compression="lz4", write_statistics=False)  # read often, searched never
    except pa.ArrowException as error:
        raise InputError(f"the table cannot be stored as Parquet: {type(error).__name__}") from None


def _is_text(column: "pd.Series") -> bool:
    import pandas as pd

    levels = column.cat.categories
    return bool(len(levels)) and pd.api.types.is_string_dtype(levels.dtype)


def _plain(column: "pd.Series") -> "pd.Series":
    """Return a code list as its values: Parquet keeps categories of text only."""
    import pandas as pd

    levels = column.cat.categories
    if levels.dtype.kind not in "iu":
        return column.astype(levels.dtype)
    values = levels.to_series().astype("Int64").array  # not through floats, which round
    return pd.Series(values.take(column.cat.codes.to_numpy(), allow_fill=True), index=column.index)
