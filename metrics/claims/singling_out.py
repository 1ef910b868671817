"""Singling out: claims that exactly one entity has these attribute values, counted by a framework that alone can.

One-person values: real people of whom the release holds a level or text that nobody else has.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.judging import LIMITS, check_attempts, halves, reduce_claims, sampled, shown_release
from synthrisk.metrics.claims.predicates import (
    Countable,
    Counts,
    Predicate,
    Scales,
    alone_by_luck,
    check_predicate,
    check_size,
    predicates_of,
    same_predicate,
    scales_of,
)
from synthrisk.metrics.errors import check_word
from synthrisk.metrics.intervals.isolated_records import OF_ONE_RELEASE, isolation_details
from synthrisk.metrics.intervals.yardsticks import against_guess, limit_names
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.register import named_attack
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import matches
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables

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

    The attack sees the release alone, in an order that tells it nothing, and may name one predicate a row, or a list of
    them, each of which is an attempt: conditions (column, operator, value) with ``==``, ``<=``, ``>=`` (numbers and
    dates) or ``missing``, all of which must hold. A claim is right where exactly one real record fulfils it.
    A predicate named before counts no more. The statistical
    confidence of a claim is the chance that a predicate of its weight isolates one of n entities by luck, n w (1 -
    w)^(n - 1), w the product over its columns of the share of real records that fulfil the conditions there. ``value =
    published = C = right claims / claims``, in [0, 1].

    Where an entity has several records, it fulfils a predicate if one of its records does: a claim of P is right where
    |{e: some record of e fulfils P}| = 1. n counts entities, and w takes shares of entities.

    With control records (``control=``) the same predicates are counted among the n members and c control records
    together. The attack does not know who is who, so that of the distinct records (or entities) that its claims isolate
    there, the share of members is n/(n + c) on average, unless the release remembers them: ``control_gain`` = (share -
    n/(n + c))/(1 - n/(n + c)) is 1 for a copy and 0 where nobody is remembered, with an interval that is exact given
    how many are isolated (``isolated_records.memorized``). ``memorization`` is that gain times isolated records /
    claims: how many more members than by chance each claim isolates (``isolated_records.per_claim``), in a study over
    all releases.

    Args:
        tables: Real (n records) and synthetic (m records), perhaps control.
        columns: What the attack sees of the release; all columns unless given.
        mode: Which attack of ours: ``univariate``: ``unique_values``; ``multivariate``: ``unique_combinations``.
            A value that occurs once singles out by itself: a release that draws each column independently, which
            hides every combination, may still release it.
        attacker: Another attack instead: the name of an installed one, or an ``Attack``. If it takes an option
            ``rows``, it is told the positions of the rows that count.
        attempts: From so many rows of the release, drawn at random. Unless given: all for ``unique_values``; at most
            10,000 for all others, which cost a count over the whole release each.
        size: Least number of columns of a predicate of ``unique_combinations``; 4 unless given, or all if there are
            fewer. A predicate grows until it tells one record apart.
        seed: Seed of the draw and of the attack.

    Returns:
        A ``Score`` whose ``records`` are the synthetic ones, each as often as it made attempts (once, unless it named a
        list): score (1 right, 0 wrong, NaN no claim), claim, predicate, confidence, baseline (chance of being right by
        luck), attempt, susceptible, cells_known (0: it needs no knowledge of anybody), cells_read, half (0 or 1: the
        halves of the selective curve, whose shares are of the attempts: where few rows end in a claim, the curve
        ends at few). Details: those of ``judging.reduce_claims``; with control those of
        ``isolated_records.isolation_details`` (NaN where nobody is isolated), and those of C beside the guess
        (``yardsticks.against_guess``).

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
    found, claim = _counted(tables, made, names), made.claim
    n = _size(len(tables.real), tables.entities)
    shown = {
        "score": _spread(claim, found.rows == 1),
        "claim": claim,
        "predicate": _spread(claim, made.predicates, None),
        "confidence": np.where(claim, made.confidence, np.nan),
        "baseline": _spread(claim, alone_by_luck(found.weights, n)),
        "attempt": made.attempt,
        "susceptible": np.ones(len(claim), dtype=bool),
        "cells_known": np.zeros(len(claim)),
        "cells_read": np.where(made.attempt, tables.synthetic[names].size / made.attempt.sum(), 0.0),
        "half": halves(Tables(tables.real[names], tables.synthetic[names]), seed, "synthetic")[made.rows],
    }
    place = np.argsort(made.rows, kind="stable")
    index = tables.synthetic.index[made.rows[place]]
    records = pd.DataFrame({name: cells[place] for name, cells in shown.items()}, index=index)
    reduced = reduce_claims(records)
    details: dict[str, float] = {}
    if tables.control is not None:
        flags, sizes = _flags(tables, made, names), (n, _size(len(tables.control), tables.control_entities))
        members = len(tables.real)
        isolations = int(flags[:members].sum()), int(flags[members:].sum())
        details |= isolation_details(isolations, sizes, int(claim.sum()))
        details |= against_guess(records["score"], reduced.details["guess"])
    settings: dict[str, Any] = {"columns": names, "attacker": attack.name, "seed": seed}
    settings |= {} if attempts is None else {"attempts": attempts}
    settings |= {} if size is None else {"size": size}
    return Score.of("singling_out", records, reduced, details, settings)


def isolated(
    tables: Tables,
    *,
    columns: Sequence[str] | str | None = None,
    mode: Mode = "multivariate",
    attacker: str | Attack | None = None,
    attempts: int | None = None,
    size: int | None = None,
    seed: int = 0,
    without: str | None = None,
) -> np.ndarray:
    """Return which records a claim isolates among members and control records together, (n + c,) 0 or 1.

    Members come first. Of an entity with several records one is flagged. The options are those of ``singling_out``;
    ``without`` takes the conditions on one column out of the same claims: one that speaks of it alone is none any more.
    """
    names = tables.columns if columns is None else tables.check_columns("columns", columns)
    attack = named_attack("singling_out", ATTACK_OF[mode] if attacker is None else attacker)
    made = _claims(tables, names, attack, attempts, size, seed)
    if without is None:
        return _flags(tables, made, names)
    shorter = [tuple(condition for condition in each if condition[0] != without) for each in made.predicates]
    made = made._replace(predicates=[each for each in shorter if each])
    return _flagged(tables, _of_real(tables, made, names), _of_control(tables, made, names))


def check_values(
    columns: Sequence[str] | str | None = None,
    mode: str = "multivariate",
    attacker: str | Attack | None = None,
    attempts: int | None = None,
    size: int | None = None,
) -> None:
    """Refuse options of ``singling_out`` that break their rules; ``columns`` are checked on the tables."""
    check_word("mode", mode, *ATTACK_OF)
    attack = named_attack("singling_out", ATTACK_OF[mode] if attacker is None else attacker)
    check_attempts(attempts)
    if size is not None:
        attack.check_options({"size": size})
        check_size(size)


class _Claims(NamedTuple):
    """What an attack claims: a row for each attempt, of the rows of the release as they were shown."""

    rows: np.ndarray  # (m,) position in the release of the row
    attempt: np.ndarray  # (m,) whether it counts
    claim: np.ndarray  # (m,) whether it ended in a claim that nobody made before
    confidence: np.ndarray  # (m,)
    predicates: list[Predicate]  # of the claims
    scales: Scales


def _claims(
    tables: Tables, columns: list[str], attack: Attack, attempts: int | None, size: int | None, seed: int
) -> _Claims:
    # the real table has no part in what is claimed
    key = ("singling out", tuple(columns), attack, attempts, size, seed)
    return tables.shared(key, lambda: _claims_of(tables, columns, attack, attempts, size, seed))


def _claims_of(
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
    named = [predicates_of(each) for each in found["predicate"].tolist()]
    of_row = np.repeat(np.arange(m), [max(len(each), 1) for each in named])  # a row without a predicate is an attempt
    claim, predicates = np.zeros(len(of_row), dtype=bool), []
    starts = np.searchsorted(of_row, np.arange(m))
    for row, own in enumerate(named):
        for place, predicate in enumerate(own, start=starts[row]):
            check_predicate(attack.name, predicate, scales)
            if attempt[row] and (key := same_predicate(predicate, scales)) not in seen:
                seen.add(key)
                claim[place] = True
                predicates.append(tuple(tuple(condition) for condition in predicate))
    confidence = found["confidence"].to_numpy(dtype=float)[of_row]
    return _Claims(rows[of_row], attempt[of_row], claim, confidence, predicates, scales)


def _spread(claim: np.ndarray, values: Any, absent: Any = np.nan) -> np.ndarray:
    cells = np.full(len(claim), absent, dtype=object if absent is None else float)
    for row, value in zip(np.flatnonzero(claim), values, strict=True):
        cells[row] = value
    return cells


def _counted(tables: Tables, made: _Claims, columns: list[str]) -> Counts:
    key = ("singled out", tuple(columns), id(made))
    return tables.shared(key, lambda: _of_real(tables, made, columns))


def _of_real(tables: Tables, made: _Claims, columns: list[str]) -> Counts:
    return Countable(tables.real[columns], made.scales, tables.entities).count(made.predicates)


def _of_control(tables: Tables, made: _Claims, columns: list[str]) -> Counts:
    assert tables.control is not None  # noqa: S101 - callers ask first
    Tables(tables.real, tables.control).check_comparable(columns)
    return Countable(tables.control[columns], made.scales, tables.control_entities).count(made.predicates)


def _flags(tables: Tables, made: _Claims, columns: list[str]) -> np.ndarray:
    key = ("isolated", tuple(columns), id(made))
    ours = _counted(tables, made, columns)
    return tables.shared(key, lambda: _flagged(tables, ours, _of_control(tables, made, columns)))


def _flagged(tables: Tables, ours: Counts, theirs: Counts) -> np.ndarray:
    assert tables.control is not None  # noqa: S101 - callers ask first
    groups = (
        (len(tables.real), ours.alone[theirs.rows == 0], tables.entities),
        (len(tables.control), theirs.alone[ours.rows == 0], tables.control_entities),
    )
    return np.concatenate([_flags_of(*each) for each in groups])


def _flags_of(records: int, alone: np.ndarray, entities: np.ndarray | None) -> np.ndarray:
    rows = alone[alone >= 0]  # of an entity the first of its records is flagged
    if entities is not None:
        _, first, own = np.unique(entities, return_index=True, return_inverse=True)
        rows = first[own[rows]]
    flags = np.zeros(records)
    flags[rows] = 1
    return flags


def _size(records: int, entities: np.ndarray | None) -> int:
    return records if entities is None else len(np.unique(entities))


SINGLING_OUT = Metric(
    name="singling_out",
    function=singling_out,
    group="claims",
    claims=True,
    reference="Article 29 Working Party, Opinion 05/2014; Cohen and Nissim 2020, doi:10.1073/pnas.1914598117",
    scores="synthetic",
    check_values=check_values,
    yardsticks=Yardsticks(guess="guess", own_control=True),
    study=InStudy(isolated=isolated, unaveraged=(*LIMITS, *OF_ONE_RELEASE, *limit_names("guess"))),
)


def one_person_values(tables: Tables) -> Score:
    """One-person values: share of real records with a level that no other person has, and that the release holds.

    Looked at are the columns of levels or texts; a missing cell is no value. A level is one person's if no other real
    record (of another entity) has it. A record counts where one such level of its own is in the release, in whatever
    row. ``value = published = mean(own level released)``, in [0, 1], high = what names single people is given out. With
    control records, one person means one among members and control records together.

    A generator that draws cells from the training table releases such levels by design, and a list of levels that
    everybody knows (all occupations there are) holds those of control records as often. So only the difference between
    members and control records is a signal.

    Args:
        tables: Real (n records) and synthetic (m records).

    Returns:
        A ``Score``; ``records``: score (1 if a level that this person alone has is in the release, else 0), alone (1 if
        there is such a level). Details: ``alone_share`` (share of the records with such a level), ``released_share``
        (share of these of whom one is released, NaN where there is none), ``released`` (their number).

    Raises:
        InputError: A numeric column holds text or an infinity in a table.

    Example:
        >>> real = pd.DataFrame({"job": ["clerk", "clerk", "bishop", "diver"], "age": [30, 40, 50, 60]})
        >>> score = ONE_PERSON_VALUES(real, pd.DataFrame({"job": ["bishop", "clerk"], "age": [20, 20]}))
        >>> score.records["score"].tolist(), score.details["alone_share"], score.details["released_share"]
        ([0.0, 0.0, 1.0, 0.0], 0.5, 0.5)
    """
    columns = [name for name in tables.columns if kind(tables.real[name]) == "categorical"]
    tables.check_comparable(tables.columns)
    alone, released = (np.zeros(len(tables.real), dtype=bool) for _ in range(2))
    for name in columns:
        cells = tables.codes([name])
        own = cells.tables[0]
        one = (how_many_with(own, cells.size, tables.entities)[own] == 1) & tables.real[name].notna().to_numpy()
        alone |= one
        released |= one & (matches(cells) > 0)
    records = pd.DataFrame({"score": released.astype(float), "alone": alone}, index=tables.real.index)
    return Score.of("one_person_values", records, reduce_alone(records), {}, {})


def reduce_alone(records: pd.DataFrame) -> Reduction:
    """Return the share of records of whom a level that they alone have is released, also among those who have one."""
    alone, released = int(records["alone"].sum()), float(records["score"].sum())
    of_alone = released / alone if alone else np.nan
    details = {"alone_share": float(np.mean(records["alone"])), "released_share": of_alone, "released": released}
    value = mean_score(records)
    return Reduction(value, value, details)


ONE_PERSON_VALUES = Metric(
    name="one_person_values",
    function=one_person_values,
    group="claims",
    reference="Article 29 Working Party, Opinion 05/2014, singling out: a value of one person alone",
    records=Records(reduce=reduce_alone),
    study=InStudy(difference_only=True),
)
