"""Distances to cells that stand for sets of values, against plain loops over pairs of records."""

import numpy as np
import pandas as pd
import pytest

from samples.coarse import BANDS, may_be, tables
from synthrisk.metrics import METRICS
from synthrisk.metrics.neighbours.distances import farthest, of_pairs, tie_counts
from synthrisk.metrics.neighbours.nearest import real_to_synthetic, synthetic_to_real
from synthrisk.metrics.tables.tables import Tables, ValueSets

TEXTS, NUMBERS = ("zip", "job"), ("age", "pay")


def by_loops(real: pd.DataFrame, release: pd.DataFrame, space: str) -> np.ndarray:
    """Return the distances of all pairs, (n, m)."""
    both = pd.concat([real, release])
    units = {c: both[c].max() - both[c].min() if space == "gower" else real[c].std(ddof=0) for c in NUMBERS}
    shares = {c: real[c].fillna("missing").value_counts(normalize=True) for c in TEXTS}
    found = np.zeros((len(real), len(release)))
    for i, person in enumerate(real.to_dict("records")):
        for j, row in enumerate(release.to_dict("records")):
            low, high = BANDS.get(row["age"], (row["age"], row["age"]))
            gaps = [max(low - person["age"], person["age"] - high, 0) / units["age"]]
            gaps += [abs(person["pay"] - row["pay"]) / units["pay"]]
            for c in TEXTS:
                apart = 0.0 if may_be(c, row[c], person[c]) else 1.0
                if space == "euclid":
                    each = [shares[c].get("missing" if pd.isna(v) else v, 0.0) for v in (person[c], row[c])]
                    apart *= np.sqrt(sum(1 / (p * (1 - p)) if p else 1.0 for p in each))
                gaps.append(apart)
            found[i, j] = np.mean(gaps) if space == "gower" else np.sqrt(np.square(gaps).sum())
    return found


@pytest.mark.parametrize("space", ["gower", "euclid"])
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_value_of_a_set_counts_in_both_directions(seed, space):
    real, release = tables(seed)
    due, both = by_loops(real, release, space), Tables(real, release)
    found = real_to_synthetic(both, space, k=3).distances
    np.testing.assert_allclose(found, np.sort(due, axis=1)[:, :3], atol=1e-9)
    np.testing.assert_allclose(synthetic_to_real(both, space).distances[:, 0], due.min(axis=0), atol=1e-9)
    near = due <= due.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-12
    assert tie_counts(both, "real_to_synthetic", space).tolist() == near.sum(axis=1).tolist()
    pairs = np.arange(min(len(real), len(release)))
    np.testing.assert_allclose(of_pairs(both, space, pairs, pairs), due[pairs, pairs], atol=1e-9)
    assert farthest(both, space) == pytest.approx(due.max(), abs=1e-9)


def test_records_with_coarse_cells_are_as_near_as_their_nearest_value():
    real, release = tables(1)
    due = by_loops(real, release, "gower")
    score = METRICS["distance_to_closest_record"](real, release)
    np.testing.assert_allclose(score.records["score"], 1 - due.min(axis=1), atol=1e-12)
    assert score.published == pytest.approx(by_loops(real, release, "euclid").min(axis=1).mean(), abs=1e-9)


@pytest.mark.parametrize("space", ["gower", "euclid"])
def test_a_number_that_is_suppressed_is_at_no_distance_and_a_missing_one_is(space):
    real = pd.DataFrame({"age": [20.0, 40.0, None], "pay": [1.0, 2.0, 3.0]})
    release = pd.DataFrame({"age": [None, 40.0], "pay": [1.0, 3.0]})
    hidden = Tables(real, ValueSets({}, frozenset(["age"])).beside(release))
    assert real_to_synthetic(hidden, space).distances[[0], 0].tolist() == [0.0]
    plain = Tables(real, release)
    assert real_to_synthetic(plain, space).distances[0, 0] > 0.1


def test_without_coarse_cells_they_are_the_distances_of_the_search():
    real, release = tables(2)
    release = release.assign(age=real["age"].iloc[0], zip="10001", job="cook")
    near = real_to_synthetic(Tables(real, ValueSets().beside(release)), "gower").distances[:, 0]
    np.testing.assert_allclose(real_to_synthetic(Tables(real, release), "gower").distances[:, 0], near, atol=1e-12)
