"""The share at risk that an attacker without information would reach: its distribution over permutations."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy

Permute = Literal["synthetic", "real"]
LEVEL = 0.05
"""Share of null gains above the threshold, and of null values above the quantile."""
P_VALUES = tuple(f"null_{permute}_p_value" for permute in get_args(Permute))
"""Names of the details that are p-values of one release."""


@dataclass(frozen=True, eq=False)
class Null:
    """A value of RAPID beside its distribution under permuted sensitive values.

    ``permute`` says whose sensitive column was permuted: ``synthetic`` (the attacker model knows nothing) or ``real``
    (the model is as it is, its guesses meet other people's values). Without permutations the distribution is the normal
    one with the exact mean and sd.
    """

    permute: Permute
    permutations: int  # how many were drawn
    observed: float  # the value under no permutation, of the same attacker model
    threshold: float | None  # of a category: smallest gain that at most 5 % of the pooled null gains exceed, or 0
    tolerance: float | None  # of a number: largest error that at most 5 % of the pooled null errors stay below
    mean: float  # of the null's values
    sd: float  # over all permutations (``real``) or estimated from those drawn (``synthetic``)
    quantile: float  # 95 % quantile of the null's values
    p_value: float  # of a null value of at least ``observed``: (1 + how many)/(permutations + 1), or the normal tail
    values: np.ndarray  # (permutations,) those drawn


def named(null: Null) -> dict[str, float]:
    """Return the null's numbers as details whose names say whose values were permuted."""
    limits = {"threshold": null.threshold, "tolerance": null.tolerance}
    numbers = {"mean": null.mean, "quantile": null.quantile, "p_value": null.p_value}
    numbers |= {name: limit for name, limit in limits.items() if limit is not None}
    return {f"null_{null.permute}_{name}": number for name, number in numbers.items()}


def rank_p_value(observed: float, values: np.ndarray) -> float:
    """Return (1 + #{values >= observed})/(B + 1); at most a share p of such values is below p under the null.

    Example:
        >>> rank_p_value(0.5, np.array([0.1, 0.5, 0.4]))
        0.5
    """
    return float((1 + np.count_nonzero(values >= observed - 1e-12)) / (len(values) + 1))


def normal_p_value(observed: float, mean: float, sd: float, n: int) -> float:
    """Return the normal tail from ``observed`` on, corrected by half a record; 1 where nothing can vary."""
    return float(scipy.stats.norm.sf((observed - 0.5 / n - mean) / sd)) if sd > 0 else 1.0


def permutation_moments(rows: np.ndarray, columns: np.ndarray) -> tuple[float, float]:
    """Return mean and sd of (1/n) sum_i a[i, pi(i)] over all permutations pi, for a zero-one matrix a.

    With row means r, column means c and mean g: mean = g, variance = (g(1 - g) - var r - var c)/(n - 1); Hoeffding
    1951, "A combinatorial central limit theorem", doi:10.1214/aoms/1177729545, which also says that it is near normal.
    ``rows`` and ``columns`` are the (n,) row and column means of a.

    Example:
        >>> permutation_moments(np.array([0.5, 0.5]), np.array([0.5, 0.5]))  # the unit matrix: 1 or 0
        (0.5, 0.5)
    """
    mean = float(np.mean(rows))
    if len(rows) == 1:
        return mean, 0.0
    variance = (mean * (1 - mean) - np.var(rows) - np.var(columns)) / (len(rows) - 1)
    return mean, float(np.sqrt(max(0.0, variance)))


def exceeded_by_few(evidence: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the smallest value that at most 5 % of the (weighted) evidence exceeds.

    Example:
        >>> exceeded_by_few(np.arange(1.0, 101.0))
        95.0
    """
    return float(np.quantile(evidence, 1 - LEVEL, method="inverted_cdf", weights=weights))
