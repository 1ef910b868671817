"""Whether a generator has become better or worse from one study to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt

import numpy as np

from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.estimates import (
    NOT_ESTIMABLE,
    ONE_REPETITION,
    Estimate,
    Prior,
    Variances,
    paired,
    satterthwaite,
    t_test,
    variances,
)
from synthrisk.metrics.intervals.moderated import moderate
from synthrisk.metrics.intervals.proportions import share_difference
from synthrisk.metrics.intervals.scale import DIFFERENCE


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

    None where they are too few (``moderated.moderate``). ``contributions`` are (R, n), one array a finding.
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
