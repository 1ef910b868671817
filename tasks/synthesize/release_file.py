"""A release in a file of any usual kind, as its cells are there; ``fitted`` reads them to fit the real table."""

import io
import json
import re
from pathlib import PurePosixPath
from typing import Any

import fsspec
import pandas as pd
import pyarrow as pa
from fsspec.core import url_to_fs
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.release_csv import read_release_csv
from synthrisk.tasks.synthesize.synthesizer import Job
from synthrisk.tasks.workspace.excel import split_sheet
from synthrisk.tasks.workspace.formats import FORMATS, read_format
from synthrisk.tasks.workspace.readings import without

_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow")
_TEXTS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")
_PACKED = (".gz", ".bz2", ".xz", ".zst")


def read_file(pattern: str, path: str, job: Job) -> pd.DataFrame:
    """Return the release in a file: CSV and other texts with separators, JSON, Parquet, Feather, or one of ``FORMATS``.

    JSON holds records, one after the other or a line each, or columns. A folder holds the parts of one Parquet table.
    Texts may be compressed (.gz, .bz2, .xz, .zst).

    Args:
        pattern: Where it is as the user wrote it, for messages.
        path: Where it is: a path or fsspec URL.
        job: How the real table is written, and what it holds.

    Raises:
        InputError: There is no such file, or it cannot be read.
    """
    path, sheet = split_sheet(path)
    try:
        if files := parts_of(path):
            return pd.concat([_opened(each, pattern, None, job) for each in files], ignore_index=True)
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


def parts_of(path: str) -> list[str]:
    """Return the Parquet files in a folder, in the order of their names; none where it is no such folder."""
    if "://" in path and not path.rstrip("/").lower().endswith(_PARQUET):
        return []  # other addresses are asked once, for the file
    system, place = url_to_fs(path)
    if not system.isdir(place):
        return []
    parts = sorted(each for each in system.find(place) if each.lower().endswith(_PARQUET))
    return [system.unstrip_protocol(each) if "://" in path else each for each in parts]


def _opened(path: str, pattern: str, sheet: str | None, job: Job) -> pd.DataFrame:
    suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
    packed = suffixes[-1] if suffixes and suffixes[-1] in _PACKED else ""
    suffix = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
    if suffix not in (*_TEXTS, *_PARQUET, *_FEATHER, *FORMATS) or (packed and suffix not in _TEXTS):
        plain, others = ", ".join(_TEXTS), ", ".join((*_PARQUET, *_FEATHER, *FORMATS))
        raise InputError(f"path must end in {plain} (also with {', '.join(_PACKED)}), {others}, got {pattern!r}")
    with fsspec.open(path, "rb", compression=None if packed == ".zst" else "infer") as file:
        if suffix in _PARQUET:
            return pd.read_parquet(file)
        if suffix in _FEATHER:
            return pd.read_feather(file)
        raw = file.read()
    raw = pa.input_stream(io.BytesIO(raw), compression="zstd").read() if packed == ".zst" else raw
    if suffix in FORMATS:
        return read_format(raw, suffix, f"path {pattern!r}", sheet, job.form.missing)
    return _json(raw, repr(path), job) if suffix in _TEXTS[3:] else read_release_csv(raw, repr(path), job)


def _json(raw: bytes, name: str, job: Job) -> pd.DataFrame:
    """Return records, a list of them or a line each, or columns, as a table."""
    text = raw.decode("utf-8-sig")
    if not text.strip():
        raise pd.errors.EmptyDataError
    try:
        held = json.loads(text)
    except json.JSONDecodeError:
        held = [json.loads(line) for line in text.splitlines() if line.strip()]
    frame = _of_json(held)
    nested = [
        k for k, column in enumerate(frame) if frame[column].map(lambda cell: isinstance(cell, dict | list)).any()
    ]
    if frame.empty or nested:
        got = f"several in a cell of column {nested[0] + 1}" if nested else "no records"
        raise InputError(f"{name} must hold records of single values, or columns of such, got {got}")
    return pd.DataFrame({c: without(frame[c], job.form.missing) if _is_text(frame[c]) else frame[c] for c in frame})


def _of_json(held: Any) -> pd.DataFrame:
    if isinstance(held, dict) and {"columns", "data"} <= set(held) and isinstance(held["data"], list):
        return pd.DataFrame(held["data"], columns=held["columns"])
    if isinstance(held, dict) and held and all(isinstance(each, dict | list) for each in held.values()):
        return pd.DataFrame(
            {name: [*(each.values() if isinstance(each, dict) else each)] for name, each in held.items()}
        )
    return pd.DataFrame(held if isinstance(held, list) and all(isinstance(each, dict) for each in held) else [])


def _is_text(column: pd.Series) -> bool:
    return types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype)


def _unreadable(pattern: str, path: str, error: Exception) -> InputError:
    """Return what is said of a file that cannot be read: pandas and Arrow say what is in it, which stays unsaid."""
    protocol = path.partition("://")[0]
    if protocol != path and protocol not in (known := fsspec.available_protocols()):
        return InputError(f"no file system is called {protocol}://{nearest(protocol, known)}")
    line = re.search(r"\bline (\d+)", str(error)) if isinstance(error, pd.errors.ParserError) else None
    where = f"{path!r}, line {line[1]}" if line else f"{path!r}"
    return InputError(f"path {pattern!r} must lead to readable files, got one that is not: {where}")
