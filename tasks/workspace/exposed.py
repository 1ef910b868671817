"""The table of exposed records of one generator, in a private file of the workspace: a row a record and measure."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.record_tables import read_where

EVIDENCE = ("gain_as_member", "gain_as_control", "error_as_member", "error_as_control")
"""What makes the score of a record: RAPID's gain r of a class, its error e of a number; of other measures nothing."""
NUMBERS = ("as_member", "as_control", "memorization", "lower", "upper", *EVIDENCE)
_TEXT = pa.dictionary(pa.int8(), pa.string())
_SCHEMA = pa.schema([("record", pa.int64()), ("measure", _TEXT), *((name, pa.float64()) for name in NUMBERS)])


def keep_exposed(path: Path, exposed: Mapping[str, pd.DataFrame]) -> None:
    """Write what each measure says of each record, n rows by key: the measures one after the other, NaN as null.

    Each measure is a row group or more of its own, so that whoever asks for one reads no other.
    """
    with pq.ParquetWriter(
        path,
        _SCHEMA,
        compression="zstd",
        use_dictionary=["measure", "as_member", "as_control"],  # what has few values
        column_encoding={"record": "DELTA_BINARY_PACKED"},
        store_schema=False,  # so that texts are read as texts
    ) as writer:
        for key, rows in exposed.items():
            names = pa.DictionaryArray.from_arrays(np.zeros(len(rows), dtype=np.int8), [key])
            absent = pa.nulls(len(rows), pa.float64())
            numbers = [pa.array(rows[name], from_pandas=True) if name in rows else absent for name in NUMBERS]
            writer.write_table(pa.table([pa.array(np.arange(len(rows))), names, *numbers], schema=_SCHEMA))


def kept_exposed(path: str, measure: str) -> pd.DataFrame:
    """Return what one measure says of each record: its position and ``NUMBERS``; no rows where it scores none."""
    return read_where(there(path), ["record", *NUMBERS], {"measure": measure})
