"""Coverage: how much of what the real table shows can still be seen in the release."""

import numpy as np

from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.utility.accuracy import FEWEST, FRANCIS, Measured, beside_ceiling, utility_metric

NOTHING_TO_COVER = "no column has a value that two entities share, or a number"


def coverage(tables: Tables, *, seed: int = 0) -> Score:
    """Coverage: mean over columns of the share of values that the release shows; 1 = nothing is lost.

    Of a categorical column: the share, among the values that at least two entities of the real table have, of those in
    the release (a release should hide what one entity alone has): |{v in release: e(v) >= 2}| / |{v: e(v) >= 2}|, e(v)
    the number of entities of which some record has v. Of a numeric one (dates too): share of rows with a value, divided
    by that of the real table, at most 1. A missing cell is no value; a coarse one that stands for several levels shows
    none of them, one that stands for several numbers is a value. A column with nothing to cover is left out.

    Args:
        tables: Real (n records) and synthetic (m records). A suppressed column is all missing.
        seed: With control records, of the draw that brings them and the release to one size.

    Returns:
        A ``Score`` in [0, 1] (``published`` is the same). Details: ``coverage_<column>``, ``columns`` (how many are
        covered); with ``control`` the ceiling (see ``accuracy.beside_ceiling``). Not defined where no column has
        anything to cover.

    Raises:
        InputError: A column holds values of another type in the release, or an infinity.

    Example:
        >>> import pandas as pd
        >>> real = pd.DataFrame({"job": ["nurse", "nurse", "cook", "cook", "spy"], "age": [20.0, 30.0, 40.0, 50.0, 60]})
        >>> release = pd.DataFrame({"job": ["nurse", "nurse"], "age": [31.0, None]})
        >>> COVERAGE(real, release).details
        {'coverage_job': 0.5, 'coverage_age': 0.5, 'columns': 2.0}
    """
    value, details, ceiling = beside_ceiling(tables, seed, _covered)
    reason = NOTHING_TO_COVER if np.isnan(value) else None
    return Score("coverage", value, value, None, details, {"seed": seed}, reason, ceiling=ceiling)


def _covered(tables: Tables) -> Measured:
    found = {c: _numbers(tables, c) if tables.kind(c) == "numeric" else _values(tables, c) for c in tables.columns}
    shares = {f"coverage_{c}": share for c, share in found.items() if share is not None}
    value = float(np.mean(list(shares.values()))) if shares else float("nan")
    return value, shares | {"columns": float(len(shares))}


def _values(tables: Tables, column: str) -> float | None:
    codes = tables.codes([column])
    common = how_many_with(codes.tables[0], codes.size, tables.entities)[:-1] >= FEWEST  # the last is missing
    release = np.bincount(codes.tables[1], minlength=codes.size)[:-1]
    return float(np.mean(release[common] > 0)) if common.any() else None


def _numbers(tables: Tables, column: str) -> float | None:
    real, release = (1 - float(np.isnan(side).mean()) for side in tables.floats(column))
    return min(1.0, release / real) if real > 0 else None


COVERAGE = utility_metric("coverage", coverage, FRANCIS)
