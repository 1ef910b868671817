"""What an attack's success x is compared with: G(s) = (x - s)/(1 - s) and x - s, and only s differs.

``guess``: the best constant guess, or of claims S, how often they are right by luck. ``control``: the same attack and
release on records that the synthesizer never saw. ``population``: the same attack with real non-members in place of the
release.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, estimate
from synthrisk.metrics.intervals.proportions import correlation, share, share_difference, share_gain
from synthrisk.metrics.intervals.value_scale import DIFFERENCE, GAIN, SHARE

CURVE = np.round(np.arange(0, 1, 0.05), 2)
"""Thresholds of the curve: 0.00, 0.05 ... 0.95."""

TOLERANCES = np.round(np.arange(1, 21) / 4, 2)
"""Places of the curve of a number, in tolerances: 0.25, 0.50 ... 5.00."""

CURVE_NAMES = tuple(f"curve_{threshold:.2f}" for threshold in CURVE)
NUMBER_CURVE_NAMES = tuple(f"curve_x{tolerance:.2f}" for tolerance in TOLERANCES)
"""Names of the details that are points of a curve: by threshold of the gain, and by tolerances of the error."""


def normalized_gain(confidence: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return r = (g - b)/(1 - b): 0 = no better than the class share, 1 = certain of the truth.

    Args:
        confidence: g, probability that the attacker model gives to the record's true class.
        baseline: b, share of that class in the original data, below 1.

    Example:
        >>> normalized_gain(np.array([0.9, 0.5]), np.array([0.5, 0.5])).round(3).tolist()
        [0.8, 0.0]
    """
    confidence, baseline = np.asarray(confidence, dtype=float), np.asarray(baseline, dtype=float)
    if np.any(baseline >= 1):
        raise InputError("sensitive must have at least two classes in the real table, got one")
    return (confidence - baseline) / (1 - baseline)


def threshold_curve(gain: np.ndarray, thresholds: Sequence[float] | np.ndarray = CURVE) -> np.ndarray:
    """Return the share of records with a gain strictly above each threshold; missing gains do not count.

    Example:
        >>> threshold_curve(np.array([0.1, 0.3, 0.9]), [0.0, 0.3]).round(3).tolist()
        [1.0, 0.333]
    """
    gain = np.asarray(gain, dtype=float)
    gain = np.sort(gain[~np.isnan(gain)])
    return 1 - np.searchsorted(gain, thresholds, side="right") / len(gain)


def tolerance_curve(error: np.ndarray, tolerances: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the share of records with an error strictly below each tolerance; missing errors do not count.

    Example:
        >>> tolerance_curve(np.array([0.1, 0.3, 0.9, np.nan]), [0.1, 0.5]).round(3).tolist()
        [0.0, 0.667]
    """
    error = np.asarray(error, dtype=float)
    error = np.sort(error[~np.isnan(error)])
    found = np.searchsorted(error, tolerances, side="left").astype(float)
    return np.divide(found, len(error), out=np.full(found.shape, np.nan), where=len(error) > 0)


YARDSTICKS = ("guess", "control", "population")


def gain(success: float, yardstick: float) -> float:
    """Return (x - s)/(1 - s), NaN where s = 1.

    Example:
        >>> round(gain(0.8, 0.5), 3)
        0.6
    """
    return (success - yardstick) / (1 - yardstick) if yardstick != 1 else float("nan")


@dataclass(frozen=True)
class Yardstick:
    """One yardstick beside one success x, unclipped.

    ``attack`` is x where x is not the finding's risk: of claims that name no target, the share of the records that they
    isolate that are members.
    """

    success: Estimate  # s: what the attack achieves there
    gain: Estimate  # G = (x - s)/(1 - s); NaN where s = 1
    difference: Estimate  # x - s
    attack: Estimate | None = None


def limit_names(yardstick: str) -> tuple[str, ...]:
    """Return the names of the details that are limits of gain and difference."""
    return tuple(f"{yardstick}_{part}{end}" for part in ("gain_", "") for end in ("lower", "upper"))


def over_known(success: Estimate, s: float) -> tuple[Estimate, Estimate]:
    """Return the gain over a yardstick taken as known, and x - s, with the limits of x."""
    x, low, high = success.value, success.lower, success.upper
    known = replace(success, parts=None)  # those of x: its limits are moved, never made again
    over = replace(known, value=gain(x, s), lower=gain(low, s), upper=gain(high, s))
    return over, replace(known, value=x - s, lower=low - s, upper=high - s)


def slopes(success: float, yardstick: float) -> tuple[float, float]:
    """Return how fast G rises with x and falls with s, for s < 1: 1/(1 - s) and (1 - x)/(1 - s)^2."""
    return 1 / (1 - yardstick), (1 - success) / (1 - yardstick) ** 2


def against_guess(members: pd.Series, guess: float, confidence: float = 0.95) -> dict[str, float]:
    """Return gain over the best constant guess, and x minus that; the guess is taken as known.

    Args:
        members: (n,) scores in [0, 1], or what the value is the mean of; NaN = not scored.
        guess: s; NaN where there is none.
        confidence: Confidence level of the interval of x: Wilson's for scores that are right or wrong, else Student's
            on the logit.

    Returns:
        ``guess_gain``, ``guess_gain_lower``, ``guess_gain_upper``, ``guess_difference``, ``guess_lower``,
        ``guess_upper``; NaN where no record is scored, the gain where the guess is always right.

    Example:
        >>> found = against_guess(pd.Series([1.0, 1.0, 1.0, 0.0]), 0.5)
        >>> found["guess_difference"], found["guess_gain"]
        (0.25, 0.5)
    """
    x = members.to_numpy(dtype=float)
    x = x[~np.isnan(x)]
    if not len(x):
        return _details("guess", NOT_ESTIMABLE, NOT_ESTIMABLE)
    found = share(x, confidence) if np.isin(x, (0, 1)).all() else estimate(x[None, :], confidence, scale=SHARE)
    return _details("guess", *over_known(found, guess))


def against_control(members: pd.Series, controls: pd.Series, confidence: float = 0.95) -> dict[str, float]:
    """Return gain over control and the difference of mean scores, with their intervals.

    Scores that are right or wrong: Newcombe's hybrid interval, and that of a ratio; others: Welch's, of G by
    linearisation. All take the records as independent and the release as given. Scores are in [0, 1]; NaN = not scored.

    Returns:
        ``control_gain`` and ``control_difference``, limits as in ``against_guess``; NaN where a group has no score.

    Example:
        >>> found = against_control(pd.Series([1.0, 1.0, 1.0, 0.0]), pd.Series([0.0, 1.0, 0.0, 1.0]))
        >>> found["control_difference"], found["control_gain"]
        (0.25, 0.5)
    """
    x, y = (s.to_numpy(dtype=float) for s in (members, controls))
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    if not len(x) or not len(y):
        return _details("control", NOT_ESTIMABLE, NOT_ESTIMABLE)
    if np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all():
        shares = share(x, confidence), share(y, confidence)
        return _details("control", share_gain(*shares), share_difference(*shares))
    success, s = float(x.mean()), float(y.mean())
    over = NOT_ESTIMABLE
    if s != 1:
        a, b = slopes(success, s)
        over = _welch(a * x, b * y, gain(success, s), confidence)
    return _details("control", over, _welch(x, y, success - s, confidence))


def against_population(members: pd.Series, population: pd.Series, confidence: float = 0.95) -> dict[str, float]:
    """Return what the same attack with real non-members as the release achieves on the same members, beside x.

    The records are the same, so the intervals are paired. Scores that are right or wrong: Newcombe's (1998, method 10
    for paired shares), which stays in [-1, 1] and has a width near 0 and 1, where a normal one collapses; others:
    Student's t of the differences, of G by linearisation. All take the release as given. ``members`` are the (n,)
    scores against the release, in [0, 1], or what the value is the mean of; ``population`` those of the same members
    against the non-members; NaN = not scored.

    Returns:
        ``population_gain`` and ``population_difference`` (means over the scored records of each), limits as in
        ``against_guess``; NaN where one has no scored record; limits NaN too where no record is scored by both.

    Example:
        >>> found = against_population(pd.Series([1.0, 1.0, 1.0, 0.0]), pd.Series([0.0, 1.0, 0.0, 1.0]))
        >>> found["population_difference"], found["population_gain"]
        (0.25, 0.5)
    """
    x, y = (s.to_numpy(dtype=float) for s in (members, population))
    if np.isnan(x).all() or np.isnan(y).all():
        return _details("population", NOT_ESTIMABLE, NOT_ESTIMABLE)
    paired = paired_shares(x, y, confidence)
    if paired is not None:
        return _details("population", *paired)
    success, s = float(np.nanmean(x)), float(np.nanmean(y))
    over = NOT_ESTIMABLE
    if s != 1:
        a, b = slopes(success, s)
        over = _centred(estimate((a * x - b * y)[None, :], confidence), gain(success, s))
    return _details("population", over, _centred(estimate((x - y)[None, :], confidence), success - s))


def paired_shares(first: np.ndarray, second: np.ndarray, confidence: float) -> tuple[Estimate, Estimate] | None:
    """Return gain and difference of right-or-wrong scores with paired intervals; None where these do not fit.

    They fit where the same records are scored by both, all with 0 or 1.
    """
    scored = ~np.isnan(first)
    if not scored.any() or (scored != ~np.isnan(second)).any():
        return None
    x, y = first[scored], second[scored]
    if not (np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        return None
    shares = share(x, confidence), share(y, confidence), correlation(x, y)
    return share_gain(*shares), share_difference(*shares)


def _welch(x: np.ndarray, y: np.ndarray, value: float, confidence: float) -> Estimate:
    """Return Welch's interval of mean(x) - mean(y) around a value that moves with it."""
    if min(len(x), len(y)) < 2:
        return Estimate(value, float("nan"), float("nan"), "welch")
    if x.var() == 0 and y.var() == 0:
        return Estimate(value, value, value, "welch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of values that differ by rounding alone: the limits meet
        found = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval(confidence)
    half = float(found.high - found.low) / 2
    return Estimate(value, value - half, value + half, "welch")


def _centred(found: Estimate, value: float) -> Estimate:
    """Return the estimate around another value: some records are scored by one of the two only."""
    shift = value - found.value
    return replace(found, value=value, lower=found.lower + shift, upper=found.upper + shift)


def _details(yardstick: str, over: Estimate, difference: Estimate) -> dict[str, float]:
    """Return gain and difference with limits, clipped to their ranges: at most 1, and [-1, 1]."""
    of_gain = GAIN.between(over.value, over.lower, over.upper)
    ends = DIFFERENCE.between(difference.value, difference.lower, difference.upper)
    return {
        f"{yardstick}_gain": over.value,
        f"{yardstick}_gain_lower": of_gain[0],
        f"{yardstick}_gain_upper": of_gain[1],
        f"{yardstick}_difference": difference.value,
        f"{yardstick}_lower": ends[0],
        f"{yardstick}_upper": ends[1],
    }
