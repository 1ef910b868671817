"""Releases made elsewhere, read from files of any usual kind as their cells are there; ``fitted`` reads them to fit."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from threading import Lock
from typing import Any, NamedTuple

import fsspec
import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.tables.entities import checked_links
from synthrisk.tasks.synthesize.column_matching import fitted
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer
from synthrisk.tasks.workspace.files import (
    KINDS,
    PARQUET,
    READERS,
    SEPARATED,
    content,
    in_one,
    kind_of,
    parts_of,
    split_sheet,
    text_parts_of,
    texts_in_one,
)
from synthrisk.tasks.workspace.files.cell_texts import MISSING
from synthrisk.tasks.workspace.files.coarse_cells import are_pairs
from synthrisk.tasks.workspace.files.csv import decoded, refuse_cut_short, tidied


class _Read(NamedTuple):
    path: str
    stamp: tuple[int, ...]
    job: Job
    release: Release


_LAST: list[_Read] = []  # one at most
_LOCK = Lock()


def handed_over(path: str, job: Job, read: Callable[[], Release]) -> Release:
    """Return what ``read`` gives, or gave the last time for the same file beside the same records.

    What was read is handed over once, and then forgotten. Files elsewhere (``s3://`` and others) are read each time,
    and so are those of a study of several releases, whose records differ.
    """
    with _LOCK:
        last = _LAST.pop() if _LAST else None
    if last and last.path == path and last.stamp == _stamp(path) and _is_like(last.job, job):
        return last.release
    stamp = _stamp(path)
    release = read()
    if stamp and stamp == _stamp(path) and job.releases == 1 and job.held_out.empty:
        kept = replace(release, synthetic=release.synthetic.copy(deep=False), beside=release.beside.copy(deep=False))
        _LAST[:] = [_Read(path, stamp, job, kept)]
    return release


def _is_like(job: Job, other: Job) -> bool:
    """Tell whether a file is read the same for both."""
    said = (job.form, job.releases) == (other.form, other.releases)
    return said and job.train.equals(other.train) and job.held_out.equals(other.held_out)


def _stamp(path: str) -> tuple[int, ...] | None:
    """Return what an edit of a file moves; None where it is none of this machine."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    if S_ISDIR(found.st_mode):  # whose files may be edited
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size


_LOOKED_AT = 10_000  # records


def read_release_csv(raw: bytes, name: str, job: Job) -> pd.DataFrame:
    """Return a CSV file as texts, or whole numbers where all are, missing cells found by the rules of the real table.

    An empty cell and the study's ``missing`` texts are missing; so are the usual markers (NA, nan ...) unless the
    real column holds them as values. Semicolon files may have decimal commas, but in bands. Texts of which the real
    column holds few are a category of them.
    """
    text = decoded(raw, name)
    if not text or text.isspace():
        raise pd.errors.EmptyDataError
    text, separator, notes = tidied(text, name)
    table = _parsed(partial(_parse, text.encode(), separator, _markers(job)), job, name, whole=separator != ";")
    refuse_cut_short(text, separator, name, len(table.columns))
    if separator == ";":
        plain = [c for c in table.columns if c in job.train.columns and c not in job.form.columns]
        for column in (c for c in plain if types.is_numeric_dtype(job.train[c].dtype)):
            table[column] = _with_points(table[column], job.train[column])
    table.attrs["notes"] = notes
    return table


_ENDS = r"[\[\]{}]|,\s"  # in bands, whose comma stands between their ends


def _with_points(cells: pd.Series, like: pd.Series) -> pd.Series:
    """Return numbers with a decimal point for a comma, but for bands, and where points stand between thousands."""
    numbers = ~cells.str.contains(_ENDS if like.min() < 0 else rf"{_ENDS}|\(", regex=True, na=True).astype(bool)
    if cells[numbers].str.contains(".", regex=False).any() or are_pairs(cells.dropna().unique(), like):
        return cells
    return cells.astype(object).mask(numbers, cells.str.replace(",", ".", regex=False))


def _markers(job: Job) -> dict[str, list[str]]:
    """Return the texts that mean a missing cell, by column."""
    texts = {c: _texts(job.train[c]) | _texts(job.held_out[c]) for c in job.train.columns}
    return {c: sorted({"", *job.form.missing} | (MISSING - texts[c])) for c in texts}


def _texts(column: pd.Series) -> set[str]:
    """Return the texts that a column holds."""
    if types.is_numeric_dtype(column.dtype):
        return set()
    return {value for value in column.unique() if isinstance(value, str)}


def _parsed(parse: "partial[pd.DataFrame]", job: Job, name: str, *, whole: bool) -> pd.DataFrame:
    """Return the cells; columns of whole numbers are texts if one cell is no whole number, for ``conform`` to cast."""
    dtypes = _dtypes(job)
    numbers = [c for c in dtypes if whole and c not in job.form.columns and job.train[c].dtype == "int64"]
    others = [c for c in parse(nrows=0).columns if c not in dtypes]  # such as ZIP for zip: codes stay
    texts = {c: dtype for c, dtype in dtypes.items() if c not in numbers} | dict.fromkeys(others, "str")
    table = parse(dtype=texts)
    if not isinstance(table.index, pd.RangeIndex):
        raise InputError(f"{name} must have as many cells in each row as names in its header, got more")
    if unread := [c for c in numbers if c in table and table[c].dtype != "int64"]:
        table[unread] = parse(dtype=dict.fromkeys(unread, "str"), usecols=unread)[unread]
    return table


def _dtypes(job: Job) -> dict[str, str]:
    """Return what columns are read as: texts, or codes of them, which are sorted: quick where they are few."""
    few = {c for c in job.train.columns if 2 * job.train[c].head(_LOOKED_AT).nunique() <= _LOOKED_AT}
    return {c: "category" if c in few and c not in job.form.columns else "str" for c in job.train.columns}


def _parse(text: bytes, separator: str, markers: Mapping[str, list[str]], **how: Any) -> pd.DataFrame:
    """Return the cells of a file; ``how`` they are read is said in the words of ``pandas.read_csv``."""
    kept: dict[str, Any] = {"keep_default_na": False, "na_values": markers, "low_memory": False}
    return pd.read_csv(io.BytesIO(text), sep=separator, **kept, **how)


def read_file(pattern: str, path: str, job: Job) -> pd.DataFrame:
    """Return the release in a file: CSV and other texts with separators, or one of ``READERS``.

    JSON holds records, one after the other or a line each, or columns. A folder holds the parts of one table, as
    Spark and Dask write them: Parquet files, or CSV or JSON files on this machine. Texts may be compressed (.gz, .bz2,
    .xz, .zst).

    Args:
        pattern: Where it is as the user wrote it, for messages.
        path: Where it is: a path or fsspec URL.
        job: How the real table is written, and what it holds.

    Raises:
        InputError: There is no such file, or it cannot be read.
    """
    path, sheet = split_sheet(path)
    try:
        if parts := parts_of(path):
            one = in_one(path, parts, f"path {pattern!r}")
            return READERS[PARQUET](one, f"path {pattern!r}", None, job.form.missing)
        return _opened(path, pattern, sheet, job)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"path {pattern!r} must lead to a file, found none at {path!r}") from None
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"path {pattern!r} needs a package that is not installed: {error}") from None
    except pd.errors.EmptyDataError:
        raise InputError(f"path {pattern!r} must lead to files with rows, got none in {path!r}") from None
    except Exception as error:  # noqa: BLE001 - every file system has errors of its own, with addresses and keys in them
        raise _unreadable(pattern, path, error) from None


def _opened(path: str, pattern: str, sheet: str | None, job: Job) -> pd.DataFrame:
    parts = text_parts_of(path)
    kind = kind_of(path) or (kind_of(parts[0]) if parts else None)
    if kind is None:
        raise InputError(f"path must end in {KINDS}, got {pattern!r}")
    raw = texts_in_one(parts, f"path {pattern!r}", has_header=kind in SEPARATED) if parts else content(path)
    if kind in SEPARATED:
        return read_release_csv(raw, repr(path), job)
    return READERS[kind](raw, f"path {pattern!r}", sheet, job.form.missing)


def _unreadable(pattern: str, path: str, error: Exception) -> InputError:
    """Return what is said of a file that cannot be read: pandas and Arrow say what is in it, which stays unsaid."""
    protocol = path.partition("://")[0]
    if protocol != path and protocol not in (known := fsspec.available_protocols()):
        return InputError(f"no file system is called {protocol}://{nearest(protocol, known)}")
    line = re.search(r"\bline (\d+)", str(error)) if isinstance(error, pd.errors.ParserError) else None
    where = f"{path!r}, line {line[1]}" if line else f"{path!r}"
    return InputError(f"path {pattern!r} must lead to readable files, got one that is not: {where}")


_PLACES = ("repetition", "fold")


def files(job: Job, *, path: str, links: str | None = None, drop: Sequence[str] = ()) -> Release:
    """Read the release of this repetition and fold.

    Its columns are those of the training table in any order; its values are read to fit (``fitted``). Others that the
    file has, columns that the study leaves out among them, are released beside them. It has as many rows as the file.
    A path without ``{repetition}`` and ``{fold}`` in a study of several releases is a file made from all records: there
    are members then, but no control records, and no memorization.

    Args:
        job: Whose repetition and fold are read.
        path: A path or fsspec URL of a file (``read_file`` says of which kinds), with
            ``{repetition}`` and ``{fold}`` where they stand, e.g. ``vendor/{repetition}-{fold}.parquet``;
            without them one file serves all releases.
        links: A path or URL, as ``path``, of a file that says which training row each row was made from, for
            ``hidden_rate``: a table of one column, with its name in the first line, and a whole number for each
            released row: 0 for the first training row (as ``synthrisk split`` writes them), -1 for one made from none.
        drop: Columns that the file has and the real table has not, which are not looked at.

    Raises:
        InputError: There is no such file, it cannot be read or has no rows, or it does not fit.
    """
    concrete = concrete_path(path, job.repetition, job.fold)
    release = read_release(job, path, concrete)
    if len(drop):
        release = _without(release, drop)
    if links is not None:
        release = replace(release, links=_read_links(job, path, links, len(release.synthetic)))
    if job.releases > 1 and concrete == path:  # one file for all: it was made from the held-out records too
        return replace(release, used=np.arange(len(job.held_out)))
    return release


def read_release(job: Job, path: str, concrete: str) -> Release:
    """Return the release in a file, read to fit the training table (``fitted``), and what is beside it.

    Raises:
        InputError: It cannot be read, has no rows or does not fit; ``path`` is how the user wrote where it is.
    """

    def read() -> Release:
        table = read_file(path, concrete, job)
        if len(table) < 2:
            got = "one" if len(table) else "none"
            raise InputError(f"path {path!r} must lead to files of at least two rows, got {got} in {concrete!r}")
        return fitted(table, job.train, job.form, concrete)

    return handed_over(concrete, job, read)


def _without(release: Release, names: Sequence[str]) -> Release:
    """Return a release without some of the columns that it has beside those of the real table, and say so."""
    for name in names:
        if name not in release.beside.columns:
            raise InputError(f"drop must name columns that the release alone has, got {name!r}")
    words = f"{', '.join(map(repr, names))}: left out as asked for, and not looked at"
    told = (*release.told, Problem("dropped", "", "note", words))
    return replace(release, beside=release.beside.drop(columns=[*names]), told=told)


def _read_links(job: Job, path: str, links: str, rows: int) -> np.ndarray:
    concrete = concrete_path(links, job.repetition, job.fold)
    if job.releases > 1 and concrete_path(path, job.repetition, job.fold) == path:
        rule = "stand beside a path with {repetition} and {fold}: it names rows of the training part of each release"
        raise InputError(f"links must {rule}, got {path!r}")
    table = read_file(links, concrete, job)
    if table.shape[1] != 1:
        raise InputError(f"links {links!r} must lead to tables of one column, got {table.shape[1]} columns")
    cells = table.iloc[:, 0]
    numbers = pd.to_numeric(cells, errors="coerce")
    cells = numbers if numbers.notna().all() else cells
    return checked_links(f"links in {concrete!r}", cells.to_numpy(), rows, len(job.train))


def concrete_path(path: str, repetition: int, fold: int) -> str:
    """Return the path of one release.

    Example:
        >>> concrete_path("vendor/{repetition}-{fold}.csv", 2, 0)
        'vendor/2-0.csv'
    """
    if not isinstance(path, str) or not path:
        raise InputError(f"path must be a path or URL, got {path!r}")
    for place in re.findall(r"\{(\w*)\}", path):
        if place not in _PLACES:
            raise InputError(f"path takes {{repetition}} and {{fold}}, got {place!r}{nearest(place, _PLACES)}")
    return path.replace("{repetition}", str(repetition)).replace("{fold}", str(fold))


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    given = [str(options[name]) for name in ("path", "links") if options.get(name) is not None]
    paths = [split_sheet(concrete_path(each, repetition, fold))[0] for each in given]
    return [file for path in paths for file in parts_of(path) or text_parts_of(path) or [path]]


def _located(path: str, folder: Path) -> str:
    return path if "://" in path else str(folder / path)


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, located=_located, trial="all")
