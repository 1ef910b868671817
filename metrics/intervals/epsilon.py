"""A lower bound on the epsilon of differential privacy that a generator can have, from what an attack achieves."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range

TAILS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of all targets that the thresholds of the grid flag (the highest) or clear (the lowest)."""


@dataclass(frozen=True)
class EpsilonBound:
    """What a membership attack shows of differential privacy."""

    epsilon: float  # lower bound, at least 0 (nothing shown)
    delta: float  # the delta that it is stated for
    side: Literal["flagged", "cleared", ""] = ""  # of those said to be members, or of those said not to be; empty at 0
    share: float = float("nan")  # share of all targets flagged (or cleared) at the threshold of the bound; NaN at 0
    confidence: float = 0.95  # of the bound, all thresholds taken together; one sided

    @property
    def words(self) -> str:
        """What may be said of it, in a sentence."""
        if self.epsilon <= 0:
            return "no lower bound of epsilon above 0 was found; this is no guarantee"
        return (
            f"on this table the generator behaves no better than ({self.epsilon:.2f}, {self.delta:.2g})-differential "
            f"privacy ({self.confidence:.0%} confidence; one sided, never a guarantee)"
        )


def epsilon_lower_bound(
    member_scores: np.ndarray, control_scores: np.ndarray, delta: float | None = None, confidence: float = 0.95
) -> EpsilonBound:
    """Return a lower bound of epsilon: how far the attack tells members from records that were left out.

    A generator with (epsilon, delta)-differential privacy keeps TPR <= e^epsilon FPR + delta for any attack, and
    TNR <= e^epsilon FNR + delta (Wasserman and Zhou 2010, doi:10.1198/jasa.2009.tm08651). Hence

        epsilon_low = max over thresholds of log((TPR_low - delta)/FPR_up), log((TNR_low - delta)/FNR_up)

    with one-sided Clopper-Pearson limits, and not less than 0. The thresholds are fixed beforehand: each share s of
    ``TAILS`` is flagged from the top of all scores (with ties of the last), and cleared from the bottom. Members and
    control records are put together for this, so that no label decides where a threshold lies. The error 1 - confidence
    is divided by the two limits of each of the 20 thresholds (Bonferroni).

    Neighbouring tables differ in one record exchanged for another ("replace one"), because members and control records
    are a random split into groups of fixed sizes. A generator that is (e, delta)-differentially private when one record
    is added or removed is (2e, (1 + e^e) delta)-differentially private in this sense: halve the bound to compare.

    The bound holds if the split was drawn at random and the attack does not see it. The scores of one release need not
    be independent: given the release and all scores, only the split is random. Under epsilon-differential privacy the
    number of members among those flagged is then stochastically at most Fisher's noncentral hypergeometric variable
    with odds ratio e^epsilon, which varies less than the binomial counts of the limits. A generator may give everything
    away with probability delta; this probability is to be added to the error.

    Args:
        member_scores: (n,) scores of members, higher for suspected members; NaN = not scored.
        control_scores: (c,) scores of records that the generator never saw.
        delta: Delta of the statement, in [0, 1); 1/n unless given.
        confidence: Confidence of the bound, in (0, 1).

    Returns:
        An ``EpsilonBound``: high is bad, 0 says nothing.

    Raises:
        InputError: ``delta`` or ``confidence`` is out of its range, or a group has no score.

    Example:
        >>> found = epsilon_lower_bound(np.arange(1000.0) + 900, np.arange(1000.0), delta=0.0)
        >>> round(found.epsilon, 2), found.side, found.share
        (4.42, 'flagged', 0.3)
        >>> epsilon_lower_bound(np.arange(1000.0), np.arange(1000.0)).epsilon
        0.0
    """
    check_range("confidence", confidence, ABOVE_0, BELOW_1, "a number in (0, 1)")
    members, controls = (np.sort(s[~np.isnan(s)]) for s in (np.asarray(member_scores), np.asarray(control_scores)))
    for name, scores in (("member_scores", members), ("control_scores", controls)):
        if not len(scores):
            raise InputError(f"{name} must hold a number, got none")
    if delta is None:
        delta = 1 / len(members)
    check_range("delta", delta, 0, BELOW_1, "a number in [0, 1)")
    both = np.sort(np.concatenate([members, controls]))
    count = np.ceil(np.array(TAILS) * len(both)).astype(np.int64)
    flagged = [len(s) - np.searchsorted(s, both[len(both) - count], "left") for s in (members, controls)]
    cleared = [len(s) - np.searchsorted(s, both[count - 1], "right") for s in (members, controls)]
    hits, alarms = (np.concatenate(pair) for pair in zip(flagged, cleared, strict=True))
    return _largest(hits, alarms, (len(members), len(controls)), delta, confidence)


def released_epsilon(
    scores: np.ndarray,
    member: np.ndarray,
    control: np.ndarray,
    entities: np.ndarray | None = None,
    confidence: float = 0.95,
) -> EpsilonBound | None:
    """Return the bound that the releases of a study show; None where there are no members or no control records.

    Only the first release of each repetition counts: the folds of one repetition share a split, and what they show must
    not be counted twice. The splits of different repetitions are drawn independently, so that their counts add up. An
    entity with several records counts once, as the surest of them. Delta is 1/n, n the mean number of members.
    The arguments are those of ``pooled_rates.pooled_rates``.
    """
    first, groups = scores[:, 0], (member[:, 0], control[:, 0])
    members, controls = (_surest(first, own & ~np.isnan(first), entities) for own in groups)
    if not len(members) or not len(controls):
        return None
    return epsilon_lower_bound(members, controls, 1 / max(len(members) / len(scores), 2), confidence)


def _surest(scores: np.ndarray, chosen: np.ndarray, entities: np.ndarray | None) -> np.ndarray:
    """Return the chosen scores, (R, n), of each entity the highest in each repetition."""
    if entities is None:
        return scores[chosen]
    own = np.unique(entities, return_inverse=True)[1]
    highest = np.full((len(scores), own.max() + 1), np.nan)
    row, place = np.nonzero(chosen)
    np.fmax.at(highest, (row, own[place]), scores[chosen])
    return highest[~np.isnan(highest)]


def _largest(
    hits: np.ndarray, alarms: np.ndarray, sizes: tuple[int, int], delta: float, confidence: float
) -> EpsilonBound:
    """Return the largest bound; ``hits`` and ``alarms``: members and control records above each threshold."""
    error = (1 - confidence) / (2 * len(hits))
    n, c = sizes
    found = np.where(hits > 0, scipy.stats.beta.ppf(error, np.maximum(hits, 1), n - hits + 1), 0.0)  # TPR at least
    false = np.where(alarms < c, scipy.stats.beta.isf(error, alarms + 1, np.maximum(c - alarms, 1)), 1.0)  # FPR at most
    sides: dict[Literal["flagged", "cleared"], tuple[np.ndarray, np.ndarray]] = {
        "flagged": (found - delta, false),
        "cleared": (1 - false - delta, 1 - found),
    }
    best = EpsilonBound(0.0, delta, confidence=confidence)
    for side, (above, below) in sides.items():
        bounds = np.log(np.maximum(above, np.finfo(float).tiny) / below)
        place = int(bounds.argmax())
        if bounds[place] > best.epsilon:
            share = float((hits + alarms)[place] / (n + c))
            share = share if side == "flagged" else 1 - share
            best = EpsilonBound(float(bounds[place]), delta, side, share, confidence)
    return best
