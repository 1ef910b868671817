"""All findings of one synthesizer: estimates with intervals, groups of records apart, and who is most exposed.

From the ledgers of one synthesizer to what a measure scored, valued or isolated on all of its releases.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd

from synthrisk.metrics.exposure.single_records import quantiles, record_evidence, record_exposure
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.estimates import METHODS, Interval, difference
from synthrisk.metrics.intervals.rates import pooled_rates
from synthrisk.metrics.intervals.value_scale import MetricTransform, contributions
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.score import mean_of_known
from synthrisk.metrics.study.findings import (
    Attacked,
    Finding,
    Usefulness,
    contributions_of,
    curve_together,
    find,
    find_released,
    standardised_difference,
    usefulness,
)
from synthrisk.metrics.study.groups import find_groups, with_rates, worst_class
from synthrisk.metrics.study.ledger import (
    Cell,
    KeptValues,
    Measure,
    OfIsolation,
    OfRecords,
    OfRelease,
    OfUtility,
    Reasons,
    ReleasedValues,
    Said,
)
from synthrisk.metrics.study.yardsticks import Covariates, find_isolated
from synthrisk.metrics.tables.codes import joint_codes, pack
from synthrisk.metrics.tables.kinds import kind

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


class Contributed(NamedTuple):
    """A ledger that no file keeps: of each real record what it adds to each measure, and no cell."""

    cell: Cell
    rows: Mapping[str, pd.DataFrame]  # by key of the measure
    said: Mapping[str, Said]

    def of(self, measure: Measure, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of one measure's rows, in the order of the records."""
        return self.rows[measure.key][list(columns)]

    def values(self) -> Mapping[str, Said]:
        """Return what each measure says beside its scores, by key."""
        return self.said


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
        None if metric.records.transform is None else MetricTransform(metric.name),
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
    if metric.study.answered is not None:
        return metric.study.answered({name: of_members for name, (of_members, _) in details.items()})
    return float((~np.isnan(cubes["score"][cubes["member"] == 1])).mean())


def _contribution(metric: Metric, cubes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return what the metric's value is the mean of, where that is not the score."""
    made = metric.records
    if made.weight is None:
        return None if made.contribution == "score" else cubes[made.contribution]
    amount, weights = cubes[made.contribution], cubes[made.weight]
    members, controls = (contributions(amount, weights, cubes["member"] == own) for own in (1, 0))
    return np.where(cubes["member"] == 1, members, controls)


def _ranking(metric: Metric, cubes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return how likely each record is a member, by a metric that ranks them; targets that it abstains of come last."""
    column = metric.study.ranking
    if column is None:
        return None
    ranked = cubes[column.lstrip("-")] * (-1 if column.startswith("-") else 1)
    return np.where(np.isnan(cubes["score"]), np.nan, np.where(np.isnan(ranked), -np.inf, ranked))


def _guess(said: Sequence[OfRecords], metric: Metric) -> float:
    """Return the mean guess of the releases; of claims it is that of the claims about members, where there are any."""
    detail = metric.yardsticks.guess
    if detail is None:
        return float("nan")
    return mean_of_known([(each.all | each.members).get(detail, np.nan) for each in said])


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
    return [name for name in dict.fromkeys(n for each in details for n in each) if name not in metric.study.unaveraged]


def _reasons(said: Sequence[OfRecords] | Sequence[OfRelease] | Sequence[OfIsolation]) -> Reasons:
    """Return why a group (or the difference) has no value on the first release on which it has none."""
    every = [each.reasons for each in said]
    groups = [(each.members, each.controls, each.difference) for each in every]
    return Reasons(*(_first(texts) for texts in zip(*groups, strict=True)))


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


class SynthesizerFindings(NamedTuple):
    """What a study says of one synthesizer, before it is compared."""

    findings: tuple[Finding, ...]  # those of its risks
    utility: tuple[Usefulness, ...]  # those of its utility
    # of each measure that scores records, by key: what ``record_exposure`` and ``record_evidence`` say, a row a record
    exposed: dict[str, pd.DataFrame]
    kept: dict[str, KeptValues]  # what is kept of each measure for comparisons, by key


def find_all(
    synthesizer: str,
    role: str,
    releases: Releases,
    measures: Sequence[Measure],
    interval: Interval,
    methods: tuple[str, ...] = METHODS,
    covariates: Covariates | None = None,
) -> SynthesizerFindings:
    """Return the findings of one synthesizer; among the measures a what-if comes after the one that it varies.

    ``methods`` are further intervals to make; with ``covariates``, differences of one release are adjusted.
    """
    found: list[Finding] = []
    useful: list[Usefulness] = []
    kept: dict[str, KeptValues] = {}
    exposed, before = {}, {}
    varied = {(m.variant_of, m.sensitive) for m in measures if m.variant_of}
    for measure in (m for m in measures if not METRICS[m.metric].is_utility):
        who, metric = (synthesizer, role, measure), METRICS[measure.metric]
        if metric.study.isolated is not None:
            finding, kept[measure.key] = find_isolated(*who, *isolated_records(releases, measure), interval)
        elif metric.by_release:
            values, reasons, details = released_values(releases, measure)
            finding, kept[measure.key] = find_released(*who, values, interval, reasons, details), values
        else:
            attacked = attacked_records(releases, measure)
            attacked = attacked if covariates is None else covariates.beside(attacked, measure, interval)
            if (measure.label, measure.sensitive) in varied:
                before[measure.label, measure.sensitive] = attacked.scores
            finding = _with_change(find(*who, attacked, interval, methods), attacked, before, interval)
            if measure.envelope in ("max", "mean"):  # which model has the largest value differs along the curve
                models = [m for m in measures if m.label in measure.together and m.sensitive == measure.sensitive]
                curves = [f.curve for f in found if f.measure in models]
                whole = len(curves) == len(measure.together)
                finding = replace(finding, curve=curve_together(curves, measure.envelope) if whole else ())
            rows = record_exposure(attacked.scores, attacked.member, attacked.control, interval.confidence)
            for name, evidence in (("gain", attacked.gain), ("error", attacked.error)):
                if evidence is not None:
                    own = record_evidence(evidence, attacked.member, attacked.control, name)
                    rows = pd.concat([rows, own], axis=1)
            apart = {} if metric.records.weight else _apart(finding, attacked, releases, interval)
            finding = replace(finding, groups=apart, spread=quantiles(rows["memorization"].to_numpy()))
            exposed[measure.key] = rows
            kept[measure.key] = contributions_of(attacked)
        found.append(finding)
    for measure in (m for m in measures if METRICS[m.metric].is_utility):
        said = dict(zip(releases.places, releases.said(measure, OfUtility), strict=True))
        useful.append(usefulness(synthesizer, role, measure, said, interval.confidence))
    return SynthesizerFindings(tuple(found), tuple(useful), exposed, kept)


def find_worse(
    synthesizer: str,
    role: str,
    readings: Sequence[Releases],
    measures: Sequence[Measure],
    interval: Interval,
    covariates: Covariates | None = None,
) -> SynthesizerFindings:
    """Return the findings of a synthesizer whose releases are read in several ways: of each measure the worse one.

    That is the one with the largest |memorization|; where there is none, with the largest risk. Each is found with its
    share of the error, 1 - (1 - confidence)/r of r readings (Bonferroni), so that choosing costs nothing. Such an
    interval is not moderated: it would be made again at another confidence.
    """
    each = replace(interval, confidence=1 - (1 - interval.confidence) / len(readings))
    who = synthesizer, role
    found = [find_all(*who, releases, measures, each, covariates=covariates) for releases in readings]
    chosen = {
        f.measure.key: max(range(len(found)), key=lambda k: _shown(found[k].findings[i]))
        for i, f in enumerate(found[0].findings)
    }
    return SynthesizerFindings(
        tuple(_settled(found[k].findings[i]) for i, k in enumerate(chosen.values())),
        found[0].utility,
        {key: found[k].exposed[key] for key, k in chosen.items() if key in found[k].exposed},
        {key: found[k].kept[key] for key, k in chosen.items() if key in found[k].kept},
    )


def _shown(f: Finding) -> tuple[float, float]:
    return tuple(-1.0 if np.isnan(v) else abs(v) for v in (f.memorization.value, f.risk.value))  # type: ignore[return-value]


def _settled(f: Finding) -> Finding:
    """Return the finding with intervals that nothing makes again."""
    own = {n: replace(getattr(f, n), parts=None) for n in ("risk", "risk_control", "memorization")}
    return replace(f, **own, groups={name: _settled(each) for name, each in f.groups.items()})


def _with_change(
    finding: Finding, attacked: Attacked, before: Mapping[tuple[str, str | None], np.ndarray], interval: Interval
) -> Finding:
    """Return the finding of a what-if with its change, that of another measure with what it says of who is a member."""
    measure = finding.measure
    if measure.variant_of:
        first = before[measure.variant_of, measure.sensitive]
        change = difference(first, attacked.scores, interval.confidence, attacked.member, attacked.entities)
        return replace(finding, change=change)
    if attacked.ranking is None:
        return finding
    ranked = attacked.ranking, attacked.member, attacked.control
    tpr = pooled_rates(*ranked, interval, attacked.entities)
    return replace(
        finding,
        tpr=tpr,
        epsilon=released_epsilon(*ranked, attacked.entities, 0.5 + interval.confidence / 2),
        details=finding.details | standardised_difference(attacked, interval),
    )


def _apart(finding: Finding, attacked: Attacked, releases: Releases, interval: Interval) -> dict[str, Finding]:
    """Return the findings of vulnerable records, and of the worst class where a class is guessed."""
    found = find_groups(finding, attacked, releases.groups, interval)
    found = with_rates(found, attacked, releases.groups, interval)
    columns = [releases.records[column] for column in finding.measure.targets]
    if columns and all(kind(column) == "categorical" for column in columns):
        classes = pack([joint_codes([column])[0] for column in columns])
        of_classes = worst_class(finding, attacked, classes.tables[0], interval)
        found |= {"classes": of_classes} if of_classes else {}
    return found
