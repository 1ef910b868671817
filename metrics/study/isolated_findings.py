"""What a study says of claims that name no target: risk of each release, memorization of the records isolated."""

from dataclasses import replace

import numpy as np

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.isolated import BY_CHANCE, memorized_in_study, per_claim
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.contributions import Isolations, ReleasedValues
from synthrisk.metrics.study.findings import Attacked, Finding, find_released
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.said import Reasons

GAIN = "isolated_gain"
"""The detail G of the isolated records, and its interval among a finding's further ones."""

TOGETHER = "counted among members and control records together: see memorization"


def find_isolated(
    synthesizer: str, role: str, measure: Measure, value: np.ndarray, attacked: Attacked, interval: Interval
) -> tuple[Finding, Isolations]:
    """Return the finding of a metric whose claims name no target, and what records contribute to its memorization.

    The risk is the mean value of the releases, over repetitions. Memorization is how many more members than by chance
    each claim isolates (``isolated.per_claim``); the gain of ``isolated.memorized_in_study``, how much oftener than by
    exchangeability the isolated records are members, stays as ``control_gain`` and as the detail ``isolated_gain``.
    ``value`` is that of each release on its members, (R, K). The scores of ``attacked`` are 1 where a claim isolates
    the record, 0 where none does.
    """
    flags, member, control = attacked.scores, attacked.member, attacked.control
    over, parts = memorized_in_study(flags, member, control, attacked.entities, interval.confidence)
    isolated = float((np.nan_to_num(flags) * (member | control)).sum())
    claims = attacked.details.get("claims", (0.0,))[0] * value.size  # the detail is the mean over releases
    sizes = float(member.sum()), float(control.sum())
    memorized = per_claim(over, isolated, claims, sizes, interval.confidence)
    if not control.any():
        over, memorized = (replace(each, note="no control records") for each in (over, memorized))
    released = ReleasedValues(value, *np.full((3, *value.shape), np.nan))
    reasons = Reasons(attacked.reasons.members, TOGETHER)
    details = attacked.details | {GAIN: (over.value, np.nan)}
    found = find_released(synthesizer, role, measure, released, interval, reasons, details)
    kept = Isolations(value, parts * (isolated / claims if claims else np.nan))
    intervals = {**found.intervals, GAIN: {over.method: over}}
    return replace(found, memorization=memorized, control_gain=over.value, intervals=intervals), kept


def beside_exchangeability(finding: Finding) -> Yardstick | None:
    """Return the share of members among the isolated records beside n/(n + c), what it is if nobody is remembered.

    Share and difference follow from the gain; None where nobody is isolated.
    """
    over = next(iter(finding.intervals.get(GAIN, {}).values()), NOT_ESTIMABLE)
    s, _ = finding.details.get(BY_CHANCE, (float("nan"),) * 2)
    if np.isnan(over.value) or np.isnan(s):
        return None
    difference = replace(over, value=over.value * (1 - s), lower=over.lower * (1 - s), upper=over.upper * (1 - s))
    attack = replace(over, value=s + difference.value, lower=s + difference.lower, upper=s + difference.upper)
    return Yardstick(Estimate(s, s, s, "constant"), over, difference, attack)
