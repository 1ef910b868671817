"""A column as named levels: quantile bins of a numeric one, values of any other, "missing" last."""

from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import as_floats, kind
from synthrisk.metrics.tables.value_texts import value_texts

MISSING = "missing"


class Levels(NamedTuple):
    """A column as places in a list of named levels."""

    codes: np.ndarray  # (n,) int64
    names: list[str]  # in level order, the missing level last; each occurs in the column


def column_levels(column: pd.Series, bins: int | None) -> Levels:
    """Return a column as levels: quantile bins of a numeric one (unless ``bins`` is None), values of any other."""
    return _binned(column, bins) if bins is not None and kind(column) == "numeric" else _named(column)


def finite_floats(column: pd.Series) -> np.ndarray:
    """Return a numeric column as floats, NaN where missing.

    Raises:
        InputError: The column holds an infinity.
    """
    values = as_floats(column)
    if np.isinf(values).any():
        raise InputError(f"column {column.name!r} must hold finite numbers, got an infinity")
    return values


def sort_key(value: object) -> tuple[bool, str, object]:
    """Return what values are sorted by: numbers first, then text, then others by type."""
    if _is_number(value):
        return (False, "", value)
    return (True, "" if isinstance(value, str) else type(value).__name__, str(value))


def _binned(column: pd.Series, bins: int) -> Levels:
    values = finite_floats(column)
    missing = np.isnan(values)
    seen = np.unique(values[~missing])
    if len(seen) <= bins:
        codes, names = np.searchsorted(seen, values), value_texts(column, seen)
    else:
        edges = np.quantile(values[~missing], np.arange(1, bins) / bins, method="inverted_cdf")
        edges = np.unique(np.minimum(edges, seen[-2]))  # so that the last bin, (last edge, largest], is not empty
        codes, names = np.searchsorted(edges, values), _bin_names(column, seen, edges)
    if not missing.any():
        return Levels(codes.astype(np.int64), names)
    return Levels(np.where(missing, len(names), codes).astype(np.int64), [*names, MISSING])


def _bin_names(column: pd.Series, seen: np.ndarray, edges: np.ndarray) -> list[str]:
    texts = value_texts(column, edges)
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    names = [f"≤ {texts[0]}", *inner, f"> {texts[-1]}"]
    parts = np.split(seen, np.searchsorted(seen, edges, side="right"))
    return [value_texts(column, part)[0] if len(part) == 1 else name for part, name in zip(parts, names, strict=True)]


def _named(column: pd.Series) -> Levels:
    codes, values = _values(column)
    held = np.bincount(codes + 1, minlength=len(values) + 1)  # the missing ones first
    order = np.flatnonzero(held[1:]).tolist()
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered):
        order.sort(key=lambda code: sort_key(values[code]))
    rank = np.full(len(values) + 1, len(order), dtype=np.int64)  # the last place, which -1 picks, is the missing level
    rank[order] = np.arange(len(order))
    # the column too: there 1 and True are one level, named 1
    booleans = types.infer_dtype(values) == "boolean" and types.infer_dtype(column.astype(object)) == "boolean"
    return Levels(rank[codes], _names([values[code] for code in order], booleans, bool(held[0])))


def _values(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:  # codes (-1 = missing) and levels
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64), np.asarray(column.cat.categories.astype(object))
    try:
        codes, values = factorized(column.astype(object).to_numpy())
    except TypeError:
        raise InputError(f"column {column.name!r} must hold single values, got lists or other containers") from None
    return codes, np.asarray(values)


def _names(values: list[Any], booleans: bool, has_missing: bool) -> list[str]:
    """Return one text a value; where two would be the same (1 and '1'), text is quoted."""
    last = [MISSING] if has_missing else []
    names = [str(v) if booleans else _text(v) for v in values]
    if len({*names, *last}) < len(names) + len(last):
        names = [_text(v) if _is_number(v) else repr(v) for v in values]
    return names + last


def _text(value: Any) -> str:
    """Return a value as text; equal numbers have equal texts, whatever their type."""
    fraction = isinstance(value, float | Decimal) and not (np.isfinite(float(value)) and value == int(value))
    return str(int(value)) if _is_number(value) and not fraction else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)
