"""Linkability: claims that two partial records belong to one entity, scored by a framework that alone knows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.attackers_view import ranks_to_draw_by, shown_parts, shown_release
from synthrisk.metrics.claims.inference_attacks import check_neighbours
from synthrisk.metrics.claims.judging import check_attempts, claimed_once, reduce_claims, sampled
from synthrisk.metrics.claims.selective_curve import LIMITS, halves
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.named_attack import named_attack
from synthrisk.metrics.tables.entities import has, how_many, how_many_with
from synthrisk.metrics.tables.level_order import lexicographic_ranks
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_ranks import value_ranks


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
    attack = named_attack("linkability", attacker)
    if neighbours is not None:
        attack.check_options({"neighbours": neighbours})
        check_neighbours(neighbours)
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
        raise InputError(
            f"attack {attack.name} must return as match index labels of part_b, 0 to {parts - 1}, or missing, "
            f"got {int(wrong.sum())} others"
        )
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
    reduce=reduce_claims,
    guess="guess",
    unaveraged=LIMITS,
    answered=lambda details: details["claim_probability"],
)
