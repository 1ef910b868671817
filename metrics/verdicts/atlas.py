"""What each measure sees of leaks of known dose, from many studies in which they were planted. Arithmetic alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import scipy

from synthrisk.metrics.atlas import MOST_ALARMS, Answer
from synthrisk.metrics.intervals.proportions import clopper_pearson
from synthrisk.metrics.release.identifiers import RELEASED, Released
from synthrisk.metrics.score import mean_of_known
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.verdicts.quantities import GROUPS, NOTHING, quantity_of

TARGET, CONFIDENCE = 0.8, 0.95
_QUANTITIES = [(q, "") for q in NOTHING] + [("memorization", group) for group in GROUPS]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Look:
    """What one study said of one leak in one quantity of one measure."""

    table: str
    leak: str  # empty where nothing was planted
    dose: float
    measure: str
    quantity: str
    value: float
    seen: bool | None  # whether the interval is clear of what the quantity is without a leak; None without an interval


def looks_of(
    findings: Sequence[Finding], table: str, leak: str, dose: float, released: Released | None = None
) -> list[Look]:
    """Return a look for each quantity that sets members against control records, where the measure has it.

    Members stand out by what is missing, too: a difference wholly below 0 is seen as one above it is. A true-positive
    rate counts both sides itself.

    ``released``: what the columns that nothing attacks hold of real people, where there are such columns.
    """
    looks = []
    if released is not None:
        share = 0.0 if isnan(released.share) else released.share
        looks.append(Look(table, leak, dose, RELEASED, "memorization", share, bool(released.risk)))
    for finding in findings:
        for quantity, group in _QUANTITIES:
            found = quantity_of(finding, quantity, group)
            if isnan(found.value) and isnan(found.lower):
                continue
            without = NOTHING[quantity]
            clear = found.lower > without or (without == 0 and found.upper < 0)
            seen = None if isnan(found.lower) else bool(clear)
            name = f"{quantity}@{group}" if group else quantity
            looks.append(Look(table, leak, dose, finding.measure.label, name, found.value, seen))
    return looks


def answers(looks: Sequence[Look], target: float = TARGET, most: float = MOST_ALARMS) -> list[Answer]:
    """Return what many studies say, a line for each table, leak, measure and quantity.

    A study sees a leak where its own interval is clear of what the quantity is without one (``looks_of``). The smallest
    dose is the smallest that ``target`` of the studies see; it is given unless false alarms, leaks seen where nothing
    was planted, are shown to come in more than ``most`` of the looks (the Clopper-Pearson interval of their rate, as if
    they were independent, lies above it). A study in which a quantity has no interval does not see. The
    full dose is the largest that was planted.
    """
    own: dict[tuple[str, str, str], dict[str, list[Look]]] = {}
    for look in looks:
        own.setdefault((look.table, look.measure, look.quantity), {}).setdefault(look.leak, []).append(look)
    studies = _studies(looks)
    return [
        _answer(by_leak[leak], by_leak.get("", []), studies[key[0], leak], target, most)
        for key, by_leak in own.items()
        for leak in by_leak
        if leak
    ]


def _studies(looks: Sequence[Look]) -> dict[tuple[str, str], dict[float, int]]:
    """Return how many studies planted each dose of each leak: the most looks that any measure has of it."""
    counts: dict[tuple[str, str], dict[tuple[float, str, str], int]] = {}
    for x in looks:
        own = counts.setdefault((x.table, x.leak), {})
        own[x.dose, x.measure, x.quantity] = own.get((x.dose, x.measure, x.quantity), 0) + 1
    return {
        key: {dose: max(n for (d, *_), n in own.items() if d == dose) for dose, *_ in own}
        for key, own in counts.items()
    }


def _answer(
    planted: Sequence[Look], none: Sequence[Look], studies: dict[float, int], target: float, most: float
) -> Answer:
    first, full = planted[0], max(studies)
    shares = {dose: sum(x.seen is True for x in planted if x.dose == dose) / n for dose, n in studies.items()}
    quiet = [x.seen for x in none if x.seen is not None]
    alarms = clopper_pearson(sum(quiet) / len(quiet), len(quiet), CONFIDENCE) if quiet else None
    loud = alarms is None or alarms.lower > most
    enough = [] if loud else [dose for dose, share in shares.items() if share >= target - _ROUNDING]
    return Answer(
        first.table,
        first.leak,
        first.measure,
        first.quantity,
        min(studies.values()),
        min(enough, default=nan),
        shares[full],
        mean_of_known([x.value for x in planted if x.dose == full]),
        mean_of_known([x.value for x in none]),
        _rank([*none, *planted]),
        *((alarms.value, alarms.lower, alarms.upper) if alarms else (nan, nan, nan)),
        len(quiet),
    )


def _rank(looks: Sequence[Look]) -> float:
    pairs = [(x.dose, x.value) for x in looks if not isnan(x.value)]
    if any(len({pair[side] for pair in pairs}) < 2 for side in (0, 1)):
        return nan
    return float(scipy.stats.spearmanr(*np.transpose(pairs)).statistic)
