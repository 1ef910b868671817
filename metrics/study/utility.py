"""What a study says of how useful a synthesizer's releases are: value, interval, and the ceiling beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import Estimate, across_repetitions
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.said import OfUtility


@dataclass(frozen=True)
class Usefulness:
    """One line of the table of utility."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    measure: Measure
    # utility of the releases against the records that they were fitted on, with interval over repetitions
    value: Estimate
    thinned: Estimate  # the same at the number of rows that the ceiling has
    ceiling: Estimate  # utility of records that the synthesizer never saw, in place of a release (see ``ceiling``)
    releases: tuple[float, ...] = ()  # value of each release, in order of repetition and fold
    # means over releases of what the metric says besides: of the releases, and of the ceiling
    details: dict[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""  # why there is no value, or an empty string

    @property
    def at_one_size(self) -> Estimate:
        """The value that may be compared with the ceiling, and between synthesizers; the value where there is none."""
        return self.value if np.isnan(self.thinned.value) else self.thinned


def usefulness(
    synthesizer: str, role: str, measure: Measure, found: Mapping[tuple[int, int], OfUtility], confidence: float = 0.95
) -> Usefulness:
    """Return the utility of one synthesizer, from what is said of each release by repetition and fold."""
    shape = tuple(1 + max(place[i] for place in found) for i in (0, 1))
    tables = np.full((3, *shape), np.nan)
    for place, each in found.items():
        ceiling = each.ceiling
        tables[:, *place] = each.value, *((np.nan, np.nan) if ceiling is None else (ceiling.thinned, ceiling.value))
    value, thinned, reached = (_within(across_repetitions(table, confidence)) for table in tables)
    reason = next((each.reason for each in found.values() if each.reason), "")
    in_order = [found[place] for place in sorted(found)]
    own, others = [each.details for each in in_order], [each.ceiling.details for each in in_order if each.ceiling]
    names = dict.fromkeys(name for each in own for name in each)
    means = {name: (_mean(own, name), _mean(others, name)) for name in names}
    return Usefulness(
        synthesizer, role, measure, value, thinned, reached, tuple(tables[0].ravel().tolist()), means, reason
    )


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


def _mean(every: Sequence[dict[str, float]], name: str) -> float:
    """Return the mean over the releases of which it is known."""
    known = [each[name] for each in every if name in each and not np.isnan(each[name])]
    return float(np.mean(known)) if known else float("nan")
