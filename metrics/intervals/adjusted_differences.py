"""Differences of members and control records who are different people, less what is known of who is easy to attack.

Where one release is judged, most of a difference's interval is that some people are easier to guess than others. What
foretells that without membership takes it away: regression adjustment (Lin 2013, doi:10.1214/12-AOAS583; in experiments
on the web CUPED, Deng et al. 2013, doi:10.1145/2433396.2433413). Under no memorization membership is a random split, so
that the adjusted difference has mean 0 whatever the model behind the covariates.
"""

from dataclasses import replace

import numpy as np

from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.estimates import FEW, NOT_ESTIMABLE, Estimate, satterthwaite
from synthrisk.metrics.intervals.value_scale import DIFFERENCE, GAIN, ValueScale

ADJUSTED = "adjusted"
"""Method of an estimate that is adjusted."""
RAW = "raw"
"""What the estimate is called that it stands for."""
LEAST = 10
"""Scores of either kind, right and wrong, that each group has at least: with fewer a normal interval is too short."""


def adjusted_difference(
    scores: np.ndarray,
    member: np.ndarray,
    covariates: np.ndarray,
    confidence: float = 0.95,
    scale: ValueScale = DIFFERENCE,
    note: str = "",
) -> Estimate | None:
    """Return the mean score of members less that of control records, adjusted for covariates.

    Least squares of y on g, Z and g Z, with Z centred over all records of both groups; the difference is the
    coefficient of g, its standard error HC2 (MacKinnon and White 1985, doi:10.1016/0304-4076(85)90158-7). As all slopes
    differ by group, this is one regression a group: a_1 - a_0 of the intercepts, with the variance

        sum_g sum_i (c_i e_i)^2/(1 - h_i),   a_g = sum_i c_i y_i, e residuals, h leverages

    and Satterthwaite's degrees of freedom of the two groups.

    There are records for which it is not made, and the plain difference holds. This is decided by sizes of groups, and
    by what is seen of both groups together, never by the difference: so a split that is random stays random given the
    decision, and the decision costs no coverage.

    Args:
        scores: (n,) y, NaN where not scored.
        member: (n,) booleans g: True a member, False a control record.
        covariates: (n, p) Z, of which nothing knows membership. NaN: the column's mean. Constant columns are left out.
        confidence: Confidence level.
        scale: Range of the difference, to which its limits are clipped.
        note: What limits the interval.

    Returns:
        The estimate, with the method ``adjusted``; None where a group has fewer than 50 scored records, where scores
        are 0 and 1 and a group has fewer than 10 of either, or where the covariates explain less than 10/m of the
        scores of both groups together, m the size of the smaller one: 1 - R^2, each variance with its degrees of
        freedom, is not below 1 - 10/m. The normal interval of so few is longer than Newcombe's, and would gain nothing.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> ease, member = rng.random(2000), np.arange(2000) < 1000
        >>> scores = (rng.random(2000) < ease).astype(float)
        >>> found = adjusted_difference(scores, member, ease[:, None])
        >>> round(found.value, 3), round(found.upper - found.value, 3), found.method
        (-0.009, 0.036, 'adjusted')
        >>> plain = 1.96 * np.sqrt(2 * scores.var() / 1000)
        >>> round(float(plain), 3)
        0.044
    """
    scored = ~np.isnan(scores)
    y, g, z = scores[scored], member[scored], _filled(covariates[scored])
    if not is_adjustable(scores, member) or not _explains(y, z, min(g.sum(), (~g).sum())):
        return None
    means, variances, freedoms = zip(*(_intercept(y[own], z[own]) for own in (g, ~g)), strict=True)
    value = float(means[0] - means[1])
    freedom = satterthwaite(*zip(variances, freedoms, strict=True))
    half = float(t_quantile(0.5 + confidence / 2, freedom) * np.sqrt(sum(variances)))
    value = min(max(value, scale.lower), scale.upper)
    return Estimate(value, *scale.between(value, value - half, value + half), ADJUSTED, note)


def is_adjustable(scores: np.ndarray, member: np.ndarray) -> bool:
    """Tell whether both groups have enough records, and enough right and wrong scores where there are no others."""
    groups = [own[~np.isnan(own)] for own in (scores[member], scores[~member])]
    if min(map(len, groups)) < FEW:
        return False
    if not all(np.isin(own, (0, 1)).all() for own in groups):
        return all(np.ptp(own) > 0 for own in groups)
    return all(LEAST <= own.sum() <= len(own) - LEAST for own in groups)


def adjusted_gain(difference: Estimate, control: float) -> Estimate:
    """Return the gain over control of an adjusted difference: it and its limits, divided by 1 - s.

    s, the success on control records, is the plain mean, taken as known. NaN where s = 1.

    Example:
        >>> found = adjusted_gain(Estimate(0.1, 0.05, 0.15, "adjusted"), 0.5)
        >>> found.value, found.lower, found.upper
        (0.2, 0.1, 0.3)
    """
    if control == 1:
        return replace(NOT_ESTIMABLE, method=ADJUSTED)
    value, lower, upper = (each / (1 - control) for each in (difference.value, difference.lower, difference.upper))
    return Estimate(value, *GAIN.between(value, lower, upper), ADJUSTED, difference.note)


def _filled(covariates: np.ndarray) -> np.ndarray:
    """Return covariates centred over all records, 0 where they are not known; those that vary."""
    known = ~np.isnan(covariates)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, covariates - np.where(known, covariates, 0.0).sum(axis=0) / count, 0.0)
    return centred[:, np.ptp(centred, axis=0) > 1e-12] if len(centred) else centred


def _explains(y: np.ndarray, z: np.ndarray, smaller: int) -> bool:
    """Tell whether covariates explain enough of the scores of both groups together."""
    if not z.shape[1]:
        return False
    centred = y - y.mean()
    left = centred - z @ np.linalg.lstsq(z, centred, rcond=None)[0]
    unexplained = (left**2).sum() / (len(y) - 1 - z.shape[1]) / ((centred**2).sum() / (len(y) - 1))
    return bool(unexplained < 1 - LEAST / smaller)


def _intercept(y: np.ndarray, z: np.ndarray) -> tuple[float, float, int]:
    """Return the intercept of the regression of one group, with its HC2 variance and degrees of freedom."""
    design = np.column_stack([np.ones(len(y)), z])
    inverse = np.linalg.pinv(design)
    residuals, leverages = y - design @ (inverse @ y), (design * inverse.T).sum(axis=1)
    weighted = (inverse[0] * residuals) ** 2 / np.maximum(1 - leverages, 1e-9)
    return float(inverse[0] @ y), float(weighted.sum()), len(y) - design.shape[1]
