"""Whom somebody is right about who gives the same answer about everybody, and has seen no release."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.rapid.prediction_error import near_best_constant
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.levels import column_levels
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import numeric_target

_EXACT = "cap"  # the group of the metrics that ask whether a number is equal
_NEAR = "rapid"  # that of those which ask whether it is near


def constant_guess(records: pd.DataFrame, sensitive: str, group: str, options: Mapping[str, Any]) -> np.ndarray:
    """Return whom the best constant answer is right about, (n,) of 0 and 1.

    The answer is the commonest value of the real table; of equally common ones the first in level order. Of a number
    that a metric of RAPID guesses it is the number that is near to most records, by the metric's own tolerance. NaN
    where the record has no value, and for all records where other metrics guess numbers.

    Args:
        records: (n, p) the real table.
        sensitive: The column guessed.
        group: The group of the metric (``Metric.group``).
        options: Options of the metric: ``tolerance``, ``error``, ``delta``.

    Example:
        >>> constant_guess(pd.DataFrame({"vote": ["a", "b", "a", None]}), "vote", "cap", {}).tolist()
        [1.0, 0.0, 1.0, nan]
    """
    column = records[sensitive]
    there = column.notna().to_numpy()
    right = np.full(len(column), np.nan)
    if not there.any():
        return right
    if kind(column) == "categorical" or group == _EXACT:
        codes = column_levels(column[there], None).codes
        right[there] = codes == np.bincount(codes).argmax()
    elif group == _NEAR:
        try:
            target = numeric_target(
                Tables(records[[sensitive]], records[[sensitive]]),
                sensitive,
                options.get("tolerance"),
                options.get("error", "symmetric"),
            )
        except InputError:  # a tolerance that this column does not have: the measure says so itself
            return right
        right[there] = near_best_constant(target.truth[there], target.limit, target.error, options.get("delta", 0.01))
    return right
