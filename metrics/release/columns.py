"""What is wrong with the columns of a release, seen before any attack: rules on each column alone.

A release whose columns are far off is read twice: as it is, and brought back to how the real records are written.

A disguise (months for years, cents for euros, upper-case levels, decimals where there are none) hides a leak from
measures that compare values; a poor generator may be as far off and hide nothing. So neither is refused: the reading
that shows more memorization counts. A release of coarse cells (``value_sets``) is read twice, too: beside the real
values, and beside real values that are as coarse.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy
from pandas.api import types

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.proportions import expected_share, share_difference
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables, ValueSets, code_values, inside
from synthrisk.metrics.tables.value_types import as_levels, precision_of

_PLACES = 6  # decimals of a number that is written by hand, at most
_DAY = 86_400 * 1e9  # nanoseconds
_EXACT = 2.0**53  # larger whole numbers are not all floats
_SIGNS = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212\u2018\u2019\u201a\u201c\u201d\u201e", "------'''\"\"\"")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[-_'.](?=[^\W\d_])")


def second_reading(
    members: pd.DataFrame,
    control: pd.DataFrame | None,
    release: pd.DataFrame,
    far: Sequence[str],
    finer: Sequence[str] = (),
) -> pd.DataFrame | None:
    """Return the release with its far-off columns brought back to the real records; None where no column is far off.

    Numbers and dates that are written finer than the real ones are rounded to their grid (``Grid``), codes that are
    numbers to the nearest real one.

    A numeric column is mapped by ranks: the cell of rank r among m becomes the ((r - 1/2)/m)-quantile of the control
    records, of the members where there are none; equal cells share a mean rank. Levels become the real level that is
    the same without case, spaces, accents and number form (``folded``), the commonest if several are; where there is
    no such level, the one that they alone begin, or that begins with them (M for male). Missing cells stay missing, and
    levels that no real record has as they are.

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
            cells = release[name]
            columns[name] = _nearest_codes(cells, real) if _is_code(real) else Grid.of(real).rounded(cells, real)
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
        >>> from synthrisk.metrics.tables.tables import ValueSet
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


class Grid(NamedTuple):
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

    def rounded(self, cells: pd.Series, real: pd.Series | None = None) -> pd.Series:
        """Return the cells on the grid: numbers the nearest one, dates their day, the next one if it alone is real."""
        if not self.step:
            return cells
        if is_temporal(cells):
            days, following = cells.dt.floor("D"), cells.dt.ceil("D")
            known = as_floats(days if real is None else real)
            return days.where(np.isin(as_floats(days), known) | ~np.isin(as_floats(following), known), following)
        return pd.Series(self._near(as_floats(cells)), index=cells.index)

    def _near(self, values: np.ndarray) -> np.ndarray:
        if self.step >= 1:
            return np.asarray(np.rint(values / self.step) * self.step)
        return np.asarray(np.round(values, round(-np.log10(self.step))))


def folded(value: object) -> str:
    """Return a level without case, spaces, accents, quotes around it, signs between its letters and number form.

    Example:
        >>> [folded(v) for v in (" Zürich", "'ZURICH'", "1,50", 1.5, "01.5", "Not-known", "not_known", "O-", "18–29")]
        ['zurich', 'zurich', '1.5', '1.5', '1.5', 'notknown', 'notknown', 'o-', '18-29']
    """
    text = unicodedata.normalize("NFKD", html.unescape(str(value)).translate(_SIGNS)).casefold()
    text = "".join(letter for letter in text if not (letter.isspace() or unicodedata.combining(letter)))
    text = text.strip("\"'`_") or text
    try:
        return f"{float(text.replace(',', '.')):.12g}"
    except ValueError:
        return _BETWEEN_LETTERS.sub("", text).rstrip(".") or text


def _is_code(column: pd.Series) -> bool:
    """Tell whether the levels of a column are numbers, as those of a scale from 1 to 5."""
    dtype = column.dtype
    if not isinstance(dtype, pd.CategoricalDtype):
        return False
    return types.is_numeric_dtype(dtype.categories.dtype) and not types.is_bool_dtype(dtype.categories.dtype)


def _nearest_codes(cells: pd.Series, real: pd.Series) -> pd.Series:
    """Return numbers as the nearest real code each, missing where there is none."""
    codes, values = np.unique(as_floats(real.dropna())), as_floats(cells)
    if not len(codes):
        return cells
    above = np.minimum(np.searchsorted(codes, values), len(codes) - 1)
    below = np.maximum(above - 1, 0)
    near = np.where(values - codes[below] <= codes[above] - values, codes[below], codes[above])
    found = pd.Categorical(np.where(np.isnan(values), np.nan, near), np.unique(real.cat.categories))
    return pd.Series(found, index=cells.index)


def known_levels(real: pd.Series) -> dict[str, object]:
    """Return the real level that each folded one stands for, the commonest if several do."""
    found: dict[str, object] = {}
    for level in real.value_counts().index:  # the commonest first
        found.setdefault(folded(level), level)
    return found


def _as_real(levels: np.ndarray, real: pd.Series) -> dict[object, object]:
    """Return the real level that each released one stands for, where there is one.

    Where none is a real one but for its spelling, they may be few that are each the beginning of another real one, or
    begin with it: M and F for male and female.
    """
    known, own = known_levels(real), {*real.unique()}
    found = {level: level if level in own else known[folded(level)] for level in levels if folded(level) in known}
    if found or not 1 < len(levels) <= _FEW_LEVELS:
        return found
    names = [other for other in known if other and not other[0].isdigit()]
    for level in levels:
        bare = folded(level)
        like = [other for other in names if bare and (other.startswith(bare) or bare.startswith(other))]
        if len(like) == 1:
            found[level] = known[like[0]]
    return found if len({*found.values()}) == len(levels) else {}


def _by_ranks(released: pd.Series, real: pd.Series) -> pd.Series:
    known, ordered = released.dropna(), real.dropna().sort_values(kind="stable")
    if not len(known) or not len(ordered):
        return released
    share = (known.rank().to_numpy() - 0.5) / len(known)
    places = np.clip(np.ceil(share * len(ordered) - 1e-9).astype(int) - 1, 0, len(ordered) - 1)
    return pd.Series(ordered.array.take(places), index=known.index).reindex(released.index)


def _by_levels(released: pd.Series, members: pd.Series, others: pd.Series | None) -> pd.Series:
    real = members.astype(object).dropna()
    cells = released.astype(object)
    known = _as_real(cells.dropna().unique(), real if others is None else pd.concat([real, others.astype(object)]))
    mapped = cells.map(lambda level: known.get(level, level), na_action="ignore")
    return mapped.astype("category") if isinstance(released.dtype, pd.CategoricalDtype) else mapped


# by a look at a release
_Looked = Literal["type", "constant", "missing", "mean", "finer", "unseen", "rows", "blank", "control"]
_Told = Literal["read", "name", "index", "absent", "coarse", "promise", "dropped"]  # where it is read, or made
Rule = _Looked | _Told

CHANCE = 1e-6
"""A column is called broken only where a release of other people would show as much less often than this."""

_NOTED_CHANCE = 1e-3
_MEAN, _NOTED_MEAN = 1.0, 0.25  # differences of means, in pooled standard deviations
_MISSING, _NOTED_MISSING = 0.5, 0.1  # differences of shares of missing cells
_UNSEEN, _SHARED = 0.9, 0.5
_RESPELLED = 0.05  # share of the cells that are real values in another spelling
_FEW_TEXTS, _MANY_VALUES = 5, 20  # texts that say there is no value, and values, that a column of values has
_RARE_FORMS = 0.1  # share of the real cells that may be written as no other is, where forms tell anything
_FEW_LEVELS = 20  # that may be abbreviated
_FINER, _FEW_CELLS = 0.05, 3  # share of the cells that are finer than real ones, and cells that are no column


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a release, or worth knowing of it."""

    rule: Rule  # which rule it breaks
    column: str  # the column's name; empty where it is about the whole release
    # broken: measures say nothing of such a release; far: it is read twice (``readings``); note: worth knowing
    severity: Literal["broken", "far", "note"]
    words: str  # all of it in a phrase that holds no cell of a table


class Column(NamedTuple):
    """One column of members and release, as the rules look at it."""

    name: Any
    members: pd.Series  # the members' cells
    released: pd.Series  # the released cells
    codes: tuple[np.ndarray, np.ndarray]  # value codes of both; the missing level has the largest, size - 1
    known: np.ndarray  # whether some real record has the value of each code, (size,)
    size: int
    rows: int  # released rows that speak for themselves
    real: pd.Series  # the cells of all real records
    suppressed: bool = False  # whether a missing cell of the release may be any value


def incomparable(members: pd.Series, released: pd.Series, known: Tables | None = None) -> Problem | None:
    """Return why the cells of a column cannot be compared; None where they can be.

    ``known`` are the tables that both are columns of, where they are at hand: then cells are encoded once.

    Example:
        >>> incomparable(pd.Series([1, 2], name="pay"), pd.Series(["1", "2"])).words
        "column 'pay' holds numbers among the members, but not in the release"
    """
    name: Any = members.name
    where = f"column {name!r} holds"
    try:
        if kind(members) == "categorical":
            _ = joint_codes([members, released]) if known is None else known.codes([name])
            return None
        what = "dates or durations" if is_temporal(members) else "numbers"
        words = f"{where} {what} among the members, but not in the release"
        kinds = [(is_temporal(each), pd.api.types.is_timedelta64_dtype(each.dtype)) for each in (members, released)]
        if kinds[0] == kinds[1] or released.isna().all():
            if not np.isinf(as_floats(released)).any():
                return None
            words = f"{where} infinite numbers in the release"
    except InputError:
        told = "single values of the members' type" if kind(members) == "categorical" else "numbers"
        words = f"{where} {told} among the members, but not in the release"
    return Problem("type", str(members.name), "broken", words)


def column_problems(tables: Tables, column: Any, people: int | None = None) -> list[Problem]:
    """Return what is wrong with one column of a release whose cells can be compared.

    - blank: missing cells only in the release, several values among the members. Far off, so that the release is looked
      at without the column, too.
    - constant: one value in the release, several among the members. Broken where the commonest
      value of the members, of share q, would fill u rows with probability q^u < 1e-6; otherwise a note. Where it is
      known that nothing guesses the column it is far off, and the release is looked at without it, too.
    - missing: the shares of missing cells differ by more than .5 (note: .1), and Newcombe's interval of the difference
      at 1 - 1e-6 (note: 1 - 1e-3) holds no 0. Not of suppressed cells (``value_sets``), which are told where they are
      read.
    - mean, numeric columns: far off where the means differ by more than 1 (note: .25) pooled standard deviation,
      |a - b| / sqrt((s_a^2 + s_b^2)/2), and Welch's test gives p < 1e-6 (note: 1e-3). Ordinary generators do so to
      skewed columns.
    - finer, numeric columns and codes that are numbers: cells off the grid of all real cells (``columns.Grid``):
      decimals where there are none, a time of day. Far off, so that the rounded cells are looked at, too, where more
      than 5 % are; else a note.
    - unseen, categorical columns: share of the released cells whose value no real record has. A note; broken where it
      is at least .9 although strangers bring fewer new values: less than half of the members have a value that no
      other real record has, and Newcombe's interval at 1 - 1e-6 separates the two shares. Far off, not broken, where
      the values of .05 of the cells or more are known without case, spaces, accents and number form.
      Broken, too, where it is at least half and the real column has 20 or more numbers or dates, and 1 to 5 other
      texts, or where at least .9 are new and .9 are written as no real one is, of which nine in ten share their form
      with another: nearness is not seen.

    The rules hold at any size: they ask for a large difference that is not chance. u is the number of released rows, or
    of the people that they were drawn from, where that is known and smaller.

    Args:
        tables: Real records with ``groups``, and the release.
        column: The column's name.
        people: How many people the release was drawn from, where it repeats real ones.

    Example:
        >>> real = pd.DataFrame({"pay": np.arange(100.0)})
        >>> [p.words for p in column_problems(Tables(real, real + 200), "pay")]
        ["column 'pay' has means that differ by 6.9 standard deviations between members and release"]
    """
    real, released = tables.codes([column]).tables
    members, codes = tables.real[column], real
    if tables.groups is not None and not (tables.groups == 1).all():
        own = tables.groups == 1
        members, codes = members[own], real[own]
    size = tables.codes([column]).size
    known = np.bincount(real, minlength=size) > 0
    rows = min(len(released), people or len(released))
    cells, suppressed = tables.synthetic[column], column in tables.sets.suppressed
    one = Column(column, members, cells, (codes, released), known, size, rows, tables.real[column], suppressed)
    constant = [*_constant(one)]
    if constant:
        return constant
    if tables.kind(column) == "numeric":
        return [*_missing(one), *_mean(one), *_finer(one)]
    fine = [*_finer(one)] if _is_code(one.real) and _is_code(cells) else []
    return [*_missing(one), *(fine if any(each.severity == "far" for each in fine) else _unseen(one))]


def _constant(one: Column) -> Iterator[Problem]:
    members, released = one.codes
    if released.min() != released.max() or members.min() == members.max():
        return
    if released[0] == one.size - 1:
        words = f"column {one.name!r} has no values in the release: nothing of it is given away"
        yield Problem("blank", str(one.name), "far", words)
        return
    chance = float(np.bincount(members).max() / len(members)) ** one.rows
    words = f"column {one.name!r} is constant in the release, but not among the members"
    yield Problem("constant", str(one.name), "broken" if chance < CHANCE else "note", words)


def _missing(one: Column) -> Iterator[Problem]:
    if one.suppressed:
        return
    members, released = (float(np.mean(codes == one.size - 1)) for codes in one.codes)
    gap = abs(released - members)
    if gap > _NOTED_MISSING and _apart(members, released, one, _NOTED_CHANCE):
        broken = gap > _MISSING and _apart(members, released, one, CHANCE)
        words = f"column {one.name!r} has {released:.0%} missing cells in the release, {members:.0%} among the members"
        yield Problem("missing", str(one.name), "broken" if broken else "note", words)


def _mean(one: Column) -> Iterator[Problem]:
    members, released = (as_floats(c) for c in (one.members, one.released))
    members, released = (each[~np.isnan(each)] if np.isnan(each).any() else each for each in (members, released))
    rows = round(one.rows * len(released) / len(one.released))
    if len(members) < 2 or rows < 2:
        return
    largest = max(np.abs(members).max(), np.abs(released).max()) or 1.0
    members, released = members / largest, released / largest  # squares stay inside the range of a float
    spreads = float(members.std(ddof=1)), float(released.std(ddof=1))
    pooled = float(np.hypot(*spreads) / np.sqrt(2))
    if not pooled:
        return
    gap = abs(float(released.mean() - members.mean())) / pooled
    if gap <= _NOTED_MEAN:
        return
    first, second = (float(members.mean()), spreads[0], len(members)), (float(released.mean()), spreads[1], rows)
    p = float(scipy.stats.ttest_ind_from_stats(*first, *second, equal_var=False).pvalue)
    if p < _NOTED_CHANCE:
        apart = f"means that differ by {gap:.1f} standard deviations"
        words = f"column {one.name!r} has {apart} between members and release"
        yield Problem("mean", str(one.name), "far" if gap > _MEAN and p < CHANCE else "note", words)


def _finer(one: Column) -> Iterator[Problem]:
    off = Grid.of(one.real).off(one.released)
    count, cells = int(off.sum()), int(one.released.notna().sum())
    if count:
        times = is_temporal(one.released)
        fine = "a time of day" if times else "digits that no real record has"
        words = f"column {one.name!r} has {fine} in {count:,} of {cells:,} cells"
        yield Problem("finer", str(one.name), "far" if count > max(_FEW_CELLS, _FINER * cells) else "note", words)


def _unseen(one: Column) -> Iterator[Problem]:
    members, released = one.codes
    present = released[released < one.size - 1]
    count = int(np.sum(~one.known[present]))
    if not count:
        return
    share = count / len(present)
    alone = float(np.mean(np.bincount(members, minlength=one.size)[members] == 1))
    broken = share >= _UNSEEN and alone < _SHARED and _apart(alone, share, one, CHANCE)
    words = f"column {one.name!r} has values in {count:,} of {len(present):,} cells that no real record has"
    if share >= _SHARED and _beside_texts(one):
        told = "which has numbers or dates beside a few texts: nearly equal ones are told apart as texts are"
        yield Problem("unseen", str(one.name), "broken", f"{words}, {told}; list these texts as missing (--missing)")
    elif share >= _RESPELLED and share - _unknown_folded(one) >= _RESPELLED:
        yield Problem("unseen", str(one.name), "far", f"{words} in the same spelling")
    elif share >= _UNSEEN and _in_another_form(one):
        told = "nor are they written as real ones are, such as dates or amounts in another form"
        yield Problem("unseen", str(one.name), "broken", f"{words}, {told}: say how the real ones are read (columns)")
    else:
        yield Problem("unseen", str(one.name), "broken" if broken else "note", words)


def _beside_texts(one: Column) -> bool:
    """Tell whether a column of texts is one of numbers or dates in which few other texts say that there is no value."""
    texts = one.real.dropna().astype(str)
    levels = pd.Series(texts.unique())
    numbers = pd.to_numeric(levels, errors="coerce").notna()
    dates = pd.to_datetime(levels, format="ISO8601", errors="coerce", utc=True).notna()
    values = numbers if numbers.sum() >= dates.sum() else dates
    if not 0 < (~values).sum() <= _FEW_TEXTS or values.sum() < _MANY_VALUES:
        return False
    return not levels[values].str.match(r"0\d").any()  # such are codes


def _in_another_form(one: Column) -> bool:
    """Tell whether digits, letters and signs hardly ever follow each other in the released cells as in any real one.

    Where many real cells are written as no other is, as sentences are, it tells nothing.
    """
    real, released = (_forms(each.dropna().astype(str)) for each in (one.real, one.released))
    if not real.duplicated(keep=False).mean() >= 1 - _RARE_FORMS:
        return False
    return bool((~released.isin(real)).mean() >= _UNSEEN)


def _forms(texts: pd.Series) -> pd.Series:
    """Return texts with one 9 for digits that follow each other, and one a for letters."""
    forms = pd.Series(texts.unique())
    plain = forms.str.replace(r"\d+", "9", regex=True).str.replace(r"[^\W\d_]+", "a", regex=True)
    return texts.map(dict(zip(forms, plain, strict=True)))


def _unknown_folded(one: Column) -> float:
    """Return the share of the released cells whose value no real record has however it is spelled."""
    cells = one.released.dropna().astype(object)
    return float((~cells.isin([*_as_real(cells.unique(), one.real.dropna())])).mean())


def _apart(members: float, released: float, one: Column, chance: float) -> bool:
    n, rows = len(one.members), one.rows
    first, second = (expected_share(s * k, k, 1 - chance) for s, k in ((members, n), (released, rows)))
    found = share_difference(first, second)
    return bool(found.lower > 0 or found.upper < 0)
