"""The groups of entry points in which everything that has a name is found, ours and that of others.

What is known beforehand of the releases of a reference generator.
"""

import sys
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Literal

METRIC_GROUP = "synthrisk.metrics"
ATTACK_GROUP = "synthrisk.attacks"
SYNTHESIZER_GROUP = "synthrisk.synthesizers"
SOURCE_GROUP = "synthrisk.data"
SECTION_GROUP = "synthrisk.sections"


def points(group: str) -> EntryPoints:
    """Return the entry points of a group; the metadata of what is installed are read once for each search path."""
    return _points(group, tuple(sys.path))


@cache
def _points(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)


Answer = Literal["copy", "near_copy", "leak", "part", "repelled", "ideal", "identifiers", "independent"]
"""The training rows; these, each a little changed; a share of them among new records of the same population; something
of them that is no whole training row, among such new records; such new records without those near to a training row, so
that members are told by what is missing; such new records alone; these with the members' identifiers beside them;
columns that know nothing of each other."""
