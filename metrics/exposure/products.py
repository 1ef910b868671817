"""The products of quasi-identifiers as columns of the risk model."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from synthrisk.metrics.exposure.risk_terms import RARE, Term, sparse_columns


class Products(NamedTuple):
    """Two or three terms and the products of their columns; of each record at most one product is not 0."""

    terms: tuple[Term, ...]
    inside: tuple["Products", ...]  # of three terms: the products of each two
    place: np.ndarray  # (n,) which product, -1 = none
    kept: np.ndarray  # which products have enough records, of all in row-major order
    left_out: int  # products that have not

    @property
    def columns(self) -> Any:
        """The products as columns of the design, (n, len(kept)) sparse."""
        return sparse_columns(self.place, np.prod([term.value for term in self.terms], axis=0), len(self.kept))

    @property
    def groups(self) -> np.ndarray:
        """The combination of levels of each record, -1 where the model does not fit it by itself."""
        if any(term.is_numeric for term in self.terms):
            return np.full(len(self.place), -1)
        fitted = self.place >= 0
        others: list[Any] = [each.groups >= 0 for each in self.inside] or [True] * len(self.terms)
        for term, rest in zip(reversed(self.terms), others, strict=True):
            fitted |= (term.codes == term.reference) & rest
        codes, sizes = [term.codes for term in self.terms], [len(term.names) for term in self.terms]
        return np.where(fitted, np.ravel_multi_index(codes, sizes), -1)

    def rows(self, *parts: np.ndarray) -> np.ndarray:
        """Return the products, (k, len(kept)), of rows of each term."""
        first, *others = (part[:, crossed_places(term)] for part, term in zip(parts, self.terms, strict=True))
        for other in others:
            first = (first[:, :, None] * other[:, None, :]).reshape(len(first), -1)
        return first[:, self.kept]

    def all_rows(self, *parts: np.ndarray) -> np.ndarray:
        """Return all columns at rows of each term: their own, the products of each two, and those of all."""
        inside = [each.rows(*two) for each, two in zip(self.inside, combinations(parts, 2), strict=False)]
        return np.hstack([*parts, *inside, self.rows(*parts)])


def products(*terms: Term) -> Products:
    """Return the products of the interacting columns of terms, those of fewer than ``RARE`` records left out."""
    widths, places = [], []
    for term in terms:
        crossed = crossed_places(term)
        lookup = np.full(term.width + 1, -1)  # the last place is picked by -1
        lookup[crossed] = np.arange(len(crossed))
        widths.append(len(crossed))
        places.append(lookup[term.place])
    size, cells = int(np.prod(widths)), places[0]
    for place, width in zip(places[1:], widths[1:], strict=True):
        cells = cells * width + place
    cells = np.where(np.min(places, axis=0) >= 0, cells, size)
    kept = np.flatnonzero(np.bincount(cells, minlength=size + 1)[:size] >= RARE)
    rank = np.full(size + 1, -1)
    rank[kept] = np.arange(len(kept))
    inside = tuple(products(*two) for two in combinations(terms, 2)) if len(terms) > 2 else ()
    return Products(terms, inside, rank[cells], kept, size - len(kept))


def crossed_places(term: Term) -> np.ndarray:
    """Return which columns of a term interact."""
    if term.is_numeric:
        return np.arange(int(term.spread > 0))
    return term.rows[term.crossed].argmax(axis=1).astype(int)
