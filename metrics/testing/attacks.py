"""Whether somebody's attack keeps the rules of attacks, on small awkward tables."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import CLAIMED, Attack, AttackKind
from synthrisk.metrics.claims.predicates import check_predicate, predicates_of, scales_of
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.register import ATTACKS, METRICS
from synthrisk.metrics.tables.awkward import control, pairs, release, targets
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables

_AGAIN = 3  # tries before a moved global generator is the attack's doing
_CALLS: Mapping[AttackKind, tuple[dict[str, Any], ...]] = {
    "inference": (
        {"quasi_identifiers": ["number", "text", "level", "day"], "sensitive": "flag"},
        {"quasi_identifiers": ["text", "level", "flag", "day"], "sensitive": "number"},
    ),
    "linkability": ({"columns_a": ["number", "text", "day"], "columns_b": ["level", "flag", "huge"]},),
    "singling_out": ({},),
    "membership": ({"control": control()},),
}


class _Case(NamedTuple):
    name: str
    handed: tuple[Any, ...]  # all but the generator
    labels: pd.Index  # of the rows that the attack speaks about

    def copies(self) -> list[Any]:
        """Return what is handed, so that the attack may spoil it."""
        return [each.copy() if isinstance(each, pd.DataFrame) else each for each in self.handed]


def check_attack(attack: Attack | str, *, seed: int = 0, **options: Any) -> None:
    """Test an attack of any kind on small hand-made tables with awkward columns; silent where it passes.

    It must not fail on missing cells, unseen levels, dates, booleans, negative and huge numbers, quotes, repeated
    records, constant and empty columns, or tables of one row; return a frame with the index that it was handed, with
    claims of its kind (missing where it abstains) and a confidence that is a finite number or missing; claim the same
    for the same state of the generator; use no other chance (neither ``numpy.random`` nor ``random``); change nothing
    that it is handed; and, run by the framework, give the same scores whatever the order of rows and columns.

    Args:
        attack: The attack, or the name of an installed one.
        seed: Seed of the generators handed to it.
        **options: Options of the attack's own; where it refuses them for a table that is too small (``InputError``),
            that table is passed over.

    Raises:
        AssertionError: The attack breaks a rule: one sentence that names the attack and the rule.
        InputError: ``attack`` is none, or takes no such option.

    Example:
        >>> def coin(release, known, rng):
        ...     return pd.DataFrame({"confidence": rng.random(len(known))}, index=known.index)
        >>> check_attack(Attack("coin", "membership", coin))
        >>> def loaded(release, known, rng):
        ...     return pd.DataFrame({"confidence": np.random.random(len(known))}, index=known.index)
        >>> check_attack(Attack("loaded", "membership", loaded))
        Traceback (most recent call last):
        AssertionError: attack loaded must draw from the generator handed alone, but moves numpy.random \
(12 targets and 16 records)
    """
    if isinstance(attack, str):
        if attack not in ATTACKS:
            raise InputError(f"attack must be installed, got {attack!r}{nearest(attack, ATTACKS)}")
        attack = ATTACKS[attack]
    if not isinstance(attack, Attack) or attack.kind not in CLAIMED:
        raise InputError(f"attack must be an Attack of the kind {', '.join(CLAIMED)}, got {attack!r}")
    attack.check_options(options)
    for case in _cases(attack.kind):
        found = _claims(attack, case, seed, options)
        if found is not None:
            _check_claims(attack, case, found)
            again = _claims(attack, case, seed, options)
            if again is None or not _equal(found, again):
                _fail(attack, "give the same claims for the same state of the generator", "gave others", case.name)
    if attack.kind in METRICS:
        for call in _CALLS[attack.kind]:
            _check_order(attack, call, seed, options)


def _cases(kind_: AttackKind) -> Iterator[_Case]:
    for name, (people, released) in pairs().items():
        if kind_ == "membership":
            known = _labelled(people, 100)
            yield _Case(name, (released, known), known.index)
        elif kind_ == "singling_out":
            shown = _labelled(released, 100)
            yield _Case(name, (shown,), shown.index)
        elif kind_ == "linkability":
            half = len(people.columns) // 2
            part_a, part_b = _labelled(people.iloc[:, :half], 100), _labelled(people.iloc[::-1, half:], 200)
            yield _Case(name, (released, part_a, part_b), part_a.index)
        else:
            for secret in _guessed(name, people):
                known = _labelled(people.drop(columns=secret).drop_duplicates(), 100)
                yield _Case(f"{name}, {secret} guessed", (released, known, secret), known.index)


def _guessed(name: str, people: pd.DataFrame) -> list[str]:
    """Return the columns guessed: all that have values in the first case, one of each kind in the others."""
    every = next(iter(pairs())) == name
    return [str(c) for c in people if c != "empty" and (every or c in ("number", "text", "flag"))]


def _labelled(table: pd.DataFrame, first: int) -> pd.DataFrame:
    """Return a table whose labels are not its positions."""
    return table.set_axis(pd.Index(range(first + len(table), first, -1)))


def _claims(attack: Attack, case: _Case, seed: int, options: dict[str, Any]) -> Any:
    """Return what the attack claims; None where it refuses its options on this table."""
    handed = case.copies()

    def run(tables: list[Any]) -> Any:
        return attack.function(*tables, np.random.default_rng(seed), **options)

    try:
        found, moved = watched(lambda: run(handed), lambda: run(case.copies()))
    except Exception as problem:
        if isinstance(problem, InputError) and options:
            return None
        said = f"raised {type(problem).__name__}: {' '.join(str(problem).split())}"
        raise AssertionError(_sentence(attack, "cope with awkward tables", said, case.name)) from problem
    if moved:
        _fail(attack, "draw from the generator handed alone", f"moves {' and '.join(sorted(moved))}", case.name)
    for before, after in zip(case.handed, handed, strict=True):
        if isinstance(before, pd.DataFrame) and not _equal(before, after):
            _fail(attack, "leave the tables handed as they are", "changed one", case.name)
    return found


def _check_claims(attack: Attack, case: _Case, found: pd.DataFrame) -> None:
    try:
        claimed = attack.checked(found, case.labels)[CLAIMED[attack.kind]]
        for named in found["predicate"] if attack.kind == "singling_out" else ():
            for predicate in predicates_of(named):
                check_predicate(attack.name, predicate, scales_of(case.handed[0]))
    except InputError as problem:
        raise AssertionError(f"{problem} ({case.name})") from None
    sure = found["confidence"]
    if (pd.to_numeric(sure, errors="coerce").isna() & sure.notna()).any() or sure.dtype == bool:
        _fail(attack, "return a confidence that is a number or missing", f"returned {sure.dtype}", case.name)
    made = claimed[claimed.notna()]
    if attack.kind == "linkability" and not made.isin(case.handed[2].index).all():
        _fail(attack, "match index labels of part_b, or none", "returned others", case.name)
    if attack.kind == "inference" and not _are_values(claimed, case.handed[0][case.handed[2]]):
        _fail(attack, "guess single values of the column's kind", f"returned {claimed.dtype}", case.name)


def _are_values(guessed: pd.Series, column: pd.Series) -> bool:
    """Tell whether the framework can compare what is guessed with the column."""
    try:
        if guessed.isna().all() or column.isna().all():
            return True
        if is_temporal(column):
            pd.Series(guessed.to_numpy(), dtype=column.dtype)
        elif kind(column) == "numeric":
            as_floats(guessed)
        else:
            joint_codes([column, guessed.rename(str(column.name))])
    except (InputError, TypeError, ValueError):
        return False
    return True


def _check_order(attack: Attack, call: dict[str, Any], seed: int, options: dict[str, Any]) -> None:
    """Compare scores with those of the same tables in another order of rows, and of columns."""
    bound = replace(attack, function=partial(attack.function, **options))
    rng = np.random.default_rng(seed)
    real, released = targets(), release()
    rows, others, columns = rng.permutation(len(real)), rng.permutation(len(released)), list(real.columns)[::-1]
    first = _scores(bound, real, released, seed, call)
    for what, table, shown in (
        ("rows", real.iloc[rows], released.iloc[others]),
        ("columns", real[columns], released[columns]),
    ):
        if not np.allclose(_scores(bound, table, shown, seed, call), first, rtol=0, atol=1e-6, equal_nan=True):
            rule = f"give the same scores whatever the order of {what}"
            _fail(attack, rule, "gave others", f"by the metric {attack.kind}")


def _scores(attack: Attack, real: pd.DataFrame, released: pd.DataFrame, seed: int, call: dict[str, Any]) -> np.ndarray:
    """Return score and confidence of each record, in an order of the records by what they hold.

    Which of equal records a claim is counted for is no matter: they are sorted by what they got.
    """
    metric = METRICS[attack.kind]
    try:
        records = metric(real, released, attacker=attack, seed=seed, **call).records
    except InputError as problem:
        raise AssertionError(
            _sentence(attack, "be fit for the framework", f"met: {problem}", f"by the metric {attack.kind}")
        ) from problem
    assert records is not None  # noqa: S101 - metrics of claims have records
    score, sure = (records[c].to_numpy(dtype=float) for c in ("score", "confidence"))
    attacked = real if metric.scores == "real" else released
    whose = attacked.index.get_indexer(records.index)  # a row may make several attempts
    order = np.lexsort((sure, score, canonical(Tables(attacked, attacked)).real[whose]))
    return np.column_stack([score, sure])[order]


def watched(first: Callable[[], Any], again: Callable[[], object]) -> tuple[Any, set[str]]:
    """Return what the first call returns, and the global generators that it moves, as does each later call."""
    states = _global_states()
    found = first()
    moved = _moved_generators(states)
    for _ in range(_AGAIN if moved else 0):  # another thread of the process may draw, but not each time
        random.random(), np.random.random()  # noqa: NPY002, S311 - so that a seed set again shows
        states = _global_states()
        again()
        moved &= _moved_generators(states)
    return found, moved


def _global_states() -> dict[str, Any]:
    legacy = np.random.get_state(legacy=True)  # noqa: NPY002 - the one that must not move
    return {
        "numpy.random": tuple(map(str, map(np.ndarray.tolist, map(np.asarray, legacy)))),
        "random": random.getstate(),
    }


def _moved_generators(before: dict[str, Any]) -> set[str]:
    return {name for name, state in _global_states().items() if state != before[name]}


def _equal(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(first, second, check_exact=True)
    except AssertionError:
        return False
    return True


def _fail(attack: Attack, rule: str, got: str, where: str) -> None:
    raise AssertionError(_sentence(attack, rule, got, where))


def _sentence(attack: Attack, rule: str, got: str, where: str) -> str:
    return f"attack {attack.name} must {rule}, but {got} ({where})"
