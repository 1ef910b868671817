"""A lower bound on the epsilon of differential privacy that a generator can have, from what an attack achieves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from scipy.special import gammaln

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range
from synthrisk.metrics.intervals.rates import TOLD_BY_WHAT_IS_MISSING

TAILS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of all targets among the highest scores, and among the lowest, that are flagged or cleared."""
_HALF = 0.5  # of all targets: to flag more is to clear the others
_NEGLIGIBLE = 60  # logs below the largest: probabilities below 1e-26 of it
_TO_DELTA = 0.1  # share of the error that is spent on how many records are given away with probability delta


@dataclass(frozen=True)
class EpsilonBound:
    """What a membership attack shows of differential privacy."""

    epsilon: float  # lower bound, at least 0 (nothing shown)
    delta: float  # the delta that it is stated for
    # of those flagged, among whom members are too many, or of those cleared, among whom they are too few; empty at 0
    side: Literal["flagged", "cleared", ""] = ""
    share: float = float("nan")  # share of all targets flagged (or cleared) at the threshold of the bound; NaN at 0
    confidence: float = 0.95  # of the bound, all thresholds taken together; one sided
    # whether the lowest are flagged, or the highest cleared: members are told by what the release lacks
    missing: bool = False

    @property
    def words(self) -> str:
        """What may be said of it, in a sentence."""
        if self.epsilon <= 0:
            return "no lower bound of epsilon above 0 was found; this is no guarantee"
        told = f"; {TOLD_BY_WHAT_IS_MISSING}" if self.missing else ""
        return (
            f"on this table the generator behaves no better than ({self.epsilon:.2f}, {self.delta:.2g})-differential "
            f"privacy ({self.confidence:.0%} confidence; one sided, never a guarantee){told}"
        )


def epsilon_lower_bound(
    member_scores: np.ndarray | Sequence[np.ndarray],
    control_scores: np.ndarray | Sequence[np.ndarray],
    delta: float | None = None,
    confidence: float = 0.95,
) -> EpsilonBound:
    """Return a lower bound of epsilon: how far the attack tells members from records that were left out.

    From the attack's scores alone, without labels, k of the N = n + c targets are chosen, and v of them prove to be
    members. If the generator is epsilon-differentially private, the number of members among those chosen is
    stochastically at most Fisher's noncentral hypergeometric variable V with odds ratio e^epsilon,

        P(V = v) proportional to C(k, v) C(N - k, n - v) e^(epsilon v),

    whatever the attack is. So epsilon_low is the epsilon at which P(V >= v) equals the error: the exact conditional
    limit of an odds ratio. The reason: given the release and the scores, only the split into members and control
    records is random. Two splits that differ in one exchange, of a member among those chosen for a control record among
    the others, have probabilities whose ratio is at most e^epsilon. A split with v + 1 members among those chosen has
    (v + 1)(N - k - n + v + 1) such partners; each of these has v members there, and (k - v)(n - v) such partners. Hence
    P(V = v + 1)/P(V = v) <= e^epsilon (k - v)(n - v)/((v + 1)(N - k - n + v + 1)): Fisher's variable has equality.

    This is the bound of Steinke, Nasr and Jagielski 2023 (arXiv:2305.08846) on the members among those flagged, for
    groups of fixed sizes. They toss a coin for each record, so that their variable is binomial, with the chance
    e^epsilon/(1 + e^epsilon) for each record flagged. Where few are flagged, Fisher's is nearly binomial too, with the
    chance n e^epsilon/(n e^epsilon + c).

    The sets are fixed beforehand: each share s of ``TAILS`` from the top of all scores (with ties of the last), and
    from the bottom. Of each it is asked whether members are too many (the set is flagged) and whether they are too few
    (it is cleared). Where the lowest are flagged, or the highest cleared, members are told by what is missing: a filter
    dropped rows near them. The error 1 - confidence is divided by these 40 tests (Bonferroni).

    Neighbouring tables differ in one record exchanged for another ("replace one"), because members and control records
    are a random split into groups of fixed sizes. A generator that is (e, delta)-differentially private when one record
    is added or removed is (2e, (1 + e^e) delta)-differentially private in this sense: halve the bound to compare.

    The bound holds if the split was drawn at random and the attack does not see it. The scores of one release need not
    be independent. With several independent splits, one threshold is set on all scores together, each split has its own
    k, n and c, and the members among those chosen are a sum of such variables, whose law is computed.

    Delta: each person's record may be given away whole with probability delta. At most g of the members, and h of the
    control records, are given away, except with a tenth of the error (binomial quantiles). The bound is that of the
    others where all g were found in the set and all h outside it (the other way about where it is cleared). This takes
    the records to be given away independently; over several splits they are shared out in proportion. A generator that
    may give many away at once, with some probability, is covered if this probability is added to the error.

    Args:
        member_scores: (n,) scores of members, higher for suspected members; NaN = not scored. Of several releases that
            were made from splits drawn independently: a list of such arrays, one a split.
        control_scores: (c,) scores of records that the generator never saw, or a list of such arrays.
        delta: Delta of the statement, in [0, 1); 1/n unless given, n the mean number of members of a split.
        confidence: Confidence of the bound, in (0, 1).

    Returns:
        An ``EpsilonBound``: high is bad, 0 says nothing.

    Raises:
        InputError: ``delta`` or ``confidence`` is out of its range, or a group has no score.

    Example:
        >>> found = epsilon_lower_bound(np.arange(1000.0) + 900, np.arange(1000.0), delta=0.0)
        >>> round(found.epsilon, 2), found.side, found.share, found.missing
        (5.39, 'flagged', 0.3, False)
        >>> epsilon_lower_bound(np.arange(1000.0), np.arange(1000.0)).epsilon
        0.0
    """
    check_range("confidence", confidence, ABOVE_0, BELOW_1, "a number in (0, 1)")
    splits = _by_split(member_scores), _by_split(control_scores)
    members, controls = ([np.sort(each[~np.isnan(each)]) for each in group] for group in splits)
    sizes = np.array([[len(each) for each in group] for group in (members, controls)])  # (2, splits)
    for name, held in zip(("member_scores", "control_scores"), sizes, strict=True):
        if not held.sum():
            raise InputError(f"{name} must hold a number, got none")
    if delta is None:
        delta = float(len(members) / sizes[0].sum())
    check_range("delta", delta, 0, BELOW_1, "a number in [0, 1)")
    everyone = np.sort(np.concatenate([*members, *controls]))
    counts = np.ceil(np.array(TAILS) * len(everyone)).astype(np.int64)
    chosen = []
    for count in counts:
        among = [[len(s) - np.searchsorted(s, everyone[-count], "left") for s in g] for g in (members, controls)]
        chosen.append((np.array(among), False))
        among = [[np.searchsorted(s, everyone[count - 1], "right") for s in g] for g in (members, controls)]
        chosen.append((np.array(among), True))
    return _largest(chosen, sizes, delta, confidence)


def _by_split(scores: np.ndarray | Sequence[np.ndarray]) -> list[np.ndarray]:
    several = not isinstance(scores, np.ndarray) and len(scores) > 0 and np.ndim(scores[0]) > 0
    return [np.asarray(each, dtype=float) for each in (scores if several else [scores])]


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
    The arguments are those of ``rates.pooled_rates``.
    """
    first, groups = scores[:, 0], (member[:, 0], control[:, 0])
    members, controls = (_surest(first, own & ~np.isnan(first), entities) for own in groups)
    count = sum(len(each) for each in members)
    if not count or not any(len(each) for each in controls):
        return None
    return epsilon_lower_bound(members, controls, 1 / max(count / len(scores), 2), confidence)


def _surest(scores: np.ndarray, chosen: np.ndarray, entities: np.ndarray | None) -> list[np.ndarray]:
    """Return the chosen scores of each repetition, of each entity the highest."""
    if entities is None:
        return [each[own] for each, own in zip(scores, chosen, strict=True)]
    own = np.unique(entities, return_inverse=True)[1]
    highest = np.full((len(scores), own.max() + 1), np.nan)
    row, place = np.nonzero(chosen)
    np.fmax.at(highest, (row, own[place]), scores[chosen])
    return [each[~np.isnan(each)] for each in highest]


def _largest(
    chosen: Sequence[tuple[np.ndarray, bool]], sizes: np.ndarray, delta: float, confidence: float
) -> EpsilonBound:
    """Return the largest bound; ``chosen``: members and control records of each set, (2, splits); is it lowest."""
    error, given_away = 1 - confidence, np.zeros(2, dtype=np.int64)
    if delta > 0:
        spent, error = _TO_DELTA * error, (1 - _TO_DELTA) * error
        given_away = scipy.stats.binom.isf(spent / 2, sizes.sum(axis=1), delta).astype(np.int64)
    best = EpsilonBound(0.0, delta, confidence=confidence)
    sides: tuple[tuple[Literal["flagged", "cleared"], int], ...] = (("flagged", 1), ("cleared", -1))
    for side, turned in sides:
        own, (most, others) = sizes[::turned], given_away[::turned]
        for counts, lowest in chosen:
            (hits, alarms), share = counts[::turned], float(counts.sum() / sizes.sum())
            found_in, found_out = _shared_out(most, hits), _shared_out(others, own[1] - alarms)
            rest = hits - found_in, alarms, own[0] - found_in, own[1] - found_out
            epsilon = log_odds_lower(*rest, error / (2 * len(chosen)), best.epsilon)
            if epsilon > best.epsilon:
                missing = lowest == (side == "flagged")
                said = (side, share) if share <= _HALF else (sides[side == "flagged"][0], 1 - share)  # the same table
                best = EpsilonBound(epsilon, delta, *said, confidence, missing)
    return best


def _shared_out(number: int, among: np.ndarray) -> np.ndarray:
    """Return a number, at most their sum, shared out over counts in proportion."""
    if number == 0:
        return np.zeros_like(among)
    total = among.sum()
    shares = np.floor(np.cumsum(among) * min(number, total) / max(total, 1)).astype(np.int64)
    return np.diff(shares, prepend=0)


def log_odds_lower(
    hits: np.ndarray, alarms: np.ndarray, first: np.ndarray, second: np.ndarray, error: float, above: float = 0.0
) -> float:
    """Return the exact lower limit of the log odds ratio that tables of two by two have in common, given their margins.

    Of each table, Fisher's noncentral hypergeometric law of its hits; of all together, that of their sum.

    Args:
        hits: (R,) how many of the first group are in the set, of each table.
        alarms: (R,) how many of the second group are.
        first: (R,) sizes of the first group.
        second: (R,) sizes of the second group.
        error: Of the limit, one sided, in (0, 1).
        above: What is returned where the limit is not larger than that, at least 0.

    Example:
        >>> table = [np.array([count]) for count in (9, 1, 20, 20)]
        >>> round(log_odds_lower(*table, 0.025), 3)
        0.498
    """
    if hits.sum() <= ((hits + alarms) * first / np.maximum(first + second, 1)).sum():
        return above  # no more than the mean at odds ratio 1
    laws = [_log_ways(*table) for table in zip(hits + alarms, first, second, strict=True)]
    needed = int(hits.sum()) - sum(fewest for fewest, _ in laws)
    if needed <= 0:
        return above  # no more than the margins force

    def beyond(epsilon: float) -> float:  # log P(so many hits or more), less the log of the error
        start, law = 0, np.ones(1)
        for _, ways in laws:
            logs = ways + epsilon * np.arange(len(ways))
            held = np.flatnonzero(logs > logs.max() - _NEGLIGIBLE)
            start += int(held[0])
            law = np.convolve(law, np.exp(logs[held[0] : held[-1] + 1] - logs.max()))
        tail = law[max(needed - start, 0) :].sum() / law.sum()
        return float(np.log(max(tail, np.finfo(float).tiny) / error))

    if beyond(above) >= 0:
        return above
    upper = above + 1
    while beyond(upper) < 0:
        upper = above + 2 * (upper - above)
    return float(scipy.optimize.brentq(beyond, above, upper, xtol=1e-9))


def _log_ways(chosen: int, first: int, second: int) -> tuple[int, np.ndarray]:
    """Return the fewest hits that the margins allow, and the log of the number of splits with each number of hits."""
    fewest = max(0, chosen - second)
    hits = np.arange(fewest, min(chosen, first) + 1)
    return fewest, _log_choose(chosen, hits) + _log_choose(first + second - chosen, first - hits)


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
