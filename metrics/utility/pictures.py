"""How alike two tables are in groups: total variation distance of columns and pairs, and Cramer's V of pairs.

What a study's data look like: each column and pair of real records beside releases, and where quality is lost.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.utility.bins import Groups, groups_of


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Return the total variation distance of two distributions on the same groups: 1/2 sum |p - q|, in [0, 1].

    It is the share of the records that would have to be moved to another group to make one distribution the other.

    Example:
        >>> total_variation(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 0.25]))
        0.25
    """
    return float(np.abs(p - q).sum() / 2)


def joint_shares(first: np.ndarray, second: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """Return the share of each combination of two groups, (r, c), among records by their groups in two columns."""
    counts = np.bincount(first * sizes[1] + second, minlength=sizes[0] * sizes[1])
    return counts.reshape(sizes) / len(first)


def cramers_v(shares: np.ndarray, records: int) -> float:
    """Return the bias-corrected Cramer's V of a joint distribution, (r, c), seen in so many records.

    With phi2 = sum (p_ij - p_i p_j)^2/(p_i p_j), its expectation without association taken off,
    max(0, phi2 - (r - 1)(c - 1)/(n - 1)), and r~ = r - (r - 1)^2/(n - 1): V = sqrt(phi2~/min(r~ - 1, c~ - 1)), in
    [0, 1]. r and c count groups that occur. NaN where one column has one group alone: then nothing can be associated.

    Reference: Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T, doi:10.1016/j.jkss.2012.10.002.

    Example:
        >>> cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]]), 1000)
        1.0
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    table = shares[rows > 0][:, columns > 0]
    r, c = table.shape
    if min(r, c) < 2 or records < 3:
        return float("nan")
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    phi2 = float(((table - expected) ** 2 / expected).sum())
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (records - 1))
    least = min(each - (each - 1) ** 2 / (records - 1) for each in (r, c)) - 1
    return float(min(1.0, np.sqrt(corrected / least))) if least > 0 else float("nan")


MOST_ROWS = 20_000
"""Rows of a table that are compared; of a larger one so many are drawn."""
MOST_RELEASES = 6
"""Releases of a synthesizer that are looked at: the first ones."""
MOST_PAIRED = 30
"""Columns of which pairs are looked at."""

Pair = tuple[str, str]


class Made(NamedTuple):
    """One release, and which real records it was made from."""

    place: tuple[int, int]  # repetition and fold
    held_out: np.ndarray  # (n,) real records that the synthesizer never saw
    read: Callable[[], pd.DataFrame]  # the release


@dataclass(frozen=True)
class Loss:
    """How far releases are from the records that they were made from: a mean over releases."""

    distance: float  # total variation distance; NaN where the column cannot be read
    expected: float  # the same of as many other real people in place of the release; NaN without held-out records

    @property
    def beyond(self) -> float:
        """What is lost beyond what other real people would lose; all that is lost where nobody was held out."""
        return self.distance - (0.0 if np.isnan(self.expected) else self.expected)


@dataclass(frozen=True)
class ColumnLoss(Loss):
    """One column of the releases of a synthesizer."""

    shares: tuple[float, ...]  # of each group, mean over releases


@dataclass(frozen=True)
class PairLoss(Loss):
    """One pair of columns of the releases of a synthesizer."""

    association: float  # Cramer's V, mean over releases
    own: float  # distance beyond that of the worse of its two columns alone
    own_expected: float  # the same of other real people

    @property
    def own_beyond(self) -> float:
        """What the pair loses beyond its columns, beyond what other real people would lose there."""
        return self.own - (0.0 if np.isnan(self.own_expected) else self.own_expected)


class Seen(NamedTuple):
    """The releases of one synthesizer."""

    releases: int  # how many were looked at
    columns: Mapping[str, ColumnLoss]  # of the columns that can be read
    pairs: Mapping[Pair, PairLoss]
    unreadable: tuple[str, ...] = ()  # columns whose cells are of another type in some release


class Column(NamedTuple):
    """One column of the real table in groups."""

    name: str
    groups: tuple[str, ...]
    shares: tuple[float, ...]  # of each group among real records; NaN where fewer than ten have it (``shown_shares``)
    reason: str  # why it is not shown; empty where it is
    is_binned: bool


class Picture(NamedTuple):
    """The real table beside the releases of some synthesizers."""

    columns: Mapping[str, Column]
    paired: tuple[str, ...]  # columns of which pairs are looked at
    associations: Mapping[Pair, float]  # Cramer's V of each pair in the real table
    synthesizers: Mapping[str, Seen]
    drawn: bool  # whether some table was too large to be compared as a whole


def picture(
    real: pd.DataFrame,
    releases: Mapping[str, Sequence[Made]],
    *,
    first: Sequence[str] = (),
    entities: np.ndarray | None = None,
    seed: int = 0,
) -> Picture:
    """Return the real table beside the releases of each synthesizer, in groups of at least ten real records.

    A release is compared with the records that it was made from; as many rows of it as there are records that were held
    out (at most ``MOST_ROWS``), which are compared with the same records in its place: what they lose is chance, and no
    release can be asked for less.

    Args:
        real: The real table, (n, p), without its identifier.
        releases: Of each synthesizer.
        first: Columns whose pairs are looked at before those of others: all pairs of up to ``MOST_PAIRED`` columns are.
        entities: Entity of each real record, (n,), or None where each is its own.
        seed: Of the draws of rows.

    Returns:
        A ``Picture`` that names no value or range of fewer than ten real records.
    """
    every = {str(c): groups_of(real[c], entities) for c in real.columns}
    shown = {name: g for name, g in every.items() if not g.reason}
    varied = [c for c in (*map(str, first), *shown) if c in shown and np.ptp(shown[c].places) > 0]
    paired = tuple(dict.fromkeys(varied))[:MOST_PAIRED]
    tables = _Tables(shown, paired, seed)
    columns = {n: Column(n, g.names, tuple(g.shown_shares), g.reason, g.is_binned) for n, g in every.items()}
    rows = tables.drawn("real", len(real), MOST_ROWS)
    whole = tables.placed_real(rows)
    synthesizers = {name: tables.seen(list(made)[:MOST_RELEASES]) for name, made in releases.items()}
    return Picture(columns, paired, whole.associations, synthesizers, tables.was_drawn)


class _Tables:
    """Real records by place of the study, placed once for all synthesizers."""

    def __init__(self, groups: Mapping[str, Groups], paired: Sequence[str], seed: int):
        self.groups, self.seed, self.was_drawn = groups, seed, False
        self.pairs: list[Pair] = list(combinations(paired, 2))
        self._real: dict[tuple[tuple[int, int], int], tuple[_Placed, _Placed | None]] = {}

    def drawn(self, what: str, rows: int, most: int) -> np.ndarray:
        """Return the positions of at most so many rows."""
        if rows <= most:
            return np.arange(rows)
        self.was_drawn |= most == MOST_ROWS
        return np.sort(np.random.default_rng(seed_of(self.seed, "pictures", what)).choice(rows, most, replace=False))

    def seen(self, made: Sequence[Made]) -> Seen:
        """Return what the releases of one synthesizer look like beside the records that they were made from."""
        found = [self._beside(each) for each in made]
        unreadable = [name for name in self.groups if any(name not in own.columns for own in found)]
        readable = [name for name in self.groups if name not in unreadable]
        columns = {name: _mean_column([own.columns[name] for own in found]) for name in readable}
        pairs = {
            pair: _mean_pair([own.pairs[pair] for own in found])
            for pair in self.pairs
            if all(pair in own.pairs for own in found)
        }
        return Seen(len(made), columns, pairs, tuple(unreadable))

    def _beside(self, made: Made) -> Seen:
        """Return one release beside its members, and the records held out in its place."""
        frame = made.read()
        away = int(made.held_out.sum())
        size = min(len(frame), away or len(frame), MOST_ROWS)
        members, others = self._members_and_others(made, size)
        frame = frame.iloc[self.drawn(f"rows {made.place}", len(frame), MOST_ROWS)]
        full = dict(self._placed(frame))
        rows = self.drawn(f"release {made.place}", len(frame), size)
        release = _Placed({name: places[rows] for name, places in full.items()}, self)
        columns = {
            name: ColumnLoss(*_losses(members, release, others, name), tuple(self.groups[name].shares(full[name])))
            for name in full
        }
        pairs = {}
        for pair in self.pairs:
            if pair[0] in full and pair[1] in full:
                distance, expected = _losses(members, release, others, pair)
                worse = max(columns[pair[0]].distance, columns[pair[1]].distance)
                worse_expected = max(columns[pair[0]].expected, columns[pair[1]].expected)
                v = release.associations[pair]
                pairs[pair] = PairLoss(distance, expected, v, distance - worse, expected - worse_expected)
        return Seen(1, columns, pairs)

    def _placed(self, frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
        by_name = {str(c): c for c in frame.columns}
        for name, groups in self.groups.items():
            try:
                yield name, groups.place(frame[by_name[name]])
            except (InputError, KeyError):
                continue

    def _members_and_others(self, made: Made, size: int) -> "tuple[_Placed, _Placed | None]":
        key = (made.place, size)
        if key not in self._real:
            members, away = np.flatnonzero(~made.held_out), np.flatnonzero(made.held_out)
            own = members[self.drawn(f"members {made.place}", len(members), MOST_ROWS)]
            others = away[self.drawn(f"others {made.place}", len(away), size)]
            self._real[key] = self.placed_real(own), self.placed_real(others) if len(away) else None
        return self._real[key]

    def placed_real(self, rows: np.ndarray) -> "_Placed":
        return _Placed({name: groups.places[rows] for name, groups in self.groups.items()}, self)


class _Placed:
    """Records by their groups in each column, and the shares and associations of them."""

    def __init__(self, places: Mapping[str, np.ndarray], tables: _Tables):
        self.shares: dict[str | Pair, np.ndarray] = {n: tables.groups[n].shares(p) for n, p in places.items()}
        self.associations: dict[Pair, float] = {}
        for pair in tables.pairs:
            if pair[0] in places and pair[1] in places:
                sizes = tables.groups[pair[0]].size, tables.groups[pair[1]].size
                joint = joint_shares(places[pair[0]], places[pair[1]], sizes)
                self.shares[pair] = joint
                self.associations[pair] = cramers_v(joint, len(places[pair[0]]))


def _losses(members: _Placed, release: _Placed, others: _Placed | None, what: str | Pair) -> tuple[float, float]:
    real = members.shares[what]
    expected = float("nan") if others is None else total_variation(real, others.shares[what])
    return total_variation(real, release.shares[what]), expected


def _mean_column(found: Sequence[ColumnLoss]) -> ColumnLoss:
    distance, expected = _means([(c.distance, c.expected) for c in found])
    return ColumnLoss(distance, expected, _means([c.shares for c in found]))


def _mean_pair(found: Sequence[PairLoss]) -> PairLoss:
    return PairLoss(*_means([(p.distance, p.expected, p.association, p.own, p.own_expected) for p in found]))


def _means(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of each column of numbers, over the rows where it is known."""
    known = np.array(rows, dtype=float)
    counts = (~np.isnan(known)).sum(axis=0)
    return tuple(float(s / c) if c else float("nan") for s, c in zip(np.nansum(known, axis=0), counts, strict=True))
