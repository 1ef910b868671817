"""What a limit may be set on: the quantities of a finding by name, for all records or for one group of them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding

GROUPS = ("outliers", "rare_keys", "classes")
"""Groups of records that a limit may speak of: ``single_records.vulnerable``, and the worst class (``worst_class``)."""

_TPR = {"tpr": 0.01, "tpr_at_0.001": 0.001}  # false-positive rate of each
_GAINS = {"control_gain": "control", "population_gain": "population"}
_OF_ALL = ("risk", "risk_control", "risk_gain", "memorization")
QUANTITIES = (*_OF_ALL, *_GAINS, *_TPR)
OF_GROUPS = ("risk", "risk_control", "memorization", "control_gain", "tpr")
"""The quantities that groups have too."""

AGAINST_CONTROL = ("memorization", "control_gain", *_TPR)
"""The quantities that set members against control records: signals even where a value alone is none."""

NOTHING = {"memorization": 0.0, "control_gain": 0.0, **_TPR}
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


def quantity_of(finding: Finding, quantity: str, group: str = "") -> Estimate:
    """Return a quantity of a finding with its interval; where there is none, an estimate whose note says why."""
    if group:
        if group not in finding.groups:
            return replace(NOT_ESTIMABLE, note=f"the measure has no {group}")
        return quantity_of(finding.groups[group], quantity)
    if quantity in _GAINS:
        beside = finding.yardsticks.get(_GAINS[quantity])
        return beside.gain if beside else replace(NOT_ESTIMABLE, note=f"there is no {_GAINS[quantity]} yardstick")
    if quantity in _TPR:
        why = "the measure ranks no records, or there are no control records"
        return finding.tpr.get(_TPR[quantity], replace(NOT_ESTIMABLE, note=why))
    found: Estimate = getattr(finding, quantity)
    return found
