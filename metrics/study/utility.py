"""What a study says of how useful a synthesizer's releases are: value, interval, and the ceiling beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import Estimate, across_repetitions
from synthrisk.metrics.metric import Score
from synthrisk.metrics.study.ledger import Measure

_COMPARED = ("ceiling", "thinned", "ceiling_rows")


@dataclass(frozen=True)
class Usefulness:
    """One line of the table of utility.

    Attributes:
        synthesizer: Name.
        role: ``synthesizer`` or ``reference``.
        measure: What was measured.
        value: Utility of the releases against the records that they were fitted on, with interval over repetitions.
        thinned: The same at the number of rows that the ceiling has.
        ceiling: Utility of records that the synthesizer never saw, in place of a release (see ``ceiling``).
        releases: Value of each release, in order of repetition and fold.
        details: Means over releases of what the metric says besides: of the releases, and of the ceiling.
        reason: Why there is no value, or an empty string.
    """

    synthesizer: str
    role: str
    measure: Measure
    value: Estimate
    thinned: Estimate
    ceiling: Estimate
    releases: tuple[float, ...] = ()
    details: dict[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""

    @property
    def at_one_size(self) -> Estimate:
        """The value that may be compared with the ceiling, and between synthesizers; the value where there is none."""
        return self.value if np.isnan(self.thinned.value) else self.thinned


def utility_values(score: Score) -> dict[str, object]:
    """Return what is kept of the score of one release."""
    return {"value": score.value, "details": score.details, "reason": score.reason or ""}


def usefulness(
    synthesizer: str,
    role: str,
    measure: Measure,
    found: Mapping[tuple[int, int], Mapping[str, object]],
    confidence: float = 0.95,
) -> Usefulness:
    """Return the utility of one synthesizer.

    Args:
        synthesizer: Name.
        role: ``synthesizer`` or ``reference``.
        measure: What was measured.
        found: ``utility_values`` of each release, by repetition and fold.
        confidence: Confidence level of the intervals.
    """
    shape = tuple(1 + max(place[i] for place in found) for i in (0, 1))
    cubes = {name: np.full(shape, np.nan) for name in ("value", "thinned", "ceiling")}
    for place, each in found.items():
        for name, number in {**_details(each), "value": each["value"]}.items():
            if name in cubes:
                cubes[name][place] = number
    value, thinned, ceiling = (_within(across_repetitions(cube, confidence)) for cube in cubes.values())
    reason = next((str(each["reason"]) for each in found.values() if each["reason"]), "")
    every = [_details(each) for _, each in sorted(found.items())]
    means = {name: (_mean(every, name), _mean(every, f"ceiling_{name}")) for name in _own_names(every)}
    return Usefulness(synthesizer, role, measure, value, thinned, ceiling, tuple(cubes["value"].ravel()), means, reason)


def utility_table(findings: Sequence[Usefulness]) -> pd.DataFrame:
    """Return utility as one table, a row a synthesizer and measure."""
    rows = [
        {"synthesizer": f.synthesizer, "role": f.role, "measure": f.measure.key}
        | {"utility": f.value.value, "utility_lower": f.value.lower, "utility_upper": f.value.upper}
        | {"utility_ceiling": f.ceiling.value, "utility_thinned": f.thinned.value}
        | {"note": "; ".join(filter(None, (f.value.note, f.reason)))}
        for f in findings
    ]
    return pd.DataFrame(rows)


def _within(found: Estimate) -> Estimate:
    """Return an estimate whose interval ends where utilities do: at 0 and 1."""
    return replace(found, lower=float(np.clip(found.lower, 0, 1)), upper=float(np.clip(found.upper, 0, 1)))


def _details(found: Mapping[str, object]) -> dict[str, float]:
    details = found["details"]
    assert isinstance(details, dict)  # noqa: S101 - utility_values
    return details


def _own_names(every: Sequence[dict[str, float]]) -> list[str]:
    names = dict.fromkeys(name for each in every for name in each)
    return [n for n in names if n not in _COMPARED and not n.startswith("ceiling_")]


def _mean(every: Sequence[dict[str, float]], name: str) -> float:
    """Return the mean over the releases of which it is known."""
    known = [each[name] for each in every if name in each and not np.isnan(each[name])]
    return float(np.mean(known)) if known else float("nan")
