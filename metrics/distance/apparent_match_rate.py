"""Apparent matches: one person and one released record are the only ones with a key, so the record seems to be his."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import Codes, matches
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables


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
    reduce=reduce_matches,
)
