"""A table in parts: what is done to each of them, wherever they are.

One code list serves all parts of the real table and of the release: the distinct values of a column, with how often
each occurs, are gathered first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import cell_levels
from synthrisk.metrics.tables.kinds import Kind, is_temporal, kind
from synthrisk.metrics.tables.order import exact_numbers
from synthrisk.metrics.tables.tables import Tables

_S = TypeVar("_S")


def neighbouring(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Return neighbouring items together, in at most ``count`` lists of nearly one length.

    Example:
        >>> neighbouring([1, 2, 3, 4, 5], 2)
        [[1, 2, 3], [4, 5]]
    """
    size = -(-len(items) // max(1, count))
    return [items[at : at + size] for at in range(0, len(items), size)]


class Parts(Protocol):
    """Parts in one order, each in one place: on this machine, or on a worker."""

    def each(self, function: Callable[..., Any], *shared: Any) -> "Parts":
        """Return the parts that ``function(part, *shared)`` makes; they stay where they are made."""

    def all(self) -> list[Any]:
        """Return all parts, in order."""

    def fold(self, function: Callable[..., _S], state: _S, *shared: Any) -> _S:
        """Return the last state of ``state = function(part, state, *shared)``, one part after the other."""

    def joined(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what ``function(one, other)`` makes of all parts, two and two; their order may not matter."""

    def fewer(self, function: Callable[[Sequence[Any]], Any], count: int) -> "Parts":
        """Return the parts that a function makes of ``count`` at most neighbouring lists of parts."""

    def placed(self, items: Sequence[Any]) -> "Parts":
        """Return other parts in the same places."""


@dataclass(frozen=True, eq=False)
class Here:
    """Parts in the memory of this process."""

    parts: Sequence[Any]

    def each(self, function: Callable[..., Any], *shared: Any) -> "Here":
        """Return what the function makes of each part (``Parts.each``)."""
        return Here([function(part, *shared) for part in self.parts])

    def all(self) -> list[Any]:
        """Return all parts (``Parts.all``)."""
        return list(self.parts)

    def fold(self, function: Callable[..., _S], state: _S, *shared: Any) -> _S:
        """Return the last state (``Parts.fold``)."""
        for part in self.parts:
            state = function(part, state, *shared)
        return state

    def joined(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what the function makes of all parts (``Parts.joined``)."""
        return reduce(function, self.parts)

    def fewer(self, function: Callable[[Sequence[Any]], Any], count: int) -> "Here":
        """Return the parts made of lists of parts (``Parts.fewer``)."""
        return Here([function(some) for some in neighbouring(self.parts, count)])

    def placed(self, items: Sequence[Any]) -> "Here":
        """Return other parts (``Parts.placed``)."""
        return Here(items)


class Distinct(NamedTuple):
    """The values of a column, each once; none of them is missing."""

    values: pd.Series  # numbers ascending, categories in their order, others as they come first
    counts: np.ndarray  # (d,) int64: how often each occurs
    missing: int  # how many cells are missing


def distinct_values(frame: pd.DataFrame, columns: Sequence[Any]) -> dict[Any, Distinct]:
    """Return the distinct values of each column of a part."""
    return {column: distinct(frame[column]) for column in columns}


def distinct(column: pd.Series) -> Distinct:
    """Return the distinct values of one column of a part.

    Example:
        >>> found = distinct(pd.Series([2.0, None, 1.0, 2.0]))
        >>> found.values.tolist(), found.counts.tolist(), found.missing
        ([1.0, 2.0], [1, 2], 1)
    """
    missing = int(column.isna().sum())
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
        values = pd.Series(column.cat.categories.to_numpy(), dtype=column.cat.categories.dtype).astype(column.dtype)
        return Distinct(values, np.bincount(codes[codes >= 0], minlength=len(values)), missing)
    there = column[column.notna()]
    if kind(column) == "numeric":
        _, first, counts = np.unique(exact_numbers(there), return_index=True, return_counts=True)
        return Distinct(there.iloc[first].reset_index(drop=True), counts, missing)
    codes, levels = cell_levels(there)
    values = pd.Series(levels, dtype=object).astype(column.dtype)
    return Distinct(values, np.bincount(codes, minlength=len(levels)), missing)


def merged(found: Sequence[Distinct]) -> tuple[pd.Series, np.ndarray]:
    """Return the distinct values of all parts, and how often each occurs in each part, (parts, d).

    Where the parts have other categories, they become all that there are, sorted.
    """
    some = [each for each in found if len(each.values)] or list(found[:1])
    values = [each.values for each in some]
    if any(isinstance(each.dtype, pd.CategoricalDtype) for each in values):
        every = _categories(values)
    else:
        every = distinct(pd.concat(values, ignore_index=True)).values
    counts = np.zeros((len(found), len(every)), dtype=np.int64)
    for row, each in zip(counts, found, strict=True):
        row[positions(each.values, every)] = each.counts
    return every, counts


def positions(column: pd.Series, every: pd.Series) -> np.ndarray:
    """Return the position of each cell among distinct values; that of a missing cell is their number."""
    missing = len(every)
    if not isinstance(column.dtype, pd.CategoricalDtype) and kind(every) == "numeric":
        found = np.searchsorted(exact_numbers(every), exact_numbers(column))
        return np.where(column.isna().to_numpy(), missing, found)
    codes, levels = cell_levels(column)
    place = {level: at for at, level in enumerate(every.tolist())}
    places = [*(place.get(level, missing) for level in levels.tolist()), missing]
    return np.array(places)[codes]  # -1, missing, picks the last


def _categories(values: Sequence[pd.Series]) -> pd.Series:
    lists = [each.cat.categories if hasattr(each, "cat") else pd.Index(each) for each in values]
    if all(lists[0].equals(other) for other in lists[1:]):
        return pd.Series(lists[0].to_numpy(), dtype=lists[0].dtype).astype(pd.CategoricalDtype(lists[0]))
    every = lists[0].append(lists[1:]).unique().sort_values()
    return pd.Series(every.to_numpy(), dtype=every.dtype).astype(pd.CategoricalDtype(every))


MEMBERS, CONTROLS, RELEASE = 0, 1, 2
REAL = [MEMBERS, CONTROLS]
Coded = dict[Any, np.ndarray]
"""A part as codes, an array a column."""
Settled = Callable[[pd.Series, pd.Series | None], pd.Series]
"""Gives distinct values the type that the column has as a whole, those of the release the type of the real ones."""


@dataclass(frozen=True, eq=False)
class Column:
    """What all parts agree on in one column; codes lie in [0, size), the last is that of a missing cell."""

    name: Any
    kind: Kind
    temporal: bool
    is_date: bool
    size: int
    counts: np.ndarray  # (3, size) int64: how many members, control records and released rows have each code
    floats: np.ndarray  # (size,) the number behind each code, NaN where there is none
    raw: tuple[pd.Series, pd.Series]  # distinct values as they are in the parts: of the real table, of the release
    codes: tuple[np.ndarray, np.ndarray]  # of them, and at the end of a missing cell

    def sorted_floats(self, sides: Sequence[int]) -> np.ndarray:
        """Return the numbers of these sides that are not missing, in order, each as often as it occurs."""
        counts = self.counts[sides].sum(axis=0)[:-1]
        order = np.argsort(self.floats[:-1], kind="stable")
        return np.repeat(self.floats[:-1][order], counts[order])

    def missing(self, side: int) -> int:
        """Return how many cells of a side are missing."""
        return int(self.counts[side, -1])


@dataclass(frozen=True, eq=False)
class Partitioned:
    """Members, control records and a release in parts, all in codes that are agreed."""

    columns: Mapping[Any, Column]
    parts: tuple[Parts, Parts | None, Parts]  # members, control records, release
    rows: tuple[int, int, int]

    @property
    def real_rows(self) -> int:
        """How many real records there are."""
        return self.rows[MEMBERS] + self.rows[CONTROLS]

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What is shared by several measures."""
        return {}

    def shared(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` gives, computed on the first call with this key."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def of_side(self, side: int, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return what a function makes of each part of one side."""
        parts = self.parts[side]
        return [] if parts is None else parts.each(function, *shared).all()

    def of_real(self, function: Callable[..., np.ndarray], *shared: Any) -> np.ndarray:
        """Return what a function makes of the parts of members and of control records, one after the other."""
        return np.concatenate([each for side in REAL for each in self.of_side(side, function, *shared)])

    @property
    def groups(self) -> np.ndarray:
        """Return 1 for each member, then 0 for each control record."""
        return np.repeat([1, 0], self.rows[:2])


def as_it_is(values: pd.Series, _like: pd.Series | None) -> pd.Series:
    """Leave the types as they are in the parts."""
    return values


def agree(
    columns: Sequence[Any], members: Parts, controls: Parts | None, release: Parts, settled: Settled = as_it_is
) -> Partitioned:
    """Return tables in parts as codes: the distinct values of all parts are gathered, and each part is coded by them.

    Values are equal where ``Tables`` has them equal, whatever part they are in and whatever categories it has.

    Raises:
        InputError: A table has no rows; or a column holds values of types that cannot be compared, or an infinity.
    """
    own = (members, controls, release)
    found = [[] if parts is None else parts.each(distinct_values, list(columns)).all() for parts in own]
    agreed = {}
    for name in columns:
        agreed[name] = _agreed(name, [[part.pop(name) for part in side] for side in found], settled)
    first = next(iter(agreed.values()))
    rows = tuple(int(first.counts[side].sum()) for side in (MEMBERS, CONTROLS, RELEASE))
    coded = [
        None if parts is None else parts.each(_coded, agreed, int(side == RELEASE)) for side, parts in enumerate(own)
    ]
    assert coded[MEMBERS] is not None and coded[RELEASE] is not None  # noqa: S101, PT018
    return Partitioned(agreed, (coded[0], coded[1], coded[2]), rows)  # type: ignore[arg-type]


def cells(part: Coded, column: Any, behind: np.ndarray) -> np.ndarray:
    """Return what stands behind the codes of a column of a part."""
    return np.asarray(behind[part[column]])


def as_categories(codes: np.ndarray, size: int) -> "pd.Categorical[int]":
    """Return codes as categories; the last, that of a missing cell, is missing."""
    narrow = codes.astype(np.min_scalar_type(-size))
    return pd.Categorical.from_codes(np.where(narrow == size - 1, -1, narrow), categories=pd.RangeIndex(size - 1))


def _agreed(name: Any, found: list[list[Any]], settled: Settled) -> Column:
    for who, sides in (("real", found[MEMBERS] + found[CONTROLS]), ("synthetic", found[RELEASE])):
        if not sum(each.missing + int(each.counts.sum()) for each in sides):
            raise InputError(f"{who} must have rows and columns, got 0 rows in {len(sides)} parts")
    real, real_counts = merged(found[MEMBERS] + found[CONTROLS])
    release, release_counts = merged(found[RELEASE])
    ends = len(found[MEMBERS])
    counts = [real_counts[:ends].sum(axis=0), real_counts[ends:].sum(axis=0), release_counts.sum(axis=0)]
    missing = [sum(each.missing for each in side) for side in found]
    raw = _occurring(real, counts[0] + counts[1]), _occurring(release, counts[2])
    counts = [own[own_all > 0] for own, own_all in zip(counts, (*[counts[0] + counts[1]] * 2, counts[2]), strict=True)]
    typed = settled(_with_missing(raw[0], missing[0] + missing[1]).rename(name), None)
    other = settled(_with_missing(raw[1], missing[2]).rename(name), typed)
    tables = Tables(pd.DataFrame({name: typed}), pd.DataFrame({name: other}))
    tables.check_comparable([name])
    joint, kind = tables.codes([name]), tables.kind(name)
    codes = tuple(np.append(each[: len(own)], [joint.size - 1]) for each, own in zip(joint.tables, raw, strict=True))
    floats, by_code = np.full(joint.size, np.nan), np.zeros((3, joint.size), dtype=np.int64)
    if kind == "numeric":
        for each, numbers in zip(joint.tables, tables.floats(name), strict=True):
            floats[each] = numbers
    for side, own in enumerate(counts):
        np.add.at(by_code[side], codes[int(side == RELEASE)][:-1], own)
        by_code[side, -1] += missing[side]
    temporal, is_date = is_temporal(typed), bool(types.is_datetime64_any_dtype(typed.dtype))
    return Column(name, kind, temporal, is_date, joint.size, by_code, floats, raw, codes)  # type: ignore[arg-type]


def _occurring(values: pd.Series, counts: np.ndarray) -> pd.Series:
    return values[counts > 0].reset_index(drop=True)


def _with_missing(values: pd.Series, missing: int) -> pd.Series:
    return values.reindex(range(len(values) + 1)) if missing else values


def _coded(frame: pd.DataFrame, agreed: Mapping[Any, Column], side: int) -> Coded:
    part: Coded = {}
    for name, column in agreed.items():
        codes = column.codes[side][positions(frame[name], column.raw[side])]
        part[name] = codes.astype(np.min_scalar_type(column.size))
    return part
