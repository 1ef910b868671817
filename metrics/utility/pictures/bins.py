"""Bins of a column of numbers or dates: round edges, and at least ten records in each."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.utility.pictures.round_edges import round_grids

_ENOUGH = 4


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins between edges; each holds its lower edge, not its upper one, and the first and the last are open."""

    edges: np.ndarray  # (k,) ascending, for k + 1 bins; nobody has them as value, or at least ten records do
    texts: tuple[str, ...] = ()  # the edges in words
    is_whole: bool = False  # whether all values are whole numbers

    def names(self, has_others: bool) -> list[str]:
        """Return the bins in words; ``has_others`` says that some single numbers are outside all bins."""
        if not self.texts:
            return ["any other value" if has_others else "any value"]
        widths = zip(self.texts, self.texts[1:], np.diff(self.edges), strict=False)
        inner = [low if self.is_whole and width == 1 else f"{low} to {high}" for low, high, width in widths]
        return [f"under {self.texts[0]}", *inner, f"{self.texts[-1]} or more"]


def bins_of(column: pd.Series, values: np.ndarray, entities: np.ndarray | None, most: int, fewest: int) -> Bins:
    """Return the most bins that a grid of round edges makes of some of a column's values.

    No edge is, in words, a value of fewer than ``fewest`` records; where that leaves fewer than ``_ENOUGH`` bins, as in
    a small table, no edge is the value of a single record.

    Args:
        column: The column, for its type.
        values: Floats, none missing, (m,).
        entities: Entity of each value, (m,), or None.
        most: Bins at most, about.
        fewest: Records, or entities, in a bin at least.
    """
    codes, seen = pd.factorize(values, sort=True)
    held = _Held(seen, codes, np.bincount(codes, minlength=len(seen)), entities)
    counts = held.within(np.arange(len(seen)), len(seen))
    is_whole = types.is_numeric_dtype(column.dtype) and bool((seen == np.round(seen)).all())
    best = Bins(np.zeros(0))
    for shared in (fewest, 2):
        for grid in round_grids(column, values, most - 2) if len(values) else ():
            hidden = grid.shows_values & np.isin(grid.edges, seen[counts < shared])
            kept = ~hidden
            kept[kept] = _filled(grid.edges[kept], held, fewest)
            if kept.sum() > len(best.edges):
                texts = [text for text, keep in zip(grid.texts, kept, strict=True) if keep]
                best = Bins(grid.edges[kept], tuple(texts), is_whole)
        if len(best.edges) + 1 >= _ENOUGH:
            break
    return best


@dataclass(frozen=True, eq=False)
class _Held:
    """The distinct values of records, and who has them."""

    seen: np.ndarray  # the values, ascending
    codes: np.ndarray  # (m,) place of each record's value among them
    records: np.ndarray  # how many records have each
    entities: np.ndarray | None  # (m,) entity of each record, or None

    def within(self, parts: np.ndarray, size: int) -> np.ndarray:
        """Return the records, or entities, of each part of the values, by the part of each value."""
        if self.entities is None:  # a sum over values, which are fewer than records
            return np.bincount(parts, self.records, size).astype(int)
        return how_many_with(parts[self.codes], size, self.entities)


def _filled(edges: np.ndarray, held: _Held, fewest: int) -> np.ndarray:
    """Return which edges are left when each bin of too few records is put into its smaller neighbour."""
    kept = np.ones(len(edges), dtype=bool)
    while kept.any():
        counts = held.within(np.searchsorted(edges[kept], held.seen, side="right"), int(kept.sum()) + 1)
        few = int(np.argmin(counts))
        if counts[few] >= fewest:
            break
        beside = [i for i in (few - 1, few + 1) if 0 <= i < len(counts)]
        into = min(beside, key=lambda i: counts[i])
        kept[np.flatnonzero(kept)[max(few, into) - 1]] = False
    return kept
