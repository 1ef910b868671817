"""The smallest leak that a study detects four times in five, from leaks of known size in the study itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.estimates import Estimate, Variances, satterthwaite

TARGET = 0.8
_DRAWS = 400  # quantiles at which the variance between repetitions is taken


@dataclass(frozen=True)
class Leak:
    """What a study saw of a release of which a known share of the rows are training records."""

    share: float  # f; 0 for a release without training records (``fresh``)
    memorization: Estimate  # what the study said
    variances: Variances  # the parts of its variance


@dataclass(frozen=True)
class Power:
    """What a study can see in one measure."""

    # smallest share of leaked training rows that is detected with probability ``TARGET``; NaN where no share is
    share: float
    slope: float  # memorization a leaked share, the fitted line through 0
    # each share that was run, ascending, and whether its interval of memorization lay above 0
    seen: tuple[tuple[float, bool], ...]

    @property
    def beyond(self) -> bool:
        """Whether the share lies beyond all that were run, on the continued line."""
        return bool(self.share > max(share for share, _ in self.seen))

    @property
    def leak(self) -> str:
        """The share in words."""
        if np.isnan(self.share):
            return "none"
        return _percent(self.share) + (" (line continued)" if self.beyond else "")

    @property
    def words(self) -> str:
        """The finding in words."""
        run = [f"{_percent(share)} {'seen' if found else 'missed'}" for share, found in self.seen]
        leak = "no leak" if np.isnan(self.share) else f"a leak of {_percent(self.share)} of the training rows"
        more = ", on the line continued beyond the shares run" if self.beyond else ""
        return f"{leak} would have been seen in four studies of five{more} (of those run: {', '.join(run)})"


def power(leaks: Sequence[Leak], confidence: float = 0.95, target: float = TARGET) -> Power | None:
    """Return the smallest detectable share; None where no leak above 0 was measured with an interval.

    A study detects where the interval of memorization, crossed or moderated, lies above 0. Memorization is taken as
    b f, the line through ``fresh`` = 0 fitted by least squares weighted with the inverse variances, b >= 0: each
    leaked row gives its own record away, so the mean over records rises in proportion. The standard error at f has
    the records' part as the leaks showed it, linear between their shares, and one variance between repetitions
    pooled over all of them. Of a study at f,

        P(detected) = E P(value > t h | v),   value ~ N(b f, standard error^2),

    with the interval's half width t h of Satterthwaite's degrees of freedom for an estimated variance v between
    repetitions, which is chi-squared of R - 1 and independent of the value; E is its mean over 400 quantiles. Where
    the leaks' variances have a prior (moderated intervals), each v is moderated by it, and the prior is taken as
    known. The share is where this is ``target``. Leaks of share 0 tell the variance alone.
    """
    known = [x for x in leaks if not np.isnan(x.memorization.lower)]
    own = sorted((x for x in known if x.share > 0), key=lambda x: x.share)
    if not own:
        return None
    drift = max(0.0, float(np.mean([x.variances.posterior - x.variances.noise for x in known])))  # of repetitions
    repetitions = own[0].variances.repetitions
    shares = np.array([x.share for x in own])
    values = np.array([x.memorization.value for x in own])
    weights = 1 / np.maximum([x.variances.records + drift / repetitions for x in own], np.finfo(float).tiny)
    slope = max(0.0, float((weights * shares * values).sum() / (weights * shares**2).sum()))
    seen = tuple((x.share, bool(x.memorization.lower > 0)) for x in own)

    def missing(share: float) -> float:
        return _detected(slope * share, _at(share, known), drift, confidence) - target

    if slope == 0 or missing(1.0) < 0:
        return Power(float("nan"), slope, seen)
    return Power(float(scipy.optimize.brentq(missing, 0.0, 1.0, xtol=1e-6)), slope, seen)


def of_repetitions(values: np.ndarray) -> Variances | None:
    """Return the variance of a metric without a score a real record, (R, K) values: all of it is of repetitions."""
    means = values.mean(axis=1)
    if len(means) < 2 or np.isnan(means).any():
        return None
    return Variances(0.0, float(means.var(ddof=1)), 0.0, 1, len(means))


def _at(share: float, leaks: Sequence[Leak]) -> Variances:
    """Return the parts of the variance at a share, linear between those that were run."""
    places = sorted({x.share for x in leaks})
    found = {}
    for part in ("records", "noise"):
        means = [np.mean([getattr(x.variances, part) for x in leaks if x.share == p]) for p in places]
        found[part] = float(np.interp(share, places, means))
    prior = next((x.variances.prior for x in leaks if x.variances.prior), None)  # one for all findings of a kind
    count = min(x.variances.count for x in leaks)
    return Variances(found["records"], 0.0, found["noise"], count, leaks[0].variances.repetitions, prior)


def _detected(value: float, at: Variances, drift: float, confidence: float) -> float:
    """Return the probability that the interval of a study lies above 0, its true memorization being ``value``."""
    r = at.repetitions
    spread = np.sqrt(at.records + drift / r)
    if spread == 0:
        return float(value > 0)
    if r == 1:
        terms = np.zeros(1)
    else:
        levels = (np.arange(_DRAWS) + 0.5) / _DRAWS
        between = (drift + at.noise) * scipy.stats.chi2.ppf(levels, r - 1) / (r - 1)
        terms = np.maximum(0.0, at.moderated(between) - at.noise) / r
    own = at.count - 1, at.between_freedom
    freedom = np.array([satterthwaite((at.records, own[0]), (term, own[1])) for term in terms])
    half = t_quantile(0.5 + confidence / 2, freedom) * np.sqrt(at.records + terms)
    return float(scipy.stats.norm.cdf((value - half) / spread).mean())


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%"
