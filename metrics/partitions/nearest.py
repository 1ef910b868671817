"""Distances to the closest record in parts: each part of the queries is searched in all of the release."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.closest_record import Overfitting, check_closest, protection, reduce_distances
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.neighbours.distances import ProjectionName, compared
from synthrisk.metrics.neighbours.nearest import as_distances, search
from synthrisk.metrics.neighbours.records import (
    FAR,
    Axis,
    Ranges,
    Records,
    Scale,
    Search,
    Space,
    SpaceName,
    near_one,
    range_of,
    scale_of,
    standardised,
)
from synthrisk.metrics.partitions.parts import CONTROLS, MEMBERS, REAL, RELEASE, Coded, Column, Partitioned
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.kinds import center_and_spread
from synthrisk.metrics.tables.tables import in_order

SHARD = 2_500_000
"""Real records that are searched at a time: more at a time take less time, but more memory of a worker."""


class _Way(NamedTuple):
    """From the codes of a column to one of ``Records``: what stands for each code."""

    axis: Axis
    behind: np.ndarray


def distance_to_closest_record(
    tables: Partitioned,
    *,
    space: SpaceName = "euclid",
    projection: ProjectionName | None = None,
    overfitting: Overfitting = "sdmetrics",
    baseline: bool = False,
    seed: int = 0,
) -> Score:
    """Return how near real records have a synthetic one (``closest_record.distance_to_closest_record``).

    Raises:
        InputError: An option breaks its rule, or asks for what is not computed in parts.
    """
    check_closest(space, projection, overfitting, baseline)
    given = {"projection": (projection, None), "baseline": (baseline, False), "overfitting": (overfitting, "sdmetrics")}
    for name, (value, usual) in given.items():
        if value != usual:
            rule = f"computed in parts with {name} {usual!r} alone"
            raise InputError(f"distance_to_closest_record is {rule}, got {value!r}")
    distance = _to_release(tables, space)
    similarity = 1 - (distance if space == "gower" else _to_release(tables, "gower"))
    records = pd.DataFrame({"score": similarity, "distance": distance})
    settings = {"space": space, "projection": projection, "overfitting": overfitting, "baseline": baseline}
    details = _overfitting(tables) if tables.rows[CONTROLS] else {}
    return Score.of("distance_to_closest_record", records, reduce_distances(records), details, settings)


def _to_release(tables: Partitioned, name: SpaceName) -> np.ndarray:
    """Return the distance of each real record to the nearest released row, (n,)."""
    space, ways = _space(tables, name, "both"), _ways(tables, name, REAL)
    costs = scale_of([way.axis for way in ways], space, "synthetic")
    reference = _gathered(tables.of_side(RELEASE, _records, ways))
    sums = tables.of_real(_nearest, ways, _grown(search(reference, costs)))
    return as_distances(sums, space)


def _overfitting(tables: Partitioned) -> dict[str, float]:
    """Return what SDMetrics says: whether released rows are nearer to members than to control records."""
    found = compared(*(_to_group(tables, side) for side in (MEMBERS, CONTROLS)))
    shares = float(found.closer.mean()), float(found.tied.mean())
    return protection(*shares, "sdmetrics", tables.rows[MEMBERS], tables.rows[CONTROLS])


def _to_group(tables: Partitioned, side: int) -> np.ndarray:
    """Return the distance of each released row to the nearest of a group, whose parts are searched each alone."""
    space, ways = _space(tables, "gower", "reference"), _ways(tables, "gower", [side])
    costs = scale_of([way.axis for way in ways], space, "real")
    queries = _gathered(tables.of_side(RELEASE, _records, ways))
    parts = tables.parts[side]
    assert parts is not None  # noqa: S101 - the callers see to it
    shards = parts.fewer(_together, -(-tables.rows[side] // SHARD))
    return as_distances(shards.each(_nearest_in, ways, costs, queries).joined(np.minimum), space)


def _space(tables: Partitioned, name: SpaceName, ranges: Ranges) -> Space:
    columns = tuple(in_order(tables.columns))
    return Space(name, columns, (1.0,) * len(columns), ranges)


def _ways(tables: Partitioned, name: SpaceName, real: list[int]) -> list[_Way]:
    """Return what ``records.mixed`` makes of each column, where some of the real records are the real table."""
    rows = sum(tables.rows[side] for side in real)
    return [way for c in in_order(tables.columns) for way in _ways_of(tables.columns[c], name, real, rows)]


def _ways_of(column: Column, name: SpaceName, real: list[int], rows: int) -> list[_Way]:
    own = column.counts[real].sum(axis=0)
    codes = np.arange(column.size, dtype=np.int32)
    if column.kind == "categorical":
        costs = standardised(own / rows) if name == "euclid" else np.full(column.size, 0.5)
        return [_Way(Axis(column.name, (), costs=costs), codes)]
    here, there = column.floats[own > 0], column.floats[column.counts[RELEASE] > 0]
    (here, there), exponent = near_one((here, there))
    behind, missing = np.ldexp(column.floats, -exponent), np.isnan(column.floats)
    if name == "gower":
        units = {"real": range_of(here), "synthetic": range_of(there), "both": range_of(here, there)}
        return [_Way(Axis(column.name, (), units), np.where(missing, FAR, behind))]
    mean, spread = center_and_spread(np.ldexp(column.sorted_floats(real), -exponent))
    units = {"both": spread or float(np.ldexp(1.0, -exponent))}
    ways = [_Way(Axis(column.name, (), units), np.where(missing, mean, behind))]
    if own[-1] or column.missing(RELEASE):
        gone = own[-1] / rows
        costs = standardised(np.array([1 - gone, gone])) / 2
        ways.append(_Way(Axis(column.name, (), costs=costs), missing.astype(np.int32)))
    return ways


def _records(part: Coded, ways: list[_Way]) -> Records:
    numeric = [way for way in ways if way.axis.units is not None]
    categorical = [way for way in ways if way.axis.costs is not None]
    rows = len(part[ways[0].axis.column])
    found = Records(np.empty((rows, len(numeric))), np.empty((rows, len(categorical)), dtype=np.int32))
    for table, own in zip(found, (numeric, categorical), strict=True):
        for place, way in enumerate(own):
            table[:, place] = way.behind[part[way.axis.column]]
    return found


def _gathered(parts: list[Records]) -> Records:
    return Records(np.concatenate([each.numbers for each in parts]), np.concatenate([each.codes for each in parts]))


def _grown(searched: Search) -> Search:
    """Return a search whose tree is grown, so that it is sent with it and no worker grows it again."""
    getattr(searched, "_tree", None)
    return searched


def _nearest(part: Coded, ways: list[_Way], searched: Search) -> np.ndarray:
    queries = _records(part, ways)
    rows = len(queries.codes)
    return searched.nearest(queries, np.full(rows, -1), 1)[0][:, 0] if rows else np.empty(0)


def _together(parts: Sequence[Coded]) -> Coded:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _nearest_in(part: Coded, ways: list[_Way], costs: Scale, queries: Records) -> np.ndarray:
    reference, rows = _records(part, ways), len(queries.codes)
    if not len(reference.codes):
        return np.full(rows, np.inf)
    return search(reference, costs).nearest(queries, np.full(rows, -1), 1)[0][:, 0]
