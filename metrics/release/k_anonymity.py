"""k-anonymity and l-diversity of keys, in the real table and in releases.

k: with how many others a record shares its quasi-identifiers. l: how many different sensitive values those hold
together. A table has k-anonymity and l-diversity with the smallest k and l that occur in it.

A description, not a measure with a verdict: it says how rare keys are, not what a release gives away.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import Codes, joint_codes, pack, values_in_class
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables, Target, columns_of, inside, name_of

SIZES = ("1", "2", "3-4", "5-9", "10-19", "20+")
_PAIRS = 1_000_000  # keys compared at once
FROM = (1, 2, 3, 5, 10, 20, np.iinfo(np.int64).max)


@dataclass(frozen=True)
class KeySizes:
    """How many records have a key that k records share, of one release or in the mean over several.

    Of l: how many have a key that l different sensitive values share.
    """

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
    values: Mapping[str, "ReleaseKeys"] = field(default_factory=dict)  # of l, by what is guessed


@dataclass(frozen=True)
class KAnonymity:
    """The keys of a study: of the real table once, and of each synthesizer's releases in the mean."""

    quasi_identifiers: tuple[str, ...]
    real: KeySizes
    releases: Mapping[str, ReleaseKeys] = field(default_factory=dict)
    values: Mapping[str, KeySizes] = field(default_factory=dict)  # of l in the real table, by what is guessed


def key_sizes(k: np.ndarray, records: np.ndarray | None = None) -> KeySizes:
    """Return the histogram of the sizes of keys, (n,) one a record; 0 = its key does not occur.

    ``records``: how many records each size is that of, where it is more or less than one.

    Example:
        >>> key_sizes(np.array([1, 2, 2, 0, 7]))
        KeySizes(counts=(1.0, 2.0, 0.0, 1.0, 0.0, 0.0), smallest=1, absent=1.0)
    """
    held = np.ones(len(k), dtype=np.int64) if records is None else records
    counts = tuple(float(held[(low <= k) & (k < high)].sum()) for low, high in pairwise(FROM))
    occurring = k[(k > 0) & (held > 0)]
    return KeySizes(counts, int(occurring.min()) if len(occurring) else 0, float(held[k == 0].sum()))


def keys_of_real(real: pd.DataFrame, quasi_identifiers: Sequence[str], entities: np.ndarray | None = None) -> KeySizes:
    """Return how many entities have the key of each real record, its own included.

    ``entities`` is the entity of each record, (n,); None where each record is one.

    Example:
        >>> keys_of_real(pd.DataFrame({"age": [30, 30, 40]}), ["age"]).counts[:2]
        (1.0, 2.0)
    """
    (own,), size = pack([joint_codes([real[column]])[0] for column in quasi_identifiers])
    return key_sizes(how_many_with(own, size, entities)[own])


def values_of_real(
    real: pd.DataFrame, quasi_identifiers: Sequence[str], targets: Sequence[Target]
) -> dict[str, KeySizes]:
    """Return how many different values of what is guessed share the key of each real record, by its name.

    Several columns that are guessed at once are one value together; a missing cell is a value of its own. Columns that
    are guessed are no part of the key.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40], "vote": ["a", "b", "a"]})
        >>> values_of_real(real, ["age"], ["vote"])["vote"].counts[:2]
        (1.0, 2.0)
    """
    found = {}
    for name, known, hidden in keys_and_targets(quasi_identifiers, targets):
        key, target = (pack([joint_codes([real[column]])[0] for column in columns]) for columns in (known, hidden))
        found[name] = key_sizes(values_in_class(key, pack([key, target]), 0)[key.tables[0]])
    return found


def keys_and_targets(
    quasi_identifiers: Sequence[str], targets: Sequence[Target]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the name of what is guessed, the key that is known to who guesses it, and its columns."""
    for target in targets:
        known = [column for column in quasi_identifiers if column not in columns_of(target)]
        if known:
            yield name_of(target), known, columns_of(target)


def keys_of_release(tables: Tables, quasi_identifiers: Sequence[str], targets: Sequence[Target] = ()) -> ReleaseKeys:
    """Return the keys of a release: of its own records, and how often it has those of members and control records.

    Real records have ``groups`` (1 a member, 0 a control record; all are members without). Of ``targets``, what is
    guessed, it tells how many different values the release has for each key: see ``values_of_real``. A released row
    whose cells stand for sets of values has the key of each real record that lies in them.

    Example:
        >>> real, release = pd.DataFrame({"age": [30, 40, 50]}), pd.DataFrame({"age": [30, 40, 40]})
        >>> found = keys_of_release(Tables(real, release, groups=np.array([1, 1, 0])), ["age"])
        >>> found.release.counts[:2], found.members.counts[:2], found.controls.absent
        ((1.0, 2.0), (1.0, 1.0), 1.0)
    """
    keys = tables.check_columns("quasi_identifiers", quasi_identifiers)
    key = tables.codes(keys)
    values = {}
    for name, known, hidden in keys_and_targets(quasi_identifiers, targets):
        own, guessed = tables.codes(known), tables.codes(tables.check_columns("sensitive", hidden))
        found = _within_sets(tables, known, guessed.tables[1])
        values[name] = _looked_up(tables, own, values_in_class(own, pack([own, guessed]), 1), found)
    held = np.bincount(key.tables[1], minlength=key.size)
    sizes = _looked_up(tables, key, held, _within_sets(tables, keys, np.arange(len(tables.synthetic))))
    return replace(sizes, values=values)


def _within_sets(tables: Tables, known: Sequence[Any], values: np.ndarray) -> np.ndarray | None:
    """Return how many different ``values``, (m,), the rows hold that may have each real record's key; None: no sets."""
    if not tables.sets.among(known):
        return None
    ours, theirs = (np.unique(side, return_index=True, return_inverse=True) for side in tables.codes(known).tables)
    sides = [(tables.codes([c]).tables, inside(tables, c)) for c in known]
    holds = np.unique(np.column_stack([theirs[2], np.unique(values, return_inverse=True)[1]]), axis=0)
    starts = np.searchsorted(holds[:, 0], np.arange(len(theirs[1])))
    alone = len(np.unique(holds[:, 1])) == len(holds)  # no value has two keys: they are counted, not compared
    each = np.diff(np.append(starts, len(holds)))
    counts = np.empty(len(ours[1]), dtype=np.int64)
    step = max(1, _PAIRS // len(theirs[1]))
    for start in range(0, len(ours[1]), step):
        block = ours[1][start : start + step]
        same = np.ones((len(block), len(theirs[1])), dtype=bool)
        for (real, released), within in sides:
            same &= within.equal(real[block, None], released[theirs[1]])
        if alone:
            counts[start : start + step] = same @ each
        else:
            counts[start : start + step] = [len(np.unique(holds[row[holds[:, 0]], 1])) for row in same]
    return counts[ours[2]]


def _looked_up(tables: Tables, key: Codes, held: np.ndarray, of_real: np.ndarray | None) -> ReleaseKeys:
    """Return what the release holds of each key, for its own records, for members and for control records."""
    groups = np.ones(len(tables.real), dtype=np.int64) if tables.groups is None else tables.groups
    found = held[key.tables[0]] if of_real is None else of_real
    members, controls = (found[groups == group] for group in (1, 0))
    of_controls = key_sizes(controls) if len(controls) else None
    return ReleaseKeys(key_sizes(held[key.tables[1]]), key_sizes(members), of_controls)


def mean_keys(releases: Sequence[ReleaseKeys]) -> ReleaseKeys:
    """Return the mean over releases; of control records over the releases that have some."""
    controls = [each.controls for each in releases if each.controls is not None]
    own = _mean([each.release for each in releases]), _mean([each.members for each in releases])
    values = {name: mean_keys([each.values[name] for each in releases]) for name in releases[0].values}
    return ReleaseKeys(*own, _mean(controls) if controls else None, values)


def keys_from_plain(told: Mapping[str, Any]) -> ReleaseKeys:
    """Return keys from what ``dataclasses.asdict`` makes of them, also after a journey through JSON."""
    sizes = {
        name: told[name] and KeySizes(**told[name] | {"counts": tuple(told[name]["counts"])})
        for name in ("release", "members", "controls")
    }
    return ReleaseKeys(**sizes, values={name: keys_from_plain(each) for name, each in told["values"].items()})


def _mean(found: Sequence[KeySizes]) -> KeySizes:
    return KeySizes(
        tuple(float(each) for each in np.mean([f.counts for f in found], axis=0)),
        min((f.smallest for f in found if f.smallest), default=0),
        float(np.mean([f.absent for f in found])),
    )
