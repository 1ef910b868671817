"""Attacks that say which two partial records belong together: those that one synthetic record is near to both of."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference_attacks import check_neighbours
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.nearest import Pass, as_sums
from synthrisk.metrics.neighbours.records import space_of
from synthrisk.metrics.tables.tables import Tables

_PAIRS = 5_000_000  # pairs of parts held at once
_DECIMALS = 12  # to which distances are equal: sums over other columns differ by rounding


def shared_neighbour(
    release: pd.DataFrame, part_a: pd.DataFrame, part_b: pd.DataFrame, rng: np.random.Generator, neighbours: int = 1
) -> pd.DataFrame:
    """Match each A part with the B part to which a synthetic record leads over the shortest way.

    N_A: the ``neighbours`` synthetic records nearest to the A part (gower over its columns), with ties of the last;
    N_B: those of a B part. The way from a to b is the smallest d(a, s) + d(b, s) of the records s in both N_A and N_B.
    The B part at the end of the shortest way is claimed; of several the one to which most records lead, of several
    still one drawn at random. The attack abstains where no record is shared, so that with more neighbours it claims
    about more A parts. ``confidence`` = (records that lead to the claimed part by the shortest way)/(records that lead
    to any part by a way as short) x (1 - way/2), in [0, 1].
    """
    check_neighbours(neighbours, len(release))
    a, b = (_near(part, release[list(part.columns)], neighbours) for part in (part_a, part_b))
    # records are counted by their distinct A and B cells: of few columns there are few, however many records
    shape = int(a.own.max()) + 1, int(b.own.max()) + 1
    both = scipy.sparse.csr_array(scipy.sparse.coo_array((np.ones(len(release)), (a.own, b.own)), shape))
    to_b = _shortest(b.cells, b.distances, shape[1])  # from each B cell
    ends = _kept(b.cells, b.parts, to_b.shortest, (shape[1], len(part_b)))
    rows, columns = both.nonzero()
    through = _shortest(rows, to_b.least[columns], shape[0])  # from each A cell
    middle = both.multiply(_kept(rows, columns, through.shortest, shape)).tocsr()
    way = _shortest(a.parts, a.distances + through.least[a.cells], len(part_a))
    held = scipy.sparse.csr_array(_kept(a.parts, a.cells, way.shortest, (len(part_a), shape[0])) @ middle)
    match, shared = np.full(len(part_a), -1), np.zeros(len(part_a))
    for block in _blocks(held, ends):
        found = _best(scipy.sparse.csr_array(held[block] @ ends), rng)
        match[block.start + found.rows], shared[block.start + found.rows] = found.columns, found.counts
    made = match >= 0
    total = held.sum(axis=1)
    confidence = np.where(made, shared / np.where(made, total, 1) * (1 - np.where(made, way.least, 0) / 2), np.nan)
    matches = np.full(len(part_a), None, dtype=object)
    matches[made] = part_b.index.to_numpy()[match[made]]
    return pd.DataFrame({"match": matches, "confidence": confidence}, index=part_a.index)


SHARED_NEIGHBOUR = Attack("shared_neighbour", "linkability", shared_neighbour, "GDA Score, linkability; own definition")


class _Near(NamedTuple):
    """Pairs of a part and distinct cells of the release, those of the nearest records."""

    parts: np.ndarray  # (pairs,)
    cells: np.ndarray  # (pairs,)
    distances: np.ndarray  # (pairs,)
    own: np.ndarray  # (m,) which of the distinct cells each record has


class _Ways(NamedTuple):
    least: np.ndarray  # (starts,) length of the shortest way; infinite where there is none
    shortest: np.ndarray  # (ways,) whether it is one of that length


def _near(part: pd.DataFrame, release: pd.DataFrame, k: int) -> _Near:
    codes = Tables(part, release).codes(list(part.columns)).tables[1]
    _, first, own, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    view = Tables(part, release.iloc[first])
    one = Pass(view, "real_to_synthetic", space_of(view, "gower"))
    found = one.nearest(min(k, len(first)))
    last = np.argmax(np.cumsum(sizes[found.rows], axis=1) >= k, axis=1)
    farthest = found.distances[np.arange(len(part)), last]
    limits = as_sums(farthest * (1 + TIED), one.space)
    counts = one.search.count(one.queries, one.own, limits)
    parts, cells = np.repeat(np.arange(len(part)), counts), one.search.within(one.queries, one.own, limits, counts)
    distances = np.repeat(farthest, counts)  # of those that are not among the nearest k
    places = parts * len(first) + cells
    kept = found.distances <= farthest[:, None] * (1 + TIED)
    nearest = (np.arange(len(part))[:, None] * len(first) + found.rows)[kept]
    distances[np.searchsorted(places, nearest)] = found.distances[kept]
    return _Near(parts, cells, distances, own)


def _shortest(starts: np.ndarray, lengths: np.ndarray, count: int) -> _Ways:
    lengths, least = np.round(lengths, _DECIMALS), np.full(count, np.inf)
    np.minimum.at(least, starts, lengths)
    return _Ways(least, (lengths == least[starts]) & np.isfinite(lengths))


def _kept(rows: np.ndarray, columns: np.ndarray, keep: np.ndarray, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((np.ones(int(keep.sum())), (rows[keep], columns[keep])), shape)


def _blocks(held: scipy.sparse.csr_array, holders: scipy.sparse.csr_array) -> list[slice]:
    """Return slices of rows whose products have a bounded number of entries (one row may have more)."""
    cost = np.cumsum((held > 0) @ np.diff(holders.indptr).astype(float))
    block = (cost // _PAIRS).astype(np.int64)
    ends = [*np.flatnonzero(np.diff(block)) + 1, held.shape[0]]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


class _Best(NamedTuple):
    rows: np.ndarray
    columns: np.ndarray
    counts: np.ndarray


def _best(led: scipy.sparse.csr_array, rng: np.random.Generator) -> _Best:
    """Return the rows that lead anywhere, and of each the column to which most records lead, of several one drawn."""
    led.sort_indices()
    found = _Best(np.repeat(np.arange(led.shape[0]), np.diff(led.indptr)), led.indices, led.data)
    most = np.zeros(led.shape[0])
    np.maximum.at(most, found.rows, found.counts)
    found = _Best(*(each[found.counts == most[found.rows]] for each in found))
    drawn, least = rng.random(len(found.rows)), np.full(led.shape[0], np.inf)
    np.minimum.at(least, found.rows, drawn)
    return _Best(*(each[drawn == least[found.rows]] for each in found))
