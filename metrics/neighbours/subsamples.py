"""What the nearest record of a random subsample would be: exact chances, in place of draws.

Which of two tables holds the nearest record depends on how many records each has. Of a table drawn down to the
other's size, by hypergeometric chances: no record within a distance is drawn with chance C(N - c, k)/C(N, k),
N records of which c are within it, k drawn. So the mean over all subsamples is known without drawing any: it has
no seed, and no order of rows moves it.
"""

from typing import NamedTuple

import numpy as np

from synthrisk.metrics.intervals.draws import none_drawn
from synthrisk.metrics.neighbours.nearest import Direction, Pass, as_sums
from synthrisk.metrics.neighbours.records import Records, mixed, scale
from synthrisk.metrics.neighbours.search import Search, search
from synthrisk.metrics.neighbours.spaces import Space, SpaceName, space_of
from synthrisk.metrics.neighbours.ties import TIED
from synthrisk.metrics.tables.tables import Tables


class Chances(NamedTuple):
    """How the nearest record of a subsample lies to a given distance, of n records."""

    nearer: np.ndarray  # (n,) chance that it is nearer
    tied: np.ndarray  # (n,) chance that it is at the same distance


def chances(tables: Tables, direction: Direction, space: SpaceName, distances: np.ndarray, drawn: int) -> Chances:
    """Return how the nearest of ``drawn`` records of the table searched would lie to ``distances``, (n,).

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
    """Return how the nearest to each synthetic record, of ``drawn`` of some real records, would lie to ``distances``.

    The space is that of all real records, as it is for ``neighbours.synthetic_to_some``.
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
