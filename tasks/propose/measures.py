"""The measures that a first study of a table needs, limits on them, and keys coarse enough to be looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.conf.study import Bootstrap, Data
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.metrics.atlas import covering, most_alike, shape_of, shipped
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.tables.coarsen import binned
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.verdicts.quantities import EXPOSED, NOTHING, Limited
from synthrisk.metrics.verdicts.verdicts import quantity_to_limit

ALONE = 0.5
"""Share of the records alone with their key up to which keys are looked up."""
_STEPS = ((5, 20), (4, 10), (3, 6), (2, 4))  # parts of numbers, and levels kept of categories


@dataclass(frozen=True)
class LookUp:
    """Keys that can be looked up."""

    columns: tuple[str, ...]  # the quasi-identifiers
    parts: int  # parts of numbers
    bins: Mapping[str, int] = field(default_factory=dict)  # parts or levels of the columns that are coarser


def look_up(table: pd.DataFrame, known: Sequence[str]) -> LookUp:
    """Return the finest keys by which at most half of the records are alone; at last with fewer columns."""
    columns = list(known)
    while True:
        for parts, levels in _STEPS:
            found = _coarse(table, columns, parts, levels)
            if singled_out(table, columns, found.bins) <= ALONE:
                return found
        if len(columns) < 2:
            return found
        columns.remove(max(columns, key=lambda name: table[name].nunique()))


def _coarse(table: pd.DataFrame, columns: Sequence[str], parts: int, levels: int) -> LookUp:
    bins = {name: parts if kind(table[name]) == "numeric" else levels for name in columns}
    return LookUp(tuple(columns), parts, {name: n for name, n in bins.items() if table[name].nunique() > n})


def singled_out(table: pd.DataFrame, keys: Sequence[str], bins: Mapping[str, int]) -> float:
    """Return the share of records that have their key alone."""
    if not keys:
        return 0.0
    tables = binned(Tables(table, table), keys, [], bins, "quantile")
    own = tables.codes(keys).tables[0]
    return float((pd.Series(own).groupby(own).transform("size") == 1).mean())


RECOMMENDED = (
    "zero_cap",
    "rapid",
    "singling_out",
    "common_rows_proportion",
    "membership",
    "distance_to_closest_record",
    "accuracy",
)
"""The measures of a first look. Two attacks guess each sensitive column, one by looking keys up and one by a model; one
each tells who is singled out, which records are released as they are, who was a member, and which records are nearest;
and one how useful a release is."""
ONE_PERSON = "one_person_values"
"""The measure that is recommended beside these where single people have levels of their own."""
_ONE_IN_A_HUNDRED = 0.01
_VULNERABLE = Bootstrap().vulnerable
_OF_EXPOSED = ("common_rows_proportion", "membership", "zero_cap")  # little noise in a group, and one that guesses
_SPREADS = {
    "control_gain": 1.2,
    "memorization": 0.8,
    "tpr": 0.25,
    "singling_out": 0.4,
    "common_rows_proportion": 0.3,
    ONE_PERSON: 0.3,
}
"""Half widths that fresh people have, by quantity or metric, for sqrt(1/members + 1/controls) = 1 (verdicts.md)."""
_ENOUGH = 1000  # control records from which 1 % of them can be told
_ATTACKERS = {"rapid": ["random_forest"]}


def measures(table: pd.DataFrame, data: Data) -> list[dict[str, Any]]:
    """Return the recommended measures as settings of a study, CAP with keys that can be looked up.

    ``one_person_values`` is among them where one record in a hundred has a level that no other has.

    Args:
        table: The table as it is read.
        data: The roles of its columns.
    """
    attackers = {name: {"attackers": own} for name, own in _ATTACKERS.items()}
    chosen = [_look_up(table, data), *({"name": name, **attackers.get(name, {})} for name in RECOMMENDED[1:])]
    return chosen + ([{"name": ONE_PERSON}] if _has_one_person_values(table, data) else [])


def also_needed(table: pd.DataFrame, data: Data, controls: int) -> list[str]:
    """Return the fewest measures beside the recommended ones with which a study is as early as it can be at each leak.

    By the atlas, of the table that is most like this one: each leak that any measure saw there is seen by one of the
    study's, at the smallest dose at which any saw it, in the quantity that a limit would be set on.

    Args:
        table: The table as it is read.
        data: The roles of its columns.
        controls: How many control records a measure sees, over all repetitions.
    """
    digest = shipped()
    if digest is None:
        return []
    able = {name: metric for name, metric in METRICS.items() if metric.installed and not metric.own_needs}
    every = {name: _limited(metric, controls) for name, metric in able.items()}
    alike = most_alike(digest, shape_of(table, data.identifier))
    return covering(digest, {name: quantity for name, quantity in every.items() if quantity}, alike, RECOMMENDED)


def _limited(metric: Metric, controls: int) -> str:
    """Return the quantity of a metric that one number limits, with so many control records; empty where none."""
    quantity = quantity_to_limit(metric)
    if quantity == "tpr" and controls < _ENOUGH:
        return "memorization"
    no_share = metric.study.difference_only and metric.name != ONE_PERSON
    return "" if quantity == "memorization" and no_share else quantity


def _has_one_person_values(table: pd.DataFrame, data: Data) -> bool:
    """Tell whether one record in a hundred, at least, has a level that no other has."""
    alone = np.zeros(len(table), dtype=bool)
    for name in (c for c in table.columns if c not in (data.identifier, *data.drop)):
        if kind(table[name]) == "categorical":
            alone |= ~table[name].duplicated(keep=False).to_numpy() & table[name].notna().to_numpy()
    return bool(alone.mean() >= _ONE_IN_A_HUNDRED)


def _look_up(table: pd.DataFrame, data: Data) -> dict[str, Any]:
    """Return CAP with keys, and numbers that are guessed, as coarse as can be looked up."""
    others = [name for name in table.columns if name not in (*data.guessed, data.identifier, *data.drop)]
    known = others if data.quasi_identifiers == "*" else list(data.quasi_identifiers)
    keys = look_up(table, known)
    numbers = [name for name in data.guessed if kind(table[name]) == "numeric"]
    bins = {**keys.bins, **dict.fromkeys(numbers, keys.parts)}
    own = {} if list(keys.columns) == known else {"quasi_identifiers": list(keys.columns)}
    return {"name": "zero_cap", **own, **({"bins": bins} if bins else {})}


def check_limit(limit: float) -> None:
    """Refuse a limit that is no share."""
    if not 0 < limit < 1:
        raise InputError(f"--limit must be a number between 0 and 1, got {limit}")


class Limits(NamedTuple):
    """The limits that one number means, and what is left out of them."""

    values: dict[str, float]  # ``<quantity>/<measure>[@<group>]`` -> limit
    left_out: str  # which limits could decide nothing at this size, and what it would take; empty where none


def limits(measures: Sequence[Measure], limit: float, members: int, controls: int, *, groups: bool = True) -> Limits:
    """Return the limits of a study by one number: what a person's record may add to the attacks on that person.

    ``control_gain``: of those whom an attacker guesses wrong without their record, the share that it gives away.
    ``memorization``: what membership adds to the share that is singled out, or released as it is. ``tpr``: the members
    found where 1 % of strangers are taken for one, of which as many are found by chance; it takes 1,000 strangers to be
    told, and with fewer ``memorization`` stands instead: what membership adds to the members that are claimed. A
    measure whose memorization is no share of people gets no limit.

    The same number is set on the most exposed, ``@outliers`` and ``@rare_keys``: a mean hides the few whom an attacker
    would pick. A limit is left out where fresh people would show a half width above it at this size: it could decide
    nothing. Of those on outliers, and on rare keys, the one that takes fewest people stays all the same: where it
    cannot tell, no word of safety is given, for nothing else speaks of them. Where none is left, all but those on the
    most exposed are set, and each will say why it cannot tell.

    Args:
        measures: What the study measures.
        limit: The number.
        members: How many members a measure sees; in a study of folds all records.
        controls: How many control records a measure sees, over all repetitions.
        groups: Whether the study has findings of the most exposed.
    """
    every: dict[str, float] = {}
    needed: dict[str, int] = {}
    for measure in (each for each in measures if not each.variant_of):
        quantity = _limited(METRICS[measure.metric], controls)
        own = ("", *EXPOSED) if quantity and groups and measure.metric in _OF_EXPOSED else ("",)
        for group in own if quantity else ():
            name = Limited(quantity, measure.key, group).name
            every[name] = round(limit + (NOTHING["tpr"] if quantity == "tpr" else 0), 10)
            share, spread = (_VULNERABLE if group else 1.0), _SPREADS.get(measure.metric, _SPREADS[quantity])
            if spread * sqrt((1 / max(members, 1) + 1 / max(controls, 1)) / share) >= limit:
                needed[name] = ceil(2 * (spread / limit) ** 2 / share)
    if len(needed) < len(every):
        for group in EXPOSED:
            exposed = [name for name in every if name.endswith(f"@{group}")]
            if exposed and needed.keys() >= set(exposed):
                del needed[min(exposed, key=needed.__getitem__)]
    found = {name: value for name, value in every.items() if name not in needed}
    return Limits(found or {name: value for name, value in every.items() if "@" not in name}, _left_out(needed))


def _left_out(needed: Mapping[str, int]) -> str:
    """Return which limits are left out, and how many people each kind would take, rounded up to two digits."""
    by_size: dict[int, list[str]] = {}
    for name, people in needed.items():
        step = 10 ** max(0, len(str(people)) - 2)
        by_size.setdefault(ceil(people / step) * step, []).append(name)
    told = [
        f"{', '.join(names)} (from about {people:,} members and as many control records on)"
        for people, names in by_size.items()
    ]
    return f"too few records for a limit on {'; '.join(told)}" if told else ""
