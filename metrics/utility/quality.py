"""SDMetrics' quality score: what users of SDV know a release by."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.utility.accuracy import Measured, beside_ceiling, utility_metric


def quality(tables: Tables, *, seed: int = 0) -> Score:
    """Quality: SDMetrics' QualityReport: mean of how alike single columns and pairs of columns are distributed.

    Column shapes: 1 - Kolmogorov-Smirnov distance of a numeric column, 1 - total variation distance of any other.
    Column pair trends: 1 - half the difference of the correlations of two numeric columns, 1 - total variation distance
    of the contingency tables of any other pair; but only of pairs that are clearly associated in the real table
    (correlation above 0.5, Cramer's V above 0.3). For such a table SDMetrics cuts a numeric column in ten parts, in
    each table by its own range. What SDMetrics cannot compute does not count (the shape of a suppressed column, say):
    ``columns`` and ``pairs`` say how many count. All rows are used; SDMetrics' default draws 50,000 of them.

    Args:
        tables: Real (n records) and synthetic (m records).
        seed: With control records, of the draw that brings them and the release to one size.

    Returns:
        A ``Score`` in [0, 1], 1 = alike (``published`` is the same). Details: ``column_shapes``,
        ``column_pair_trends`` (NaN without such pairs), ``columns`` and ``pairs`` (how many count); with ``control``
        the ceiling (see ``accuracy.beside_ceiling``). Not defined where SDMetrics can compute nothing.

    Raises:
        InputError: SDMetrics is not installed, or a column holds values of another type in the release.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "c": ["a", "a", "b", "b"]})
        >>> QUALITY(real, real).value
        1.0
    """
    check_installed()
    value, details, ceiling = beside_ceiling(tables, seed, _reported)
    reason = "SDMetrics can compare no column" if np.isnan(value) else None
    return Score("quality", value, value, None, details, {"seed": seed}, reason, ceiling=ceiling)


def check_installed() -> None:
    """Say which extra is to be installed where SDMetrics is not."""
    if not QUALITY.installed:
        raise InputError("quality needs SDMetrics, which is not installed: pip install 'synthrisk[sdv]'")


def _reported(tables: Tables) -> Measured:
    from sdmetrics.reports import QualityReport

    plain = [_plain(tables, c) for c in tables.columns]
    real, synthetic = (pd.DataFrame({str(i): both[side] for i, both in enumerate(plain)}) for side in (0, 1))
    kinds = {"numeric": "numerical", "categorical": "categorical"}
    columns = {str(i): {"sdtype": kinds[tables.kind(c)]} for i, c in enumerate(tables.columns)}
    report = QualityReport()
    report.num_rows_subsample = None  # it draws them by numpy's global generator
    with catch_warnings():
        simplefilter("ignore")  # of constant columns, of what it cannot compute: that is counted
        report.generate({"t": real}, {"t": synthetic}, {"tables": {"t": {"columns": columns}}}, verbose=False)
        shapes, trends = report.get_properties()["Score"]
        scored = [report.get_details(name)["Score"].notna().sum() for name in ("Column Shapes", "Column Pair Trends")]
    details = {"column_shapes": float(shapes), "column_pair_trends": float(trends)}
    return float(report.get_score()), details | {"columns": float(scored[0]), "pairs": float(scored[1])}


def _plain(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a column as numbers, or as numbers of levels: missing cells are NaN in both."""
    if tables.kind(column) == "numeric":
        return tables.floats(column)
    codes = tables.codes([column])
    real, synthetic = (np.where(side == codes.size - 1, np.nan, side) for side in codes.tables)
    return real, synthetic


QUALITY = utility_metric(
    "quality", quality, "SDMetrics 0.32, QualityReport (DataCebo)", check_values=check_installed, package="sdmetrics"
)
