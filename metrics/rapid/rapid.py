"""RAPID: the share of real records whose sensitive value a model trained on the release gives away.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.proportions import ShareMethod, share
from synthrisk.metrics.intervals.yardsticks import (
    CURVE_NAMES,
    NUMBER_CURVE_NAMES,
    TOLERANCES,
    threshold_curve,
    tolerance_curve,
)
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.models.attackers import attacker_model
from synthrisk.metrics.rapid.guesses import (
    NULL_CURVE,
    NULL_CURVE_OF_NUMBERS,
    Baseline,
    class_guesses,
    value_guesses,
)
from synthrisk.metrics.rapid.null import P_VALUES, Permute, named
from synthrisk.metrics.rapid.null_by_refit import permutation_null
from synthrisk.metrics.rapid.options import Choice, Mode, check_values
from synthrisk.metrics.rapid.prediction_error import best_constant
from synthrisk.metrics.rapid.several_attackers import Envelope, combined, values_together
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import ErrorName, Tolerance, numeric_target, too_wide


def rapid(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    attacker: Choice | Sequence[Choice] = "random_forest",
    threshold: float = 0.3,
    tolerance: Tolerance = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    mode: Mode = "match",
    baseline: Baseline = "real",
    envelope: Envelope = "max",
    permute: Permute = "synthetic",
    permutations: int = 0,
    seed: int = 0,
) -> Score:
    """RAPID: share of real records that a model trained on the release gives away.

    The attacker fits a model on the release (quasi-identifiers -> sensitive) and applies it to the real records. A
    category is at risk when the gain r = (g - b)/(1 - b) > ``threshold``, with g the probability of the true class and
    b its share; a number when the error < ``tolerance``. ``value`` = share at risk among the scored records, in [0, 1].
    An attacker with no information has a value above 0 too, so read it beside control and null.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: The one column guessed; its kind decides which form is used.
        attacker: The attacker model: ``random_forest``, ``ranger`` (categorical), ``gradient_boosting``, ``cart``,
            ``lasso``, ``logistic`` (categorical), ``linear`` (numeric), a scikit-learn estimator, or a list of such.
            Levels are numbered in ``level_order``, not by name as in R. The R package's forest is ``ranger``: where
            quasi-identifiers are few and coarse its trees stay shallow, and the value is lower (the paper's usage
            example: .16, where ``random_forest`` has .38).
        threshold: Gain above which a categorical record is at risk, in [0, 1).
        tolerance: Error below which a numeric record is at risk; 0.10 unless given. ``absolute`` needs one, in units of
            the attribute. Dates and durations have the absolute error in days, and 10 % of the interquartile range
            unless a duration (``"30 days"``) is given. For numbers far from zero give a share of that range
            (``"0.1 iqr"``): see ``tolerance.absolute_tolerance``.
        error: Error of a numeric guess: see ``prediction_error``.
        delta: Stabiliser of that error.
        mode: ``match``: the records of ``real`` are attacked; ``holdout``: those of ``control``, which the synthesizer
            never saw. The paper's third mode fits synthesizers: see ``cross_validated``.
        baseline: Where class shares come from: all ``real`` records (members and control), or those ``scored``
            together (members apart from control).
        envelope: What of several attacker models is the value: ``max``, the largest of their values (the paper's
            RAPID_max); ``mean``, the mean of them; ``record``, each record attacked by the model that gains most on
            it. All three are among the details, as ``rapid_max``, ``rapid_mean`` and ``rapid_envelope``: see
            ``several_attackers.combined``.
        permute: Whose sensitive values are permuted in the calibration: see ``null_by_refit.permutation_null``.
        permutations: How many permutations calibrate the value (20 is enough; ``synthetic`` refits the model each
            time); 0: only the exact null of permuted real values, which needs no fit.
        seed: Seed of the model.

    Returns:
        A ``Score``; ``records``: score (1 at risk, 0 not, NaN not scored), at_risk, guessed, truth, and gain (the
        paper's r_i), confidence, baseline, right (categorical) or error (e_i; dates and durations in days), tolerance
        (numeric). Details: accuracy, mean_gain (categorical); rmse, mae, not_scored, ``tolerance`` (numeric),
        ``tolerance_days`` (dates and durations); the curve that ``plot()`` draws: ``curve_0.00``, ``curve_0.05`` ...
        ``curve_0.95``, the share at risk at each threshold, of a number ``curve_x0.25``, ``curve_x0.50`` ...
        ``curve_x5.00`` at each tolerance in units of that in force, of several attacker models the largest at each;
        ``null_real_curve_...`` the same of permuted real values; ``guess``, the value of the best constant answer
        (class shares: 0; a number: the largest share of records that one prediction puts at risk);
        ``accuracy_guess``, the accuracy of the commonest class; ``null_real_`` or ``null_synthetic_`` mean, quantile
        (95 %), p_value and threshold (tolerance for a number), which 5 % of the gains of an attacker without
        information pass; ``wilson_``, ``clopper_pearson_`` and ``bootstrap_`` lower and upper: 95 % intervals over the
        records, this release given.

    Raises:
        InputError: An argument breaks its rule; one class only; a target of the wrong kind for the attacker model.
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    if len(hidden) != 1:
        raise InputError(f"sensitive must be one column for rapid, got {hidden!r}")
    check_values(attacker, threshold, tolerance, error, delta, mode, baseline, envelope, permute, permutations)
    if mode == "holdout" and tables.groups is None:
        raise InputError("control must be given for the mode holdout, got none")
    rule: dict[str, Any] = {"quasi_identifiers": known, "sensitive": hidden, "threshold": threshold, "seed": seed}
    rule |= {"tolerance": tolerance, "error": error, "delta": delta}
    if isinstance(attacker, list | tuple):
        models = [attacker_model(choice) for choice in attacker]
        each = {m.name: rapid(tables, attacker=m, mode=mode, baseline=baseline, **rule) for m in models}
        return together(each, envelope)
    model = attacker_model(attacker)
    settings: dict[str, Any] = {"quasi_identifiers": known, "sensitive": hidden[0], "attacker": model.name}
    settings |= {"mode": mode, "seed": seed}
    warning, roles = None, (known, hidden[0], model, seed)
    drawn = permutations if permute == "real" else 0
    if tables.kind(hidden[0]) == "categorical":
        records, details = class_guesses(tables, *roles, threshold, baseline, drawn)
        settings |= {"threshold": threshold, "baseline": baseline}
    else:
        target = numeric_target(tables, hidden[0], tolerance, error)
        records, details = value_guesses(tables, *roles, target, delta, drawn)
        details |= {"tolerance_days": target.limit} if target.temporal else {}
        limit = target.limit
        settings |= {"tolerance": limit, "error": target.error, "delta": delta}
        if limit > 1 and target.error != "absolute":
            warning = f"tolerance {limit:g} is a share of the value: nearly every guess is within it (5 % is 0.05)"
        else:
            warning = too_wide(details["guess"], target.truth, temporal=target.temporal)
    if permutations and permute == "synthetic" and records["score"].notna().any():
        details |= named(permutation_null(tables, attacker=model, permutations=permutations, **rule))
    if permutations:
        settings |= {"permute": permute, "permutations": permutations}
    return Score.of("rapid", records, reduce_rapid(records), details, settings, warning)


def best_answer(
    tables: Tables,
    *,
    sensitive: Sequence[str] | str,
    tolerance: Tolerance = None,
    error: ErrorName = "symmetric",
    delta: float = 0.01,
    **_: object,
) -> float:
    """Return the largest share of the real records that one answer puts at risk: of classes 0, for its gain is 0."""
    (hidden,) = tables.check_columns("sensitive", sensitive)
    if tables.kind(hidden) == "categorical":
        return 0.0
    target = numeric_target(tables, hidden, tolerance, error)
    return best_constant(target.truth[~np.isnan(target.truth)], target.limit, target.error, delta)


def together(scores: Mapping[str, Score], envelope: str) -> Score:
    """Return the score of several attacker models: see ``several_attackers.combined``."""
    return combined(scores, envelope, reduce_rapid)


def reduce_rapid(records: pd.DataFrame) -> Reduction:
    """Return the share at risk and how well the attacker model does, for some of the records."""
    value = mean_score(records)
    details = _intervals(records["score"].dropna().to_numpy(dtype=float))
    if "right" in records:
        details["accuracy"] = float(records["right"].mean())
    if "gain" in records:
        details["mean_gain"] = float(records["gain"].mean())
    if "error" in records:
        gap = (records["truth"] - records["guessed"]).abs()
        details["rmse"], details["mae"] = float(np.sqrt((gap**2).mean())), float(gap.mean())
        details["not_scored"] = float(records["score"].isna().mean())
    details |= _curve(records) | values_together(records)
    reason = None
    if np.isnan(value):
        told = "truth" in records and records["truth"].notna().any()
        reason = f"the {'release has no value to learn from' if told else 'sensitive value of every record is missing'}"
    return Reduction(value, value, details, reason)


_METHODS: tuple[ShareMethod, ...] = ("wilson", "clopper_pearson", "bootstrap")
_LIMITS = tuple(f"{method}_{end}" for method in _METHODS for end in ("lower", "upper"))


def _curve(records: pd.DataFrame) -> dict[str, float]:
    """Return the share at risk by threshold, or of a number by tolerance; of several models the largest at each."""
    for evidence, names in (("gain", CURVE_NAMES), ("error", NUMBER_CURVE_NAMES)):
        each = [c for c in records if str(c).startswith(f"{evidence}_")] or [c for c in records if c == evidence]
        if each:
            values = records[each].to_numpy(dtype=float).T
            if evidence == "gain":
                curves = [threshold_curve(own) for own in values]
            else:
                curves = [tolerance_curve(own, TOLERANCES * records["tolerance"].iloc[0]) for own in values]
            return dict(zip(names, np.max(curves, axis=0).tolist(), strict=True))
    return {}


def _intervals(scores: np.ndarray) -> dict[str, float]:
    if not len(scores) or not np.isin(scores, (0, 1)).all():
        return {}
    found = [share(scores, 0.95, method) for method in _METHODS]
    return dict(zip(_LIMITS, (end for e in found for end in (e.lower, e.upper)), strict=True))


RAPID = Metric(
    name="rapid",
    function=rapid,
    group="rapid",
    needs=("quasi_identifiers", "sensitive"),
    reference="Templ, Thees and Mueller, RAPID; R package RAPID at de6ee65",
    check_values=check_values,
    reduce=reduce_rapid,
    guess="guess",
    gains=True,
    unaveraged=(*_LIMITS, *CURVE_NAMES, *NUMBER_CURVE_NAMES, *NULL_CURVE, *NULL_CURVE_OF_NUMBERS, *P_VALUES),
    uninformed="null_real_mean",
    best_answer=best_answer,
    together=together,
)
