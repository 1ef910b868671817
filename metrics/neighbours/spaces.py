"""The two spaces that distances between records of mixed types are taken in.

``euclid``: numerics in standard deviations, categorical levels as standardised one-hot columns; Euclidean
distance. ``gower``: mean over columns of |a - b|/range (numeric) or 0/1 (categorical), in [0, 1].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from synthrisk.metrics.errors import InputError, check_word
from synthrisk.metrics.tables.tables import Tables, in_order

SpaceName = Literal["euclid", "gower"]
Ranges = Literal["both", "reference"]
_HEAVIEST = 1e100  # its square is still far inside the range of a float


@dataclass(frozen=True)
class Space:
    """A space with its settings in force, as a key of what is computed in it."""

    name: SpaceName
    columns: tuple[str, ...]  # in the order of their names
    weights: tuple[float, ...]  # one a column
    ranges: Ranges = "both"


def check_space(space: str = "euclid") -> None:
    """Refuse a name that is no space."""
    check_word("space", space, "euclid", "gower")


def space_of(
    tables: Tables,
    name: SpaceName,
    weights: Mapping[str, float] | None = None,
    columns: Sequence[str] | None = None,
    ranges: Ranges = "both",
) -> Space:
    """Return a space over some of the tables' columns.

    Args:
        tables: The tables of a release.
        name: ``euclid`` or ``gower``.
        weights: What a column is multiplied by, from 0 to 1e100 (its square counts in euclid); 1 if not given.
        columns: The columns that count; None takes all.
        ranges: What a gower difference is divided by: the range over both tables, or over the table searched
            with differences above it counted as 1 (as SDMetrics' DCR does).

    Raises:
        InputError: The space has another name, a column is not in the tables, a weight is out of its
            range, or ``ranges`` is given for ``euclid``.
    """
    check_space(name)
    if ranges not in ("both", "reference") or (ranges == "reference" and name != "gower"):
        raise InputError(f"ranges must be both, or reference in gower space, got {ranges!r} in {name}")
    chosen = tables.columns if columns is None else tables.check_columns("columns", columns)
    ordered = in_order(chosen)
    given = dict(weights or {})
    if given:
        tables.check_columns("weights", list(given))
    for column, weight in given.items():
        number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= _HEAVIEST:
            raise InputError(f"weights must be numbers from 0 to {_HEAVIEST:g}, got {weight!r} for {column!r}")
    return Space(name, tuple(ordered), tuple(float(given.get(c, 1.0)) for c in ordered), ranges)
