"""Checks of the real table against its settings; each returns sentences, so that all are told at once."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.study import ALL_OTHERS, Data, Split
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.tables import columns_of, name_of


def refuse(problems: Sequence[str]) -> None:
    """Raise one InputError that tells all problems, if there are any."""
    if len(problems) == 1:
        raise InputError(problems[0])
    if problems:
        raise InputError(f"{len(problems)} problems with the data: " + "; ".join(problems))


def refuse_same_names(frame: pd.DataFrame) -> None:
    """Raise an InputError where two columns share a name; positions are told, for a name may be a cell."""
    twice = np.flatnonzero(frame.columns.duplicated())
    if len(twice):
        first = list(frame.columns).index(frame.columns[twice[0]])
        got = f"one name twice (columns {first + 1} and {twice[0] + 1})"
        raise InputError(f"columns must have distinct names, got {got}")


def of_names(columns: Sequence[str], data: Data, split: Split) -> Iterator[str]:
    """Yield what is wrong with the columns that the settings name."""
    known = [c for c in columns if not c.startswith("Unnamed: ")]
    for column in data.drop:
        if column not in columns:
            yield f"data.drop must name columns of the table, got {column!r}{nearest(column, known)}"
    if len(columns) < 2:
        yield "the table must have at least two columns, got one; cells of a CSV file are separated by , or ; or tabs"
    for argument, names in _roles(data, split):
        for column in names:
            if column in data.drop:
                yield f"{argument} must name a column that is kept, got {column!r}, which data.drop drops"
            elif column not in columns:
                yield f"{argument} must name a column of the table, got {column!r}{nearest(column, known)}"
    for argument, names in _roles(data, split)[:2]:
        if data.identifier in names:
            yield f"data.identifier must be no column of {argument}, got {data.identifier!r}"
    for column in columns:
        if column.startswith("Unnamed: ") and column not in data.drop:
            yield f"columns must have names, got an empty header ({column!r}); list {column!r} in data.drop"
    kept = [c for c in columns if c not in (*data.drop, data.identifier)]
    keys = kept if data.quasi_identifiers == ALL_OTHERS else data.quasi_identifiers
    for target in data.sensitive:
        if not set(keys) - set(columns_of(target)):
            named = name_of(target)
            yield f"data.quasi_identifiers must hold a column other than the sensitive {named!r}, got none"


def of_cells(frame: pd.DataFrame, data: Data) -> Iterator[str]:
    """Yield what is wrong with the cells of a typed table, in words that show none of them."""
    for name in frame.columns:
        column = frame[name]
        is_text = isinstance(column.dtype, pd.CategoricalDtype) and types.is_string_dtype(column.cat.categories.dtype)
        if column.isna().all():
            yield f"column {name!r} must hold values, got missing cells only; list it in data.drop"
        elif types.is_float_dtype(column.dtype) and np.isinf(column.to_numpy(float, na_value=np.nan)).any():
            yield f"column {name!r} must hold finite numbers, got infinity"
        elif is_text and all(not str(level).strip() for level in column.cat.categories):
            yield f"column {name!r} must hold values, got blanks only; list it in data.drop"
        elif is_text and name not in (*data.categorical, data.identifier) and _beyond_64_bits(column):
            yield (
                f"column {name!r} holds numbers that 64 bits cannot hold: list it in data.categorical if they are "
                "codes, in data.drop, or as data.identifier if each names a person"
            )
        elif name in data.guessed and column.nunique() < 2:
            yield f"data.sensitive column {name!r} must hold at least two different values, got one"


def _beyond_64_bits(column: pd.Series) -> bool:
    """Tell whether texts are all numbers, none with a leading zero, of which some are too large to be read as such."""
    levels = pd.Series(column.cat.categories)
    try:
        numbers = levels.astype(float)
    except ValueError:
        return False
    return bool((numbers.abs() >= 2.0**63).any() and not levels.str.match(r"0\d").any())


def of_size(rows: int, data: Data, split: Split) -> Iterator[str]:
    """Yield what is wrong with the number of rows."""
    if data.rows is not None and data.rows > rows:
        yield f"data.rows must be at most the {rows} rows of the table, got {data.rows}"
    taken = min(rows, data.rows or rows)
    if split.folds is not None and taken < split.folds:
        yield f"split.folds must be at most the number of rows, got {split.folds} folds for {taken} rows"


def _roles(data: Data, split: Split) -> list[tuple[str, list[str]]]:
    keys = [] if data.quasi_identifiers == ALL_OTHERS else list(data.quasi_identifiers)
    return [
        ("data.quasi_identifiers", keys),
        ("data.sensitive", data.guessed),
        ("data.categorical", data.categorical),
        ("data.columns", list(data.columns)),
        ("data.identifier", [data.identifier] if data.identifier is not None else []),
        ("split.stratify", [split.stratify] if split.stratify is not None else []),
    ]
