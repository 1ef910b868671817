"""What an attack is shown: the release, and distinct parts of real records, in an order that tells it nothing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.kinds import as_floats, kind
from synthrisk.metrics.tables.level_order import dense_ranks, lexicographic_ranks
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_ranks import value_ranks


class Parts(NamedTuple):
    """The distinct cells of some columns among the real records."""

    cells: pd.DataFrame  # (q, columns), in canonical order with a fresh index
    own: np.ndarray  # (n,) which of them each real record has


class ShownRelease(NamedTuple):
    """The release as an attack sees it."""

    cells: pd.DataFrame  # (m, columns), in canonical order with a fresh index
    rows: np.ndarray  # (m,) position in the release of each row shown


def shown_parts(tables: Tables, columns: Sequence[str]) -> Parts:
    """Return each distinct combination of values once, and which one each real record has.

    Their order depends on them and the release alone, not on other cells of a record, or how many records there are.

    Example:
        >>> real = pd.DataFrame({"x": [5, 3, 5], "y": [1, 2, 3]})
        >>> found = shown_parts(Tables(real, real), ["x"])
        >>> found.cells["x"].tolist(), found.own.tolist()
        ([3, 5], [1, 0, 1])
    """
    names = list(columns)
    _, first, own = np.unique(tables.codes(names).tables[0], return_index=True, return_inverse=True)
    parts = tables.real[names].iloc[first].reset_index(drop=True)
    ranks = dense_ranks(value_ranks(Tables(with_unknown(parts, tables.synthetic), tables.synthetic)))
    return Parts(parts.iloc[np.argsort(ranks)].reset_index(drop=True), ranks[own])


def with_unknown(known: pd.DataFrame, release: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of some targets with the other columns of the release, all cells of which are missing."""
    others = release[[c for c in release.columns if c not in known.columns]]
    return pd.concat([known, others.iloc[:0].reindex(known.index)], axis=1)


def shown_release(tables: Tables, columns: Sequence[str] | None = None) -> ShownRelease:
    """Return the release in an order that depends on its values alone; columns have the kinds of the real table.

    Raises:
        InputError: A column of the release cannot hold values of the real table's, or infinite numbers.
    """
    key, names = (None, tables.columns) if columns is None else (tuple(columns), list(columns))
    return tables.shared(("shown release", key), lambda: _shown(tables, names))


def _shown(tables: Tables, names: list[str]) -> ShownRelease:
    tables.check_comparable(names)
    cells = tables.synthetic[names].copy()
    for column in names:
        if kind(cells[column]) != tables.kind(column):
            numeric = tables.kind(column) == "numeric"
            cells[column] = as_floats(cells[column]) if numeric else cells[column].astype("category")
    rows = np.argsort(value_ranks(Tables(cells, cells)), kind="stable")
    return ShownRelease(cells.iloc[rows].reset_index(drop=True), rows)


def ranks_to_draw_by(tables: Tables) -> np.ndarray:
    """Return ranks of the real rows by their values, and of equal rows by all rows of their entities, (n,)."""
    ranks = value_ranks(tables)
    if tables.entities is None:
        return ranks
    _, own = np.unique(tables.entities, return_inverse=True)
    order = np.lexsort((ranks, own))
    rows = pd.Series(ranks[order]).groupby(own[order]).agg(tuple).tolist()
    place = {held: rank for rank, held in enumerate(sorted(set(rows)))}
    return lexicographic_ranks([ranks, np.array([place[held] for held in rows])[own]])
