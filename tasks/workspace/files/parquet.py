"""Typed tables as Parquet files: what is written comes back with the same types, code lists included."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import category

_CODES = b"synthrisk.codes"  # columns that are categories of something else than text


def read_typed(path: Path) -> pd.DataFrame:
    """Return a table that ``write_typed`` wrote."""
    try:
        stored = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"table {path.name} cannot be read from the workspace: {type(error).__name__}") from None
    frame: pd.DataFrame = stored.to_pandas()
    for name in json.loads((stored.schema.metadata or {}).get(_CODES, b"[]")):
        frame[name] = category(frame[name])
    return frame


def write_typed(frame: pd.DataFrame, path: Path) -> None:
    """Write a table; categories of numbers or booleans, which Parquet does not know, are marked as such."""
    codes = [str(c) for c, dtype in frame.dtypes.items() if dtype == "category" and not _is_text(frame[c])]
    plain = frame.assign(**{c: _plain(frame[c]) for c in codes}) if codes else frame
    try:
        arrow = pa.Table.from_pandas(plain, preserve_index=False)
        arrow = arrow.replace_schema_metadata({**arrow.schema.metadata, _CODES: json.dumps(codes).encode()})
        pq.write_table(arrow, path, compression="lz4", write_statistics=False)  # read often, searched never
    except pa.ArrowException as error:
        raise InputError(f"the table cannot be stored as Parquet: {type(error).__name__}") from None


def _is_text(column: pd.Series) -> bool:
    levels = column.cat.categories
    return bool(len(levels)) and pd.api.types.is_string_dtype(levels.dtype)


def _plain(column: pd.Series) -> pd.Series:
    """Return a code list as its values: Parquet keeps categories of text only."""
    levels = column.cat.categories
    if levels.dtype.kind not in "iu":
        return column.astype(levels.dtype)
    values = levels.to_series().astype("Int64").array  # not through floats, which round
    return pd.Series(values.take(column.cat.codes.to_numpy(), allow_fill=True), index=column.index)
