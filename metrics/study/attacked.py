"""From the ledgers of one synthesizer to what a measure scored, valued or isolated on all of its releases."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.scale import MetricTransform, contributions
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.contributions import ReleasedValues
from synthrisk.metrics.study.findings import Attacked
from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.said import OfIsolation, OfRecords, OfRelease, OfUtility, Reasons, Said

Details = dict[str, tuple[float, float]]
_Kind = TypeVar("_Kind", OfRecords, OfRelease, OfIsolation, OfUtility)


class Ledger(Protocol):
    """The ledger of one release, wherever it is kept."""

    @property
    def cell(self) -> Cell:
        """The release."""

    def of(self, measure: Measure, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of one measure's rows, in the order of the records."""

    def values(self) -> Mapping[str, Said]:
        """Return what each measure says beside its scores, by key."""


@dataclass(frozen=True, eq=False)
class Releases:
    """The releases of one synthesizer, and the real records that were attacked with them."""

    ledgers: Sequence[Ledger]  # the ledger of each release
    records: pd.DataFrame  # the real table without its identifier
    entities: np.ndarray | None  # (n,) entity of each record, or None
    groups: Mapping[str, np.ndarray]  # (n,) booleans of the records that have findings apart, by the name of the group
    size: tuple[int, int] | None = None  # R and K of the study, where some releases are left out

    @cached_property
    def _said(self) -> list[Mapping[str, Said]]:
        return [each.values() for each in self.ledgers]

    @property
    def places(self) -> list[tuple[int, int]]:
        """Repetition and fold of each release."""
        return [(each.cell.repetition, each.cell.fold) for each in self.ledgers]

    @property
    def shape(self) -> tuple[int, int]:
        """R repetitions and K releases in each."""
        return self.size or (max(r for r, _ in self.places) + 1, max(f for _, f in self.places) + 1)

    def said(self, measure: Measure, kind: type[_Kind]) -> list[_Kind]:
        """Return what a measure says of each release."""
        return [each for values in self._said if isinstance(each := values[measure.key], kind)]

    def table(self, numbers: Iterable[float]) -> np.ndarray:
        """Return one number of each release, (R, K)."""
        found = np.full(self.shape, np.nan)
        for place, number in zip(self.places, numbers, strict=True):
            found[place] = number
        return found

    def cubes(self, measure: Measure, columns: Collection[str]) -> dict[str, np.ndarray]:
        """Return columns of a measure's rows on all releases, (R, K, n) each."""
        cubes: dict[str, np.ndarray] = {}
        for each in self.ledgers:
            rows = each.of(measure, sorted(columns))
            for name in rows.columns:
                cube = cubes.setdefault(name, np.full((*self.shape, len(rows)), np.nan))
                cube[each.cell.repetition, each.cell.fold] = rows[name].to_numpy(dtype=float, na_value=np.nan)
        return cubes


def attacked_records(releases: Releases, measure: Measure) -> Attacked:
    """Return the scores of a measure that scores single real records."""
    metric, said = METRICS[measure.metric], releases.said(measure, OfRecords)
    gains, errors = any(each.gains for each in said), any(each.errors for each in said)
    drawn = [name for name, is_there in (("gain", gains), ("error", errors)) if is_there]
    cubes = releases.cubes(measure, {"member", *metric.columns, *drawn})
    details = _of_groups(said, metric)
    return Attacked(
        cubes["score"],
        cubes["member"] == 1,
        cubes["member"] == 0,
        _contribution(metric, cubes),
        None if metric.transform is None else MetricTransform(metric.name),
        _guess(said, metric),
        releases.entities,
        cubes.get("gain"),
        details,
        _first(each.warning for each in said),
        _reasons(said),
        _reach(metric, cubes, details),
        _ranking(metric, cubes),
        metric.range,
        error=cubes.get("error"),
    )


def released_values(releases: Releases, measure: Measure) -> tuple[ReleasedValues, Reasons, Details]:
    """Return the values of a measure that has one a release, why some are absent, and what else it says."""
    said = releases.said(measure, OfRelease)
    values = [[each.value, each.control, each.members, each.controls] for each in said]
    own = ReleasedValues(*(releases.table(numbers) for numbers in zip(*values, strict=True)))
    return own, _reasons(said), _of_members([each.details for each in said], METRICS[measure.metric])


def isolated_records(releases: Releases, measure: Measure) -> tuple[np.ndarray, Attacked]:
    """Return the value of each release, and whom the claims of a measure isolate that name no target."""
    said, cubes = releases.said(measure, OfIsolation), releases.cubes(measure, {"member", "score"})
    details = _of_members([each.details for each in said], METRICS[measure.metric])
    member, control = (cubes["member"] == own for own in (1, 0))
    own = Attacked(cubes["score"], member, control, entities=releases.entities, details=details, reasons=_reasons(said))
    return releases.table(each.value for each in said), own


def _reach(metric: Metric, cubes: Mapping[str, np.ndarray], details: Details) -> float:
    """Return the share of the members that the attack had an answer for, over all releases."""
    if metric.answered is not None:
        return metric.answered({name: of_members for name, (of_members, _) in details.items()})
    return float((~np.isnan(cubes["score"][cubes["member"] == 1])).mean())


def _contribution(metric: Metric, cubes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return what the metric's value is the mean of, where that is not the score."""
    if metric.weight is None:
        return None if metric.contribution == "score" else cubes[metric.contribution]
    amount, weights = cubes[metric.contribution], cubes[metric.weight]
    members, controls = (contributions(amount, weights, cubes["member"] == own) for own in (1, 0))
    return np.where(cubes["member"] == 1, members, controls)


def _ranking(metric: Metric, cubes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return how likely each record is a member, by a metric that ranks them; targets that it abstains of come last."""
    if metric.ranking is None:
        return None
    ranked = cubes[metric.ranking.lstrip("-")] * (-1 if metric.ranking.startswith("-") else 1)
    return np.where(np.isnan(cubes["score"]), np.nan, np.where(np.isnan(ranked), -np.inf, ranked))


def _guess(said: Sequence[OfRecords], metric: Metric) -> float:
    """Return the mean guess of the releases; of claims it is that of the claims about members, where there are any."""
    if metric.guess is None:
        return float("nan")
    guesses = [(each.all | each.members).get(metric.guess, np.nan) for each in said]
    known = [guess for guess in guesses if not np.isnan(guess)]
    return float(np.mean(known)) if known else float("nan")


def _of_groups(said: Sequence[OfRecords], metric: Metric) -> Details:
    """Return means over releases of what is said of members and of control records.

    What is said of all real records together (a ceiling, a null) stands for both.
    """
    means: Details = {}
    for name in _averaged([each.all for each in said], metric):
        pairs = [[(each.all | group).get(name, np.nan) for group in (each.members, each.controls)] for each in said]
        members, controls = np.mean(pairs, axis=0)
        means[name] = float(members), float(controls)
    return means


def _of_members(details: Sequence[Mapping[str, float]], metric: Metric) -> Details:
    """Return what is said of members besides their value, in the mean over releases."""
    told = {name: [each.get(name, np.nan) for each in details] for name in _averaged(details, metric)}
    return {name: (float(np.mean(each)), np.nan) for name, each in told.items()}


def _averaged(details: Sequence[Mapping[str, float]], metric: Metric) -> list[str]:
    """Return the names of the details that have a mean over releases, in the order said."""
    return [name for name in dict.fromkeys(n for each in details for n in each) if name not in metric.unaveraged]


def _reasons(said: Sequence[OfRecords] | Sequence[OfRelease] | Sequence[OfIsolation]) -> Reasons:
    """Return why a group (or the difference) has no value on the first release on which it has none."""
    every = [each.reasons for each in said]
    groups = [(each.members, each.controls, each.difference) for each in every]
    return Reasons(*(_first(texts) for texts in zip(*groups, strict=True)))


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")
