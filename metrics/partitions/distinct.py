"""The distinct values of a column in parts, with how often each occurs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.value_ranks import exact_numbers


class Distinct(NamedTuple):
    """The values of a column, each once; none of them is missing."""

    values: pd.Series  # numbers ascending, categories in their order, others as they come first
    counts: np.ndarray  # (d,) int64: how often each occurs
    missing: int  # how many cells are missing


def distinct_values(frame: pd.DataFrame, columns: Sequence[Any]) -> dict[Any, Distinct]:
    """Return the distinct values of each column of a part."""
    return {column: distinct(frame[column]) for column in columns}


def distinct(column: pd.Series) -> Distinct:
    """Return the distinct values of one column of a part.

    Example:
        >>> found = distinct(pd.Series([2.0, None, 1.0, 2.0]))
        >>> found.values.tolist(), found.counts.tolist(), found.missing
        ([1.0, 2.0], [1, 2], 1)
    """
    missing = int(column.isna().sum())
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
        values = pd.Series(column.cat.categories.to_numpy(), dtype=column.cat.categories.dtype).astype(column.dtype)
        return Distinct(values, np.bincount(codes[codes >= 0], minlength=len(values)), missing)
    there = column[column.notna()]
    if kind(column) == "numeric":
        _, first, counts = np.unique(exact_numbers(there), return_index=True, return_counts=True)
        return Distinct(there.iloc[first].reset_index(drop=True), counts, missing)
    codes, levels = _factorized(there)
    values = pd.Series(levels, dtype=object).astype(column.dtype)
    return Distinct(values, np.bincount(codes, minlength=len(levels)), missing)


def merged(found: Sequence[Distinct]) -> tuple[pd.Series, np.ndarray]:
    """Return the distinct values of all parts, and how often each occurs in each part, (parts, d).

    Where the parts have other categories, they become all that there are, sorted.
    """
    some = [each for each in found if len(each.values)] or list(found[:1])
    values = [each.values for each in some]
    if any(isinstance(each.dtype, pd.CategoricalDtype) for each in values):
        every = _categories(values)
    else:
        every = distinct(pd.concat(values, ignore_index=True)).values
    counts = np.zeros((len(found), len(every)), dtype=np.int64)
    for row, each in zip(counts, found, strict=True):
        row[positions(each.values, every)] = each.counts
    return every, counts


def positions(column: pd.Series, every: pd.Series) -> np.ndarray:
    """Return the position of each cell among distinct values; that of a missing cell is their number."""
    missing = len(every)
    if not isinstance(column.dtype, pd.CategoricalDtype) and kind(every) == "numeric":
        found = np.searchsorted(exact_numbers(every), exact_numbers(column))
        return np.where(column.isna().to_numpy(), missing, found)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, levels = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    else:
        there = column.notna().to_numpy()
        codes = np.full(len(column), -1)
        codes[there], own = _factorized(column[there])
        levels = own.tolist()
    place = {level: at for at, level in enumerate(every.tolist())}
    return np.array([*(place.get(level, missing) for level in levels), missing])[codes]  # -1, missing, picks the last


def _factorized(there: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    try:
        codes, levels = factorized(there.astype(object).to_numpy())
    except TypeError:
        raise InputError(f"column {there.name!r} must hold single values, got lists or other containers") from None
    return codes, np.asarray(levels, dtype=object)


def _categories(values: Sequence[pd.Series]) -> pd.Series:
    lists = [each.cat.categories if hasattr(each, "cat") else pd.Index(each) for each in values]
    if all(lists[0].equals(other) for other in lists[1:]):
        return pd.Series(lists[0].to_numpy(), dtype=lists[0].dtype).astype(pd.CategoricalDtype(lists[0]))
    every = lists[0].append(lists[1:]).unique().sort_values()
    return pd.Series(every.to_numpy(), dtype=every.dtype).astype(pd.CategoricalDtype(every))
