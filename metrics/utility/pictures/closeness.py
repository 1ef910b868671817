"""How alike two tables are in groups: total variation distance of columns and pairs, and Cramer's V of pairs."""

import numpy as np


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Return the total variation distance of two distributions on the same groups: 1/2 sum |p - q|, in [0, 1].

    It is the share of the records that would have to be moved to another group to make one distribution the other.

    Example:
        >>> total_variation(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 0.25]))
        0.25
    """
    return float(np.abs(p - q).sum() / 2)


def joint_shares(first: np.ndarray, second: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """Return the share of each combination of two groups, (r, c), among records by their groups in two columns."""
    counts = np.bincount(first * sizes[1] + second, minlength=sizes[0] * sizes[1])
    return counts.reshape(sizes) / len(first)


def cramers_v(shares: np.ndarray, records: int) -> float:
    """Return the bias-corrected Cramer's V of a joint distribution, (r, c), seen in so many records.

    With phi2 = sum (p_ij - p_i p_j)^2/(p_i p_j), its expectation without association taken off,
    max(0, phi2 - (r - 1)(c - 1)/(n - 1)), and r~ = r - (r - 1)^2/(n - 1): V = sqrt(phi2~/min(r~ - 1, c~ - 1)), in
    [0, 1]. r and c count groups that occur. NaN where one column has one group alone: then nothing can be associated.

    Reference: Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T, doi:10.1016/j.jkss.2012.10.002.

    Example:
        >>> cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]]), 1000)
        1.0
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    table = shares[rows > 0][:, columns > 0]
    r, c = table.shape
    if min(r, c) < 2 or records < 3:
        return float("nan")
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    phi2 = float(((table - expected) ** 2 / expected).sum())
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (records - 1))
    least = min(each - (each - 1) ** 2 / (records - 1) for each in (r, c)) - 1
    return float(min(1.0, np.sqrt(corrected / least))) if least > 0 else float("nan")
