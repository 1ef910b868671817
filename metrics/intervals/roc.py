"""How well a score tells members from records that the synthesizer never saw."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.intervals.proportions import clopper_pearson

RATES = (0.1, 0.01, 0.001)
"""False-positive rates at which true-positive rates are reported."""
_FALSE_POSITIVES = 10  # expected at a rate, for it to be estimable


@dataclass(frozen=True)
class MembershipAttack:
    """What a membership attack achieves.

    ``advantage`` is the largest true-positive minus false-positive rate over all thresholds, in [0, 1]. The threshold
    is chosen on the records that it is judged on, so that it is above 0 by chance too.
    """

    auc: float  # chance that a random member scores higher than a random control, ties counted half; 0.5 = nothing
    advantage: float
    rates: dict[float, Estimate]  # true-positive by false-positive rate, with Clopper-Pearson limits; NaN with a note

    def details(self, prefix: str = "") -> dict[str, float]:
        """Return all as named floats: ``auc``, ``advantage``, ``tpr_at_<fpr>`` with ``_lower`` and ``_upper``."""
        found = {"auc": self.auc, "advantage": self.advantage}
        for rate, each in self.rates.items():
            name = f"tpr_at_{rate:g}"
            found |= {name: each.value, f"{name}_lower": each.lower, f"{name}_upper": each.upper}
        return {prefix + name: value for name, value in found.items()}

    @staticmethod
    def limits(prefix: str = "") -> tuple[str, ...]:
        """Return the names of the details that are limits, of the rates ``RATES``."""
        return tuple(f"{prefix}tpr_at_{rate:g}_{end}" for rate in RATES for end in ("lower", "upper"))


def attack_summary(
    member_scores: np.ndarray, control_scores: np.ndarray, rates: Sequence[float] = RATES, confidence: float = 0.95
) -> MembershipAttack:
    """Return what a score achieves that is higher for suspected members.

    Ties at a threshold are resolved by expectation: the share of them that makes the false-positive rate exact is
    called member. The rate at f is estimable with 10/f control records.

    Args:
        member_scores: (n,) scores of members; NaN = not scored.
        control_scores: (c,) scores of records that the synthesizer never saw.
        rates: False-positive rates.
        confidence: Confidence level of the intervals.

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
        return MembershipAttack(nothing.value, nothing.value, dict.fromkeys(rates, nothing))
    from sklearn.metrics import roc_curve

    is_member = np.repeat([1, 0], [len(members), len(controls)])
    _, ranks = np.unique(np.concatenate([members, controls]), return_inverse=True)  # infinities have one too
    false, true, _ = roc_curve(is_member, ranks, drop_intermediate=False)
    found = {}
    for rate in rates:
        needed = int(np.ceil(_FALSE_POSITIVES / rate))
        few = replace(NOT_ESTIMABLE, note=f"fewer than {needed} control records")
        at = _at(true, false, rate)
        found[rate] = few if len(controls) < needed else clopper_pearson(at, len(members), confidence)
    return MembershipAttack(float(placements(members, controls).mean()), float((true - false).max()), found)


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
