"""What the findings say beside each other: synthesizers in pairs, yardsticks of each, and what leaks are seen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from synthrisk.conf.study import NON_MEMBERS, Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval, variances
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.seeds import seed_of
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
from synthrisk.tasks.workspace.handed import Estimated, Found
from synthrisk.tasks.workspace.references import Generator, Sample
from synthrisk.tasks.workspace.verb import verb

KeptContributions = Mapping[str, Mapping[str, Contributions | np.ndarray]]


@verb("compare")
def compare(
    found: Sequence[Found],
    sample: Sample,
    generators: Sequence[Generator],
    settings: Bootstrap,
    *,
    power: bool = False,
    failures: Mapping[str, str] | None = None,
) -> Estimated:
    """Read what the records contributed to each finding, and compare the findings.

    Args:
        found: What was found of each generator, the population yardstick included.
        sample: The real table.
        generators: All that ran, those that failed too.
        settings: How intervals are made.
        power: Whether reference generators that leak a known share tell which leak the study sees.
        failures: Why generators failed, by name.
    """
    shares = {f.name: f.generator.leaked for f in found if power and f.generator.leaked is not None}
    seed = seed_of(sample.seed, "compare")
    risks = (p for f in found for p in f.planned if not METRICS[p.measure.metric].is_utility)
    planned = list({p.measure.key: p for p in risks}.values())

    def compared() -> Estimated:
        kept = {f.name: kept_contributions(f.contributions) for f in found}
        findings = [each for f in found for each in f.findings]
        interval = Interval(settings.confidence, settings.method, settings.resamples, seed)
        entities = sample.entities()
        same = _same_differences(planned, kept)
        own = with_moderated_beside([f for f in findings if f.synthesizer != NON_MEMBERS], settings.confidence)
        non_members = [f for f in findings if f.synthesizer == NON_MEMBERS]
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
        by_measure = {
            p.measure: {n: kept[n][p.measure.key] for n in judged if p.measure.key in kept[n]} for p in planned
        }
        powers = {p.measure.key: _power(p.measure, own, kept, shares, settings.confidence, entities) for p in planned}
        return Estimated(
            sample,
            tuple(generators),
            tuple(found),
            beside,
            settings,
            pairs(by_measure, settings.confidence, entities, same),
            {key: each for key, each in powers.items() if each is not None},
            dict(failures or {}),
        )

    return told_safely(Path(sample.workspace), "compare", compared)


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
