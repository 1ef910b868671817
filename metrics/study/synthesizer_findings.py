"""All findings of one synthesizer: estimates with intervals, groups of records apart, and who is most exposed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.exposure.single_records import quantiles, record_evidence, record_exposure
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.estimates import METHODS, Interval, difference
from synthrisk.metrics.intervals.rates import pooled_rates
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.attacked import Releases, attacked_records, isolated_records, released_values
from synthrisk.metrics.study.contributions import Kept
from synthrisk.metrics.study.covariates import Covariates
from synthrisk.metrics.study.findings import (
    Attacked,
    Finding,
    contributions_of,
    curve_together,
    find,
    find_released,
    standardised_difference,
)
from synthrisk.metrics.study.groups import find_groups, with_rates, worst_class
from synthrisk.metrics.study.isolated_findings import find_isolated
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.said import OfUtility
from synthrisk.metrics.study.utility import Usefulness, usefulness
from synthrisk.metrics.tables.codes import joint_codes, pack
from synthrisk.metrics.tables.kinds import kind


@dataclass(frozen=True, eq=False)
class SynthesizerFindings:
    """What a study says of one synthesizer, before it is compared."""

    findings: tuple[Finding, ...]  # those of its risks
    utility: tuple[Usefulness, ...]  # those of its utility
    # of each measure that scores records, by key: what ``record_exposure`` and ``record_evidence`` say, a row a record
    exposed: dict[str, pd.DataFrame]
    kept: dict[str, Kept]  # what is kept of each measure for comparisons, by key


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
    kept: dict[str, Kept] = {}
    exposed, before = {}, {}
    varied = {(m.variant_of, m.sensitive) for m in measures if m.variant_of}
    for measure in (m for m in measures if not METRICS[m.metric].is_utility):
        who, metric = (synthesizer, role, measure), METRICS[measure.metric]
        if metric.isolated is not None:
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
            apart = {} if metric.weight else _apart(finding, attacked, releases, interval)
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
