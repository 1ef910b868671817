"""A release whose columns are far off is read twice: as it is, and brought back to how the real records are written.

A disguise (months for years, cents for euros, upper-case levels, decimals where there are none) hides a leak from
measures that compare values; a poor generator may be as far off and hide nothing. So neither is refused: the reading
that shows more memorization counts.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.value_types import precision_of

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
    second = release.copy()
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
    real, release = real.copy(), release.copy()
    for name in [c for c in real.columns if str(c) in blank]:
        commonest = int(np.flatnonzero(real[name] == real[name].mode().iloc[0])[0])
        for table in (real, release):
            cells = real[name].array.take(np.full(len(table), commonest))
            table[name] = pd.Series(cells, index=table.index)
    return real, release


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
