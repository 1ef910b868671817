"""Distances compared: ties, which of two is smaller, and those of chosen pairs and of the farthest."""

from typing import Literal, NamedTuple, Unpack

import numpy as np

from synthrisk.metrics.errors import check_word
from synthrisk.metrics.neighbours.nearest import Direction, Options, Pass, as_distances, as_sums
from synthrisk.metrics.neighbours.records import Records, Scale, SpaceName, mixed, scale, space_of, steps_of, sums_of
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


TieRule = Literal["risk", "safe", "expected"]
WEIGHTS: dict[str, float] = {"risk": 1.0, "safe": 0.0, "expected": 0.5}


class CloserOrTied(NamedTuple):
    """How two distances of each of n records compare."""

    closer: np.ndarray  # (n,) bool: the first is smaller, and not tied
    tied: np.ndarray  # (n,) bool: equal but for rounding


def compared(first: np.ndarray, second: np.ndarray) -> CloserOrTied:
    """Compare distances; those that differ by less than a share of 1e-9 are tied.

    Example:
        >>> compared(np.array([1.0, 2.0, 0.3]), np.array([2.0, 1.0, 0.1 + 0.2]))
        CloserOrTied(closer=array([ True, False, False]), tied=array([False, False,  True]))
    """
    tied = np.abs(first - second) <= TIED * np.maximum(first, second)
    return CloserOrTied((first < second) & ~tied, tied)


def flags(found: CloserOrTied, ties: TieRule) -> np.ndarray:
    """Return 1 where the first is smaller, 0 where the second is, and what the rule says of a tie.

    Example:
        >>> flags(compared(np.array([0.0, 1.0]), np.array([0.0, 2.0])), "expected").tolist()
        [0.5, 1.0]
    """
    return found.closer + WEIGHTS[ties] * found.tied


def check_ties(ties: str = "risk") -> None:
    """Refuse a rule for ties that there is not."""
    check_word("ties", ties, *WEIGHTS)


_CELLS = 100_000  # distances held at once
_SAFE = 1 + 1e-9  # more than rounding takes from a sum


def of_pairs(tables: Tables, space: SpaceName, real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the distance from each real record of a list to the synthetic record at the same place of another.

    Example:
        >>> import pandas as pd
        >>> tables = Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]}))
        >>> of_pairs(tables, "gower", np.array([0, 1, 1]), np.array([2, 1, 0])).tolist()
        [1.0, 0.0, 0.375]
    """
    where = space_of(tables, space)
    both = mixed(tables, where)
    costs = scale(tables, where, "synthetic")
    return as_distances(sums_of(both.real.take(real), both.synthetic.take(synthetic), costs), where)


def farthest(tables: Tables, space: SpaceName) -> float:
    """Return the largest distance between a real and a synthetic record, exact, without an n x m matrix.

    Records with the largest possible distance (``_bounds``) come first, in blocks, until none can be farther.

    Example:
        >>> import pandas as pd
        >>> farthest(Tables(pd.DataFrame({"x": [0, 4]}), pd.DataFrame({"x": [1, 4, 8]})), "gower")
        1.0
    """
    return float(tables.shared(("farthest", space), lambda: _farthest(tables, space)))


def _farthest(tables: Tables, space: SpaceName) -> float:
    where = space_of(tables, space)
    both, costs = mixed(tables, where), scale(tables, where, "synthetic")
    words, far, center = _bounds(both.real, both.synthetic, both.synthetic, costs)
    other_words, other_far, other_center = _bounds(both.synthetic, both.real, both.synthetic, costs)
    reach = np.minimum(words + far + other_words.max(), words + center + (other_words + other_center).max())
    order, best, start, step = np.argsort(-reach, kind="stable"), 0.0, 0, 1  # one record first: it rules most out
    while start < len(order) and reach[order[start]] > best:
        block = order[start : start + step]
        able = other_words + (words + far)[block].max() > best
        able &= other_words + other_far + words[block].max() > best
        able &= other_words + other_center + (words + center)[block].max() > best
        if able.any():
            upright = Records(*(cells[block, None, :] for cells in both.real))
            best = max(best, float(sums_of(upright, both.synthetic.take(np.flatnonzero(able)), costs).max()))
        start, step = start + step, max(1, _CELLS // max(1, int(able.sum())))
    return float(as_distances(np.array(best), where))


def _bounds(
    records: Records, others: Records, centered: Records, costs: Scale
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three numbers a record that bound the sum of a pair (a, b), whatever the rounding.

    ``words``: what its levels cost. ``far``: the most that its numbers add beside any of ``others``. ``center``: what
    they add beside the medians of ``centered``, in squares twice that, as (u + v)^2 <= 2u^2 + 2v^2. A sum is at most
    words(a) + words(b) + min(far(a), far(b), center(a) + center(b)).
    """
    words, far, center = np.zeros((3, len(records.codes)))
    for c in range(records.codes.shape[1]):
        words += costs.costs[costs.starts[c] + records.codes[:, c]]
    for c in range(records.numbers.shape[1]):
        own, ends = records.numbers[:, c], (others.numbers[:, c].min(), others.numbers[:, c].max())
        far += steps_of(np.maximum(*(np.abs(end - own) for end in ends)), costs, c)
        center += steps_of(np.abs(own - np.median(centered.numbers[:, c])), costs, c) * (2 if costs.squared else 1)
    return words * _SAFE, far * _SAFE, center * _SAFE
