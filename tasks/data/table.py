"""A typed table by reference: where it is and what it holds, never its cells."""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data.types import category

_CODES = b"synthrisk.codes"  # columns that are categories of something else than text


@dataclass(frozen=True)
class Table:
    """A table in the workspace.

    Attributes:
        path: Its Parquet file.
        digest: First 16 hexadecimal digits of the SHA-256 of its content.
        rows: Number of rows.
        columns: Names of the columns.
    """

    path: str
    digest: str
    rows: int
    columns: tuple[str, ...]

    def read(self) -> pd.DataFrame:
        """Return the table; callers share one frame and must not change it."""
        return _read(self.path, self.digest)


def store(frame: pd.DataFrame, folder: Path) -> Table:
    """Write a typed table under its digest, readable by its owner alone, unless it is there already."""
    key = digest(frame)
    path = (folder / "data" / f"{key}.parquet").absolute()
    if not path.exists():
        _write(frame, path)
    return Table(str(path), key, len(frame), tuple(frame.columns))


def digest(frame: pd.DataFrame) -> str:
    """Return a digest of the names, types and values of a typed table, in order.

    It does not depend on category codes, the index, or how a file stores the table.
    """
    total = hashlib.sha256(json.dumps([len(frame), list(frame.columns)]).encode())
    for name in frame.columns:
        column = frame[name]
        values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
        missing = column.isna().to_numpy()
        if column.dtype == "Int64" or column.dtype == "boolean":  # what lies under the mask is not content
            column = (
                column.fillna(0).astype("int64")
                if column.dtype == "Int64"
                else column.fillna(False).astype(bool)
            )
        hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        total.update(json.dumps([is_category, values.dtype.kind]).encode())
        total.update(np.where(missing, 0, hashes).astype("<u8").tobytes() + np.packbits(missing).tobytes())
    return total.hexdigest()[:16]


@lru_cache(maxsize=2)
def _read(path: str, digest: str) -> pd.DataFrame:
    try:
        stored = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"table {digest} cannot be read from the workspace: {type(error).__name__}"
        ) from None
    frame: pd.DataFrame = stored.to_pandas()
    for name in json.loads((stored.schema.metadata or {}).get(_CODES, b"[]")):
        frame[name] = category(frame[name])
    return frame


def _write(frame: pd.DataFrame, path: Path) -> None:
    categories = frame.select_dtypes("category")
    codes = [str(c) for c in categories if not _is_text(categories[c])]
    plain = frame.assign(**{c: _plain(frame[c]) for c in codes})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")  # mode 0600
    os.close(handle)
    try:
        arrow = pa.Table.from_pandas(plain, preserve_index=False)
        arrow = arrow.replace_schema_metadata({**arrow.schema.metadata, _CODES: json.dumps(codes).encode()})
        pq.write_table(arrow, part, compression="zstd")
        Path(part).replace(path)
    except pa.ArrowException as error:
        raise InputError(f"the table cannot be stored as Parquet: {type(error).__name__}") from None
    finally:
        Path(part).unlink(missing_ok=True)


def _is_text(column: pd.Series) -> bool:
    levels = column.cat.categories
    return bool(len(levels)) and levels.dtype == object


def _plain(column: pd.Series) -> pd.Series:
    """Return a code list as its values: Parquet keeps categories of text only."""
    levels = column.cat.categories
    if levels.dtype.kind not in "iu":
        return column.astype(levels.dtype)
    values = levels.to_series().astype("Int64").array  # not through floats, which round
    return pd.Series(values.take(column.cat.codes.to_numpy(), allow_fill=True), index=column.index)
