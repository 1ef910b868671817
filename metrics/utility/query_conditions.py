"""The conditions of counting queries: each value of a categorical column, ranges on a 1-2-5 grid of a numeric one."""

from math import floor, log10
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables

RANGES = 10  # that the middle nine tenths of the real values are cut in, at most
DAY = 86_400e9  # nanoseconds


class Cells(NamedTuple):
    """In which condition of a column, or of several, each record falls; -1 where a cell is missing."""

    real: np.ndarray  # (n,) int64
    synthetic: np.ndarray  # (m,)
    size: int  # cells lie in [0, size)


class Step(NamedTuple):
    """A width of 1, 2 or 5 times a power of ten."""

    digit: int
    power: int

    def places(self, values: np.ndarray) -> np.ndarray:
        """Return the range [j w, (j + 1) w) that each value is in, as j; a value on a bound is at its right.

        Multiplied by a whole number and not divided by a fraction: 0.3 / 0.1 is below 3 in floating point.
        """
        quotient = (values * 10.0**-self.power if self.power < 0 else values / 10.0**self.power) / self.digit
        nearest = np.round(quotient)
        on_bound = np.abs(quotient - nearest) <= 4 * np.spacing(np.abs(quotient))
        return np.where(on_bound, nearest, np.floor(quotient))


def step_of(values: np.ndarray) -> Step | None:
    """Return the smallest width that cuts the middle nine tenths of the values in at most ten ranges.

    Where these nine tenths are one value, the whole range counts; None where all values are one.

    Example:
        >>> step_of(np.array([17.0, 30.0, 44.0, 90.0]))
        Step(digit=1, power=1)
    """
    low, high = np.quantile(values, [0.05, 0.95])
    spread = float(high - low) or float(values.max() - values.min())
    if spread <= 0:
        return None
    power = floor(log10(spread / RANGES))
    widths = [Step(digit, p) for p in (power - 1, power, power + 1) for digit in (1, 2, 5)]
    return next(w for w in widths if spread <= RANGES * w.digit * 10.0**w.power * (1 + 1e-9))


def cells(tables: Tables, column: str) -> Cells:
    """Return the cells of one column: its values, or ranges [j w, (j + 1) w) where it is numeric.

    Dates and durations are cut in days (since 1970). Of a constant column the condition is equality. A missing cell
    is in no condition.
    """
    return tables.shared(("cells", column), lambda: _ranges(tables, column) or _values(tables, column))


def joint_cells(tables: Tables, columns: tuple[str, ...]) -> Cells:
    """Return the combinations of the cells of several columns, one after another; without columns all in one cell."""
    joint = Cells(np.zeros(len(tables.real), np.int64), np.zeros(len(tables.synthetic), np.int64), 1)
    for column in columns:
        joint = _compact(_product(joint, cells(tables, column)))
    return joint


def _values(tables: Tables, column: str) -> Cells:
    codes = tables.codes([column])
    missing = codes.size - 1
    real, synthetic = (np.where(side == missing, -1, side) for side in codes.tables)
    return Cells(real, synthetic, codes.size)


def _ranges(tables: Tables, column: str) -> Cells | None:
    if tables.kind(column) != "numeric":
        return None
    real, synthetic = tables.floats(column)
    seen = real[~np.isnan(real)]
    if not len(seen):
        return Cells(np.full(len(real), -1), np.full(len(synthetic), -1), 1)
    unit = DAY if is_temporal(tables.real[column]) else 1.0
    step = step_of(seen / unit)
    if step is None:
        return Cells(np.where(real == seen[0], 0, -1), np.where(synthetic == seen[0], 0, -1), 1)
    places = step.places(np.concatenate([real, synthetic]) / unit)
    codes = np.unique(places, return_inverse=True)[1]
    codes = np.where(np.isnan(places), -1, codes)
    return Cells(codes[: len(real)], codes[len(real) :], int(codes.max()) + 1)


def _product(first: Cells, second: Cells) -> Cells:
    pairs = (first.real, second.real), (first.synthetic, second.synthetic)
    real, synthetic = (np.where((a < 0) | (b < 0), -1, a * second.size + b) for a, b in pairs)
    return Cells(real, synthetic, first.size * second.size)


def _compact(joint: Cells) -> Cells:
    """Return the same cells under small codes, where counting them all would cost more than ranking them."""
    if joint.size <= 4 * (len(joint.real) + len(joint.synthetic)):
        return joint
    values, codes = np.unique(np.concatenate([joint.real, joint.synthetic]), return_inverse=True)
    codes = codes - int(values[0] == -1)
    return Cells(codes[: len(joint.real)], codes[len(joint.real) :], int(codes.max()) + 1)
