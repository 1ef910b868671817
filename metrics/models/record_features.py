"""Rows in canonical order as features: for trees, and for networks."""

import numpy as np

from synthrisk.metrics.models.features import Design
from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables, in_order


def ordinal_features(tables: Tables) -> Design:
    """Return numerics in standard deviations (NaN where missing) and levels as canonical ranks, for trees.

    Trees take 32-bit floats: standardised, numbers far from 0 keep their differences.
    """
    levels = canonical(tables).levels
    columns = [levels[c] if c in levels else _standardised(tables, c) for c in in_order(tables.columns)]
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


def _standardised(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    real, synthetic = tables.floats(column)
    mean, spread = center_and_spread(np.sort(real))
    return (real - mean) / (spread or 1.0), (synthetic - mean) / (spread or 1.0)
