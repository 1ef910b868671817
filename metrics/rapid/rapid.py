"""RAPID: the share of real records whose sensitive value a model trained on the release gives away.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from synthrisk.metrics.errors import InputError, check_whole
from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.proportions import ShareMethod, share
from synthrisk.metrics.intervals.yardsticks import (
    CURVE_NAMES,
    NUMBER_CURVE_NAMES,
    TOLERANCES,
    threshold_curve,
    tolerance_curve,
)
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.models.attackers import attacker_model
from synthrisk.metrics.rapid.guesses import NULL_CURVE, NULL_CURVE_OF_NUMBERS, Baseline, class_guesses, value_guesses
from synthrisk.metrics.rapid.null_distribution import P_VALUES, Permute, named, permutation_null
from synthrisk.metrics.rapid.prediction_error import Choice, Mode, best_constant, check_values
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import ErrorName, Tolerance, numeric_target, too_wide

Envelope = Literal["max", "mean", "record"]


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
            example: .16, where ``random_forest`` has .38). Forests have 500 trees, as in the paper; where more than
            27,000 released records are learned from, or 5,400 for a number, fewer (100 at least), which ``settings``
            then names: memorization moves by less than a fifth of its interval (docs/speed.md).
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
            ``rapid.combined``. With control records the model of ``max`` is the one that puts most members and control
            records together at risk, so that the choice favours neither; ``rapid_max`` is the members' own largest.
        permute: Whose sensitive values are permuted in the calibration: see ``null_distribution.permutation_null``.
        permutations: How many permutations calibrate the value (20 is enough; ``synthetic`` refits the model each
            time); 0: only the exact null of permuted real values, which needs no fit.
        seed: Seed of the model.

    Returns:
        A ``Score``; ``records``: score (1 at risk, 0 not, NaN not scored), at_risk, guessed, truth, and gain (the
        paper's r_i), confidence, baseline, right (categorical) or error (e_i; dates and durations in days), tolerance
        (numeric). Details: accuracy, mean_gain (categorical); rmse, mae, not_scored, ``tolerance`` (numeric),
        ``tolerance_days`` (dates and durations); the curve that ``plot()`` draws: ``curve_0.00``, ``curve_0.05`` ...
        ``curve_0.95``, the share at risk at each threshold, of a number ``curve_x0.25``, ``curve_x0.50`` ...
        ``curve_x5.00`` at each tolerance in units of that in force, of several attacker models as ``envelope`` says;
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
        return combined(each, envelope)
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
    if trees := model.trees(tables.kind(hidden[0]), len(tables.synthetic)):
        settings |= {"trees": trees}
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
    """Return the share at risk by threshold, or of a number by tolerance; of several models as their envelope says.

    Of ``mean`` no single gain is there, and the curve is the mean of the models'. Where each record has the gain of the
    model that gains most on it (``record``), the curve is that of these gains; otherwise the largest of the models'.
    """
    for evidence, names in (("gain", CURVE_NAMES), ("error", NUMBER_CURVE_NAMES)):
        each = [c for c in records if str(c).startswith(f"{evidence}_")] or [c for c in records if c == evidence]
        if each:
            values = records[each].to_numpy(dtype=float).T
            best = np.fmax.reduce(values) if evidence == "gain" else np.fmin.reduce(values)
            is_best = evidence in records and np.array_equal(best, records[evidence].to_numpy(float), equal_nan=True)
            if is_best:
                values = best[None, :]
            if evidence == "gain":
                curves = [threshold_curve(own) for own in values]
            else:
                curves = [tolerance_curve(own, TOLERANCES * records["tolerance"].iloc[0]) for own in values]
            together = np.max(curves, axis=0) if evidence in records else np.mean(curves, axis=0)
            return dict(zip(names, together.tolist(), strict=True))
    return {}


def _intervals(scores: np.ndarray) -> dict[str, float]:
    if not len(scores) or not np.isin(scores, (0, 1)).all():
        return {}
    found = [share(scores, 0.95, method) for method in _METHODS]
    return dict(zip(_LIMITS, (end for e in found for end in (e.lower, e.upper)), strict=True))


_OF_ALL = ("guess", "accuracy_guess", "tolerance", "tolerance_days")  # details that no attacker model moves
_NULL = "null_real_"


def combined(scores: Mapping[str, Score], envelope: str) -> Score:
    """Return one RAPID score for several attacker models.

    ``max``, ``rapid_max``: the paper's RAPID_max, the value of the model that puts most of the records at risk (of
    equals the first); the records are those of this model. ``mean``, ``rapid_mean``: the paper's mean over models; a
    record's score is the share of models that put it at risk. ``record``, ``rapid_envelope``: each record is attacked
    by the model with the largest gain (smallest error) on it. The last is at least ``rapid_max`` and flatters the
    attacker: nobody knows beforehand which model is best for whom.

    Args:
        scores: By the name of the attacker model, all on the same records.
        envelope: Which of the three, an ``Envelope``.

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
    return Score.of("rapid", records, reduce_rapid(records), details, settings, first.warning)


def values_together(records: pd.DataFrame) -> dict[str, float]:
    """Return what several models come to on some of the records; nothing where there is one model."""
    each = {str(c).removeprefix("score_"): float(records[c].mean()) for c in records if str(c).startswith("score_")}
    if not each:
        return {}
    values = list(each.values())
    together = {"rapid_mean": float(np.mean(values)), "rapid_max": float(np.max(values))}
    together["rapid_envelope"] = float(records["best"].mean())
    return {f"value_{name}": v for name, v in each.items()} | together


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


RAPID = Metric(
    name="rapid",
    function=rapid,
    group="rapid",
    needs=("quasi_identifiers", "sensitive"),
    reference="Templ, Thees and Mueller, RAPID; R package RAPID at de6ee65",
    check_values=check_values,
    records=Records(reduce=reduce_rapid),
    yardsticks=Yardsticks(guess="guess", best_answer=best_answer, uninformed="null_real_mean"),
    study=InStudy(
        unaveraged=(*_LIMITS, *CURVE_NAMES, *NUMBER_CURVE_NAMES, *NULL_CURVE, *NULL_CURVE_OF_NUMBERS, *P_VALUES),
        gains=True,
        together=combined,
    ),
)


class CrossValidated(NamedTuple):
    """RAPID over folds.

    Folds share their training records, so that the t interval over folds is too narrow for a new table: trust that of a
    study instead (METHODS 6).
    """

    value: float  # mean over folds
    sd: float  # standard deviation over folds
    lower: float
    upper: float
    folds: tuple[float, ...]  # value of each fold, in order


def cross_validated(
    real: pd.DataFrame,
    synthesizer: Callable[[pd.DataFrame, int], pd.DataFrame],
    *,
    sensitive: str,
    folds: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> CrossValidated:
    """Fit a synthesizer on K - 1 folds, attack the held-out fold, K times (``rapid_synthesizer_cv`` in R).

    The folds are stratified by a categorical target whose classes allow it. Class shares come from all real
    records. A study does the same with repetitions, control records and member scores beside it.

    Args:
        real: The real records.
        synthesizer: ``(training records, seed) -> release``.
        sensitive: The attribute guessed.
        folds: K >= 2.
        confidence: Confidence level.
        seed: Root seed of folds, fits and attacks.
        **options: Further options of ``rapid``.

    Raises:
        InputError: ``folds`` is no whole number between 2 and the number of records, or an option breaks its rule.
    """
    check_whole("folds", folds, 2, len(real), "a whole number between 2 and the number of records")
    if sensitive not in real.columns:
        raise InputError(f"sensitive must be a column of the table, got {sensitive!r}")
    values = []
    for fold, (train, held_out) in enumerate(_parts(real, sensitive, folds, seed)):
        members, controls = real.iloc[train], real.iloc[held_out]
        release = synthesizer(members.reset_index(drop=True), seed_of(seed, fold, "synthesizer"))
        own = seed_of(seed, fold, "attack")
        score = RAPID(members, release, control=controls, sensitive=sensitive, mode="holdout", seed=own, **options)
        values.append(score.value)
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t_quantile(0.5 + confidence / 2, folds - 1)) * sd / np.sqrt(folds)
    return CrossValidated(mean, sd, mean - half, mean + half, tuple(values))


def _parts(real: pd.DataFrame, sensitive: str, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random_state = seed_of(seed, "folds")
    classes = pd.factorize(real[sensitive], use_na_sentinel=False)[0]
    if kind(real[sensitive]) == "categorical" and np.bincount(classes).min() >= folds:
        cut = StratifiedKFold(folds, shuffle=True, random_state=random_state)
        return list(cut.split(np.zeros(len(real)), classes))
    return list(KFold(folds, shuffle=True, random_state=random_state).split(np.zeros(len(real))))
