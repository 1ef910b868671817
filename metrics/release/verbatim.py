"""Rows of a release that equal a real record in all columns, beside how many twins would explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.intervals.distributions import none_drawn
from synthrisk.metrics.tables.tables import Tables


@dataclass(frozen=True)
class Matched:
    """How many of some records have an equal one in another table."""

    count: float  # number of records that have one, or its mean over draws
    of: int  # number of records looked at
    expected: float  # number that would have one if the release held other people of the same population

    @property
    def share(self) -> float:
        """Share of the records that have an equal one, in [0, 1]; NaN where there are no records."""
        return self.count / self.of if self.of else float("nan")

    @property
    def expected_share(self) -> float:
        """Share that would have one, in [0, 1]; NaN where there are no records."""
        return self.expected / self.of if self.of else float("nan")


@dataclass(frozen=True)
class Verbatim:
    """Released rows that equal real records in all columns, counted from both sides.

    ``members_thinned`` is the mean over draws of at most as many released rows as there are other real records: the
    most for which ``chance_of_twin`` is no extrapolation.
    """

    rows_of_members: Matched  # released rows that equal a member
    rows_of_controls: Matched  # released rows that equal a control record
    members: Matched  # members that occur in the release
    controls: Matched  # control records that occur in the release
    members_thinned: Matched  # members that occur in such a draw


def verbatim(tables: Tables, columns: Sequence[str] | None = None) -> Verbatim:
    """Count the released rows that equal a real record in all columns, and the real records that occur in the release.

    With ``columns``, rows are equal that are so in these.

    Values are compared as in ``codes.joint_codes``. Some people are alike: ``expected`` is what ``chance_of_twin`` says
    of as many other people as there are rows. ``tables`` are real records with ``groups`` (1 member, 0 control record;
    all are members without groups) and the release; where there are no control records, theirs are counts of 0.

    Example:
        >>> import pandas as pd
        >>> real = pd.DataFrame({"x": [1, 1, 2, 3]})
        >>> found = verbatim(Tables(real, pd.DataFrame({"x": [1, 3, 9]}), groups=np.array([1, 0, 1, 1])))
        >>> found.rows_of_members.count, found.rows_of_controls.count, found.members.count, found.controls.count
        (2, 1, 2, 1)
        >>> round(found.rows_of_members.expected_share, 3)  # 1 in a twin: two of the four people have one
        0.5
    """
    rows = tables.codes(tables.columns if columns is None else columns)
    real, released = rows.tables
    groups = np.ones(len(real), dtype=int) if tables.groups is None else tables.groups
    mine, other = real[groups == 1], real[groups == 0]
    people = np.concatenate([mine, other])
    sizes = np.bincount(people, minlength=rows.size)[people]

    def matched(some: np.ndarray, among: np.ndarray) -> Matched:
        hits = int(np.isin(some, among).sum())
        return Matched(hits, len(some), len(some) * chance_of_twin(sizes, len(among)))

    drawn = min(len(released), len(real) - 1)
    alike = np.bincount(released, minlength=rows.size)[mine]
    occur = float((1 - none_drawn(alike, len(released), drawn)).sum())
    return Verbatim(
        rows_of_members=matched(released, mine),
        rows_of_controls=matched(released, other),
        members=matched(mine, released),
        controls=matched(other, released),
        members_thinned=Matched(occur, len(mine), len(mine) * chance_of_twin(sizes, drawn)),
    )


def shared_columns(tables: Tables) -> list[str]:
    """Return the columns of which at most half as many values as records are there: whose values people share.

    Example:
        >>> import pandas as pd
        >>> real = pd.DataFrame({"sex": ["f", "m", "f", "m"], "weight": [51.2, 80.1, 62.9, 77.0]})
        >>> shared_columns(Tables(real, real))
        ['sex']
    """
    return [c for c in tables.columns if 2 * len(np.unique(tables.codes([c]).tables[0])) <= len(tables.real)]


def chance_of_twin(sizes: np.ndarray, among: int) -> float:
    """Return the chance that a person has a twin among so many other people, as the real records show it.

    Mean over the N real records of 1 - C(N - s, k)/C(N - 1, k), s the number of records that equal the record: the
    chance that one of its s - 1 twins is among k others drawn without replacement. For k <= N - 1 the estimate is
    unbiased (rarefaction; Hurlbert 1971, doi:10.2307/1934145); a larger k is taken as N - 1, so that the chance is too
    small.

    Args:
        sizes: (N,) for each real record, how many real records equal it, itself included.
        among: k, how many other people are looked at; the chance is 0 where there is nobody else.

    Example:
        >>> round(chance_of_twin(np.array([2, 2, 1, 1]), 1), 4)  # one of three others, for half of the people
        0.1667
    """
    n, drawn = len(sizes), min(among, len(sizes) - 1)
    if drawn < 1:
        return 0.0
    levels, counts = np.unique(sizes, return_counts=True)
    return float(np.average(1 - none_drawn(levels - 1, n - 1, drawn), weights=counts))
