"""Tests of a metric or an attack of one's own in one line each: ``check_metric(MINE)``, ``check_attack(MINE)``."""

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import CLAIMED, Attack, AttackKind
from synthrisk.metrics.claims.predicates import check_predicate, predicates_of, scales_of
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import ATTACKS, METRICS
from synthrisk.metrics.score import Score
from synthrisk.metrics.study.gda import OF_CLAIMS
from synthrisk.metrics.study.ledger import Measure, Planned, values_as_plain
from synthrisk.metrics.study.scoring import Arena, score_measure
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables.order import canonical
from synthrisk.metrics.tables.tables import Tables

_TEXTS = ["O'Brien", '"quoted"', "Łódź", "日本", "", "a,b\n", "x == 1"]


def targets() -> pd.DataFrame:
    """Return 12 distinct records: missing cells of every kind, negative and huge numbers, dates, quotes, constants."""
    return pd.DataFrame(
        {
            "number": [-3.5, 0.0, np.nan, 1e-9, -3.5, 2.0, 100.25, np.nan, 0.0, -1.0, 2.0, 7.5],
            "huge": np.array([2**53 + 1, -(2**62), 0, 5, 5, 2**53, -1, 7, 9, 2**62, 3, 2**53 + 1]),
            "count": pd.array([1, None, 3, 3, 0, -2, None, 1, 1, 2, 3, 0], dtype="Int64"),
            "text": [*_TEXTS, None, "only real", "O'Brien", "Łódź", None],
            "level": pd.Categorical([*"abcabcabcab", None], categories=[*"dcba"]),
            "flag": [True, False, True, True, False, False, True, False, True, False, True, True],
            "day": pd.to_datetime(
                ["1969-12-31", "NaT", "2020-02-29", "2020-03-01", "2262-01-01", "1900-01-01"] * 2, format="%Y-%m-%d"
            ),
            "constant": 7,
            "empty": np.full(12, np.nan),
        }
    )


def release() -> pd.DataFrame:
    """Return 16 records with the same columns: copies, repeated records, and levels that no target has."""
    own = targets()
    other = own.iloc[[0, 1, 2, 3, 4, 5]].assign(
        number=[-0.5, 1e6, np.nan, 3.25, -2.0, 0.125],
        text=np.array(["only synthetic", "日本", None, "' OR 1=1 --", "x == 1", ""], dtype=object),
        flag=[False, False, True, False, True, True],
    )
    table = pd.concat([own.iloc[[0, 3, 6, 6, 6, 9, 10]], other, other.iloc[[1, 1, 4]]], ignore_index=True)
    return table.astype({"level": own["level"].dtype})


def control() -> pd.DataFrame:
    """Return 8 records of the targets' kind that are not among them."""
    own = targets().iloc[[1, 2, 4, 5, 7, 8, 10, 11]].reset_index(drop=True)
    return own.assign(number=own["number"].fillna(4.0) - 1.5, flag=~own["flag"])


def pairs() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return targets and release of each case by its name."""
    people, released = targets(), release()
    return {
        "12 targets and 16 records": (people, released),
        "one target and one record": (people.iloc[[0]], released.iloc[[10]].reset_index(drop=True)),
        "one target": (people.iloc[[2]], released),
        "one record": (people, released.iloc[[0]]),
        "a release of equal records": (people.iloc[:5], released.iloc[[1] * 6].reset_index(drop=True)),
        "two columns": (people[["text", "flag"]].drop_duplicates(), released[["text", "flag"]]),
    }


_AGAIN = 3  # tries before a moved global generator is the attack's doing
_CALLS: Mapping[AttackKind, tuple[dict[str, Any], ...]] = {
    "inference": (
        {"quasi_identifiers": ["number", "text", "level", "day"], "sensitive": "flag"},
        {"quasi_identifiers": ["text", "level", "flag", "day"], "sensitive": "number"},
    ),
    "linkability": ({"columns_a": ["number", "text", "day"], "columns_b": ["level", "flag", "huge"]},),
    "singling_out": ({},),
    "membership": ({"control": control(), "claim_share": 0.6},),  # as many claims as members
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
        raise AssertionError(_sentence(attack, "cope with awkward tables", _raised(problem), case.name)) from problem
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
    first = _scores(bound, targets(), release(), seed, call)
    for what, table, shown in _reordered(seed):
        if not np.allclose(_scores(bound, table, shown, seed, call), first, rtol=0, atol=1e-6, equal_nan=True):
            rule = f"give the same scores whatever the order of {what}"
            _fail(attack, rule, "gave others", f"by the metric {attack.kind}")


def _reordered(seed: int) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield what is in another order, rows or columns, and the targets and the release in that order."""
    rng, real, released = np.random.default_rng(seed), targets(), release()
    yield "rows", real.iloc[rng.permutation(len(real))], released.iloc[rng.permutation(len(released))]
    yield "columns", real[real.columns[::-1]], released[real.columns[::-1]]


def _scores(attack: Attack, real: pd.DataFrame, released: pd.DataFrame, seed: int, call: dict[str, Any]) -> np.ndarray:
    """Return score and confidence of each record, in an order of the records by what they hold.

    Which of equal records a claim is counted for is no matter: they are sorted by what they got.
    """
    metric = METRICS[attack.kind]
    try:
        records = metric(real, released, attacker=attack, seed=seed, **call).records
    except InputError as problem:
        told = _sentence(attack, "be fit for the framework", f"met: {problem}", f"by the metric {attack.kind}")
        raise AssertionError(told) from problem
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


def _fail(tested: Attack | Metric, rule: str, got: str, where: str = "a direct call") -> NoReturn:
    raise AssertionError(_sentence(tested, rule, got, where))


def _sentence(tested: Attack | Metric, rule: str, got: str, where: str = "a direct call") -> str:
    what = "attack" if isinstance(tested, Attack) else "metric"
    return f"{what} {tested.name} must {rule}, but {got} ({where})"


def _raised(problem: Exception) -> str:
    return f"raised {type(problem).__name__}: {' '.join(str(problem).split())}"


_ROLES: dict[str, Any] = {"quasi_identifiers": ["number", "text", "level", "day"], "sensitive": "flag"}
_NEAR = 1e-9


def check_metric(metric: Metric | str, *, seed: int = 0, **options: Any) -> None:
    """Test a metric on small hand-made tables with awkward columns; silent where it passes.

    Called directly it must cope with missing cells, unseen levels, dates, booleans, huge numbers, quotes, repeated
    records, constant and empty columns; give a value in its range, or NaN with a reason; records with the index of the
    real table (or of the release, as ``scores`` says) and numbers in all columns that it declares; a value that is the
    mean of ``score`` where ``mean`` says so, and what ``reduce`` makes of the records everywhere; the same for the same
    seed, and whatever the order of rows and columns; change no table and move no global generator. In a study it must
    score members and control records of a release in one pass, and say nothing that a ledger cannot keep.

    Args:
        metric: The metric, or the name of an installed one.
        seed: Seed of what it draws.
        **options: Options of its own, and roles in place of these: quasi_identifiers ``number, text, level, day``,
            sensitive ``flag``.

    Raises:
        AssertionError: The metric breaks a rule: one sentence that names the metric and the rule.
        InputError: ``metric`` is none, or takes no such option.

    Example:
        >>> from dataclasses import replace
        >>> check_metric("zero_cap")
        >>> check_metric(replace(METRICS["zero_cap"], name="mine", range=(0.9, 1.0)))
        Traceback (most recent call last):
        AssertionError: metric mine must give a value in its range (0.9, 1.0), but gave 0.416667 (a direct call)
    """
    if isinstance(metric, str):
        if metric not in METRICS:
            raise InputError(f"metric must be installed, got {metric!r}{nearest(metric, METRICS)}")
        metric = METRICS[metric]
    if not isinstance(metric, Metric):
        raise InputError(f"metric must be a Metric, got {type(metric).__name__}")
    given = {name: each for name, each in _ROLES.items() if name in metric.needs} | options
    if "control" in metric.needs:
        given["control"] = control()
    metric.check({**given, "seed": seed})
    score = _alone(metric, given, seed)
    _check_score(metric, score)
    _check_rows_order(metric, score, given, seed)
    _check_study(metric, {k: v for k, v in given.items() if k != "control"}, seed)


def _alone(metric: Metric, given: dict[str, Any], seed: int) -> Score:
    """Return the score of a direct call, once it is sure that it can be had again and changes nothing."""
    real, released = targets(), release()
    score, moved = watched(
        lambda: _call(metric, real, released, given, seed), lambda: _call(metric, targets(), release(), given, seed)
    )
    if moved:
        _fail(metric, "draw from its seed alone", f"moves {' and '.join(sorted(moved))}")
    if not (real.equals(targets()) and released.equals(release())):
        _fail(metric, "leave the tables as they are", "changed one")
    if not isinstance(score, Score):
        _fail(metric, "return a Score", f"returned {type(score).__name__}")
    again = _call(metric, real, released, given, seed)
    if not _same(score.value, again.value, 0.0):
        _fail(metric, "give the same value for the same seed", f"gave {score.value!r} and {again.value!r}")
    return score


def _call(metric: Metric, real: pd.DataFrame, released: pd.DataFrame, given: dict[str, Any], seed: int) -> Any:
    try:
        own = dict(given)
        return metric.score(Tables(real, released, own.pop("control", None)), seed=seed, **own)
    except Exception as problem:
        raise AssertionError(_sentence(metric, "cope with awkward tables", _raised(problem))) from problem


def _check_score(metric: Metric, score: Score) -> None:
    low, high = metric.range
    if score.metric != metric.name and score.metric not in METRICS:
        _fail(metric, "name itself in its score", f"named {score.metric!r}")
    if np.isnan(score.value):
        if not score.reason:
            _fail(metric, "say why it has no value", "gave NaN without a reason")
    elif not low <= score.value <= high:
        _fail(metric, f"give a value in its range {metric.range}", f"gave {score.value:g}")
    bad = [name for name, each in score.details.items() if not isinstance(each, float | int | np.floating | np.integer)]
    if bad:
        _fail(metric, "give numbers as details", f"{bad[0]} is {type(score.details[bad[0]]).__name__}")
    if metric.yardsticks.guess is None and "guess" in score.details:
        rule = "declare its guess, which a study reads, as yardsticks=Yardsticks(guess='guess')"
        _fail(metric, rule, "declared none")
    missing = [name for name in OF_CLAIMS if metric.claims and name not in score.details]
    if missing:
        _fail(metric, f"give the details {', '.join(OF_CLAIMS)}, since it makes claims", f"gave no {missing[0]}")
    if metric.per_record:
        _check_records(metric, score)


def _check_records(metric: Metric, score: Score) -> None:
    records, rows = score.records, len(targets() if metric.scores == "real" else release())
    if records is None or len(records) != rows:
        got = "none" if records is None else f"{len(records)} rows"
        _fail(metric, f"give one record for each of the {rows} {metric.scores} ones", f"gave {got}")
    for column in metric.columns:
        if column not in records:
            _fail(metric, f"give records with the column {column!r} that it declares", f"gave {list(records.columns)}")
        if not pd.api.types.is_numeric_dtype(records[column]):
            _fail(metric, f"give numbers in the column {column!r}", f"gave {records[column].dtype}")
    scores = records["score"].to_numpy(dtype=float)
    mean = float(np.nanmean(scores)) if not np.isnan(scores).all() else math.nan
    if metric.records.mean and not _same(mean, score.value):
        rule = "have the mean of its scores as value, or say records=Records(mean=False)"
        _fail(metric, rule, f"gave {score.value:g}, mean {mean:g}")
    reduced = math.nan if metric.records.reduce is None else metric.records.reduce(records).value
    if metric.records.reduce is not None and not _same(reduced, score.value):
        _fail(metric, "reduce its records to its value", f"gave {score.value:g} and {reduced:g}")


def _check_rows_order(metric: Metric, first: Score, given: dict[str, Any], seed: int) -> None:
    for what, table, shown in _reordered(seed):
        value = _call(metric, table, shown.reset_index(drop=True), given, seed).value
        if not _same(first.value, value, 1e-6):
            _fail(metric, f"give the same value whatever the order of {what}", f"gave {first.value!r} and {value!r}")


def _check_study(metric: Metric, given: dict[str, Any], seed: int) -> None:
    """Score a release as a study does: members and control records together, with what a ledger keeps of them."""
    real = pd.concat([targets(), control()], ignore_index=True)
    member = pd.array(np.arange(len(real)) < len(targets()), dtype="boolean")
    measure = Measure(metric.name, metric.name, given.get("sensitive"))
    try:
        arena = Arena(Tables(real, release(), groups=np.where(member, 1, 0)), member, seed)
        rows, values = score_measure(metric, arena, Planned(measure, given), seed)
        json.dumps(values_as_plain({measure.key: values}))
        if not metric.by_release and not metric.is_utility:
            missing = [c for c in metric.columns if rows is None or c not in rows.column_names]
            assert not missing, f"its ledger has no column {missing}"  # noqa: S101 - told below
    except Exception as problem:
        told = _sentence(metric, "go through a study", _raised(problem), "members beside control")
        raise AssertionError(told) from problem


def _same(first: float, second: float, near: float = _NEAR) -> bool:
    return bool(np.isclose(first, second, rtol=near, atol=near, equal_nan=True))
