"""What is kept of a measure on one synthesizer, for all statistics that pair it: of records, or of releases."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions of records to the quantities of one measure on one synthesizer, each (R, n).

    Their mean over records is a repetition's value, their mean over both the study's; columns of records that
    contribute nothing are NaN, and an array has no columns where the quantity is not estimable.
    """

    risk: np.ndarray
    control: np.ndarray
    memorization: np.ndarray


@dataclass(frozen=True, eq=False)
class ReleasedValues:
    """The values of the releases, of a measure that has no score a real record, each (R, K)."""

    value: np.ndarray  # on all members
    control: np.ndarray  # on all control records
    members: np.ndarray  # against as many members as control records
    controls: np.ndarray  # against these control records

    @property
    def difference(self) -> np.ndarray:
        """The difference of members and control records, on groups of one size."""
        return self.members - self.controls


@dataclass(frozen=True, eq=False)
class Isolations:
    """Of claims that name no target: values of the releases, and what the records add to memorization."""

    value: np.ndarray  # (R, K) on all members
    memorization: np.ndarray  # (R, n) as in ``Contributions``; no columns where nobody is isolated


Kept = Contributions | ReleasedValues | Isolations
