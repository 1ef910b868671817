"""What must stand beside a value for it to be read."""

from math import isnan

from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.result_tables import BESIDE
from synthrisk.tasks.pages.templates import number


def cause(finding: Finding) -> str:
    """Return what makes a gain over the guess negative where the attack has no answer for some; else nothing."""
    metric, silent = METRICS[finding.measure.metric], 1 - finding.reach
    if metric.answered is None or metric.claims or not finding.risk_gain.value < 0 or not silent > 0:
        return ""  # a claim that is not made is no wrong one
    return f"below the guess since the attack has no answer for {silent:.1%} of the members, which counts as wrong"


def beside(finding: Finding) -> str:
    """Return in words what must stand beside a value: unseen keys, ceiling, null, accuracy; on control in brackets.

    Of several releases the worst is told too, with its simultaneous interval.
    """
    texts = []
    for name, words in BESIDE.items():
        members, controls = finding.details.get(name, (float("nan"), float("nan")))
        if not isnan(members):
            apart = not isnan(controls) and number(controls) != number(members)
            texts.append(f"{words} {number(members)}" + (f" (control {number(controls)})" if apart else ""))
    if len(finding.release_risk) > 1 and not isnan(finding.worst.value):
        limits = f" [{number(finding.worst.lower)}, {number(finding.worst.upper)}]"
        known = not isnan(finding.worst.upper)
        texts.append(f"worst of {len(finding.release_risk)} releases {number(finding.worst.value)}{limits * known}")
    return ", ".join(texts)
