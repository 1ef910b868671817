"""Common rows: real records that the release holds as they are."""

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import matches
from synthrisk.metrics.tables.tables import Tables

_NOTHING = 1e-8  # what PrivEval adds to the number of rows


def common_rows_proportion(tables: Tables) -> Score:
    """CRP: share of real records that occur in the release, equal in every column.

    ``value = mean(hit)``, in [0, 1], high = real records are given out. Values are compared, not dtypes; a missing
    cell equals a missing cell. ``published`` is PrivEval's: distinct common rows / (real rows + 1e-8), so that
    two real rows that are alike count as one where they are found, and as two where rows are counted.

    The source: PrivEval's program compares texts, so that 1 and 1.0 differ, and counts distinct rows where they are
    found and all rows below the line: a copy with duplicates has less than 1 there (``published``).

    Args:
        tables: Real (n records) and synthetic (m records).

    Returns:
        A ``Score``; ``records``: score (1 if the record is in the release, else 0), row (a number of the distinct
        row, equal for equal records). Details: ``distinct_over_rows``, ``distinct_over_distinct``,
        ``distinct_common``, ``distinct_rows``.

    Raises:
        InputError: A numeric column holds text or an infinity in a table.

    Example:
        >>> real = pd.DataFrame({"x": [1, 1, 2, 3], "c": ["a", "a", "b", "b"]})
        >>> release = pd.DataFrame({"x": [1, 2], "c": ["a", "a"]})
        >>> COMMON_ROWS_PROPORTION(real, release).value
        0.5
    """
    tables.check_comparable(tables.columns)
    rows = tables.codes(tables.columns)
    hit = matches(rows) > 0
    records = pd.DataFrame({"score": hit.astype(float), "row": rows.tables[0]}, index=tables.real.index)
    return Score.of("common_rows_proportion", records, reduce_hits(records), {}, {})


def reduce_hits(records: pd.DataFrame) -> Reduction:
    """Return the share of records that are hit, and the source's shares of distinct rows."""
    rows = records["row"].to_numpy()
    distinct = len(np.unique(rows))
    common = len(np.unique(rows[records["score"].to_numpy() == 1]))
    details = {
        "distinct_over_rows": common / len(rows),
        "distinct_over_distinct": common / distinct,
        "distinct_common": float(common),
        "distinct_rows": float(distinct),
    }
    return Reduction(mean_score(records), common / (len(rows) + _NOTHING), details)


COMMON_ROWS_PROPORTION = Metric(
    name="common_rows_proportion",
    function=common_rows_proportion,
    group="distance",
    reference="PrivEval (hereditary-eu): docs/priveval.md; Synthcity, doi:10.48550/arXiv.2301.07573",
    copied=1.0,
    reduce=reduce_hits,
)
