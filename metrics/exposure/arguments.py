"""The records that have a score, with the columns that explain it: all arguments checked at one door."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range
from synthrisk.metrics.tables.kinds import as_floats
from synthrisk.metrics.tables.tables import Tables


class Scored(NamedTuple):
    """The records that have a score."""

    scores: np.ndarray  # (n,) float64 in [0, 1]
    records: pd.DataFrame  # (n, p)
    columns: list[str]  # in order of their names
    kept: np.ndarray  # which records of the table these are


def scored(scores: Any, table: pd.DataFrame, columns: Sequence[str] | str, argument: str, confidence: float) -> Scored:
    """Return the scores that are there and the records they belong to, all arguments checked."""
    check_range("confidence", confidence, ABOVE_0, BELOW_1, "a number in (0, 1)")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"table must be a pandas DataFrame, got {type(table).__name__}")
    if not table.columns.is_unique or not len(table.columns):
        raise InputError(f"table must have columns with distinct names, got {len(table.columns)} columns")
    try:
        x = as_floats(pd.Series(scores, name="scores"))
    except (TypeError, ValueError):
        raise InputError("scores must be numbers, one a record, got values of another kind") from None
    if len(x) != len(table):
        raise InputError(f"scores must hold one number a record, got {len(x)} for {len(table)} records")
    kept = ~np.isnan(x)
    if not kept.any():
        raise InputError(f"scores must hold at least one scored record, got none of {len(x)}")
    if x[kept].min() < 0 or x[kept].max() > 1:
        raise InputError(f"scores must lie in [0, 1], got {x[kept].min():g} to {x[kept].max():g}")
    names = Tables(table, table).check_columns(argument, columns)
    return Scored(x[kept], table.loc[:, names][kept], sorted(names, key=str), kept)
