"""The measures that a first study of a table needs, and limits on them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from synthrisk.conf.study import Data
from synthrisk.metrics import METRICS
from synthrisk.metrics.study.limits_kept import quantity_to_limit
from synthrisk.metrics.study.quantities import NOTHING
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.propose.look_up import look_up


def measures(table: pd.DataFrame, data: Data) -> list[dict[str, Any]]:
    """Return the measures of a first study, as its settings.

    Two attacks guess each sensitive column, one by looking keys up and one by a model; one tells the nearest records,
    one who was a member, one who is singled out, one which records are released as they are; and one how useful a
    release is.

    Args:
        table: The table as it is read.
        data: The roles of its columns.
    """
    return [
        _look_up(table, data),
        {"name": "rapid", "attackers": ["random_forest"]},
        {"name": "singling_out"},
        {"name": "common_rows_proportion"},
        {"name": "membership", "attackers": ["density_ratio"]},
        {"name": "distance_to_closest_record"},
        {"name": "accuracy"},
    ]


def _look_up(table: pd.DataFrame, data: Data) -> dict[str, Any]:
    """Return CAP with keys, and numbers that are guessed, as coarse as can be looked up."""
    known = list(data.quasi_identifiers)
    keys = look_up(table, known)
    numbers = [name for name in data.sensitive if kind(table[name]) == "numeric"]
    bins = {**keys.bins, **dict.fromkeys(numbers, keys.parts)}
    own = {} if list(keys.columns) == known else {"quasi_identifiers": list(keys.columns)}
    return {"name": "zero_cap", **own, **({"bins": bins} if bins else {})}


def limits(names: Sequence[str], sensitive: Sequence[str], limit: float) -> dict[str, float]:
    """Return the limits of a study by one number: what a person's record may add to the attacks on that person.

    ``control_gain``: of those whom an attacker guesses wrong without their record, the share that it gives away.
    ``memorization``: what membership adds to the share that is singled out, or released as it is. ``tpr``: the members
    found where 1 % of strangers are taken for one, of which as many are found by chance. A measure whose memorization
    is no share of people gets no limit.

    Args:
        names: The metrics of the study.
        sensitive: What is guessed.
        limit: The number.
    """
    found = {}
    for metric in (METRICS[name] for name in names):
        quantity = quantity_to_limit(metric)
        if quantity == "tpr":
            found[f"tpr/{metric.name}"] = limit + NOTHING["tpr"]
        elif quantity == "control_gain":
            found |= {f"{quantity}/{metric.name}.{column}": limit for column in sensitive}
        elif quantity and not metric.difference_only:
            found[f"{quantity}/{metric.name}"] = limit
    return found
