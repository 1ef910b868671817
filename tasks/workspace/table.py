"""The study's table in the workspace, under the digest of its content."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

from synthrisk.tasks.workspace.kept import keep_file
from synthrisk.tasks.workspace.parquet import write_typed
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.shared import Place


def store(frame: pd.DataFrame, folder: Path, left_out: pd.DataFrame | None = None) -> Table:
    """Write a typed table under its digest, readable by its owner alone, unless it is there already.

    So are the columns that the study leaves out, a table of their own with the same rows.
    """
    aside = None if left_out is None or left_out.empty else store(left_out, folder)
    key = digest(frame)
    path = (folder / "data" / f"{key}.parquet").absolute()
    keep_file(path, lambda draft: write_typed(frame, draft))
    return Table(Place(path), key, len(frame), tuple(frame.columns), aside)


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
            column = column.fillna(0).astype("int64") if column.dtype == "Int64" else column.fillna(False).astype(bool)
        hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        total.update(json.dumps([is_category, values.dtype.kind]).encode())
        total.update(np.where(missing, 0, hashes).astype("<u8").tobytes() + np.packbits(missing).tobytes())
    return total.hexdigest()[:16]
