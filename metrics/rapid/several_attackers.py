"""Several attacker models on one release: the largest value, the mean value, or the best model for each record."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Reduction, Score

Envelope = Literal["max", "mean", "record"]

_OF_ALL = ("guess", "accuracy_guess", "tolerance", "tolerance_days")  # details that no attacker model moves
_NULL = "null_real_"


def combined(scores: Mapping[str, Score], envelope: str, reduce: Callable[[pd.DataFrame], Reduction]) -> Score:
    """Return one RAPID score for several attacker models.

    ``max``, ``rapid_max``: the paper's RAPID_max, the value of the model that puts most of the records at risk (of
    equals the first); the records are those of this model. ``mean``, ``rapid_mean``: the paper's mean over models; a
    record's score is the share of models that put it at risk. ``record``, ``rapid_envelope``: each record is attacked
    by the model with the largest gain (smallest error) on it. The last is at least ``rapid_max`` and flatters the
    attacker: nobody knows beforehand which model is best for whom.

    Args:
        scores: By the name of the attacker model, all on the same records.
        envelope: Which of the three, an ``Envelope``.
        reduce: Makes a value and details of records.

    Returns:
        A ``Score``; ``records`` hold ``score_<attacker>`` and ``gain_<attacker>`` (or ``error_<attacker>``) of each
        model too, and ``best``, the score of the best for the record; details ``value_<attacker>``, ``rapid_mean``,
        ``rapid_max`` and ``rapid_envelope``, and as null the largest (``mean``: the mean) of the models' nulls.
    """
    tables = {name: s.records for name, s in scores.items() if s.records is not None}
    best = _best(list(tables.values()))
    evidence = "gain" if "gain" in best else "error"
    own = {f"score_{name}": table["score"] for name, table in tables.items()}
    own |= {f"{evidence}_{name}": table[evidence] for name, table in tables.items()}
    first = next(iter(scores.values()))
    settings = first.settings | {"attacker": list(scores), "envelope": envelope}
    if envelope == "max":
        largest = max(scores, key=lambda name: np.nan_to_num(scores[name].value, nan=-1.0))
        chosen, settings = tables[largest], settings | {"largest": largest}
    elif envelope == "record":
        chosen = best
    else:
        mean = np.mean([table["score"] for table in tables.values()], axis=0)
        chosen = best.assign(score=mean)[["score", *(c for c in best if c == "tolerance")]]
    records = pd.concat([chosen, pd.DataFrame(own).assign(best=best["score"])], axis=1)
    details = {name: v for name, v in first.details.items() if name in _OF_ALL}
    details |= {} if envelope == "record" else _nulls(list(scores.values()), np.max if envelope == "max" else np.mean)
    return Score.of("rapid", records, reduce(records), details, settings, first.warning)


def values_together(records: pd.DataFrame) -> dict[str, float]:
    """Return what several models come to on some of the records; nothing where there is one model."""
    each = {str(c).removeprefix("score_"): float(records[c].mean()) for c in records if str(c).startswith("score_")}
    if not each:
        return {}
    values = list(each.values())
    together = {"rapid_mean": float(np.mean(values)), "rapid_max": float(np.max(values))}
    return (
        {f"value_{name}": v for name, v in each.items()} | together | {"rapid_envelope": float(records["best"].mean())}
    )


def _nulls(scores: list[Score], choose: Callable[..., object]) -> dict[str, float]:
    """Return the mean null values of the models, one by one the largest or their mean; of p-values there are none."""
    means = {f"{_NULL}mean", *(name for name in scores[0].details if name.startswith(f"{_NULL}curve_"))}
    known = [name for name in scores[0].details if name in means and all(name in s.details for s in scores)]
    return {name: float(choose([s.details[name] for s in scores])) for name in known}  # type: ignore[arg-type]


def _best(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return each record's row from the model with the highest gain or the smallest error; ties: the first."""
    if "gain" in tables[0]:
        chosen = np.argmax([t["gain"] for t in tables], axis=0)
    else:
        chosen = np.argmin([t["error"].fillna(np.inf) for t in tables], axis=0)
    stacked = pd.concat(tables, ignore_index=True)
    rows = stacked.iloc[chosen * len(chosen) + np.arange(len(chosen))]
    return rows.set_axis(tables[0].index)
