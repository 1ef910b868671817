"""Rows of a release that equal a real record in all columns, beside how many twins would explain.

Control records must be strangers: people who are neither members nor the release.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.distributions import none_drawn
from synthrisk.metrics.intervals.proportions import expected_share, share_difference
from synthrisk.metrics.tables.codes import joint_codes, pack
from synthrisk.metrics.tables.tables import Tables, in_order


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

    def values(column: str) -> int:
        return int(np.count_nonzero(np.bincount(tables.codes([column]).tables[0])))

    return [column for column in tables.columns if 2 * values(column) <= len(tables.real)]


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


FEW = 10
"""Members a control record from which a direct call warns that control records are few."""
TOO_FEW = 100
"""Members a control record from which control records are too few for a value."""
_LEAST = 20  # control records: fewer are no group, where they are few beside the members
_CONFIDENCE = 0.998  # two-sided: one-sided p < .001
_FEWEST = 5
_MOST = 0.5


@dataclass(frozen=True)
class Equal:
    """Control records that equal a record of another table."""

    count: int  # how many of them do
    of: int  # number of control records
    expected: float  # how many would, if they were strangers of the same population
    significant: bool  # whether there are more than chance explains, p < .001

    @property
    def beyond(self) -> float:
        """Share of the control records that twins do not explain, in [-1, 1]."""
        return (self.count - self.expected) / self.of


@dataclass(frozen=True)
class Strangers:
    """Whether control records are people of their own."""

    members: Equal  # control records that equal a member in all columns but the identifier
    released: Equal | None  # control records that equal a released row; None where no release was given
    same_identifier: int  # control records that have the identifier of a member; 0 without identifier
    refuse: str  # why no study may be made with them, in a sentence; empty where one may
    warning: str  # what is to be told beside the study's numbers, in a sentence; empty where nothing is


def strangers(
    members: pd.DataFrame,
    control: pd.DataFrame,
    release: pd.DataFrame | None = None,
    identifier: str | int | None = None,
) -> Strangers:
    """Count the control records that are members, or the release itself, under another name.

    Some strangers are alike. ``expected`` is their number by the twins within the members: the chance that a person has
    a twin among as many other people as there are members, or released rows (``chance_of_twin``), times the number of
    control records. So a table of few columns, in which most people have a twin, is not refused.

    refuse: more than half of the control records equal a member (or a released row) beyond that number, and more than
    chance explains; or more than half have a member's identifier. warning: fewer, but at least 5 beyond that number and
    more than chance explains: Newcombe's interval of observed minus expected share, of c control records and n members,
    lies above 0 at a one-sided level of .001; or some have a member's identifier. (A binomial test would take the
    expected share for known.)

    Args:
        members: The n records that the release was made from, n >= 1.
        control: The c records given as held out, c >= 1, with the same columns.
        release: The released rows, with the same columns but the identifier, or None.
        identifier: The column of members and control records that names the entity of each record, or None.

    Raises:
        InputError: A table is empty, has other columns, or its values are of other types.

    Example:
        >>> members = pd.DataFrame({"age": range(40), "sex": ["f", "m"] * 20})
        >>> found = strangers(members, members[:30])
        >>> found.members.count, found.members.expected, found.refuse
        (30, 0.0, '30 of 30 control records equal a member in all columns, 0.0 expected: they are no strangers')
        >>> strangers(members, members.assign(age=members["age"] + 40)).warning
        ''
    """
    nameless = members if identifier is None else members.drop(columns=identifier, errors="ignore")
    of_people = Tables.identified(members, nameless if release is None else release, control, identifier)
    assert of_people.control is not None  # noqa: S101 - given above
    own, other = of_people.real, of_people.control
    tables = [own, other, *([] if release is None else [of_people.synthetic])]
    codes = pack([joint_codes([t[c] for t in tables])[0] for c in in_order(of_people.columns)])
    sizes = np.bincount(codes.tables[0], minlength=codes.size)[codes.tables[0]]
    found = [_equal(codes.tables[1], table, sizes) for table in (codes.tables[0], *codes.tables[2:])]
    same = 0 if identifier is None else _with_identifier(members[identifier], control[identifier])
    refusals, warnings = in_words(found, same)
    return Strangers(found[0], found[1] if release is not None else None, same, refusals, warnings)


def told_of_control(
    members: pd.DataFrame, control: pd.DataFrame, identifier: str | int | None = None
) -> tuple[str, str]:
    """Return why nothing can be compared with these control records, and what is to be told; empty where nothing is.

    Refused: what ``strangers`` refuses; fewer than one control record for 100 members, or fewer than 20 and fewer than
    one for 10. Told: what ``strangers`` tells; fewer than one for 10 members. Tried with an exact copy (Adult), for
    which ``membership_inference_risk`` should be 1: of 1,000 members it is .35, .72, .93, .98 and 1.00 with 20, 50,
    100, 200 and 600 control records, of 3,000 members .00 and .15 with 10 and 20, of 200 members .75 and 1.00 with 20
    and 50. What ``membership`` reaches at most is cut off too, at min(1, claim_share/S), S the share of members among
    the targets.

    Example:
        >>> members = pd.DataFrame({"x": range(400)})
        >>> told_of_control(members, members[:3] + 1000)[0]
        '3 control records for 400 members are too few: at least 20 are needed'
    """
    n, c = len(members), len(control)
    found = strangers(members, control, None, identifier)
    least = max(int(np.ceil(n / TOO_FEW)), min(_LEAST, int(np.ceil(n / FEW))))
    words = f"{c:,} control records for {n:,} members are"
    refused = f"{words} too few: at least {least:,} are needed" if c < least else ""
    few = f"{words} few: a copy of the members may read as far less than 1" if c * FEW < n and not refused else ""
    refusals, told = ("; ".join(filter(None, pair)) for pair in ((refused, found.refuse), (few, found.warning)))
    return refusals, told


def _equal(control: np.ndarray, among: np.ndarray, sizes: np.ndarray) -> Equal:
    return equal(int(np.isin(control, among).sum()), len(control), len(among), sizes)


def equal(count: int, c: int, among: int, sizes: np.ndarray) -> Equal:
    """Return whether more of c control records equal one of so many records than twins explain.

    ``sizes`` are of each member how many members equal it, (n,) in any order.
    """
    n, chance = len(sizes), chance_of_twin(sizes, among)
    seen, due = expected_share(count, c, _CONFIDENCE), expected_share(chance * n, n, _CONFIDENCE)
    significant = share_difference(seen, due).lower > 0
    return Equal(count, c, chance * c, bool(significant))


def _with_identifier(members: pd.Series, control: pd.Series) -> int:
    codes, _ = joint_codes([members, control])
    mine, other = codes.tables
    return int(np.isin(other[other < codes.size - 1], mine).sum())  # the last code is a missing name


def in_words(found: list[Equal], same: int) -> tuple[str, str]:
    """Return why no study may be made, and what is to be told; empty where nothing is."""
    c = found[0].of
    refusals: list[str] = []
    warnings: list[str] = []
    for each, whom in zip(found, ("a member", "a released row"), strict=False):
        words = f"{each.count:,} of {c:,} control records equal {whom} in all columns, {each.expected:,.1f} expected"
        if each.significant and each.beyond > _MOST:
            refusals.append(words)
        elif each.significant and each.count - each.expected >= _FEWEST:
            warnings.append(words)
    if same:
        words = f"{same:,} of {c:,} control records have the identifier of a member"
        (refusals if same > _MOST * c else warnings).append(words)
    verdicts = ("they are no strangers", "they may be no strangers")
    refused, told = (f"{'; '.join(t)}: {v}" if t else "" for t, v in zip((refusals, warnings), verdicts, strict=True))
    return refused, told
