"""What a cell holds, by definition: independent of the code that is tested."""

import pandas as pd


def is_missing(value):
    return value is None or value is pd.NA or value != value


def same(a, b):
    """Two missing cells are equal."""
    return (is_missing(a) and is_missing(b)) or (not is_missing(a) and not is_missing(b) and a == b)


def cell(value):
    """A missing cell as None, a point in time as a number."""
    if is_missing(value):
        return None
    return float(value.value) if isinstance(value, pd.Timestamp) else value


def is_numeric(column):
    types = pd.api.types
    return types.is_datetime64_any_dtype(column) or (types.is_numeric_dtype(column) and not types.is_bool_dtype(column))
