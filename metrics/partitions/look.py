"""A look at tables in parts before they are judged: broken columns of the release, control records that are members."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthrisk.metrics.partitions.agreed import CONTROLS, MEMBERS, REAL, RELEASE, Column, Partitioned, as_categories
from synthrisk.metrics.partitions.keys import keys
from synthrisk.metrics.release.check import told
from synthrisk.metrics.release.columns import column_problems
from synthrisk.metrics.release.strangers import equal, in_words
from synthrisk.metrics.tables.tables import Tables, in_order


def broken(tables: Partitioned) -> str:
    """Return why measures say nothing of the release, in words; empty where they do (``ReleaseCheck.invalid``).

    Each column is looked at alone, its cells in their order: means may differ from one machine's in the last bit.
    """
    found = [each for name in in_order(tables.columns) for each in column_problems(*_alone(tables.columns[name]))]
    return told([each.words for each in found if each.severity == "broken"])


def strangers_in_words(tables: Partitioned) -> tuple[str, str]:
    """Return why no study may be made with these control records, and what is to be told (``strangers``)."""
    if not tables.rows[CONTROLS]:
        return "", ""
    members, controls, released = keys(tables, in_order(tables.columns)).counts
    sizes = np.repeat(members, members)
    found = [
        equal(int(controls[others > 0].sum()), tables.rows[CONTROLS], rows, sizes)
        for others, rows in ((members, tables.rows[MEMBERS]), (released, tables.rows[RELEASE]))
    ]
    return in_words(found, 0)


def _alone(column: Column) -> tuple[Tables, str]:
    groups, name = np.repeat([1, 0], column.counts[REAL].sum(axis=1)), str(column.name)
    return Tables(_cells(column, REAL), _cells(column, [RELEASE]), groups=groups), name


def _cells(column: Column, sides: Sequence[int]) -> pd.DataFrame:
    codes = np.concatenate([np.repeat(np.arange(column.size), column.counts[side]) for side in sides])
    cells = column.floats[codes] if column.kind == "numeric" else as_categories(codes, column.size)
    return pd.DataFrame({str(column.name): cells})
