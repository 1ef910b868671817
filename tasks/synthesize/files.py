"""Releases made elsewhere, read from CSV or Parquet files."""

import re
from typing import Any, cast

import fsspec
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.conform import MISSING, conform
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

_PLACES = ("repetition", "fold")
_PARQUET = (".parquet", ".pq")


def files(job: Job, *, path: str) -> Release:
    """Read the release of this repetition and fold.

    Its columns are those of the training table in any order; its values are cast (``conform``). It has as
    many rows as the file. In a CSV file an empty cell is missing, and so is a text such as ``NA`` or ``nan``
    unless the training column holds it as a value.

    Args:
        job: Whose repetition and fold are read.
        path: A ``.parquet``, ``.pq``, ``.csv`` or ``.csv.gz`` path or fsspec URL, with ``{repetition}`` and
            ``{fold}`` where they stand, e.g. ``vendor/{repetition}-{fold}.parquet``; without them one file
            serves all releases.

    Raises:
        InputError: There is no such file, it cannot be read or has no rows, or it does not fit.
    """
    concrete = concrete_path(path, job.repetition, job.fold)
    table = _read(path, concrete, job.train)
    if not len(table):
        raise InputError(f"path {path!r} must lead to files with rows, got none in {concrete!r}")
    return Release(conform(table, job.train, concrete))


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


def _read(pattern: str, path: str, train: pd.DataFrame) -> pd.DataFrame:
    is_parquet = path.lower().endswith(_PARQUET)
    if not is_parquet and not path.lower().endswith((".csv", ".csv.gz")):
        raise InputError(f"path must end in .parquet, .pq, .csv or .csv.gz, got {pattern!r}")
    try:
        with fsspec.open(path, "rb", compression="infer") as file:
            return pd.read_parquet(file) if is_parquet else _read_csv(file, train)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"path {pattern!r} must lead to a file, found none at {path!r}") from None
    except ImportError as error:
        raise InputError(f"path {pattern!r} needs a package that is not installed: {error}") from None
    except pd.errors.EmptyDataError:
        raise InputError(f"path {pattern!r} must lead to files with rows, got none in {path!r}") from None
    except (ValueError, OSError) as error:  # pandas and Arrow say what is in the file: it stays unsaid
        what = type(error).__name__
        raise InputError(f"path {pattern!r} must lead to readable files, got {what} at {path!r}") from None


def _read_csv(file: object, train: pd.DataFrame) -> pd.DataFrame:
    markers = {c: sorted(MISSING - {v for v in train[c].unique() if isinstance(v, str)}) for c in train.columns}
    return pd.read_csv(cast(Any, file), dtype=str, keep_default_na=False, na_values=markers)


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    return [concrete_path(options["path"], repetition, fold)]  # type: ignore[arg-type]


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, trial="all")
