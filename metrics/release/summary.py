"""What the releases of one synthesizer have shown before they were judged: each problem told, none averaged away."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.release.check import ReleaseCheck, told
from synthrisk.metrics.release.columns import Problem

AS_EXPECTED = "as expected"


@dataclass(frozen=True)
class Spread:
    """A number over the releases of a synthesizer: mean, smallest and largest; NaN where no release has it."""

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class ReleaseSummary:
    """The checks of all K x R releases of one synthesizer.

    Attributes:
        releases: Number of releases looked at.
        rows: Released rows.
        invalid: Why measures say nothing of some releases, in words; empty where they do of all.
        suspicious: Why some releases look like copies of members, in words; empty where none does.
        blind: Why a near copy could not have been seen in some releases, in words; empty where it could.
        notes: What else is worth knowing, in words.
        rows_of_members: Released rows that equal a member.
        rows_of_members_expected: How many twins explain.
        rows_of_controls: Released rows that equal a control record.
        rows_of_controls_expected: How many twins explain.
        members_released: Share of the members that occur in the release.
        members_released_expected: Share that twins explain.
        controls_released: Share of the control records that occur in the release.
        controls_released_expected: Share that twins explain.
        nearer_members: Share of the members that are nearer to the release than expected (``nearness``).
        nearer_expected: What is expected.
        nearer_reason: Why there is no such share; empty where there is one.
    """

    releases: int
    rows: Spread
    invalid: str
    suspicious: str
    blind: str
    notes: tuple[str, ...]
    rows_of_members: Spread
    rows_of_members_expected: Spread
    rows_of_controls: Spread
    rows_of_controls_expected: Spread
    members_released: Spread
    members_released_expected: Spread
    controls_released: Spread
    controls_released_expected: Spread
    nearer_members: Spread
    nearer_expected: Spread
    nearer_reason: str

    @property
    def status(self) -> str:
        """``as expected``, or what is wrong, in words."""
        return "; ".join(filter(None, (self.invalid, self.suspicious))) or AS_EXPECTED


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

    A problem of one release is told with the number of releases that have it, however many have not.

    Args:
        checks: One a release, at least one.

    Example:
        >>> from synthrisk.metrics.release.check import check_release
        >>> members = pd.DataFrame({"age": np.arange(50), "sex": ["f", "m"] * 25})
        >>> others = members.assign(age=members["age"] + 0.5)
        >>> found = summarise([check_release(members, None, r) for r in (others.assign(sex="f"), others)])
        >>> found.invalid
        "1 of 2 releases: column 'sex' is constant in the release, but not among the members"
    """
    problems: dict[tuple[str, str, str], list[Problem]] = {}
    for check in checks:
        for p in check.problems:
            problems.setdefault((p.severity, p.rule, p.column), []).append(p)
    words = {
        severity: [
            f"{_counted(len(own), len(checks))}{own[0].words}" for (s, *_), own in problems.items() if s == severity
        ]
        for severity in ("broken", "note")
    }
    copies = [c.nearness.suspicious for c in checks if c.suspicious]
    return ReleaseSummary(
        releases=len(checks),
        invalid=told(words["broken"]),
        suspicious=f"{_counted(len(copies), len(checks))}{copies[0]}" if copies else "",
        blind=next(filter(None, (c.nearness.blind for c in checks)), ""),
        notes=tuple(words["broken"][1:] + words["note"]),
        nearer_reason=next(filter(None, (c.nearness.reason for c in checks)), ""),
        **{name: _spread([of(check) for check in checks]) for name, of in _NUMBERS.items()},
    )


def releases_table(summaries: Mapping[str, ReleaseSummary]) -> pd.DataFrame:
    """Return one row a synthesizer: means over its releases, the largest counts, and what is wrong in words."""
    return pd.DataFrame([_row(name, each) for name, each in summaries.items()])


def _row(name: str, each: ReleaseSummary) -> dict[str, Any]:
    numbers = {n: getattr(each, n).mean for n in _NUMBERS}
    highest = {f"{n}_highest": getattr(each, n).highest for n in _NUMBERS if not n.endswith("_expected")}
    texts = {n: getattr(each, n) for n in ("status", "invalid", "suspicious", "nearer_reason")}
    return (
        {"synthesizer": name, "releases": each.releases} | numbers | highest | texts | {"notes": "; ".join(each.notes)}
    )


def _counted(some: int, every: int) -> str:
    return "" if every == 1 else f"{some} of {every} releases: "


def _spread(values: Sequence[float]) -> Spread:
    known = [float(v) for v in values if not np.isnan(v)]
    return Spread(float(np.mean(known)), min(known), max(known)) if known else Spread(*[float("nan")] * 3)
