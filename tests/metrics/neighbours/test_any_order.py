"""What is found of records is known again in any order of them, and equals what loops find."""

from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.neighbours import nearest
from synthrisk.metrics.neighbours.distances import tie_counts
from synthrisk.metrics.neighbours.nearest import Pass, nearest_distances
from synthrisk.metrics.neighbours.records import space_of
from synthrisk.metrics.tables.tables import Tables

WAYS = ("real_to_synthetic", "synthetic_to_real", "real_to_real", "synthetic_to_synthetic")


def drawn(rows, seed, columns):
    """Return records with equal ones among them, and many distances that are tied."""
    rng = np.random.default_rng(seed)
    numbers = {f"x{c}": rng.integers(0, 3, rows) / 3 for c in range(columns // 2)}
    levels = {f"c{c}": pd.Categorical.from_codes(rng.integers(0, 2, rows), ["a", "b"]) for c in range(columns // 2)}
    return pd.DataFrame(numbers | levels)


def by_loops(tables, way, k):
    """Return the distances of the k nearest, and how many lie at the k-th or nearer, pair by pair."""
    sides = {"real": tables.real, "synthetic": tables.synthetic}
    (ours, theirs), within = (sides[name] for name in way.split("_to_")), way in WAYS[2:]
    both = pd.concat([tables.real, tables.synthetic])
    distances, counts = [], []
    for i in range(len(ours)):
        own = []
        for j in range(len(theirs)):
            if within and i == j:
                continue
            total = 0.0
            for name in ours.columns:
                a, b = ours[name].iloc[i], theirs[name].iloc[j]
                if isinstance(a, str):
                    total += a != b
                elif both[name].max() > both[name].min():
                    total += abs(a - b) / (both[name].max() - both[name].min())
            own.append(total / ours.shape[1])
        own.sort()
        distances.append(own[:k])
        counts.append(sum(each <= own[k - 1] * (1 + 1e-9) for each in own))
    return np.array(distances), np.array(counts)


@pytest.fixture(autouse=True)
def _few_cells_are_worth_it(monkeypatch):
    monkeypatch.setattr(nearest, "_WORTH", 0)
    for name in ("_KEPT", "_SUMS"):
        monkeypatch.setattr(nearest, name, OrderedDict())


@pytest.mark.parametrize("columns", [4, 30])
@pytest.mark.parametrize("way", WAYS)
def test_distances_and_ties_equal_those_of_loops_in_any_order_of_records(way, columns):
    real, release = drawn(40, 0, columns), drawn(30, 1, columns)
    for order in range(3):
        tables = Tables(real.sample(frac=1, random_state=order), release.sample(frac=1, random_state=order + 5))
        for k in (1, 2, 1):
            distances, counts = by_loops(tables, way, k)
            np.testing.assert_allclose(nearest_distances(tables, way, "gower", k), distances, rtol=1e-12)
            assert tie_counts(tables, way, "gower", k=k).tolist() == counts.tolist()


@pytest.mark.parametrize(("way", "times"), [("real_to_synthetic", 1), ("real_to_real", 1)])
def test_another_order_of_the_same_records_is_not_searched(way, times, monkeypatch):
    real = drawn(400, 0, 12).drop_duplicates(ignore_index=True)
    release, made = drawn(50, 1, 12), []
    found = Pass._found
    monkeypatch.setattr(Pass, "_found", lambda own, k: made.append(k) or found(own, k))
    one = nearest_distances(Tables(real, release), way, "gower")
    turned = nearest_distances(Tables(real[::-1], release[::-1]), way, "gower")
    assert np.array_equal(one, turned[::-1])
    assert len(made) == times


def test_equal_records_are_each_others_nearest_though_one_of_each_was_searched_before():
    real = drawn(400, 0, 12).drop_duplicates(ignore_index=True)
    release, twice = drawn(50, 1, 12), pd.concat([real, real[:3]])
    assert nearest_distances(Tables(real, release), "real_to_real", "gower").min() > 0
    found = nearest_distances(Tables(twice, release), "real_to_real", "gower")[:, 0]
    assert np.flatnonzero(found == 0).tolist() == [0, 1, 2, len(real), len(real) + 1, len(real) + 2]


def test_a_range_that_a_release_widens_and_one_row_more_of_it_are_searched_anew():
    real, release = drawn(60, 0, 4), drawn(50, 1, 4)
    for other in (release.assign(x0=release["x0"] * 3), pd.concat([release, real[:1]])):
        for tables in (Tables(real, release), Tables(real, other)):
            found = nearest_distances(tables, "real_to_synthetic", "gower")
            whole = Pass(tables, "real_to_synthetic", space_of(tables, "gower"))._found(1)[0]
            assert np.array_equal(found, whole / 4)
