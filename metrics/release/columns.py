"""What is wrong with the columns of a release, seen before any attack: rules on each column alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.proportions import expected_share, share_difference
from synthrisk.metrics.release.readings import Grid, folded, known_levels
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables

Rule = Literal[
    "type",
    "constant",
    "missing",
    "mean",
    "finer",
    "unseen",
    "rows",
    "blank",
    "read",
    "name",
    "index",
    "absent",
    "coarse",
    "promise",
    "dropped",
]

CHANCE = 1e-6
"""A column is called broken only where a release of other people would show as much less often than this."""

_NOTED_CHANCE = 1e-3
_MEAN, _NOTED_MEAN = 1.0, 0.25  # differences of means, in pooled standard deviations
_MISSING, _NOTED_MISSING = 0.5, 0.1  # differences of shares of missing cells
_UNSEEN, _SHARED = 0.9, 0.5
_FINER, _FEW_CELLS = 0.05, 3  # share of the cells that are finer than real ones, and cells that are no column


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a release, or worth knowing of it."""

    rule: Rule  # which rule it breaks
    column: str  # the column's name; empty where it is about the whole release
    # broken: measures say nothing of such a release; far: it is read twice (``readings``); note: worth knowing
    severity: Literal["broken", "far", "note"]
    words: str  # all of it in a phrase that holds no cell of a table


@dataclass(frozen=True)
class Column:
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
      value of the members, of share q, would fill u rows with probability q^u < 1e-6; otherwise a note.
    - missing: the shares of missing cells differ by more than .5 (note: .1), and Newcombe's interval of the difference
      at 1 - 1e-6 (note: 1 - 1e-3) holds no 0. Not of suppressed cells (``value_sets``), which are told where they are
      read.
    - mean, numeric columns: far off where the means differ by more than 1 (note: .25) pooled standard deviation,
      |a - b| / sqrt((s_a^2 + s_b^2)/2), and Welch's test gives p < 1e-6 (note: 1e-3). Ordinary generators do so to
      skewed columns.
    - finer, numeric columns: cells off the grid of all real cells (``readings.Grid``): decimals where there are none, a
      time of day. Far off, so that the rounded cells are looked at, too, where more than 5 % are; else a note.
    - unseen, categorical columns: share of the released cells whose value no real record has. A note; broken where it
      is at least .9 although strangers bring fewer new values: less than half of the members have a value that no
      other real record has, and Newcombe's interval at 1 - 1e-6 separates the two shares. Far off, not broken, where
      more than a tenth of the values are known without case, spaces, accents and number form.

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
    return [*_missing(one), *([*_mean(one), *_finer(one)] if tables.kind(column) == "numeric" else _unseen(one))]


def _constant(one: Column) -> Iterator[Problem]:
    members, released = one.codes
    if released.min() != released.max() or members.min() == members.max():
        return
    if released[0] == one.size - 1:
        words = f"column {one.name!r} has missing cells only in the release: nothing of it is given away"
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
    share = float(np.mean(~one.known[present])) if len(present) else 0.0
    if not share:
        return
    alone = float(np.mean(np.bincount(members, minlength=one.size)[members] == 1))
    broken = share >= _UNSEEN and alone < _SHARED and _apart(alone, share, one, CHANCE)
    words = f"column {one.name!r} has values in {share:.1%} of the released cells that no real record has"
    if broken and _unknown_folded(one) < _UNSEEN:
        yield Problem("unseen", str(one.name), "far", f"{words} in the same spelling")
    else:
        yield Problem("unseen", str(one.name), "broken" if broken else "note", words)


def _unknown_folded(one: Column) -> float:
    """Return the share of the released cells whose value no real record has however it is spelled."""
    known, cells = known_levels(one.real.dropna()), one.released.dropna().astype(object)
    unknown = {level: folded(level) not in known for level in cells.unique()}
    return float(cells.map(unknown).mean())


def _apart(members: float, released: float, one: Column, chance: float) -> bool:
    n, rows = len(one.members), one.rows
    first, second = (expected_share(s * k, k, 1 - chance) for s, k in ((members, n), (released, rows)))
    found = share_difference(first, second)
    return bool(found.lower > 0 or found.upper < 0)
