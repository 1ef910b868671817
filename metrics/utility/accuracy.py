"""Accuracy: how near a release's answers come to those of the real table, over many simple queries."""

from collections.abc import Sequence

import numpy as np

from synthrisk.metrics.metric import Score
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.utility.ceiling import Measured, beside_ceiling, utility_metric
from synthrisk.metrics.utility.queries import (
    Answered,
    Queries,
    Query,
    answered,
    check_queries,
    check_query_columns,
    generic,
)

NO_ANSWER = "no query has an answer in the real table"


def accuracy(tables: Tables, *, queries: Queries = "generic", seed: int = 0) -> Score:
    """Accuracy: one minus the mean relative error of the release's answers to simple queries; 1 = all are right.

    Error of an answer: |a - r| / max(|a|, |r|), a real, r of the release, at most 1; 0/0 = 0. An answer that the
    release suppresses (no such record, no such value) has error 1. The error of a query is the mean over its answers,
    one for each combination of conditions that at least two entities meet, so that no question is about one person.
    Records are counted on both sides, also where an entity has several: a release does not say whose its rows are. The
    value is the mean over queries, so no column counts more for having more values.

    Conditions: each value of a categorical column; ranges [j w, (j + 1) w) of a numeric one, w of 1, 2 or 5 times a
    power of ten, the smallest that cuts its middle nine tenths in at most ten (dates in days; of a constant column
    equality). Counts and sums of the release are multiplied by n/m. Dates have no zero: their error is |a - r| divided
    by the real range, and they have no sum. A mean near 0 has a large relative error from chance alone: read the value
    beside its ceiling.

    Args:
        tables: Real (n records) and synthetic (m records). A suppressed column is all missing.
        queries: ``generic``: counts of values of each column; counts of records by each column and each pair of
            columns; sum, mean, min and max of each numeric column. Or friendly queries, those that the release is
            for: a list of ``{<statistic>: <column>, by: [<columns>]}`` with a statistic of count, sum, mean, min,
            max; ``{count: "*", by: [...]}`` counts records. No value is written: a query is asked for each condition.
        seed: With control records, of the draw that brings them and the release to one size.

    Returns:
        A ``Score`` in [0, 1] (``published`` is the same). Details: the accuracy of each kind of query (``count``,
        ``count_by_1``, ``count_by_2``, ``sum``, ``mean``, ``min``, ``max`` ...), ``accuracy_<column>`` over the
        queries about a column, ``queries``, ``answers``, ``suppressed`` (share of the answers); with ``control`` the
        ceiling (see ``ceiling.beside_ceiling``). Not defined where no query has an answer in the real table.

    Raises:
        InputError: ``queries`` breaks its rule, or a column holds values of another type in the release.

    Example:
        >>> import pandas as pd
        >>> real = pd.DataFrame({"sex": ["f", "f", "m", "m"], "income": [10.0, 20.0, 30.0, 40.0]})
        >>> release = pd.DataFrame({"sex": ["f", "m"], "income": [15.0, 28.0]})
        >>> ACCURACY(real, release, queries=[{"mean": "income", "by": ["sex"]}]).value  # 15 and 15, 35 and 28
        0.9
    """
    check_query_columns(tables.real, queries)
    asked = check_queries(queries) or generic(tables)
    value, details, ceiling = beside_ceiling(tables, seed, lambda release: _accurate(release, asked))
    reason = NO_ANSWER if np.isnan(value) else None
    return Score("accuracy", value, value, None, details, {"queries": queries, "seed": seed}, reason, ceiling=ceiling)


def _accurate(tables: Tables, queries: list[Query]) -> Measured:
    every = [(query, answered(tables, query)) for query in queries]
    return summed_up(tables.columns, [(query, answers) for query, answers in every if len(answers.errors)])


def summed_up(names: Sequence[str], every: Sequence[tuple[Query, Answered]]) -> Measured:
    """Return the accuracy over queries that have answers, and the details."""
    kinds: dict[str, list[float]] = {}
    columns: dict[str, list[float]] = {c: [] for c in names}
    for query, answers in every:
        kinds.setdefault(query.kind, []).append(_share_right(answers))
        for column in query.columns:
            columns[column].append(_share_right(answers))
    details = {name: float(np.mean(right)) for name, right in kinds.items()}
    details |= {f"accuracy_{name}": float(np.mean(right)) for name, right in columns.items() if right}
    suppressed = np.concatenate([answers.suppressed for _, answers in every] or [np.empty(0)])
    details |= {"queries": float(len(every)), "answers": float(len(suppressed))}
    if not every:
        return float("nan"), details
    details["suppressed"] = float(suppressed.mean())
    return float(np.mean([_share_right(answers) for _, answers in every])), details


def _share_right(answers: Answered) -> float:
    return 1 - float(answers.errors.mean())


ACCURACY = utility_metric(
    "accuracy",
    accuracy,
    "Francis 2018, GDA Score Overview (Open GDA Score Project, MPI-SWS)",
    check_values=check_queries,
    check_table=check_query_columns,
)
