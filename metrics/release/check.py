"""A release is looked at before it is judged: is it whole, is it a copy, does it hold people as they are?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.release.columns import Problem, column_problems, incomparable
from synthrisk.metrics.release.nearness import Nearness, nearness
from synthrisk.metrics.release.verbatim import Matched, Verbatim, verbatim
from synthrisk.metrics.tables.tables import Tables, in_order

_FEW_ROWS = 10
_OTHER_SIZE = 10
NOTHING = "no column of the release can be compared with the members"


@dataclass(frozen=True)
class ReleaseCheck:
    """What a look at one release has shown, whatever is judged."""

    rows: int  # number of released rows
    problems: tuple[Problem, ...]  # what is wrong with it, in an order that does not depend on that of the columns
    verbatim: Verbatim  # released rows that equal a real record in all columns that can be compared
    nearness: Nearness  # whether members lie nearer to it than chance explains

    @property
    def invalid(self) -> str:
        """Why measures say nothing of this release, in words; empty where they do."""
        return told([p.words for p in self.problems if p.severity == "broken"])

    @property
    def far(self) -> tuple[str, ...]:
        """The columns that are far off, for which the release is read a second time (``readings.second_reading``)."""
        return tuple(p.column for p in self.problems if p.severity == "far" and p.rule not in ("finer", "blank"))

    @property
    def finer(self) -> tuple[str, ...]:
        """The columns written finer than those of the real records, which the second reading rounds."""
        return tuple(p.column for p in self.problems if p.severity == "far" and p.rule == "finer")

    @property
    def blank(self) -> tuple[str, ...]:
        """The columns of missing cells alone, without which the release is read a second time."""
        return tuple(p.column for p in self.problems if p.rule == "blank")

    @property
    def suspicious(self) -> bool:
        """Whether it looks like a copy of members, or of members in disguise."""
        return bool(self.nearness.suspicious)


def check_release(
    members: pd.DataFrame,
    control: pd.DataFrame | None,
    release: pd.DataFrame,
    people: int | None = None,
    known: Tables | None = None,
    entities: np.ndarray | None = None,
) -> ReleaseCheck:
    """Look at one release.

    Columns: ``column_problems``; a column with another type of values than among the members is broken, and left out of
    the rest. Rows: a note where there are fewer than 10, or a tenth of or ten times as many as members. Rows that equal
    real records: ``verbatim``. The screen for near copies: ``nearness``.

    Args:
        members: The n records that the synthesizer was fitted on, n >= 1, without their identifier.
        control: Real records that it never saw, or None.
        release: The m released rows, m >= 1: the same columns in any order.
        people: How many real people the release was drawn from, where it repeats some (``fresh``); evidence is counted
            in people there, not in rows.
        known: Members and release alone, where they are looked at elsewhere too: what is searched is searched once.
        entities: Whose each record is, members then control records; None: each is somebody else's.

    Raises:
        InputError: A table is empty or has other columns than ``members``.

    Example:
        >>> members = pd.DataFrame({"age": range(50), "sex": ["f", "m"] * 25})
        >>> check_release(members, None, members.assign(sex="f")).invalid
        "column 'sex' is constant in the release, but not among the members"
        >>> found = check_release(members, None, members)
        >>> found.verbatim.members.share, found.suspicious, found.invalid
        (1.0, True, '')
    """
    control = None if control is None or not len(control) else control
    whole = Tables(members, release, control)
    members, release, control = whole.real, whole.synthetic, whole.control
    columns = in_order(whole.columns)
    refused = {c: incomparable(members[c], release[c], known) for c in columns}
    problems = [*_rows(len(members), len(release)), *filter(None, refused.values())]
    blank = [c for c in columns if refused[c] is None and release[c].isna().all() and members[c].notna().any()]
    problems += [p for c in blank for p in column_problems(Tables(members[[c]], release[[c]]), c, people)]
    kept = [c for c in columns if refused[c] is None and c not in blank]
    if not kept:
        problems += [] if any(refused.values()) else [Problem("blank", "", "broken", NOTHING)]
        return ReleaseCheck(len(release), tuple(problems), *_nothing(members, control, release))
    if known is not None and len(kept) == len(columns):
        tables = known.without_groups()
    else:
        others = None if control is None else control[kept]
        tables = Tables(members[kept], release[kept], others, entities=entities)
        tables = tables if control is None else tables.with_control()
    problems += [p for c in kept for p in column_problems(tables, c, people)]
    found = verbatim(tables)
    return ReleaseCheck(len(release), tuple(problems), found, nearness(tables, found))


def told(texts: list[str]) -> str:
    """Return the first of some texts and how many more there are; empty where there is none."""
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return texts[0] + more if texts else ""


def as_plain(check: ReleaseCheck) -> dict[str, Any]:
    """Return the check as plain values, for JSON."""
    return asdict(check)


def from_plain(values: Mapping[str, Any]) -> ReleaseCheck:
    """Return the check that ``as_plain`` has made plain.

    Example:
        >>> table = pd.DataFrame({"x": [1, 2, 2]})
        >>> check = check_release(table, None, table)
        >>> from_plain(as_plain(check)) == check
        True
    """
    near = dict(values["nearness"])
    return ReleaseCheck(
        values["rows"],
        tuple(Problem(**each) for each in values["problems"]),
        Verbatim(**{name: Matched(**each) for name, each in values["verbatim"].items()}),
        Nearness(**near | {name: Estimate(**near[name]) for name in ("nearer_members", "excess")}),
    )


def _rows(members: int, rows: int) -> list[Problem]:
    if rows >= _FEW_ROWS and members <= rows * _OTHER_SIZE and rows <= members * _OTHER_SIZE:
        return []
    return [Problem("rows", "", "note", f"the release has {rows:,} rows, the part it was made from {members:,}")]


def _nothing(members: pd.DataFrame, control: pd.DataFrame | None, release: pd.DataFrame) -> tuple[Verbatim, Nearness]:
    sizes = len(release), len(release), len(members), 0 if control is None else len(control), len(members)
    nothing = Estimate(float("nan"), float("nan"), float("nan"), note=NOTHING)
    return Verbatim(*(Matched(0, n, 0.0) for n in sizes)), Nearness(nothing, float("nan"), NOTHING, "", nothing)
