"""Orders of rows and levels that neither positions nor names move."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics.models.features import one_hot_features, ordinal_features
from synthrisk.metrics.tables.order import among_equals, canonical, lexicographic_ranks
from synthrisk.metrics.tables.tables import Tables


def draw(rng, n):
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
            "c": np.where(rng.random(n) < 0.2, None, rng.choice([*"abcdef"], n)),
            "d": rng.choice([*"uvw"], n),
            "flag": rng.random(n) < 0.5,
        }
    )


def in_order(design, ranks):
    """Features of both tables, their rows in canonical order."""
    return [side[np.argsort(rank, kind="stable")] for side, rank in zip(design, ranks, strict=True)]


@pytest.mark.parametrize("features", [ordinal_features, one_hot_features])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 6, 40])
def test_the_same_tables_in_another_guise_have_the_same_features(features, seed, n):
    rng = np.random.default_rng(seed)
    real, synthetic = draw(rng, n), draw(rng, n + 3)
    names = {"c": dict(zip("abcdef", rng.permutation([*"pqrstu"]), strict=True)), "d": {"u": "w", "w": "v", "v": "u"}}
    other = [t.replace(names).sample(frac=1, random_state=seed)[["flag", "d", "c", "x"]] for t in (real, synthetic)]
    before, after = Tables(real, synthetic), Tables(other[0].astype({"c": "category"}), other[1])
    expected = in_order(features(before), canonical(before)[:2])
    for found, own in zip(in_order(features(after), canonical(after)[:2]), expected, strict=True):
        np.testing.assert_array_equal(found, own)


def test_levels_of_equal_counts_are_told_apart_by_their_rows():
    real = pd.DataFrame({"c": ["p", "q", "p", "q"], "x": [1, 2, 3, 4]})
    synthetic = pd.DataFrame({"c": ["p", "q"], "x": [5, 5]})
    first = Tables(real, synthetic)
    other = Tables(*(t.replace({"c": {"p": "q", "q": "p"}}) for t in (real, synthetic)))
    assert len(set(canonical(first).levels["c"][0])) == 2
    np.testing.assert_array_equal(ordinal_features(first).real, ordinal_features(other).real)


def test_interchangeable_levels_stay_apart():
    tables = Tables(pd.DataFrame({"c": [*"abc"]}), pd.DataFrame({"c": [*"abc"]}))
    assert sorted(canonical(tables).levels["c"][0]) == [0, 1, 2]
    assert one_hot_features(tables).real.sum() == 3


def test_columns_that_mirror_each_other_are_broken_together():
    """Names of one column say which is which; the other column must follow."""
    real = pd.DataFrame({"c": [*"abab"], "d": [*"xyxy"]})
    other = real.replace({"d": {"x": "y", "y": "x"}})
    found = [ordinal_features(Tables(t, t)).real for t in (real, other)]
    np.testing.assert_array_equal(*(f[np.lexsort(f.T)] for f in found))


def test_equal_rows_have_equal_ranks_and_others_not():
    rng = np.random.default_rng(0)
    real, synthetic = draw(rng, 50), draw(rng, 50)
    tables = Tables(real, synthetic)
    codes = np.concatenate(tables.codes(list(real)).tables)
    ranks = np.concatenate(canonical(tables)[:2])
    assert len(set(zip(codes, ranks, strict=True))) == len(set(codes)) == len(set(ranks))


def test_what_equal_rows_have_by_chance_is_shared():
    values, rows = np.array([1.0, 2.0, 6.0, 7.0]), np.array([3, 9, 3, 9])
    np.testing.assert_array_equal(among_equals(values, rows), [3.5, 4.5, 3.5, 4.5])


@given(
    rows=st.integers(1, 40),
    kinds=st.lists(st.sampled_from(["few", "far apart", "floats", "missing", "booleans"]), min_size=1, max_size=9),
    seed=st.integers(0, 2**32 - 1),
)
def test_ranks_of_rows_are_their_places_among_the_distinct_rows_in_order(rows, kinds, seed):
    rng = np.random.default_rng(seed)
    drawn = {
        "few": lambda: rng.integers(-3, 3, rows).astype(rng.choice([np.int8, np.int64])),
        "far apart": lambda: rng.choice([-(2**62), 0, 7, 2**62], rows),
        "floats": lambda: rng.choice([-0.0, 0.0, 0.5, np.inf], rows),
        "missing": lambda: np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 4, rows)),
        "booleans": lambda: rng.random(rows) < 0.5,
    }
    columns = [drawn[kind]() for kind in kinds]
    cells = zip(*(column.tolist() for column in columns), strict=True)
    keys = [tuple((1, 0.0) if cell != cell else (0, cell) for cell in row) for row in cells]  # NaN comes last
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    assert lexicographic_ranks(columns).tolist() == [places[key] for key in keys]
