"""The three yardsticks of a study's finding, each with gain and difference and the interval of a study."""

from dataclasses import replace

import numpy as np

from synthrisk.metrics.intervals.adjusted import ADJUSTED, adjusted_gain
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval, of_groups, paired
from synthrisk.metrics.intervals.proportions import share_gain
from synthrisk.metrics.intervals.scale import DIFFERENCE, GAIN
from synthrisk.metrics.intervals.yardsticks import Yardstick, gain, over_known, paired_shares, slopes
from synthrisk.metrics.study.contributions import Contributions
from synthrisk.metrics.study.findings import Finding

ALWAYS_RIGHT = "the yardstick is always right: no gain is possible"


def beside_guess(finding: Finding) -> Yardstick | None:
    """Return the best constant guess, of claims S, taken as known, beside a finding; None where nothing is guessed."""
    s = finding.guess
    if np.isnan(s):
        return None
    over, difference = over_known(finding.risk, s)
    return Yardstick(Estimate(s, s, s, "constant"), _noted(over, s), difference)


def beside_control(
    finding: Finding, own: Contributions, interval: Interval, entities: np.ndarray | None
) -> Yardstick | None:
    """Return the same attack on records never seen beside a finding; None where there are none.

    Of a study with several releases, or of scores that are not right or wrong: crossed. Of one release of right or
    wrong scores: Newcombe's hybrid interval, other records on either side. Where the difference is memorization, the
    same number, it has the interval of memorization; where that is adjusted, so is the gain.
    """
    s, memorized = finding.risk_control, finding.memorization
    adjusted = memorized.method == ADJUSTED
    if np.isnan(s.value) or not own.control.shape[1]:
        return None
    if finding.risk.method == "wilson":
        over = adjusted_gain(memorized, s.value) if adjusted else share_gain(finding.risk, s)
        return Yardstick(s, _noted(over, s.value), memorized)
    found = _crossed(finding.risk.value, own.risk, s, own.control, interval, entities)
    if not np.array_equal(paired(own.risk, own.control), own.memorization, equal_nan=True):
        return found
    over = _noted(adjusted_gain(memorized, s.value), s.value) if adjusted else found.gain
    return replace(found, gain=over, difference=memorized)


def beside_population(
    finding: Finding,
    own: Contributions,
    population: Finding,
    of_population: Contributions,
    interval: Interval,
    entities: np.ndarray | None,
) -> Yardstick | None:
    """Return the same attack with real non-members as the release beside a finding; None where it scores nobody.

    Both attack the same members in the same splits, so contributions are subtracted record by record. Of one
    release of right or wrong scores: Newcombe's interval for paired shares.
    """
    s = population.risk
    if np.isnan(s.value) or np.isnan(finding.risk.value):
        return None
    if finding.risk.method == s.method == "wilson":
        scores = np.round(own.risk[0]), np.round(of_population.risk[0])  # 0 and 1, but for the last bit
        paired = paired_shares(*scores, interval.confidence)
        if paired is not None:
            (over, difference), note = paired, finding.risk.note
            return Yardstick(s, _noted(replace(over, note=note), s.value), replace(difference, note=note))
    return _crossed(finding.risk.value, own.risk, s, of_population.risk, interval, entities)


def _crossed(
    x: float, of_x: np.ndarray, s: Estimate, of_s: np.ndarray, interval: Interval, entities: np.ndarray | None
) -> Yardstick:
    """Return a yardstick whose intervals are the study's; that of G by linearisation.

    The limits of the difference are clipped to [-1, 1], those of G to at most 1.
    """
    difference = of_groups(of_x, of_s, interval, 0.0, entities, DIFFERENCE)
    if s.value == 1:
        return Yardstick(s, _noted(NOT_ESTIMABLE, 1.0), difference)
    a, b, shift = _linear_gain(x, s.value)
    return Yardstick(s, of_groups(a * of_x, b * of_s, interval, shift, entities, GAIN), difference)


def _linear_gain(x: float, s: float) -> tuple[float, float, float]:
    """Return a, b and c of the contributions a e_x - b e_s + c to G.

    They are G + (e_x - x)/(1 - s) - (1 - x)/(1 - s)^2 (e_s - s).
    """
    a, b = slopes(x, s)
    return a, b, gain(x, s) - (a * x - b * s)


def _noted(found: Estimate, s: float) -> Estimate:
    return replace(found, note=ALWAYS_RIGHT) if s == 1 else found
