"""What a limit may be set on: the quantities of a finding by name, for all records or for one group of them.

Measures that cannot vary in a study: they say of a full copy what they say of columns that know nobody.

Such a value is no word about a release, be it high or low. Two things show it: a copy of the training rows does not lie
above independent columns; or one constant guess is right about nearly everybody, and no generator, a copy included,
lies above it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, spelled
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.tables.tolerance import TOO_WIDE

EXPOSED = ("outliers", "rare_keys")
"""The groups of those whom an attacker would pick: far from all others, and rare by what others know of them."""

GROUPS = (*EXPOSED, "classes")
"""Groups of records that a limit may speak of: ``single_records.vulnerable``, and the worst class (``worst_class``)."""

RATES = {"tpr": 0.01, "tpr_at_0.001": 0.001}
"""Quantities that are true-positive rates, each with its false-positive rate."""

_GAINS = {"control_gain": "control", "population_gain": "population"}
_OF_ALL = ("risk", "risk_control", "risk_gain", "memorization")
QUANTITIES = (*_OF_ALL, *_GAINS, *RATES)
OF_GROUPS = ("risk", "risk_control", "memorization", "control_gain", "tpr")
"""The quantities that groups have too."""

AGAINST_CONTROL = ("memorization", "control_gain", *RATES)
"""The quantities that set members against control records: signals even where a value alone is none."""

NOTHING = {"memorization": 0.0, "control_gain": 0.0, **RATES}
"""What a quantity is, on average, where the release says nothing of who its members are."""


@dataclass(frozen=True)
class Limited:
    """What a limit is set on."""

    quantity: str  # one of ``QUANTITIES``
    key: str  # key or label of a measure
    group: str = ""  # one of ``GROUPS``; empty for all records

    @property
    def name(self) -> str:
        """``<quantity>/<measure>[@<group>]``, as in a study."""
        return f"{self.quantity}/{self.key}" + (f"@{self.group}" if self.group else "")

    @property
    def words(self) -> str:
        """The quantity and its group, for reasons."""
        return self.quantity + (f" of {self.group}" if self.group else "")


def limited(name: str, keys: Collection[str] = ()) -> Limited:
    """Return what the name of a limit, ``<quantity>/<measure>[@<group>]``, says.

    ``keys`` are keys and labels of the study's measures: one that ends like a group is a measure all the same.

    Example:
        >>> limited("memorization/zero_cap.income@outliers").group
        'outliers'
        >>> limited("tpr/membership").name
        'tpr/membership'
    """
    quantity, _, key = name.partition("/")
    front, at, group = key.rpartition("@")
    return Limited(quantity, front, group) if at and key not in keys else Limited(quantity, key)


def is_signed(name: str) -> bool:
    """Tell whether what a limit is set on is a difference or a gain, which may be below 0: a share has no sign.

    Example:
        >>> is_signed("memorization/zero_cap.income"), is_signed("tpr/membership@outliers")
        (True, False)
    """
    return name.partition("/")[0] not in ("risk", "risk_control", *RATES)


def quantity_of(finding: Finding, quantity: str, group: str = "") -> Estimate:
    """Return a quantity of a finding with its interval; where there is none, an estimate whose note says why."""
    if group:
        if group not in finding.groups:
            return replace(NOT_ESTIMABLE, note=f"the measure has no {group}")
        return quantity_of(finding.groups[group], quantity)
    if quantity in _GAINS:
        beside = finding.yardsticks.get(_GAINS[quantity])
        return beside.gain if beside else replace(NOT_ESTIMABLE, note=f"there is no {_GAINS[quantity]} yardstick")
    if quantity in RATES:
        why = "the measure ranks no records, or there are no control records"
        return finding.tpr.get(RATES[quantity], replace(NOT_ESTIMABLE, note=why))
    return getattr(finding, quantity)


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
        told = f"a full copy of the training rows, {spelled(copies[0], False)}, does not lie above independent columns"
        return f"{told}, {spelled(independent[0], False)}, which know nobody"
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
