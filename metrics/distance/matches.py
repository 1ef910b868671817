"""Equal records: rows that stand in the release as they are, unique ones among them, and what unique keys give away."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Records, Yardsticks
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import Codes, matches
from synthrisk.metrics.tables.entities import how_many_with
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
    records=Records(reduce=reduce_hits),
    yardsticks=Yardsticks(copied=1.0),
)


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
    records=Records(reduce=reduce_unique),
)


def apparent_match_rate(tables: Tables, *, quasi_identifiers: Sequence[str]) -> Score:
    """Apparent matches: where a key is unique in both tables, share of the other columns that are equal, else 0.

    A key is the values of the quasi-identifiers together. A real record has an apparent match where it is the only real
    record with its key and one released record is the only one with that key. Its score is then the share of the other
    columns in which both are equal; without a match it is 0. ``value = mean(score)`` over all real records, in [0, 1],
    high = those who know the key of a person find the rest. ``published`` is what SDNist shows the distribution of: the
    percentage of other columns that agree, in the mean over the apparent matches (NaN where there is none).

    Values are compared, not dtypes. A missing cell equals a missing cell, also in the other columns, where the source
    counts it as different. A key is unique if no other entity has it; with control records, among members and control
    records together.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows; at least one other column must be left.

    Returns:
        A ``Score``; ``records``: score, match (whether there is an apparent match), unique (whether the key is unique
        among the real records). Details: ``unique_keys`` (share of records), ``match_share`` (share of the records with
        an apparent match), ``agreement`` (mean score of these, NaN where there is none).

    Raises:
        InputError: A column is absent, no other column is left, or a numeric column holds text or an infinity.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": list("abab"), "car": list("xxyy")})
        >>> release = pd.DataFrame({"age": [30, 40, 50, 50], "vote": list("abab"), "car": list("xyyy")})
        >>> score = APPARENT_MATCH_RATE(real, release, quasi_identifiers=["age"])  # 40 is unique in both
        >>> score.value, score.published
        (0.125, 50.0)
    """
    known = tables.check_columns("quasi_identifiers", quasi_identifiers)
    others = _others(tables.columns, known)
    tables.check_comparable(tables.columns)
    key = tables.codes(known)
    own, size = key.tables[0], key.size
    unique = how_many_with(own, size, tables.entities)[own] == 1
    match = unique & (matches(key) == 1)
    score = np.where(match, _agreement([tables.codes([c]) for c in others], key), 0.0)
    records = pd.DataFrame({"score": score, "match": match, "unique": unique}, index=tables.real.index)
    return Score.of("apparent_match_rate", records, reduce_matches(records), {}, {"quasi_identifiers": known})


def reduce_matches(records: pd.DataFrame) -> Reduction:
    """Return the mean score of all records, and what the apparent matches come to."""
    match = records["match"].to_numpy(bool)
    agreement = float(records["score"].to_numpy(dtype=float)[match].mean()) if match.any() else float("nan")
    details = {"unique_keys": float(records["unique"].mean()), "match_share": float(match.mean())}
    details["agreement"] = agreement
    return Reduction(mean_score(records), 100 * agreement, details)


def check_others(real: pd.DataFrame, *, quasi_identifiers: Sequence[str], **_: Any) -> None:
    """Refuse quasi-identifiers that leave no other column to compare."""
    _others(list(real.columns), quasi_identifiers)


def _others(columns: Sequence[str], known: Sequence[str]) -> list[str]:
    others = [c for c in columns if c not in known]
    if not others:
        raise InputError(f"quasi_identifiers must leave a column to compare, got all {len(columns)} of the table")
    return others


def _agreement(others: Sequence[Codes], key: Codes) -> np.ndarray:
    """Return the share of columns in which each real record equals the last released one of its key, (n,)."""
    holder = np.zeros(key.size, dtype=np.int64)
    holder[key.tables[1]] = np.arange(len(key.tables[1]))
    found = holder[key.tables[0]]
    return np.mean([each.tables[0] == each.tables[1][found] for each in others], axis=0)


APPARENT_MATCH_RATE = Metric(
    name="apparent_match_rate",
    function=apparent_match_rate,
    group="distance",
    needs=("quasi_identifiers",),
    reference="NIST Collaborative Research Cycle; SDNist (usnistgov/SDNist), apparent match distribution",
    check_table=check_others,
    records=Records(reduce=reduce_matches),
)
