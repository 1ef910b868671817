"""The groups of entry points in which everything that has a name is found, ours and that of others."""

import sys
from functools import cache
from importlib.metadata import EntryPoints, entry_points

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
