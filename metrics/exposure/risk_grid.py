"""Predicted risk on a grid: values of one quasi-identifier crossed with values of another."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.exposure.predicted_risk import mean_risk
from synthrisk.metrics.exposure.products import Products
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_points import Points, along, at_levels
from synthrisk.metrics.exposure.risk_terms import Term

GRID_POINTS = 9
"""Values of a numeric column on the first axis."""


class GridPoint(NamedTuple):
    """A row of the table of grids."""

    first: Hashable
    second: Hashable
    first_level: str
    first_value: float
    second_level: str
    records: int
    risk: float
    lower: float
    upper: float


def grid(model: RiskModel, crossed: Products, own: np.ndarray) -> list[GridPoint]:
    """Return the mean predicted risk at values of two quasi-identifiers.

    Args:
        model: The model with their products.
        crossed: The products.
        own: Which columns of the design these are.
    """
    first, second = crossed.first, crossed.second
    across, lines = axis_points(first, (0.05, 0.95), GRID_POINTS), axis_points(second, (0.1, 0.5, 0.9))
    at, line = (i.ravel() for i in np.indices((len(across.names), len(lines.names))))
    left, right = across.rows[at], lines.rows[line]
    rows = np.hstack([left, right, crossed.rows(left, right)])
    mean = mean_risk(model, np.concatenate([first.own, second.own, own]), rows)
    counts = np.zeros((len(first.names), len(second.names)), dtype=int)
    np.add.at(counts, (first.codes, second.codes), 1)
    return [
        GridPoint(
            first.column,
            second.column,
            across.names[i],
            across.values[i],
            lines.names[j],
            counts[across.levels[i], lines.levels[j]],
            mean.risk[k],
            mean.lower[k],
            mean.upper[k],
        )
        for k, (i, j) in enumerate(zip(at, line, strict=True))
    ]


def axis_points(term: Term, shares: Sequence[float], count: int = 0) -> Points:
    """Return the points of an axis: quantiles of a numeric column or values between them, else levels that interact."""
    if term.is_numeric:
        return along(term, shares, count)
    return at_levels(term, np.array(sorted([term.reference, *term.crossed])))
