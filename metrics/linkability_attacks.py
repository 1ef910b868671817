"""Attacks that say which two partial records belong together: those that the same synthetic records are near to."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.inference_attacks import check_neighbours
from synthrisk.metrics.neighbours import Pass, as_sums
from synthrisk.metrics.spaces import space_of
from synthrisk.metrics.tables import Tables
from synthrisk.metrics.ties import TIED

_PAIRS = 5_000_000  # pairs of parts held at once


def shared_neighbour(
    release: pd.DataFrame, part_a: pd.DataFrame, part_b: pd.DataFrame, rng: np.random.Generator, neighbours: int = 1
) -> pd.DataFrame:
    """Match each A part with the B part that shares most of its nearest synthetic records.

    N_A: the ``neighbours`` synthetic records nearest to the A part (gower over its columns) and all that are as near
    as the last of them; N_B: those of a B part (gower over its columns). The B part with the largest |N_A and N_B|
    is claimed, of several the one nearer to its own, of several still one drawn at random. It abstains where nothing
    is shared. ``confidence`` = |N_A and N_B|/|N_A| x (1 - mean of the two parts' mean distances to their
    ``neighbours`` nearest records).
    """
    check_neighbours(neighbours, len(release))
    a, b = (_near(part, release[list(part.columns)], neighbours) for part in (part_a, part_b))
    # records are counted by their distinct A and B cells: of few columns there are few, however many records
    both = sparse.coo_array((np.ones(len(release)), (a.own, b.own)), (a.classes.shape[1], b.classes.shape[1]))
    held = sparse.csr_array(a.classes @ both.tocsr())  # (A parts, B cells): records
    total, holders = held.sum(axis=1), sparse.csr_array(b.classes.T)
    match, shared = np.full(len(part_a), -1), np.zeros(len(part_a))
    for block in _blocks(held, holders):
        rows, found, count = _best(sparse.csr_array(held[block] @ holders), b.distance, rng)
        match[block.start + rows], shared[block.start + rows] = found, count
    made = match >= 0
    away = (a.distance + b.distance[match]) / 2
    confidence = np.where(made, shared / total * (1 - away), np.nan)
    matches = np.full(len(part_a), None, dtype=object)
    matches[made] = part_b.index.to_numpy()[match[made]]
    return pd.DataFrame({"match": matches, "confidence": confidence}, index=part_a.index)


SHARED_NEIGHBOUR = Attack("shared_neighbour", "linkability", shared_neighbour, "GDA Score, linkability; own definition")


class _Near(NamedTuple):
    classes: sparse.csr_array  # (parts, cells) 1 where records with such cells are among the nearest
    distance: np.ndarray  # (parts,) mean distance to the k nearest records
    own: np.ndarray  # (m,) which of the distinct cells each record has


def _near(part: pd.DataFrame, release: pd.DataFrame, k: int) -> _Near:
    codes = Tables(part, release).codes(list(part.columns)).tables[1]
    _, first, own, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    view = Tables(part, release.iloc[first])
    one = Pass(view, "real_to_synthetic", space_of(view, "gower"))
    found = one.nearest(min(k, len(first)))
    held = sizes[found.rows]
    up_to = np.cumsum(held, axis=1)
    taken = np.clip(k - (up_to - held), 0, held)
    last = found.distances[np.arange(len(part)), np.argmax(up_to >= k, axis=1)]
    limits = as_sums(last * (1 + TIED), one.space)
    counts = one.search.count(one.queries, one.own, limits)
    rows = one.search.within(one.queries, one.own, limits, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    classes = sparse.csr_array((np.ones(len(rows)), rows, starts), (len(part), len(first)))
    return _Near(classes, (taken * found.distances).sum(axis=1) / k, own)


def _blocks(held: sparse.csr_array, holders: sparse.csr_array) -> list[slice]:
    """Return slices of rows whose products have a bounded number of entries (one row may have more)."""
    cost = np.cumsum(_ones(held) @ np.diff(holders.indptr).astype(float))
    block = (cost // _PAIRS).astype(np.int64)
    ends = [*np.flatnonzero(np.diff(block)) + 1, held.shape[0]]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


def _ones(matrix: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), matrix.shape)


def _best(
    shared: sparse.csr_array, distance: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows that share anything, and of each the best column and how much is shared with it."""
    shared.sort_indices()
    rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    columns, counts = shared.indices, shared.data
    chances = np.empty(0)
    for step in ("most", "nearest", "drawn"):
        if step == "drawn":
            chances = rng.random(len(rows))
        order = {"most": -counts, "nearest": np.round(distance[columns], 12), "drawn": chances}[step]
        least = np.full(shared.shape[0], np.inf)
        np.minimum.at(least, rows, order)
        keep = order == least[rows]
        rows, columns, counts = rows[keep], columns[keep], counts[keep]
    return rows, columns, counts
