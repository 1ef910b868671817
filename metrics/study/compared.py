"""What the findings say beside each other: synthesizers in pairs, yardsticks of each, and what leaks are seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from synthrisk.metrics.intervals.estimates import TESTED, Interval, variances
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.comparison import Comparison, compare
from synthrisk.metrics.study.contributions import Contributions, Isolations, Kept, ReleasedValues
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.isolated_findings import beside_exchangeability
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.moderated_findings import moderated_findings, moderated_yardsticks, with_moderated_beside
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.power import Leak, Power, of_repetitions, power
from synthrisk.metrics.study.yardsticks import beside_control, beside_guess, beside_population

KeptByName = Mapping[str, Mapping[str, Kept]]


@dataclass(frozen=True)
class Compared:
    """The findings with their yardsticks, all pairs of synthesizers, and the power of each measure by its key."""

    findings: Sequence[Finding]
    comparisons: Sequence[Comparison] = ()
    powers: Mapping[str, Power] = field(default_factory=dict)


def compare_findings(
    found: Sequence[Finding],
    kept: KeptByName,
    planned: Sequence[Planned],
    shares: Mapping[str, float],
    interval: Interval,
    entities: np.ndarray | None,
) -> Compared:
    """Compare the findings of all synthesizers, as ``tasks.compare`` says.

    Those of the role ``yardstick`` are the population's: they are not among the findings returned.
    """
    same = _same_differences(planned, kept)
    own = with_moderated_beside([f for f in found if f.role != "yardstick"], interval.confidence)
    non_members = [f for f in found if f.role == "yardstick"]
    moderated = interval.method == "moderated"
    if moderated:
        own, non_members = (moderated_findings(each, interval.confidence) for each in (own, non_members))
    own = [_told_once(f, same.get(f.measure.key, "")) for f in own]
    populations = _best_populations(non_members, planned)
    yardsticks = [_yardsticks(f, kept, populations, interval, entities) for f in own]
    if moderated:
        yardsticks = moderated_yardsticks(yardsticks, interval.confidence)
    judged = [name for name in dict.fromkeys(f.synthesizer for f in own if f.role == "synthesizer") if name in kept]
    by_measure = {p.measure: {n: kept[n][p.measure.key] for n in judged if p.measure.key in kept[n]} for p in planned}
    powers = {p.measure.key: _power(p.measure, own, kept, shares, interval.confidence, entities) for p in planned}
    return Compared(
        [replace(f, yardsticks=each) for f, each in zip(own, yardsticks, strict=True)],
        compare(by_measure, TESTED, entities, same),
        {key: each for key, each in powers.items() if each is not None},
    )


def _same_differences(planned: Sequence[Planned], kept: KeptByName) -> dict[str, str]:
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
    kept: KeptByName,
    populations: Mapping[str, Finding],
    interval: Interval,
    entities: np.ndarray | None,
) -> dict[str, Yardstick]:
    key = finding.measure.key
    own = kept[finding.synthesizer][key]
    found = {"guess": beside_guess(finding)}
    if isinstance(own, Isolations):
        found["control"] = beside_exchangeability(finding)
    elif isinstance(own, Contributions):  # values of releases are no success on single records
        found["control"] = beside_control(finding, own, interval, entities)
        if key in populations:
            best = populations[key]
            other = kept[best.synthesizer][best.measure.key]
            assert isinstance(other, Contributions)  # noqa: S101 - only such measures are planned for it
            found["population"] = beside_population(finding, own, best, other, interval, entities)
    return {name: each for name, each in found.items() if each is not None}


def _power(
    measure: Measure,
    found: Sequence[Finding],
    kept: KeptByName,
    shares: Mapping[str, float],
    confidence: float,
    entities: np.ndarray | None,
) -> Power | None:
    """Return what the leaks of known size say of one measure; None where there are none."""
    leaks = []
    for finding in (f for f in found if f.measure == measure and f.synthesizer in shares):
        own = kept[finding.synthesizer][measure.key]
        parts = finding.memorization.parts
        if isinstance(own, ReleasedValues):
            parts = of_repetitions(own.difference)
        elif parts is None and own.memorization.shape[1]:  # another interval than crossed or moderated
            parts = variances(own.memorization, entities)
        if parts is not None:
            leaks.append(Leak(shares[finding.synthesizer], finding.memorization, parts))
    return power(leaks, confidence)
