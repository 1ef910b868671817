"""A release whose columns are far off is read twice: as it is, and brought back to how the real records are written.

A disguise (months for years, cents for euros, upper-case levels, decimals where there are none) hides a leak from
measures that compare values; a poor generator may be as far off and hide nothing. So neither is refused: the reading
that shows more memorization counts. A release of coarse cells (``value_sets``) is read twice, too: beside the real
values, and beside real values that are as coarse.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_sets import ValueSets, code_values, inside
from synthrisk.metrics.tables.value_types import as_levels, precision_of

_PLACES = 6  # decimals of a number that is written by hand, at most
_DAY = 86_400 * 1e9  # nanoseconds
_EXACT = 2.0**53  # larger whole numbers are not all floats


def second_reading(
    members: pd.DataFrame,
    control: pd.DataFrame | None,
    release: pd.DataFrame,
    far: Sequence[str],
    finer: Sequence[str] = (),
) -> pd.DataFrame | None:
    """Return the release with its far-off columns brought back to the real records; None where no column is far off.

    Numbers and dates that are written finer than the real ones are rounded to their grid (``Grid``).

    A numeric column is mapped by ranks: the cell of rank r among m becomes the ((r - 1/2)/m)-quantile of the control
    records, of the members where there are none; equal cells share a mean rank. Levels become the real level that is
    the same without case, spaces, accents and number form (``folded``), the commonest if several are. Missing cells
    stay missing, and levels that no real record has as they are.

    Args:
        members: The n records that the synthesizer was fitted on.
        control: Real records that it never saw, or None.
        release: The m released rows.
        far: Names of the columns that are far off, as texts.
        finer: Names of those that are finer than the real ones.

    Returns:
        A frame like ``release``, or None.

    Example:
        >>> real = pd.DataFrame({"age": [20, 30, 40], "sex": ["f", "m", "f"]})
        >>> months = real.assign(age=real["age"] * 12, sex=real["sex"].str.upper())
        >>> second_reading(real, None, months, ["age", "sex"]).equals(real)
        True
    """
    named = [c for c in release.columns if str(c) in {*far, *finer}]
    if not named:
        return None
    columns = {}
    for name in named:
        others = None if control is None else control[name].dropna()
        if str(name) not in far:
            real = members[name] if others is None else pd.concat([members[name], others])
            columns[name] = Grid.of(real).rounded(release[name])
            continue
        if kind(members[name]) == "numeric":
            columns[name] = _by_ranks(release[name], others if others is not None and len(others) else members[name])
        else:
            columns[name] = _by_levels(release[name], members[name], others)
    second = ValueSets.of(release).without(columns).beside(release.copy())
    for name, cells in columns.items():
        second[name] = cells
    return second


def without_columns(
    real: pd.DataFrame, release: pd.DataFrame, blank: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables with columns made the same everywhere, their commonest real value: nothing depends on them.

    Example:
        >>> real = pd.DataFrame({"age": [20, 30, 30], "sex": ["f", "m", "f"]})
        >>> one, other = without_columns(real, real.assign(age=None), ["age"])
        >>> one["age"].tolist(), other["age"].tolist(), other["sex"].equals(real["sex"])
        ([30, 30, 30], [30, 30, 30], True)
    """
    real, release = real.copy(), ValueSets.of(release).without(blank).beside(release.copy())
    for name in [c for c in real.columns if str(c) in blank]:
        commonest = int(np.flatnonzero(real[name] == real[name].mode().iloc[0])[0])
        for table in (real, release):
            cells = real[name].array.take(np.full(len(table), commonest))
            table[name] = pd.Series(cells, index=table.index)
    return real, release


def coarsened_alike(tables: Tables) -> Tables:
    """Return the tables with real values as coarse as the released cells, so that both are equal where they may be.

    Each value becomes the set that holds it, of several the one that most released cells stand for, of these the
    narrowest; so do released values that are exact, and sets all of whose values become one other set. Values that no
    set holds stay. A suppressed cell stays a missing one. Columns without sets stay as they are.

    Example:
        >>> from synthrisk.metrics.tables.value_sets import ValueSet
        >>> sets = ValueSets({"age": {34: ValueSet(30, 39)}})
        >>> release = sets.beside(pd.DataFrame({"age": [34, 41]}))
        >>> coarsened_alike(Tables(pd.DataFrame({"age": [31, 38, 40]}), release)).real["age"].tolist()
        [34.0, 34.0, 40.0]
    """
    names = [c for c in tables.columns if tables.sets.columns.get(c)]
    return tables.shared("coarsened alike", lambda: _coarsened_alike(tables, names)) if names else tables


def _coarsened_alike(tables: Tables, names: Sequence[str]) -> Tables:
    real, release = tables.real.copy(deep=False), tables.sets.without(names).beside(tables.synthetic)
    for name in names:
        coarse = _as_cells(tables, name, _coarser_codes(tables, name))
        real[name] = coarse.iloc[: len(real)].set_axis(real.index)
        release[name] = coarse.iloc[len(real) :].set_axis(release.index)
    return Tables(real, release, groups=tables.groups, entities=tables.entities, links=tables.links)


def _coarser_codes(tables: Tables, column: str) -> np.ndarray:
    """Return the code that each code of a column becomes."""
    joint, within = tables.codes([column]), inside(tables, column)
    counts = [np.bincount(side, minlength=joint.size) for side in joint.tables]
    places = np.flatnonzero(within.row[:-1])  # of the sets; the last code is the missing cell
    held = within.holds[within.row[places]]
    order = np.lexsort((held @ counts[0], -counts[1][places]))
    places, held = places[order], held[order]
    becomes = np.arange(joint.size)
    is_value = np.ones(joint.size, dtype=bool)
    is_value[places] = counts[0][places] > 0  # a value may stand for a set, and be real too
    some = held.any(axis=0) & is_value if len(places) else np.zeros(joint.size, dtype=bool)
    becomes[some] = places[held[:, some].argmax(axis=0)]
    taken = {*becomes[some].tolist()}
    for place, own in zip(places, held, strict=True):
        others = np.unique(becomes[own & (counts[0] > 0)])
        becomes[place] = others[0] if place not in taken and len(others) == 1 else place
    return becomes


def _as_cells(tables: Tables, column: str, becomes: np.ndarray) -> pd.Series:
    """Return the cells of both tables, each the value that its code becomes."""
    codes = becomes[np.concatenate(tables.codes([column]).tables)]
    if tables.kind(column) != "numeric":
        return as_levels(tables.levels(column)[codes])
    floats, real = code_values(tables, column)[codes], tables.real[column]
    if not is_temporal(real):
        return pd.Series(floats)
    ticks = np.full(len(floats), np.iinfo(np.int64).min)  # not a time
    ticks[~np.isnan(floats)] = floats[~np.isnan(floats)].astype(np.int64)
    if types.is_timedelta64_dtype(real.dtype):
        return pd.Series(ticks.view("m8[ns]"))
    times, zone = pd.Series(ticks.view("M8[ns]")), getattr(real.dtype, "tz", None)
    return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)


@dataclass(frozen=True)
class Grid:
    """How finely the cells of a column are written: multiples of a whole number, so many decimals, or days."""

    step: float = 0.0  # 50, 1, 0.01; nanoseconds of a day for dates without a time; 0 where the cells share none

    @classmethod
    def of(cls, real: pd.Series) -> "Grid":
        """Return the coarsest grid that holds all cells of a numeric column.

        Example:
            >>> [Grid.of(pd.Series(cells)).step for cells in ([20, 35, 60], [1.5, 2.25], [1 / 3])]
            [5.0, 0.01, 0.0]
        """
        values = as_floats(real)
        values = values[np.isfinite(values)]
        if not len(values):
            return cls()
        if is_temporal(real):
            return cls(_DAY if types.is_datetime64_any_dtype(real.dtype) and not (values % _DAY).any() else 0.0)
        if (values == np.rint(values)).all():
            exact = np.abs(values).max() < _EXACT
            return cls(float(max(np.gcd.reduce(np.abs(values).astype(np.int64)), 1)) if exact else 0.0)
        places = (k for k in range(1, _PLACES + 1) if (np.round(values, k) == values).all())
        return cls(10.0 ** -next(places, np.inf))

    def off(self, cells: pd.Series) -> np.ndarray:
        """Return which cells are not on the grid; missing ones are."""
        values = as_floats(cells)
        if not self.step:
            return np.zeros(len(values), dtype=bool)
        near = self._near(values).astype(precision_of(cells)).astype(float)
        return np.asarray((near != values) & np.isfinite(values))

    def rounded(self, cells: pd.Series) -> pd.Series:
        """Return the cells on the grid, each the nearest one."""
        if not self.step:
            return cells
        if is_temporal(cells):
            return cells.dt.round("D")
        return pd.Series(self._near(as_floats(cells)), index=cells.index)

    def _near(self, values: np.ndarray) -> np.ndarray:
        if self.step >= 1:
            return np.asarray(np.rint(values / self.step) * self.step)
        return np.asarray(np.round(values, round(-np.log10(self.step))))


def folded(value: object) -> str:
    """Return a level without case, spaces, accents and number form.

    Example:
        >>> [folded(v) for v in (" Zürich", "ZURICH", "1,50", 1.5, "01.5")]
        ['zurich', 'zurich', '1.5', '1.5', '1.5']
    """
    text = unicodedata.normalize("NFKD", str(value)).casefold()
    text = "".join(letter for letter in text if not (letter.isspace() or unicodedata.combining(letter)))
    try:
        return f"{float(text.replace(',', '.')):.12g}"
    except ValueError:
        return text


def known_levels(real: pd.Series) -> dict[str, object]:
    """Return the real level that each folded one stands for, the commonest if several do."""
    found: dict[str, object] = {}
    for level in real.value_counts().index:  # the commonest first
        found.setdefault(folded(level), level)
    return found


def _by_ranks(released: pd.Series, real: pd.Series) -> pd.Series:
    known, ordered = released.dropna(), real.dropna().sort_values(kind="stable")
    if not len(known) or not len(ordered):
        return released
    share = (known.rank().to_numpy() - 0.5) / len(known)
    places = np.clip(np.ceil(share * len(ordered) - 1e-9).astype(int) - 1, 0, len(ordered) - 1)
    return pd.Series(ordered.array.take(places), index=known.index).reindex(released.index)


def _by_levels(released: pd.Series, members: pd.Series, others: pd.Series | None) -> pd.Series:
    real = members.astype(object).dropna()
    known = known_levels(real if others is None else pd.concat([real, others.astype(object)]))
    cells = released.astype(object)
    levels = {level: known.get(folded(level), level) for level in cells.dropna().unique()}
    mapped = cells.map(levels, na_action="ignore")
    return mapped.astype("category") if isinstance(released.dtype, pd.CategoricalDtype) else mapped
