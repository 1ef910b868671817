"""Members, control records and a release from Parquet files, in parts and typed as ``evaluate`` types them."""

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
from fsspec.core import url_to_fs

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.partitions.findings import check_sides
from synthrisk.metrics.partitions.parts import Partitioned, agree
from synthrisk.tasks.data.checks import of_cells, of_names, refuse
from synthrisk.tasks.data.types import infer
from synthrisk.tasks.partitions.on_dask import parquet
from synthrisk.tasks.synthesize.coarse_cells import coarse_cells
from synthrisk.tasks.synthesize.conform import conform

MANY = 2_000_000
"""Real records from which ``--engine dask`` is suggested."""
_SUFFIXES = (".parquet", ".pq")


def tables_in_parts(client: Any, data: Data, files: Mapping[str, str], columns: list[str]) -> Partitioned:
    """Return the tables in the codes that their parts agree on.

    Args:
        client: Of the Dask cluster whose workers read the files.
        data: What is said of the columns of the real table.
        files: ``real``, ``synthetic`` and, where there are any, ``control`` records: Parquet files or folders.
        columns: Those that are kept (``kept_columns``).

    Raises:
        InputError: A file cannot be read, or its cells do not fit; the text holds no cell.
    """
    parts = {name: parquet(client, name, path, columns) for name, path in files.items()}
    settled = partial(_settled, data, files["synthetic"])
    tables = agree(columns, parts["real"], parts.get("control"), parts["synthetic"], settled)
    check_sides(tables)
    return tables


def kept_columns(data: Data, files: Mapping[str, str]) -> list[str]:
    """Return the columns that the real table has and nothing leaves out; refuse files that have others.

    Raises:
        InputError: A file is no Parquet file, or its columns are not those of the real table.
    """
    found = {name: _schema(name, path).names for name, path in files.items()}
    refuse([*of_names(found["real"], data, Split())])
    kept = [c for c in found["real"] if c not in data.drop]
    for name, own in found.items():
        absent, extra = [c for c in kept if c not in own], [c for c in own if c not in found["real"]]
        if absent or extra:
            raise InputError(
                f"{name} must have the columns of real for engine dask, got {absent!r} absent and {len(extra)} others; "
                "--drop leaves out columns of real, and --engine memory reads releases that lack some or have others"
            )
    return kept


def rows_of(path: str) -> int | None:
    """Return how many rows a Parquet file says it has; None where it is none that can be asked at once."""
    if not path.endswith(_SUFFIXES):
        return None
    try:
        return int(_dataset(path).count_rows())
    except (OSError, ValueError, ImportError, pa.ArrowException):
        return None


def _schema(name: str, path: str) -> pa.Schema:
    if PurePosixPath(path).suffix.lower() not in (*_SUFFIXES, ""):
        raise InputError(f"{name} must be a Parquet file or a folder of such for engine dask, got {path!r}")
    try:
        return _dataset(path).schema
    except FileNotFoundError:
        raise InputError(f"{name} must lead to a Parquet file, found none at {path!r}") from None
    except (OSError, ValueError, ImportError, pa.ArrowException) as error:
        raise InputError(f"{name} {path!r} cannot be read as Parquet: {type(error).__name__}") from None


def _dataset(path: str) -> ds.Dataset:
    system, place = url_to_fs(path)
    return ds.dataset(place, filesystem=system, format="parquet")


def _settled(data: Data, released: str, values: pd.Series, like: pd.Series | None) -> pd.Series:
    """Return distinct values in the type of their column: a real one is typed by its cells, a released one by it."""
    name = str(values.name)
    if like is not None:
        if (coarse := coarse_cells(values, like)) is not None:
            raise InputError(
                f"synthetic must hold exact cells for engine dask, got coarse ones in column {name!r} "
                f"({coarse.words}); engine memory reads each as all values that it stands for"
            )
        return conform(values.to_frame(name), like.to_frame(name), released)[name]
    typed = infer(values, code=name in data.categorical).rename(name)
    refuse([*of_cells(typed.to_frame(name), data)])
    return typed
