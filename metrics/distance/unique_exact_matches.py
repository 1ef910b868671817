"""Unique exact matches: real records that nobody else equals, and that the release holds as they are."""

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import matches
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables


def unique_exact_matches(tables: Tables) -> Score:
    """Unique exact matches: share of real records that are unique in the real table and occur in the release.

    A record is unique if no other real record (of another entity) equals it in every column. ``value = mean(unique and
    released)``, in [0, 1], high = records of single people are given out. ``published`` is the percentage that SDNist
    prints: of the unique real records, how many occur in the release (NaN where no record is unique). Values are
    compared, not dtypes, and a missing cell equals a missing cell. With control records, unique means unique among
    members and control records together.

    Args:
        tables: Real (n records) and synthetic (m records).

    Returns:
        A ``Score``; ``records``: score (1 if the record is unique and in the release, else 0), unique. Details:
        ``unique_share`` (share of the records that are unique), ``matched_share`` (share of the unique records that
        are in the release, NaN where there is none), ``matched`` (their number).

    Raises:
        InputError: A numeric column holds text or an infinity in a table.

    Example:
        >>> real = pd.DataFrame({"x": [1, 1, 2, 3], "c": ["a", "a", "b", "b"]})
        >>> release = pd.DataFrame({"x": [1, 2], "c": ["a", "b"]})
        >>> score = UNIQUE_EXACT_MATCHES(real, release)
        >>> score.value, score.published
        (0.25, 50.0)
    """
    tables.check_comparable(tables.columns)
    rows = tables.codes(tables.columns)
    own = rows.tables[0]
    unique = how_many_with(own, rows.size, tables.entities)[own] == 1
    score = (unique & (matches(rows) > 0)).astype(float)
    records = pd.DataFrame({"score": score, "unique": unique}, index=tables.real.index)
    return Score.of("unique_exact_matches", records, reduce_unique(records), {}, {})


def reduce_unique(records: pd.DataFrame) -> Reduction:
    """Return the share of records that are unique and released, and SDNist's percentage of the unique ones."""
    unique, matched = int(records["unique"].sum()), float(records["score"].sum())
    of_unique = matched / unique if unique else float("nan")
    details = {"unique_share": float(np.mean(records["unique"])), "matched_share": of_unique, "matched": matched}
    return Reduction(mean_score(records), 100 * of_unique, details)


UNIQUE_EXACT_MATCHES = Metric(
    name="unique_exact_matches",
    function=unique_exact_matches,
    group="distance",
    reference="NIST Collaborative Research Cycle; SDNist (usnistgov/SDNist), unique exact matches",
    reduce=reduce_unique,
)
