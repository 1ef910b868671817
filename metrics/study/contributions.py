"""What each record adds to a measure's risk, control value and memorization: all that paired statistics need."""

from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.intervals.estimates import effects, paired
from synthrisk.metrics.intervals.linearised import linearised
from synthrisk.metrics.study.findings import Attacked


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions of records to the quantities of one measure on one synthesizer, each (R, n).

    Their mean over records is a repetition's value, their mean over both the study's; columns of records that
    contribute nothing are NaN, and an array has no columns where the quantity is not estimable.
    ``released``, (R, K), is given where the risk is a value of each release, which no record contributes to.
    """

    risk: np.ndarray
    control: np.ndarray
    memorization: np.ndarray
    released: np.ndarray | None = None


def contributions_of(attacked: Attacked) -> Contributions:
    """Return the contributions behind a finding's risk, control value and memorization.

    Where a measure is a function T of a mean m, its contributions are linear ones: T(m) + T'(m)(e - m).
    """
    amount = attacked.scores if attacked.contribution is None else attacked.contribution
    groups = (attacked.member, attacked.control)
    risk, control = (linearised(effects(amount, chosen), attacked.transform) for chosen in groups)
    return Contributions(risk, control, paired(*(effects(attacked.scores, chosen) for chosen in groups)))
