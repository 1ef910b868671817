"""Cells of a release that stand for a set of values: bands, beginnings of codes, years, suppressed cells.

A coarse cell holds one value in its place, so that whatever needs a value has one: of numbers and dates one in the
middle of the set, of texts the text itself. The sets stand beside it, in ``frame.attrs`` of the release: rows and
columns that are taken of it keep them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from synthrisk.metrics.tables.tables import Tables

_KEY = "synthrisk.value_sets"


@dataclass(frozen=True)
class ValueSet:
    """The values that a coarse cell stands for: numbers between two ends, or texts that begin so, or these texts."""

    low: float = -np.inf  # the smallest number (dates: nanoseconds since 1970)
    high: float = np.inf  # the largest
    prefix: str = ""  # how the texts begin; empty where they are listed, or numbers
    texts: tuple[str, ...] = ()  # the texts; empty where they are no list

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Tell of each value whether the set holds it; a missing one is in none.

        Example:
            >>> ValueSet(30, 39).holds(np.array([29.0, 30, 39, np.nan])).tolist()
            [False, True, True, False]
            >>> ValueSet(prefix="E1").holds(np.array(["E11.9", "E20", np.nan], dtype=object)).tolist()
            [True, False, False]
        """
        if self.prefix:
            return np.array([isinstance(v, str) and v.startswith(self.prefix) for v in values], dtype=bool)
        if self.texts:
            return np.array([v in self.texts for v in values], dtype=bool)
        return np.asarray((values >= self.low) & (values <= self.high))


@dataclass(frozen=True)
class ValueSets:
    """Which cells of a release stand for sets."""

    columns: Mapping[Any, Mapping[Any, ValueSet]] = field(default_factory=dict)
    """By column, and by the value that stands in the cells: a number (dates: nanoseconds), or a text."""
    suppressed: frozenset[Any] = frozenset()
    """Columns of which a missing cell may be any value, whether the person has one or not."""

    def __bool__(self) -> bool:
        return bool(self.columns or self.suppressed)

    def __deepcopy__(self, memo: object) -> "ValueSets":
        return self  # pandas copies what is beside a frame with each part that is taken of it

    @classmethod
    def of(cls, release: pd.DataFrame) -> "ValueSets":
        """Return the sets that a release has beside it."""
        found = release.attrs.get(_KEY)
        return found if isinstance(found, cls) else cls()

    def beside(self, release: pd.DataFrame) -> pd.DataFrame:
        """Return the release with these sets beside it, and no others.

        Example:
            >>> sets = ValueSets({"age": {34.0: ValueSet(30, 39)}})
            >>> release = sets.beside(pd.DataFrame({"age": [34, 51], "job": ["cook", "nurse"]}))
            >>> ValueSets.of(release[["age"]].iloc[1:]) == sets
            True
        """
        release = release.copy(deep=False)
        release.attrs = {key: own for key, own in release.attrs.items() if key != _KEY} | ({_KEY: self} if self else {})
        return release

    def without(self, columns: Collection[Any]) -> "ValueSets":
        """Return the sets of other columns than these."""
        return ValueSets({c: s for c, s in self.columns.items() if c not in columns}, self.suppressed - {*columns})

    def among(self, columns: Iterable[Any]) -> list[Any]:
        """Return those of some columns that have coarse cells."""
        return [c for c in columns if c in self.columns or c in self.suppressed]

    def as_plain(self) -> dict[str, Any]:
        """Return the sets as plain values, for JSON."""
        listed = [
            [str(c), value, own.low, own.high, own.prefix, list(own.texts)]
            for c, sets in self.columns.items()
            for value, own in sets.items()
        ]
        return {"sets": listed, "suppressed": sorted(map(str, self.suppressed))}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "ValueSets":
        """Return the sets that ``as_plain`` has made plain.

        Example:
            >>> sets = ValueSets({"zip": {"12*": ValueSet(prefix="12")}}, frozenset(["job"]))
            >>> ValueSets.from_plain(sets.as_plain()) == sets
            True
        """
        columns: dict[Any, dict[Any, ValueSet]] = {}
        for column, value, low, high, prefix, texts in plain["sets"]:
            columns.setdefault(column, {})[value] = ValueSet(low, high, prefix, tuple(texts))
        return cls(columns, frozenset(plain["suppressed"]))


def shown(tables: "Tables", columns: Sequence[Any]) -> list[Any]:
    """Return those of some columns of which the release shows anything: all but those whose every cell is suppressed.

    Example:
        >>> from synthrisk.metrics.tables.tables import Tables
        >>> from synthrisk.metrics.tables.value_sets import ValueSets, shown
        >>> real, release = pd.DataFrame({"age": [3], "job": ["cook"]}), pd.DataFrame({"age": [None], "job": ["cook"]})
        >>> shown(Tables(real, ValueSets({}, frozenset(["age", "job"])).beside(release)), ["age", "job"])
        ['job']
    """
    return [c for c in columns if not (c in tables.sets.suppressed and tables.synthetic[c].isna().all())]


class Inside(NamedTuple):
    """Which values are inside the sets of a column, by their codes in ``Tables.codes``."""

    row: np.ndarray  # (size,) the row of ``holds`` that a released code stands for; 0 where it stands for itself
    holds: np.ndarray  # (sets + 1, size) booleans; row 0 holds nothing

    def equal(self, real: np.ndarray, released: np.ndarray) -> np.ndarray:
        """Tell whether real codes are released codes, or inside their sets; arrays are broadcast."""
        row = self.row[released]
        if real.ndim == 2 and real.shape[1] == 1 and released.ndim == 1:  # each with all: half of the time
            return np.asarray((real == released) | self.holds.T[real[:, 0]].take(row, axis=1))
        return np.asarray((real == released) | self.holds[row, real])


def inside(tables: "Tables", column: Any) -> Inside:
    """Return which codes of a column lie inside which sets of the release."""
    return tables.shared(("inside", column), lambda: _inside(tables, column))


def _inside(tables: "Tables", column: Any) -> Inside:
    size, values = tables.codes([column]).size, code_values(tables, column)
    sets, row = tables.sets.columns.get(column, {}), np.zeros(size, dtype=np.int64)
    holds = [np.zeros(size, dtype=bool)]
    released = np.bincount(tables.codes([column]).tables[1], minlength=size) > 0
    place = {value: code for code, value in enumerate(values.tolist()) if released[code] and code < size - 1}
    for value, own in sets.items():
        if value in place:
            row[place[value]] = len(holds)
            holds.append(own.holds(values))
    if column in tables.sets.suppressed:
        row[size - 1] = len(holds)  # the last code is the missing cell
        holds.append(np.ones(size, dtype=bool))
    return Inside(row, np.array(holds))


def code_values(tables: "Tables", column: Any) -> np.ndarray:
    """Return the value behind each code of a column: floats of a numeric one (dates: nanoseconds), otherwise levels."""
    codes = tables.codes([column])
    if tables.kind(column) == "numeric":
        values = np.full(codes.size, np.nan)
        for side, cells in zip(codes.tables, tables.floats(column), strict=True):
            values[side] = cells
        return values
    levels = tables.levels(column)
    numbers = [float(v) if isinstance(v, int | float | np.number) else None for v in levels[:-1]]
    return np.array([*numbers, np.nan]) if numbers and None not in numbers else levels
