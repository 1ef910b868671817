"""Interactions: pairs of quasi-identifiers, and few triples, each tested in a model of its own with their products.

Of many pairs only the strongest by their score tests get a model.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.products import Products, products
from synthrisk.metrics.exposure.risk_grid import PLACES, columns_of_grids, grid
from synthrisk.metrics.exposure.risk_model import RiskModel, fit
from synthrisk.metrics.exposure.risk_terms import CROSSED_LEVELS, RARE, LeftOut, Term
from synthrisk.metrics.exposure.score_tests import strongest_products
from synthrisk.metrics.exposure.wald import strongest_first, wald
from synthrisk.metrics.intervals.adjust import holm

CROSSED_COLUMNS = 12
"""Most columns whose pairs are looked at."""


FITTED_PAIRS = 12
"""Most pairs that are tested in a model of their own: all pairs of five columns, of more the strongest."""


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
    """Return the tests of the pairs of the strongest columns, by the ``tests`` of their main effects.

    Of more than ``FITTED_PAIRS`` pairs score tests tell the strongest (``score_tests``): these are tested in models
    of their own, the others are left out. ``p_holm`` is adjusted for all of them.
    """
    chosen, left_out = _strongest(terms, tests)
    kept, weaker = _screened(main, [_product(some) for some in combinations(chosen, 2)])
    found = _crossed(main, terms, kept, 2, len(weaker))
    beyond = f"interactions: not among the {FITTED_PAIRS} strongest pairs by their score tests"
    passed_over = [LeftOut(each.terms[0].column, each.terms[1].column, beyond) for each in weaker]
    return found._replace(left_out=left_out + found.left_out + passed_over)


def triple_interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of the triples of the columns of the strongest pairs, by the ``tests`` of pairs.

    The products of three are tested beside all main effects and the products of each two of the three. A triple of
    which no combination has enough records, or whose products add nothing, has no row.
    """
    names = tests[["first", "second"]].to_numpy(dtype=object).ravel()
    chosen = list(dict.fromkeys(names))[:TRIPLED_COLUMNS]
    every = [_product(some) for some in combinations([term for term in terms if term.column in chosen], 3)]
    return _crossed(main, terms, every, 3)


def _product(some: Iterable[Term]) -> Products:
    """Return the products of some terms, numbers on the first axis, else what has most levels."""
    return products(*sorted(some, key=lambda term: (term.spread == 0, -len(term.crossed), str(term.column))))


def _screened(main: RiskModel, every: Sequence[Products]) -> tuple[list[Products], list[Products]]:
    """Return the pairs to fit, in their order, and those that their score tests show to be weaker."""
    able = [i for i, each in enumerate(every) if len(each.kept)]
    if len(able) <= FITTED_PAIRS:
        return list(every), []
    strongest, nothing = strongest_products(main, [every[i] for i in able], FITTED_PAIRS)
    weaker = sorted(
        set(able) - {able[i] for i in (*strongest, *nothing)}
    )  # what adds nothing says so when it is fitted
    return [each for i, each in enumerate(every) if i not in weaker], [every[i] for i in weaker]


def _crossed(
    main: RiskModel, terms: Sequence[Term], every: Iterable[Products], size: int, weaker: int = 0
) -> Interactions:
    """Return the tests of the products of ``size`` terms, grids, and what is left out.

    Each test is made in a model of its own: all main effects, the products of each two of the terms, and of all.
    ``weaker`` counts the tests that are not made, for their p-values are larger.
    """
    found, points, left_out = [], [], []
    for crossed in every:
        first, second, *third = (term.column for term in crossed.terms)
        if not len(crossed.kept):
            left_out.append(LeftOut(first, second, f"no combination of interacting levels has {RARE} records"))
            continue
        added = [*crossed.inside, crossed]
        design = scipy.sparse.hstack([main.design, *(each.columns for each in added)], format="csr")
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
    tests = tests.assign(p_holm=holm(tests["p_value"], weaker))
    return Interactions(tests, pd.DataFrame(points, columns=columns_of_grids(size)), left_out)


def _strongest(terms: Sequence[Term], tests: pd.DataFrame) -> tuple[list[Term], list[LeftOut]]:
    order = strongest_first(tests)
    beyond = f"interactions: not among the {CROSSED_COLUMNS} strongest columns"
    left_out = [LeftOut(terms[i].column, "any", beyond) for i in order[CROSSED_COLUMNS:]]
    chosen = [terms[i] for i in sorted(order[:CROSSED_COLUMNS])]
    rarer = f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"
    cut = [term for term in chosen if not term.is_numeric and len(term.names) > len(term.crossed) + 1]
    return chosen, left_out + [LeftOut(term.column, "any", rarer) for term in cut]
