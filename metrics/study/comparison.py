"""Which of two synthesizers has the lower risk: paired on the same splits and seeds, and adjusted for many pairs.

What the findings say beside each other: synthesizers in pairs, yardsticks of each, and what leaks are seen.

Whether a generator has become better or worse from one study to the next.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from math import isnan, sqrt

import numpy as np
import scipy

from synthrisk.metrics.intervals.distributions import holm, t_quantile
from synthrisk.metrics.intervals.estimates import (
    NOT_ESTIMABLE,
    ONE_REPETITION,
    TESTED,
    Estimate,
    Interval,
    Prior,
    Variances,
    paired,
    satterthwaite,
    t_test,
    t_test_across_repetitions,
    variances,
)
from synthrisk.metrics.intervals.moderated_intervals import moderate
from synthrisk.metrics.intervals.proportions import share_difference
from synthrisk.metrics.intervals.value_scale import DIFFERENCE
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Contributions, Isolations, KeptValues, Measure, Planned, ReleasedValues
from synthrisk.metrics.study.power import Leak, Power, of_repetitions, power
from synthrisk.metrics.study.yardsticks import (
    beside_control,
    beside_exchangeability,
    beside_guess,
    beside_population,
    moderated_findings,
    moderated_yardsticks,
    with_moderated_beside,
)

COMPARED = ("risk", "memorization")


@dataclass(frozen=True)
class Comparison:
    """One pair of synthesizers in one quantity of one measure."""

    measure: Measure
    quantity: str  # ``risk`` (of members) or ``memorization``
    first: str  # name of A
    second: str  # name of B
    difference: Estimate  # A minus B, with the crossed interval, in [-1, 1] (not adjusted)
    p_value: float  # of the t test of that difference; NaN where there is no interval
    p_holm: float = float("nan")  # Holm's adjusted p-value over all pairs in this quantity of this measure
    # Benjamini and Hochberg's, over all pairs, quantities and measures of the study: for exploring
    p_fdr: float = float("nan")
    lower: str = ""  # name of the one that is lower, where ``p_holm`` is below 1 - confidence; else empty


def compare(
    found: Mapping[Measure, Mapping[str, KeptValues]],
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
    same_differences: Container[str] = (),
) -> list[Comparison]:
    """Return all pairs of synthesizers, in each measure and quantity, in the order given.

    The difference is taken record by record and repetition by repetition, e_ri(A) - e_ri(B), so what the two have
    in common (how easy a record is, how a split fell) cancels; its interval and its t test have one variance. A
    metric without a score a real record is paired over repetitions.

    p-values are adjusted by Holm (1979) over all pairs of one quantity and measure: the chance that any pair
    which does not differ there is called different is at most 1 - confidence. Measures are not pooled, so a measure
    more changes no adjusted p-value of another; who reads many measures at once has ``p_fdr``.

    ``found`` is what is kept, for each measure, of each synthesizer by name, all of one kind. ``entities``, (n,), are
    given where one has several records; ``same_differences`` are keys of the measures of which the memorization is that
    of another measure, and not compared.
    """
    rows = []
    for measure, by_name in found.items():
        for quantity in ("risk",) if measure.key in same_differences else COMPARED:
            for first, second in combinations(by_name, 2):
                tested = _difference(by_name[first], by_name[second], quantity, confidence, entities)
                rows.append(Comparison(measure, quantity, first, second, *tested))
    return _adjusted(rows, 1 - confidence)


def _difference(
    first: KeptValues, second: KeptValues, quantity: str, confidence: float, entities: np.ndarray | None
) -> tuple[Estimate, float]:
    one, other = (_of_releases(each, quantity) for each in (first, second))
    if one is not None and other is not None:
        tested = t_test_across_repetitions(one - other, confidence, DIFFERENCE)
    else:
        tested = t_test(paired(getattr(first, quantity), getattr(second, quantity)), confidence, entities, DIFFERENCE)
    return tested.estimate, tested.p_value


def _of_releases(kept: KeptValues, quantity: str) -> np.ndarray | None:
    """Return a quantity that is a value of each release, (R, K); None where records contribute to it."""
    if isinstance(kept, ReleasedValues):
        return kept.value if quantity == "risk" else kept.difference
    return kept.value if isinstance(kept, Isolations) and quantity == "risk" else None


def _adjusted(rows: Sequence[Comparison], level: float) -> list[Comparison]:
    every = np.array([r.p_value for r in rows], dtype=float)
    known = ~np.isnan(every)
    fdr = np.full(len(rows), np.nan)
    if known.any():
        fdr[known] = scipy.stats.false_discovery_control(every[known])
    made: list[Comparison] = []
    for _, group in groupby(rows, key=lambda r: (r.measure, r.quantity)):
        own = list(group)
        for row, p in zip(own, holm([r.p_value for r in own]), strict=True):
            lower = "" if not p < level else (row.first if row.difference.value < 0 else row.second)
            made.append(replace(row, p_holm=float(p), p_fdr=float(fdr[len(made)]), lower=lower))
    return made


KeptByName = Mapping[str, Mapping[str, KeptValues]]


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
        of = METRICS[own.measure.metric].study.same_difference_as
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


@dataclass(frozen=True)
class Change:
    """What a quantity is in one study minus what it was in an earlier one."""

    difference: Estimate
    paired: bool  # whether it is taken record by record
    why: str = ""  # why it is not

    @property
    def word(self) -> str:
        """``worse`` or ``better`` where the interval leaves 0 out; empty where nothing is shown.

        The quantity is a risk: more of it is worse.
        """
        if self.difference.lower > 0:
            return "worse"
        return "better" if self.difference.upper < 0 else ""


def paired_change(
    before: np.ndarray,
    after: np.ndarray,
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
    priors: tuple[Prior | None, Prior | None] = (None, None),
) -> Estimate:
    """Return the change of a quantity with its interval, from what the same records contribute in both studies.

    With e_ri a record's contribution in repetition r (``estimates.effects``) and d_i = mean_r e_ri(after) -
    mean_r e_ri(before), the change is mean_i d_i. How easy a record is cancels in d_i. The splits and seeds of the two
    studies are drawn apart, so that the variance between repetitions of each study is added:

        variance = var_i(d_i)/n + sum over both studies of max(0, s2_rep - s2_in/n)/R

    with a t quantile of Satterthwaite's degrees of freedom, of n - 1 and of R - 1 for each study.

    Args:
        before: (R, n) contributions in the earlier study; a column of NaN where a record contributes nothing.
        after: (R', n) the same of the later study, of the same records.
        confidence: Confidence level.
        entities: (n,) entity of each record, where one entity has several records.
        priors: What other findings of each study say of its variance between repetitions (``prior_of``).

    Example:
        >>> easy = np.array([[0.1, 0.9, 0.4, 0.6], [0.1, 0.9, 0.4, 0.6]])
        >>> found = paired_change(easy, easy + [0.2, 0.22, 0.2, 0.18])
        >>> round(found.value, 3), round(found.lower, 3), round(found.upper, 3)
        (0.2, 0.174, 0.226)
    """
    if any(np.isnan(each).all() for each in (before, after)):
        return NOT_ESTIMABLE
    changed = paired(*(each.mean(axis=0, keepdims=True) for each in (after, before)))
    known = changed[~np.isnan(changed)]
    own, value = variances(changed, entities), float(known.mean())
    if own is None:
        return Estimate(value, float("nan"), float("nan"), "paired", "one record: no interval")
    terms = [(own.records, own.count - 1.0)]
    for each, prior in zip((before, after), priors, strict=True):
        parts = variances(each, entities)
        if parts is not None:
            moderated = Variances(parts.records, parts.between, parts.noise, parts.count, parts.repetitions, prior)
            terms.append((moderated.terms[1], moderated.between_freedom))
    spread = sqrt(sum(variance for variance, _ in terms))
    half = float(t_quantile(0.5 + confidence / 2, satterthwaite(*terms))) * spread
    note = ONE_REPETITION if min(len(before), len(after)) == 1 else ""
    return Estimate(value, *DIFFERENCE.of_differences.between(value, value - half, value + half), "paired", note)


def prior_of(contributions: Sequence[np.ndarray]) -> Prior | None:
    """Return what one study's findings of a quantity say of the variance between its repetitions.

    None where they are too few (``moderated_intervals.moderate``). ``contributions`` are (R, n), one array a finding.
    """
    found = [t_test(each).estimate for each in contributions if each.size]
    return next((e.parts.prior for e in moderate(found) if e.parts is not None and e.parts.prior is not None), None)


def independent_change(before: Estimate, after: Estimate) -> Estimate:
    """Return the change between two estimates of different records, from their intervals alone.

    lower = d - sqrt((after - its lower)^2 + (before's upper - before)^2), and upper alike. Where the records are in
    truth the same, the interval is too wide rather than too narrow.

    Example:
        >>> found = independent_change(Estimate(0.1, 0.07, 0.13), Estimate(0.2, 0.16, 0.24))
        >>> round(found.value, 2), round(found.lower, 2), round(found.upper, 2)
        (0.1, 0.05, 0.15)
    """
    if isnan(before.value) or isnan(after.value):
        return NOT_ESTIMABLE
    found = share_difference(after, before)
    return Estimate(found.value, found.lower, found.upper, "independent")
