"""What the releases of one synthesizer have shown before they were judged: each problem told, none averaged away."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
    """The checks of all K x R releases of one synthesizer."""

    releases: int  # number of releases looked at
    rows: Spread  # released rows
    invalid: str  # why measures say nothing of some releases, in words; empty where they do of all
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

    A problem of one release is told with the number of releases that have it, however many have not. There is at least
    one check.

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
    words: dict[str, list[str]] = {"broken": [], "note": []}
    for (severity, *_), own in problems.items():
        words[severity].append(f"{_counted(len(own), len(checks))}{own[0].words}")
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
    rows = []
    for name, each in summaries.items():
        numbers = {n: getattr(each, n).mean for n in _NUMBERS}
        highest = {f"{n}_highest": getattr(each, n).highest for n in _NUMBERS if not n.endswith("_expected")}
        texts = {n: getattr(each, n) for n in ("status", "invalid", "suspicious", "nearer_reason")}
        texts["notes"] = "; ".join(each.notes)
        rows.append({"synthesizer": name, "releases": each.releases} | numbers | highest | texts)
    return pd.DataFrame(rows)


def _counted(some: int, every: int) -> str:
    return "" if every == 1 else f"{some} of {every} releases: "


def _spread(values: Sequence[float]) -> Spread:
    known = [float(v) for v in values if not np.isnan(v)]
    return Spread(float(np.mean(known)), min(known), max(known)) if known else Spread(*[float("nan")] * 3)
