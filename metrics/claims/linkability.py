"""Linkability: claims that two partial records belong to one entity, scored by a framework that alone knows it.

Attacks that say which two partial records belong together: those that one synthetic record is near to both of.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference import check_neighbours, check_options
from synthrisk.metrics.claims.judging import (
    LIMITS,
    check_attempts,
    claimed_once,
    halves,
    ranks_to_draw_by,
    reduce_claims,
    sampled,
    shown_parts,
    shown_release,
)
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.nearest import Pass, as_sums
from synthrisk.metrics.neighbours.records import space_of
from synthrisk.metrics.register import named_attack
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.entities import has, how_many, how_many_with
from synthrisk.metrics.tables.order import lexicographic_ranks, value_ranks
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


def linkability(
    tables: Tables,
    *,
    columns_a: Sequence[str] | str,
    columns_b: Sequence[str] | str,
    attacker: str | Attack = "shared_neighbour",
    neighbours: int | None = None,
    attempts: int | None = None,
    seed: int = 0,
) -> Score:
    """Linkability: share of right claims among the claims that two partial records belong to one entity.

    Two tables about the same people, one with columns A and one with columns B, are to be joined with the help of the
    release. The attack sees the release, the distinct A parts of the targets and the distinct B parts of all real
    records (members and control records), each in an order that tells it nothing. To each A part it claims one B part,
    or abstains. A claim is right where the target's own B part has the same values: equal B parts cannot be told apart.
    ``value = published = C = right claims / claims``, in [0, 1].

    Where an entity has several records, a claim about e is right where some record of e has the B part b. S(b) = |{e:
    some record has b}| / |{e}|. Each fact counts once: of claims of one b about one e the surest, the others are
    attempts without a claim. More is claimed, and right, about an entity with more records, so that C lies above S even
    if a release says nothing.

    The other linkability of the GDA Score, that an entity of a known table is in the protected one, is the metric
    ``membership``.

    Args:
        tables: Real (n records) and synthetic (m records).
        columns_a: Columns of the one partial record.
        columns_b: Columns of the other; none of ``columns_a``.
        attacker: ``shared_neighbour``, the name of an installed attack, or an ``Attack``.
        neighbours: How many nearest records are a part's neighbours (``shared_neighbour``); 1 unless given.
        attempts: Attack only so many targets, drawn at random; None attacks all.
        seed: Seed of the draw and of the attack.

    Returns:
        A ``Score``; ``records``: score (1 right, 0 wrong, NaN no claim), claim, confidence, baseline (share of the
        real records, or entities, that have the claimed B part), attempt, susceptible, cells_known (those of A and B),
        cells_read. Details: those of ``judging.reduce_claims`` and ``constant_guess`` (the success of claiming the most
        frequent B part always).

    Raises:
        InputError: An argument breaks its rule, or the attack's claims do.

    Example:
        >>> real = pd.DataFrame({"age": [30, 40, 50], "town": ["Ulm", "Bonn", "Ulm"]})
        >>> release = pd.DataFrame({"age": [31, 41, 52], "town": ["Ulm", "Bonn", "Bonn"]})
        >>> found = LINKABILITY(real, release, columns_a=["age"], columns_b=["town"])
        >>> found.records["score"].tolist(), round(found.details["statistical_confidence"], 3)
        ([1.0, 1.0, 0.0], 0.444)
    """
    check_values(columns_a, columns_b, attacker, neighbours, attempts)
    first, second = tables.check_columns("columns_a", columns_a), tables.check_columns("columns_b", columns_b)
    attack = named_attack("linkability", attacker)
    n, rng = len(tables.real), np.random.default_rng(seed)
    part_b = shown_parts(tables, second)
    everyone = np.ones(n, dtype=bool)
    chosen = everyone if attempts is None else sampled(everyone, attempts, _ranks(tables, first + second), rng)
    options = {} if neighbours is None else {"neighbours": neighbours}
    match, confidence = _claims(tables, attack, first, part_b.cells, chosen, rng, options)
    claim = claimed_once(tables, match >= 0, match, confidence)
    shares = how_many_with(part_b.own, len(part_b.cells), tables.entities) / how_many(everyone, tables.entities)
    records = pd.DataFrame(
        {
            "score": np.where(claim, has(part_b.own, match, tables.entities), np.nan),
            "claim": claim,
            "confidence": np.where(claim, confidence, np.nan),
            "baseline": np.where(claim, shares[match], np.nan),
            "attempt": chosen,
            "susceptible": everyone,
            "cells_known": np.where(chosen, float(len(first) + len(second)), 0.0),
            "cells_read": np.where(chosen, tables.synthetic.size / chosen.sum(), 0.0),
            "half": halves(tables, seed),
        },
        index=tables.real.index,
    )
    reduced = reduce_claims(records)
    settings: dict[str, Any] = {"columns_a": first, "columns_b": second, "attacker": attack.name, "seed": seed}
    settings |= options | ({} if attempts is None else {"attempts": attempts})
    details = {"constant_guess": float(shares.max())}
    return Score.of("linkability", records, reduced, details, settings)


def check_values(
    columns_a: Sequence[str] | str | None = None,
    columns_b: Sequence[str] | str | None = None,
    attacker: str | Attack = "shared_neighbour",
    neighbours: int | None = None,
    attempts: int | None = None,
) -> None:
    """Refuse options of ``linkability`` that break their rules."""
    check_options(named_attack("linkability", attacker), neighbours)
    check_attempts(attempts)
    first, second = (
        [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
        for given in (columns_a, columns_b)
    )
    both = [name for name in first if name in second]
    if both:
        raise InputError(f"columns_a and columns_b must be different columns, got {both[0]!r} in both")


def _ranks(tables: Tables, columns: Sequence[str]) -> np.ndarray:
    """Return ranks by the values of these columns, so that no other moves the value; equal rows by all columns."""
    own = value_ranks(Tables(tables.real[list(columns)], tables.synthetic[list(columns)]))
    return lexicographic_ranks([own, ranks_to_draw_by(tables)])


def _claims(
    tables: Tables,
    attack: Attack,
    columns: Sequence[str],
    part_b: pd.DataFrame,
    chosen: np.ndarray,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the B part claimed of each record (-1 where none) and the confidence."""
    part_a = shown_parts(tables, columns)
    targets = np.unique(part_a.own[chosen])
    shown = part_a.cells.iloc[targets].reset_index(drop=True)
    found = attack.claims(shown.index, shown_release(tables).cells.copy(), shown, part_b.copy(), rng, **options)
    match, confidence = np.full(len(part_a.cells), -1), np.full(len(part_a.cells), np.nan)
    match[targets], confidence[targets] = _matched(attack, found["match"], len(part_b)), found["confidence"]
    return np.where(chosen, match[part_a.own], -1), confidence[part_a.own]


def _matched(attack: Attack, match: pd.Series, parts: int) -> np.ndarray:
    made = match.notna().to_numpy()
    try:
        labels = match[made].to_numpy(dtype=float)
    except (TypeError, ValueError):  # its text would show what is there
        labels = np.full(int(made.sum()), np.nan)
    wrong = ~np.isin(labels, np.arange(parts))
    if wrong.any():
        rule = f"return as match index labels of part_b, 0 to {parts - 1}, or missing"
        raise InputError(f"attack {attack.name} must {rule}, got {int(wrong.sum())} others")
    found = np.full(len(match), -1)
    found[made] = labels
    return found


LINKABILITY = Metric(
    name="linkability",
    function=linkability,
    group="claims",
    claims=True,
    needs=("columns_a", "columns_b"),
    reference="GDA Score (Francis, MPI-SWS, 2018); Article 29 Working Party, Opinion 05/2014",
    check_values=check_values,
    records=Records(reduce=reduce_claims),
    yardsticks=Yardsticks(guess="guess"),
    study=InStudy(unaveraged=LIMITS, answered=lambda details: details["claim_probability"]),
)
