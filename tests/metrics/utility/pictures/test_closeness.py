"""Distances and associations against plain loops and published definitions."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from synthrisk.metrics.utility.pictures import cramers_v, joint_shares, total_variation


def loops(first, second, r, c):
    table = [[0.0] * c for _ in range(r)]
    for a, b in zip(first, second, strict=True):
        table[a][b] += 1 / len(first)
    return table


def plain_v(table, n):
    """Bergsma's corrected V, by loops over the cells."""
    rows = [i for i, row in enumerate(table) if sum(row) > 0]
    columns = [j for j in range(len(table[0])) if sum(row[j] for row in table) > 0]
    phi2 = 0.0
    for i in rows:
        for j in columns:
            expected = sum(table[i]) * sum(row[j] for row in table)
            phi2 += (table[i][j] - expected) ** 2 / expected
    r, c = len(rows), len(columns)
    phi2 = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    r2, c2 = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return (phi2 / min(r2 - 1, c2 - 1)) ** 0.5


@pytest.mark.parametrize("seed", range(5))
def test_association_is_bergsmas(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 300)
    second = np.where(rng.random(300) < 0.4, first, rng.integers(0, 6, 300))
    table = joint_shares(first, second, (5, 6))
    assert table == pytest.approx(np.array(loops(first, second, 5, 6)))
    assert cramers_v(table, 300) == pytest.approx(plain_v(table.tolist(), 300))
    counts = np.round(table[:4] * 300)
    chi2 = chi2_contingency(counts, correction=False).statistic
    assert cramers_v(table, 10**12) == pytest.approx((chi2 / 300 / 3) ** 0.5, abs=1e-5)  # uncorrected at the limit


def test_association_of_extremes():
    same = joint_shares(np.arange(400) % 4, np.arange(400) % 4, (4, 4))
    assert cramers_v(same, 400) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    apart = [cramers_v(joint_shares(rng.integers(0, 5, 500), rng.integers(0, 5, 500), (5, 5)), 500) for _ in range(200)]
    assert np.mean(apart) < 0.04  # without the correction it is 0.09
    assert np.isnan(cramers_v(joint_shares(np.zeros(50, int), rng.integers(0, 3, 50), (2, 3)), 50))


def test_distance_is_half_the_sum_of_differences():
    p, q = [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]
    assert total_variation(np.array(p), np.array(q)) == pytest.approx(
        sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    )
    assert total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1.0
