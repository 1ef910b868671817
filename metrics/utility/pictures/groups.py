"""A column as few groups that may be named, each of at least ten real records: common values, or bins with round edges.

What fewer than ten real records have is never named: it is among the others.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.levels import column_levels
from synthrisk.metrics.tables.value_texts import value_texts
from synthrisk.metrics.utility.pictures.bins import bins_of

FEWEST = 10
"""Real records (people, where a column names them) that a named group holds at least."""
MOST = 12
"""Groups with a name of their own."""
OTHERS, MISSING = "others", "missing"

_ATOM = 0.1  # share of the records from which on one number is a group of its own beside the bins
_ATOMS = 3
_FEW_VALUES = 0.99  # share of the records that common values must hold, or a column of numbers is cut in bins
_NONE = np.zeros(0, dtype=int)


@dataclass(frozen=True, eq=False)
class Groups:
    """One column in groups: those with a name of their own, then the others, then missing cells."""

    column: str
    names: tuple[str, ...]  # of all groups; the last two are OTHERS and MISSING
    places: np.ndarray = field(default_factory=lambda: _NONE)  # (n,) group of each real record
    counts: np.ndarray = field(default_factory=lambda: _NONE)  # (size,) real records (or entities) of each group
    reason: str = ""  # why the column has no picture; empty where it has one
    is_binned: bool = False  # whether some groups are bins, which hold their lower edge and not their upper one
    # the single values that are groups, in the order of the groups; numbers ascend
    values: pd.Series = field(default_factory=lambda: pd.Series(dtype=float), repr=False)
    edges: np.ndarray | None = field(default=None, repr=False)  # of the bins, which come after the single values

    @property
    def size(self) -> int:
        """How many groups there are, the others and missing among them."""
        return len(self.names)

    def shares(self, places: np.ndarray) -> np.ndarray:
        """Return the share of each group, (size,), among records by their groups; NaN where there are none."""
        counts = np.bincount(places, minlength=self.size)
        return counts / len(places) if len(places) else np.full(self.size, np.nan)

    @property
    def shown_shares(self) -> np.ndarray:
        """The share of each group among the real records of groups of at least ``FEWEST``; NaN of smaller groups."""
        shown = self.counts >= FEWEST
        shares = np.where(shown, self.shares(self.places), np.nan)
        return shares / np.nansum(shares) if shown.any() else shares

    def place(self, cells: pd.Series) -> np.ndarray:
        """Return the group of each cell of a release; what no real record has is among the others.

        Raises:
            InputError: The cells are of another type than the real ones.
        """
        others, missing = self.size - 2, self.size - 1
        if kind(self.values) == "categorical":
            codes, _ = joint_codes([self.values, cells])
            place_of_code = np.full(codes.size, others)
            place_of_code[codes.tables[0]] = np.arange(len(self.values))
            place_of_code[-1] = missing
            return place_of_code[codes.tables[1]]
        if is_temporal(self.values) != is_temporal(cells) and cells.notna().any():
            raise InputError(f"column {self.column!r} must hold dates in both tables or in none")
        numbers, known = as_floats(cells), as_floats(self.values)
        found = np.full(len(numbers), others)
        if self.edges is not None:
            found = len(known) + np.searchsorted(self.edges, numbers, side="right")
        if len(known):
            at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            found = np.where(known[at] == numbers, at, found)
        return np.where(np.isnan(numbers), missing, found)


def groups_of(column: pd.Series, entities: np.ndarray | None = None) -> Groups:
    """Return a column of the real table in groups of at least ``FEWEST`` records, or entities where there are any.

    - Values: those that at least ``FEWEST`` records have, the ``MOST`` commonest; numbers too, where they are few.
    - Bins of other numbers and dates: between round edges (``bins_of``). A single number that a tenth of the records
      have is a group of its own, outside the bins.
    - Others: all other values, also those of a release that no real record has. Missing: cells without value.

    Example:
        >>> groups_of(pd.Series(["nurse"] * 30 + ["cook"] * 12 + ["spy"], name="job")).names
        ('nurse', 'cook', 'others', 'missing')
    """
    made = _of_numbers(column, entities) if kind(column) == "numeric" else _of_values(column, entities)
    places = made.place(column)
    counts = how_many_with(places, made.size, entities)
    return replace(made, places=places, counts=counts, reason=_reason(made, counts))


def _of_values(column: pd.Series, entities: np.ndarray | None) -> Groups:
    levels = column_levels(column, None)
    codes = np.where(column.isna().to_numpy(dtype=bool), -1, levels.codes)
    found = _Values.of(codes, entities)
    named = found.commonest(found.common, MOST)
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        named = np.sort(named)
    names = (*(levels.names[code] for code in named), OTHERS, MISSING)
    return Groups(str(column.name), names, values=column.iloc[found.first[named]].reset_index(drop=True))


def _of_numbers(column: pd.Series, entities: np.ndarray | None) -> Groups:
    numbers = as_floats(column)
    codes, seen = pd.factorize(numbers, sort=True)  # a missing one: -1
    found = _Values.of(codes, entities)
    there = found.held.sum()
    few = len(found.common) <= MOST and found.held[found.common].sum() >= _FEW_VALUES * there
    large = found.common[found.held[found.common] >= _ATOM * there]
    named = np.sort(found.common if few else found.commonest(large, _ATOMS))
    values = column.iloc[found.first[named]].reset_index(drop=True)
    texts = value_texts(column, seen[named]) if len(named) else []
    if few:
        return Groups(str(column.name), (*texts, OTHERS, MISSING), values=values)
    rest = ~np.isin(np.arange(-1, len(seen)), [-1, *named])[codes + 1]
    bins = bins_of(column, numbers[rest], None if entities is None else entities[rest], MOST - len(named), FEWEST)
    names = (*(f"exactly {text}" for text in texts), *bins.names(bool(texts)), OTHERS, MISSING)
    return Groups(str(column.name), names, is_binned=bool(len(bins.edges)), values=values, edges=bins.edges)


@dataclass(frozen=True)
class _Values:
    """The values of a column by their codes."""

    counts: np.ndarray  # records, or entities, of each value
    held: np.ndarray  # records of each value
    first: np.ndarray  # position of a record with each value
    common: np.ndarray  # values of at least ``FEWEST``, ascending

    @classmethod
    def of(cls, codes: np.ndarray, entities: np.ndarray | None) -> "_Values":
        size = int(codes.max(initial=-1)) + 1
        held = np.bincount(codes + 1, minlength=size + 1)[1:]
        counts = held if entities is None else how_many_with(codes, size, entities)
        first = np.zeros(size + 1, dtype=int)
        first[codes] = np.arange(len(codes))  # the last place takes those without a value
        return cls(counts, held, first, np.flatnonzero(counts >= FEWEST))

    def commonest(self, codes: np.ndarray, most: int) -> np.ndarray:
        """Return at most so many of these values, that with most records first."""
        return codes[np.argsort(-self.held[codes], kind="stable")][:most]


def _reason(made: Groups, counts: np.ndarray) -> str:
    named = counts[:-2] >= FEWEST
    if not named.any():
        return f"no value or range is shared by {FEWEST} records"
    if made.edges is not None and len(named) == 1 and not len(made.edges):
        return "it cannot be cut at round numbers that are nobody's value"
    return ""
