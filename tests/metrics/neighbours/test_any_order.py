"""What is found of records is known again in any order of them, and equals what loops find."""

from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest

from samples.distances import distance_of, rows_of
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


def by_loops(tables, way):
    """Return the distances of each record to all others in order, pair by pair."""
    ours, theirs = (rows_of(getattr(tables, side)) for side in way.split("_to_"))
    away, within = distance_of(tables.real, tables.synthetic, "gower"), way in WAYS[2:]
    return [sorted(away(a, b) for j, b in enumerate(theirs) if not within or i != j) for i, a in enumerate(ours)]


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
        due = by_loops(tables, way)
        for k in (1, 2, 1):
            found = nearest_distances(tables, way, "gower", k)
            np.testing.assert_allclose(found, [own[:k] for own in due], rtol=1e-12)
            counts = [sum(each <= own[k - 1] * (1 + 1e-9) for each in own) for own in due]
            assert tie_counts(tables, way, "gower", k=k).tolist() == counts


@pytest.mark.parametrize("way", ["real_to_synthetic", "real_to_real"])
def test_another_order_of_the_same_records_is_not_searched(way, monkeypatch):
    real = drawn(400, 0, 12).drop_duplicates(ignore_index=True)
    release, made = drawn(50, 1, 12), []
    found = Pass._found
    monkeypatch.setattr(Pass, "_found", lambda own, k: made.append(k) or found(own, k))
    one = nearest_distances(Tables(real, release), way, "gower")
    turned = nearest_distances(Tables(real[::-1], release[::-1]), way, "gower")
    assert np.array_equal(one, turned[::-1])
    assert len(made) == 1


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
