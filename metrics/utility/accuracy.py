"""Accuracy: how near a release's answers come to those of the real table, over many simple queries.

Questions that an analyst asks of a table, and how far the answers of a release are from those of the real one.

What real records reach in place of a release: the ceiling beside which a utility is read.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import floor, log10
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.metric import Metric, Records, Yardsticks
from synthrisk.metrics.score import Ceiling, Score
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import is_temporal, kind
from synthrisk.metrics.tables.order import canonical
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
    both = np.concatenate([real, synthetic])
    codes, size = ranges_of(both, real[~np.isnan(real)], temporal=is_temporal(tables.real[column]))
    return Cells(codes[: len(real)], codes[len(real) :], size)


def ranges_of(values: np.ndarray, seen: np.ndarray, *, temporal: bool) -> tuple[np.ndarray, int]:
    """Return the range of each number, -1 where there is none, and how many there are, by the values ``seen``."""
    if not len(seen):
        return np.full(len(values), -1), 1
    unit = DAY if temporal else 1.0
    step = step_of(seen / unit)
    if step is None:
        return np.where(values == seen[0], 0, -1), 1
    places = step.places(values / unit)
    codes = np.where(np.isnan(places), -1, np.unique(places, return_inverse=True)[1])
    return codes, int(codes.max()) + 1


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


Measured = tuple[float, dict[str, float]]


def utility_metric(name: str, function: Callable[..., Score], reference: str, **facts: Any) -> Metric:
    """Return a metric of utility: it has one value a release, and control records give its ceiling."""
    return Metric(
        name,
        function,
        "utility",
        per_record=False,
        reference=reference,
        label="utility",
        records=Records(mean=False),
        yardsticks=Yardsticks(own_control=True),
        **facts,
    )


def beside_ceiling(
    tables: Tables, seed: int, measured: Callable[[Tables], Measured]
) -> tuple[float, dict[str, float], Ceiling | None]:
    """Return value and details of a release and, with control records, the ceiling: also among the details.

    More rows show more values and less noise. So release and control are compared at one number of rows, the smaller of
    both (``ceiling_rows``): ``ceiling`` is the value of that many control records in place of the release, ``thinned``
    that of as many rows of the release; ``ceiling_<detail>`` are the control records' details. A release above its
    ceiling is nearer to the real records than other people of the population are: it repeats them. ``seed`` is that of
    the draw of rows.
    """
    (value, details), others = measured(tables), tables.control
    if others is None:
        return value, details, None
    size = min(len(tables.synthetic), len(others))

    def both() -> tuple[Tables, Tables]:
        instead = Tables(tables.real, others, entities=tables.entities)
        return thinned(tables, size, seed), thinned(instead, size, seed)

    release, control = tables.shared(("ceiling", seed), both)
    reached, own = measured(control)
    ceiling = Ceiling(reached, value if release is tables else measured(release)[0], float(size), own)
    return value, details | ceiling.named, ceiling


def thinned(tables: Tables, size: int, seed: int) -> Tables:
    """Return tables with that many rows of the release, drawn so that their order has no part in it."""
    if size == len(tables.synthetic):
        return tables
    order = np.argsort(canonical(tables).synthetic, kind="stable")
    rows = order[np.random.default_rng(seed).choice(len(order), size, replace=False)]
    return Tables(tables.real, tables.synthetic.iloc[np.sort(rows)], entities=tables.entities)


FRANCIS = "Francis 2018, GDA Score Overview (Open GDA Score Project, MPI-SWS)"
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
        ceiling (see ``accuracy.beside_ceiling``). Not defined where no query has an answer in the real table.

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
    value, details, ceiling = beside_ceiling(
        tables, seed, lambda release: summed_up(release.columns, [(query, answered(release, query)) for query in asked])
    )
    reason = NO_ANSWER if np.isnan(value) else None
    return Score("accuracy", value, value, None, details, {"queries": queries, "seed": seed}, reason, ceiling=ceiling)


def summed_up(names: Sequence[str], every: Sequence[tuple[Query, Answered]]) -> Measured:
    """Return the accuracy over queries that have answers, and the details."""
    every = [(query, answers) for query, answers in every if len(answers.errors)]
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


ACCURACY = utility_metric("accuracy", accuracy, FRANCIS, check_values=check_queries, check_table=check_query_columns)
