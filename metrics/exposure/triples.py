"""Three-way interactions: few triples of quasi-identifiers, each tested in a model with all products of the three."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from synthrisk.metrics.exposure.interactions import crossed_tests
from synthrisk.metrics.exposure.risk_model import RiskModel
from synthrisk.metrics.exposure.risk_terms import Term

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
    tests, grids, _ = crossed_tests(main, terms, combinations(own, 3), TripleTest)
    return Triples(tests, pd.DataFrame(grids, columns=TriplePoint._fields))
