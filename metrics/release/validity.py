"""A release is looked at before it is judged: is it whole, is it a copy, does it hold people as they are?

What the releases of one synthesizer have shown before they were judged: each problem told, none averaged away.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.release.columns import Problem, column_problems, incomparable
from synthrisk.metrics.release.matches import Matched, Verbatim, verbatim
from synthrisk.metrics.release.nearness import CONFIDENCE, Nearness, excess_in_words, made_of_control, nearness
from synthrisk.metrics.tables.tables import Tables, in_order

_FEW_ROWS = 10
_OTHER_SIZE = 10
NOTHING = "no column of the release can be compared with the members"
_EMPTY = ("blank", "constant")  # rules of columns that give nothing away


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
        """The columns that are far off, for which the release is read a second time (``columns.second_reading``)."""
        return tuple(p.column for p in self.problems if p.severity == "far" and p.rule not in ("finer", *_EMPTY))

    @property
    def finer(self) -> tuple[str, ...]:
        """The columns written finer than those of the real records, which the second reading rounds."""
        return tuple(p.column for p in self.problems if p.severity == "far" and p.rule == "finer")

    @property
    def blank(self) -> tuple[str, ...]:
        """The columns of missing cells alone, or of one value, without which the release is read a second time."""
        return tuple(p.column for p in self.problems if p.severity == "far" and p.rule in _EMPTY)

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
    guessed: Collection[str] | None = None,
) -> ReleaseCheck:
    """Look at one release.

    Columns: ``column_problems``; a column with another type of values than among the members is broken, and left out of
    the rest. A release that was made from control records too is broken (``made_of_control``). Rows: a note where there
    are fewer than 10, or a tenth of or ten times as many as members. Rows that equal real records: ``verbatim``. The
    screen for near copies: ``nearness``.

    Args:
        members: The n records that the synthesizer was fitted on, n >= 1, without their identifier.
        control: Real records that it never saw, or None.
        release: The m released rows, m >= 1: the same columns in any order.
        people: How many real people the release was drawn from, where it repeats some (``fresh``); evidence is counted
            in people there, not in rows.
        known: Members and release alone, where they are looked at elsewhere too: what is searched is searched once.
        entities: Whose each record is, members then control records; None: each is somebody else's.
        guessed: The columns that attacks guess, where that is known: a release in which one of them is constant is
            broken, and so is one in which all columns are. Any other constant column is far off: it gives nothing away,
            and ordinary generators make a rare level vanish. None: each may be guessed.

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
    of_columns = [p for c in kept for p in column_problems(tables, c, people)]
    problems += of_columns if guessed is None else _unguessed(of_columns, len(kept), guessed)
    if words := made_of_control(tables):
        problems.append(Problem("control", "", "broken", words))
    found = verbatim(tables)
    return ReleaseCheck(len(release), tuple(problems), found, nearness(tables, found))


def _unguessed(problems: Sequence[Problem], columns: int, guessed: Collection[str]) -> list[Problem]:
    """Return the problems where a constant column that nothing guesses is far off, not broken, beside others."""
    constant = {p.column for p in problems if p.rule == "constant" and p.severity == "broken"}
    apart = constant - set(guessed) if len(constant) < columns else set()
    return [replace(p, severity="far") if p.rule == "constant" and p.column in apart else p for p in problems]


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


AS_EXPECTED = "as expected"
TWICE = ": it is read twice, as it is and brought back to how the real records are written, and the worse counts"
WITHOUT = "; all is measured with the column and without it, and the worse counts"


@dataclass(frozen=True)
class Spread:
    """A number over the releases of a synthesizer: mean, smallest and largest; NaN where no release has it."""

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class ReleaseSummary:
    """The checks of all K x R releases of one synthesizer."""

    releases: int  # number of releases looked at
    rows: Spread  # released rows
    invalid: str  # why measures say nothing of more than half of the releases, in words; empty where they do
    suspicious: str  # why some releases look like copies of members, in words; empty where none does
    blind: str  # why a near copy could not have been seen in some releases, in words; empty where it could
    notes: tuple[str, ...]  # what else is worth knowing, in words
    rows_of_members: Spread  # released rows that equal a member (``_expected``, here and below: how many twins explain)
    rows_of_members_expected: Spread
    rows_of_controls: Spread  # released rows that equal a control record
    rows_of_controls_expected: Spread
    members_released: Spread  # share of the members that occur in the release
    members_released_expected: Spread
    controls_released: Spread  # share of the control records that occur in the release
    controls_released_expected: Spread
    nearer_members: Spread  # share of the members that are nearer to the release than expected (``nearness``)
    nearer_expected: Spread  # what is expected
    nearer_reason: str  # why there is no such share; empty where there is one
    # members in excess in the release that shows most, as a share of all (``Nearness.excess``), with limits that hold
    # for all releases at once; below 0: members that are missing from where strangers are; NaN without control records
    excess_value: float = float("nan")
    excess_lower: float = float("nan")
    excess_upper: float = float("nan")
    whole: int = 0  # number of releases that measures say something of
    left_out: str = ""  # why the others are left out, in words, where at least half are whole

    @property
    def excess(self) -> Estimate:
        """The three numbers as an estimate."""
        return Estimate(self.excess_value, self.excess_lower, self.excess_upper)

    @property
    def excess_words(self) -> str:
        """What the excess amounts to: "as if 12 of 1,000 people had been copied"; empty where it may be chance."""
        return excess_in_words(self.excess)

    @property
    def status(self) -> str:
        """``as expected``, or what is wrong, in words."""
        return "; ".join(filter(None, (self.invalid or self.left_out, self.suspicious))) or AS_EXPECTED


_NUMBERS: dict[str, Callable[[ReleaseCheck], float]] = {
    "rows": lambda c: c.rows,
    "rows_of_members": lambda c: c.verbatim.rows_of_members.count,
    "rows_of_members_expected": lambda c: c.verbatim.rows_of_members.expected,
    "rows_of_controls": lambda c: c.verbatim.rows_of_controls.count if c.verbatim.controls.of else np.nan,
    "rows_of_controls_expected": lambda c: c.verbatim.rows_of_controls.expected if c.verbatim.controls.of else np.nan,
    "members_released": lambda c: c.verbatim.members.share,
    "members_released_expected": lambda c: c.verbatim.members.expected_share,
    "controls_released": lambda c: c.verbatim.controls.share,
    "controls_released_expected": lambda c: c.verbatim.controls.expected_share,
    "nearer_members": lambda c: c.nearness.nearer_members.value,
    "nearer_expected": lambda c: c.nearness.expected,
}


def summarise(checks: Sequence[ReleaseCheck]) -> ReleaseSummary:
    """Combine the checks of all releases of one synthesizer; the order of the releases does not matter but in words.

    A problem of one release is told with the number of releases that have it, however many have not. Where at least
    half of the releases are whole the others are left out, and named. There is at least one check.

    Example:
        >>> from synthrisk.metrics.release.validity import check_release
        >>> members = pd.DataFrame({"age": np.arange(50), "sex": ["f", "m"] * 25})
        >>> others = members.assign(age=members["age"] + 0.5)
        >>> found = summarise([check_release(members, None, r) for r in (others.assign(sex="f"), others)])
        >>> found.invalid, found.whole
        ('', 1)
        >>> found.left_out
        "1 of 2 releases: column 'sex' is constant in the release, but not among the members"
    """
    problems: dict[tuple[str, str, str], list[Problem]] = {}
    for check in checks:
        absent = {p.column for p in check.problems if p.rule == "absent"}  # of which all else follows from that
        for p in check.problems:
            if p.rule == "absent" or p.severity == "broken" or p.column not in absent:
                problems.setdefault((p.severity, p.rule, p.column), []).append(p)
    words: dict[str, list[str]] = {"first": [], "broken": [], "far": [], "note": []}
    for (severity, rule, _), own in problems.items():
        twice = "" if severity != "far" else WITHOUT if rule in _EMPTY else TWICE
        place = "first" if rule == "coarse" else severity
        words[place].append(f"{_counted(len(own), len(checks))}{own[0].words}{twice}")
    whole, broken = sum(not c.invalid for c in checks), told(words["broken"])
    enough = whole_enough([not c.invalid for c in checks])
    excesses = _of_all([c.nearness.excess for c in checks])
    worst = max(excesses, key=_beyond)
    near = [(c.nearness.suspicious, e) for c, e in zip(checks, excesses, strict=True) if c.suspicious and _stands(e)]
    sides = [[words for words, e in near if (e.upper < 0) == fewer] for fewer in (False, True)]  # more members, fewer
    return ReleaseSummary(
        releases=len(checks),
        invalid="" if enough else broken,
        suspicious="; ".join(f"{_counted(len(own), len(checks))}{own[0]}" for own in sides if own),
        blind=next(filter(None, (c.nearness.blind for c in checks)), ""),
        notes=tuple(
            ([f"left out: {broken}"] if enough and broken else [])
            + [each for place in (words["first"], words["broken"][1:], words["far"], words["note"]) for each in place]
        ),
        nearer_reason=next(filter(None, (c.nearness.reason for c in checks)), ""),
        **{name: _spread([of(check) for check in checks]) for name, of in _NUMBERS.items()},
        excess_value=worst.value,
        excess_lower=worst.lower,
        excess_upper=worst.upper,
        whole=whole,
        left_out=broken if enough else "",
    )


def releases_table(summaries: Mapping[str, ReleaseSummary]) -> pd.DataFrame:
    """Return one row a synthesizer: means over its releases, the largest counts, and what is wrong in words."""
    rows = []
    for name, each in summaries.items():
        numbers = {n: getattr(each, n).mean for n in _NUMBERS}
        highest = {f"{n}_highest": getattr(each, n).highest for n in _NUMBERS if not n.endswith("_expected")}
        texts = {n: getattr(each, n) for n in ("status", "invalid", "suspicious", "nearer_reason", "excess_words")}
        texts["notes"] = "; ".join(each.notes)
        excess = {n: getattr(each, n) for n in ("excess_value", "excess_lower", "excess_upper")}
        rows.append({"synthesizer": name, "releases": each.releases} | numbers | highest | excess | texts)
    return pd.DataFrame(rows)


def whole_enough(whole: Sequence[bool]) -> bool:
    """Tell whether at least half of the releases are whole: then the others are left out, and these decide."""
    return 2 * sum(whole) >= len(whole)


def _of_all(excesses: Sequence[Estimate]) -> list[Estimate]:
    """Return the excesses of single releases with intervals widened so that they hold for all releases together."""
    tail = (1 - CONFIDENCE) / 2
    factor = normal_quantile(1 - tail / len(excesses)) / normal_quantile(1 - tail)

    def widened(e: Estimate) -> Estimate:
        lower, upper = e.value - factor * (e.value - e.lower), e.value + factor * (e.upper - e.value)
        return replace(e, lower=max(lower, -1.0), upper=min(upper, 1.0))

    return [e if factor == 1 else widened(e) for e in excesses]


def _stands(excess: Estimate) -> bool:
    """Tell whether a release stands out beside all others; one without control records as it did alone."""
    return bool(np.isnan(excess.value) or excess.lower > 0 or excess.upper < 0)


def _beyond(excess: Estimate) -> tuple[float, float]:
    """Return how far an interval lies beyond 0; where it does not, how much of it does; those without come last."""
    if np.isnan(excess.value):
        return -np.inf, 0.0
    return max(excess.lower, -excess.upper), abs(excess.value)


def _counted(some: int, every: int) -> str:
    return "" if every == 1 else f"{some} of {every} releases: "


def _spread(values: Sequence[float]) -> Spread:
    known = [float(v) for v in values if not np.isnan(v)]
    return Spread(float(np.mean(known)), min(known), max(known)) if known else Spread(*[float("nan")] * 3)
