"""The tables of one release; encodings and neighbour searches are computed once and shared by all metrics.

Cells of a release that stand for a set of values: bands, beginnings of codes, years, suppressed cells.

A coarse cell holds one value in its place, so that whatever needs a value has one: of numbers and dates one in the
middle of the set, of texts the text itself. The sets stand beside it, in ``frame.attrs`` of the release: rows and
columns that are taken of it keep them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.codes import Codes, joint_codes, pack
from synthrisk.metrics.tables.entities import entity_numbers, links_among
from synthrisk.metrics.tables.kinds import FIT, Kind, as_floats, is_temporal, kind
from synthrisk.metrics.tables.value_types import alike, as_levels

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
        >>> from synthrisk.metrics.tables.tables import ValueSets, shown
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


Target = str | Sequence[str]
"""What an attacker guesses: a sensitive column, or several at once."""


def columns_of(target: Target) -> list[str]:
    """Return the columns that are guessed.

    Example:
        >>> columns_of("income"), columns_of(("income", "race"))
        (['income'], ['income', 'race'])
    """
    return [target] if isinstance(target, str) else list(target)


def name_of(target: Target) -> str:
    """Return what the columns are called in keys, tables and limits.

    Example:
        >>> name_of("income"), name_of(["income", "race"])
        ('income', 'income and race')
    """
    return " and ".join(columns_of(target))


class Tables:
    """Real and synthetic records (and control records, where a metric needs them) in one code list.

    Args:
        real: The records attacked.
        synthetic: The release: the same columns, in any order. Cells that stand for sets of values have these beside
            it (``tables.ValueSets``).
        control: Real records that the synthesizer never saw.
        groups: What each real record is: 1 a member, 0 a control record, -1 neither; None where all are members.
        entities: The entity of each real record, then of each control record; one without a name is an entity of its
            own. None: each record is one. ``identified`` takes them from a column. No attack sees them.
        links: The real record that each synthetic one was made from, (m,) positions, -1 for none; None: unknown. No
            attack sees them either.

    Raises:
        InputError: A table is not a data frame, is empty, repeats a column name, or has other columns; or there is
            not one entity a record.
    """

    def __init__(
        self,
        real: pd.DataFrame,
        synthetic: pd.DataFrame,
        control: pd.DataFrame | None = None,
        groups: np.ndarray | None = None,
        entities: np.ndarray | None = None,
        links: np.ndarray | None = None,
    ):
        named = {"real": real, "synthetic": synthetic} | ({} if control is None else {"control": control})
        for name, table in named.items():
            _check_table(name, table)
        for name, table in named.items():
            _check_columns(real, name, table)
        self.columns = list(real.columns)
        synthetic = synthetic if list(synthetic.columns) == self.columns else synthetic[self.columns]
        self.real, self.synthetic, *rest = alike([real, synthetic, *([] if control is None else [control])])
        self.control = rest[0][self.columns] if rest else None
        self.groups, self.links = groups, links
        self._entities = _numbered(entities, len(real) + (0 if control is None else len(control)))
        self._shared: dict[Any, Any] = {}

    @classmethod
    def identified(
        cls,
        real: pd.DataFrame,
        synthetic: pd.DataFrame,
        control: pd.DataFrame | None = None,
        identifier: str | int | None = None,
    ) -> "Tables":
        """Return tables without the column of the real ones that names the entity of each record.

        Raises:
            InputError: Such a column is not in the real tables, or is in the release.
        """
        if identifier is None:
            return cls(real, synthetic, control)
        named = {"real": real} | ({} if control is None else {"control": control})
        is_label = isinstance(identifier, str | int | np.integer)
        for name, table in ({"synthetic": synthetic} | named).items():
            _check_table(name, table)
            if not is_label or (identifier in table.columns) != (name in named):
                rule = f"a column of {' and '.join(named)}, and none of synthetic"
                shown = repr(identifier) if is_label else type(identifier).__name__
                raise InputError(f"identifier must be {rule}, got {shown}")
        entities = entity_numbers(*(table[identifier] for table in named.values()))
        rest = {name: table.drop(columns=identifier) for name, table in named.items()}
        return cls(rest["real"], synthetic, rest.get("control"), entities=entities)

    @property
    def sets(self) -> ValueSets:
        """The sets of values that cells of the release stand for."""
        return self.shared("sets", lambda: ValueSets.of(self.synthetic))

    @property
    def entities(self) -> np.ndarray | None:
        """The number of each real record's entity, (n,); None where all are different."""
        return None if self._entities is None else self._entities[: len(self.real)]

    @property
    def control_entities(self) -> np.ndarray | None:
        """The number of each control record's entity, from the same list."""
        return None if self._entities is None else self._entities[len(self.real) :]

    def of(self, rows: np.ndarray, control: np.ndarray | None = None, groups: np.ndarray | None = None) -> "Tables":
        """Return tables with some of the real records alone, by position, and some as control."""
        others = None if control is None else self.real.iloc[control]
        entities = self.entities
        if entities is not None:
            entities = entities[rows if control is None else np.concatenate([rows, control])]
        links = links_among(self.links, rows, len(self.real))
        return Tables(self.real.iloc[rows], self.synthetic, others, groups, entities, links)

    def with_control(self) -> "Tables":
        """Return tables in which the control records are real records too, after the members."""
        return self.shared("with control", self._with_control)

    def _with_control(self) -> "Tables":
        assert self.control is not None  # noqa: S101 - callers ask first
        both = pd.DataFrame({c: _stacked(self.real[c], self.control[c]) for c in self.columns})
        both.index = self.real.index.append(self.control.index)
        groups = np.repeat([1, 0], [len(self.real), len(self.control)])
        return Tables(both, self.synthetic, groups=groups, entities=self._entities, links=self.links)

    def with_control_released(self) -> "Tables":
        """Return tables with control in which the control records are the release too, and no group any more."""
        return self.shared("control released", self._with_control_released)

    def _with_control_released(self) -> "Tables":
        both = self.with_control()
        assert both.groups is not None  # noqa: S101 - with_control says who is what
        released = both.real[both.groups == 0].reset_index(drop=True)
        return Tables(both.real, released, groups=np.where(both.groups == 1, 1, -1), entities=both.entities)

    def without_groups(self) -> "Tables":
        """Return the same tables without groups; what is computed of the one is there for the other."""
        alone = copy(self)
        alone.groups = None
        return alone

    def part(self, group: int) -> "Tables | None":
        """Return the tables with one group of the real records alone: 1 members, 0 control; None if there are none."""
        if self.groups is None:
            return self if group == 1 else None
        own = self.groups == group
        if own.all():
            return self.without_groups()
        return self.shared(("part", group), lambda: self.of(np.flatnonzero(own)) if own.any() else None)

    def members_and_controls(self) -> "Tables":
        """Return the tables without the real records that are neither members nor control records."""
        groups = self.groups
        if groups is None or (groups >= 0).all():
            return self
        own = groups >= 0
        return self.shared("both groups", lambda: self.of(np.flatnonzero(own), groups=groups[own]))

    def shared(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` gives, computed on the first call with this key."""
        if key not in self._shared:
            self._shared[key] = compute()
        return self._shared[key]

    def check_columns(self, argument: str, columns: Sequence[str] | str) -> list[str]:
        """Return ``columns`` as a list of distinct columns of the tables."""
        if not isinstance(columns, str | Iterable):
            raise InputError(f"{argument} must be a list of columns, got {columns!r}")
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names:
            raise InputError(f"{argument} must name at least one column, got none")
        for name in names:
            if name not in self.columns:
                hint = nearest(str(name), map(str, self.columns))
                raise InputError(f"{argument} must name columns of the table, got {name!r}{hint}")
        if len(set(names)) < len(names):
            raise InputError(f"{argument} must name each column once, got {names!r}")
        return names

    def check_roles(
        self, quasi_identifiers: Sequence[str] | str, sensitive: Sequence[str] | str
    ) -> tuple[list[str], list[str]]:
        """Return both lists of columns, checked to be apart."""
        known = self.check_columns("quasi_identifiers", quasi_identifiers)
        hidden = self.check_columns("sensitive", sensitive)
        both = [name for name in known if name in hidden]
        if both:
            raise InputError(f"quasi_identifiers and sensitive must be different columns, got {both[0]!r} in both")
        return known, hidden

    def check_comparable(self, columns: Sequence[str]) -> None:
        """Refuse columns whose values in the two tables are of types that cannot be compared, and infinite numbers."""
        for column in columns:
            if self.kind(column) == "numeric":
                self.floats(column)
            else:
                self.codes([column])

    def kind(self, column: str) -> Kind:
        """Return the kind of a column, as the real table types it."""
        return self.shared(("kind", column), lambda: kind(self.real[column]))

    def codes(self, columns: Sequence[str]) -> Codes:
        """Return one code a row for the values of ``columns``: first the real table's, then the synthetic's."""
        if len(columns) == 1:
            return self._column(columns[0])[0]
        return self.shared(("codes", tuple(columns)), lambda: pack([self._column(c)[0] for c in columns]))

    def levels(self, column: str) -> np.ndarray:
        """Return the values behind the codes of one column; the last is the missing level."""
        return self._column(column)[1]

    def floats(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a numeric column as float64 arrays: the real table's and the synthetic's."""
        return self.shared(("floats", column), lambda: self._floats(column))

    def _floats(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        real, synthetic = self.real[column], self.synthetic[column]
        times = [each.dtype.kind if is_temporal(each) else "" for each in (real, synthetic)]
        if times[0] != times[1] and synthetic.notna().any():
            rule = f"hold {'durations' if 'm' in times else 'dates'} in both tables or in none"
            raise InputError(f"column {column!r} must {rule}, got {real.dtype} and {synthetic.dtype}")
        floats = as_floats(real), as_floats(synthetic)
        if any(np.isinf(each).any() for each in floats):
            raise InputError(f"column {column!r} must hold finite numbers, got an infinity")
        return floats

    def _column(self, column: str) -> tuple[Codes, np.ndarray]:
        return self.shared(("column", column), lambda: joint_codes([self.real[column], self.synthetic[column]]))


def in_order(columns: Iterable[Any]) -> list[Any]:
    """Return names of columns in one order, whatever theirs; 1 and "1" are two.

    Example:
        >>> in_order(["b", "1", 1])
        [1, '1', 'b']
    """
    return sorted(columns, key=lambda c: (str(c), type(c).__name__))


def _numbered(entities: np.ndarray | None, records: int) -> np.ndarray | None:
    """Return entities as whole numbers, None where no two records have one in common."""
    if entities is None:
        return None
    if len(entities) != records:
        raise InputError(f"entities must name one entity a record, got {len(entities)} for {records} records")
    numbers = entity_numbers(pd.Series(entities, name="entities"))
    return numbers if len(np.unique(numbers)) < records else None


def _stacked(real: pd.Series, control: pd.Series) -> pd.Series:
    if real.dtype != control.dtype:
        if kind(real) == "numeric" and kind(control) != "numeric":
            control = pd.Series(as_floats(control))
        elif kind(real) == "categorical":
            codes, levels = joint_codes([real, control])  # refuses types of which no values can be equal
            return as_levels(levels[np.concatenate(codes.tables)])
    return pd.concat([real, control], ignore_index=True)


def _check_table(name: str, table: object) -> None:
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"{name} must be a pandas DataFrame, got {type(table).__name__}")
    if not len(table) or not len(table.columns):
        raise InputError(f"{name} must have rows and columns, got {len(table)} rows and {len(table.columns)} columns")
    if not table.columns.is_unique:
        raise InputError(f"{name} must have distinct column names, got a repeated name")


def _check_columns(real: pd.DataFrame, name: str, table: pd.DataFrame) -> None:
    absent = [c for c in real.columns if c not in table.columns]
    extra = [c for c in table.columns if c not in real.columns]
    if absent or extra:
        way = f"; {FIT}" if name == "synthetic" else ""
        raise InputError(f"{name} must have the columns of real, got {absent!r} absent and {extra!r} too many{way}")
