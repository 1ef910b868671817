import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.cart import CART, cart, coded, ends, predictor, smoothed
from synthrisk.tasks.synthesize.synthesizer import Job


def job(train: pd.DataFrame, rows: int | None = None, seed: int = 1) -> Job:
    return Job(train, train.head(0), len(train) if rows is None else rows, seed)


def released(train, rows: int | None = None, seed: int = 1, **options) -> pd.DataFrame:
    return cart(job(pd.DataFrame(train), rows, seed), **options).synthetic


def awkward(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    table = pd.DataFrame({
        "float": np.where(rng.random(n) < 0.2, np.nan, x),
        "infinite": np.where(x > 2, np.inf, np.where(x < -2, -np.inf, x)),
        "huge": rng.integers(0, 50, n) + 2**62 + 1,
        "unsigned": rng.integers(0, 5, n).astype("uint64") + np.uint64(2**63),
        "small": rng.integers(-128, 128, n).astype("int8"), "bool": x > 0,
        "Int64": pd.array(np.where(x > 1, None, rng.integers(0, 9, n) + 2**53), dtype="Int64"),
        "boolean": pd.array(np.where(x > 1, None, x > 0), dtype="boolean"),
        "object": np.where(x > 1, None, np.where(x > 0, 'a "quoted", ü', "it's")),
        "string": pd.array(np.where(x > 0, "日本", "x"), dtype="string"),
        "category": pd.Categorical(np.where(x > 0, "b", "a"), ["unused", "b", "a"], ordered=True),
        "codes": pd.Categorical(rng.integers(0, 4, n)),
        "date": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D")),
        "zoned": pd.Series(pd.date_range("2020-01-01", periods=n, freq="h", tz="Europe/Vienna")),
        "seconds": pd.Series(pd.date_range("2020-01-01", periods=n, freq="D")).astype("M8[s]"),
        "duration": pd.to_timedelta(rng.integers(0, 1000, n), "s"), "nothing": np.full(n, np.nan),
        "nothing_text": np.full(n, None, dtype=object), "constant": 7,
        "unique": [f"person {i}" for i in range(n)],
    })  # fmt: skip
    table.loc[::7, "date"] = pd.NaT
    return table


def cells(column: pd.Series) -> set[object]:
    return set(column.dropna()) | ({"missing"} if column.isna().any() else set())


@pytest.mark.parametrize("smoothing", [None, "density"])
def test_a_release_has_the_columns_and_dtypes_of_the_training_table_and_its_seed_decides_it(smoothing):
    train = awkward()
    before, state = train.copy(deep=True), np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (released(train, 333, s, smoothing=smoothing) for s in (1, 1, 2))
    assert (list(first.columns), first.dtypes.tolist()) == (list(train.columns), train.dtypes.tolist())
    assert first.index.equals(pd.RangeIndex(333))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    pd.testing.assert_frame_equal(train, before)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_every_cell_is_the_cell_of_a_training_record_and_no_held_out_one_is_used():
    train = awkward()
    made = cart(job(train, 500))
    for name in train:
        assert cells(made.synthetic[name]) <= cells(train[name]), name
    assert set(made.synthetic["huge"]) <= set(train["huge"])  # exact: no float has these last digits
    assert len(made.used) == 0


@pytest.mark.proof
def test_a_seed_gives_the_same_release_in_another_process(capsys):
    script = (
        "import numpy as np, pandas as pd\n"
        "from synthrisk.tasks.synthesize.cart import cart\n"
        "from synthrisk.tasks.synthesize.synthesizer import Job\n"
        "rng = np.random.default_rng(0)\n"
        "x = rng.normal(size=500)\n"
        "train = pd.DataFrame({'x': x, 'c': np.where(x > 0, 'a', 'b'), 'y': x.round(1)})\n"
        "release = cart(Job(train, train.head(0), 500, 2**70), smoothing='density').synthetic\n"
        "print(pd.util.hash_pandas_object(release).sum())\n"
    )
    exec(script, {})
    here = capsys.readouterr().out
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert there.stdout == here != ""


@pytest.mark.parametrize("name", list(awkward().columns))
def test_one_row_and_one_column(name):
    train = awkward()[[name]]
    one = train.head(1)
    release = released(one, 3)
    assert release[name].isna().all() if one[name].isna().all() else (release[name] == one[name][0]).all()
    assert cells(released(train, 50)[name]) <= cells(train[name])
    assert len(released(train.head(0).reindex([0]).head(1), 2)) == 2


def test_a_dependence_is_kept_for_every_pair_of_kinds():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    group = rng.integers(0, 12, 2000)  # an order of the levels that means nothing
    train = pd.DataFrame({
        "x": x, "linear": 3 * x + rng.normal(scale=0.3, size=2000), "sign": np.where(x > 0, "plus", "minus"),
        "level": [f"level {g * 7 % 12}" for g in group], "mean": (group % 2) * 10.0 + rng.normal(size=2000),
        "class": np.array(["red", "green", "blue"])[group % 3],
    })  # fmt: skip
    release = released(train)
    assert release["x"].corr(release["linear"]) == pytest.approx(train["x"].corr(train["linear"]), abs=0.01)
    assert ((release["x"] > 0) == (release["sign"] == "plus")).mean() > 0.99
    pairs = set(zip(train["level"], train["class"], strict=True))
    assert np.mean([p in pairs for p in zip(release["level"], release["class"], strict=True)]) > 0.99
    means = pd.concat([t.groupby("level")["mean"].mean() for t in (train, release)], axis=1)
    assert (means.iloc[:, 0] - means.iloc[:, 1]).abs().max() < 0.5


def test_marginals_are_kept_and_independent_columns_stay_independent():
    train = awkward(3000)
    release = released(train)
    for name in ("bool", "object", "category", "boolean", "codes"):
        shares = [t[name].value_counts(normalize=True, dropna=False) for t in (train, release)]
        assert shares[0].sub(shares[1], fill_value=0).abs().max() < 0.04, name
    assert abs(release["float"].mean() - train["float"].mean()) < 0.08
    rng = np.random.default_rng(2)
    release = released({"a": rng.normal(size=4000), "b": rng.normal(size=4000), "c": rng.integers(0, 2, 4000)})
    assert release.corr()["a"].drop("a").abs().max() < 0.06


def test_missing_cells_follow_what_they_depend_on_and_inform():
    x = np.random.default_rng(3).normal(size=3000)
    release = released({"x": x, "y": np.where(x > 1, np.nan, x)})
    assert (release["y"].isna() == (release["x"] > 1)).mean() > 0.99
    assert release.dropna().corr().iloc[0, 1] > 0.99
    x = np.where(np.arange(2000) % 2 == 0, np.nan, 1.0)
    release = released({"x": x, "y": np.where(np.isnan(x), "none", "some")})
    assert (release["x"].isna() == (release["y"] == "none")).all()


def test_a_text_that_names_the_record_gives_no_cells_away_but_nearby_huge_integers_are_told_apart():
    huge = 2**62 + np.arange(2000) % 2
    release = released({"huge": huge, "y": np.where(huge % 2 == 0, "even", "odd")})
    assert ((release["huge"] % 2 == 0) == (release["y"] == "even")).all()
    secrets = np.random.default_rng(4).normal(size=2000)
    release = released({"name": [f"person {i}" for i in range(2000)], "secret": secrets})
    whose = release["name"].str.removeprefix("person ").astype(int)
    assert abs(np.corrcoef(secrets[whose], release["secret"])[0, 1]) < 0.1


def test_many_classes_and_names_that_are_not_texts_are_taken():
    x = np.random.default_rng(5).normal(size=3000)
    assert released({"x": x, "town": [f"town {i % 700}" for i in range(3000)]})["town"].nunique() > 600
    assert list(released({0: [1, 2] * 10, ("a", 1): ["x", "y"] * 10}).columns) == [0, ("a", 1)]


def test_larger_leaves_copy_fewer_pairs():
    rng = np.random.default_rng(6)
    x = rng.normal(size=2000)
    train = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=2000)})
    pairs = set(zip(train["x"], train["y"], strict=True))

    def copied(**options: int) -> float:
        release = released(train, **options)
        return float(np.mean([p in pairs for p in zip(release["x"], release["y"], strict=True)]))

    assert 0.1 < copied(min_samples_leaf=5) < 0.25  # one donor of 5 to 9 is the record itself
    assert copied(min_samples_leaf=50) < 0.03
    assert copied(max_depth=1) < 0.01
    assert copied(min_samples_leaf=1) == 1.0


def test_visit_order_is_honoured():
    train = pd.DataFrame({"a": np.arange(40), "b": np.arange(40) % 2})
    straight, back = (released(train, visit_order=order) for order in (["a", "b"], ["b", "a"]))
    rng = np.random.default_rng(1)
    rng.integers(2**31)  # the seed of the first tree, which is not grown
    assert (straight["a"] == rng.integers(0, 40, 40)).all()
    assert list(back.columns) == ["a", "b"]
    assert not straight.equals(back)
    assert straight.equals(released(train))


def test_levels_are_ordered_by_what_they_say_of_the_target_and_rare_ones_share_a_code():
    levels, rows = coded(pd.Series(list("abcd") * 50)), np.arange(200)
    assert np.argsort(predictor(levels, np.tile([3.0, 1.0, 4.0, 2.0], 50), rows, 5)[:4]).tolist() == [1, 3, 0, 2]
    order = predictor(levels, np.tile([0, 1, 0, 2], 50), rows, 5)[:4]
    assert abs(order[0] - order[2]) == 1  # levels of the same class are neighbours
    levels = pd.Series(["often"] * 10 + [f"rare {i}" for i in range(4)])
    assert len(set(predictor(coded(levels), np.arange(14.0), np.arange(14), 5))) == 2


@pytest.mark.parametrize(("options", "sentence"), [
    ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1, got 0"),
    ({"min_samples_leaf": None}, "min_samples_leaf must be a whole number of at least 1, got None"),
    ({"min_samples_leaf": True}, "min_samples_leaf must be a whole number of at least 1, got True"),
    ({"max_depth": 1.5}, "max_depth must be a whole number of at least 1, got 1.5"),
    ({"smoothing": "spline"}, "smoothing must be null or 'density', got 'spline'"),
    ({"stopping": "ctree"}, "stopping must be null or 'rpart', got 'ctree'"),
    ({"visit_order": "ab"}, "visit_order must be a list of column names, got 'ab'"),
    ({"visit_order": ["age", "vot"]}, r"must name columns of the table, got 'vot' \(did you mean 'vote'"),
    ({"visit_order": ["age"]}, r"visit_order must name every column once, got \['vote'\] absent"),
    ({"visit_order": ["age", "vote", "age"]}, "visit_order must name every column once, got a name twice"),
])  # fmt: skip
def test_wrong_options_are_named(options, sentence):
    with pytest.raises(InputError, match=sentence):
        CART.function(job(pd.DataFrame({"age": [1, 2], "vote": ["a", "b"]})), **options)


@pytest.mark.parametrize(("train", "rows", "sentence"), [
    ({"age": []}, 5, "cart needs a record"), ({"age": [1.0]}, 0, "cart needs a record"),
    ({"lists": [["secret"], ["b"]]}, 2, "column 'lists' must hold plain values"),
])  # fmt: skip
def test_nothing_to_learn_or_to_draw_and_cells_that_cannot_be_compared_are_refused(train, rows, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        released(train, rows)
    assert "secret" not in str(caught.value)


# trees that end where R's rpart ends them


def fitted(x, y, **limits):
    return DecisionTreeClassifier(random_state=0, **limits).fit(np.asarray(x, dtype=float), y)


@pytest.mark.parametrize(("right", "kept"), [([0] * 6 + [1] * 4, [0, 0, 0]), ([0] * 4 + [1] * 6, [0, 1, 2])])
def test_a_split_that_sets_no_record_right_is_dropped(right, kept):
    tree = fitted([[0]] * 10 + [[1]] * 10, [0] * 10 + right)  # shares differ, the likeliest class need not
    assert (tree.tree_.node_count, ends(tree.tree_).tolist()) == (3, kept)


def test_a_split_without_gain_is_kept_for_the_gain_below_it():
    x = np.random.default_rng(0).integers(0, 2, (400, 2))
    y = x[:, 0] ^ x[:, 1]  # one split alone sets hardly any right, two set all
    tree = fitted(x, y)
    assert (tree.predict(x.astype(float)) == y).all()
    assert ends(tree.tree_).tolist() == list(range(tree.tree_.node_count))


def test_what_is_left_is_the_smallest_tree_with_the_same_training_errors():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(600, 4)), rng.integers(0, 3, 600)
    tree = fitted(x, y, min_samples_leaf=5)
    end, leaf = ends(tree.tree_), tree.apply(x)

    def errors(where):
        return sum((y[where == node] != np.bincount(y[where == node]).argmax()).sum() for node in np.unique(where))

    assert errors(end[leaf]) == errors(leaf)
    assert len(np.unique(end[leaf])) < len(np.unique(leaf))
    children = zip(tree.tree_.children_left, tree.tree_.children_right, strict=True)
    parent = {child: node for node, pair in enumerate(children) for child in pair if child >= 0}
    for node in np.unique(end[leaf]):  # no two leaves can be put together without an error more
        top = parent.get(node)
        if top is not None:
            below = np.isin(end[leaf], [n for n in np.unique(end[leaf]) if _is_under(n, top, parent)])
            assert errors(np.where(below, top, end[leaf])) > errors(end[leaf])


def _is_under(node, top, parent):
    while node is not None and node != top:
        node = parent.get(node)
    return node == top


def test_rpart_keeps_nodes_below_three_times_the_smallest_leaf_whole_and_a_rare_class_independent():
    train = pd.DataFrame({"place": np.arange(14) // 7, "kind": ["a"] * 7 + ["b"] * 7})
    split, whole = (released(train, min_samples_leaf=5, stopping=each) for each in (None, "rpart"))
    crossed = pd.crosstab(split["place"], split["kind"]).to_numpy()
    assert crossed[0, 1] == crossed[1, 0] == 0  # 14 records split at 7
    assert (pd.crosstab(whole["place"], whole["kind"]).to_numpy() > 0).all()  # rpart needs 15
    rng = np.random.default_rng(3)
    train = pd.DataFrame({"x": rng.uniform(size=4000)})
    train["sick"] = rng.random(4000) < np.where(train["x"] < 0.5, 0.05, 0.35)

    def gap(table):
        return table.loc[table["x"] >= 0.5, "sick"].mean() - table.loc[table["x"] < 0.5, "sick"].mean()

    assert gap(released(train, min_samples_leaf=200)) == pytest.approx(0.3, abs=0.05)
    assert gap(released(train, min_samples_leaf=200, stopping="rpart")) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("rows", [1, 2, 5, 30])
def test_small_tables_work(rows):
    train = {"a": range(rows), "b": ["x", "y"] * (rows // 2) + ["x"] * (rows % 2)}
    assert len(released(train, stopping="rpart", min_samples_leaf=1)) == rows


# smoothing


def smooth(column, rows: int = 5000, leaves: np.ndarray | None = None) -> tuple[pd.Series, np.ndarray, np.ndarray]:
    """Return the smoothed values, those of their donors, and who the donors are."""
    rng, column = np.random.default_rng(0), pd.Series(column)
    donors = rng.integers(0, len(column), rows)
    drawn = column.take(donors).reset_index(drop=True)
    leaves = np.ones(len(column), dtype=np.int64) if leaves is None else leaves
    return smoothed(column, drawn, donors, leaves, rng), column.to_numpy()[donors], donors


def test_bandwidth_is_silvermans():
    values = np.random.default_rng(1).normal(size=400)
    moved, old, _ = smooth(values, 20_000)
    inside = np.abs(old) < 1  # far from the ends, where nothing is reflected
    iqr = np.subtract(*np.quantile(values, [0.75, 0.25]))
    due = 0.9 * min(values.std(ddof=1), iqr / 1.34) * 400**-0.2
    assert np.std(moved.to_numpy()[inside] - old[inside]) == pytest.approx(due, rel=0.03)


def test_values_stay_in_the_range_of_their_leaf_and_do_not_pile_up_at_its_ends():
    rng = np.random.default_rng(2)
    leaves = np.repeat([1, 2], 50)
    column = pd.Series(np.where(leaves == 1, rng.uniform(0, 1, 100), rng.uniform(10, 11, 100)))
    moved, _, donors = smooth(column, leaves=leaves)
    for leaf in (1, 2):
        own, new = column[leaves == leaf], moved[leaves[donors] == leaf]
        assert new.between(own.min(), own.max()).all()
        assert not new.isin(own).any()


def test_real_values_are_not_released_but_the_dependence_is_kept():
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000)
    train = pd.DataFrame({"x": x, "y": 2 * x + 0.2 * rng.normal(size=2000)})
    release = released(train, smoothing="density")
    assert not release["x"].isin(train["x"]).any()
    assert release["y"].isin(train["y"]).mean() < 0.001
    assert release.corr().iloc[0, 1] > 0.97  # x alone is moved by 0.18 of its deviation: 0.98 at best


def test_the_grid_of_a_column_is_kept_and_huge_integers_move_by_whole_steps():
    rng = np.random.default_rng(4)
    fifties = smooth(rng.permutation(500) * 50 + 7)[0]
    assert ((fifties - 7) % 50 == 0).all()
    cents = smooth(rng.normal(size=500).round(2))[0]
    assert np.array_equal(cents.round(2), cents)
    days = smooth(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(500), "D"))[0]
    assert (days == days.dt.normalize()).all()
    moved, old, _ = smooth(np.random.default_rng(6).permutation(500) + 2**62)
    assert 0 < np.abs(moved.to_numpy() - old).max() < 500
    assert moved.between(2**62, 2**62 + 499).all()


def _numbers(dtype):
    return pd.Series(np.random.default_rng(5).permutation(120)).astype(dtype)


@pytest.mark.parametrize(
    "column",
    [
        *(_numbers(each) for each in ("int8", "uint8", "int64", "uint64", "Int64", "UInt8", "float32", "Float64")),
        pd.Series(pd.date_range("2020-01-01", periods=500, freq="h", tz="Europe/Vienna")),
        pd.Series(pd.to_timedelta(np.arange(500), "min")),
        pd.Series(pd.date_range("2020-01-01", periods=500, freq="D")).astype("M8[s]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_numeric_dtype_is_moved_and_kept(column):
    moved, old, _ = smooth(column)
    assert moved.dtype == column.dtype
    assert moved.between(column.min(), column.max()).all()
    assert (moved.to_numpy() != old).mean() > 0.5


def test_spikes_missing_cells_and_infinities_stay():
    values = np.random.default_rng(7).lognormal(8, 1, 1000)
    values[:600], values[600:640], values[640:650] = 0.0, np.nan, np.inf
    moved, old, _ = smooth(values)
    for stays in (lambda each: each == 0, np.isnan, np.isinf):
        assert (stays(moved) == stays(old)).all()
    rest = np.isfinite(old) & (old != 0)
    assert (moved[rest] != old[rest]).mean() > 0.99


@pytest.mark.parametrize("column", [list("abc") * 20, [True, False] * 30], ids=["texts", "truth values"])
def test_texts_and_truth_values_stay(column):
    moved, old, _ = smooth(column)
    assert (moved.to_numpy() == old).all()
