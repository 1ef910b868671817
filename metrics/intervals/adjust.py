"""P-values adjusted for how many there are."""

import numpy as np
from numpy.typing import ArrayLike


def holm(p_values: ArrayLike, larger: int = 0) -> np.ndarray:
    """Return Holm's step-down adjusted p-values: the running maximum of (m - i) p_(i), at most 1; NaN stays NaN.

    Holm 1979, Scandinavian Journal of Statistics 6, 65-70. m counts the p-values that are no NaN, and besides as many
    as are known to be ``larger`` than these: their own values are not needed.

    Example:
        >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
        [0.03, 0.06, 0.06]
        >>> holm([0.01], larger=2).round(3).tolist()
        [0.03]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    count = np.arange(len(order) + larger, larger, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * count))
    return adjusted
