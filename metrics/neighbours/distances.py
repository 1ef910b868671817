"""Distances compared: ties, which of two is smaller, and those of chosen pairs and of the farthest.

Records as points on the two main axes of a factor analysis of mixed data (FAMD), fitted on the real table.

Subsamples: how near the nearest record of a random part of a table would be, as exact chances.

The nearest of more records is nearer. To compare tables of different sizes, the larger is therefore taken as its mean
random subsample of the size of the smaller. No subsample is drawn: of N records of which c lie within a distance, k
drawn ones hold none of the c with chance C(N - c, k)/C(N, k). So there is no seed, and the order of rows has no
influence.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, Unpack

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError, check_word
from synthrisk.metrics.intervals.distributions import none_drawn
from synthrisk.metrics.neighbours.nearest import (
    Direction,
    Options,
    Pass,
    as_distances,
    as_sums,
    between,
)
from synthrisk.metrics.neighbours.records import (
    Coarse,
    Records,
    Scale,
    Search,
    Space,
    SpaceName,
    check_space,
    mixed,
    scale,
    sets_of,
    space_of,
    steps_of,
    sums_by_sets,
    sums_of,
    warn_if_long,
)
from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.order import canonical, level_order
from synthrisk.metrics.tables.tables import Tables, in_order, inside

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
    return one.tables.shared(("ties", k, *one.key), lambda: _counted(one, k))


def _counted(one: Pass, k: int) -> np.ndarray:
    """Return how many lie within the limits: those of whom the farthest known is too are counted among all."""
    limits, known = _limits(one, k), one.sums(k)
    counts = (known <= limits[:, None]).sum(axis=1)
    more = np.flatnonzero(known[:, -1] <= limits)
    if len(more):
        counts[more] = one.search.count(one.queries.take(more), one.own[more], limits[more])
    return np.asarray(counts, dtype=np.int64)


def _limits(one: Pass, k: int) -> np.ndarray:
    return as_sums(one.distances(k)[:, k - 1] * (1 + TIED), one.space)


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
    costs, sets = scale(tables, where, "synthetic"), sets_of(tables, where)
    pairs = both.real.take(real), both.synthetic.take(synthetic)
    return as_distances(sums_of(*pairs, costs) if sets is None else sums_by_sets(*pairs, costs, sets), where)


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
    both, costs, sets = mixed(tables, where), scale(tables, where, "synthetic"), sets_of(tables, where)
    if sets is not None:
        blocks = Coarse(both.synthetic, costs, sets, "synthetic").blocks(both.real, np.full(len(tables.real), -1))
        return float(as_distances(np.array(max(away.max() for _, away in blocks)), where))
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


ProjectionName = Literal["famd"]
_SAME = 1e-12  # points nearer than this share of the largest coordinate are one but for rounding
_Column = tuple[np.ndarray, np.ndarray]  # (n, k) and (m, k): a column as numbers, in the real and the synthetic table


def check_projection(projection: str | None = None, space: str = "euclid") -> None:
    """Refuse a name that is no projection or space, and a projection of gower space."""
    check_space(space)
    if projection not in (None, "famd"):
        raise InputError(f"projection must be famd or none, got {projection!r}")
    if projection is not None and space != "euclid":
        raise InputError(f"projection must be none in gower space, got {projection!r}")


def projected(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables' records as points on two axes, (n, 2) and (m, 2).

    Numerics are (v - mean)/sd of the real table (a missing one 0; no spread: divisor 1), each level seen in the
    real table is (b - p)/sqrt(p) with its share p (missing is a level). The axes are the eigenvectors of the real
    table's covariance matrix with the two largest eigenvalues, exact; if the second is a double one, the plane is not
    determined. Equal records have equal points, to the last bit. A table of one numeric column lies on one axis.
    Memory grows with (columns and levels)^2.

    Source: Pagès 2004, Analyse factorielle de données mixtes; AVATAR (Guillaudeux et al. 2023,
    doi:10.1038/s41746-023-00771-5).

    Example:
        >>> import pandas as pd
        >>> real, synthetic = projected(Tables(pd.DataFrame({"x": [0.0, 4.0]}), pd.DataFrame({"x": [2.0]})))
        >>> np.abs(real).tolist(), np.abs(synthetic).tolist()
        ([[1.0, 0.0], [1.0, 0.0]], [[0.0, 0.0]])
    """
    return tables.shared("famd", lambda: _projected(tables))


def nearest_projected(
    tables: Tables, direction: Literal["real_to_synthetic", "synthetic_to_real"], k: int = 1
) -> np.ndarray:
    """Return the k smallest distances between points of one table and those of the other, ascending, (n, k)."""
    real, synthetic = projected(tables)
    queries, reference = (real, synthetic) if direction == "real_to_synthetic" else (synthetic, real)
    found = scipy.spatial.KDTree(reference).query(queries, k=list(range(1, k + 1)))[0]
    largest = max(float(np.abs(points).max()) for points in (real, synthetic))
    return np.where(found <= _SAME * largest, 0.0, found)


def nearest_and_tied(tables: Tables, rows: np.ndarray, made: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each real point's smallest distance, its number of tied synthetic points, and which given pairs are tied.

    Pair i, of p, is the real record at position ``rows[i]`` and the synthetic one at ``made[i]``.
    """
    real, synthetic = projected(tables)
    distance = nearest_projected(tables, "real_to_synthetic")[:, 0]
    reach = distance * (1 + TIED) + _SAME * max(float(np.abs(points).max()) for points in (real, synthetic))
    tied = scipy.spatial.KDTree(synthetic).query_ball_point(real, reach, return_length=True)
    apart = np.sqrt(((real[rows] - synthetic[made]) ** 2).sum(axis=1))
    return distance, np.asarray(tied), apart <= reach[rows]


def _projected(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    blocks = [_column(tables, c) for c in in_order(tables.columns)]
    real = np.column_stack([block[0] for block in blocks])
    real = real[np.argsort(canonical(tables).real, kind="stable")]  # the same axes in any order of rows
    axes = np.linalg.eigh(real.T @ real / len(real))[1][:, ::-1][:, :2]
    loadings = np.split(axes, np.cumsum([block[0].shape[1] for block in blocks])[:-1])
    return _points(blocks, loadings, 0), _points(blocks, loadings, 1)


def _points(blocks: list[_Column], loadings: list[np.ndarray], table: int) -> np.ndarray:
    """Return coordinates, added up in one order, so that equal records have the same bits."""
    points = np.zeros((len(blocks[0][table]), 2))
    for block, loading in zip(blocks, loadings, strict=True):
        for cells, step in zip(block[table].T, loading, strict=True):
            points[:, : len(step)] += cells[:, None] * step
    return points


def _column(tables: Tables, column: str) -> _Column:
    if tables.kind(column) == "numeric":
        real, synthetic = tables.floats(column)
        mean, spread = center_and_spread(np.sort(real))
        unit = spread or 1.0
        return np.nan_to_num((real - mean) / unit)[:, None], np.nan_to_num((synthetic - mean) / unit)[:, None]
    codes = tables.codes([column])
    share = np.bincount(codes.tables[0], minlength=codes.size) / len(tables.real)
    order = level_order(tables, tables.columns)[column]
    seen = np.argsort(order)
    seen = seen[share[seen] > 0]  # and under any names
    flags = [((each[:, None] == seen) - share[seen]) / np.sqrt(share[seen]) for each in codes.tables]
    return flags[0], flags[1]


_PAIRS = 1_000_000  # pairs compared at once
_LONG = 5e9  # cells compared in about two minutes
_EQUAL = 1e-12  # distances that differ by less are equal


def same_by_sets(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a real and a released record that may be equal: each cell is the same, or holds the value."""
    owners, rows = [], []
    sides = [(tables.codes([c]).tables, inside(tables, c)) for c in tables.columns]
    for block in _parts(tables, np.arange(len(tables.real)), len(tables.synthetic)):
        same = np.ones((len(block), len(tables.synthetic)), dtype=bool)
        for (real, released), within in sides:
            same &= within.equal(real[block, None], released)
        found = np.nonzero(same)
        owners.append(block[found[0]])
        rows.append(found[1])
    return np.concatenate(owners), np.concatenate(rows)


def _parts(tables: Tables, rows: np.ndarray, m: int) -> Iterator[np.ndarray]:
    """Yield some real records, so many that they can be compared with m released ones at once."""
    warn_if_long(len(rows), m, len(tables.columns), _LONG)
    step = max(1, _PAIRS // m)
    return (rows[start : start + step] for start in range(0, len(rows), step))


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
    searched = between(tables, where, both.real.take(rows), "real")
    return _chances(searched, both.synthetic, own, where, distances, (len(rows), drawn))


def _chances(
    searched: Search, queries: Records, own: np.ndarray, space: Space, distances: np.ndarray, sizes: tuple[int, int]
) -> Chances:
    below, within = (
        searched.count(queries, own, as_sums(distances * factor, space)) for factor in (1 - TIED, 1 + TIED)
    )
    nearer = 1 - none_drawn(np.where(distances > 0, below, 0), *sizes)
    return Chances(nearer, 1 - none_drawn(within, *sizes) - nearer)
