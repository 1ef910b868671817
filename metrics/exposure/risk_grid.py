"""Predicted risk on a grid: values of one quasi-identifier crossed with values of one or two others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from synthrisk.metrics.exposure.predicted_risk import Points, along, at_levels, mean_risk
from synthrisk.metrics.exposure.products import Products
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_terms import Term

GRID_POINTS = 9
"""Values of a numeric column on the first axis."""


PLACES = ("first", "second", "third")
_MEAN = ("records", "risk", "lower", "upper")


def columns_of_grids(crossed: int) -> list[str]:
    """Return the columns of a table of grids of two or of three quasi-identifiers.

    Example:
        >>> columns_of_grids(2)[:5]
        ['first', 'second', 'first_level', 'first_value', 'second_level']
    """
    return [*PLACES[:crossed], "first_level", "first_value", *(f"{p}_level" for p in PLACES[1:crossed]), *_MEAN]


def grid(model: RiskModel, crossed: Products, start: int) -> list[tuple[Any, ...]]:
    """Return the mean predicted risk at values of the terms that are crossed, each as ``columns_of_grids`` says.

    ``model`` is the model with their products, ``start`` the first column of the design that the products have.
    """
    first, *others = crossed.terms
    axes = [_axis_points(first, (0.05, 0.95), GRID_POINTS), *(_axis_points(term, (0.1, 0.5, 0.9)) for term in others)]
    at = [i.ravel() for i in np.indices([len(axis.names) for axis in axes])]
    rows = crossed.all_rows(*(axis.rows[i] for axis, i in zip(axes, at, strict=True)))
    own = np.concatenate([*(term.own for term in crossed.terms), np.arange(start, len(model.beta))])
    mean = mean_risk(model, own, rows)
    counts = np.zeros([len(term.names) for term in crossed.terms], dtype=int)
    np.add.at(counts, tuple(term.codes for term in crossed.terms), 1)
    records = counts[tuple(axis.levels[i] for axis, i in zip(axes, at, strict=True))]
    levels = [[axis.names[j] for j in i] for axis, i in zip(axes, at, strict=True)]
    columns = levels[0], axes[0].values[at[0]], *levels[1:], records, mean.risk, mean.lower, mean.upper
    names = tuple(term.column for term in crossed.terms)
    return [(*names, *point) for point in zip(*columns, strict=True)]


def _axis_points(term: Term, shares: Sequence[float], count: int = 0) -> Points:
    """Return the points of an axis: quantiles of a numeric column or values between them, else levels that interact."""
    if term.is_numeric:
        return along(term, shares, count)
    return at_levels(term, np.array(sorted([term.reference, *term.crossed])))
