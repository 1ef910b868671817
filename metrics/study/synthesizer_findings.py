"""All findings of one synthesizer: estimates with intervals, groups of records apart, and who is most exposed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.exposure.single_records import quantiles, record_exposure
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.estimates import METHODS, Interval, difference
from synthrisk.metrics.intervals.pooled_rates import pooled_rates
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.attacked import Releases, attacked_records, isolated_records, released_values
from synthrisk.metrics.study.contributions import Kept
from synthrisk.metrics.study.findings import Attacked, Finding, contributions_of, find, find_released
from synthrisk.metrics.study.groups import find_groups, worst_class
from synthrisk.metrics.study.isolated_findings import find_isolated
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.said import OfUtility
from synthrisk.metrics.study.utility import Usefulness, usefulness
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import kind


@dataclass(frozen=True, eq=False)
class SynthesizerFindings:
    """What a study says of one synthesizer, before it is compared."""

    findings: tuple[Finding, ...]  # those of its risks
    utility: tuple[Usefulness, ...]  # those of its utility
    # of each measure that scores records, by key: what ``record_exposure`` says of them, a row a record
    exposed: dict[str, pd.DataFrame]
    kept: dict[str, Kept]  # what is kept of each measure for comparisons, by key


def find_all(
    synthesizer: str,
    role: str,
    releases: Releases,
    measures: Sequence[Measure],
    interval: Interval,
    methods: tuple[str, ...] = METHODS,
) -> SynthesizerFindings:
    """Return the findings of one synthesizer; among the measures a what-if comes after the one that it varies.

    ``methods`` are further intervals to make.
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
            if (measure.label, measure.sensitive) in varied:
                before[measure.label, measure.sensitive] = attacked.scores
            finding = _with_change(find(*who, attacked, interval, methods), attacked, before, interval)
            rows = record_exposure(attacked.scores, attacked.member, attacked.control, interval.confidence)
            apart = {} if metric.weight else _apart(finding, attacked, releases, interval)
            finding = replace(finding, groups=apart, spread=quantiles(rows["memorization"].to_numpy()))
            exposed[measure.key] = rows
            kept[measure.key] = contributions_of(attacked)
        found.append(finding)
    for measure in (m for m in measures if METRICS[m.metric].is_utility):
        said = dict(zip(releases.places, releases.said(measure, OfUtility), strict=True))
        useful.append(usefulness(synthesizer, role, measure, said, interval.confidence))
    return SynthesizerFindings(tuple(found), tuple(useful), exposed, kept)


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
    return replace(finding, tpr=tpr, epsilon=released_epsilon(*ranked, attacked.entities, interval.confidence))


def _apart(finding: Finding, attacked: Attacked, releases: Releases, interval: Interval) -> dict[str, Finding]:
    """Return the findings of vulnerable records, and of the worst class where a class is guessed."""
    found = find_groups(finding, attacked, releases.groups, interval)
    column = releases.records[finding.measure.sensitive] if finding.measure.sensitive else None
    if column is not None and kind(column) == "categorical":
        of_classes = worst_class(finding, attacked, joint_codes([column])[0].tables[0], interval)
        found |= {"classes": of_classes} if of_classes else {}
    return found
