"""Quasi-identifiers coarse enough to be looked up: a key that hardly two records share finds nobody but copies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from synthrisk.metrics.tables.coarsen import binned
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables

ALONE = 0.5
"""Share of the records alone with their key up to which keys are looked up."""
_STEPS = ((5, 20), (4, 10), (3, 6), (2, 4))  # parts of numbers, and levels kept of categories


@dataclass(frozen=True)
class LookUp:
    """Keys that can be looked up."""

    columns: tuple[str, ...]  # the quasi-identifiers
    parts: int  # parts of numbers
    bins: Mapping[str, int] = field(default_factory=dict)  # parts or levels of the columns that are coarser


def look_up(table: pd.DataFrame, known: Sequence[str]) -> LookUp:
    """Return the finest keys by which at most half of the records are alone; at last with fewer columns."""
    columns = list(known)
    while True:
        for parts, levels in _STEPS:
            found = _coarse(table, columns, parts, levels)
            if singled_out(table, columns, found.bins) <= ALONE:
                return found
        if len(columns) < 2:
            return found
        columns.remove(max(columns, key=lambda name: table[name].nunique()))


def _coarse(table: pd.DataFrame, columns: Sequence[str], parts: int, levels: int) -> LookUp:
    bins = {name: parts if kind(table[name]) == "numeric" else levels for name in columns}
    return LookUp(tuple(columns), parts, {name: n for name, n in bins.items() if table[name].nunique() > n})


def singled_out(table: pd.DataFrame, keys: Sequence[str], bins: Mapping[str, int]) -> float:
    """Return the share of records that have their key alone."""
    if not keys:
        return 0.0
    tables = binned(Tables(table, table), keys, [], bins, "quantile")
    own = tables.codes(keys).tables[0]
    return float((pd.Series(own).groupby(own).transform("size") == 1).mean())
