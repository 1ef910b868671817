"""k-anonymity of keys: with how many others records share their quasi-identifiers, in the real table and in releases.

A description, not a measure with a verdict: it says how rare keys are, not what a release gives away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import joint_codes, pack
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables

SIZES = ("1", "2", "3-4", "5-9", "10-19", "20+")
FROM = (1, 2, 3, 5, 10, 20, np.iinfo(np.int64).max)


@dataclass(frozen=True)
class KeySizes:
    """How many records have a key that k records share, of one release or in the mean over several."""

    counts: tuple[float, ...]  # number of records with k = 1, 2, 3-4, 5-9, 10-19, 20 and more (``SIZES``)
    smallest: int  # the smallest k that occurs, of several releases the smallest of any; 0 where no key occurs
    absent: float = 0.0  # number of records whose key does not occur at all: of real records looked up in a release

    @property
    def records(self) -> float:
        """Number of all records."""
        return sum(self.counts) + self.absent


@dataclass(frozen=True)
class ReleaseKeys:
    """The keys of one release, or the mean over those of one synthesizer."""

    release: KeySizes  # of the released records among themselves
    members: KeySizes  # how many released records have the key of each member
    controls: KeySizes | None  # how many have that of each control record


@dataclass(frozen=True)
class KAnonymity:
    """The keys of a study: of the real table once, and of each synthesizer's releases in the mean."""

    quasi_identifiers: tuple[str, ...]
    real: KeySizes
    releases: Mapping[str, ReleaseKeys] = field(default_factory=dict)


def key_sizes(k: np.ndarray) -> KeySizes:
    """Return the histogram of the sizes of keys, (n,) one a record; 0 = its key does not occur.

    Example:
        >>> key_sizes(np.array([1, 2, 2, 0, 7]))
        KeySizes(counts=(1.0, 2.0, 0.0, 1.0, 0.0, 0.0), smallest=1, absent=1.0)
    """
    counts = tuple(float(((low <= k) & (k < high)).sum()) for low, high in pairwise(FROM))
    return KeySizes(counts, int(k[k > 0].min()) if (k > 0).any() else 0, float((k == 0).sum()))


def keys_of_real(real: pd.DataFrame, quasi_identifiers: Sequence[str], entities: np.ndarray | None = None) -> KeySizes:
    """Return how many entities have the key of each real record, its own included.

    ``entities`` is the entity of each record, (n,); None where each record is one.

    Example:
        >>> keys_of_real(pd.DataFrame({"age": [30, 30, 40]}), ["age"]).counts[:2]
        (1.0, 2.0)
    """
    (own,), size = pack([joint_codes([real[column]])[0] for column in quasi_identifiers])
    return key_sizes(how_many_with(own, size, entities)[own])


def keys_of_release(tables: Tables, quasi_identifiers: Sequence[str]) -> ReleaseKeys:
    """Return the keys of a release: of its own records, and how often it has those of members and control records.

    Real records have ``groups`` (1 a member, 0 a control record; all are members without).

    Example:
        >>> real, release = pd.DataFrame({"age": [30, 40, 50]}), pd.DataFrame({"age": [30, 40, 40]})
        >>> found = keys_of_release(Tables(real, release, groups=np.array([1, 1, 0])), ["age"])
        >>> found.release.counts[:2], found.members.counts[:2], found.controls.absent
        ((1.0, 2.0), (1.0, 1.0), 1.0)
    """
    key = tables.codes(tables.check_columns("quasi_identifiers", quasi_identifiers))
    held = np.bincount(key.tables[1], minlength=key.size)
    groups = np.ones(len(tables.real), dtype=np.int64) if tables.groups is None else tables.groups
    members, controls = (held[key.tables[0][groups == group]] for group in (1, 0))
    return ReleaseKeys(
        key_sizes(held[key.tables[1]]), key_sizes(members), key_sizes(controls) if len(controls) else None
    )


def mean_keys(releases: Sequence[ReleaseKeys]) -> ReleaseKeys:
    """Return the mean over releases; of control records over the releases that have some."""
    controls = [each.controls for each in releases if each.controls is not None]
    own = _mean([each.release for each in releases]), _mean([each.members for each in releases])
    return ReleaseKeys(*own, _mean(controls) if controls else None)


def _mean(found: Sequence[KeySizes]) -> KeySizes:
    return KeySizes(
        tuple(float(each) for each in np.mean([f.counts for f in found], axis=0)),
        min((f.smallest for f in found if f.smallest), default=0),
        float(np.mean([f.absent for f in found])),
    )
