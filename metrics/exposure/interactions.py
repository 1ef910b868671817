"""Interactions: each pair of quasi-identifiers tested in a model of its own, with the products of the two."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from synthrisk.metrics.exposure.products import Products, products
from synthrisk.metrics.exposure.risk_grid import GridPoint, grid
from synthrisk.metrics.exposure.risk_model import RiskModel, fit
from synthrisk.metrics.exposure.risk_terms import CROSSED_LEVELS, RARE, LeftOut, Term
from synthrisk.metrics.exposure.wald import strongest_first, wald
from synthrisk.metrics.intervals.adjust import holm

CROSSED_COLUMNS = 12
"""Most columns whose pairs are looked at."""


class PairTest(NamedTuple):
    """A row of the table of interactions."""

    first: Hashable
    second: Hashable
    statistic: float
    freedom: int
    p_value: float
    p_holm: float
    left_out: int


class Interactions(NamedTuple):
    """Tests and predictions of pairs."""

    tests: pd.DataFrame
    grids: pd.DataFrame
    left_out: list[LeftOut]


def interactions(main: RiskModel, terms: Sequence[Term], tests: pd.DataFrame) -> Interactions:
    """Return the tests of all pairs of the strongest columns, strongest first, and risk on a grid of each.

    Args:
        main: The model of main effects.
        terms: Its terms.
        tests: Their tests.
    """
    chosen, left_out = _strongest(terms, tests)
    found: list[PairTest] = []
    points: list[GridPoint] = []
    for pair in combinations(chosen, 2):
        crossed = products(*sorted(pair, key=lambda term: (term.spread == 0, -len(term.crossed), str(term.column))))
        names = (crossed.first.column, crossed.second.column)
        if not crossed.width:
            left_out.append(LeftOut(*names, f"no combination of interacting levels has {RARE} records"))
            continue
        model = _crossed_model(main, terms, crossed)
        own = np.arange(len(main.beta), len(model.beta))
        statistic, freedom, p = wald(model, own)
        if freedom == 0:
            left_out.append(LeftOut(*names, "the products add nothing to the main effects"))
            continue
        found.append(PairTest(*names, statistic, freedom, p, np.nan, crossed.left_out))
        points += grid(model, crossed, own)
    every = pd.DataFrame(found, columns=PairTest._fields)
    every = every.iloc[strongest_first(every)].reset_index(drop=True)
    every = every.assign(p_holm=holm(every["p_value"]))
    return Interactions(every, pd.DataFrame(points, columns=GridPoint._fields), left_out)


def _strongest(terms: Sequence[Term], tests: pd.DataFrame) -> tuple[list[Term], list[LeftOut]]:
    """Return the columns whose pairs are looked at, and what is not."""
    order = strongest_first(tests)
    beyond = f"interactions: not among the {CROSSED_COLUMNS} strongest columns"
    left_out = [LeftOut(terms[i].column, "any", beyond) for i in order[CROSSED_COLUMNS:]]
    chosen = [terms[i] for i in sorted(order[:CROSSED_COLUMNS])]
    rarer = f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"
    cut = [term for term in chosen if not term.is_numeric and len(term.names) > len(term.crossed) + 1]
    return chosen, left_out + [LeftOut(term.column, "any", rarer) for term in cut]


def _crossed_model(main: RiskModel, terms: Sequence[Term], crossed: Products) -> RiskModel:
    """Return the model of main effects and the products, started from the main effects."""
    design = sparse.hstack([main.design, crossed.columns], format="csr")
    groups = [*(term.codes for term in terms), crossed.groups]
    start = np.append(main.beta, np.zeros(crossed.width))
    return fit(design, main.scores, main.units, groups, main.confidence, start)
