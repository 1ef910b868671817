"""A release and its real records as they are where a disguise is taken off: by equal cells, and by order alone."""

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.tables import Tables

_PARTS = 20  # of a numeric column, as many records each


def by_cells(tables: Tables) -> Tables:
    """Return tables of codes: numbers cut into 20 parts of equal counts, so that cells are equal or not.

    The distance of two records is then the share of cells that differ, so that a copy is found if one column was drawn
    anew or a third of its cells emptied. A cell that is missing in the release alone equals none.

    Example:
        >>> tables = Tables(pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}), pd.DataFrame({"x": [1.1], "y": [None]}))
        >>> by_cells(tables).synthetic.to_numpy().tolist()
        [['2', 'empty']]
    """
    sides: list[list[pd.Series]] = [[], []]
    for column in tables.columns:
        cells = _codes(tables, column)
        for side, (codes, missing) in zip(sides, cells, strict=True):
            texts = pd.Series(codes.astype(str), dtype=object)
            side.append(texts.mask(missing, "empty" if side is sides[1] and not cells[0][1].any() else "missing"))
    return _tables(tables, *sides)


def by_order(tables: Tables) -> Tables:
    """Return tables of ranks within each table: numbers by size, levels by how many records have them.

    Numbers that were moved or stretched keep their order, and levels that were renamed keep their counts.

    Example:
        >>> real = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "a"]})
        >>> found = by_order(Tables(real, pd.DataFrame({"x": [7, 9], "y": ["b", "b"]})))
        >>> found.real.equals(found.synthetic)
        True
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
    return _tables(tables, *sides)


def _codes(tables: Tables, column: str) -> list[tuple[np.ndarray, np.ndarray]]:  # of each table codes, and missing
    if tables.kind(column) == "numeric":
        real, released = tables.floats(column)
        inner = np.linspace(0, 1, _PARTS + 1)[1:-1]
        known = real[~np.isnan(real)]
        edges = np.unique(np.quantile(known, inner)) if len(known) else np.empty(0)
        return [(np.searchsorted(edges, each, side="right"), np.isnan(each)) for each in (real, released)]
    codes = tables.codes([column]).tables
    frames = (tables.real, tables.synthetic)
    return [(own, frame[column].isna().to_numpy()) for own, frame in zip(codes, frames, strict=True)]


def _tables(tables: Tables, real: list[pd.Series], released: list[pd.Series]) -> Tables:
    first, second = (pd.concat(side, axis=1).set_axis(tables.columns, axis=1) for side in (real, released))
    return Tables(first, second, groups=tables.groups)
