"""A finding's numbers for some of the records alone: those who are vulnerable, and the worst class."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.proportions import share_difference, wilson
from synthrisk.metrics.intervals.rates import RATE, larger, reversed_ranking
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.findings import Attacked, Finding, contributions_of, find
from synthrisk.metrics.study.yardsticks import beside_control

FEWEST = 10  # records of a class that stands alone; smaller ones are put together
_FALSE_POSITIVES = 10  # expected among all control records, for a rate to be estimable
_FEW = f"fewer than {FEWEST} members or control records in the group"


def find_groups(
    finding: Finding, attacked: Attacked, groups: Mapping[str, np.ndarray], interval: Interval
) -> dict[str, Finding]:
    """Return the finding of each group of records, (n,) booleans by name, estimated as that of all records is.

    Each has its control yardstick; its detail ``records`` says how many there are. The value of the metric is a plain
    mean, with or without a transform.
    """
    return {name: _of_group(finding, _within(attacked, rows), interval) for name, rows in groups.items()}


def with_rates(
    found: Mapping[str, Finding], attacked: Attacked, groups: Mapping[str, np.ndarray], interval: Interval
) -> dict[str, Finding]:
    """Return the findings of groups with the true-positive rate of each, where the measure ranks records.

    The threshold is that of all records: 1 % of all control records lie above it, ties counted by expectation. Among
    outliers more people may lie there, members or not. So the rate of a group is .01 plus what its members exceed its
    own control records by: .01 where the release says nothing of who its members are, as for all records. Both
    directions are looked at, as in ``pooled_rates``, and the larger is told, each at half the error.
    """
    control = attacked.control & ~np.isnan(attacked.scores)
    if attacked.ranking is None or control.sum() < _FALSE_POSITIVES / RATE:
        return dict(found)
    half = replace(interval, confidence=(1 + interval.confidence) / 2)
    ways = [_flagged(ranked, control) for ranked in (attacked.ranking, reversed_ranking(attacked.ranking))]
    told = dict(found)
    for name, rows in groups.items():
        near, missing = (_rate_of_group(found[name], replace(attacked, scores=flags), rows, half) for flags in ways)
        told[name] = replace(found[name], tpr={RATE: larger(near, missing)})
    return told


def _flagged(ranking: np.ndarray, control: np.ndarray) -> np.ndarray:
    """Return which records lie among those that 1 % of all control records do, (R, K, n); of ties their share."""
    scores = ranking[control]
    allowed = RATE * len(scores)
    threshold = np.sort(scores)[::-1][int(allowed)]
    above, tied = float((scores > threshold).sum()), float((scores == threshold).sum())
    share = (allowed - above) / tied
    flags = np.where(ranking > threshold, 1.0, np.where(ranking == threshold, share, 0.0))
    return np.where(np.isnan(ranking), np.nan, flags)


def _rate_of_group(finding: Finding, attacked: Attacked, rows: np.ndarray, interval: Interval) -> Estimate:
    plain = replace(attacked, contribution=None, transform=None, ranking=None, covariates=None, range=(0.0, 1.0))
    found = _of_group(finding, _within(plain, rows), interval).memorization
    value, lower, upper = (min(max(end + RATE, 0.0), 1.0) for end in (found.value, found.lower, found.upper))
    return replace(found, value=value, lower=lower, upper=upper, parts=None)


def worst_class(finding: Finding, attacked: Attacked, classes: np.ndarray, interval: Interval) -> Finding | None:
    """Return what the worst class of the sensitive attribute comes to; None where there is one class alone.

    Each quantity is the largest over the classes, which need not be of one class. Its lower limit is the largest of
    the classes' lower limits at the level (1 + confidence)/2 split evenly over the m classes, so that the chance that
    any class is called above a limit that it keeps is at most (1 - confidence)/2: the first step of Holm's procedure,
    which decides whether there is any. Its upper limit is the largest of their unadjusted upper limits: all must lie
    below a limit for the worst to be called below it. Classes of fewer than 10 records are put together. Which
    class is the worst is not told: its name is a cell of the real table. ``classes`` are codes of the records' classes,
    (n,); the detail ``records`` of the finding is the size of the smallest class, ``classes`` their number.
    """
    own = _large_enough(classes)
    sizes = np.bincount(own)
    if len(sizes) < 2:
        return None
    strict = replace(interval, confidence=1 - (1 - interval.confidence) / len(sizes))
    parts = [_within(attacked, own == code) for code in range(len(sizes))]
    plain, adjusted = ([_of_group(finding, part, i) for part in parts] for i in (interval, strict))
    risk, control, memorization = (
        _worst([getattr(f, q) for f in plain], [getattr(f, q) for f in adjusted])
        for q in ("risk", "risk_control", "memorization")
    )
    gains = [[f.yardsticks["control"].gain for f in each if "control" in f.yardsticks] for each in (plain, adjusted)]
    beside = {"control": Yardstick(control, _worst(*gains), memorization)} if all(gains) else {}
    details = {"records": (float(sizes.min()),) * 2, "classes": (float(len(sizes)),) * 2}
    who = finding.synthesizer, finding.role, finding.measure
    return Finding(*who, risk, control, memorization, details=details, yardsticks=beside, reach=finding.reach)


def _within(attacked: Attacked, rows: np.ndarray) -> Attacked:
    """Return what was attacked of some records, (n,) booleans, without gains and errors."""
    places = np.flatnonzero(rows)
    return replace(
        attacked,
        scores=attacked.scores[..., places],
        member=attacked.member[..., places],
        control=attacked.control[..., places],
        contribution=None if attacked.contribution is None else attacked.contribution[..., places],
        entities=None if attacked.entities is None else attacked.entities[places],
        covariates=None if attacked.covariates is None else attacked.covariates[places],
        gain=None,
        error=None,
        details={"records": (float(len(places)),) * 2},
    )


def _of_group(finding: Finding, own: Attacked, interval: Interval) -> Finding:
    found = _not_too_sure(find(finding.synthesizer, finding.role, finding.measure, own, interval), own, interval)
    scored = ~np.isnan(own.scores)
    if min(int((scored & each).any(axis=(0, 1)).sum()) for each in (own.member, own.control)) < FEWEST:
        few = replace(found.memorization, lower=float("nan"), upper=float("nan"), parts=None, note=_FEW)
        return replace(found, memorization=few)
    beside = beside_control(found, contributions_of(own), interval, own.entities)
    return found if beside is None else replace(found, yardsticks={"control": beside})


def _not_too_sure(found: Finding, own: Attacked, interval: Interval) -> Finding:
    """Return a finding of few records that are all alike with Wilson's limits, where its own have no width."""
    if own.scale.range != (0.0, 1.0) or own.transform is not None:
        return found
    scored = ~np.isnan(own.scores)
    shares = []
    for e, chosen in ((found.risk, own.member), (found.risk_control, own.control)):
        rows = (scored & chosen).any(axis=(0, 1))
        count = int(rows.sum()) if own.entities is None else len(np.unique(own.entities[rows]))
        alike = count > 0 and e.lower == e.upper
        low, high = wilson(e.value, count, interval.confidence) if alike else (e.lower, e.upper)
        shares.append(replace(e, lower=float(low), upper=float(high), parts=None if alike else e.parts))
    memorization = found.memorization
    if memorization.lower == memorization.upper:
        between = share_difference(shares[0], shares[1])
        memorization = replace(memorization, lower=between.lower, upper=between.upper, parts=None)
    return replace(found, risk=shares[0], risk_control=shares[1], memorization=memorization)


def _worst(plain: Sequence[Estimate], adjusted: Sequence[Estimate]) -> Estimate:
    """Return the largest of some estimates, with limits for it; without an interval where one of them has none."""
    known = [e for e in plain if not np.isnan(e.value)]
    if not known:
        return plain[0] if plain else NOT_ESTIMABLE
    note = next((e.note for e in known if e.note), "")
    value = max(e.value for e in known)
    if any(np.isnan(e.upper) for e in known) or len(known) < len(plain):
        return Estimate(value, float("nan"), float("nan"), "worst class", note or "a class has no interval")
    return Estimate(value, max(e.lower for e in adjusted), max(e.upper for e in plain), "worst class", note)


def _large_enough(classes: np.ndarray) -> np.ndarray:
    """Return codes of the classes from 0, the small ones put together, with the smallest other while they are few."""
    held = np.bincount(classes)
    codes = np.flatnonzero(held)
    sizes = held[codes]
    by_size = np.argsort(sizes, kind="stable")
    small = int((sizes < FEWEST).sum())
    while 0 < small < len(sizes) and sizes[by_size[:small]].sum() < FEWEST:
        small += 1
    renamed = np.arange(len(sizes))
    renamed[by_size[:small]] = by_size[0]
    place = np.zeros_like(held)
    place[codes] = np.unique(renamed, return_inverse=True)[1]
    return np.asarray(place[classes])
