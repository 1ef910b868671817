"""RAPID: the share of real records whose sensitive value a model trained on the release gives away.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from synthrisk.metrics.attackers import Attacker, attacker
from synthrisk.metrics.envelope import Envelope, check_envelope, combined
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.gain import CURVE, threshold_curve
from synthrisk.metrics.guesses import Baseline, class_guesses, value_guesses
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.prediction_error import ErrorName, check_error
from synthrisk.metrics.tables import Tables

Choice: TypeAlias = str | BaseEstimator | Attacker
Mode = Literal["match", "holdout"]


def rapid(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    mode: Mode = "match",
    baseline: Baseline = "real",
    envelope: Envelope = "max",
    seed: int = 0,
) -> Score:
    """RAPID: share of real records that a model trained on the release gives away.

    The attacker fits a model on the release (quasi-identifiers -> sensitive) and applies it to the real
    records. Categorical target: at risk when the gain r = (g - b)/(1 - b) > ``threshold``, with g the probability
    of the true class and b its share. Numeric target: at risk when the error < ``tolerance``. ``value`` = share
    at risk among the scored records, in [0, 1]; an attacker with no information has a value above 0 too, so read
    it beside control and null.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: The one column guessed; its kind decides which form is used.
        attacker: ``random_forest``, ``gradient_boosting``, ``cart``, ``lasso``, ``logistic`` (categorical),
            ``linear`` (numeric), a scikit-learn estimator, or a list of such.
        threshold: Gain above which a categorical record is at risk, in [0, 1).
        tolerance: Error below which a numeric record is at risk; 0.10 unless given. ``absolute`` needs one,
            in units of the attribute.
        error: Error of a numeric guess: see ``prediction_error``.
        delta: Stabiliser of that error.
        mode: ``match``: the records of ``real`` are attacked; ``holdout``: those of ``control`` are, which the
            synthesizer never saw. The third mode of the paper fits synthesizers: see ``cross_validated``.
        baseline: Where class shares come from: all ``real`` records (members and control), or those ``scored``
            together (members apart from control).
        envelope: How several attackers are put together: see ``envelope.combined``.
        seed: Seed of the model.

    Returns:
        A ``Score``; ``records``: score (1 at risk, 0 not, NaN not scored), at_risk, guess, truth, and gain,
        confidence, baseline, right (categorical) or error (numeric). Details: accuracy, mean_gain, the threshold
        curve at 0.00, 0.05 ... 0.95 (categorical); rmse, mae, not_scored (numeric); guess (success of the best
        constant guess).

    Raises:
        InputError: An argument breaks its rule; one class only; a target of the wrong kind for the attacker.
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for rapid, got {hidden!r}")
    check_values(attacker, threshold, tolerance, error, delta, mode, baseline, envelope)
    if mode == "holdout" and tables.groups is None:
        raise InputError("control must be given for the mode holdout, got none")
    if isinstance(attacker, list | tuple):
        rule: dict[str, Any] = {"threshold": threshold, "tolerance": tolerance, "error": error, "delta": delta}
        rule |= {"quasi_identifiers": known, "sensitive": hidden, "mode": mode, "baseline": baseline, "seed": seed}
        models = [_attacker(choice) for choice in attacker]
        return combined({m.name: rapid(tables, attacker=m, **rule) for m in models}, envelope, reduce_rapid)
    model = _attacker(attacker)
    settings: dict[str, Any] = {
        "quasi_identifiers": known,
        "sensitive": hidden[0],
        "attacker": model.name,
        "mode": mode,
        "seed": seed,
    }
    if tables.kind(hidden[0]) == "categorical":
        records, details = class_guesses(tables, known, hidden[0], model, seed, threshold, baseline)
        settings |= {"threshold": threshold, "baseline": baseline}
    else:
        limit = 0.10 if tolerance is None else float(tolerance)
        records, details = value_guesses(tables, known, hidden[0], model, seed, limit, error, delta)
        settings |= {"tolerance": limit, "error": error, "delta": delta}
    return Score.of("rapid", records, reduce_rapid(records), details, settings)


_attacker = attacker  # the argument of rapid has the same name


def reduce_rapid(records: pd.DataFrame) -> Reduction:
    """Return the share at risk and how well the attacker does, for some of the records."""
    value = mean_score(records)
    details: dict[str, float] = {}
    if "right" in records:
        details["accuracy"] = float(records["right"].mean())
    if "gain" in records:
        details["mean_gain"] = float(records["gain"].mean())
        shares = threshold_curve(records["gain"].to_numpy(dtype=float), CURVE)
        details |= {f"curve_{t:.2f}": float(v) for t, v in zip(CURVE, shares, strict=True)}
    if "error" in records:
        gap = (records["truth"] - records["guess"]).abs().to_numpy(dtype=float)
        details["rmse"], details["mae"] = float(np.sqrt(np.nanmean(gap**2))), float(np.nanmean(gap))
        details["not_scored"] = float(records["score"].isna().mean())
    each = {c.removeprefix("score_"): float(records[c].mean()) for c in records if str(c).startswith("score_")}
    if each:
        details |= {f"value_{name}": v for name, v in each.items()}
        details |= {"mean": float(np.mean(list(each.values()))), "max": float(records["best"].mean())}
    return Reduction(value, value, details)


def check_values(
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: float | None = None,
    error: str = "symmetric",
    delta: float = 0.01,
    mode: str = "match",
    baseline: str = "real",
    envelope: str = "max",
) -> None:
    """Refuse options of ``rapid`` that break their rules."""
    check_envelope(envelope)
    names = [_attacker(choice).name for choice in (attacker if isinstance(attacker, list | tuple) else [attacker])]
    if not names or len(set(names)) < len(names):
        raise InputError(f"attacker must list at least one model and each once, got {names!r}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise InputError(f"threshold must be a number in [0, 1), got {threshold!r}")
    check_error(error, delta)
    if tolerance is None and error == "absolute":
        raise InputError("tolerance must be given for the absolute error, in units of the attribute, got none")
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if tolerance is not None and not (number and 0 < tolerance < np.inf):
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}")
    if mode not in ("match", "holdout"):
        hint = ": a release has no folds, call cross_validated or run a study" if mode == "cross_validated" else ""
        raise InputError(f"mode must be match or holdout, got {mode!r}{hint}")
    if baseline not in ("real", "scored"):
        raise InputError(f"baseline must be real or scored, got {baseline!r}")


RAPID = Metric(
    name="rapid",
    function=rapid,
    group="rapid",
    per_record=True,
    needs=("quasi_identifiers", "sensitive"),
    range=(0.0, 1.0),
    reference="Templ, Thees and Mueller, RAPID; R package RAPID at de6ee65",
    check_values=check_values,
    reduce=reduce_rapid,
)
