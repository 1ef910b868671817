"""The tables of one release; encodings and neighbour searches are computed once and shared by all metrics."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.codes import Codes, joint_codes, pack
from synthrisk.metrics.tables.entities import entity_numbers
from synthrisk.metrics.tables.kinds import Kind, as_floats, is_temporal, kind
from synthrisk.metrics.tables.links import links_among
from synthrisk.metrics.tables.value_sets import ValueSets
from synthrisk.metrics.tables.value_types import alike, as_levels

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
            it (``value_sets.ValueSets``).
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
            what = "durations" if "m" in times else "dates"
            raise InputError(
                f"column {column!r} must hold {what} in both tables or in none, got {real.dtype} and {synthetic.dtype}"
            )
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
        raise InputError(f"{name} must have the columns of real, got {absent!r} absent and {extra!r} too many")
