"""How well a score tells members from others: its curve, and how many it finds at a low false-positive rate.

Of one release, and of all releases of a study at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, check_range
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.proportions import clopper_pearson

RATES = (0.1, 0.01, 0.001)
"""False-positive rates at which true-positive rates are reported."""
TOLD_BY_WHAT_IS_MISSING = "members are told by what is missing"
"""Said where the lowest scores find more members than the highest: rows that would be near them were left out."""
_FALSE_POSITIVES = 10  # expected at a rate, for it to be estimable


class MembershipAttack(NamedTuple):
    """What a membership attack achieves.

    ``advantage`` is the largest true-positive minus false-positive rate over all thresholds, in [0, 1]. The threshold
    is chosen on the records that it is judged on, so that it is above 0 by chance too.
    """

    auc: float  # chance that a random member scores higher than a random control, ties counted half; 0.5 = nothing
    advantage: float
    rates: dict[float, Estimate]  # true-positive by false-positive rate, with Clopper-Pearson limits; NaN with a note
    missing: dict[float, Estimate]  # the same of the reversed ranking: the lowest scores are said to be members

    def details(self, prefix: str = "") -> dict[str, float]:
        """Return all as named floats: ``auc``, ``advantage``, ``tpr_at_<fpr>`` with ``_lower`` and ``_upper``.

        ``missing_tpr_at_<fpr>``, with limits too, are those of the reversed ranking.
        """
        found = {"auc": self.auc, "advantage": self.advantage}
        for direction, rates in (("", self.rates), ("missing_", self.missing)):
            for rate, each in rates.items():
                name = f"{direction}tpr_at_{rate:g}"
                found |= {name: each.value, f"{name}_lower": each.lower, f"{name}_upper": each.upper}
        return {prefix + name: value for name, value in found.items()}

    @staticmethod
    def limits(prefix: str = "") -> tuple[str, ...]:
        """Return the names of the details that are limits, of the rates ``RATES``."""
        names = (f"{prefix}{direction}tpr_at_{rate:g}" for direction in ("", "missing_") for rate in RATES)
        return tuple(f"{name}_{end}" for name in names for end in ("lower", "upper"))


def attack_summary(
    member_scores: np.ndarray, control_scores: np.ndarray, rates: Sequence[float] = RATES, confidence: float = 0.95
) -> MembershipAttack:
    """Return what a score achieves that is higher for suspected members.

    Ties at a threshold are resolved by expectation: the share of them that makes the false-positive rate exact is
    called member. The rate at f is estimable with 10/f control records.

    A release from which rows near members were dropped tells of them by what is missing: they score lower than others.
    So the rates are also taken of the reversed ranking (``missing``), in which who abstains (-inf) ranks last all the
    same. The limits of each direction are made at half the error, so that they hold for both at once.

    Args:
        member_scores: (n,) scores of members; NaN = not scored.
        control_scores: (c,) scores of records that the synthesizer never saw.
        rates: False-positive rates.
        confidence: Confidence level of the intervals of both directions together.

    Returns:
        A ``MembershipAttack``, all NaN where a group has no scored record.

    Example:
        >>> found = attack_summary(np.array([0.9, 0.8, 0.4]), np.array([0.5, 0.4]))
        >>> round(found.auc, 3), round(found.advantage, 3), found.rates[0.1].note
        (0.75, 0.667, 'fewer than 100 control records')
    """
    members, controls = (np.sort(s[~np.isnan(s)]) for s in (member_scores, control_scores))
    if not len(members) or not len(controls):
        nothing = replace(NOT_ESTIMABLE, note="no members or no control records")
        none = dict.fromkeys(rates, nothing)
        return MembershipAttack(nothing.value, nothing.value, none, none)
    one_of_two = (1 + confidence) / 2
    true, false = _curve(members, controls)
    found = _rates(true, false, (len(members), len(controls)), rates, one_of_two)
    turned = _curve(reversed_ranking(members), reversed_ranking(controls))
    missing = _rates(*turned, (len(members), len(controls)), rates, one_of_two)
    return MembershipAttack(float(placements(members, controls).mean()), float((true - false).max()), found, missing)


def reversed_ranking(scores: np.ndarray) -> np.ndarray:
    """Return scores in which the lowest rank highest; who abstains (-inf) and who is not scored (NaN) stay as they are.

    Example:
        >>> reversed_ranking(np.array([3.0, 1.0, -np.inf])).tolist()
        [-3.0, -1.0, -inf]
    """
    return np.where(np.isneginf(scores), scores, -scores)


def _curve(members: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the true- and the false-positive rate at each threshold."""
    from sklearn.metrics import roc_curve

    is_member = np.repeat([1, 0], [len(members), len(controls)])
    _, ranks = np.unique(np.concatenate([members, controls]), return_inverse=True)  # infinities have one too
    false, true, _ = roc_curve(is_member, ranks, drop_intermediate=False)
    return true, false


def _rates(
    true: np.ndarray, false: np.ndarray, sizes: tuple[int, int], rates: Sequence[float], confidence: float
) -> dict[float, Estimate]:
    found = {}
    for rate in rates:
        needed = int(np.ceil(_FALSE_POSITIVES / rate))
        few = replace(NOT_ESTIMABLE, note=f"fewer than {needed} control records")
        found[rate] = few if sizes[1] < needed else clopper_pearson(_at(true, false, rate), sizes[0], confidence)
    return found


def placements(scores: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return for each score the share of others that are lower, equal ones counted half; its mean is the AUC.

    Example:
        >>> placements(np.array([2.0, 5.0]), np.array([1.0, 2.0])).tolist()
        [0.75, 1.0]
    """
    ordered = np.sort(among)
    below, up_to = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(ordered)))


def _at(true: np.ndarray, false: np.ndarray, rate: float) -> float:
    """Return the true-positive rate at a false-positive rate, on the line between thresholds."""
    last = int(np.searchsorted(false, rate, side="right")) - 1  # the lowest threshold that keeps the rate
    if last == len(false) - 1:
        return float(true[last])
    share = (rate - false[last]) / (false[last + 1] - false[last])
    return float(true[last] + share * (true[last + 1] - true[last]))


POOLED_RATES = (0.01, 0.001)
"""False-positive rates at which a study reports the pooled true-positive rate."""
RATE = POOLED_RATES[0]
"""The one at which a limit is set and a chart drawn."""
METHOD = "effective_number"

_SPARE = 50  # control scores kept beyond twice the rate: no resample has its threshold below these
_BLOCK = 50  # resamples whose weights are in memory at once
_ROUNDING = 1 + 1e-12  # a rate that whole control records reach exactly is reached


class _Cells(NamedTuple):
    """How often each unit (record or entity) scores at each place: sparse (units, places), from the highest place down.

    The kept control scores are the first T places of ``controls``; T is the place of all lower ones. Of ``members``
    2p + 1 is tied with the control place p, and 2p lies above it.
    """

    controls: "scipy.sparse.csr_array"
    members: "scipy.sparse.csr_array"


def pooled_rates(
    scores: np.ndarray,
    member: np.ndarray,
    control: np.ndarray,
    interval: Interval | None = None,
    entities: np.ndarray | None = None,
    rates: Sequence[float] = POOLED_RATES,
) -> Mapping[float, Estimate]:
    """Return the true-positive rate at low false-positive rates, all releases of a study pooled.

    The control scores of all folds and repetitions set one threshold, and member scores are compared with it. Ties at
    the threshold are resolved by expectation: the share of them that makes the false-positive rate exact is called
    member. The mean difference of members and control records can hide a small leak; this quantity looks only where
    the attack is surest.

    The interval resamples records (or entities) with all their scores, and each resample sets its own threshold. The
    variance V of the resamples gives the effective number of members n* = p(1 - p)/V, at most the number of member
    scores. The limits are Clopper and Pearson's at p n* successes of n* (as in Korn and Graubard 1998, Survey
    Methodology 24, 193-201); the resamples' own limits would have no width at p = 0. Where p is 0 or 1, V is 0 and
    1/n* = 1/(units with member scores) + 1/(units with control scores). What other seeds of the generator would add is
    not in the interval.

    Args:
        scores: (R, K, n), higher for suspected members; NaN = not a target, -inf = the attack abstains.
        member: (R, K, n) booleans.
        control: (R, K, n) booleans.
        interval: Confidence, resamples and seed; those of a study unless given.
        entities: (n,) entity of each record, where one entity has several records.
        rates: False-positive rates f in (0, 1).

    Returns:
        An ``Estimate`` in [0, 1] by rate: the larger of both directions. NaN, with the reason as its note, with fewer
        than 10/f control scores.

    Raises:
        InputError: A rate is out of its range.

    Example:
        >>> scores = np.arange(4000.0).reshape(1, 1, -1) % 2000
        >>> member = np.arange(4000).reshape(1, 1, -1) < 2000
        >>> found = pooled_rates(scores, member, ~member)
        >>> round(found[0.01].value, 3), found[0.001].note
        (0.01, 'fewer than 10000 control scores')
        >>> pooled_rates(-scores - 9 * member, member, ~member)[0.01].note
        'members are told by what is missing'
    """
    for rate in rates:
        check_range("rates", rate, ABOVE_0, BELOW_1, "numbers in (0, 1)")
    scored = ~np.isnan(scores)
    member, control = member & scored, control & scored
    needed = {rate: int(np.ceil(_FALSE_POSITIVES / rate)) for rate in rates}
    known = [rate for rate in rates if member.any() and control.sum() >= needed[rate]]
    found = {rate: replace(NOT_ESTIMABLE, note=_reason(member, control, needed[rate])) for rate in rates}
    if known:
        given = Interval() if interval is None else interval
        half = replace(given, confidence=(1 + given.confidence) / 2)
        near, missing = (
            _estimated(_cells(ranked, member, control, entities, max(known)), known, half)
            for ranked in (scores, reversed_ranking(scores))
        )
        found |= {rate: larger(near[rate], missing[rate]) for rate in known}
    return found


def larger(near: Estimate, missing: Estimate) -> Estimate:
    """Return the larger of two rates: that of the highest scores, unless that of the lowest is, which says so."""
    if not missing.value > near.value:
        return near
    return replace(missing, note="; ".join(filter(None, [TOLD_BY_WHAT_IS_MISSING, missing.note])))


def _reason(member: np.ndarray, control: np.ndarray, needed: int) -> str:
    if not member.any() or not control.any():
        return "no members" if control.any() else "no control records"
    return f"fewer than {needed} control scores"


def _cells(
    scores: np.ndarray, member: np.ndarray, control: np.ndarray, entities: np.ndarray | None, rate: float
) -> _Cells:
    n = scores.shape[2]
    units = np.arange(n) if entities is None else np.unique(entities, return_inverse=True)[1]
    own = np.broadcast_to(units, scores.shape)
    ordered = np.sort(scores[control])[::-1]
    levels = np.unique(ordered[: int(2 * rate * len(ordered)) + _SPARE])
    size, top = int(units.max()) + 1, len(levels)
    controls = top - np.searchsorted(levels, scores[control], "right")
    among = [np.searchsorted(levels, scores[member], side) for side in ("left", "right")]
    members = 2 * top - among[0] - among[1]
    members[members == 2 * top] += 1  # below all levels: beside the other control scores
    of_members = _counted(own[member], members, (size, 2 * top + 2))
    return _Cells(_counted(own[control], controls, (size, top + 1)), of_members)


def _counted(units: np.ndarray, places: np.ndarray, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((np.ones(len(units), dtype=np.int64), (units, places)), shape=shape)


def _alike(cells: _Cells) -> tuple[_Cells, np.ndarray]:
    """Return the cells of each kind of unit, and the kind of each unit, ordered by what they hold, not as rows are."""
    both = scipy.sparse.hstack([cells.controls, cells.members], format="csr")
    marks = np.random.default_rng(0).integers(2**62, size=both.shape[1])  # sums that wrap, equal for equal units alone
    _, first, kinds = np.unique(both @ marks, return_index=True, return_inverse=True)
    return _Cells(cells.controls[first], cells.members[first]), np.sort(kinds)


def _estimated(cells: _Cells, rates: Sequence[float], interval: Interval) -> dict[float, Estimate]:
    size = cells.members.shape[0]
    values = _true_positive_rates(cells, np.ones((1, size), dtype=np.int64), rates)[:, 0]
    if size < 2:
        note = "one record: no interval"
        return {r: Estimate(float(v), np.nan, np.nan, METHOD, note) for r, v in zip(rates, values, strict=True)}
    rng, (distinct, kinds) = np.random.default_rng(interval.seed), _alike(cells)
    drawn = [
        _true_positive_rates(distinct, _weights(rng, min(_BLOCK, interval.resamples - start), kinds), rates)
        for start in range(0, interval.resamples, _BLOCK)
    ]
    spread = np.nanvar(np.concatenate(drawn, axis=1), axis=1, ddof=1)
    held = [(each.sum(axis=1) > 0).sum() for each in cells]
    absent, found = 1 / (1 / held[0] + 1 / held[1]), {}
    for rate, p, variance in zip(rates, values.tolist(), spread.tolist(), strict=True):
        # the number of independent members that the estimate is worth
        worth = min(p * (1 - p) / variance, cells.members.sum()) if variance > 0 and 0 < p < 1 else absent
        found[rate] = replace(clopper_pearson(p, worth, interval.confidence), method=METHOD)
    return found


def _weights(rng: np.random.Generator, resamples: int, kinds: np.ndarray) -> np.ndarray:
    """Return how often each kind of unit is drawn, (resamples, kinds); ``kinds``: (units,) ascending."""
    drawn = rng.integers(len(kinds), size=(resamples, len(kinds)))
    return np.stack([np.bincount(kinds[own], minlength=int(kinds[-1]) + 1) for own in drawn])


def _true_positive_rates(cells: _Cells, weights: np.ndarray, rates: Sequence[float]) -> np.ndarray:
    controls, members = ((each.T @ weights.T).T for each in cells)
    false, true = controls.cumsum(axis=1), members.cumsum(axis=1)  # (resamples, places)
    # of few entities a group may be empty
    total = np.where((false[:, -1] > 0) & (true[:, -1] > 0), true[:, -1], np.nan)
    row, found = np.arange(len(weights)), []
    for rate in rates:
        allowed = rate * false[:, -1]
        place = (false > (allowed * _ROUNDING)[:, None]).argmax(axis=1)  # the first that holds too many control records
        tied = controls[row, place]
        share = np.clip((allowed - false[row, place] + tied) / np.maximum(tied, 1), 0, 1)
        found.append((true[row, 2 * place] + share * members[row, 2 * place + 1]) / total)
    return np.array(found)
