"""Releases made elsewhere, read from CSV, Parquet and other files."""

import re
from pathlib import Path, PurePosixPath

import fsspec
import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.reading import FileForm
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.conform import conform
from synthrisk.tasks.synthesize.handed_over import handed_over
from synthrisk.tasks.synthesize.release_csv import read_release_csv
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer
from synthrisk.tasks.workspace.excel import split_sheet
from synthrisk.tasks.workspace.formats import FORMATS, read_format
from synthrisk.tasks.workspace.readings import released

_PLACES = ("repetition", "fold")
_PARQUET = (".parquet", ".pq")


def files(job: Job, *, path: str) -> Release:
    """Read the release of this repetition and fold.

    Its columns are those of the training table in any order; its values are cast (``conform``). It has as
    many rows as the file. A path without ``{repetition}`` and ``{fold}`` in a study of several releases is a
    file made from all records: there are members then, but no control records, and no memorization.

    Args:
        job: Whose repetition and fold are read.
        path: A ``.parquet``, ``.pq``, ``.csv`` or ``.csv.gz`` path or fsspec URL, or one of ``FORMATS``, with
            ``{repetition}`` and ``{fold}`` where they stand, e.g. ``vendor/{repetition}-{fold}.parquet``;
            without them one file serves all releases.

    Raises:
        InputError: There is no such file, it cannot be read or has no rows, or it does not fit.
    """
    concrete = concrete_path(path, job.repetition, job.fold)
    synthetic = read_release(job, path, concrete)
    if job.releases > 1 and concrete == path:  # one file for all: it was made from the held-out records too
        return Release(synthetic, np.arange(len(job.held_out)))
    return Release(synthetic)


def read_release(job: Job, path: str, concrete: str) -> pd.DataFrame:
    """Return the release in a file, cast to the columns and types of the training table.

    Raises:
        InputError: It cannot be read, has no rows or does not fit; ``path`` is how the user wrote where it is.
    """

    def read() -> pd.DataFrame:
        table = _read(path, concrete, job)
        if len(table) < 2:
            got = "one" if len(table) else "none"
            raise InputError(f"path {path!r} must lead to files of at least two rows, got {got} in {concrete!r}")
        return fitted(table, job.train, job.form, concrete)

    return handed_over(concrete, job, read)


def fitted(table: pd.DataFrame, train: pd.DataFrame, form: FileForm, name: str) -> pd.DataFrame:
    """Return a release with the columns and types of the training table.

    Columns that the study leaves out are left out, and cells are read as those of the real table.

    Raises:
        InputError: The release, called ``name``, does not fit.
    """
    left_out = [c for c in form.left_out if c in table.columns and c not in train.columns]
    release = conform(released(table.drop(columns=left_out) if left_out else table, form.columns), train, name)
    for column in (c for c in release.columns if types.is_float_dtype(release[c].dtype)):
        if np.isinf(release[column].to_numpy(float, na_value=np.nan)).any():
            raise InputError(f"{name}: column {column!r} must hold finite numbers, got infinity")
    return release


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


def _read(pattern: str, path: str, job: Job) -> pd.DataFrame:
    path, sheet = split_sheet(path)
    suffix = PurePosixPath(path.lower()).suffix
    is_parquet = suffix in _PARQUET
    if not is_parquet and suffix not in FORMATS and not path.lower().endswith((".csv", ".csv.gz")):
        others = ", ".join(FORMATS)
        raise InputError(f"path must end in .parquet, .pq, .csv, .csv.gz, {others}, got {pattern!r}")
    try:
        with fsspec.open(path, "rb", compression="infer") as file:
            if suffix in FORMATS:
                return read_format(file.read(), suffix, f"path {pattern!r}", sheet, job.form.missing)
            return pd.read_parquet(file) if is_parquet else read_release_csv(file.read(), repr(path), job)
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


def _unreadable(pattern: str, path: str, error: Exception) -> InputError:
    """Return what is said of a file that cannot be read: pandas and Arrow say what is in it, which stays unsaid."""
    protocol = path.partition("://")[0]
    if protocol != path and protocol not in (known := fsspec.available_protocols()):
        return InputError(f"no file system is called {protocol}://{nearest(protocol, known)}")
    line = re.search(r"\bline (\d+)", str(error)) if isinstance(error, pd.errors.ParserError) else None
    where = f"{path!r}, line {line[1]}" if line else f"{path!r}"
    return InputError(f"path {pattern!r} must lead to readable files, got one that is not: {where}")


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    return [split_sheet(concrete_path(options["path"], repetition, fold))[0]]  # type: ignore[arg-type]


def _located(path: str, folder: Path) -> str:
    return path if "://" in path else str(folder / path)


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, located=_located, trial="all")
