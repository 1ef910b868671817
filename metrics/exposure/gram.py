"""The Gram matrix X'WX of a sparse design, and the directions in which the design does not move."""

from typing import Any

import numpy as np
import scipy

ALIASED = 1e-6
"""Length above which a part of a direction is more than rounding."""


def gram(across: Any, design: Any, weights: np.ndarray) -> np.ndarray:
    """Return X'WX, (p, p), of X' (``across``) and X (``design``), both sparse by rows, and the diagonal of W, (n,).

    Example:
        >>> from scipy.sparse import csr_matrix
        >>> x = csr_matrix([[1.0, 2.0], [1.0, 0.0]])
        >>> gram(x.T.tocsr(), x, np.array([1.0, 3.0]))
        array([[4., 2.],
               [2., 4.]])
    """
    weighted = design.copy()
    weighted.data = design.data * np.repeat(weights, np.diff(design.indptr))
    return (across @ weighted).toarray()


def null_directions(across: Any, design: Any) -> np.ndarray:
    """Return orthonormal directions, (p, k), in which the design does not move; k = 0 at full rank."""
    plain = gram(across, design, np.ones(design.shape[0]))
    size = np.sqrt(np.maximum(np.diag(plain), np.finfo(float).tiny))
    values, vectors = scipy.linalg.eigh(plain / np.outer(size, size))
    return scipy.linalg.orth(vectors[:, values < 1e-9] / size[:, None])
