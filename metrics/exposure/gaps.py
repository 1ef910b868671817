"""Which quasi-identifiers go with risk: how far the predicted risk lies apart between their levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.exposure.attribution import attribution
from synthrisk.metrics.exposure.risk_terms import RARE
from synthrisk.metrics.intervals.adjust import holm
from synthrisk.metrics.intervals.estimates import Estimate


@dataclass(frozen=True)
class Gap:
    """One quasi-identifier whose levels differ in risk."""

    column: str
    lowest: Estimate  # mean predicted risk with all records at the level (or value) of least risk
    highest: Estimate
    rises: bool | None  # of numbers and dates, whether risk is highest at a larger value than it is lowest; else None
    p_holm: float  # joint Wald test of the column, adjusted for all columns


def risk_gaps(
    scores: Any,
    table: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
) -> list[Gap]:
    """Return the quasi-identifiers that go with risk, the widest gap first; none where the model has no effects.

    The model is that of ``attribution`` without interactions. The gap is between mean predicted risks with all records
    at one level; levels of fewer than ``RARE`` records and levels with a note have no part in it. A column whose joint
    test has Holm's p at or above 1 - confidence is left out. No value of the table is told.

    Args:
        scores: (n,) in [0, 1], NaN = not scored.
        table: (n, p) the records.
        quasi_identifiers: Columns that explain.
        confidence: Confidence level of the intervals and of the tests.
        entities: (n,) entity of each record, or None.

    Example:
        >>> people = pd.DataFrame({"sex": list("fmfm") * 50, "age": range(200)})
        >>> [gap.column for gap in risk_gaps([1, 0, 1, 1, 1, 0, 0, 0] * 25, people, ["sex", "age"])]
        ['sex']
    """
    found = attribution(scores, table, quasi_identifiers, False, confidence, entities)
    if found.reason:
        return []
    adjusted = dict(zip(found.columns["column"], holm(found.columns["p_value"].to_numpy(float)), strict=True))
    gaps = []
    for column, own in found.predictions.groupby("column", sort=False):
        known = own[(own["records"] >= RARE) & (own["note"] == "") & own["risk"].notna()].reset_index(drop=True)
        if len(known) < 2 or not adjusted[column] < 1 - confidence:
            continue
        risks, places = known["risk"].to_numpy(float), known["value"].to_numpy(float)
        low, high = int(risks.argmin()), int(risks.argmax())
        rises = None
        if known["kind"][low] != "categorical" and not np.isnan(places[[low, high]]).any():
            rises = bool(places[high] > places[low])
        limits = known[["risk", "lower", "upper"]].to_numpy(float)
        ends = Estimate(*limits[low]), Estimate(*limits[high])
        gaps.append(Gap(str(column), ends[0], ends[1], rises, float(adjusted[column])))
    return sorted(gaps, key=lambda gap: gap.lowest.value - gap.highest.value)
