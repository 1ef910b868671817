"""The terms of the risk model: each quasi-identifier as columns of the design.

A number, date or duration: standard deviations from the mean, and a column "is missing". A categorical: a 0/1 column
for each level but the most frequent, rare levels merged.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range
from synthrisk.metrics.tables.codes import MISSING, column_levels, finite_floats
from synthrisk.metrics.tables.kinds import as_floats, center_and_spread, is_temporal, kind
from synthrisk.metrics.tables.tables import Tables


class Scored(NamedTuple):
    """The records that have a score."""

    scores: np.ndarray  # (n,) float64 in [0, 1]
    records: pd.DataFrame  # (n, p)
    columns: list[str]  # in order of their names
    kept: np.ndarray  # which records of the table these are


def scored(scores: Any, table: pd.DataFrame, columns: Sequence[str] | str, argument: str, confidence: float) -> Scored:
    """Return the scores that are there and the records they belong to, all arguments checked."""
    check_range("confidence", confidence, ABOVE_0, BELOW_1, "a number in (0, 1)")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"table must be a pandas DataFrame, got {type(table).__name__}")
    if not table.columns.is_unique or not len(table.columns):
        raise InputError(f"table must have columns with distinct names, got {len(table.columns)} columns")
    try:
        x = as_floats(pd.Series(scores, name="scores"))
    except (TypeError, ValueError):
        raise InputError("scores must be numbers, one a record, got values of another kind") from None
    if len(x) != len(table):
        raise InputError(f"scores must hold one number a record, got {len(x)} for {len(table)} records")
    kept = ~np.isnan(x)
    if not kept.any():
        raise InputError(f"scores must hold at least one scored record, got none of {len(x)}")
    if x[kept].min() < 0 or x[kept].max() > 1:
        raise InputError(f"scores must lie in [0, 1], got {x[kept].min():g} to {x[kept].max():g}")
    names = Tables(table, table).check_columns(argument, columns)
    return Scored(x[kept], table.loc[:, names][kept], sorted(names, key=str), kept)


class Term(NamedTuple):
    """A quasi-identifier as columns of the design, of which each record has at most one that is not 0."""

    column: Hashable
    kind: str  # categorical, number, date, duration
    codes: np.ndarray  # (n,) level of each record; numerics: 0 = has a value, 1 = missing
    names: list[str]  # name of each level
    reference: int
    place: np.ndarray  # (n,) which of its columns, -1 = none
    value: np.ndarray  # (n,) the value there
    rows: np.ndarray  # (levels, width) its columns at each level
    crossed: list[int]  # levels that interact, beside the reference
    source: pd.Series
    center: float = 0.0
    spread: float = 0.0  # 0 = no slope
    start: int = 1  # its first column of the design, after the intercept

    @property
    def is_numeric(self) -> bool:
        """Whether it is a number, a date or a duration."""
        return self.kind != "categorical"

    @property
    def width(self) -> int:
        """How many columns of the design it has."""
        return self.rows.shape[1]

    @property
    def own(self) -> np.ndarray:
        """Which columns of the design are its."""
        return np.arange(self.start, self.start + self.width)

    @property
    def counts(self) -> np.ndarray:
        """Records of each level."""
        return np.bincount(self.codes, minlength=len(self.names))

    def one_flag(self, scores: np.ndarray) -> list[str]:
        """Return, for each level, whether all or none of its records are at risk, or an empty string."""
        shares = np.bincount(self.codes, scores, minlength=len(self.names)) / self.counts
        return [{0: "none at risk", 1: "all at risk"}.get(share, "") for share in shares]


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


RARE, LEVELS = 10, 20
"""Fewest records of a level, and most levels of a column, in the model."""


CROSSED_LEVELS = 6
"""Most levels of a column that interact."""


OTHER = "other"


class Merged(NamedTuple):
    """A level that was put into another."""

    column: Hashable
    level: str
    records: int
    into: str


class LeftOut(NamedTuple):
    """A column, or a pair, without an effect or with a part left out."""

    column: Hashable
    crossed_with: Hashable
    reason: str


def risk_terms(table: pd.DataFrame, columns: Sequence[str]) -> tuple[list[Term], list[Merged], list[LeftOut]]:
    """Return the term of each quasi-identifier, the levels merged, and the columns left out."""
    terms, merged, left_out = [], [], []
    for name in columns:
        term, into_other = (_numeric if kind(table[name]) == "numeric" else _categorical)(table[name])
        merged += into_other
        if isinstance(term, str):
            left_out.append(LeftOut(name, "", term))
        else:
            terms.append(term)
    return terms, merged, left_out


def placed(terms: Sequence[Term]) -> list[Term]:
    """Return the terms with their places in a design that holds them in this order."""
    starts = np.cumsum([1, *(term.width for term in terms)])
    return [term._replace(start=int(start)) for term, start in zip(terms, starts, strict=False)]


def design_matrix(terms: Sequence[Term]) -> Any:
    """Return the intercept and the columns of all terms, (n, p) sparse."""
    parts = [sparse_columns(term.place, term.value, term.width) for term in terms]
    return scipy.sparse.hstack([np.ones((parts[0].shape[0], 1)), *parts], format="csr")


def sparse_columns(place: np.ndarray, value: np.ndarray, width: int) -> Any:
    """Return the (n, width) sparse matrix with each record's value at its place, -1 = none."""
    there = np.flatnonzero(place >= 0)
    return scipy.sparse.csr_matrix((value[there], (there, place[there])), shape=(len(place), width))


def _categorical(column: pd.Series) -> tuple[Term | str, list[Merged]]:
    found = column_levels(column, None)
    counts = np.bincount(found.codes)
    order = np.lexsort((np.arange(len(counts)), -counts))  # of equally frequent levels the first in level order
    frequent = [int(code) for code in order if counts[code] >= RARE]
    if len(frequent) + (len(frequent) < len(counts)) > LEVELS:
        frequent = frequent[: LEVELS - 1]
    if not frequent:
        return f"every level has fewer than {RARE} records", []
    kept = sorted(frequent)
    others = sorted(set(range(len(counts))) - set(kept))
    names = [found.names[code] for code in kept]
    other = OTHER if OTHER not in names else f"({OTHER})"
    merged = [Merged(column.name, found.names[code], int(counts[code]), other) for code in others]
    if len(kept) + bool(others) < 2:
        return "constant", merged
    names += [other] if others else []
    rank = np.full(len(counts), len(kept))
    rank[kept] = np.arange(len(kept))
    codes = rank[found.codes]
    reference = kept.index(frequent[0])
    places = np.insert(np.arange(len(names) - 1), reference, -1)
    term = Term(
        column=column.name,
        kind="categorical",
        codes=codes,
        names=names,
        reference=reference,
        place=places[codes],
        value=np.ones(len(codes)),
        rows=(places[:, None] == np.arange(len(names) - 1)).astype(float),
        crossed=sorted(kept.index(code) for code in frequent[1:CROSSED_LEVELS]),
        source=column,
    )
    return term, merged


def _numeric(column: pd.Series) -> tuple[Term | str, list[Merged]]:
    values = finite_floats(column)
    missing = np.isnan(values)
    if (~missing).sum() < RARE:
        return f"fewer than {RARE} records have a value", []
    largest = np.abs(values[~missing]).max() or 1.0  # so that no square overflows
    center, spread = (largest * part for part in center_and_spread(values / largest))
    own_level, slopes = bool(missing.sum() >= RARE), int(spread > 0)
    merged = [] if own_level or not missing.any() else [Merged(column.name, MISSING, int(missing.sum()), "the mean")]
    if not own_level and not slopes:
        return "constant", merged
    rows = np.zeros((1 + own_level, slopes + own_level))
    rows[1:, slopes:] = 1
    term = Term(
        column=column.name,
        kind={"M": "date", "m": "duration"}[column.dtype.kind] if is_temporal(column) else "number",
        codes=(missing & own_level).astype(int),
        names=["mean", MISSING][: 1 + own_level],
        reference=0,
        place=np.where(missing, slopes if own_level else -1, slopes - 1),
        value=np.where(missing, 1.0, (values - center) / (spread or 1.0)),
        rows=rows,
        crossed=[],
        source=column,
        center=center,
        spread=spread,
    )
    return term, merged
