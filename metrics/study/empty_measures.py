"""Measures that cannot vary in a study: they say of a full copy what they say of columns that know nobody.

Such a value is no word about a release, be it high or low. Two things show it: a copy of the training rows does not lie
above independent columns; or one constant guess is right about nearly everybody, and no generator, a copy included,
lies above it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from synthrisk.metrics.intervals.estimates import Estimate, spelled
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.quantities import quantity_of
from synthrisk.metrics.tables.tolerance import TOO_WIDE

_ROUNDING = 1e-9


def empty_measures(findings: Sequence[Finding], answers: Mapping[str, Answer]) -> dict[Measure, str]:
    """Return why measures say nothing in this study: neither their risk nor their memorization tells a copy.

    ``answers`` holds what each reference generator declares, by its name.
    """
    reasons = {}
    for measure in dict.fromkeys(f.measure for f in findings):
        own = [f for f in findings if f.measure == measure]
        remembered = any(f.memorization.lower > 0 for f in own if answers.get(f.synthesizer) == "copy")
        if not remembered and (reason := same_place(own, answers)):
            reasons[measure] = reason
    return reasons


def same_place(findings: Sequence[Finding], answers: Mapping[str, Answer], group: str = "") -> str:
    """Return why the risk by one measure says nothing of a release, for all records or for one group of them.

    Empty where it may say something, or where nothing shows that it does not.
    """
    found = [(answers.get(f.synthesizer), quantity_of(f, "risk", group)) for f in findings]
    copies, independent = (
        [e for answer, e in found if answer == wanted and not np.isnan(e.value)] for wanted in ("copy", "independent")
    )
    if copies and independent and all(_reaches(i, c) for c in copies for i in independent):
        told = f"a full copy of the training rows, {spelled(copies[0])}, does not lie above independent columns, "
        return f"{told}{spelled(independent[0])}, which know nobody"
    known = [f for f in findings if not (group or np.isnan(f.risk.value))]
    if known and all(f.guess > TOO_WIDE and _ends(f.risk)[0] <= f.guess + _ROUNDING for f in known):
        return f"one constant guess is right about {known[0].guess:.1%} of the records, and no generator lies above it"
    return ""


def _reaches(independent: Estimate, copy: Estimate) -> bool:
    """Tell whether a copy is not shown to lie above independent columns: each value within reach of the other."""
    return copy.value <= _ends(independent)[1] + _ROUNDING and _ends(copy)[0] <= independent.value + _ROUNDING


def _ends(found: Estimate) -> tuple[float, float]:
    """Return the limits of an interval; the value itself where there is none."""
    lower, upper = (found.value if np.isnan(end) else end for end in (found.lower, found.upper))
    return lower, upper
