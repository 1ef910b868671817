"""The tasks that read the table of a study: ``data``, and ``given`` where somebody else has made the split."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api import types
from scipy.stats import chi2_contingency, ks_2samp

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import infer
from synthrisk.metrics.tables.value_types import precision_of
from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.types import of_texts, typed_tables
from synthrisk.tasks.workspace.digests import key_of
from synthrisk.tasks.workspace.files.cell_forms import at_limits, with_marks_of
from synthrisk.tasks.workspace.files.cell_texts import (
    empty_columns,
    paired_names,
    read_as,
    refuse_several,
    released,
    respelled,
    to_numbers,
)
from synthrisk.tasks.workspace.files.coarse_cells import coarse_cells
from synthrisk.tasks.workspace.files.csv import BETWEEN
from synthrisk.tasks.workspace.files.fitted_cells import (
    UnreadableError,
    kind_of,
    levels_of,
    read_to_fit,
    unfit,
)
from synthrisk.tasks.workspace.folders import Place, keep_file
from synthrisk.tasks.workspace.references import Cut, Table, store
from synthrisk.tasks.workspace.store import save_array
from synthrisk.tasks.workspace.verb import verb

_DUE = 20  # records from which a median tells of a unit
_SHARED, _OFTEN, _KEY = 0.05, 5, 5  # share of control records, records a value, letters of a key
_DAY = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
_FEW = 0.05  # share of the control cells that may stand for several values
_OTHERS, _SELDOM = 0.1, 0.001  # how far distributions of other people are apart, and how often by chance
_UNIT, _APART = 10, 0.5  # times as large, and the distance of two distributions, from which the unit is another one


@verb("data")
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table in the workspace ``folder``; return where it is.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    frame = read(settings.source, settings.missing, settings.columns, coded=True)
    people, left_out = typed_tables(frame, settings, split, seed)
    told = tuple(of_texts(people, settings))
    return replace(store(people, Path(folder), left_out), told=told)


@verb("data")
def given(data: Data, control: str | None, seed: int, workspace: str) -> tuple[Table, Cut]:
    """Read, type and store real and control records as one table, and who of them is control.

    Control records are read to fit the real ones, as releases are; ``told`` of the table says what had to be done, and
    which empty rows of the real one are left out.
    """
    members = read(data.source, data.missing, data.columns, coded=control is None)
    parts = [members]
    told: list[str] = []
    if control is not None:
        held_out, told = _with_real_names(read(control, data.missing, data.columns), members, data)
        if len(held_out) < 2:
            raise InputError(f"control must hold at least two records, got {len(held_out)}")
        if data.identifier in members:
            both = int(held_out[data.identifier].dropna().isin(members[data.identifier]).sum())
            if both:
                raise InputError(
                    f"control must hold no person of real, as column {data.identifier!r} tells them apart, got {both} "
                    "records of such; hold out all records of a person together, or none"
                )
        fitted, done = _read_to_fit(members, held_out.reindex(columns=members.columns), data, control)
        _refuse_codes_for_labels(*fitted)
        parts, told = _at_one_precision(fitted), told + done
    told += [note for note in members.attrs.get("notes", ()) if note.endswith(BETWEEN)]
    frame = members if control is None else pd.concat(parts, ignore_index=True)
    people, left_out = typed_tables(frame, data, Split(holdout=0.5, repetitions=1), seed)
    if control is not None:
        _refuse_empty(held_out, members[list(people.columns)])
        told += _of_other_people(people, len(members), data) + _of_same_people(members, held_out, data)
    stored = store(people, Path(workspace), left_out)
    table = replace(stored, told=(*of_texts(people, data), *told))
    parts_of = np.where(np.arange(len(frame)) < len(members), -1, 0).astype(np.int16)[None, :]
    digest = key_of("given", table.digest, len(members))
    path = keep_file(Path(workspace) / "split" / f"{digest}.npy", lambda draft: save_array(parts_of, draft))
    return table, Cut(Place(path), digest, 1, 1, float("nan"))


def _with_real_names(held_out: pd.DataFrame, members: pd.DataFrame, data: Data) -> tuple[pd.DataFrame, list[str]]:
    """Return control records with the columns of the real ones, which may be called nearly so, and what was done.

    Names of the control file are not told, nor those of a real table without a header: they may be cells.
    """
    absent = [c for c in members.columns if c not in held_out.columns and c not in data.drop]
    others = [c for c in held_out.columns if c not in members.columns]
    pairs = paired_names([str(c) for c in others], absent)
    names = {others[place]: due for place, due in pairs.items()}
    absent = [c for c in absent if c not in names.values()]
    extra = [c for c in others if c not in names]
    if absent:
        told = absent if _has_its_roles(members, data) else len(absent)
        rule = "control must have the columns of real"
        raise InputError(f"{rule}, got {told!r} absent and {len(extra)} others; rename them, or use --drop")
    done = []
    if names:
        shown = ", ".join(map(repr, names.values())) if _has_its_roles(members, data) else f"{len(names)} columns"
        done.append(f"control: names differ in case, blanks or accents from the name that each is taken for: {shown}")
    if extra:
        more = "1 column that real has not is" if len(extra) == 1 else f"{len(extra)} columns that real has not are"
        done.append(f"control: {more} left out")
    return held_out.drop(columns=extra).rename(columns=names), done


def _read_to_fit(
    members: pd.DataFrame, held_out: pd.DataFrame, data: Data, control: str
) -> tuple[list[pd.DataFrame], list[str]]:
    """Return real and control records, the cells of these as those of the real ones are, and what had to be done."""

    @cache
    def as_written() -> pd.DataFrame:
        return _with_real_names(read(control, data.missing, data.columns, as_texts=True), members, data)[0]

    refuse_several(held_out.drop(columns=data.drop, errors="ignore"), "control")
    own, fitted, told = members.copy(deep=False), held_out.copy(deep=False), []
    for name in (c for c in members.columns if c not in (*data.drop, data.identifier)):
        column, other = members[name], held_out[name]
        kinds = [levels_of(each).dtype.kind for each in (column, other)]
        are_alike = kinds[0] == kinds[1] and kinds[0] in "iubM" and levels_of(column) is column
        if not other.isna().all() and not are_alike:
            try:
                real = infer(_read(column, name, data), code=name in data.categorical)
            except InputError:  # which ``typed`` tells with all else that is wrong
                continue
            if kinds == ["i", "f"] and (other % 1 != 0).any():  # 12.340, where a point stands between thousands
                other = as_written()[name]
            cells, done = _fitted(other, real, name, data)
            if done or kind_of(real) != "texts" or kinds[1] in "iuf":
                own[name], fitted[name] = real.array, cells.array
            if done:
                told.append(f"control: column {name!r}: {'; '.join(done)}")
        _refuse_another_unit(own[name], fitted[name], name)
    return [own, fitted], told


def _fitted(column: pd.Series, real: pd.Series, name: str, data: Data) -> tuple[pd.Series, list[str]]:
    """Return a column of the control records read to fit a real one, and what had to be done."""
    column = released(column.to_frame(), {c: each for c, each in data.columns.items() if each.of_months})[name]
    column = at_limits(column, data.columns[name].unit, real) if name in data.columns else column
    coarse, told = None if kind_of(real) == "texts" else coarse_cells(column, real), []
    if coarse is not None and (is_coarse := coarse.rows >= 0).any():
        if is_coarse.mean() > _FEW:  # they match no exact value: members would stand out beside such people
            raise InputError(
                f"control: column {name!r} must hold values as exact as those of the real table, got {coarse.words}; "
                "write exact ones, or leave it out (--drop)"
            )
        column, told = column.mask(is_coarse), [f"{coarse.words} are taken as missing"]
    column = released(column.to_frame(), data.columns)[name]
    try:
        cells, done = read_to_fit(column, real)
    except UnreadableError:
        raise unfit("control", name, real) from None
    if kind_of(real) == "texts":
        cells, marks = with_marks_of(cells, levels_of(real))
        cells, more = respelled(cells, real)
        done += marks + more
    return cells, told + done


def _refuse_another_unit(real: pd.Series, control: pd.Series, name: str) -> None:
    """Members would be nearer to any release than people whose amounts are in another unit."""
    if not (_counts(real) and _counts(control)):
        return
    own, other = (each.dropna().to_numpy(float) for each in (real, control))
    if min(len(own), len(other)) < _DUE or np.median(own) * np.median(other) <= 0:
        return
    times = np.median(other) / np.median(own)
    if not 1 / _UNIT < times < _UNIT and ks_2samp(own, other).statistic > _APART:
        raise InputError(
            f"control: column {name!r} must be in the unit of the real table, got numbers of which the middle one is "
            f"{times:.3g} times the real one; write them in that unit, or leave it out (--drop)"
        )


def _of_other_people(people: pd.DataFrame, members: int, data: Data) -> list[str]:
    """Say which columns tell control records from members: then any release is nearer to one of the two.

    Columns are told whose two distributions are apart by more than ``_OTHERS``, which happens to one in a thousand
    tables whose control records were held out at random. An entity counts once, with its first record.
    """
    once = ~people[data.identifier].duplicated().to_numpy() if data.identifier in people else np.full(len(people), True)
    is_member = np.arange(len(people)) < members
    columns = people.columns.drop([data.identifier], errors="ignore")
    apart = {}
    for name in columns:
        distance, chance = _apart(*(people.loc[once & side, name].dropna() for side in (is_member, ~is_member)))
        if distance > _OTHERS and chance < _SELDOM / len(columns):
            apart[str(name)] = distance
    if not apart:
        return []
    most = sorted(apart, key=lambda name: -apart[name])
    many = f"{len(most)} column{'s' * (len(most) > 1)}"
    which = f": {', '.join(map(repr, most[:3]))}{' and others' * (len(most) > 3)}" * _has_its_roles(people, data)
    return [
        f"control records are other people than the real ones, by {many}{which} (distributions apart by up to "
        f"{apart[most[0]]:.2f}, where 0 is alike and 1 is the most): members may be told by that, whatever was "
        "released; hold control records out at random"
    ]


def _of_same_people(members: pd.DataFrame, held_out: pd.DataFrame, data: Data) -> list[str]:
    """Say which columns that are left out hold keys, such as a patient's number, that real and control records share.

    A key is a text with ``@``, or of five letters and digits or more, that names no day and that few records share.
    """
    told = []
    for name in (c for c in data.drop if c in members and c in held_out):
        own, other = (table[name].dropna().astype(str).str.strip() for table in (members, held_out))
        shared = int(other.isin(set(own)).sum())
        if shared < _SHARED * len(held_out) or len(own) > _OFTEN * own.nunique():
            continue
        keys = own.str.contains("@") | (own.str.contains(r"\d") & (own.str.len() >= _KEY) & ~own.str.match(_DAY))
        if keys.mean() > 1 - _FEW:
            which = repr(str(name)) if _has_its_roles(members, data) else "that is left out"
            told.append(
                f"control: {shared:,} of {len(held_out):,} records have a value of column {which} that a real record "
                f"has; if it tells people apart, both are of the same people, which hides what was memorized: name it "
                "with --identifier, and hold out all records of a person together"
            )
    return told


def _apart(own: pd.Series, other: pd.Series) -> tuple[float, float]:
    """Return how far two distributions are apart, from 0 to 1, and how often they would be by chance.

    Numbers and dates: Kolmogorov and Smirnov's distance and test; else the total variation of the levels, of which the
    rarest are one, and the chi-squared test.
    """
    if min(len(own), len(other)) < _DUE:
        return 0.0, 1.0
    if _counts(own) or types.is_datetime64_any_dtype(own.dtype):
        numbers = [each.to_numpy(dtype="int64" if each.dtype.kind == "M" else float) for each in (own, other)]
        found = ks_2samp(*numbers, method="asymp")
        return float(found.statistic), float(found.pvalue)
    table = pd.DataFrame({"own": own.value_counts(), "other": other.value_counts()})
    counts = table.to_numpy(dtype=float, na_value=0.0)
    rare = counts.sum(axis=1) < _DUE
    levels = np.vstack([counts[~rare], counts[rare].sum(axis=0)])
    levels = levels[levels.sum(axis=1) > 0]
    if len(levels) < 2:
        return 0.0, 1.0
    return float(np.abs(np.diff(levels / levels.sum(axis=0), axis=1)).sum() / 2), float(chi2_contingency(levels).pvalue)


def _counts(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)


def _read(column: pd.Series, name: str, data: Data) -> pd.Series:
    return read_as(column, data.columns[name]) if name in data.columns else column


def _has_its_roles(members: pd.DataFrame, data: Data) -> bool:
    """Tell whether all columns that the study names are there: else the names may be cells."""
    known = [] if data.quasi_identifiers == "*" else data.quasi_identifiers
    return {*known, *data.guessed, *filter(None, [data.identifier])} <= set(members.columns)


def _refuse_codes_for_labels(members: pd.DataFrame, held_out: pd.DataFrame) -> None:
    """Value labels are taken where all codes have one, which may be so in one file alone: nothing would match then."""
    for name in (c for c in members.columns if c in held_out.columns):
        columns = [part[name] for part in (members, held_out)]
        labels = [_are_labels(each) for each in columns]
        numbers = [types.is_numeric_dtype(each.dtype) and each.notna().any() for each in columns]
        if (labels[0] and numbers[1]) or (numbers[0] and labels[1]):
            due, got = ("labels", "numbers") if labels[0] else ("numbers", "labels")
            raise InputError(f"control must hold {due} in column {name!r} as real does, got {got}")


def _are_labels(column: pd.Series) -> bool:
    """Tell whether a column holds texts, none of which is a number."""
    texts = levels_of(column).dropna()
    return kind_of(column) == "texts" and len(texts) > 0 and not to_numbers(texts, errors="coerce").notna().any()


def _at_one_precision(parts: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return tables whose numbers are singles in all of them where they are in one: no control would equal a member."""
    parts = [part.copy(deep=False) for part in parts]
    for name in parts[0].columns:
        columns = [part[name] for part in parts]
        if not all(types.is_numeric_dtype(column.dtype) for column in columns):
            continue
        precision = min(map(precision_of, columns), key=lambda dtype: dtype.itemsize)
        if precision != np.float64:
            for part, column in zip(parts, columns, strict=True):
                part[name] = column.to_numpy(dtype=float, na_value=np.nan).astype(precision)
    return parts


def _refuse_empty(held_out: pd.DataFrame, members: pd.DataFrame) -> None:
    """Refuse control records with an empty column."""
    if empty := empty_columns(held_out, members):
        raise InputError(f"control must hold values in column {empty[0]!r}, as real does, got missing cells only")
