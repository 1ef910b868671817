"""Coarser columns: an attacker who knows the age group instead of the age."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_word, is_whole, nearest
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.order import level_order, value_ranks
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_types import as_levels

Bins: TypeAlias = int | Mapping[str, Any] | None
"""Of each column a number of parts (int), a share of noise (float), or levels to merge (mapping to lists)."""
OTHER = "(other)"
MOST_BINS = 1_000_000


def binned(tables: Tables, known: Sequence[str], hidden: Sequence[str], bins: Bins, binning: str) -> Tables:
    """Return tables in which some columns are coarser, in all tables alike. Bounds of bins come from the real table.

    A number of parts. A numeric column is cut into that many bins, closed on the right: ``quantile``, of equal counts
    (equal bounds are merged), or ``width``, of equal length from the smallest to the largest real value. Values outside
    go to the end bins. A missing cell stays missing. As quasi-identifier the column stays a number (0, 1, ...), as
    sensitive attribute it becomes a category ("2 of 5"). A categorical column keeps its most frequent levels, and the
    others become one level, so that there are that many, a missing cell not counted. Of equally frequent levels the
    first in ``level_order`` is kept.

    A share of noise (a float in (0, 1]) blurs a numeric quasi-identifier: noise, uniform within this share of the
    column's range, is added to each real value; whole numbers stay whole. The release is not changed. A draw depends on
    the record's values and the column's name alone, so that it is the same against every release.

    Of a sensitive attribute a share is noise on the release, as its holder would add it: each released number moves by
    up to this share of the real column's range; of a categorical column that share of the released cells, drawn at
    random, is replaced by draws from the column's released cells. The real table is not changed.

    A mapping from new names to lists of levels merges these levels of a categorical column. Other levels stay.

    ``known`` are quasi-identifiers, ``hidden`` sensitive attributes; ``bins`` is a number of parts for all numeric
    columns, or a mapping from column to number, share or mapping.

    Raises:
        InputError: ``bins`` or ``binning`` breaks its rule, or names a column that is neither known nor guessed.
    """
    check_bins(bins, binning)
    parts = bins if isinstance(bins, Mapping) else {c: bins for c in (*known, *hidden) if tables.kind(c) == "numeric"}
    for column in parts:
        if column not in known and column not in hidden:
            hint = nearest(str(column), [*known, *hidden])
            raise InputError(f"bins must name quasi-identifiers or sensitive columns, got {column!r}{hint}")
    key = ("binned", repr(list(parts.items())), tuple(known), tuple(hidden), binning)
    return tables.shared(key, lambda: _coarser(tables, known, hidden, parts, binning))


def check_bins(bins: object, binning: object = "quantile") -> None:
    """Refuse numbers of parts that are no whole numbers from 2, and an unknown way of binning."""
    for number in bins.values() if isinstance(bins, Mapping) else [bins]:
        if isinstance(bins, Mapping) and isinstance(number, Mapping):
            _check_groups(number)
            continue
        if isinstance(bins, Mapping) and isinstance(number, float) and 0 < number <= 1:
            continue
        if bins is not None and not is_whole(number, 2):
            raise InputError(f"bins must be a whole number of at least 2, or one for each column, got {number!r}")
        if isinstance(number, int) and number > MOST_BINS:
            raise InputError(f"bins must be at most {MOST_BINS}, got {number!r}")
    check_word("binning", binning, "quantile", "width")


def _check_groups(groups: Mapping[str, Any]) -> None:
    lists = [own for own in groups.values() if isinstance(own, list | tuple) and own]
    every = [level for own in lists for level in own]
    if not groups or len(lists) < len(groups) or len(set(every)) < len(every):
        raise InputError("merge must map each new name to a list of levels, each level once, got another form")


def _coarser(
    tables: Tables, known: Sequence[str], hidden: Sequence[str], parts: Mapping[str, Any], binning: str
) -> Tables:
    real, synthetic = tables.real.copy(deep=False), tables.synthetic.copy(deep=False)
    for column, number in parts.items():
        if isinstance(number, Mapping):
            new = _merged(tables, column, number)
        elif isinstance(number, float):
            order = [*known, *hidden]
            new = _noised(tables, column, number, order) if column in hidden else _blurred(tables, column, number)
        elif tables.kind(column) == "numeric":
            new = _cut(tables, column, number, binning, column in hidden)
        else:
            new = _kept(tables, column, number, level_order(tables, [*known, *hidden])[column])
        both = as_levels(new) if new.dtype == object else pd.Series(new)
        real[column] = both.iloc[: len(real)].set_axis(real.index)
        synthetic[column] = both.iloc[len(real) :].set_axis(synthetic.index)
    synthetic = tables.sets.without(parts).beside(synthetic)
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


def _merged(tables: Tables, column: str, groups: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """Return the column with levels merged; errors name no level, for it might be a cell."""
    if tables.kind(column) == "numeric":
        raise InputError(f"merge must name categorical columns, got {column!r}, which is numeric: give its bins")
    joint, levels = tables.codes([column]), tables.levels(column)
    place = {level: code for code, level in enumerate(levels[:-1].tolist())}
    named = {level: name for name, own in groups.items() for level in own}
    unknown = sum(level not in place for level in named)
    if unknown:
        raise InputError(f"merge must name levels of {column!r}, got {unknown} of {len(named)} that it does not have")
    if any(name in place and name not in named for name in groups):
        raise InputError(f"merge must give new names in {column!r}, got the name of a level that is not merged")
    new = levels.astype(object)
    for level, name in named.items():
        new[place[level]] = name
    return new[np.concatenate(joint.tables)]


def _blurred(tables: Tables, column: str, share: float) -> np.ndarray:
    """Return the column with the real cells off by up to this share of their range, evenly drawn."""
    if tables.kind(column) != "numeric":
        raise InputError(f"noise must be of numeric quasi-identifiers, got {column!r}")
    real, synthetic = tables.floats(column)
    seen = real[~np.isnan(real)]
    rng = np.random.default_rng(seed_of(0, "noise", str(column)))
    return np.concatenate([_shifted(real, _by_values(tables.real), seen, share, rng), synthetic])


def _noised(tables: Tables, column: str, share: float, columns: Sequence[str]) -> np.ndarray:
    """Return the column with noise on the released cells: numbers off by a share of the real range, or redrawn."""
    rng, n = np.random.default_rng(seed_of(0, "noise", str(column))), len(tables.synthetic)
    rows = _by_values(tables.synthetic)
    if tables.kind(column) != "numeric":
        joint = tables.codes([column])
        own, place = joint.tables[1], level_order(tables, columns)[column]
        pool, redrawn = own[np.argsort(place[own], kind="stable")], np.zeros(n, dtype=bool)
        redrawn[rows] = rng.random(n) < share
        released = own.copy()
        released[rows] = pool[rng.integers(n, size=n)]
        return np.asarray(tables.levels(column)[np.concatenate([joint.tables[0], np.where(redrawn, released, own)])])
    if is_temporal(tables.real[column]):
        rule = "noise on a sensitive column must be on numbers or categories"
        raise InputError(f"{rule}, got {column!r}, which is of time")
    real, synthetic = tables.floats(column)
    seen = real[~np.isnan(real)]
    return np.concatenate([real, _shifted(synthetic, rows, seen, share, rng)])


def _by_values(table: pd.DataFrame) -> np.ndarray:
    """Return the rows in an order that their values alone decide, in which they are drawn for."""
    return np.argsort(value_ranks(Tables(table, table)), kind="stable")


def _shifted(
    values: np.ndarray, order: np.ndarray, seen: np.ndarray, share: float, rng: np.random.Generator
) -> np.ndarray:
    """Return values off by up to a share of the range of those seen, evenly drawn; whole numbers stay whole."""
    if not len(seen):
        return values
    step = np.empty(len(values))
    step[order] = rng.uniform(-share, share, len(values))
    step *= seen.max() - seen.min()
    return np.asarray(values + (np.round(step) if (seen == np.round(seen)).all() else step))
