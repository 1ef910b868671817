"""Which limits would have been kept, in a study that sets none: a help for those who choose limits, and no verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.quantities import NOTHING, Limited, quantity_of
from synthrisk.metrics.study.reference_checks import Check
from synthrisk.metrics.study.verdicts import Beside, judge

_STEP = 0.001  # between limits


@dataclass(frozen=True)
class Kept:
    """The least limit that one synthesizer would have been shown to keep."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>``
    least: float  # NaN where the study could show it of none
    reason: str  # what the verdict would have said


def quantity_to_limit(metric: Metric) -> str:
    """Return the quantity of a metric that a limit is best set on: what members add to what is learnt of anybody.

    Of guesses ``control_gain``, of claims of membership ``tpr``, else ``memorization``; empty where the metric is no
    signal.
    """
    if metric.label != "signal" or metric.is_utility:
        return ""
    if "sensitive" in metric.needs:
        return "control_gain"
    return "tpr" if metric.ranking and "control" in metric.needs else "memorization"


def limits_kept(findings: Sequence[Finding], checks: Sequence[Check], beside: Beside) -> list[Kept]:
    """Return the least limits that each synthesizer would have kept, all of them set at once.

    The least limit is the end of the interval that lies farther from 0, rounded up to .001. It counts only where the
    same study gives NO EVIDENCE at it: a copy lies above, a near copy is seen by one of them at least.
    """
    kept = []
    for name in dict.fromkeys(f.synthesizer for f in findings if f.role == "synthesizer"):
        own = [f for f in findings if f.synthesizer == name and not f.measure.variant_of]
        limits = dict(filter(None, map(_least, own)))
        for verdict in judge(findings, limits, checks, replace(beside, released={}, excess={})):
            if verdict.synthesizer == name:
                least = verdict.limit if verdict.word == "NO EVIDENCE" else float("nan")
                kept.append(Kept(name, verdict.quantity, least, verdict.reason))
    return kept


def _least(finding: Finding) -> tuple[str, float] | None:
    quantity = quantity_to_limit(METRICS[finding.measure.metric])
    found = quantity_of(finding, quantity) if quantity else NOT_ESTIMABLE
    if math.isnan(found.lower) or math.isnan(found.upper):
        return None
    end = max(found.upper, -found.lower) if NOTHING.get(quantity) == 0 else found.upper
    return Limited(quantity, finding.measure.key).name, max(math.floor(end / _STEP) + 1, 0) * _STEP
