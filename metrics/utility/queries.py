"""Questions that an analyst asks of a table, and how far the answers of a release are from those of the real one."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.utility.query_conditions import joint_cells

STATISTICS = ("count", "sum", "mean", "min", "max")
RECORDS = "*"
FEWEST = 2  # entities that a condition must hold for: an answer about one person is none that a release owes
ROUNDING = 1e-10  # differences below this share of the numbers added up are those of floating point

Queries: TypeAlias = Literal["generic"] | Sequence[Mapping[str, Any]]


class Query(NamedTuple):
    """One question: a statistic of a column (``*``: of the records) for each combination of conditions."""

    statistic: str
    column: str
    by: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Name of its kind: ``count``, ``mean``, ``count_by_2`` ..."""
        return f"{self.statistic}_by_{len(self.by)}" if self.by else self.statistic

    @property
    def columns(self) -> set[str]:
        """The columns that it is about."""
        return {*self.by, *({self.column} - {RECORDS})}


class Answered(NamedTuple):
    """How a release answers a query, an entry an answer."""

    errors: np.ndarray  # in [0, 1]
    suppressed: np.ndarray  # booleans: the release has nothing to say


def check_queries(queries: object = "generic") -> list[Query]:
    """Return friendly queries as written, an empty list for ``generic``; refuse what is no query.

    Example:
        >>> check_queries([{"mean": "income", "by": ["sex"]}])
        [Query(statistic='mean', column='income', by=('sex',))]
    """
    if isinstance(queries, str) and queries == "generic":
        return []
    if isinstance(queries, str | Mapping) or not isinstance(queries, Sequence) or not queries:
        raise InputError(f"queries must be generic or a list of at least one query, got {queries!r}")
    return [_query(each) for each in queries]


def check_query_columns(table: pd.DataFrame, queries: object = "generic") -> None:
    """Refuse queries about columns that the table does not have, or that have no such statistic."""
    for query in check_queries(queries):
        for column in query.columns:
            if column not in table.columns:
                hint = nearest(str(column), map(str, table.columns))
                raise InputError(f"queries must name columns of the table, got {column!r}{hint}")
        if query.statistic != "count" and kind(table[query.column]) != "numeric":
            raise InputError(f"queries must take {query.statistic} of a numeric column, got {query.column!r}")
        if query.statistic == "sum" and _is_date(table[query.column]):
            raise InputError(f"queries must take sum of numbers or durations, got {query.column!r}, which holds dates")


def generic(tables: Tables) -> list[Query]:
    """Return the basic questions about a table.

    Values of each column; records by the conditions of each column and of each pair of columns; sum (dates have
    none), mean, min and max of each numeric column.
    """
    names = tables.columns
    numeric = [c for c in names if tables.kind(c) == "numeric"]
    return [
        *(Query("count", c) for c in names),
        *(Query("count", RECORDS, (c,)) for c in names),
        *(Query("count", RECORDS, pair) for pair in combinations(names, 2)),
        *(Query("sum", c) for c in numeric if not _is_date(tables.real[c])),
        *(Query(statistic, c) for statistic in ("mean", "min", "max") for c in numeric),
    ]


def answered(tables: Tables, query: Query) -> Answered:
    """Return how far the release's answers are from the real ones, for each condition that two entities meet."""
    joint = joint_cells(tables, query.by)
    asked = how_many_with(joint.real, joint.size, tables.entities) >= (FEWEST if query.by else 1)
    cells = joint.real, joint.synthetic
    if query.statistic == "count":
        present = _present(tables, query.column)
        real, release = (_sums(c, p, joint.size) for c, p in zip(cells, present, strict=True))
        asked &= real > 0
        release = release * (len(tables.real) / len(tables.synthetic))
        return Answered(relative_error(real[asked], release[asked]), release[asked] == 0)
    return _of_numbers(tables, query, cells, asked)


def relative_error(
    real: np.ndarray, release: np.ndarray, rounding: np.ndarray | float = 0.0, span: float | None = None
) -> np.ndarray:
    """Return |a - r| / max(|a|, |r|), a ``real`` and r ``release``, at most 1; 0/0 = 0; where r is missing (NaN): 1.

    Differences up to ``rounding`` count as none; where the numbers have no zero (dates) they are divided by ``span``.

    Example:
        >>> relative_error(np.array([4.0, -2.0, 0.0, -1.0]), np.array([5.0, -4.0, 0.0, 1.0])).tolist()
        [0.2, 0.5, 0.0, 1.0]
    """
    away = np.abs(real - release)
    largest = np.maximum(np.abs(real), np.abs(release)) if span is None else np.full(len(real), span)
    share = np.divide(away, largest, out=np.ones(len(real)), where=largest > 0)
    return np.where(np.isnan(release), 1.0, np.where(away <= rounding, 0.0, np.minimum(share, 1.0)))


def _query(written: object) -> Query:
    if not isinstance(written, Mapping):
        raise InputError(f"queries must be mappings like {{count: '*', by: [sex]}}, got {type(written).__name__}")
    unknown = [k for k in written if k not in (*STATISTICS, "by")]
    if unknown:
        raise InputError(f"queries take the keys {', '.join(STATISTICS)} and by, got {unknown[0]!r}")
    statistics = [s for s in STATISTICS if s in written]
    if len(statistics) != 1:
        raise InputError(f"queries must have one of {', '.join(STATISTICS)} each, got {len(statistics)} in one")
    statistic = statistics[0]
    column, by = written[statistic], written.get("by", [])
    by = [by] if isinstance(by, str) else by
    if not isinstance(column, str) or not isinstance(by, Sequence) or not all(isinstance(c, str) for c in by):
        raise InputError(f"queries must give {statistic} one column and by a list of columns, got other types")
    if len({*by}) < len(by):
        raise InputError(f"queries must name each column once in by, got {list(by)!r}")
    if column == RECORDS and (statistic != "count" or not by):
        rule = "queries may take '*' in a count by columns only (the number of all records is scaled to be equal)"
        raise InputError(f"{rule}, got {statistic}")
    return Query(statistic, column, tuple(by))


def _of_numbers(tables: Tables, query: Query, cells: tuple[np.ndarray, np.ndarray], asked: np.ndarray) -> Answered:
    """Return the errors of sum, mean, min or max; dates are counted from the first real one."""
    numbers = tables.floats(query.column)
    seen = numbers[0][~np.isnan(numbers[0])]
    span = None
    if _is_date(tables.real[query.column]) and len(seen):
        span = float(seen.max() - seen.min())
        numbers = numbers[0] - seen.min(), numbers[1] - seen.min()
    sizes = [_sums(c, (~np.isnan(v)).astype(float), len(asked)) for c, v in zip(cells, numbers, strict=True)]
    asked = asked & (sizes[0] > 0)
    scale = len(tables.real) / len(tables.synthetic)
    real, release = (_statistic(query.statistic, c, v, len(asked)) for c, v in zip(cells, numbers, strict=True))
    amount = _statistic(query.statistic, cells[0], np.abs(numbers[0]), len(asked))
    if query.statistic == "sum":
        release = release * scale
    rounding = 0.0 if query.statistic in ("min", "max") else ROUNDING * amount[asked]
    release = np.where(sizes[1] > 0, release, np.nan)
    return Answered(relative_error(real[asked], release[asked], rounding, span), sizes[1][asked] == 0)


def _statistic(statistic: str, cells: np.ndarray, numbers: np.ndarray, size: int) -> np.ndarray:
    """Return one number a cell, over the numbers that are not missing; any number where there are none."""
    kept = (cells >= 0) & ~np.isnan(numbers)
    cells, numbers = cells[kept], numbers[kept]
    if statistic in ("min", "max"):
        found = np.full(size, np.inf if statistic == "min" else -np.inf)
        (np.minimum if statistic == "min" else np.maximum).at(found, cells, numbers)
        return found
    total = np.bincount(cells, numbers, minlength=size)
    return total if statistic == "sum" else total / np.maximum(np.bincount(cells, minlength=size), 1)


def _sums(cells: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(cells[cells >= 0], weights[cells >= 0], minlength=size)


def _present(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:  # 1 for each record with a value
    if column == RECORDS:
        return np.ones(len(tables.real)), np.ones(len(tables.synthetic))
    if tables.kind(column) == "numeric":
        real, synthetic = tables.floats(column)
        return (~np.isnan(real)).astype(float), (~np.isnan(synthetic)).astype(float)
    codes = tables.codes([column])
    return (codes.tables[0] < codes.size - 1).astype(float), (codes.tables[1] < codes.size - 1).astype(float)


def _is_date(column: pd.Series) -> bool:
    return bool(types.is_datetime64_any_dtype(column.dtype))
