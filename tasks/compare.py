"""What the findings say beside each other: synthesizers in pairs, yardsticks of each, and what leaks are seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from prefect import task

from synthrisk.conf.study import NON_MEMBERS, Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval, variances
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.comparison import compare as pairs
from synthrisk.metrics.study.contributions import Contributions
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.isolated_findings import beside_exchangeability
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.moderated_findings import moderated_findings, moderated_yardsticks, with_moderated_beside
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.power import Leak, Power, of_repetitions, power
from synthrisk.metrics.study.yardsticks import (
    beside_control,
    beside_guess,
    beside_population,
)
from synthrisk.tasks.workspace.contributions import kept_contributions
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import Sample

KeptContributions = Mapping[str, Mapping[str, Contributions | np.ndarray]]


@dataclass(frozen=True)
class Compared:
    """The findings with their yardsticks, all pairs of synthesizers, and the power of each measure by its key."""

    findings: Sequence[Finding]
    comparisons: Sequence[Comparison] = ()
    powers: Mapping[str, Power] = field(default_factory=dict)


@task(name="compare")
def compare(
    found: Sequence[Finding],
    contributions: Mapping[str, str],
    planned: Sequence[Planned],
    sample: Sample,
    shares: Mapping[str, float],
    settings: Bootstrap,
    seed: int,
    workspace: str,
) -> Compared:
    """Read what the records contributed to each finding, and compare the findings.

    Args:
        found: All findings, those of the population yardstick included; it is not among those returned.
        contributions: Path of each synthesizer's contributions.
        planned: What was measured.
        sample: The real table.
        shares: Share of training rows in the release of each reference generator that tells the study's power; empty:
            none.
        settings: How intervals are made.
        seed: Seed of those that resample.
        workspace: Folder of the workspace.
    """

    def compared() -> Compared:
        kept = {name: kept_contributions(path) for name, path in contributions.items()}
        interval = Interval(settings.confidence, settings.method, settings.resamples, seed)
        entities = sample.entities()
        same = _same_differences(planned, kept)
        own = with_moderated_beside([f for f in found if f.synthesizer != NON_MEMBERS], settings.confidence)
        non_members = [f for f in found if f.synthesizer == NON_MEMBERS]
        moderated = settings.method == "moderated"
        if moderated:
            own, non_members = (moderated_findings(each, settings.confidence) for each in (own, non_members))
        own = [_told_once(f, same.get(f.measure.key, "")) for f in own]
        populations = _best_populations(non_members, planned)
        yardsticks = [_yardsticks(f, kept, populations, interval, entities) for f in own]
        if moderated:
            yardsticks = moderated_yardsticks(yardsticks, settings.confidence)
        beside = [replace(f, yardsticks=each) for f, each in zip(own, yardsticks, strict=True)]
        judged = [name for name in dict.fromkeys(f.synthesizer for f in own if f.role == "synthesizer") if name in kept]
        by_measure = {p.measure: {name: kept[name][p.measure.key] for name in judged} for p in planned}
        powers = {p.measure.key: _power(p.measure, own, kept, shares, settings.confidence, entities) for p in planned}
        return Compared(
            beside,
            pairs(by_measure, settings.confidence, entities, same),
            {key: each for key, each in powers.items() if each is not None},
        )

    return told_safely(Path(workspace), "compare", compared)


def _same_differences(planned: Sequence[Planned], kept: KeptContributions) -> dict[str, str]:
    """Return the measures of which memorization is that of another for each record and synthesizer, with the other.

    A metric says of which other one its scores may be the same; whether they are depends on the options of both.
    """
    same: dict[str, str] = {}
    for own in planned:
        of = METRICS[own.measure.metric].same_difference_as
        for other in (p.measure.key for p in planned if p.measure.metric == of):
            both = [(by_key.get(own.measure.key), by_key.get(other)) for by_key in kept.values()]
            if all(_is_same_difference(*each) for each in both if each != (None, None)):
                same.setdefault(own.measure.key, other)
    return same


def _is_same_difference(first: object, second: object) -> bool:
    if not isinstance(first, Contributions) or not isinstance(second, Contributions):
        return False
    return bool(first.memorization.size and np.array_equal(first.memorization, second.memorization, equal_nan=True))


def _told_once(finding: Finding, other: str) -> Finding:
    if not other:
        return finding
    memorized = finding.memorization
    note = "; ".join(filter(None, (memorized.note, f"the same difference as that of {other}: one finding, not two")))
    return replace(finding, memorization=replace(memorized, note=note), same_difference_as=other)


def _best_populations(non_members: Sequence[Finding], planned: Sequence[Planned]) -> dict[str, Finding]:
    """Return the population's finding for each measure's key: of several ``attackers``, that of the best.

    The best of several is chosen on the numbers it is judged by: its success is, if anything, too high.
    """
    own = {f.measure.key: f for f in non_members if not np.isnan(f.risk.value)}
    best: dict[tuple[str, str], Finding] = {}
    for each in (p for p in planned if p.measure.key in own):
        found = own[each.measure.key]
        if each.family not in best or found.risk.value > best[each.family].risk.value:
            best[each.family] = found
    return {p.measure.key: best[p.family] for p in planned if p.family in best}


def _yardsticks(
    finding: Finding,
    kept: KeptContributions,
    populations: Mapping[str, Finding],
    interval: Interval,
    entities: np.ndarray | None,
) -> dict[str, Yardstick]:
    key = finding.measure.key
    own = kept[finding.synthesizer][key]
    if not isinstance(own, Contributions):  # of releases: no success on single records
        control = None
    elif METRICS[finding.measure.metric].isolated is not None:
        control = beside_exchangeability(finding)
    else:
        control = beside_control(finding, own, interval, entities)
    found = {"guess": beside_guess(finding), "control": control}
    if isinstance(own, Contributions) and key in populations:
        of_population = kept[NON_MEMBERS][populations[key].measure.key]
        assert isinstance(of_population, Contributions)  # noqa: S101 - only such measures are planned for it
        found["population"] = beside_population(finding, own, populations[key], of_population, interval, entities)
    return {name: each for name, each in found.items() if each is not None}


def _power(
    measure: Measure,
    found: Sequence[Finding],
    kept: KeptContributions,
    shares: Mapping[str, float],
    confidence: float,
    entities: np.ndarray | None,
) -> Power | None:
    """Return what the leaks of known size say of one measure; None where there are none."""
    leaks = []
    for finding in (f for f in found if f.measure == measure and f.synthesizer in shares):
        own = kept[finding.synthesizer][measure.key]
        if isinstance(own, Contributions):
            parts = finding.memorization.parts
            if parts is None and own.memorization.shape[1]:  # another interval than crossed or moderated
                parts = variances(own.memorization, entities)
        else:
            parts = of_repetitions(own[2] - own[3])
        if parts is not None:
            leaks.append(Leak(shares[finding.synthesizer], finding.memorization, parts))
    return power(leaks, confidence)
