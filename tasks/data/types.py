"""The real table as the study uses it: types settled, columns dropped, rows sampled, all checks passed.

Types are those that ``infer`` tells from the cells.
The checks return sentences, so that all that is wrong is told at once.
"""

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.study import ALL_OTHERS, Data, Split
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.codes import infer, plain_texts
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, read_as
from synthrisk.tasks.workspace.files.csv import CODED
from synthrisk.tasks.workspace.files.fitted_cells import seems

_KEY = zlib.crc32(b"rows")
_ODD, _FEWEST_NUMBERS = 0.02, 3  # share of texts that are none among numbers, and how many numbers are more than codes


def typed(frame: pd.DataFrame, data: Data, split: Split, seed: int | np.random.SeedSequence = 0) -> pd.DataFrame:
    """Return the table of a study alone; see ``typed_tables``."""
    return typed_tables(frame, data, split, seed)[0]


def typed_tables(
    frame: pd.DataFrame, data: Data, split: Split, seed: int | np.random.SeedSequence
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table of a study: settled types, RangeIndex, the rows in their order; and the columns it leaves out.

    Types are inferred from all rows, then ``data.rows`` of them are drawn. What is left out are texts, of the same
    records. Nothing attacks them. They are what a release is looked at beside: see ``released_values``.

    Args:
        frame: The table as its source gave it; columns in ``attrs[CODED]`` are texts, though categories.
        data: Roles of the columns.
        split: How it will be split; its stratum and number of folds are checked.
        seed: Root seed of the study, or a sequence of its own for the sample.

    Raises:
        InputError: The table and the settings do not fit; all problems are told at once, without a cell.
    """
    frame = frame.copy(deep=False)
    frame.columns, frame.index = [str(c) for c in frame.columns], pd.RangeIndex(len(frame))
    refuse_same_names(frame)
    problems = [*of_names(list(frame.columns), data, split), *of_size(len(frame), data, split)]
    columns = {}
    for name in (c for c in frame.columns if c not in data.drop):
        try:
            read = read_as(frame[name], data.columns[name]) if name in data.columns else frame[name]
            columns[name] = infer(read, code=name in data.categorical, texts=name in frame.attrs.get(CODED, ()))
        except InputError as error:
            problems.append(str(error))
    left_out = {name: plain_texts(frame[name]).array for name in frame.columns if name in data.drop}
    table, aside = (_sample(pd.DataFrame(own, frame.index, copy=False), data.rows, seed) for own in (columns, left_out))
    refuse([*problems, *of_cells(table, data)] if len(table) else [*problems, "the table must hold rows, got none"])
    return table, aside


def _sample(table: pd.DataFrame, rows: int | None, seed: int | np.random.SeedSequence) -> pd.DataFrame:
    if rows is None or rows >= len(table):
        return table
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence([seed, _KEY])
    taken = np.sort(np.random.default_rng(sequence).choice(len(table), size=rows, replace=False))
    table = table.iloc[taken].reset_index(drop=True)
    for name in table.select_dtypes("category"):
        table[name] = table[name].cat.remove_unused_categories()
    return table


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


ONE_COLUMN = "the table must have at least two columns, got one; cells of a CSV file are separated by , or ; or tabs"


def of_names(columns: Sequence[str], data: Data, split: Split) -> Iterator[str]:
    """Yield what is wrong with the columns that the settings name."""
    known = [c for c in columns if not c.startswith(UNNAMED)]
    for column in data.drop:
        if column not in columns and not column.startswith(UNNAMED):  # such are left out where they number the rows
            yield f"data.drop must name columns of the table, got {column!r}{nearest(column, known)}"
    if len(columns) < 2:
        yield ONE_COLUMN
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
        if column.startswith(UNNAMED) and column not in data.drop:
            yield f"columns must have names, got an empty header ({column!r}); list {column!r} in data.drop"
    kept = [c for c in columns if c not in (*data.drop, data.identifier)]
    keys = kept if data.quasi_identifiers == ALL_OTHERS else data.quasi_identifiers
    for target, hidden in data.targets:
        if not set(keys) - set(hidden):
            yield f"data.quasi_identifiers must hold a column other than the sensitive {target!r}, got none"


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


def of_texts(people: pd.DataFrame, data: Data) -> Iterator[str]:
    """Yield which columns of texts are (nearly) all written as numbers or dates: as texts none is near another."""
    asked = {*data.categorical, *data.columns, data.identifier}
    for name in (c for c in people.select_dtypes("category") if c not in asked):
        levels = people[name].cat.categories.to_series()
        if levels.dtype == object or types.is_string_dtype(levels.dtype):
            kind = seems(levels[levels.map(lambda level: isinstance(level, str))])
            if kind != "texts":
                how = "data.columns of a study says how they are read, and synthrisk init proposes it"
                yield f"real: column {name!r} seems to hold {kind}, but is of texts, none near another: {how}"
            elif odd := _odd_ones(people[name]):
                cells = f"{odd:,} of {people[name].count():,} cells {'is no number' if odd == 1 else 'are no numbers'}"
                yield f"real: column {name!r} is of texts: {cells}; write numbers there, or nothing"


def _odd_ones(column: pd.Series) -> int:
    """Return how many cells of texts are no numbers, where nearly all others are, and no codes; 0 elsewhere."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    levels = pd.Series(counts.index.astype(str))
    numbers = pd.to_numeric(levels, errors="coerce")
    odd, are_codes = int(counts[numbers.isna().to_numpy()].sum()), levels.str.match(r"0\d").any()
    return 0 if are_codes or numbers.nunique() < _FEWEST_NUMBERS or odd > _ODD * counts.sum() else odd


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
