"""The products of two quasi-identifiers as columns of the risk model."""

from typing import Any, NamedTuple

import numpy as np

from synthrisk.metrics.exposure.risk_terms import RARE, Term, sparse_columns


class Products(NamedTuple):
    """Two terms and the products of their columns; of each record at most one product is not 0."""

    first: Term
    second: Term
    place: np.ndarray  # (n,) which product, -1 = none
    kept: np.ndarray  # which products have enough records, of all in row-major order
    left_out: int  # products that have not

    @property
    def width(self) -> int:
        """How many columns of the design there are."""
        return len(self.kept)

    @property
    def columns(self) -> Any:
        """The products as columns, (n, width) sparse."""
        return sparse_columns(self.place, self.first.value * self.second.value, self.width)

    @property
    def groups(self) -> np.ndarray:
        """The combination of levels of each record, -1 where the model does not fit it by itself."""
        first, second = self.first, self.second
        if first.is_numeric or second.is_numeric:
            return np.full(len(self.place), -1)
        at_reference = (first.codes == first.reference) | (second.codes == second.reference)
        return np.where((self.place >= 0) | at_reference, first.codes * len(second.names) + second.codes, -1)

    def rows(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the products, (k, width), of rows of the first term and of the second."""
        a, b = first[:, crossed_places(self.first)], second[:, crossed_places(self.second)]
        return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)[:, self.kept]


def products(first: Term, second: Term) -> Products:
    """Return the products of the interacting columns of two terms, those of fewer than ``RARE`` records left out."""
    widths, places = [], []
    for term in (first, second):
        crossed = crossed_places(term)
        lookup = np.full(term.width + 1, -1)  # the last place is picked by -1
        lookup[crossed] = np.arange(len(crossed))
        widths.append(len(crossed))
        places.append(lookup[term.place])
    size = widths[0] * widths[1]
    cells = np.where((places[0] >= 0) & (places[1] >= 0), places[0] * widths[1] + places[1], size)
    counts = np.bincount(cells, minlength=size + 1)[:size]
    kept = np.flatnonzero(counts >= RARE)
    rank = np.full(size + 1, -1)
    rank[kept] = np.arange(len(kept))
    return Products(first, second, rank[cells], kept, size - len(kept))


def crossed_places(term: Term) -> np.ndarray:
    """Return which columns of a term interact."""
    if term.is_numeric:
        return np.arange(int(term.spread > 0))
    return term.rows[term.crossed].argmax(axis=1).astype(int)
