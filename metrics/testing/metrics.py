"""Whether somebody's metric keeps the rules of metrics, by itself and in a study, on small awkward tables."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.gda_view import OF_CLAIMS
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.said import values_as_plain
from synthrisk.metrics.study.scoring import Arena, score_measure
from synthrisk.metrics.tables.awkward import control, release, targets
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.testing.attacks import watched

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
    _check_order(metric, score, given, seed)
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
        said = f"raised {type(problem).__name__}: {' '.join(str(problem).split())}"
        raise AssertionError(_sentence(metric, "cope with awkward tables", said, "a direct call")) from problem


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
    if metric.guess is None and "guess" in score.details:
        _fail(metric, "declare its guess, which a study reads, as guess='guess'", "declared none")
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
        return
    for column in metric.columns:
        if column not in records:
            _fail(metric, f"give records with the column {column!r} that it declares", f"gave {list(records.columns)}")
        if not pd.api.types.is_numeric_dtype(records[column]):
            _fail(metric, f"give numbers in the column {column!r}", f"gave {records[column].dtype}")
    scores = records["score"].to_numpy(dtype=float)
    mean = float(np.nanmean(scores)) if not np.isnan(scores).all() else math.nan
    if metric.mean and not _same(mean, score.value):
        _fail(metric, "have the mean of its scores as value, or say mean=False", f"gave {score.value:g}, mean {mean:g}")
    if metric.reduce is not None and not _same(metric.reduce(records).value, score.value):
        _fail(metric, "reduce its records to its value", f"gave {score.value:g} and {metric.reduce(records).value:g}")


def _check_order(metric: Metric, first: Score, given: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    real, released = targets(), release()
    rows, others = rng.permutation(len(real)), rng.permutation(len(released))
    columns = list(real.columns)[::-1]
    for what, table, shown in (
        ("rows", real.iloc[rows], released.iloc[others].reset_index(drop=True)),
        ("columns", real[columns], released[columns]),
    ):
        value = _call(metric, table, shown, given, seed).value
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
        said = f"raised {type(problem).__name__}: {' '.join(str(problem).split())}"
        raise AssertionError(_sentence(metric, "go through a study", said, "members beside control")) from problem


def _same(first: float, second: float, near: float = _NEAR) -> bool:
    return bool(np.isclose(first, second, rtol=near, atol=near, equal_nan=True))


def _fail(metric: Metric, rule: str, got: str) -> None:
    raise AssertionError(_sentence(metric, rule, got, "a direct call"))


def _sentence(metric: Metric, rule: str, got: str, where: str) -> str:
    return f"metric {metric.name} must {rule}, but {got} ({where})"
