"""The yardsticks of a direct call: the same attack on control records, a guess, and what real non-members would say."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.scale import contributions, linearised
from synthrisk.metrics.intervals.yardsticks import against_control, against_guess, against_population
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.tables import Tables

if TYPE_CHECKING:
    from synthrisk.metrics.metric import Metric

Scored = Callable[[Tables, dict[str, Any]], Score]


def score_with_yardsticks(metric: "Metric", tables: Tables, scored: Scored, options: dict[str, Any]) -> Score:
    """Score real and control records together, so that one baseline holds for both, and reduce them apart.

    ``scored`` calls the function of the metric with tables and options.
    """
    if metric.reduce is None:
        raise InputError(f"{metric.name} has no score a real record to compare with control")
    score = scored(tables.with_control(), options)
    records = score.records
    assert records is not None  # noqa: S101 - a metric with a reduction has records
    members, controls = records.iloc[: len(tables.real)], records.iloc[len(tables.real) :]
    of_members, of_controls = metric.reduce(members), metric.reduce(controls)
    details = against_control(members["score"], controls["score"]) | {"control": of_controls.value}
    details |= {f"control_{name}": value for name, value in of_controls.details.items()}
    holdout = options.get("mode") == "holdout"
    if metric.has_population and not holdout:
        details |= _beside_population(metric, tables, members, scored, options)
    attacked, found = (controls, of_controls) if holdout else (members, of_members)
    if metric.guess in score.details:  # of claims: the guess of those about the records attacked
        details[metric.guess] = {**score.details, **found.details}[metric.guess]
        details |= against_guess(_contributions(metric, attacked), details[metric.guess])
    found = found._replace(reason=score.reason_for(found))
    return Score.of(metric.name, attacked, found, score.details | details, score.settings, score.warning)


def _beside_population(
    metric: "Metric", tables: Tables, members: pd.DataFrame, scored: Scored, options: dict[str, Any]
) -> dict[str, float]:
    """Score the members where the control records are the release: what real non-members say of them."""
    once = {k: v for k, v in options.items() if k != "permutations"}  # a null calibrates the release, not this
    score = scored(metric.among(tables.with_control_released()), once)
    assert score.records is not None and metric.reduce is not None  # noqa: S101, PT018
    own = score.records.iloc[: len(tables.real)]
    found = against_population(_contributions(metric, members), _contributions(metric, own))
    return {"population": metric.reduce(own).value} | found


def _contributions(metric: "Metric", records: pd.DataFrame) -> pd.Series:
    """Return what the value of these records is the plain mean of."""
    amount = records[metric.contribution].to_numpy(dtype=float)
    if metric.weight is not None:
        weights = records[metric.weight].to_numpy(dtype=float)
        amount = contributions(amount, weights, np.ones(len(records), dtype=bool))
    return pd.Series(linearised(amount, metric.transform))
