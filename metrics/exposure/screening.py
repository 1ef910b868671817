"""Which columns tell most of the differences in risk, each looked at alone."""

import numpy as np
import pandas as pd


def strongest_columns(scores: np.ndarray, banded: pd.DataFrame, most: int) -> list[str]:
    """Return the ``most`` columns whose bands differ most in risk, in the order of the table.

    A column's strength is the variance of the scores between its bands, divided by what chance alone would give (the F
    statistic), so that many bands are no advantage. Columns of one band are never taken.

    Args:
        scores: (n,) floats, NaN where not scored.
        banded: (n, p) categories without missing cells.
        most: Most columns to return.

    Example:
        >>> table = pd.DataFrame({"a": list("xxyy"), "b": list("xyxy"), "c": list("xxxx")}, dtype="category")
        >>> strongest_columns(np.array([1.0, 0.9, 0.0, 0.1]), table, 1)
        ['a']
    """
    known = ~np.isnan(scores)
    y = scores[known]
    strengths: dict[str, float] = {}
    for column in banded:
        _, codes = np.unique(banded[column].cat.codes.to_numpy()[known], return_inverse=True)
        counts = np.bincount(codes)
        if len(counts) < 2:
            continue
        means = np.bincount(codes, y) / counts
        between = float(counts @ (means - y.mean()) ** 2) / (len(counts) - 1)
        within = float(((y - means[codes]) ** 2).sum()) / max(len(y) - len(counts), 1)
        strengths[str(column)] = between / within if within > 0 else (np.inf if between > 0 else 0.0)
    chosen = sorted(strengths, key=lambda c: -strengths[c])[:most]
    return [str(c) for c in banded if str(c) in chosen]
