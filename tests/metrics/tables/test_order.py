"""Orders of rows and levels: by what holds them, so that positions, names and what nobody released have no part."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics.models.features import UNSEEN, level_codes, one_hot, one_hot_features, ordinal, ordinal_features
from synthrisk.metrics.tables import order
from synthrisk.metrics.tables.order import ABSENT, canonical, level_order, lexicographic_ranks
from synthrisk.metrics.tables.tables import Tables


def names_in_order(real, synthetic, column, among):
    """Return the levels that occur, in their order."""
    tables = Tables(real, synthetic)
    rank, levels = level_order(tables, among)[column], tables.levels(column)
    return [levels[code] for code in np.argsort(rank) if rank[code] != ABSENT]


def draw(rng, n, levels=12):
    table = pd.DataFrame({"x": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n))})
    table["c"] = np.where(rng.random(n) < 0.2, None, rng.choice([*"abcdefghijkl"][:levels], n))
    return table.assign(d=rng.choice([*"uvw"], n), flag=rng.random(n) < 0.5)


def assert_same_rows(first, second):
    """Compare as sets of rows: where levels are alike in both tables, names decide which of alike rows is which."""
    np.testing.assert_array_equal(*(design[np.lexsort(design.T)] for design in (first, second)))


def in_order(features, real, synthetic):
    """Features of both tables, their rows in canonical order."""
    tables = Tables(real, synthetic)
    ranks = canonical(tables)[:2]
    return [side[np.argsort(rank, kind="stable")] for side, rank in zip(features(tables), ranks, strict=True)]


SWAPPED = {"c": {"p": "q", "q": "p"}}


def test_the_commonest_of_the_release_is_first_and_the_missing_cell_last():
    real = pd.DataFrame({"c": ["few"] * 9 + ["never"] * 8})
    synthetic = pd.DataFrame({"c": [None] * 5 + ["few"] + ["some"] * 2 + ["most"] * 3})
    *found, last = names_in_order(real, synthetic, "c", ["c"])
    assert found == ["most", "some", "few", "never"]
    assert pd.isna(last)


def test_equally_common_levels_are_told_apart_by_their_records_in_the_columns_asked_for():
    release = pd.DataFrame({"c": ["p", "p", "q", "q"], "x": [1, 1, 1, 2]})
    both = release, release.replace(SWAPPED)
    first, second = (names_in_order(release[:0].reindex([0]), t, "c", ["c", "x"]) for t in both)
    assert first[:2] == second[:2][::-1]
    assert [names_in_order(t, t, "c", ["c"]) for t in both] == [["p", "q"]] * 2  # alike, so by name


@pytest.mark.parametrize("n", [12, 60])
@pytest.mark.parametrize("seed", range(6))
def test_the_attacked_records_move_no_code_of_a_release_whose_levels_differ(seed, n):
    rng = np.random.default_rng(seed)
    release, columns = draw(rng, n), ["x", "c", "d", "flag"]
    release["x"] = rng.permutation(n)
    found = []
    for real in (draw(rng, 50), draw(rng, 5), release):
        tables = Tables(real, release)
        found.append(np.column_stack([level_codes(tables, c, columns)[1] for c in columns[1:]]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_alike_levels_of_the_release_are_told_apart_by_the_real_records():
    release, real = pd.DataFrame({"c": ["p", "q"]}), pd.DataFrame({"c": ["q", "q", "p"]})
    first, second = (names_in_order(*each, "c", ["c"]) for each in ((real, release), (real.replace(SWAPPED), release)))
    assert first == second[::-1]


def test_what_is_alike_in_both_tables_takes_the_order_of_names():
    table = pd.DataFrame({"c": pd.Series(["b", 2, "a", None, True, 10.5], dtype=object)})
    *found, last = names_in_order(table, table, "c", ["c"])
    assert found == [1, 2, 10.5, "a", "b"]
    assert pd.isna(last)
    many = pd.DataFrame({"c": [f"{i:03}" for i in range(100)][::-1]})
    assert names_in_order(many, many, "c", ["c"]) == sorted(many["c"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("design", [ordinal, one_hot, ordinal_features, one_hot_features])
def test_the_same_tables_in_another_guise_have_the_same_design(design, n, seed):
    rng = np.random.default_rng(seed)
    before = draw(rng, n), draw(rng, n + 3)
    names = {"c": dict(zip("abcdefghijkl", rng.permutation([*"pqrstuvwxyza"]), strict=True)), "d": {"u": "w", "w": "u"}}
    after = [t.replace(names).sample(frac=1, random_state=seed)[["flag", "d", "c", "x"]] for t in before]
    after[0] = after[0].astype({"c": "category"})
    if design in (ordinal, one_hot):
        found, expected = (design(Tables(*t), ["x", "c", "flag"], ["x", "c", "flag", "d"]) for t in (after, before))
        for own, other in zip(found, expected, strict=True):
            assert_same_rows(own, other)
    else:
        for own, other in zip(in_order(design, *after), in_order(design, *before), strict=True):
            np.testing.assert_array_equal(own, other)


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 12]), st.integers(2, 60))
def test_unused_categories_and_types_of_cells_move_nothing(seed, levels, n):
    rng = np.random.default_rng(seed)
    real, synthetic = draw(rng, n, levels), draw(rng, n, levels)
    other = real.astype({"c": pd.CategoricalDtype(["unused", *"lkjihgfedcba", "also"])}), synthetic
    columns = ["x", "c", "d", "flag"]
    found, expected = (level_codes(Tables(*t), "c", columns) for t in (other, (real, synthetic)))
    for own, codes in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(own, codes)
    assert pd.Series(found[2]).equals(pd.Series(expected[2]))


def test_minus_zero_is_zero_and_each_missing_number_the_same():
    release = pd.DataFrame({"c": ["p", "p", "q", "q"], "x": [0.0, np.nan, 1.0, 2.0]})
    other = release.assign(x=[-0.0, -np.nan, 1.0, 2.0])
    assert names_in_order(release, release, "c", ["c", "x"]) == names_in_order(other, other, "c", ["c", "x"])


def test_levels_that_the_release_lacks_get_the_reserved_code():
    tables = Tables(pd.DataFrame({"c": ["a", "new", None]}), pd.DataFrame({"c": ["a", "b", "b"]}))
    real, synthetic, levels = level_codes(tables, "c", ["c"])
    assert (real.tolist(), synthetic.tolist()) == ([1, UNSEEN, UNSEEN], [1, 0, 0])
    assert levels.tolist() == ["b", "a"]


SQUARE = [(i, j, (i + j) % 3) for i in range(3) for j in range(3)]  # each level is like each other of its column
TABLES = {
    "square": SQUARE,
    "ring": [(i, (i + step) % 4, 0) for i in range(4) for step in (0, 1)],
    "mirrored": [(i, i, i) for i in range(4)],
    "large square": [(i, j, (i + j) % 4) for i in range(4) for j in range(4)],
    "two rings": [(i, j, 0) for i, j in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 3), (3, 2))],
    "parity": [(i % 5, j, (i + j) % 2) for i in range(5) for j in range(2)],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("seed", range(4))
def test_tables_whose_levels_are_all_alike_are_coded_alike_under_any_names(rows, seed):
    rng = np.random.default_rng(seed)
    tables = [pd.DataFrame(rows, columns=[*"abc"]).replace(dict(enumerate("pqrst")))]
    tables.append(tables[0].apply(lambda c: c.map(dict(zip("pqrst", rng.permutation([*"vwxyz"]), strict=True)))))
    assert_same_rows(*(ordinal(Tables(t, t), [*"abc"], [*"abc"]).synthetic for t in tables))


def test_many_pairs_of_twins_cost_one_look_at_the_table():
    table = pd.DataFrame({"c": [f"{i:04}" for i in range(4000)], "x": np.arange(4000) // 2, "d": list("uv") * 2000})
    other = table.assign(c=table["c"].sample(frac=1, random_state=0).to_numpy())
    assert_same_rows(*(ordinal(Tables(t, t), ["c", "x", "d"], ["c", "x", "d"]).synthetic for t in (table, other)))


def test_texts_of_one_person_alone_in_several_columns_cost_no_trial_and_are_coded_alike_under_any_names(monkeypatch):
    tried, smallest = [], order._smallest_class
    monkeypatch.setattr(order, "_smallest_class", lambda *own: tried.append(own) or smallest(*own))
    rng, people = np.random.default_rng(0), np.array([f"{i:03}" for i in range(300)])
    table = pd.DataFrame({"name": people, "mail": people, "job": [*"uvwwww"] * 50, "card": people})
    named = {c: dict(zip(people, rng.permutation(people), strict=True)) for c in ("name", "card")}
    other, names = table.assign(**{c: table[c].map(names) for c, names in named.items()}), list(table)
    assert_same_rows(*(ordinal(Tables(t, t), names, names).synthetic for t in (table, other)))
    assert len(tried) < 20, "u and v alone may be told apart by trials"


def test_where_the_work_would_be_too_much_names_decide(monkeypatch):
    monkeypatch.setattr("synthrisk.metrics.tables.order.WORK", 0)
    table = pd.DataFrame(SQUARE, columns=[*"abc"]).replace(dict(enumerate("pqr")))
    found = [names_in_order(table, table, c, [*"abc"]) for c in "abc"]
    assert (found[0], [sorted(own) for own in found]) == (["p", "q", "r"], [["p", "q", "r"]] * 3)


def test_members_and_control_records_tell_levels_apart_that_nothing_else_does():
    release = pd.DataFrame({"c": [*"ppqq"]})
    real, groups = pd.DataFrame({"c": [*"pq"]}), np.array([1, 0])
    found = [level_order(Tables(real, release, groups=own), ["c"])["c"][:2].tolist() for own in (groups, 1 - groups)]
    assert found[0] == found[1][::-1]


def test_levels_of_equal_counts_are_told_apart_by_their_rows():
    real = pd.DataFrame({"c": ["p", "q", "p", "q"], "x": [1, 2, 3, 4]})
    synthetic = pd.DataFrame({"c": ["p", "q"], "x": [5, 5]})
    first, other = Tables(real, synthetic), Tables(real.replace(SWAPPED), synthetic.replace(SWAPPED))
    assert len(set(canonical(first).levels["c"][0])) == 2
    np.testing.assert_array_equal(ordinal_features(first).real, ordinal_features(other).real)


def test_interchangeable_levels_stay_apart():
    tables = Tables(pd.DataFrame({"c": [*"abc"]}), pd.DataFrame({"c": [*"abc"]}))
    assert (sorted(canonical(tables).levels["c"][0]), one_hot_features(tables).real.sum()) == ([0, 1, 2], 3)


def test_columns_that_mirror_each_other_are_broken_together():
    real = pd.DataFrame({"c": [*"abab"], "d": [*"xyxy"]})
    other = real.replace({"d": {"x": "y", "y": "x"}})
    assert_same_rows(*(ordinal_features(Tables(t, t)).real for t in (real, other)))


def test_equal_rows_have_equal_ranks_and_others_not():
    rng = np.random.default_rng(0)
    real, synthetic = draw(rng, 50), draw(rng, 50)
    tables = Tables(real, synthetic)
    codes = np.concatenate(tables.codes(list(real)).tables)
    ranks = np.concatenate(canonical(tables)[:2])
    assert len(set(zip(codes, ranks, strict=True))) == len(set(codes)) == len(set(ranks))


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
