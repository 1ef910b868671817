"""Releases made elsewhere, read from CSV or Parquet files."""

import io
import re

import fsspec
import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.reading import FileForm
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.conform import MISSING, conform
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer
from synthrisk.tasks.workspace.csv import decoded, separator_of
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
        path: A ``.parquet``, ``.pq``, ``.csv`` or ``.csv.gz`` path or fsspec URL, with ``{repetition}`` and
            ``{fold}`` where they stand, e.g. ``vendor/{repetition}-{fold}.parquet``; without them one file
            serves all releases.

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
    table = _read(path, concrete, job)
    if not len(table):
        raise InputError(f"path {path!r} must lead to files with rows, got none in {concrete!r}")
    return fitted(table, job.train, job.form, concrete)


def fitted(table: pd.DataFrame, train: pd.DataFrame, form: FileForm, name: str) -> pd.DataFrame:
    """Return a release with the columns and types of the training table.

    Columns that the study leaves out are left out, and cells are read as those of the real table.

    Raises:
        InputError: The release, called ``name``, does not fit.
    """
    left_out = [c for c in form.left_out if c in table.columns and c not in train.columns]
    return conform(released(table.drop(columns=left_out), form.columns), train, name)


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
    is_parquet = path.lower().endswith(_PARQUET)
    if not is_parquet and not path.lower().endswith((".csv", ".csv.gz")):
        raise InputError(f"path must end in .parquet, .pq, .csv or .csv.gz, got {pattern!r}")
    try:
        with fsspec.open(path, "rb", compression="infer") as file:
            return pd.read_parquet(file) if is_parquet else _read_csv(file.read(), job)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"path {pattern!r} must lead to a file, found none at {path!r}") from None
    except ImportError as error:
        raise InputError(f"path {pattern!r} needs a package that is not installed: {error}") from None
    except pd.errors.EmptyDataError:
        raise InputError(f"path {pattern!r} must lead to files with rows, got none in {path!r}") from None
    except (ValueError, OSError) as error:  # pandas and Arrow say what is in the file: it stays unsaid
        what = type(error).__name__
        raise InputError(f"path {pattern!r} must lead to readable files, got {what} at {path!r}") from None


def _read_csv(raw: bytes, job: Job) -> pd.DataFrame:
    """Return a CSV file as texts, missing cells found by the rules of the real table.

    An empty cell and the study's ``missing`` texts are missing; so are the usual markers (NA, nan ...) unless the
    real column holds them as values. Semicolon files may have decimal commas.
    """
    text = decoded(raw, "path")
    separator = separator_of(text) if text.strip() else ","
    real = pd.concat([job.train, job.held_out])
    texts = {c: {v for v in real[c].unique() if isinstance(v, str)} for c in real.columns}
    markers = {c: sorted({"", *job.form.missing} | (MISSING - texts[c])) for c in real.columns}
    table = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False, na_values=markers)
    if separator == ";":
        plain = [c for c in table.columns if c in texts and c not in job.form.columns]
        for name in (c for c in plain if types.is_numeric_dtype(job.train[c].dtype)):
            table[name] = table[name].str.replace(",", ".", regex=False)
    return table


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    return [concrete_path(options["path"], repetition, fold)]  # type: ignore[arg-type]


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, trial="all")
