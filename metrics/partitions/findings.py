"""Which metrics are computed in parts, and what they say of members and of control records apart.

From scores in parts to findings, as a study makes them of the ledger of one release; with a look at the tables before:
broken columns of the release, control records that are members.

Coverage and accuracy in parts: of the members, from what is counted of columns and of pairs of columns.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.partitions.keys import (
    attribute_disclosure,
    categorical_cap,
    common_rows_proportion,
    generalized_cap,
    keys,
    targeted_cap,
    unique_exact_matches,
    zero_cap,
)
from synthrisk.metrics.partitions.nearest import distance_to_closest_record
from synthrisk.metrics.partitions.parts import (
    CONTROLS,
    MEMBERS,
    REAL,
    RELEASE,
    Coded,
    Column,
    Partitioned,
    as_categories,
)
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.columns import column_problems
from synthrisk.metrics.release.matches import equal, in_words
from synthrisk.metrics.release.validity import told
from synthrisk.metrics.score import Score
from synthrisk.metrics.study.comparison import compare_findings
from synthrisk.metrics.study.estimation import Contributed, Releases, find_all
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Cell, OfUtility, Planned, Said
from synthrisk.metrics.study.scoring import said_of_records
from synthrisk.metrics.tables.tables import Tables, in_order
from synthrisk.metrics.utility.accuracy import (
    FEWEST,
    NO_ANSWER,
    RECORDS,
    ROUNDING,
    Answered,
    Query,
    ranges_of,
    relative_error,
    summed_up,
)
from synthrisk.metrics.utility.coverage import NOTHING_TO_COVER
from synthrisk.metrics.verdicts.quantities import limited

_SIDES = (MEMBERS, RELEASE)


class _Cells(NamedTuple):
    """In which condition of a column each code falls; -1: in none."""

    of: np.ndarray  # (codes,) int64
    size: int


def coverage(tables: Partitioned, *, seed: int = 0) -> Score:
    """Return how much of the members' values the release shows (``coverage.coverage``), without a ceiling."""
    found = {name: _covered(column, tables.rows) for name, column in tables.columns.items()}
    shares = {f"coverage_{name}": share for name, share in found.items() if share is not None}
    value = float(np.mean(list(shares.values()))) if shares else float("nan")
    details, reason = shares | {"columns": float(len(shares))}, NOTHING_TO_COVER if np.isnan(value) else None
    return Score("coverage", value, value, None, details, {"seed": seed}, reason)


def accuracy(tables: Partitioned, *, queries: object = "generic", seed: int = 0) -> Score:
    """Return how near the release's answers come to those of the members (``accuracy.accuracy``), without a ceiling.

    Raises:
        InputError: Queries are asked that are not the generic ones.
    """
    if queries != "generic":
        raise InputError("accuracy is computed in parts for the generic queries alone, got queries of its own")
    value, details = summed_up(list(tables.columns), _every(tables))
    reason = NO_ANSWER if np.isnan(value) else None
    return Score("accuracy", value, value, None, details, {"queries": queries, "seed": seed}, reason)


def _covered(column: Column, rows: Sequence[int]) -> float | None:
    real, release = column.counts[MEMBERS], column.counts[RELEASE]
    if column.kind == "categorical":
        common = real[:-1] >= FEWEST
        return float(np.mean(release[:-1][common] > 0)) if common.any() else None
    shown = [1 - column.missing(side) / rows[side] for side in _SIDES]
    return min(1.0, shown[1] / shown[0]) if shown[0] > 0 else None


def _every(tables: Partitioned) -> list[tuple[Query, Answered]]:
    """Return the generic queries in their order with what is answered: counts, counts by conditions, then numbers."""
    names = list(tables.columns)
    cells = {name: _cells(column) for name, column in tables.columns.items()}
    found = [(Query("count", c), _counts_of_values(tables, tables.columns[c])) for c in names]
    for name in names:
        real, release = (_by_cell(cells[name], tables.columns[name].counts[side]) for side in _SIDES)
        found.append((Query("count", RECORDS, (name,)), _counts_by(tables, real, release)))
    pairs = list(combinations(names, 2))
    counted = [_merged(tables.of_side(side, _pair_counts, cells, pairs), len(pairs)) for side in _SIDES]
    for pair, (codes, counts), (others, released) in zip(pairs, *counted, strict=True):
        every = np.union1d(codes, others)
        real, release = np.zeros(len(every)), np.zeros(len(every))
        real[np.searchsorted(every, codes)], release[np.searchsorted(every, others)] = counts, released
        found.append((Query("count", RECORDS, pair), _counts_by(tables, real, release)))
    numeric = [c for c in names if tables.columns[c].kind == "numeric"]
    numbers = {c: _numbers(tables.columns[c]) for c in numeric}
    totals = [_totals(tables, side, numbers) for side in _SIDES]
    found += [
        (Query("sum", c), _of_numbers(tables, c, "sum", numbers, totals))
        for c in numeric
        if not tables.columns[c].is_date
    ]
    for statistic in ("mean", "min", "max"):
        found += [(Query(statistic, c), _of_numbers(tables, c, statistic, numbers, totals)) for c in numeric]
    return found


def _cells(column: Column) -> _Cells:
    """Return the conditions of a column, as ``accuracy.cells`` cuts them for the members."""
    codes = np.arange(column.size)
    if column.kind == "categorical":
        return _Cells(np.where(codes == column.size - 1, -1, codes), column.size)
    return _Cells(*ranges_of(column.floats, column.sorted_floats([MEMBERS]), temporal=column.temporal))


def _counts_of_values(tables: Partitioned, column: Column) -> Answered:
    real, release = (np.array([float(tables.rows[side] - column.missing(side))]) for side in _SIDES)
    return _counted(tables, real, release, real > 0)


def _counts_by(tables: Partitioned, real: np.ndarray, release: np.ndarray) -> Answered:
    return _counted(tables, real, release, real >= FEWEST)


def _counted(tables: Partitioned, real: np.ndarray, release: np.ndarray, asked: np.ndarray) -> Answered:
    release = release * (tables.rows[MEMBERS] / tables.rows[RELEASE])
    return Answered(relative_error(real[asked], release[asked]), release[asked] == 0)


def _by_cell(cells: _Cells, counts: np.ndarray) -> np.ndarray:
    return np.bincount(cells.of[cells.of >= 0], counts[cells.of >= 0], minlength=cells.size)


def _pair_counts(
    part: Coded, cells: Mapping[Any, _Cells], pairs: Sequence[tuple[Any, Any]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    own = {name: each.of[part[name]] for name, each in cells.items()}
    found = []
    for a, b in pairs:
        codes = (own[a] * cells[b].size + own[b])[(own[a] >= 0) & (own[b] >= 0)]
        size = cells[a].size * cells[b].size
        if size <= 4 * len(codes):
            counts = np.bincount(codes, minlength=size)
            there = np.flatnonzero(counts)
            found.append((there, counts[there]))
        else:
            found.append(np.unique(codes, return_counts=True))
    return found


def _merged(parts: Sequence[Any], pairs: int) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for at in range(pairs):
        codes, back = np.unique(np.concatenate([part[at][0] for part in parts]), return_inverse=True)
        found.append((codes, np.bincount(back, np.concatenate([part[at][1] for part in parts]), len(codes))))
    return found


def _numbers(column: Column) -> np.ndarray:
    """Return the numbers behind the codes; dates are counted from the first of the members."""
    seen = column.floats[column.counts[MEMBERS] > 0]
    seen = seen[~np.isnan(seen)]
    return column.floats - seen.min() if column.is_date and len(seen) else column.floats


def _totals(tables: Partitioned, side: int, numbers: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """Return the sum of each column and that of its absolute numbers, added in the order of the rows."""
    parts = tables.parts[side]
    assert parts is not None  # noqa: S101 - there are members, and a release
    return parts.fold(_added, {name: np.zeros(2) for name in numbers}, numbers)


def _added(part: Coded, totals: dict[Any, np.ndarray], numbers: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    found = {}
    for name, total in totals.items():
        own = numbers[name][part[name]]
        own = own[~np.isnan(own)]
        first = np.zeros(len(own) + 1, dtype=np.int64)  # bincount adds one number after the other, as one machine does
        both = [np.bincount(first, np.append([t], each))[0] for t, each in zip(total, (own, np.abs(own)), strict=True)]
        found[name] = np.array(both)
    return found


def _of_numbers(
    tables: Partitioned,
    name: Any,
    statistic: str,
    numbers: Mapping[Any, np.ndarray],
    totals: list[dict[Any, np.ndarray]],
) -> Answered:
    column = tables.columns[name]
    sizes = [tables.rows[side] - column.missing(side) for side in _SIDES]
    if not sizes[0]:
        return Answered(np.empty(0), np.empty(0, dtype=bool))
    there = [numbers[name][:-1][column.counts[side][:-1] > 0] for side in _SIDES]
    span = float(there[0].max() - there[0].min()) if column.is_date else None
    if statistic in ("min", "max"):
        real, release = (float(getattr(np, statistic)(own)) if len(own) else np.nan for own in there)
        rounding = 0.0
    else:
        counts = [1 if statistic == "sum" else max(size, 1) for size in sizes]
        real, release = (each[name][0] / count for each, count in zip(totals, counts, strict=True))
        if statistic == "sum":
            release = release * (tables.rows[MEMBERS] / tables.rows[RELEASE])
        rounding = ROUNDING * (totals[0][name][1] / counts[0])
    if not sizes[1]:
        release = np.nan
    errors = relative_error(np.array([real]), np.array([release]), np.array([rounding]), span)
    return Answered(errors, np.array([sizes[1] == 0]))


IN_PARTS: Mapping[str, Callable[..., Score]] = {
    each.__name__: each
    for each in (
        *(categorical_cap, zero_cap, generalized_cap, targeted_cap, attribute_disclosure),
        *(common_rows_proportion, unique_exact_matches, distance_to_closest_record, coverage, accuracy),
    )
}
"""By the name of a metric, the function that computes it of tables in parts."""


def check_in_parts(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what is not computed in parts.

    Raises:
        InputError: A metric or an option of one is none that is.
    """
    if name not in IN_PARTS:
        raise InputError(f"{name} is not computed in parts{nearest(name, IN_PARTS)}; {', '.join(IN_PARTS)} are")
    for option in ("bins", "control", "identifier"):
        if options.get(option) is not None:
            raise InputError(f"{name} is computed in parts without {option}, got {option}: coarsen or join it before")


def score_in_parts(name: str, tables: Partitioned, **options: Any) -> Score:
    """Return the score of a release in parts: the same to the bit as the metric's own on one machine.

    That of coverage and accuracy is of the members; of the others, of members and control records in one table.

    Raises:
        InputError: The metric or an option is not computed in parts, or breaks a rule.

    Example:
        >>> import pandas as pd
        >>> from synthrisk.metrics.partitions.parts import agree
        >>> from synthrisk.metrics.partitions.parts import Here
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> tables = agree(["age", "vote"], Here([real[:1], real[1:]]), None, Here([release]))
        >>> score_in_parts("zero_cap", tables, quasi_identifiers=["age"], sensitive="vote").value
        0.375
    """
    check_in_parts(name, options)
    return IN_PARTS[name](tables, **{k: v for k, v in options.items() if v is not None or k not in ("bins", "control")})


def broken(tables: Partitioned) -> str:
    """Return why measures say nothing of the release, in words; empty where they do (``ReleaseCheck.invalid``).

    Each column is looked at alone, its cells in their order: means may differ from one machine's in the last bit.
    """
    found = [each for name in in_order(tables.columns) for each in column_problems(*_alone(tables.columns[name]))]
    return told([each.words for each in found if each.severity != "note"])


def strangers_in_words(tables: Partitioned) -> tuple[str, str]:
    """Return why no study may be made with these control records, and what is to be told (``strangers``)."""
    if not tables.rows[CONTROLS]:
        return "", ""
    members, controls, released = keys(tables, in_order(tables.columns)).counts
    sizes = np.repeat(members, members)
    found = [
        equal(int(controls[others > 0].sum()), tables.rows[CONTROLS], rows, sizes)
        for others, rows in ((members, tables.rows[MEMBERS]), (released, tables.rows[RELEASE]))
    ]
    return in_words(found, 0)


def _alone(column: Column) -> tuple[Tables, str]:
    groups, name = np.repeat([1, 0], column.counts[REAL].sum(axis=1)), str(column.name)
    return Tables(_cells_of(column, REAL), _cells_of(column, [RELEASE]), groups=groups), name


def _cells_of(column: Column, sides: Sequence[int]) -> pd.DataFrame:
    codes = np.concatenate([np.repeat(np.arange(column.size), column.counts[side]) for side in sides])
    cells = column.floats[codes] if column.kind == "numeric" else as_categories(codes, column.size)
    return pd.DataFrame({str(column.name): cells})


CLASSES = "classes"


def check_planned(planned: Sequence[Planned], limits: Sequence[str]) -> None:
    """Refuse measures, options and limits that are not computed in parts.

    Raises:
        InputError: There is such a one.
    """
    for each in planned:
        check_in_parts(each.measure.metric, each.options)
    for name in limits:
        group = limited(name, [k for p in planned for k in (p.measure.key, p.measure.label)]).group
        if group and group != CLASSES:
            raise InputError(f"limits in parts take the group @{CLASSES} alone, got {name!r}")


def contributed(tables: Partitioned, planned: Sequence[Planned], name: str) -> Contributed:
    """Return what measures say of a release: the columns that a study reads are gathered, 8 bytes a record each.

    Raises:
        InputError: A measure or an option is not computed in parts.
    """
    member, groups = tables.groups.astype(bool), tables.groups
    rows: dict[str, pd.DataFrame] = {}
    said: dict[str, Said] = {}
    for each in planned:
        metric, key = METRICS[each.measure.metric], each.measure.key
        score = score_in_parts(metric.name, tables, **each.options)
        if score.records is None:
            said[key] = OfUtility(score.value, score.own_details, None, score.reason or "")
            continue
        said[key] = said_of_records(metric, score, groups)
        rows[key] = score.records[list(metric.columns)].assign(member=member)
    return Contributed(Cell(name, 0, 0), rows, said)


def findings(
    tables: Partitioned,
    planned: Sequence[Planned],
    name: str,
    interval: Interval,
    beside: Interval,
    tell: Callable[[str], None] = lambda key: None,
) -> tuple[list[Finding], list[Usefulness]]:
    """Return the findings with their yardsticks ``guess`` and ``control``, and utility without a ceiling.

    One measure after the other, so that the contributions of one alone are here at a time: with one release nothing is
    borrowed from the other measures. ``interval`` is that of the findings, ``beside`` that of the yardsticks.
    ``tell`` is told the key of each measure before it is computed.
    """
    found: list[Finding] = []
    useful: list[Usefulness] = []
    for each in planned:
        tell(each.measure.key)
        of_risk, of_utility = found_in(tables, each, contributed(tables, [each], name), interval, beside)
        found, useful = [*found, *of_risk], [*useful, *of_utility]
    return found, useful


def found_in(
    tables: Partitioned, planned: Planned, ledger: Contributed, interval: Interval, beside: Interval
) -> tuple[Sequence[Finding], Sequence[Usefulness]]:
    """Return the finding of one measure, or its utility, from its ledger."""
    measure, name = planned.measure, ledger.cell.synthesizer
    classes = {column: _classes(tables, column) for column in measure.targets}
    releases = Releases([ledger], pd.DataFrame(classes), None, {})
    made = find_all(name, "synthesizer", releases, [measure], interval, ())
    risks = [] if METRICS[measure.metric].is_utility else [planned]
    return compare_findings(made.findings, {name: made.kept}, risks, {}, beside, None).findings, made.utility


def _classes(tables: Partitioned, name: str) -> Any:
    """Return the classes of the real records in a categorical column as codes; of a numeric one no class is told."""
    column = tables.columns[name]
    if column.kind == "numeric":
        return np.zeros(tables.real_rows, dtype=np.int8)
    return as_categories(tables.of_real(_codes_of, name), column.size)


def _codes_of(part: Coded, name: str) -> np.ndarray:
    return part[name]


def check_sides(tables: Partitioned) -> None:
    """Refuse control records of which there are too few, or of which a column that members have is empty.

    Raises:
        InputError: There are such.
    """
    if tables.rows[CONTROLS] == 1:
        raise InputError("control must hold at least two records, got 1")
    for name, column in tables.columns.items():
        members, controls = (int(column.counts[side, :-1].sum()) for side in (MEMBERS, CONTROLS))
        if tables.rows[CONTROLS] and members and not controls:
            raise InputError(f"control must hold values in column {name!r}, as real does, got missing cells only")
