"""What the releases of one synthesizer have shown before they were judged: each problem told, none averaged away."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.distributions import normal_quantile
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.release.check import ReleaseCheck, told
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.release.nearness import CONFIDENCE, excess_in_words

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
        >>> from synthrisk.metrics.release.check import check_release
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
        for p in check.problems:
            problems.setdefault((p.severity, p.rule, p.column), []).append(p)
    words: dict[str, list[str]] = {"first": [], "broken": [], "far": [], "note": []}
    for (severity, rule, _), own in problems.items():
        twice = "" if severity != "far" else WITHOUT if rule == "blank" else TWICE
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
