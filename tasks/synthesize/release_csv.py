"""A release in a CSV file, whose columns are read as those of the real table are."""

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.forms import MISSING
from synthrisk.tasks.synthesize.synthesizer import Job
from synthrisk.tasks.workspace.csv import decoded, refuse_cut_short, refuse_same_names, separator_of

_LOOKED_AT = 10_000  # records


def read_release_csv(raw: bytes, name: str, job: Job) -> pd.DataFrame:
    """Return a CSV file as texts, or whole numbers where all are, missing cells found by the rules of the real table.

    An empty cell and the study's ``missing`` texts are missing; so are the usual markers (NA, nan ...) unless the
    real column holds them as values. Semicolon files may have decimal commas. Texts of which the real column holds few
    are a category of them.
    """
    text = decoded(raw, name)
    if not text or text.isspace():
        raise pd.errors.EmptyDataError
    separator = separator_of(text)
    refuse_same_names(text, separator, name)
    table = _parsed(partial(_parse, text.encode(), separator, _markers(job)), job, name, whole=separator != ";")
    refuse_cut_short(text, separator, name, len(table.columns))
    if separator == ";":
        plain = [c for c in table.columns if c in job.train.columns and c not in job.form.columns]
        for column in (c for c in plain if types.is_numeric_dtype(job.train[c].dtype)):
            if not table[column].str.contains(".", regex=False).any():  # else it stands between thousands
                table[column] = table[column].str.replace(",", ".", regex=False)
    return table


def _markers(job: Job) -> dict[str, list[str]]:
    """Return the texts that mean a missing cell, by column."""
    texts = {c: _texts(job.train[c]) | _texts(job.held_out[c]) for c in job.train.columns}
    return {c: sorted({"", *job.form.missing} | (MISSING - texts[c])) for c in texts}


def _texts(column: pd.Series) -> set[str]:
    """Return the texts that a column holds."""
    if types.is_numeric_dtype(column.dtype):
        return set()
    return {value for value in column.unique() if isinstance(value, str)}


def _parsed(parse: "partial[pd.DataFrame]", job: Job, name: str, *, whole: bool) -> pd.DataFrame:
    """Return the cells; columns of whole numbers are texts if one cell is no whole number, for ``conform`` to cast."""
    dtypes = _dtypes(job)
    numbers = [c for c in dtypes if whole and c not in job.form.columns and job.train[c].dtype == "int64"]
    table = parse({c: dtype for c, dtype in dtypes.items() if c not in numbers})
    if not isinstance(table.index, pd.RangeIndex):
        raise InputError(f"{name} must have as many cells in each row as names in its header, got more")
    if unread := [c for c in numbers if c in table and table[c].dtype != "int64"]:
        table[unread] = parse(dict.fromkeys(unread, "str"), unread)[unread]
    return table


def _dtypes(job: Job) -> dict[str, str]:
    """Return what columns are read as: texts, or codes of them, which are sorted: quick where they are few."""
    few = {c for c in job.train.columns if 2 * job.train[c].head(_LOOKED_AT).nunique() <= _LOOKED_AT}
    return {c: "category" if c in few and c not in job.form.columns else "str" for c in job.train.columns}


def _parse(
    text: bytes,
    separator: str,
    markers: Mapping[str, list[str]],
    dtypes: Mapping[str, str],
    only: list[str] | None = None,
) -> pd.DataFrame:
    kept: dict[str, Any] = {"keep_default_na": False, "na_values": markers, "low_memory": False}
    return pd.read_csv(io.BytesIO(text), sep=separator, dtype=dtypes, usecols=only, **kept)
