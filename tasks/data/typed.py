"""The real table as the study uses it: columns dropped, types settled, rows sampled, all checks passed."""

import zlib

import numpy as np
import pandas as pd

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.release.identifiers import plain_texts
from synthrisk.tasks.data.checks import of_cells, of_names, of_size, refuse, refuse_same_names
from synthrisk.tasks.data.types import infer
from synthrisk.tasks.workspace.csv import CODED
from synthrisk.tasks.workspace.readings import read_as

_KEY = zlib.crc32(b"rows")


def typed(frame: pd.DataFrame, data: Data, split: Split, seed: int | np.random.SeedSequence = 0) -> pd.DataFrame:
    """Return the table of a study: settled types, RangeIndex, the rows in their order.

    Types are inferred from all rows, then ``data.rows`` of them are drawn.

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
    for name in frame.columns:
        if name in data.drop:
            continue
        try:
            read = read_as(frame[name], data.columns[name]) if name in data.columns else frame[name]
            columns[name] = infer(read, code=name in data.categorical, texts=name in frame.attrs.get(CODED, ()))
        except InputError as error:
            problems.append(str(error))
    table = _sample(pd.DataFrame(columns, index=frame.index, copy=False), data.rows, seed)
    refuse([*problems, *of_cells(table, data)] if len(table) else [*problems, "the table must hold rows, got none"])
    return table


def left_out(frame: pd.DataFrame, data: Data, seed: int | np.random.SeedSequence = 0) -> pd.DataFrame:
    """Return the columns that a study leaves out, as texts, of the records that ``typed`` keeps.

    Nothing attacks them. They are what a release is looked at beside: see ``released_values``.
    """
    named = {str(c): place for place, c in enumerate(frame.columns) if str(c) in data.drop}
    columns = {name: plain_texts(frame.iloc[:, place]).array for name, place in named.items()}
    return _sample(pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False), data.rows, seed)


def _sample(table: pd.DataFrame, rows: int | None, seed: int | np.random.SeedSequence) -> pd.DataFrame:
    if rows is None or rows >= len(table):
        return table
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence([seed, _KEY])
    taken = np.sort(np.random.default_rng(sequence).choice(len(table), size=rows, replace=False))
    table = table.iloc[taken].reset_index(drop=True)
    for name in table.select_dtypes("category"):
        table[name] = table[name].cat.remove_unused_categories()
    return table
