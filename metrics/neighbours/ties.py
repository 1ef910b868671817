"""All records at the smallest distance, for measures that average over equals."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.neighbours.nearest import Direction, Pass, as_sums
from synthrisk.metrics.neighbours.spaces import Ranges, SpaceName, space_of
from synthrisk.metrics.tables.tables import Tables

TIED = 1e-9  # distances that differ by a smaller share are equal: other columns add up to the same but for rounding


class Ties(NamedTuple):
    """The records nearest to query i are ``rows[starts[i]:starts[i + 1]]``, ascending."""

    starts: np.ndarray  # (n + 1,)
    rows: np.ndarray  # positions in the table searched


def tie_counts(
    tables: Tables,
    direction: Direction,
    space: SpaceName,
    *,
    weights: Mapping[str, float] | None = None,
    columns: Sequence[str] | None = None,
    ranges: Ranges = "both",
    k: int = 1,
) -> np.ndarray:
    """Return how many records lie at the smallest distance of each record of a pass, (n,), at least 1.

    With ``k`` above 1: how many are not farther than the k-th nearest.

    Args:
        tables: The tables of a release.
        direction: ``real_to_synthetic``, ``synthetic_to_real``, ``real_to_real`` or ``synthetic_to_synthetic``.
        space: ``euclid`` or ``gower``.
        weights: What a column is multiplied by.
        columns: Those that count.
        ranges: See ``spaces.space_of``.
        k: Which nearest record sets the limit.

    Raises:
        InputError: An argument breaks its rule, or there are fewer records to be found.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 4]}))
        >>> tie_counts(tables, "real_to_synthetic", "gower").tolist()
        [1, 2]
    """
    return _counts(Pass(tables, direction, space_of(tables, space, weights, columns, ranges)), k)


def ties(
    tables: Tables,
    direction: Direction,
    space: SpaceName,
    *,
    weights: Mapping[str, float] | None = None,
    columns: Sequence[str] | None = None,
    ranges: Ranges = "both",
    queries: np.ndarray | None = None,
    k: int = 1,
) -> Ties:
    """Return all records at the smallest distance of each record of a pass, or of those at some positions.

    With ``k`` above 1: all that are not farther than the k-th nearest.

    Few columns make many ties, up to n times m: ``tie_counts`` tells how many there are. Equal records have the
    same ones, so one of each kind as ``queries``, or some at a time, keeps them few. The other arguments are those
    of ``tie_counts``.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 4]}))
        >>> ties(tables, "real_to_synthetic", "gower")
        Ties(starts=array([0, 1, 3]), rows=array([0, 1, 2]))
    """
    one = Pass(tables, direction, space_of(tables, space, weights, columns, ranges))
    counts, limits, own, records = _counts(one, k), _limits(one, k), one.own, one.queries
    if queries is not None:
        counts, limits, own, records = counts[queries], limits[queries], own[queries], records.take(queries)
    return Ties(np.concatenate([[0], np.cumsum(counts)]), one.search.within(records, own, limits, counts))


def _counts(one: Pass, k: int = 1) -> np.ndarray:
    return one.tables.shared(("ties", k, *one.key), lambda: one.search.count(one.queries, one.own, _limits(one, k)))


def _limits(one: Pass, k: int) -> np.ndarray:
    return as_sums(one.nearest(k).distances[:, k - 1] * (1 + TIED), one.space)
