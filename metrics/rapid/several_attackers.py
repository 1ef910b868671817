"""Several attacker models on one release: the best of them for each record, or their mean."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Reduction, Score

Envelope = Literal["max", "mean"]


def combined(scores: Mapping[str, Score], envelope: Envelope, reduce: Callable[[pd.DataFrame], Reduction]) -> Score:
    """Return one RAPID score for several attacker models.

    ``max``: each record is attacked by the model with the largest gain (smallest error) on it. The value, the share at
    risk then, flatters the attacker: nobody knows beforehand which model is best. ``mean``: a record's score is the
    share of models that put it at risk; the value is the mean of their values. ``scores`` are on the same records;
    ``reduce`` makes a value and details of records.

    Returns:
        A ``Score``; ``records`` hold ``score_<attacker>`` of each too, and ``best``, the score of the best;
        details ``value_<attacker>``, ``mean`` and ``max``.
    """
    tables = [s.records for s in scores.values() if s.records is not None]
    best = _best(tables)
    each = {f"score_{name}": table["score"] for name, table in zip(scores, tables, strict=True)}
    own = pd.DataFrame(each).assign(best=best["score"])
    mean = np.mean([table["score"] for table in tables], axis=0)
    records = pd.concat([best if envelope == "max" else best.assign(score=mean)[["score"]], own], axis=1)
    first = next(iter(scores.values()))
    settings = first.settings | {"attacker": list(scores), "envelope": envelope}
    guesses = {name: v for name, v in first.details.items() if name in ("guess", "accuracy_guess")}
    return Score.of("rapid", records, reduce(records), guesses, settings)


def _best(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return each record's row from the model with the highest gain or the smallest error; ties: the first."""
    if "gain" in tables[0]:
        chosen = np.argmax([t["gain"] for t in tables], axis=0)
    else:
        chosen = np.argmin([t["error"].fillna(np.inf) for t in tables], axis=0)
    stacked = pd.concat(tables, ignore_index=True)
    rows = stacked.iloc[chosen * len(chosen) + np.arange(len(chosen))]
    return rows.set_axis(tables[0].index)
