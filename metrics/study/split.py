"""Who is a member and who is held out: folds or a holdout, cut anew in each repetition."""

import zlib
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import joint_codes, row_codes
from synthrisk.metrics.tables.entities import record_groups
from synthrisk.metrics.tables.kinds import as_floats, kind

NEVER_HELD_OUT = -1
_KEY = zlib.crc32(b"split")
_LEVELS = 10  # parts of a numeric stratum


class SplitSettings(Protocol):
    """What a split is asked to be, as ``synthrisk.conf.study.Split`` describes it."""

    folds: int | None
    holdout: float | None
    repetitions: int
    stratify: str | None
    duplicates: Literal["together", "report"]


def split_table(frame: pd.DataFrame, split: SplitSettings, identifier: pd.Series | None, seed: int) -> np.ndarray:
    """Return the fold in which each record is held out, of shape (R, n), int16.

    K folds are numbered from 0; with a holdout, 0 is held out and -1 always member. Records that belong
    together (one entity, and with ``duplicates: together`` exact duplicates) are held out together. The sizes
    of folds differ by at most 1, overall and within each stratum; with groups, by at most the largest group.
    A holdout misses its share by half a record, or half the smallest group.

    Strata are the levels of ``split.stratify`` (tenths where it is numeric; missing is a level; a group
    counts for its first record's level). Levels with fewer than K groups are put together, and with the
    rarest other level where they are fewer than K even so.

    Args:
        frame: The table without its identifier.
        split: Number of folds or the held-out share, repetitions, stratum, treatment of duplicates.
        identifier: Entity of each record; a missing one is an entity of its own.
        seed: Root seed; repetition r depends on it and on r alone, not on the number of repetitions.

    Raises:
        InputError: There are fewer records or entities than folds, or a side has fewer than 2 records.

    Example:
        >>> from types import SimpleNamespace
        >>> table = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6]})
        >>> thirds = SimpleNamespace(folds=3, holdout=None, repetitions=2, stratify=None, duplicates="report")
        >>> parts = split_table(table, thirds, None, seed=0)
        >>> parts.shape, np.bincount(parts[0]).tolist()
        ((2, 6), [2, 2, 2])
    """
    stratum = None if split.stratify is None else _in_parts(frame[split.stratify])
    groups = record_groups(frame, identifier, split.duplicates == "together")
    levels = None if stratum is None else joint_codes([stratum])[0].tables[0]
    _refuse_too_few(len(frame), int(groups.max(initial=-1)) + 1, split)
    strata = _strata(levels, groups, split.folds or 1)
    parts = np.empty((split.repetitions, len(frame)), dtype=np.int16)
    for repetition in range(split.repetitions):
        rng = np.random.default_rng(np.random.SeedSequence([seed, _KEY, repetition]))
        if split.folds is not None:
            parts[repetition] = _folds(groups, strata, split.folds, rng)
        else:
            parts[repetition] = _holdout(groups, strata, split.holdout or 0.0, rng)
    return parts


def twins_share(frame: pd.DataFrame, parts: np.ndarray) -> float:
    """Return the share of records with an exact twin on the other side, mean over all releases."""
    twins, shares = row_codes(frame), []
    total = np.bincount(twins)
    for part in parts:
        for fold in range(int(part.max()) + 1):
            out = np.bincount(twins[part == fold], minlength=len(total))
            shares.append(total[(out > 0) & (out < total)].sum() / len(frame))
    return float(np.mean(shares))


def _refuse_too_few(rows: int, groups: int, split: SplitSettings) -> None:
    what = f"{groups} groups of records that stay together" if groups < rows else f"{rows} records"
    if split.folds is not None and groups < split.folds:
        raise InputError(f"split.folds must be at most the number of groups, got {split.folds} folds for {what}")
    if split.folds is not None and split.folds > np.iinfo(np.int16).max:
        raise InputError(f"split.folds must be at most {np.iinfo(np.int16).max}, got {split.folds}")


def _in_parts(column: pd.Series) -> pd.Series:
    """Return what a table is stratified by: the tenths of a numeric column, any other as it is."""
    if kind(column) != "numeric" or column.nunique() <= _LEVELS:
        return column.reset_index(drop=True)
    return pd.Series(pd.qcut(as_floats(column), _LEVELS, labels=False, duplicates="drop"), name=column.name)


def _strata(levels: np.ndarray | None, groups: np.ndarray, least: int) -> np.ndarray:
    """Return the stratum of each group, as codes, from the level of each record; it has at least ``least`` groups."""
    if levels is None:
        return np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    levels = pd.factorize(levels[np.unique(groups, return_index=True)[1]])[0]
    sizes = np.bincount(levels)
    by_size = np.argsort(sizes, kind="stable")
    rare = int(np.searchsorted(sizes[by_size], least))  # levels that are too small
    while 0 < rare < len(sizes) and sizes[by_size[:rare]].sum() < least:
        rare += 1
    levels[np.isin(levels, by_size[:rare])] = by_size[0]
    return pd.factorize(levels)[0]


def _folds(groups: np.ndarray, strata: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each record: in each stratum, GroupKFold on groups in random order.

    GroupKFold(shuffle=True) would balance the number of groups instead of records, and StratifiedGroupKFold
    takes 5 s for 32,000 groups.
    """
    from sklearn.model_selection import GroupKFold  # commands that split nothing need not wait for it

    records, filled = strata[groups], np.zeros(folds, dtype=np.int64)
    fold_of = np.empty(len(groups), dtype=np.int16)
    renamed = rng.permutation(len(strata))[groups]
    for stratum in rng.permutation(strata.max() + 1):
        rows = np.flatnonzero(records == stratum)
        cuts = GroupKFold(folds).split(rows, groups=renamed[rows])
        parts = sorted((rows[out] for _, out in cuts), key=len, reverse=True)
        for fold, part in zip(np.argsort(filled, kind="stable"), parts, strict=True):  # most to the emptiest
            fold_of[part] = fold
            filled[fold] += len(part)
    return fold_of


def _holdout(groups: np.ndarray, strata: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return 0 for the held-out records: of each stratum, groups in random order until its share is met.

    scikit-learn's splitters count groups where records must be counted, or cannot stratify groups. What one
    stratum misses, its groups being indivisible, the next makes up.
    """
    sizes, out, owed = np.bincount(groups), np.zeros(len(strata), dtype=bool), 0.0
    for stratum in rng.permutation(strata.max(initial=-1) + 1):
        order = rng.permutation(np.flatnonzero(strata == stratum))
        owed += share * int(sizes[order].sum())
        for group, size in zip(order.tolist(), sizes[order].tolist(), strict=True):
            if abs(owed - size) < abs(owed):
                out[group] = True
                owed -= size
    held = int(sizes[out].sum())
    if not 2 <= held <= len(groups) - 2:
        got = f"{share}, which holds out {held} of {len(groups)} records"
        raise InputError(f"split.holdout must leave at least 2 records on each side, got {got}")
    return np.where(out[groups], 0, NEVER_HELD_OUT).astype(np.int16)
