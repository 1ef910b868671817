"""Score tests of products of columns: what a model with them would find, told from the model without them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.exposure.gram import gram
from synthrisk.metrics.exposure.products import Products
from synthrisk.metrics.exposure.risk_model import RIDGE, RiskModel
from synthrisk.metrics.exposure.wald import strongest_first

_ALIASED = 1e-4  # share of the variance of products below which the main effects tell them


def strongest_products(main: RiskModel, every: Sequence[Products], most: int) -> tuple[list[int], list[int]]:
    """Return which products are the strongest, and which add nothing at all, by score tests beside the main effects.

    With residuals r = y - P, weights W = P(1 - P), main effects X and products Z, and M = (X'WX + ridge)^-1 X'WZ, the
    score is U = (Z - XM)'r. Rao's test takes its variance from the model, phi (Z - XM)'W(Z - XM) with the dispersion
    phi = sum r^2/sum W of scores that are shares; the robust one from the residuals, (Z - XM)'R(Z - XM) with R = r^2.
    Neither needs a fit. Rao's is off where few records with large values decide, the robust one where a combination has
    one flag alone: so the places go to the first of both, in turns (Rao 1948, doi:10.1017/S0305004100023987; Boos 1992,
    doi:10.1080/00031305.1992.10475921).

    Args:
        main: The model of the main effects.
        every: Products that have columns.
        most: How many to name.
    """
    tests = _Scores(main)
    found = [tests.of(each) for each in every]
    nothing = [i for i, (plain, _) in enumerate(found) if plain.freedom == 0]
    orders = [strongest_first(pd.DataFrame(each, columns=_Test._fields)) for each in zip(*found, strict=True)]
    in_turns = dict.fromkeys(int(i) for pair in zip(*orders, strict=True) for i in pair)
    return [i for i in in_turns if i not in nothing][:most], nothing


class _Test(NamedTuple):
    statistic: float
    freedom: int
    p_value: float


class _Scores:
    """What all score tests beside one model have in common."""

    def __init__(self, main: RiskModel):
        self._design, self._across = main.design, main.design.T.tocsr()
        p = scipy.special.expit(main.design @ main.beta)
        self._weight, self._residual, self._freedom = p * (1 - p), main.scores - p, main.freedom
        self._phi = float((self._residual**2).sum() / self._weight.sum())
        penalty = RIDGE * (np.arange(len(main.beta)) > 0)
        self._inverse = scipy.linalg.inv(gram(self._across, main.design, self._weight) + np.diag(penalty))
        self._off = self._across @ self._residual
        self._squares = gram(self._across, main.design, self._residual**2)

    def of(self, products: Products) -> tuple[_Test, _Test]:
        """Return Rao's test and the robust one."""
        z = products.columns
        shared, robust = (self._beside(z, weights) for weights in (self._weight, self._residual**2))
        told = self._inverse @ shared
        score = z.T @ self._residual - told.T @ self._off
        squares = z.multiply(z).T  # of a record all products but one are 0
        own = squares @ self._weight
        plain = np.diag(own) - shared.T @ told
        spread = np.diag(squares @ self._residual**2) - robust.T @ told - told.T @ robust
        spread += told.T @ self._squares @ told
        values, vectors = np.linalg.eigh(plain / np.sqrt(np.outer(own, own)))
        basis = vectors[:, values > _ALIASED] / np.sqrt(own)[:, None]
        return self._test(basis, score, self._phi * plain), self._test(basis, score, spread)

    def _beside(self, z: Any, weights: np.ndarray) -> np.ndarray:
        return np.asarray((self._across @ z.multiply(weights[:, None]).tocsr()).toarray())

    def _test(self, basis: np.ndarray, score: np.ndarray, variance: np.ndarray) -> _Test:
        found, values = basis.T @ score, np.linalg.eigh(basis.T @ variance @ basis)
        there = values[0] > 1e-8 * max(values[0].max(initial=0.0), np.finfo(float).tiny)
        freedom = int(there.sum())
        if freedom == 0:
            return _Test(0.0, 0, 1.0)
        chi2 = float(((values[1].T @ found)[there] ** 2 / values[0][there]).sum())
        return _Test(chi2, freedom, float(scipy.special.fdtrc(freedom, self._freedom, chi2 / freedom)))
