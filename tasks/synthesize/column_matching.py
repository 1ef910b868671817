"""A release is read to fit the real table: which of its columns is which, how their cells are written, what is absent.

The real table says what a column means. What had to be done is told, a line a column, where notes on the release are.
"""

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.conf.tables import FileForm
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.release.columns import Problem, Rule, folded
from synthrisk.metrics.tables.kinds import as_floats
from synthrisk.metrics.tables.tables import ValueSet, ValueSets
from synthrisk.metrics.tables.value_types import in_unit_of
from synthrisk.tasks.synthesize.conform import apart, check_columns, conform
from synthrisk.tasks.synthesize.synthesizer import Release, side_by_side
from synthrisk.tasks.workspace.files.cell_forms import at_limits, with_marks_of
from synthrisk.tasks.workspace.files.cell_texts import (
    PAIRS,
    as_text,
    empty_columns,
    numbers_rows,
    paired_names,
    refuse_several,
    released,
)
from synthrisk.tasks.workspace.files.cell_texts import folded as plain
from synthrisk.tasks.workspace.files.coarse_cells import Found, coarse_cells, values_for, whole_days
from synthrisk.tasks.workspace.files.fitted_cells import (
    UnreadableError,
    kind_of,
    levels_of,
    read_to_fit,
    unfit,
    way_out,
)

_BEHIND = re.compile(r"^(?:__|[_.\-=: ])")  # the name of a column, before that of a level
_ONES = {"True": 1, "False": 0, "true": 1, "false": 0, "TRUE": 1, "FALSE": 0}
_INDEX = ("", "Unnamed: 0", "level_0", "index", "__index_level_0__")
"""What a column is called that pandas wrote to number the rows."""

_OF_OTHERS = re.compile(  # words beside a name that make it that of another person, or of another time: age_of_mother
    r"(?<![^\W\d_])(?:(?:grand)?(?:mother|father|parent)|mum|mom|dad|spouse|partner|husband|wife|child(?:ren)?|son|daughter"
    r"|brother|sister|sibling|kin|guardian|carer|head|mutter|vater|eltern|kind(?:er)?|partnerin|ehemann|ehefrau|tochter"
    r"|bruder|schwester|mere|pere|parent|conjointe?|mari|epouse|enfant|madre|padre|conyuge|pareja|hij[oa]|coniuge|figli[oa]"
    r"|moeder|vader|kinderen|at|bei|lors|previous|former)(?:s|n)?(?![^\W\d_])"
)
_SHOWN = 5  # names in a line
_BEYOND, _OFF = 0.5, 0.3  # how far numbers of levels may lie beyond 0 and 1, and their sum off 1
_UNSURE = 0.2  # how near to 0.5 such a number tells nothing
_NEARLY = 0.9  # share of a column's levels that have one of their own, and of the rows that tell one level
_MOSTLY = 0.5  # share of the cells that are real values
_LOOKED_AT = 1000  # cells that tell whether a column is like a real one
_AS_OFTEN = 0.1  # by which the share of cells of 0 may be off that of the missing real ones for which they stand
_TOKENS = 0.9  # share of the cells that may be none of the real column's kind, where the others are coarse
COARSE = "coarse cells are read as each value that they stand for"
HONOURED = (
    "CAP and inference match these values, distances take the nearest; all is measured beside real values as "
    "coarse too, and what shows more counts; models (rapid) and the others see one value in the place of each such cell"
)
"""What is told of a release that has such cells."""


def fitted(table: pd.DataFrame, train: pd.DataFrame, form: FileForm, name: str) -> Release:
    """Return a release with the columns and types of the training table, and beside it its other columns, as texts.

    Names that differ in case, outer blanks, accents and underscores from one real name alone are that name. Columns are
    read as the study says of the real ones (``released``), then as they must be written to be of the real column's kind
    (``read_to_fit``). ``told`` of the result says what was done.

    Cells that stand for sets of values (``coarse_cells``) hold one value of each set, and the sets are beside them.
    Where a column is absent, or holds missing cells alone, any value may be in its cells.

    Args:
        table: The release as it came.
        train: The training table.
        form: How the real table is written in files.
        name: What errors call the release.

    Raises:
        InputError: It does not fit: columns are absent that others may be, one is there twice, or cells are of another
            kind than the real ones.

    Example:
        >>> train = pd.DataFrame({"age": [30, 40], "paid": [True, False]})
        >>> made = fitted(pd.DataFrame({"Age": ["50", "?"], "paid": ["yes", "no"]}), train, FileForm(), "release")
        >>> made.synthetic["paid"].tolist(), [each.words for each in made.told][1]
        ([True, False], "column 'age': 1 of 2 cells is no number and taken as missing")
    """
    told = [_told("read", "", words) for words in table.attrs.get("notes", ())]
    table = table.set_axis(pd.RangeIndex(len(table)))
    table = _without_index(table, train, told)
    table = _renamed(table, train, form, told)
    table = _put_together(table, train, form, name, told)
    absent = {*train.columns} - {*table.columns}
    own, beside = apart(_filled(table, train, told), train.columns)
    check_columns(list(own.columns), list(train.columns), name)
    refuse_several(own, name)
    own = released(own, {c: each for c, each in form.columns.items() if each.of_months})
    own = own.assign(**{c: at_limits(own[c], each.unit, train[c]) for c, each in form.columns.items() if c in own})
    coarse = {c: found for c in own.columns if (found := coarse_cells(own[c], train[c])) is not None}
    own = released(_masked(own, coarse), form.columns)
    columns, sets = {}, {}
    for place, c in enumerate(own.columns):
        columns[place] = _cells(own[c], train[c], name, told, exact=c not in coarse)
        if (days := whole_days(columns[place], train[c], coarse.get(c))) is not None:
            coarse[c], columns[place] = days, columns[place].mask(days.rows != -1)
        if c in coarse:
            columns[place], sets[c] = _with_sets(columns[place], coarse[c], train[c])
    if coarse:
        words = ", ".join(f"{str(c)!r} ({found.words})" for c, found in coarse.items())
        told.append(_told("coarse", "", f"{COARSE}: {words}; {HONOURED}"))
    release = conform(side_by_side(columns.values(), own.columns, len(own)), train, name, coarse=sets)
    suppressed = absent | {c for c, found in coarse.items() if (found.rows == -2).any()}
    suppressed |= {*empty_columns(release, train)}
    return Release(release, beside=beside, told=tuple(told), sets=ValueSets(sets, frozenset(suppressed)))


def fit_release(release: pd.DataFrame, real: pd.DataFrame) -> pd.DataFrame:
    """Return a release as metrics take it: with the columns and types of the real table, coarse cells as sets.

    What ``evaluate`` does with a file: names and forms of cells are matched, cells such as ``30-39``, ``60+``,
    ``123**`` or ``*`` stand for the values in them, and a column that is absent gives nothing away. Other columns are
    left out. What was done is told as warnings, one a column.

    Args:
        release: The release as it came; texts may be in place of numbers.
        real: The real table.

    Raises:
        InputError: It does not fit.

    Example:
        >>> real = pd.DataFrame({"age": [31, 38, 64], "job": ["cook", "nurse", "cook"]})
        >>> with warnings.catch_warnings(record=True, action="always") as told:
        ...     release = fit_release(pd.DataFrame({"age": ["30-39", "60+"]}), real)
        >>> [(each.low, each.high) for each in ValueSets.of(release).columns["age"].values()]
        [(30.0, 39.0), (60.0, inf)]
        >>> sorted(ValueSets.of(release).suppressed), len(told)
        (['job'], 2)
    """
    for name, table in (("release", release), ("real", real)):
        if not isinstance(table, pd.DataFrame) or not len(table):
            raise InputError(f"{name} must be a pandas DataFrame with rows, got {type(table).__name__}")
    made = fitted(release, real, FileForm(), "release")
    for each in made.told:
        warnings.warn(each.words, stacklevel=2)
    return made.sets.beside(made.synthetic)


def _masked(table: pd.DataFrame, coarse: Mapping[Any, Found]) -> pd.DataFrame:
    """Return a table whose coarse cells are missing."""
    table = table.copy(deep=False)
    for column, found in coarse.items():
        table[column] = table[column].mask(found.rows != -1)
    return table


def _with_sets(cells: pd.Series, found: Found, like: pd.Series) -> tuple[pd.Series, dict[Any, ValueSet]]:
    """Return a column with a value where cells stand for sets, and the set that each such value stands for."""
    which, kind = found.rows[found.rows >= 0], kind_of(like)
    if not found.sets:
        return cells, {}
    if kind == "texts":
        cells = cells.astype(object)
        cells[found.rows >= 0] = np.asarray(found.names, dtype=object)[which]
        return cells, dict(zip(found.names, found.sets, strict=True))
    exact = np.full(len(cells), np.nan) if cells.isna().all() else as_floats(cells)
    values = np.array([*values_for(found.sets, like, exact[np.isfinite(exact)])])
    if kind == "dates":
        zone, dates = getattr(levels_of(like).dtype, "tz", None), pd.Series(pd.NaT, index=cells.index, dtype="M8[ns]")
        dates[found.rows >= 0] = values.astype(np.int64).view("M8[ns]")[which]
        dates = dates if zone is None else dates.dt.tz_localize("UTC").dt.tz_convert(zone)
        filled = dates if cells.isna().all() else cells.fillna(dates)
    else:
        exact[found.rows >= 0] = values[which]
        filled = pd.Series(exact, index=cells.index, name=cells.name)
    return filled, dict(zip(values.tolist(), found.sets, strict=True))


def _told(rule: Rule, column: str, words: str) -> Problem:
    return Problem(rule, column, "note", words)


def _cells(column: pd.Series, like: pd.Series, name: str, told: list[Problem], *, exact: bool) -> pd.Series:
    """Return a column's cells in the kind of the real column's; in its unit, where ``exact`` ones alone tell it."""
    nothing = pd.Series([None] * len(column), dtype=object, name=column.name)
    if column.isna().all():
        return nothing
    answers, marks = _with_no_where_empty(column, like) if exact else (column, [])
    try:
        cells, done = read_to_fit(answers, like)
        done += marks
    except UnreadableError:
        tokens = int(column.notna().sum())
        if exact or tokens > _TOKENS * len(column):
            raise unfit(name, str(column.name), like) from None
        cells, done = nothing, [f"{tokens:,} of {len(column):,} cells are no {kind_of(like)} and taken as missing"]
    if kind_of(like) == "texts":
        cells, further = with_marks_of(cells, levels_of(like))
        done += further
    if exact and kind_of(like) == "numbers" and all(types.is_numeric_dtype(each.dtype) for each in (like, cells)):
        cells, times = in_unit_of(cells, like)
        cells, times = _in_percent_of(cells, like) if times == 1 else (cells, times)
        done += [f"numbers are {times:g} times the real ones and taken in their unit"] * (times != 1)
    if kind_of(like) == "numbers" and {*like.dropna().unique()} == {0, 1} and {*cells.dropna().unique()} == {0, -1}:
        cells, done = cells.abs(), [*done, "-1 is taken for 1, as Access writes yes"]
    if exact and kind_of(like) == "numbers" and _are_noughts_missing(cells, like):
        none = int(cells.eq(0).sum())
        cells, done = (
            cells.mask(cells.eq(0)),
            [*done, f"{none:,} cells of 0 are taken for missing, of which real has none"],
        )
    if done:
        told.append(_told("read", str(column.name), f"column {column.name!r}: {'; '.join(done)}"))
    return cells.reset_index(drop=True)


def _are_noughts_missing(cells: pd.Series, like: pd.Series) -> bool:
    """Tell whether 0 stands for a missing cell: about as often as real ones are missing, of which none is 0."""
    if cells.isna().any() or like.eq(0).any() or cells.eq(0).sum() < _SHOWN:
        return False
    due, got = float(like.isna().mean()), float(cells.eq(0).mean())
    return abs(due - got) <= min(_AS_OFTEN, due / 2)


def _in_percent_of(cells: pd.Series, like: pd.Series) -> tuple[pd.Series, float]:
    """Return percents as shares of 1, or these as percents, and by how many times they were larger; 1 where neither is.

    Nearly all their values but 0 become real ones so, and few are as they are; the shares are not all 0 and 1.

    Example:
        >>> cells, times = _in_percent_of(pd.Series([1, 0.8, 0]), pd.Series([100, 80, 60, 0]))
        >>> cells.tolist(), times
        ([100.0, 80.0, 0.0], 0.01)
    """
    numbers = cells.astype("Float64")
    for times in (0.01, 100.0):
        meant = (numbers * 100 if times < 1 else numbers / 100).round(9)
        shares = numbers if times < 1 else meant
        if not (shares.dropna().between(0, 1).all() and shares.dropna().mod(1).any()):
            continue
        held = pd.DataFrame({"own": numbers, "meant": meant})[numbers.ne(0).fillna(False)].drop_duplicates()
        found = held.isin({*like.dropna().astype(float)}).mean()
        if found["meant"] >= _NEARLY:
            return (meant.astype(float), times) if found["own"] < _MOSTLY else (cells, 1.0)
    return cells, 1.0


def _with_no_where_empty(column: pd.Series, like: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return a column of one answer, such as x, with the other in empty cells, where the real one has both in all."""
    real = like.unique()
    both = len(real) < _SHOWN and {plain(as_text(level)) for level in real} in map(set, PAIRS)  # 1 and 0 among them
    if not both or like.isna().any():
        return column, []
    levels = [level for level in column.dropna().unique() if not isinstance(level, str) or level.strip()]
    said, there = {plain(as_text(level).strip()) for level in levels}, column.isin(levels)
    other = dict(reversed(PAIRS)).get(next(iter(said), ""), "")
    if there.all() or len(said) != 1 or not other:
        return column, []
    cells = column[there].map(as_text).astype(object).reindex(column.index, fill_value=other)
    return cells, ["empty cells are taken for no"]


def _filled(table: pd.DataFrame, train: pd.DataFrame, told: list[Problem]) -> pd.DataFrame:
    """Return a release in which columns that are absent hold missing cells: nothing of them is given away."""
    absent = [c for c in train.columns if c not in table.columns]
    extra = [str(c) for c in table.columns if c not in train.columns]
    others_may_be_it = 2 * len(absent) > train.shape[1] and (extra or len(absent) == train.shape[1])
    alike = (nearest(str(c), [other for other in extra if not _is_of_others(other, str(c))]) for c in absent)
    if not absent or others_may_be_it or any(alike):
        return table  # which is refused
    words = "is absent from the release: it gives nothing away, any value may be its, and it costs utility"
    told += [_told("absent", str(c), f"column {c!r} {words}") for c in absent]
    return table.assign(**{c: pd.Series([None] * len(table), dtype=object, index=table.index) for c in absent})


def _without_index(table: pd.DataFrame, train: pd.DataFrame, told: list[Problem]) -> pd.DataFrame:
    """Return a release without a column of row numbers that pandas wrote, where the real table has none so called."""
    places = [k for k, column in enumerate(table.columns) if _is_index(table.iloc[:, k], column, train)]
    if not places:
        return table
    told.append(_told("index", "", f"column {places[0] + 1} of the release numbers its rows: it is left out"))
    return table.iloc[:, [k for k in range(table.shape[1]) if k != places[0]]]


def _is_index(column: pd.Series, name: Any, train: pd.DataFrame) -> bool:
    return name not in train.columns and str(name) in _INDEX and numbers_rows(column)


def _renamed(table: pd.DataFrame, train: pd.DataFrame, form: FileForm, told: list[Problem]) -> pd.DataFrame:
    """Return a release whose columns are called as the real ones, where one alone can be meant."""
    got = list(table.columns)
    absent = [c for c in train.columns if c not in got]
    known = {*train.columns, *form.left_out}
    others = [k for k, c in enumerate(got) if c not in known]
    pairs = paired_names([str(got[k]) for k in others], [*absent, *(c for c in form.left_out if c not in got)])
    names = {others[place]: due for place, due in pairs.items()}
    words = f"{len(names)} of its columns differ in case, blanks, accents or signs from the name that each is taken for"
    if names:
        told.append(_told("name", "", f"{words}: {_listed(names)}"))
    left = [k for k in others if k not in names]
    longer = _longer_names(table.iloc[:, left], [c for c in absent if c not in names.values()], train)
    if longer:
        words = f"{len(longer)} of its columns have more in their names than the name that each is taken for"
        told.append(_told("name", "", f"{words}: {_listed(longer)}"))
    names |= {left[place]: due for place, due in longer.items()}
    if not names:
        return table
    table = table.copy(deep=False)
    table.columns = [names.get(k, c) for k, c in enumerate(got)]
    return table


def _listed(names: Mapping[int, Any]) -> str:
    return ", ".join(repr(due) for due in [*names.values()][:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _longer_names(others: pd.DataFrame, absent: list[Any], train: pd.DataFrame) -> dict[int, Any]:
    """Return which places hold absent columns under a longer name: syn_age, people.age, age_out.

    One column alone has the name as words of its own, that of no other real column or person (age_of_mother), and cells
    like the real ones, and so for each absent name that is found; or all absent columns, which are several, have theirs
    with the same text before and behind it, and most cells like the real ones where others are called as they are.
    Names of one level (``paid_0``) are put together instead.
    """
    got, real = ([str(name).casefold() for name in table.columns] for table in (others, train))
    frames: dict[tuple[str, str], dict[int, Any]] = {}
    found: dict[int, Any] = {}
    of_level = {c: _names_of_levels(got, str(c).casefold(), train[c]) for c in absent}
    for c in absent:
        for k, (before, has, behind) in enumerate(name.rpartition(str(c).casefold()) for name in got):
            if has and before + behind and not _is_of_others(got[k], str(c)):
                frames.setdefault((before, behind), {})[k] = c
    same = max(frames.values(), key=len, default={})
    if len(same) == len(absent) > 1 and not all(k in of_level[c] for k, c in same.items()):
        others_are = len(absent) < train.shape[1]
        if not others_are or 2 * sum(_are_alike(others.iloc[:, k], train[c]) for k, c in same.items()) >= len(same):
            return same
    for c in absent:
        word = str(c).casefold()
        within = {each for each in real if _has_words(word, each)}
        places = [k for k, name in enumerate(got) if k not in of_level[c] and name != word and _has_words(name, word)]
        places = [k for k in places if not _is_of_others(got[k], word)]
        names = [{each for each in real if _has_words(got[k], each)} for k in places]
        if places and (names != [within] or places[0] in found or not _are_alike(others.iloc[:, places[0]], train[c])):
            return {}  # it may be there, so that no others alone are taken
        found |= dict.fromkeys(places, c)
    return found


def _is_of_others(name: str, column: str) -> bool:
    """Tell whether a name is that of a column of another person, or of another time, by words that ``column`` lacks."""
    return bool(_OF_OTHERS.search(plain(name))) and not _OF_OTHERS.search(plain(column))


def _names_of_levels(names: list[str], word: str, real: pd.Series) -> set[int]:
    """Return which of some names are those of a column and one of its levels, of which there are few."""
    begun, levels = [k for k, name in enumerate(names) if _begins_so(name, word)], levels_of(real).dropna().unique()
    if not begun or _NEARLY * len(levels) > len(names) + 1:
        return set()
    known = {folded(as_text(level)) for level in levels}
    return {k for k in begun if folded(_BEHIND.sub("", names[k][len(word) :])) in known}


def _has_words(name: str, words: str) -> bool:
    return re.fullmatch(rf"(?:.*[\W_])?{re.escape(words)}(?:[\W_].*)?", name, re.DOTALL) is not None


def _are_alike(cells: pd.Series, real: pd.Series) -> bool:
    """Tell whether most cells are real values, or numbers among the real ones."""
    if kind_of(real) == "numbers" and not isinstance(real.dtype, pd.CategoricalDtype):
        return bool(pd.to_numeric(cells, errors="coerce").between(real.min(), real.max()).mean() >= _NEARLY)
    ways = [
        lambda cell: folded(as_text(cell)),
        lambda cell: re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", as_text(cell))),
    ]
    cells = cells.dropna()
    some, levels = (
        cells.iloc[:: len(cells) // _LOOKED_AT + 1].astype(object),
        pd.Series(levels_of(real).dropna().unique()),
    )
    shares = []
    for way in ways:  # the values, and how they are written: 99999
        known = {*levels.map(way)}
        shares.append(some.map(lambda cell, way=way, known=known: way(cell) in known).mean())
    return bool(shares[0] >= _MOSTLY or (shares[1] >= _NEARLY and "9" in "".join(known)))


def _put_together(
    table: pd.DataFrame, train: pd.DataFrame, form: FileForm, name: str, told: list[Problem]
) -> pd.DataFrame:
    """Return a release in which columns of numbers, one a level of a real column that is absent, are that column.

    They are called as the column and a level of it; the level of a row is the one whose number is 1, or the largest.
    """
    for c in [c for c in train.columns if c not in table.columns]:
        known = {*train.columns, *form.left_out}
        others = [k for k, other in enumerate(table.columns) if other not in known and _begins_so(other, c)]
        real = levels_of(train[c]).dropna().unique()
        if not others or _NEARLY * len(real) > len(others) + 1:
            continue
        levels = {folded(as_text(level)): level for level in real} | {"nan": None}  # as pandas calls a missing one
        words = {k: folded(_BEHIND.sub("", str(table.columns[k])[len(str(c)) :])) for k in others}
        places = {k: levels[word] for k, word in words.items() if word in levels}
        lacking = [level for word, level in levels.items() if level is not None and word not in words.values()]
        if len(lacking) == len(real) or len(lacking) > max(1, (1 - _NEARLY) * len(real)):
            continue
        cells = _largest(table.iloc[:, [*places]], [*places.values()], lacking)
        if cells is None and len(places) == 1:  # which may be another thing
            continue
        if cells is None or len({*words.values()}) < len(words):
            rule = f"{name}: column {c!r} must be one column, or columns of 0 and 1, one a level"
            raise InputError(f"{rule}, with one 1 in each row, got others; write it as one, or {way_out(str(c))}")
        told.append(_told("read", str(c), f"column {c!r}: {len(places)} columns, one a level, are put together"))
        table = table.iloc[:, [k for k in range(table.shape[1]) if k not in places]].copy(deep=False)
        table[c] = cells
    return table


def _begins_so(name: Any, column: Any) -> bool:
    return str(name).casefold().startswith(str(column).casefold()) and len(str(name)) > len(str(column))


def _largest(columns: pd.DataFrame, levels: list[Any], lacking: list[Any]) -> pd.Series | None:
    """Return the level whose number is the largest in each row; None where more than a few rows tell no level.

    Such a row has several largest, numbers far from 0 to 1, or a sum far from 1.

    Where all numbers of a row are 0, it is the level that alone has no column, if there is one, or missing.
    """
    as_numbers = [
        columns.iloc[:, k].astype(object).map(lambda cell: _ONES.get(str(cell), cell)) for k in range(len(levels))
    ]
    numbers = np.column_stack([pd.to_numeric(each, errors="coerce").astype(float) for each in as_numbers])
    if lacking and (((numbers < 0) | (numbers > 1)).any() or (np.abs(numbers - 0.5) < _UNSURE).mean() > 1 - _NEARLY):
        return None
    if len(lacking) == 1:
        levels, numbers = [*levels, lacking[0]], np.column_stack([numbers, 1 - np.nansum(numbers, axis=1)])
    present = np.where(np.isnan(numbers), -np.inf, numbers)
    places, most = present.argmax(axis=1), present.max(axis=1)
    alone = (present == most[:, None]).sum(axis=1) == 1
    near = (np.isnan(numbers) | ((numbers >= -_BEYOND) & (numbers <= 1 + _BEYOND))).all(axis=1)
    one = alone & near & (np.abs(np.nansum(numbers, axis=1) - 1) <= _OFF)
    if (one | (most == 0)).mean() < _NEARLY or not one.any():
        return None
    return pd.Series(np.array([*levels, None], dtype=object)[np.where(alone, places, -1)], index=columns.index)
