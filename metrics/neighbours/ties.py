"""Ties: all records at the same smallest distance of a record, for measures that average over them."""

from typing import NamedTuple, Unpack

import numpy as np

from synthrisk.metrics.neighbours.nearest import Direction, Options, Pass, as_sums
from synthrisk.metrics.neighbours.spaces import SpaceName, space_of
from synthrisk.metrics.tables.tables import Tables

TIED = 1e-9  # distances that differ by a smaller share are equal: sums over other columns differ by rounding


class Ties(NamedTuple):
    """The records nearest to query i are ``rows[starts[i]:starts[i + 1]]``, ascending."""

    starts: np.ndarray  # (n + 1,)
    rows: np.ndarray  # positions in the table searched


def tie_counts(
    tables: Tables,
    direction: Direction,
    space: SpaceName,
    *,
    queries: np.ndarray | None = None,
    k: int = 1,
    **options: Unpack[Options],
) -> np.ndarray:
    """Return how many records lie at the smallest distance of each record, (n,); with k > 1 up to the k-th smallest.

    ``queries`` are positions of records, all unless given: the counts of a few are found without those of the others.

    Raises:
        InputError: An argument breaks its rule, or there are fewer records to be found.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 4]}))
        >>> tie_counts(tables, "real_to_synthetic", "gower").tolist()
        [1, 2]
    """
    one = Pass(tables, direction, space_of(tables, space, **options))
    if queries is None:
        return _counts(one, k)
    return one.search.count(one.queries.take(queries), one.own[queries], _limits(one, k)[queries])


def ties(
    tables: Tables,
    direction: Direction,
    space: SpaceName,
    *,
    queries: np.ndarray | None = None,
    k: int = 1,
    **options: Unpack[Options],
) -> Ties:
    """Return all records at the smallest distance of each record; with k > 1 those not farther than the k-th nearest.

    ``queries`` are positions of records, all unless given; the other arguments are those of ``tie_counts``. With few
    columns there can be n x m ties (``tie_counts`` says how many). To bound memory, pass distinct records as
    ``queries``, or pass them in batches.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 4]}))
        >>> ties(tables, "real_to_synthetic", "gower")
        Ties(starts=array([0, 1, 3]), rows=array([0, 1, 2]))
    """
    one = Pass(tables, direction, space_of(tables, space, **options))
    counts, limits, own, records = _counts(one, k), _limits(one, k), one.own, one.queries
    if queries is not None:
        counts, limits, own, records = counts[queries], limits[queries], own[queries], records.take(queries)
    return Ties(np.concatenate([[0], np.cumsum(counts)]), one.search.within(records, own, limits, counts))


def _counts(one: Pass, k: int) -> np.ndarray:
    return one.tables.shared(("ties", k, *one.key), lambda: one.search.count(one.queries, one.own, _limits(one, k)))


def _limits(one: Pass, k: int) -> np.ndarray:
    return as_sums(one.nearest(k).distances[:, k - 1] * (1 + TIED), one.space)
