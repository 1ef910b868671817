"""What a study says of claims that name no target: risk of each release, memorization of the records isolated."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from synthrisk.metrics.intervals.estimates import Estimate, Interval
from synthrisk.metrics.intervals.isolated import memorized_in_study
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.contributions import Contributions
from synthrisk.metrics.study.findings import Finding, find_released
from synthrisk.metrics.study.ledger import Measure

TOGETHER = "counted among members and control records together: see memorization"


def find_isolated(
    finding: tuple[str, str, Measure],
    values: np.ndarray,
    cubes: Mapping[str, np.ndarray],
    interval: Interval,
    entities: np.ndarray | None,
    details: Mapping[str, tuple[float, float]],
    reason: str,
) -> tuple[Finding, Contributions]:
    """Return the finding of a metric whose claims name no target, and what records contribute to its memorization.

    The risk is the mean value of the releases, over repetitions. Memorization is the gain of
    ``isolated.memorized_in_study``: how much oftener than by exchangeability the isolated records are members.

    Args:
        finding: Synthesizer, role and measure.
        values: (R, K): value of each release on its members.
        cubes: ``score`` (R, K, n), 1 where a claim isolates the record, and ``member`` (R, K, n), 1 member, 0 control.
        interval: How intervals are made.
        entities: (n,) entity of each record, or None.
        details: What else the measure says: means over releases.
        reason: Why there is no value, or an empty string.
    """
    member, control = (cubes["member"] == own for own in (1, 0))
    memorized, parts = memorized_in_study(cubes["score"], member, control, entities, interval.confidence)
    if not control.any():
        memorized = replace(memorized, note="no control records")
    released = np.stack([values, *np.full((3, *values.shape), np.nan)])
    reasons = {"members": reason, "controls": TOGETHER}
    # gains and shares of single releases are left out: their means are not those of all releases together
    apart = [name for name in details if name.startswith("control_") or name == "isolated_share"]
    told = {name: each for name, each in details.items() if name not in apart}
    found = find_released(*finding, released, interval, reasons, told)
    found = replace(found, memorization=memorized, control_gain=memorized.value)
    nothing = np.empty((len(values), 0))
    return found, Contributions(nothing, nothing, parts, values)


def beside_exchangeability(finding: Finding) -> Yardstick | None:
    """Return the share of members among the isolated records beside n/(n + c), what it is if nobody is remembered.

    The gain is the memorization, so share and difference follow from it; None where nobody is isolated.
    """
    over, (s, _) = finding.memorization, finding.details.get("control", (float("nan"),) * 2)
    if np.isnan(over.value) or np.isnan(s):
        return None
    difference = replace(over, value=over.value * (1 - s), lower=over.lower * (1 - s), upper=over.upper * (1 - s))
    attack = replace(over, value=s + difference.value, lower=s + difference.lower, upper=s + difference.upper)
    return Yardstick(Estimate(s, s, s, "constant"), over, difference, attack)
