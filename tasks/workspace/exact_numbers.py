"""Texts read as numbers to the last bit."""

from typing import Literal

import numpy as np
import pandas as pd
from pandas.api import types


def to_numbers(column: pd.Series, errors: Literal["raise", "coerce"] = "raise") -> pd.Series:
    """Return what ``pandas.to_numeric`` does, each text as the float nearest to it.

    pandas below 3 is off by the last bit in three of ten texts of 17 digits: a copy would differ from its original.

    Example:
        >>> texts = ["0.30000000000000004", "1e-7", "2"]
        >>> to_numbers(pd.Series(texts)).tolist() == [float(text) for text in texts]
        True
    """
    numbers: pd.Series = pd.to_numeric(column, errors=errors)
    if not types.is_float_dtype(numbers.dtype):
        return numbers
    texts = column.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool) & numbers.notna().to_numpy(dtype=bool)
    if texts.any():
        numbers = numbers.copy()
        numbers.iloc[np.flatnonzero(texts)] = np.array([float(text) for text in column[texts]])
    return numbers
