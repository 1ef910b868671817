"""Where risk is predicted: the levels of a quasi-identifier, or values along a numeric one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.exposure.risk_terms import Term
from synthrisk.metrics.tables.levels import finite_floats
from synthrisk.metrics.tables.value_texts import value_texts


class Points(NamedTuple):
    """Points at which risk is predicted."""

    names: list[str]
    values: np.ndarray  # (k,) numbers as they are, dates in nanoseconds, the place of a level; NaN = not on the axis
    rows: np.ndarray  # (k, width) the columns of the term
    levels: np.ndarray  # (k,) level of the term


def at_levels(term: Term, levels: np.ndarray) -> Points:
    """Return points at levels; of a numeric they are not on the axis."""
    values = np.full(len(levels), np.nan) if term.is_numeric else levels.astype(float)
    return Points([term.names[level] for level in levels], values, term.rows[levels], levels)


def along(term: Term, shares: Sequence[float], count: int = 0) -> Points:
    """Return points at quantiles of a numeric, or at ``count`` values from the first to the last of them."""
    values = _quantiles(term, shares)
    if count:
        values = np.linspace(values[0], values[-1], count)
    rows = np.zeros((len(values), term.width))
    rows[:, 0] = (values - term.center) / term.spread
    return Points(value_texts(term.source, values), values, rows, np.zeros(len(values), dtype=int))


def _quantiles(term: Term, shares: Sequence[float]) -> np.ndarray:
    values = finite_floats(term.source)[term.place == 0]
    found = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    if len(found) > 1:
        return found
    # most records have one value: the quantiles of the others too
    return np.unique(np.append(found, np.quantile(values[values != found[0]], shares, method="inverted_cdf")))
