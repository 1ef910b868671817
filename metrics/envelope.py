"""Several attackers on one release: the best of them for each record, or their mean."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Score, mean_score

Envelope = Literal["max", "mean"]


def check_envelope(envelope: str) -> None:
    """Refuse a name that is no envelope."""
    if envelope not in ("max", "mean"):
        raise InputError(f"envelope must be max or mean, got {envelope!r}")


def combined(scores: Mapping[str, Score], envelope: Envelope) -> Score:
    """Return one RAPID score for several attackers.

    ``max``: each record is attacked by whoever gains most on it (makes the smallest error); the value is the share at
    risk then, a maximum that flatters the attacker, for nobody knows beforehand who is best. ``mean``: a record's
    score is the share of attackers that put it at risk; the value is the mean of their values.

    Args:
        scores: Score of each attacker, on the same records.
        envelope: ``max`` or ``mean``.

    Returns:
        A ``Score`` whose details hold ``value_<attacker>`` for each, ``mean`` and ``max``.
    """
    each = list(scores.values())
    best = _best([s.records for s in each if s.records is not None])
    means = np.mean([s.records["score"] for s in each if s.records is not None], axis=0)
    records = best if envelope == "max" else best.assign(score=means)[["score"]]
    details = {f"value_{name}": s.value for name, s in scores.items()}
    details |= {
        "mean": float(np.mean([s.value for s in each])),
        "max": mean_score(best),
        "guess": each[0].details["guess"],
    }
    value = mean_score(records)
    return Score(
        "rapid", value, value, records, details, each[0].settings | {"attacker": list(scores), "envelope": envelope}
    )


def _best(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return each record's row from the attacker with the highest gain or the smallest error; ties: the first."""
    if "gain" in tables[0]:
        chosen = np.argmax([t["gain"] for t in tables], axis=0)
    else:
        chosen = np.argmin([t["error"].fillna(np.inf) for t in tables], axis=0)
    stacked = pd.concat(tables, ignore_index=True)
    rows = stacked.iloc[chosen * len(chosen) + np.arange(len(chosen))]
    return rows.set_axis(tables[0].index)
