"""The answer that some records of a release give together, and how much they agree."""

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import factorized
from synthrisk.metrics.tables.kinds import kind


def voted(owner: np.ndarray, rows: np.ndarray, secret: pd.Series, n: int) -> pd.DataFrame:
    """Return the most frequent value of each group of records, or the lower median of numbers.

    Of equally frequent values the one that is more frequent in the whole release is taken, then the one that the
    release names first.

    Args:
        owner: (v,) group of each vote, in [0, n).
        rows: (v,) record of the release that votes.
        secret: The column that is voted on; missing cells do not vote.
        n: Number of groups.

    Returns:
        A frame with n rows: ``guessed`` (missing where nobody votes) and ``confidence``, the share of the votes that
        name the guessed value.
    """
    present = secret.notna().to_numpy()
    owner, rows = owner[present[rows]], rows[present[rows]]
    found = pd.DataFrame({"guessed": pd.Series([None] * n, dtype=object), "confidence": np.full(n, np.nan)})
    if not len(owner):
        return found
    codes, levels = factorized(secret.astype(object).to_numpy())
    overall = np.bincount(codes[present], minlength=len(levels))
    pairs, counts = np.unique(owner * len(levels) + codes[rows], return_counts=True)
    groups, values = np.divmod(pairs, len(levels))
    if kind(secret) == "numeric":
        rank = np.empty(len(levels), dtype=np.int64)
        rank[np.argsort(np.asarray(levels), kind="stable")] = np.arange(len(levels))
        order = np.lexsort((rank[values], groups))
        groups, values, counts = groups[order], values[order], counts[order]
        total = np.bincount(groups, counts, n)
        up_to = np.cumsum(counts) - (np.cumsum(total) - total)[groups]
        chosen = np.flatnonzero((up_to >= total[groups] / 2) & (up_to - counts < total[groups] / 2))
    else:
        total = np.bincount(groups, counts, n)
        order = np.lexsort((values, -overall[values], -counts, groups))
        groups, values, counts = groups[order], values[order], counts[order]
        chosen = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    found.loc[groups[chosen], "guessed"] = np.asarray(levels, dtype=object)[values[chosen]]
    found.loc[groups[chosen], "confidence"] = counts[chosen] / total[groups[chosen]]
    return found
