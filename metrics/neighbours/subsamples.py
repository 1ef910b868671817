"""Subsamples: how near the nearest record of a random part of a table would be, as exact chances.

The nearest of more records is nearer. To compare tables of different sizes, the larger is therefore taken as its mean
random subsample of the size of the smaller. No subsample is drawn: of N records of which c lie within a distance, k
drawn ones hold none of the c with chance C(N - c, k)/C(N, k). So there is no seed, and the order of rows has no
influence.
"""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.intervals.distributions import none_drawn
from synthrisk.metrics.neighbours.brute_force import Search
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.nearest import Direction, Pass, as_sums
from synthrisk.metrics.neighbours.records import Records, Space, SpaceName, mixed, scale, space_of
from synthrisk.metrics.neighbours.search import search
from synthrisk.metrics.tables.tables import Tables


class Chances(NamedTuple):
    """How near the nearest record of a subsample is, beside a given distance of each of n records."""

    nearer: np.ndarray  # (n,) chance that it is nearer
    tied: np.ndarray  # (n,) chance that it is at the same distance


def chances(tables: Tables, direction: Direction, space: SpaceName, distances: np.ndarray, drawn: int) -> Chances:
    """Return the chances for the nearest of ``drawn`` records of the table searched, beside ``distances``, (n,).

    Where a table is searched for its own records, the record itself is not among those drawn from.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 8]}), pd.DataFrame({"x": [1, 4, 6, 7]}))
        >>> found = chances(tables, "real_to_synthetic", "gower", np.array([0.5, 0.5]), 2)
        >>> found.nearer.round(3).tolist(), found.tied.round(3).tolist()
        ([0.5, 0.833], [0.333, 0.167])
    """
    one = Pass(tables, direction, space_of(tables, space))
    table = tables.synthetic if direction.endswith("synthetic") else tables.real
    total = len(table) - (direction in ("real_to_real", "synthetic_to_synthetic"))
    return _chances(one.search, one.queries, one.own, one.space, distances, (total, drawn))


def chances_among(tables: Tables, space: SpaceName, rows: np.ndarray, distances: np.ndarray, drawn: int) -> Chances:
    """Return for each synthetic record the same chances for ``drawn`` of some real records.

    The space is that of all real records, as in ``nearest.synthetic_to_some``.
    """
    where = space_of(tables, space)
    both, own = mixed(tables, where), np.full(len(tables.synthetic), -1)
    searched = search(both.real.take(rows), scale(tables, where, "real"))
    return _chances(searched, both.synthetic, own, where, distances, (len(rows), drawn))


def _chances(
    searched: Search, queries: Records, own: np.ndarray, space: Space, distances: np.ndarray, sizes: tuple[int, int]
) -> Chances:
    below, within = (
        searched.count(queries, own, as_sums(distances * factor, space)) for factor in (1 - TIED, 1 + TIED)
    )
    nearer = 1 - none_drawn(np.where(distances > 0, below, 0), *sizes)
    return Chances(nearer, 1 - none_drawn(within, *sizes) - nearer)
