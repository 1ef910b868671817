"""Distances to cells that stand for sets of values, against plain loops over pairs of records."""

import numpy as np
import pandas as pd
import pytest

from samples.coarse import BANDS, may_be, tables
from synthrisk.metrics import METRICS
from synthrisk.metrics.neighbours.distances import nearest_by_sets, nearest_value_distances
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.tables.tables import Tables, ValueSets


def by_loops(real: pd.DataFrame, release: pd.DataFrame) -> np.ndarray:
    """Return the distances of all pairs, (n, m)."""
    extents = {c: max(real[c].max(), release[c].max()) - min(real[c].min(), release[c].min()) for c in ("age", "pay")}
    found = np.zeros((len(real), len(release)))
    for i, person in enumerate(real.to_dict("records")):
        for j, row in enumerate(release.to_dict("records")):
            low, high = BANDS.get(row["age"], (row["age"], row["age"]))
            gaps = [max(low - person["age"], person["age"] - high, 0) / extents["age"]]
            gaps += [abs(person["pay"] - row["pay"]) / extents["pay"]]
            gaps += [float(not may_be(c, row[c], person[c])) for c in ("zip", "job")]
            found[i, j] = sum(gaps) / 4
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_value_of_a_set_counts(seed: int):
    real, release = tables(seed)
    due, both = by_loops(real, release), Tables(real, release)
    np.testing.assert_allclose(nearest_value_distances(both), due.min(axis=1), atol=1e-12)
    score = METRICS["distance_to_closest_record"](real, release)
    np.testing.assert_allclose(score.records["score"], 1 - due.min(axis=1), atol=1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_all_that_are_as_near_as_the_kth_are_found(k: int):
    real, release = tables(5)
    due = by_loops(real, release)
    owner, rows, means = nearest_by_sets(Tables(real, release), k)
    limit = np.sort(due, axis=1)[:, k - 1]
    pairs = {(i, j) for i in range(len(real)) for j in range(len(release)) if due[i, j] <= limit[i] + 1e-9}
    assert set(zip(owner.tolist(), rows.tolist(), strict=True)) == pairs
    np.testing.assert_allclose(means, np.sort(due, axis=1)[:, :k].mean(axis=1), atol=1e-12)


def test_without_coarse_cells_they_are_the_distances_of_the_search():
    real, release = tables(2)
    release = release.assign(age=real["age"].iloc[0], zip="10001", job="cook")
    plain = Tables(real, ValueSets().beside(release))
    near = real_to_synthetic(plain, "gower").distances[:, 0]
    np.testing.assert_array_equal(nearest_value_distances(plain), near)
    np.testing.assert_allclose(nearest_value_distances(Tables(real, release)), near, atol=1e-12)
