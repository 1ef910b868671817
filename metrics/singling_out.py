"""Singling out: claims that exactly one entity has these attribute values, counted by a framework that alone can."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims import check_attempts, reduce_claims, sampled
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.named_attack import named_attack
from synthrisk.metrics.predicates import (
    Countable,
    Predicate,
    Scales,
    alone_by_luck,
    check_predicate,
    same_predicate,
    scales_of,
)
from synthrisk.metrics.ranked import is_missing
from synthrisk.metrics.selective import halves
from synthrisk.metrics.shown import check_comparable, shown_release
from synthrisk.metrics.singling_out_attacks import check_size
from synthrisk.metrics.subsamples import one_drawn
from synthrisk.metrics.tables import Tables
from synthrisk.metrics.yardsticks import against_guess, hits_against_control

Mode = Literal["univariate", "multivariate"]
ATTACK_OF = {"univariate": "unique_values", "multivariate": "unique_combinations"}
_ATTEMPTS = 10_000


def singling_out(
    tables: Tables,
    *,
    columns: Sequence[str] | str | None = None,
    mode: Mode = "multivariate",
    attacker: str | Attack | None = None,
    attempts: int | None = None,
    size: int | None = None,
    seed: int = 0,
) -> Score:
    """Singling out: share of right claims among the claims that exactly one entity has these attribute values.

    The attack sees the release alone, in an order that says nothing, and may name one predicate a row: conditions
    (column, operator, value) with ``==``, ``<=``, ``>=`` (numbers and dates) or ``missing``, all of which must hold.
    A claim is right where exactly one real record fulfils it. A predicate named before counts no more. The
    statistical confidence of a claim is the chance that a predicate of its weight isolates one of n entities by luck,
    n w (1 - w)^(n - 1), w the product over its columns of the share of real records that fulfil the conditions there.
    ``value = published = C = right claims / claims``, in [0, 1].

    Where an entity has several records, it has these attribute values where one of its records has them all: a claim
    of predicate P is right where |{e: some record of e fulfils P}| = 1, in however many records. n counts entities,
    and w is the product over columns of the share of entities of which some record fulfils the conditions there.

    Beside control records (``control=``) the same predicates are counted there. One record alone is likelier in a
    smaller table, so the larger one counts as its mean subsample of the size of the smaller:
    P(exactly one) = c C(N - c, s - 1)/C(N, s), c of N records (or entities) fulfil the predicate, s drawn. The interval
    of the difference is Newcombe's with Wilson limits at such fractional counts of hits; it takes the two sides as
    independent, though they share the claims, and the release as given. A study compares members and control records
    so too, half as many as it holds out, with intervals over its repetitions: see
    ``study_yardsticks.beside_control_at_one_size``.

    Args:
        tables: Real (n records) and synthetic (m records), perhaps control.
        columns: What the attack sees of the release; all columns unless given.
        mode: Which attack of ours: ``univariate``: ``unique_values``; ``multivariate``: ``unique_combinations``.
            A value that occurs once singles out by itself: a release that draws each column independently, which
            hides every combination, may still release it.
        attacker: Another attack in its place: the name of an installed one, or an ``Attack``. If it takes an option
            ``rows``, it is told the positions of the rows that count.
        attempts: From so many rows of the release, drawn at random. Unless given: all for ``unique_values``; at most
            10,000 for all others, which cost a count over the whole release each (Adult: about a second, and one in
            seventy ends in a claim: 1,000 attempts would leave too few to tell anything).
        size: How many columns a predicate of ``unique_combinations`` has; 4, or all if there are fewer, unless given.
        seed: Seed of the draw and of the attack.

    Returns:
        A ``Score`` whose ``records`` are the synthetic ones: score (1 right, 0 wrong, NaN no claim), claim,
        predicate, confidence, baseline (chance of being right by luck), attempt, susceptible, cells_known (0: it
        needs no knowledge of anybody), cells_read, half (0 or 1: the halves of the selective curve, whose shares are
        of the attempts: where few rows end in a claim, the curve ends at few). Details: those of
        ``claims.reduce_claims``; with control ``control`` and ``members_at_common_size`` (C on both at the size of the
        smaller, ``common_size``), gain and difference with limits (``yardsticks.against_control``), and those of C
        beside the guess (``yardsticks.against_guess``).

    Raises:
        InputError: An argument breaks its rule, or the attack's claims do.

    Example:
        >>> real = pd.DataFrame({"age": [30, 40, 50, 60], "town": ["Ulm", "Ulm", "Bonn", "Bonn"]})
        >>> release = pd.DataFrame({"age": [30, 50, 55], "town": ["Ulm", "Ulm", "Bonn"]})
        >>> found = SINGLING_OUT(real, release, size=2)
        >>> found.records["predicate"][0]
        (('age', '<=', 30), ('town', '==', 'Ulm'))
        >>> found.records["score"].tolist()
        [1.0, 0.0, 1.0]
    """
    check_values(columns, mode, attacker, attempts, size)
    names = tables.columns if columns is None else tables.check_columns("columns", columns)
    attack = named_attack("singling_out", ATTACK_OF[mode] if attacker is None else attacker)
    made = _claims(tables, names, attack, attempts, size, seed)
    real = Countable(tables.real[names], made.scales, tables.entities)
    found, claim = real.count(made.predicates), made.claim
    shown = {
        "score": _spread(claim, found.rows == 1),
        "claim": claim,
        "predicate": _spread(claim, made.predicates, None),
        "confidence": np.where(claim, made.confidence, np.nan),
        "baseline": _spread(claim, alone_by_luck(found.weights, real.size)),
        "attempt": made.attempt,
        "susceptible": np.ones(len(claim), dtype=bool),
        "cells_known": np.zeros(len(claim)),
        "cells_read": np.where(made.attempt, tables.synthetic[names].size / made.attempt.sum(), 0.0),
        "half": halves(Tables(tables.real[names], tables.synthetic[names]), seed, "synthetic")[made.rows],
    }
    place = np.argsort(made.rows)
    records = pd.DataFrame({name: cells[place] for name, cells in shown.items()}, index=tables.synthetic.index)
    reduced = reduce_claims(records)
    details: dict[str, float] = {}
    if tables.control is not None:
        details |= _beside_control(tables, made, names, found.rows, real.size)
        details |= against_guess(records["score"], reduced.details["guess"])
    settings: dict[str, Any] = {"columns": names, "attacker": attack.name, "seed": seed}
    settings |= {} if attempts is None else {"attempts": attempts}
    settings |= {} if size is None else {"size": size}
    return Score.of("singling_out", records, reduced, details, settings)


def against_some(
    tables: Tables,
    rows: np.ndarray,
    *,
    columns: Sequence[str] | str | None = None,
    mode: Mode = "multivariate",
    attacker: str | Attack | None = None,
    attempts: int | None = None,
    size: int | None = None,
    seed: int = 0,
) -> float:
    """Return the share of right claims where only some of the real records are counted; NaN without claims."""
    names = tables.columns if columns is None else tables.check_columns("columns", columns)
    attack = named_attack("singling_out", ATTACK_OF[mode] if attacker is None else attacker)
    made = _claims(tables, names, attack, attempts, size, seed)
    some = tables.of(rows)
    counts = Countable(some.real[names], made.scales, some.entities).count(made.predicates).rows
    return float(np.mean(counts == 1)) if len(counts) else float("nan")


def check_values(
    columns: Sequence[str] | str | None = None,
    mode: str = "multivariate",
    attacker: str | Attack | None = None,
    attempts: int | None = None,
    size: int | None = None,
) -> None:
    """Refuse options of ``singling_out`` that break their rules; ``columns`` are checked on the tables."""
    if not isinstance(mode, str) or mode not in ATTACK_OF:
        raise InputError(f"mode must be univariate or multivariate, got {mode!r}")
    attack = named_attack("singling_out", ATTACK_OF[mode] if attacker is None else attacker)
    check_attempts(attempts)
    if size is not None:
        attack.check_options({"size": size})
        check_size(size)


class _Claims(NamedTuple):
    """What an attack claims: a row for each row of the release as it was shown."""

    rows: np.ndarray  # (m,) position in the release of each row shown
    attempt: np.ndarray  # (m,) whether it counts
    claim: np.ndarray  # (m,) whether it ended in a claim that nobody made before
    confidence: np.ndarray  # (m,)
    predicates: list[Predicate]  # of the claims
    scales: Scales


def _claims(
    tables: Tables, columns: list[str], attack: Attack, attempts: int | None, size: int | None, seed: int
) -> _Claims:
    """Let the attack speak; the real table has no part in what it claims."""
    key = ("singling out", tuple(columns), attack, attempts, size, seed)
    return tables.shared(key, lambda: _claimed(tables, columns, attack, attempts, size, seed))


def _claimed(
    tables: Tables, columns: list[str], attack: Attack, attempts: int | None, size: int | None, seed: int
) -> _Claims:
    rng = np.random.default_rng(seed)
    release, rows = shown_release(tables, columns)
    m = len(rows)
    wanted = attempts or (m if attack.name == ATTACK_OF["univariate"] else _ATTEMPTS)
    attempt = sampled(np.ones(m, dtype=bool), wanted, np.arange(m), rng)
    options: dict[str, Any] = {} if size is None else {"size": size}
    if "rows" in attack.options:
        options["rows"] = np.flatnonzero(attempt)
    found = attack.claims(release.index, release.copy(), rng, **options)
    scales, seen = scales_of(release), set()
    claim, predicates = np.zeros(m, dtype=bool), []
    for row, predicate in enumerate(found["predicate"].tolist()):
        if is_missing(predicate):
            continue
        check_predicate(attack.name, predicate, scales)
        if attempt[row] and (key := same_predicate(predicate, scales)) not in seen:
            seen.add(key)
            claim[row] = True
            predicates.append(tuple(tuple(condition) for condition in predicate))
    return _Claims(rows, attempt, claim, found["confidence"].to_numpy(dtype=float), predicates, scales)


def _spread(claim: np.ndarray, values: Any, absent: Any = np.nan) -> np.ndarray:
    """Return the values of the claims at their rows."""
    cells = np.full(len(claim), absent, dtype=object if absent is None else float)
    for row, value in zip(np.flatnonzero(claim), values, strict=True):
        cells[row] = value
    return cells


def _beside_control(tables: Tables, made: _Claims, columns: list[str], counts: np.ndarray, n: int) -> dict[str, float]:
    """Return the success on members and controls at one size, and what the difference comes to."""
    assert tables.control is not None  # noqa: S101 - callers ask first
    check_comparable(Tables(tables.real, tables.control), columns)
    control = Countable(tables.control[columns], made.scales, tables.control_entities)
    common, others = min(n, control.size), control.count(made.predicates).rows
    hits = [float(one_drawn(*of, common).sum()) for of in ((counts, n), (others, control.size))]
    details = {"common_size": float(common)} | hits_against_control(hits[0], hits[1], len(counts))
    share = [hit / len(counts) if len(counts) else float("nan") for hit in hits]
    return details | {"members_at_common_size": share[0], "control": share[1]}


SINGLING_OUT = Metric(
    name="singling_out",
    function=singling_out,
    group="claims",
    per_record=True,
    needs=(),
    range=(0.0, 1.0),
    reference="Article 29 Working Party, Opinion 05/2014; Cohen and Nissim 2020, doi:10.1073/pnas.1914598117",
    scores="synthetic",
    check_values=check_values,
    against=against_some,
    own_control=True,
)
