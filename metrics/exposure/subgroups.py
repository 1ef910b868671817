"""Who is at risk: the risk of the records of each level of a column, and of each joint subgroup.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", 5.5 and 6.3.

And which columns tell most of the differences, each looked at alone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import check_whole
from synthrisk.metrics.exposure.risk_terms import scored
from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.proportions import wilson
from synthrisk.metrics.tables.codes import Codes, pack
from synthrisk.metrics.tables.levels import column_levels


def risk_by(
    scores: Any, table: pd.DataFrame, columns: Sequence[str] | str, bins: int = 5, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the mean score of the records of each level of each column, with its interval.

    Scores that are all 0 or 1: Wilson's interval. Shares: mean +- t s/sqrt(n), cut to [0, 1]; where a level has no
    spread (one record, or equal scores), Wilson's with the mean as the share: no scores with that mean vary more.

    Args:
        scores: (n,) score of each record in [0, 1]: 0/1, or a share of releases; NaN = not scored, left out.
        table: (n, p) the records, in the order of the scores; index labels are not read.
        columns: Columns to look at: quasi-identifiers, or a sensitive attribute for the risk of each class.
        bins: Parts of a numeric column or a date with more distinct values, cut at quantiles of the scored records.
        confidence: Confidence level of the intervals.

    Returns:
        ``column``, ``level``, ``records`` (scored), ``risk``, ``lower``, ``upper``: columns in order of their names,
        levels in level order (numbers by value, then text; an ordered category as it declares), "missing" last.

    Raises:
        InputError: An argument breaks its rule, or no record is scored.

    Example:
        >>> people = pd.DataFrame({"sex": ["f", "m", "f", "m", None]})
        >>> risk_by([1, 0, 1, 1, 0], people, ["sex"]).round(2)[["level", "records", "risk", "lower", "upper"]]
             level  records  risk  lower  upper
        0        f        2   1.0   0.34   1.00
        1        m        2   0.5   0.09   0.91
        2  missing        1   0.0   0.00   0.79
    """
    known = scored(scores, table, columns, "columns", confidence)
    check_whole("bins", bins, 2)
    parts = []
    for name in known.columns:
        levels = column_levels(known.records[name], bins)
        means = means_of_groups(known.scores, levels.codes, len(levels.names), confidence)
        parts.append(pd.concat([pd.DataFrame({"column": name, "level": levels.names}), means], axis=1))
    return pd.concat(parts, ignore_index=True)


def risk_in(
    scores: Any,
    table: pd.DataFrame,
    columns: Sequence[str] | str,
    bins: int = 5,
    confidence: float = 0.95,
    minimum: int = 10,
) -> pd.DataFrame:
    """Return the mean score in each joint subgroup of several columns, worst first.

    Args:
        scores: As in ``risk_by``.
        table: As in ``risk_by``.
        columns: Columns whose levels are crossed.
        bins: As in ``risk_by``.
        confidence: Confidence level of the intervals.
        minimum: Smallest number of scored records of a subgroup that is shown.

    Returns:
        ``records``, ``risk``, ``lower``, ``upper``, indexed by the levels of the columns (in order of their names):
        one row a combination that occurs ``minimum`` times or more; highest risk first, then most records.

    Raises:
        InputError: An argument breaks its rule, or no record is scored.

    Example:
        >>> people = pd.DataFrame({"sex": list("ffmm") * 5, "old": [True, False] * 10})
        >>> found = risk_in([1, 0, 0, 0] * 5, people, ["sex", "old"], minimum=5)
        >>> found.index[0], int(found["records"].iloc[0]), float(found["risk"].iloc[0])
        (('True', 'f'), 5, 1.0)
    """
    known = scored(scores, table, columns, "columns", confidence)
    check_whole("bins", bins, 2)
    check_whole("minimum", minimum, 1)
    levels = [column_levels(known.records[name], bins) for name in known.columns]
    packed = pack([Codes((each.codes,), len(each.names)) for each in levels]).tables[0]
    _, first, codes = np.unique(packed, return_index=True, return_inverse=True)
    places = np.column_stack([each.codes[first] for each in levels])
    means = means_of_groups(known.scores, codes, len(first), confidence)
    order = np.lexsort((*places.T[::-1], -means["records"], -means["risk"]))
    order = order[(means["records"] >= minimum).to_numpy()[order]]
    texts = [[each.names[code] for code in places[order, i]] for i, each in enumerate(levels)]
    means = means.iloc[order]
    means.index = pd.MultiIndex.from_arrays(texts, names=known.columns)
    return means


def means_of_groups(x: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> pd.DataFrame:
    """Return count, mean and limits of the values in [0, 1] of each group; ``codes`` are (n,), each of 0..size-1.

    The limits are those of ``risk_by``.
    """
    return pd.DataFrame(dict(zip(MEANS, means_of(x)(codes, size, confidence), strict=True)))


MEANS = ("records", "risk", "lower", "upper")
Means = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def means_of(x: np.ndarray) -> Callable[[np.ndarray, int, float], Means]:
    """Return the function from the group of each value, the number of groups and a confidence to ``MEANS`` of each.

    Where many tables are made of the same values, they are put in order once; zeros and ones never.
    """
    if ((x == 0) | (x == 1)).all():
        return partial(_shares, x)
    ascending = np.argsort(x, kind="stable")
    return partial(_means, x[ascending], ascending)


def _shares(x: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> Means:
    n = np.bincount(codes, minlength=size)
    mean = np.bincount(codes, x, size) / n
    return n, mean, *wilson(mean, n, confidence)


def _means(x: np.ndarray, ascending: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> Means:
    narrow = codes.astype(np.min_scalar_type(max(size - 1, 0)))[ascending]  # short numbers are sorted by digits
    own = x[np.argsort(narrow, kind="stable")]  # group by group, sums in one order, whatever that of the rows
    n = np.bincount(codes, minlength=size)
    starts = np.cumsum(n) - n
    mean = np.add.reduceat(own, starts) / n
    own -= np.repeat(mean, n)
    own *= own
    squares = np.add.reduceat(own, starts)
    lower, upper = wilson(mean, n, confidence)
    spread = (n > 1) & (squares > 0)
    t = t_quantile(0.5 + confidence / 2, np.maximum(n - 1, 1))
    half = t * np.sqrt(squares / np.maximum(n - 1, 1) / n)
    lower = np.where(spread, np.maximum(mean - half, 0), lower)
    upper = np.where(spread, np.minimum(mean + half, 1), upper)
    return n, mean, lower, upper


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
