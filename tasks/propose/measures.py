"""The measures that a first study of a table needs, and limits on them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from synthrisk.conf.study import Data
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.metrics.covering import covering, most_alike, shape_of
from synthrisk.metrics.digest import shipped
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.limits_kept import quantity_to_limit
from synthrisk.metrics.study.quantities import NOTHING
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.propose.look_up import look_up

RECOMMENDED = (
    "zero_cap",
    "rapid",
    "singling_out",
    "common_rows_proportion",
    "membership",
    "distance_to_closest_record",
    "accuracy",
)
"""The measures of a first look. Two attacks guess each sensitive column, one by looking keys up and one by a model; one
each tells who is singled out, which records are released as they are, who was a member, and which records are nearest;
and one how useful a release is."""
_ENOUGH = 1000  # control records from which 1 % of them can be told
_ATTACKERS = {"rapid": ["random_forest"], "membership": ["density_ratio"]}


def measures(table: pd.DataFrame, data: Data) -> list[dict[str, Any]]:
    """Return the recommended measures as settings of a study, CAP with keys that can be looked up.

    Args:
        table: The table as it is read.
        data: The roles of its columns.
    """
    attackers = {name: {"attackers": own} for name, own in _ATTACKERS.items()}
    return [_look_up(table, data), *({"name": name, **attackers.get(name, {})} for name in RECOMMENDED[1:])]


def also_needed(table: pd.DataFrame, data: Data, controls: int) -> list[str]:
    """Return the fewest measures beside the recommended ones with which a study is as early as it can be at each leak.

    By the atlas, of the table that is most like this one: each leak that any measure saw there is seen by one of the
    study's, at the smallest dose at which any saw it, in the quantity that a limit would be set on.

    Args:
        table: The table as it is read.
        data: The roles of its columns.
        controls: How many control records a measure sees, over all repetitions.
    """
    digest = shipped()
    if digest is None:
        return []
    able = {name: metric for name, metric in METRICS.items() if metric.installed and not metric.own_needs}
    every = {name: _limited(metric, controls) for name, metric in able.items()}
    alike = most_alike(digest, shape_of(table, data.identifier))
    return covering(digest, {name: quantity for name, quantity in every.items() if quantity}, alike, RECOMMENDED)


def _limited(metric: Metric, controls: int) -> str:
    """Return the quantity of a metric that one number limits, with so many control records; empty where none."""
    quantity = quantity_to_limit(metric)
    if quantity == "tpr" and controls < _ENOUGH:
        return "memorization"
    return "" if quantity == "memorization" and metric.difference_only else quantity


def _look_up(table: pd.DataFrame, data: Data) -> dict[str, Any]:
    """Return CAP with keys, and numbers that are guessed, as coarse as can be looked up."""
    others = [name for name in table.columns if name not in (*data.sensitive, data.identifier, *data.drop)]
    known = others if data.quasi_identifiers == "*" else list(data.quasi_identifiers)
    keys = look_up(table, known)
    numbers = [name for name in data.sensitive if kind(table[name]) == "numeric"]
    bins = {**keys.bins, **dict.fromkeys(numbers, keys.parts)}
    own = {} if list(keys.columns) == known else {"quasi_identifiers": list(keys.columns)}
    return {"name": "zero_cap", **own, **({"bins": bins} if bins else {})}


def check_limit(limit: float) -> None:
    """Refuse a limit that is no share."""
    if not 0 < limit < 1:
        raise InputError(f"--limit must be a number between 0 and 1, got {limit}")


def limits(measures: Sequence[Measure], limit: float, controls: int) -> dict[str, float]:
    """Return the limits of a study by one number: what a person's record may add to the attacks on that person.

    ``control_gain``: of those whom an attacker guesses wrong without their record, the share that it gives away.
    ``memorization``: what membership adds to the share that is singled out, or released as it is. ``tpr``: the members
    found where 1 % of strangers are taken for one, of which as many are found by chance; it takes 1,000 strangers to be
    told, and with fewer ``memorization`` stands instead: what membership adds to the members that are claimed. A
    measure whose memorization is no share of people gets no limit.

    Args:
        measures: What the study measures.
        limit: The number.
        controls: How many control records a measure sees, over all repetitions.
    """
    found = {}
    for measure in (each for each in measures if not each.variant_of):
        quantity = _limited(METRICS[measure.metric], controls)
        if quantity:
            found[f"{quantity}/{measure.key}"] = round(limit + (NOTHING["tpr"] if quantity == "tpr" else 0), 10)
    return found
