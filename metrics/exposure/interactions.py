"""Interactions: each pair of quasi-identifiers tested in a model of its own, with the products of the two."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from synthrisk.metrics.exposure.products import products
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
    every, grids, absent = crossed_tests(main, terms, combinations(chosen, 2), PairTest)
    left_out += [LeftOut(first, second, reason) for (first, second), reason in absent]
    return Interactions(every, pd.DataFrame(grids, columns=GridPoint._fields), left_out)


def crossed_tests(
    main: RiskModel, terms: Sequence[Term], several: Iterable[Sequence[Term]], row: type[Any]
) -> tuple[pd.DataFrame, list[tuple[Any, ...]], list[tuple[tuple[Hashable, ...], str]]]:
    """Return the tests of the products of several terms (a ``row`` each, strongest first), grids, and what is left out.

    Each test is made in a model of its own: all main effects, the products of each two of the terms, and of all.
    """
    found, points, left_out = [], [], []
    for some in several:
        crossed = products(*sorted(some, key=lambda term: (term.spread == 0, -len(term.crossed), str(term.column))))
        names = tuple(term.column for term in crossed.terms)
        if not len(crossed.kept):
            left_out.append((names, f"no combination of interacting levels has {RARE} records"))
            continue
        added = [*crossed.inside, crossed]
        design = sparse.hstack([main.design, *(each.columns for each in added)], format="csr")
        groups = [*(term.codes for term in terms), *(each.groups for each in added)]
        start = np.append(main.beta, np.zeros(design.shape[1] - len(main.beta)))
        model = fit(design, main.scores, main.units, groups, main.confidence, start)
        own = np.arange(len(model.beta) - len(crossed.kept), len(model.beta))
        statistic, freedom, p = wald(model, own)
        if freedom == 0:
            left_out.append((names, "the products add nothing to the main effects"))
            continue
        found.append(row(*names, statistic, freedom, p, np.nan, crossed.left_out))
        points += grid(model, crossed, len(main.beta))
    tests = pd.DataFrame(found, columns=row._fields)
    tests = tests.iloc[strongest_first(tests)].reset_index(drop=True)
    return tests.assign(p_holm=holm(tests["p_value"])), points, left_out


def _strongest(terms: Sequence[Term], tests: pd.DataFrame) -> tuple[list[Term], list[LeftOut]]:
    order = strongest_first(tests)
    beyond = f"interactions: not among the {CROSSED_COLUMNS} strongest columns"
    left_out = [LeftOut(terms[i].column, "any", beyond) for i in order[CROSSED_COLUMNS:]]
    chosen = [terms[i] for i in sorted(order[:CROSSED_COLUMNS])]
    rarer = f"interactions of levels beyond the {CROSSED_LEVELS} most frequent"
    cut = [term for term in chosen if not term.is_numeric and len(term.names) > len(term.crossed) + 1]
    return chosen, left_out + [LeftOut(term.column, "any", rarer) for term in cut]
