"""What an attack's success is compared with: the same attack on records that the synthesizer never saw."""

import numpy as np
import pandas as pd
from scipy import stats

from synthrisk.metrics.proportions import share, share_difference


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
    names = ("control_gain", "control_difference", "control_lower", "control_upper")
    if not len(x) or not len(y):
        return dict.fromkeys(names, float("nan"))
    difference = float(x.mean() - y.mean())
    if np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all():
        found = share_difference(share(x, confidence), share(y, confidence))
        lower, upper = found.lower, found.upper
    else:
        lower, upper = _welch(x, y, difference, confidence)
    return dict(zip(names, (gain(float(x.mean()), float(y.mean())), difference, lower, upper), strict=True))


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
