"""How near real records are to a release where a disguise is taken off: by equal cells, and by order alone."""

import numpy as np
import pandas as pd

from synthrisk.metrics.neighbours.differing_cells import fewest_differing
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.tables.tables import Tables

_PARTS = 20  # of a numeric column, as many records each


def by_cells(tables: Tables, rows: np.ndarray) -> np.ndarray:
    """Return the share of cells in which some real records differ from the released row most like each, (rows,).

    Numbers are cut into 20 parts of equal counts, so that cells are equal or not: a copy is found if one column was
    drawn anew or a third of its cells emptied. A missing cell equals a missing one.

    Args:
        tables: Real records, n, and the release.
        rows: Positions of the real records that are looked at.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 9.0], "y": ["a", "b"]}), pd.DataFrame({"x": [1.2], "y": ["a"]})
        >>> by_cells(Tables(real, release), np.arange(2)).tolist()
        [0.0, 1.0]
    """
    cells = [_codes(tables, column) for column in tables.columns]
    return fewest_differing([real[rows] for real, _ in cells], [released for _, released in cells]) / len(cells)


def by_order(tables: Tables, rows: np.ndarray) -> np.ndarray:
    """Return the ``gower`` distance of some real records to the nearest released row, by ranks alone, (rows,).

    Numbers are ranked by size within each table, levels by how many records have them: numbers that were moved or
    stretched keep their order, and levels that were renamed keep their counts.

    Args:
        tables: Real records, n, and the release.
        rows: Positions of the real records that are looked at.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 2.0], "y": "a"}), pd.DataFrame({"x": [7, 9], "y": "b"})
        >>> by_order(Tables(real, release), np.arange(2)).tolist()
        [0.0, 0.0]
    """
    sides: list[list[pd.Series]] = [[], []]
    for column in tables.columns:
        if tables.kind(column) == "numeric":
            for side, values in zip(sides, tables.floats(column), strict=True):
                side.append(pd.Series(values).rank(pct=True))
        else:
            for side, codes in zip(sides, tables.codes([column]).tables, strict=True):
                counts = np.bincount(codes)
                order = np.unique(-counts[counts > 0])  # of equally frequent levels none comes first
                side.append(pd.Series(np.searchsorted(order, -counts[codes]).astype(str), dtype=object))
    real, released = (pd.concat(side, axis=1).set_axis(tables.columns, axis=1) for side in sides)
    return real_to_synthetic(Tables(real.iloc[rows], released), "gower").distances[:, 0]


def _codes(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:  # of each table; missing is the last
    if tables.kind(column) != "numeric":
        real, released = tables.codes([column]).tables
        return real, released
    floats = tables.floats(column)
    known = floats[0][~np.isnan(floats[0])]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _PARTS + 1)[1:-1])) if len(known) else np.empty(0)
    real, released = (np.where(np.isnan(each), len(edges) + 1, edges.searchsorted(each, "right")) for each in floats)
    return real, released
