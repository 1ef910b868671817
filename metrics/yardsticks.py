"""What an attack's success x is compared with: G(s) = (x - s)/(1 - s) and x - s, and only s differs.

``guess``: the best constant guess. ``control``: the same attack and release on records that the synthesizer never
saw. ``model``: the same attack trained on real non-members instead of the release.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from synthrisk.metrics.estimates import Estimate, estimate
from synthrisk.metrics.proportions import correlation, expected_share, share, share_difference, share_gain

YARDSTICKS = ("guess", "control", "model")
_NAMES = ("control_gain", "control_difference", "control_lower", "control_upper")


@dataclass(frozen=True)
class Yardstick:
    """One yardstick beside one success x, unclipped.

    Attributes:
        success: s: what the attack achieves there.
        gain: G = (x - s)/(1 - s); NaN where s = 1.
        difference: x - s.
        attack: x, where it is not the finding's risk: of claims that are counted at another size; else None.
    """

    success: Estimate
    gain: Estimate
    difference: Estimate
    attack: Estimate | None = None


def gain(success: float, yardstick: float) -> float:
    """Return (x - s)/(1 - s), NaN where s = 1.

    Example:
        >>> round(gain(0.8, 0.5), 3)
        0.6
    """
    return (success - yardstick) / (1 - yardstick) if yardstick != 1 else float("nan")


def against_control(members: pd.Series, controls: pd.Series, confidence: float = 0.95) -> dict[str, float]:
    """Return gain over control and the difference of mean scores with its interval.

    Scores that are right or wrong: Newcombe's hybrid interval; others: Welch's. Both take the records as
    independent and the release as given.

    Args:
        members: Scores of members, in [0, 1]; NaN = not scored.
        controls: Scores of control records.
        confidence: Confidence level.

    Returns:
        ``control_gain``, ``control_difference``, ``control_lower``, ``control_upper``; NaN where a group has no
        scored record.

    Example:
        >>> found = against_control(pd.Series([1.0, 1.0, 1.0, 0.0]), pd.Series([0.0, 1.0, 0.0, 1.0]))
        >>> found["control_difference"], found["control_gain"]
        (0.25, 0.5)
    """
    x, y = (s.to_numpy(dtype=float) for s in (members, controls))
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    if not len(x) or not len(y):
        return dict.fromkeys(_NAMES, float("nan"))
    difference = float(x.mean() - y.mean())
    if np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all():
        found = share_difference(share(x, confidence), share(y, confidence))
        lower, upper = found.lower, found.upper
    else:
        lower, upper = _welch(x, y, difference, confidence)
    return dict(zip(_NAMES, (gain(float(x.mean()), float(y.mean())), difference, lower, upper), strict=True))


def hits_against_control(members: float, controls: float, claims: int, confidence: float = 0.95) -> dict[str, float]:
    """Return gain over control and the difference of the success of the same claims, with Newcombe's interval.

    Args:
        members: How many of the claims are right on members; may be an expectation, not whole.
        controls: How many are on control records.
        claims: How many there are.
        confidence: Confidence level.

    Returns:
        ``control_gain``, ``control_difference``, ``control_lower``, ``control_upper``; NaN without claims.

    Example:
        >>> found = hits_against_control(7.5, 5.0, 10)
        >>> found["control_difference"], found["control_gain"]
        (0.25, 0.5)
    """
    if not claims:
        return dict.fromkeys(_NAMES, float("nan"))
    ours, theirs = (expected_share(hits, claims, confidence) for hits in (members, controls))
    found = share_difference(ours, theirs)
    return dict(zip(_NAMES, (gain(ours.value, theirs.value), found.value, found.lower, found.upper), strict=True))


def against_model(members: pd.Series, model: pd.Series, confidence: float = 0.95) -> dict[str, float]:
    """Return what the same attack trained on real non-members achieves on the same members, and x minus that.

    The records are the same, so the interval is paired. Scores that are right or wrong: Newcombe's (1998, method
    10 for paired shares), which stays in [-1, 1] and has a width near 0 and 1, where a normal one collapses;
    others: Student's t of the differences. Both take the release as given.

    Args:
        members: (n,) scores of members against the release, in [0, 1]; NaN = not scored.
        model: (n,) scores of the same members against the non-members.
        confidence: Confidence level.

    Returns:
        ``model_gain``, ``model_difference`` (means over the scored records of each), ``model_lower``,
        ``model_upper``; NaN where one has no scored record; limits NaN too where no record is scored by both.

    Example:
        >>> found = against_model(pd.Series([1.0, 1.0, 1.0, 0.0]), pd.Series([0.0, 1.0, 0.0, 1.0]))
        >>> found["model_difference"], found["model_gain"]
        (0.25, 0.5)
    """
    x, y = (s.to_numpy(dtype=float) for s in (members, model))
    names = ("model_gain", "model_difference", "model_lower", "model_upper")
    if np.isnan(x).all() or np.isnan(y).all():
        return dict.fromkeys(names, float("nan"))
    found = paired_shares(x, y, confidence)
    if found is None:
        found = estimate((x - y)[None, :], confidence)
    value = float(np.nanmean(x) - np.nanmean(y))
    shift = value - found.value  # some records are scored by one of the two only
    values = (gain(float(np.nanmean(x)), float(np.nanmean(y))), value, found.lower + shift, found.upper + shift)
    return dict(zip(names, values, strict=True))


def paired_shares(first: np.ndarray, second: np.ndarray, confidence: float) -> Estimate | None:
    """Return the paired difference of right-or-wrong scores with Newcombe's interval; None where it does not fit.

    It fits where the same records are scored by both, all with 0 or 1.
    """
    shares = _paired(first, second, confidence)
    return None if shares is None else share_difference(*shares)


def paired_gain(first: np.ndarray, second: np.ndarray, confidence: float) -> Estimate | None:
    """Return the gain of the first over the second as ``paired_shares`` returns the difference."""
    shares = _paired(first, second, confidence)
    return None if shares is None else share_gain(*shares)


def _paired(first: np.ndarray, second: np.ndarray, confidence: float) -> tuple[Estimate, Estimate, float] | None:
    scored = ~np.isnan(first)
    if not scored.any() or (scored != ~np.isnan(second)).any():
        return None
    x, y = first[scored], second[scored]
    if not (np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        return None
    return share(x, confidence), share(y, confidence), correlation(x, y)


def _welch(x: np.ndarray, y: np.ndarray, difference: float, confidence: float) -> tuple[float, float]:
    if min(len(x), len(y)) < 2:
        return float("nan"), float("nan")
    terms = [(v.var(ddof=1) / len(v), len(v) - 1) for v in (x, y)]
    variance = sum(v for v, _ in terms)
    if variance == 0:
        return difference, difference
    freedom = variance**2 / sum(v**2 / n for v, n in terms)
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom) * np.sqrt(variance))
    return difference - half, difference + half
