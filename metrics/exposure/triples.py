"""Three-way interactions: few triples of quasi-identifiers, each tested in a model with all products of the three."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from synthrisk.metrics.exposure.predicted_risk import mean_risk
from synthrisk.metrics.exposure.products import Products, crossed_places, products
from synthrisk.metrics.exposure.risk_grid import GRID_POINTS, axis_points
from synthrisk.metrics.exposure.risk_model import RiskModel, fit
from synthrisk.metrics.exposure.risk_terms import RARE, Term, sparse_columns
from synthrisk.metrics.exposure.wald import strongest_first, wald
from synthrisk.metrics.intervals.adjust import holm

TRIPLED_COLUMNS = 4
"""Columns whose triples are looked at: those of the strongest pairs."""


class TripleTest(NamedTuple):
    """A row of the table of three-way interactions."""

    first: Hashable
    second: Hashable
    third: Hashable
    statistic: float
    freedom: int
    p_value: float
    p_holm: float
    left_out: int


class TriplePoint(NamedTuple):
    """A row of the table of their grids."""

    first: Hashable
    second: Hashable
    third: Hashable
    first_level: str
    first_value: float
    second_level: str
    third_level: str
    records: int
    risk: float
    lower: float
    upper: float


class Triples(NamedTuple):
    """Tests and predictions of triples."""

    tests: pd.DataFrame
    grids: pd.DataFrame


def triples(main: RiskModel, terms: Sequence[Term], pairs: pd.DataFrame) -> Triples:
    """Return the tests of the triples of the columns of the strongest pairs, strongest first, and risk on a grid.

    The products of three are tested beside all main effects and the products of each two of the three. A triple of
    which no combination has enough records, or whose products add nothing, has no row.

    Args:
        main: The model of main effects.
        terms: Its terms.
        pairs: The tests of pairs, the strongest first.
    """
    names = [c for pair in zip(pairs["first"], pairs["second"], strict=True) for c in pair]
    chosen = list(dict.fromkeys(names))[:TRIPLED_COLUMNS]
    own = [term for term in terms if term.column in chosen]
    found: list[TripleTest] = []
    points: list[TriplePoint] = []
    for three in combinations(own, 3):
        each = _Three.of(sorted(three, key=lambda t: (t.spread == 0, -len(t.crossed), str(t.column))))
        if not len(each.kept):
            continue
        model = each.model(main, terms)
        added = np.arange(len(model.beta) - len(each.kept), len(model.beta))
        statistic, freedom, p = wald(model, added)
        if freedom:
            found.append(TripleTest(*each.names, statistic, freedom, p, np.nan, each.left_out))
            points += each.grid(model, len(main.beta))
    tests = pd.DataFrame(found, columns=TripleTest._fields)
    tests = tests.iloc[strongest_first(tests)].reset_index(drop=True)
    tests = tests.assign(p_holm=holm(tests["p_value"]))
    return Triples(tests, pd.DataFrame(points, columns=TriplePoint._fields))


class _Three(NamedTuple):
    """Three terms, the products of each two, and those of all three that have enough records."""

    terms: list[Term]
    pairs: list[Products]  # first and second, first and third, second and third
    place: np.ndarray  # (n,) which product of three, -1 = none
    kept: np.ndarray
    left_out: int

    @classmethod
    def of(cls, terms: list[Term]) -> "_Three":
        widths, places = [], []
        for term in terms:
            crossed = crossed_places(term)
            lookup = np.full(term.width + 1, -1)  # the last place is picked by -1
            lookup[crossed] = np.arange(len(crossed))
            widths.append(len(crossed))
            places.append(lookup[term.place])
        size = int(np.prod(widths))
        flat = (places[0] * widths[1] + places[1]) * widths[2] + places[2]
        cells = np.where(np.min(places, axis=0) >= 0, flat, size)
        kept = np.flatnonzero(np.bincount(cells, minlength=size + 1)[:size] >= RARE)
        rank = np.full(size + 1, -1)
        rank[kept] = np.arange(len(kept))
        return cls(terms, [products(a, b) for a, b in combinations(terms, 2)], rank[cells], kept, size - len(kept))

    @property
    def names(self) -> tuple[Hashable, Hashable, Hashable]:
        first, second, third = (term.column for term in self.terms)
        return first, second, third

    @property
    def groups(self) -> np.ndarray:
        """The combination of levels of each record, -1 where the model does not fit it by itself."""
        first, second, third = self.terms
        if any(term.is_numeric for term in self.terms):
            return np.full(len(self.place), -1)
        fitted = self.place >= 0
        for term, rest in zip((third, second, first), self.pairs, strict=True):
            fitted |= (term.codes == term.reference) & (rest.groups >= 0)
        code = (first.codes * len(second.names) + second.codes) * len(third.names) + third.codes
        return np.where(fitted, code, -1)

    def model(self, main: RiskModel, terms: Sequence[Term]) -> RiskModel:
        """Return the model of main effects, the products of each two and those of three."""
        value = np.prod([term.value for term in self.terms], axis=0)
        added = [pair.columns for pair in self.pairs] + [sparse_columns(self.place, value, len(self.kept))]
        design = sparse.hstack([main.design, *added], format="csr")
        groups = [*(term.codes for term in terms), *(pair.groups for pair in self.pairs), self.groups]
        start = np.append(main.beta, np.zeros(design.shape[1] - len(main.beta)))
        return fit(design, main.scores, main.units, groups, main.confidence, start)

    def rows(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Return all columns of the three at rows of each: their own, the products of two, and those of three."""
        both = [pair.rows(a, b) for pair, (a, b) in zip(self.pairs, combinations(parts, 2), strict=True)]
        crossed = [part[:, crossed_places(term)] for part, term in zip(parts, self.terms, strict=True)]
        all_three = np.einsum("ki,kj,kl->kijl", *crossed).reshape(len(parts[0]), -1)[:, self.kept]
        return np.hstack([*parts, *both, all_three])

    def grid(self, model: RiskModel, start: int) -> list[TriplePoint]:
        """Return the mean predicted risk at values of the three; ``start``: the first column that they add."""
        shares: list[tuple[Any, ...]] = [((0.05, 0.95), GRID_POINTS), ((0.1, 0.5, 0.9),), ((0.1, 0.5, 0.9),)]
        axes = [axis_points(term, *own) for term, own in zip(self.terms, shares, strict=True)]
        at = [i.ravel() for i in np.indices([len(axis.names) for axis in axes])]
        rows = self.rows([axis.rows[i] for axis, i in zip(axes, at, strict=True)])
        own = np.concatenate([*(term.own for term in self.terms), np.arange(start, len(model.beta))])
        mean = mean_risk(model, own, rows)
        counts = np.zeros([len(term.names) for term in self.terms], dtype=int)
        np.add.at(counts, tuple(term.codes for term in self.terms), 1)
        records = counts[tuple(axis.levels[i] for axis, i in zip(axes, at, strict=True))]
        first, second, third = axes
        return [
            TriplePoint(
                *self.names,
                first.names[i],
                first.values[i],
                second.names[j],
                third.names[k],
                records[m],
                mean.risk[m],
                mean.lower[m],
                mean.upper[m],
            )
            for m, (i, j, k) in enumerate(zip(*at, strict=True))
        ]
