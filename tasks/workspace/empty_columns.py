"""Columns that hold nothing where values are due."""

import pandas as pd

_DUE = 20  # values; with so many due, that there is none is no chance


def empty_columns(frame: pd.DataFrame, like: pd.DataFrame) -> list[str]:
    """Return the columns of missing cells alone, unless those of ``like`` hold so few values that it can be chance.

    Example:
        >>> empty_columns(pd.DataFrame({"a": [None] * 40}), pd.DataFrame({"a": [1, None]}))
        ['a']
    """
    due = {name: like[name].notna().mean() * len(frame) for name in like.columns}
    return [name for name in like.columns if due[name] >= _DUE and frame[name].isna().all()]
