"""Which columns give people away: how much of a finding is left where one column is coarser, or is not there."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.claims.singling_out import SINGLING_OUT, isolated
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.what_if import Change
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.estimation import Contributed, Releases, find_all
from synthrisk.metrics.study.ledger import Cell, Planned, as_frame
from synthrisk.metrics.study.scoring import score_release, tables_of
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.verdicts.quantities import Limited, quantity_of

NAMED = 0.2
"""Share of a finding that a column has to carry to be named."""
MOST = 1500
"""Members, and control records, that are attacked again at most, and half of the released rows."""

_RARE = 10  # records that a level has at least, or it is put together with other rare ones
_POOLED = "(rare)"
_COLUMNS = 30  # that are tried at most: those with the most values come first


@dataclass(frozen=True)
class Carriers:
    """What carries one finding on one release."""

    quantity: str  # name of the limit: ``memorization/singling_out``
    value: float  # of the records that were attacked again
    columns: tuple[tuple[str, float], ...]  # with the share that goes with each; only those from ``NAMED`` on, by share
    alone: int = 0  # members who alone have their value in the first of these columns
    released: int = 0  # of whom that value is in the release

    @property
    def words(self) -> str:
        """What carries it, in a sentence.

        Example:
            >>> Carriers("memorization/singling_out", 0.2, (("capital_gain", 0.8), ("age", 0.25)), 70, 70).words
            'capital_gain carries 80% of memorization/singling_out, age 25% (the shares overlap); 70 people \
alone have their value of capital_gain, the release has 70 of these'
            >>> Carriers("memorization/membership", 0.9, ()).words
            'no single column carries memorization/membership: without any one of them 80% of it and more is left'
        """
        if not self.columns:
            left = f"{1 - NAMED:.0%}"
            return f"no single column carries {self.quantity}: without any one of them {left} of it and more is left"
        (first, share), *others = self.columns
        told = [f"{first} carries {share:.0%} of {self.quantity}"]
        told += [f"{name} {of:.0%}" for name, of in others[:2]]
        overlap = " (the shares overlap)" if others else ""
        alone = f"; {self.alone:,} people alone have their value of {first}, the release has {self.released:,} of these"
        return ", ".join(told) + overlap + (alone if self.released else "")


class OneRelease(NamedTuple):
    """A release, and the real records that it is attacked for, as they are or but for one column."""

    real: pd.DataFrame  # real records without their identifier
    synthetic: pd.DataFrame
    member: Any  # (n,) nullable booleans: True member, False control record, NA neither
    entities: np.ndarray | None = None  # (n,) entity of each record
    groups: Mapping[str, np.ndarray] | None = None  # (n,) booleans of the groups that a limit may speak of
    seed: int = 0

    def at_most(self, most: int) -> "OneRelease":
        """Return as much of it as is attacked again: so many members and control records, and twice as many rows."""
        rng = np.random.default_rng(self.seed)
        own = [np.flatnonzero(side.fillna(False).astype(bool)) for side in (self.member, ~self.member)]
        rows = np.concatenate([r if len(r) <= most else np.sort(rng.choice(r, most, replace=False)) for r in own])
        released = len(self.synthetic)
        drawn = np.sort(rng.choice(released, min(released, 2 * most), replace=False))
        return OneRelease(
            self.real.iloc[rows].reset_index(drop=True),
            self.synthetic.iloc[drawn].reset_index(drop=True),
            self.member[rows],
            None if self.entities is None else self.entities[rows],
            {name: own[rows] for name, own in (self.groups or {}).items()},
            self.seed,
        )

    def value(self, planned: Planned, limit: Limited) -> float:
        """Return what a limit is set on, as a study of this release alone finds it."""
        tables = tables_of(self.real, self.synthetic, self.member, self.entities)
        cell = Cell("release", 0, 0)
        ledger, said = score_release(tables, self.member, [planned], self.seed, cell)
        kept = Contributed(cell, {planned.measure.key: as_frame(ledger)}, said)
        releases = Releases([kept], self.real, self.entities, self.groups or {})
        interval = Interval(0.9, "crossed", 50, self.seed)  # nobody sees it
        (finding,) = find_all("release", "synthesizer", releases, [planned.measure], interval, ()).findings
        return quantity_of(finding, limit.quantity, limit.group).value


def carriers(release: OneRelease, planned: Planned, limit: Limited, most: int = MOST) -> Carriers | None:
    """Return which columns carry what a limit is set on: v, and v_c but for the column c; c carries 1 - v_c/v.

    What guesses from quasi-identifiers is told one less (``what_if``); claims of singling out are counted again without
    their conditions on the column; all else sees real records and release coarser there: numbers to two
    significant digits, dates to their month, and levels that fewer than 10 real records have put together. Columns that
    share what they give away carry little each: what is left without one is found by the others.

    Args:
        release: Release and real records; at most ``most`` members, as many control records and twice as many released
            rows are attacked again, drawn at random.
        planned: The measure and its options.
        limit: What is limited: a quantity of the measure, for all records or for one group of them.
        most: See ``release``.

    Returns:
        The carriers; None where the quantity has no value, or is 0, or no column can be changed.
    """
    own = release.at_most(most)
    columns = sorted(own.real.columns, key=lambda c: -own.real[c].nunique())[:_COLUMNS]
    if planned.measure.metric == SINGLING_OUT.name:
        found, left = _left_of_claims(own, planned, columns)
    else:
        limit, found, left = _left(own, planned, limit, columns)
    if not left:
        return None
    shares = {name: float(np.clip(1 - each / found, 0, 1)) for name, each in left.items()}
    named = sorted(((name, share) for name, share in shares.items() if share >= NAMED), key=lambda pair: -pair[1])
    alone, released = _alone(own, named[0][0]) if named else (0, 0)
    return Carriers(limit.name, found, tuple(named), alone, released)


def _left_of_claims(own: OneRelease, planned: Planned, columns: Sequence[str]) -> tuple[float, dict[str, float]]:
    """Return the excess of members per claim, and what is left of it where the claims do without each column."""
    members, controls = (np.flatnonzero(side.fillna(False).astype(bool)) for side in (own.member, ~own.member))
    tables = tables_of(own.real, own.synthetic, own.member, own.entities).of(members, controls)
    claims = SINGLING_OUT.score(tables, seed=own.seed, **planned.options).details["claims"]

    def excess(flags: np.ndarray) -> float:
        ours, theirs = flags[: len(members)].sum(), flags[len(members) :].sum()
        return float((ours / len(members) - theirs / len(controls)) * len(members) / max(claims, 1))

    options = planned.options | {"seed": own.seed}
    found = excess(isolated(tables, **options))
    return found, {c: excess(isolated(tables, without=c, **options)) for c in columns} if found else {}


def _left(
    own: OneRelease, planned: Planned, limit: Limited, columns: Sequence[str]
) -> tuple[Limited, float, dict[str, float]]:
    """Return what is looked at, its value, and that but for each column that can be changed.

    It is what is limited, or memorization where too few records are attacked for that.
    """
    found = own.value(planned, limit)
    if np.isnan(found) and limit.quantity != "memorization":  # true-positive rates ask for a thousand control records
        limit = replace(limit, quantity="memorization")
        found = own.value(planned, limit)
    left: dict[str, float] = {}
    if np.isnan(found) or not found:
        return limit, found, left
    for column in columns:
        changed = _without(own, planned, column)
        if changed is not None:
            with suppress(InputError):  # the measure cannot do without it
                left[column] = changed[0].value(changed[1], limit)
    return limit, found, {column: each for column, each in left.items() if not np.isnan(each)}


def _without(own: OneRelease, planned: Planned, column: str) -> tuple[OneRelease, Planned] | None:
    """Return release and measure but for one column; None where that changes nothing."""
    metric = METRICS[planned.measure.metric]
    if column in planned.measure.targets:
        return None
    if "quasi_identifiers" in metric.needs and "quasi_identifiers" in planned.options:
        if column not in planned.options["quasi_identifiers"] or len(planned.options["quasi_identifiers"]) < 2:
            return None
        return own, replace(planned, options=Change(drop=[column]).options(planned.options))
    pair = coarser(own.real[column], own.synthetic[column])
    if pair is None:
        return None
    real, synthetic = pair
    changed = own.real.assign(**{column: real}), own.synthetic.assign(**{column: synthetic})
    return own._replace(real=changed[0], synthetic=changed[1]), planned


def coarser(real: pd.Series, synthetic: pd.Series) -> tuple[pd.Series, pd.Series] | None:
    """Return a column of both tables coarser, as ``carriers`` says; None where that changes no cell.

    Example:
        >>> coarser(pd.Series([12345.0, 0.0, -0.0789]), pd.Series([99.5]))[0].tolist()
        [12000.0, 0.0, -0.079]
        >>> coarser(pd.Series(["a"] * 12 + ["b"]), pd.Series(["c", "a"]))[1].tolist()
        ['(rare)', 'a']
    """
    if kind(real) == "categorical":
        counts = real.astype(object).value_counts()
        common = set(counts.index[counts >= _RARE])
        pair = [_pooled(each, common) for each in (real, synthetic)]
    elif is_temporal(real):
        if not all(pd.api.types.is_datetime64_any_dtype(each.dtype) for each in (real, synthetic)):
            return None
        pair = [each.dt.normalize() - pd.to_timedelta(each.dt.day - 1, unit="D") for each in (real, synthetic)]
    else:
        pair = [pd.Series(_two_digits(as_floats(each)), each.index) for each in (real, synthetic)]
    same = all(_equal(before, after) for before, after in zip((real, synthetic), pair, strict=True))
    return None if same else (pair[0], pair[1])


def _pooled(column: pd.Series, common: set[Any]) -> pd.Series:
    cells = column.astype(object)
    return cells.where(cells.isna() | cells.isin(common), _POOLED)


def _two_digits(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 1)
        return np.where(np.isfinite(unit) & (unit > 0), np.round(values / unit) * unit, values)


def _equal(before: pd.Series, after: pd.Series) -> bool:
    return bool(((before.astype(object) == after.astype(object)) | (before.isna() & after.isna())).all())


def _alone(own: OneRelease, column: str) -> tuple[int, int]:
    """Return how many members alone have their value in a column, and of how many of them it is in the release."""
    cells = own.real[column].astype(object)
    whose = np.arange(len(cells)) if own.entities is None else own.entities
    people = pd.Series(whose, cells.index).groupby(cells).nunique()
    mine = cells[own.member.fillna(False).astype(bool)].dropna().drop_duplicates()
    single = mine[mine.map(people) == 1]
    return len(single), int(single.isin(set(own.synthetic[column].astype(object).dropna())).sum())
