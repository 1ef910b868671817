"""Coarser columns: an attacker who knows the age group instead of the age."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.level_order import level_order
from synthrisk.metrics.tables import Tables

Bins: TypeAlias = int | Mapping[str, int] | None
OTHER = "(other)"


def binned(tables: Tables, known: Sequence[str], hidden: Sequence[str], bins: Bins, binning: str) -> Tables:
    """Return tables in which some columns are coarser, in all tables alike; edges come from the real table.

    A numeric column is cut in that many parts, closed on the right: ``quantile``, of equal counts (equal edges
    fall together), or ``width``, of equal length between smallest and largest real value; values outside go to
    the end parts, a missing cell stays a level of its own. As quasi-identifier it stays a number (0, 1, ...), as
    sensitive attribute it becomes a category ("2 of 5"). A categorical column keeps its most frequent levels, and
    the others become one, so that there are that many (a missing cell apart; of equally frequent levels the first
    in ``level_order`` stays).

    Args:
        tables: All tables.
        known: Quasi-identifiers.
        hidden: Sensitive attributes.
        bins: Number of parts of each numeric column of both, or a mapping from column to its number of parts.
        binning: ``quantile`` or ``width``.

    Raises:
        InputError: ``bins`` or ``binning`` breaks its rule, or names a column that is neither known nor guessed.
    """
    check_bins(bins, binning)
    parts = bins if isinstance(bins, Mapping) else {c: bins for c in (*known, *hidden) if tables.kind(c) == "numeric"}
    for column in parts:
        if column not in known and column not in hidden:
            hint = nearest(str(column), [*known, *hidden])
            raise InputError(f"bins must name quasi-identifiers or sensitive columns, got {column!r}{hint}")
    key = ("binned", tuple(parts.items()), tuple(known), tuple(hidden), binning)
    return tables.shared(key, lambda: _coarser(tables, known, hidden, parts, binning))


def check_bins(bins: object, binning: object = "quantile") -> None:
    """Refuse numbers of parts that are no whole numbers from 2, and an unknown way of binning."""
    for number in bins.values() if isinstance(bins, Mapping) else [bins]:
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 2
        if bins is not None and not whole:
            raise InputError(f"bins must be a whole number of at least 2, or one for each column, got {number!r}")
    if binning not in ("quantile", "width"):
        raise InputError(f"binning must be quantile or width, got {binning!r}")


def _coarser(
    tables: Tables, known: Sequence[str], hidden: Sequence[str], parts: Mapping[str, int | None], binning: str
) -> Tables:
    real, synthetic = tables.real.copy(deep=False), tables.synthetic.copy(deep=False)
    for column, number in parts.items():
        assert number is not None  # noqa: S101 - check_bins
        if tables.kind(column) == "numeric":
            new = _cut(tables, column, number, binning, column in hidden)
        else:
            new = _kept(tables, column, number, level_order(tables, [*known, *hidden])[column])
        real[column] = pd.Series(new[: len(real)], index=real.index, dtype=new.dtype)
        synthetic[column] = pd.Series(new[len(real) :], index=synthetic.index, dtype=new.dtype)
    return Tables(real, synthetic, groups=tables.groups, entities=tables.entities)


def _cut(tables: Tables, column: str, number: int, binning: str, is_hidden: bool) -> np.ndarray:
    real, synthetic = tables.floats(column)
    seen = real[~np.isnan(real)]
    if not len(seen):
        raise InputError(f"bins must be of columns with values in the real table, got missing cells only in {column!r}")
    shares = np.linspace(0, 1, number + 1)[1:-1]
    low, high = seen.min(), seen.max()
    edges = np.unique(np.quantile(seen, shares) if binning == "quantile" else low + shares * (high - low))
    edges = edges[(edges >= low) & (edges < high)]
    both = np.concatenate([real, synthetic])
    part = np.searchsorted(edges, both, side="left").astype(float)
    if not is_hidden:
        return np.where(np.isnan(both), np.nan, part)
    names = np.array([f"{i + 1} of {len(edges) + 1}" for i in range(len(edges) + 1)], dtype=object)
    return np.where(np.isnan(both), np.nan, names[part.astype(int)])


def _kept(tables: Tables, column: str, number: int, place: np.ndarray) -> np.ndarray:
    joint, levels = tables.codes([column]), tables.levels(column)
    counts = np.bincount(joint.tables[0], minlength=joint.size)[:-1]
    order = np.lexsort((place[:-1], -counts))
    if (counts > 0).sum() > number:
        levels, other = levels.copy(), OTHER
        while other in levels.tolist():
            other = f"({other})"
        levels[order[number - 1 :]] = other
    return levels[np.concatenate(joint.tables)]
