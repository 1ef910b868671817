"""What its presence adds to the risk of each single record, and how that is spread over the records."""

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.quantiles import t_quantile

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def record_exposure(
    scores: np.ndarray, member: np.ndarray, control: np.ndarray, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the memorization of each record with its interval.

    Memorization = mean score as member - mean score as control, over all releases. The t interval is over the
    repetitions that know both sides: few give a wide one, one gives none. A record that never varies has no width.
    ``scores`` are (R, K, n), NaN where not scored; ``member`` and ``control`` (R, K, n) booleans.

    Returns:
        n rows: ``as_member`` and ``as_control`` (mean score over all releases), ``memorization``, ``lower``, ``upper``;
        NaN where not known.

    Example:
        >>> scores = np.array([[[1.0], [0.0]], [[0.8], [0.0]]])
        >>> member = np.array([[[True], [False]]] * 2)
        >>> record_exposure(scores, member, ~member).round(2).to_dict("records")
        [{'as_member': 0.9, 'as_control': 0.0, 'memorization': 0.9, 'lower': -0.37, 'upper': 2.17}]
    """
    known = ~np.isnan(scores)
    sides = {"as_member": member & known, "as_control": control & known}
    means = {name: _mean(scores, mask, (0, 1)) for name, mask in sides.items()}
    memorization = means["as_member"] - means["as_control"]
    both = sides["as_member"], sides["as_control"]
    half = _half_width(scores, *both, confidence) if len(scores) > 1 else np.nan
    limits = {"lower": memorization - half, "upper": memorization + half}
    return pd.DataFrame(means | {"memorization": memorization} | limits, copy=False)


def _half_width(scores: np.ndarray, member: np.ndarray, control: np.ndarray, confidence: float) -> np.ndarray:
    """Return half of each record's interval, (n,); NaN where fewer than two repetitions know both sides."""
    each = _mean(scores, member, (1,)) - _mean(scores, control, (1,))
    repetitions = (~np.isnan(each)).sum(axis=0)
    squares = np.nansum((each - _mean(each, ~np.isnan(each), (0,))) ** 2, axis=0)
    many = repetitions > 1
    half = np.full(len(repetitions), np.nan)
    n = repetitions[many]
    half[many] = t_quantile(0.5 + confidence / 2, n - 1) * np.sqrt(squares[many] / (n - 1) / n)
    return half


def quantiles(memorization: np.ndarray) -> tuple[float, ...]:
    """Return the quantiles ``QUANTILES`` of the records' memorization; empty where none is known."""
    known = memorization[~np.isnan(memorization)]
    return tuple(float(q) for q in np.quantile(known, QUANTILES)) if len(known) else ()


def _mean(values: np.ndarray, mask: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    count = mask.sum(axis=axis)
    total = np.where(mask, values, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
