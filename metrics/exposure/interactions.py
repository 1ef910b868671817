"""Interactions: pairs of quasi-identifiers, and few triples, each tested in a model of its own with their products."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from synthrisk.metrics.exposure.products import products
from synthrisk.metrics.exposure.risk_grid import PLACES, columns_of_grids, grid
from synthrisk.metrics.exposure.risk_model import RiskModel, fit
from synthrisk.metrics.exposure.risk_terms import CROSSED_LEVELS, RARE, LeftOut, Term
from synthrisk.metrics.exposure.wald import strongest_first, wald
from synthrisk.metrics.intervals.adjust import holm

CROSSED_COLUMNS = 12
"""Most columns whose pairs are looked at."""


TRIPLED_COLUMNS = 4
"""Columns whose triples are looked at: those of the strongest pairs."""
_TEST = ("statistic", "freedom", "p_value", "p_holm", "left_out")


class Interactions(NamedTuple):
    """Tests of pairs, or of triples, with their predictions."""

    tests: pd.DataFrame  # ``columns_of_tests``, the strongest first
    grids: pd.DataFrame  # ``risk_grid.columns_of_grids``
    left_out: list[LeftOut]


def columns_of_tests(crossed: int) -> list[str]:
    """Return the columns of a table of tests of two or of three quasi-identifiers.

    Example:
        >>> columns_of_tests(2)
        ['first', 'second', 'statistic', 'freedom', 'p_value', 'p_holm', 'left_out']
    """
    return [*PLACES[:crossed], *_TEST]


def pair_interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of all pairs of the strongest columns, by the ``tests`` of their main effects."""
    chosen, left_out = _strongest(terms, tests)
    found = _crossed(main, terms, combinations(chosen, 2), 2)
    return found._replace(left_out=left_out + found.left_out)


def triple_interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of the triples of the columns of the strongest pairs, by the ``tests`` of pairs.

    The products of three are tested beside all main effects and the products of each two of the three. A triple of
    which no combination has enough records, or whose products add nothing, has no row.
    """
    names = tests[["first", "second"]].to_numpy(dtype=object).ravel()
    chosen = list(dict.fromkeys(names))[:TRIPLED_COLUMNS]
    return _crossed(main, terms, combinations([term for term in terms if term.column in chosen], 3), 3)


def _crossed(main: RiskModel, terms: Sequence[Term], several: Iterable[Sequence[Term]], size: int) -> Interactions:
    """Return the tests of the products of ``size`` terms, grids, and what is left out.

    Each test is made in a model of its own: all main effects, the products of each two of the terms, and of all.
    """
    found, points, left_out = [], [], []
    for some in several:
        crossed = products(*sorted(some, key=lambda term: (term.spread == 0, -len(term.crossed), str(term.column))))
        first, second, *third = (term.column for term in crossed.terms)
        if not len(crossed.kept):
            left_out.append(LeftOut(first, second, f"no combination of interacting levels has {RARE} records"))
            continue
        added = [*crossed.inside, crossed]
        design = sparse.hstack([main.design, *(each.columns for each in added)], format="csr")
        groups = [*(term.codes for term in terms), *(each.groups for each in added)]
        start = np.append(main.beta, np.zeros(design.shape[1] - len(main.beta)))
        model = fit(design, main.scores, main.units, groups, main.confidence, start)
        own = np.arange(len(model.beta) - len(crossed.kept), len(model.beta))
        statistic, freedom, p = wald(model, own)
        if freedom == 0:
            left_out.append(LeftOut(first, second, "the products add nothing to the main effects"))
            continue
        found.append((first, second, *third, statistic, freedom, p, np.nan, crossed.left_out))
        points += grid(model, crossed, len(main.beta))
    tests = pd.DataFrame(found, columns=columns_of_tests(size))
    tests = tests.iloc[strongest_first(tests)].reset_index(drop=True)
    tests = tests.assign(p_holm=holm(tests["p_value"]))
    return Interactions(tests, pd.DataFrame(points, columns=columns_of_grids(size)), left_out)


def _strongest(terms: Sequence[Term], tests: pd.DataFrame) -> tuple[list[Term], list[LeftOut]]:
    order = strongest_first(tests)
    beyond = f"interactions: not among the {CROSSED_COLUMNS} strongest columns"
    left_out = [LeftOut(terms[i].column, "any", beyond) for i in order[CROSSED_COLUMNS:]]
    chosen = [terms[i] for i in sorted(order[:CROSSED_COLUMNS])]
    rarer = f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"
    cut = [term for term in chosen if not term.is_numeric and len(term.names) > len(term.crossed) + 1]
    return chosen, left_out + [LeftOut(term.column, "any", rarer) for term in cut]
