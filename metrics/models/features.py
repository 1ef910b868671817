"""Columns, and rows in canonical order, as features: ordinal for trees, one-hot for linear models and networks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.order import canonical, level_order
from synthrisk.metrics.tables.tables import Tables, in_order

UNSEEN = -1


class Design(NamedTuple):
    """Feature matrices of the two tables, in the same columns."""

    real: np.ndarray  # (n, p) float64
    synthetic: np.ndarray  # (m, p) float64


def level_codes(tables: Tables, column: str, among: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a categorical column as codes in ``level_order``, and the levels.

    The levels are those of the synthetic table. A real value that the release does not contain gets the code
    ``UNSEEN``. The codes depend neither on the order of rows and categories nor on names of levels. ``among``, in which
    ``column`` is, are the columns that tell equally common levels apart.

    Returns:
        Codes of the real table, codes of the synthetic table, levels.
    """
    joint = tables.codes([column])
    real, synthetic = joint.tables
    order, present = level_order(tables, among)[column], np.flatnonzero(np.bincount(synthetic))
    present = present[np.argsort(order[present])]
    rank = np.full(joint.size, UNSEEN, dtype=np.int64)
    rank[present] = np.arange(len(present))
    return rank[real], rank[synthetic], tables.levels(column)[present]


def ordinal(tables: Tables, known: Sequence[str], among: Sequence[str]) -> Design:
    """Return numerics as they are (NaN where missing) and categoricals as codes: see ``level_codes``."""
    is_numeric = {c: tables.kind(c) == "numeric" for c in in_order(known)}
    pairs = [_floats(tables, c) if numeric else level_codes(tables, c, among)[:2] for c, numeric in is_numeric.items()]
    return Design(*(np.column_stack(side).astype(float) for side in zip(*pairs, strict=True)))


def _floats(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a numeric column, zeros if the release has no value of it: some models fail there."""
    real, synthetic = tables.floats(column)
    return (np.zeros(len(real)), np.zeros(len(synthetic))) if np.isnan(synthetic).all() else (real, synthetic)


def one_hot(tables: Tables, known: Sequence[str], among: Sequence[str]) -> Design:
    """Return standardised numerics and centred dummies, for linear models.

    A numeric is (v - mean)/sd of the synthetic table, 0 where missing, with a column "is missing" if the
    release has missing cells. A level is a dummy minus its share, the first dropped; an unseen level is
    0 everywhere, i.e. it sits at the release's average.
    """
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    for column in in_order(known):
        if tables.kind(column) == "numeric":
            blocks.extend(_standardised(tables, column))
        else:
            blocks.extend(_dummies(*level_codes(tables, column, among)))
    if not blocks:  # every quasi-identifier is constant in the release: the model has an intercept only
        blocks = [(np.zeros(len(tables.real)), np.zeros(len(tables.synthetic)))]
    return Design(*(np.column_stack(side) for side in zip(*blocks, strict=True)))


def _standardised(tables: Tables, column: str) -> list[tuple[np.ndarray, np.ndarray]]:
    real, synthetic = tables.floats(column)
    seen = synthetic[~np.isnan(synthetic)]
    mean, spread = center_and_spread(np.sort(synthetic))  # sorted: the same bits in any order of rows
    blocks = []
    if spread > 0:
        blocks.append((np.nan_to_num((real - mean) / spread), np.nan_to_num((synthetic - mean) / spread)))
    if 0 < len(seen) < len(synthetic):
        blocks.append((np.isnan(real).astype(float), np.isnan(synthetic).astype(float)))
    return blocks


def _dummies(real: np.ndarray, synthetic: np.ndarray, levels: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    blocks = []
    for code in range(1, len(levels)):
        share = np.mean(synthetic == code)
        blocks.append((np.where(real == UNSEEN, 0.0, (real == code) - share), (synthetic == code) - share))
    return blocks


def ordinal_features(tables: Tables) -> Design:
    """Return numerics in standard deviations (NaN where missing) and levels as canonical ranks, for trees.

    Trees take 32-bit floats: standardised, numbers far from 0 keep their differences.
    """
    levels = canonical(tables).levels
    columns = [levels[c] if c in levels else _standardised_column(tables, c) for c in in_order(tables.columns)]
    return Design(*(np.column_stack(side).astype(float) for side in zip(*columns, strict=True)))


def one_hot_features(tables: Tables) -> Design:
    """Return numerics (NaN where missing, and a column that says so) and a 0/1 column a level, for networks."""
    levels, blocks = canonical(tables).levels, []
    for column in in_order(tables.columns):
        if column in levels:
            each = np.arange(max(side.max() for side in levels[column]) + 1)
            blocks.append([(side[:, None] == each).astype(float) for side in levels[column]])
            continue
        cells = tables.floats(column)
        blocks.append([side[:, None] for side in cells])
        if any(np.isnan(side).any() for side in cells):
            blocks.append([np.isnan(side)[:, None].astype(float) for side in cells])
    return Design(*(np.column_stack(side) for side in zip(*blocks, strict=True)))


def _standardised_column(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    real, synthetic = tables.floats(column)
    mean, spread = center_and_spread(np.sort(real))
    return (real - mean) / (spread or 1.0), (synthetic - mean) / (spread or 1.0)
