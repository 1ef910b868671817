"""Coverage and accuracy in parts: of the members, from what is counted of columns and of pairs of columns."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.partitions.parts import MEMBERS, RELEASE, Coded, Column, Partitioned
from synthrisk.metrics.score import Score
from synthrisk.metrics.utility.accuracy import NO_ANSWER, summed_up
from synthrisk.metrics.utility.coverage import NOTHING_TO_COVER
from synthrisk.metrics.utility.queries import FEWEST, RECORDS, ROUNDING, Answered, Query, relative_error
from synthrisk.metrics.utility.query_conditions import DAY, step_of

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
    value, details = summed_up(list(tables.columns), [(q, a) for q, a in _every(tables) if len(a.errors)])
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
    """Return the conditions of a column, as ``query_conditions.cells`` cuts them for the members."""
    codes = np.arange(column.size)
    if column.kind == "categorical":
        return _Cells(np.where(codes == column.size - 1, -1, codes), column.size)
    seen = column.sorted_floats([MEMBERS])
    if not len(seen):
        return _Cells(np.full(column.size, -1), 1)
    unit = DAY if column.temporal else 1.0
    step = step_of(seen / unit)
    if step is None:
        return _Cells(np.where(column.floats == seen[0], 0, -1), 1)
    places = step.places(column.floats / unit)
    cells = np.unique(places, return_inverse=True)[1]
    cells = np.where(np.isnan(places), -1, cells)
    return _Cells(cells, int(cells.max()) + 1)


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
