import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.cart import CART, cart, coded, predictor
from synthrisk.tasks.synthesize.synthesizer import Job


def job(train: pd.DataFrame, rows: int | None = None, seed: int = 1) -> Job:
    return Job(train, train.head(0), len(train) if rows is None else rows, seed)


def awkward(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "float": np.where(rng.random(n) < 0.2, np.nan, x),
            "infinite": np.where(x > 2, np.inf, np.where(x < -2, -np.inf, x)),
            "huge": rng.integers(0, 50, n) + 2**62 + 1,
            "unsigned": rng.integers(0, 5, n).astype("uint64") + np.uint64(2**63),
            "small": rng.integers(-128, 128, n).astype("int8"),
            "bool": x > 0,
            "Int64": pd.array(np.where(x > 1, None, rng.integers(0, 9, n) + 2**53), dtype="Int64"),
            "boolean": pd.array(np.where(x > 1, None, x > 0), dtype="boolean"),
            "object": np.where(x > 1, None, np.where(x > 0, 'a "quoted", ü', "it's")),
            "string": pd.array(np.where(x > 0, "日本", "x"), dtype="string"),
            "category": pd.Categorical(np.where(x > 0, "b", "a"), ["unused", "b", "a"], ordered=True),
            "codes": pd.Categorical(rng.integers(0, 4, n)),
            "date": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D")),
            "zoned": pd.Series(pd.date_range("2020-01-01", periods=n, freq="h", tz="Europe/Vienna")),
            "seconds": pd.Series(pd.date_range("2020-01-01", periods=n, freq="D")).astype("M8[s]"),
            "duration": pd.to_timedelta(rng.integers(0, 1000, n), "s"),
            "nothing": np.full(n, np.nan),
            "nothing_text": np.full(n, None, dtype=object),
            "constant": 7,
            "unique": [f"person {i}" for i in range(n)],
        }
    )
    table.loc[::7, "date"] = pd.NaT
    return table


def cells(column: pd.Series) -> set[object]:
    return set(column.dropna()) | ({"missing"} if column.isna().any() else set())


@pytest.mark.parametrize("smoothing", [None, "density"])
def test_columns_order_dtypes_and_index_are_those_of_the_training_table(smoothing):
    train = awkward()
    release = cart(job(train, 333), smoothing=smoothing).synthetic
    assert list(release.columns) == list(train.columns)
    assert release.dtypes.tolist() == train.dtypes.tolist()
    assert release.index.equals(pd.RangeIndex(333))
    assert len(cart(job(train, 5)).used) == 0


def test_every_cell_is_the_cell_of_a_training_record():
    train = awkward()
    release = cart(job(train, 500)).synthetic
    for name in train:
        assert cells(release[name]) <= cells(train[name]), name
    assert release["huge"].min() > 2**62  # exact: no float has these last digits
    assert set(release["huge"]) <= set(train["huge"])


def test_the_training_table_is_left_alone():
    train = awkward()
    before = train.copy(deep=True)
    cart(job(train), smoothing="density")
    pd.testing.assert_frame_equal(train, before)


@pytest.mark.parametrize("smoothing", [None, "density"])
def test_a_seed_gives_the_same_release_and_another_seed_another(smoothing):
    train = awkward()
    first, again, other = (cart(job(train, seed=s), smoothing=smoothing).synthetic for s in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


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


def test_no_global_random_state_is_touched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    cart(job(awkward()))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("name", list(awkward().columns))
def test_one_row_and_one_column(name):
    train = awkward()[[name]]
    one = train.head(1)
    release = cart(job(one, 3)).synthetic
    assert release[name].isna().all() if one[name].isna().all() else (release[name] == one[name][0]).all()
    assert cells(cart(job(train, 50)).synthetic[name]) <= cells(train[name])
    assert len(cart(job(train.head(0).reindex([0]).head(1), 2)).synthetic) == 2


def test_names_that_are_not_texts_are_kept():
    train = pd.DataFrame({0: [1, 2] * 10, ("a", 1): ["x", "y"] * 10})
    assert list(cart(job(train)).synthetic.columns) == [0, ("a", 1)]


def test_a_dependence_is_kept_for_every_pair_of_kinds():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    group = rng.integers(0, 12, 2000)  # an order of the levels that means nothing
    train = pd.DataFrame(
        {
            "x": x,
            "linear": 3 * x + rng.normal(scale=0.3, size=2000),
            "sign": np.where(x > 0, "plus", "minus"),
            "level": [f"level {g * 7 % 12}" for g in group],
            "mean": (group % 2) * 10.0 + rng.normal(size=2000),
            "class": np.array(["red", "green", "blue"])[group % 3],
        }
    )
    release = cart(job(train)).synthetic
    assert release["x"].corr(release["linear"]) == pytest.approx(train["x"].corr(train["linear"]), abs=0.01)
    assert ((release["x"] > 0) == (release["sign"] == "plus")).mean() > 0.99
    pairs = set(zip(train["level"], train["class"], strict=True))
    assert np.mean([p in pairs for p in zip(release["level"], release["class"], strict=True)]) > 0.99
    means = pd.concat([t.groupby("level")["mean"].mean() for t in (train, release)], axis=1)
    assert (means.iloc[:, 0] - means.iloc[:, 1]).abs().max() < 0.5


def test_independent_columns_stay_independent():
    rng = np.random.default_rng(2)
    train = pd.DataFrame({"a": rng.normal(size=4000), "b": rng.normal(size=4000), "c": rng.integers(0, 2, 4000)})
    release = cart(job(train)).synthetic
    assert abs(release["a"].corr(release["b"])) < 0.06
    assert abs(release["a"].corr(release["c"])) < 0.06


def test_marginals_are_kept():
    train = awkward(3000)
    release = cart(job(train)).synthetic
    for name in ("bool", "object", "category", "boolean", "codes"):
        shares = [t[name].value_counts(normalize=True, dropna=False) for t in (train, release)]
        assert shares[0].sub(shares[1], fill_value=0).abs().max() < 0.04, name
    assert abs(release["float"].mean() - train["float"].mean()) < 0.08


def test_missing_cells_follow_what_they_depend_on():
    rng = np.random.default_rng(3)
    x = rng.normal(size=3000)
    y = np.where(x > 1, np.nan, x)
    release = cart(job(pd.DataFrame({"x": x, "y": y}))).synthetic
    assert (release["y"].isna() == (release["x"] > 1)).mean() > 0.99
    assert release.dropna().corr().iloc[0, 1] > 0.99


def test_a_missing_predictor_informs():
    x = np.where(np.arange(2000) % 2 == 0, np.nan, 1.0)
    train = pd.DataFrame({"x": x, "y": np.where(np.isnan(x), "none", "some")})
    release = cart(job(train)).synthetic
    assert (release["x"].isna() == (release["y"] == "none")).all()


def test_nearby_huge_integers_are_told_apart_as_predictors():
    huge = 2**62 + np.arange(2000) % 2
    train = pd.DataFrame({"huge": huge, "y": np.where(huge % 2 == 0, "even", "odd")})
    release = cart(job(train)).synthetic
    assert ((release["huge"] % 2 == 0) == (release["y"] == "even")).all()


def test_a_text_that_names_the_record_does_not_give_its_other_cells_away():
    rng = np.random.default_rng(4)
    train = pd.DataFrame({"name": [f"person {i}" for i in range(2000)], "secret": rng.normal(size=2000)})
    release = cart(job(train)).synthetic
    secrets = train.set_index("name")["secret"]
    assert abs(np.corrcoef(secrets[release["name"]], release["secret"])[0, 1]) < 0.1


def test_many_classes_are_drawn_and_quick():
    rng = np.random.default_rng(5)
    train = pd.DataFrame({"x": rng.normal(size=3000), "town": [f"town {i % 700}" for i in range(3000)]})
    assert cart(job(train)).synthetic["town"].nunique() > 600


def test_larger_leaves_copy_fewer_pairs():
    rng = np.random.default_rng(6)
    x = rng.normal(size=2000)
    train = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=2000)})
    pairs = set(zip(train["x"], train["y"], strict=True))

    def copied(**options: int) -> float:
        release = cart(job(train), **options).synthetic
        return float(np.mean([p in pairs for p in zip(release["x"], release["y"], strict=True)]))

    assert 0.1 < copied(min_samples_leaf=5) < 0.25  # one donor of 5 to 9 is the record itself
    assert copied(min_samples_leaf=50) < 0.03
    assert copied(max_depth=1) < 0.01
    assert copied(min_samples_leaf=1) == 1.0


def test_visit_order_is_honoured():
    train = pd.DataFrame({"a": np.arange(40), "b": np.arange(40) % 2})
    straight, back = (cart(job(train), visit_order=order).synthetic for order in (["a", "b"], ["b", "a"]))
    rng = np.random.default_rng(1)
    rng.integers(2**31)  # the seed of the first tree, which is not grown
    assert (straight["a"] == rng.integers(0, 40, 40)).all()
    assert list(back.columns) == ["a", "b"]
    assert not straight.equals(back)
    assert straight.equals(cart(job(train)).synthetic)


def test_levels_are_ordered_by_what_they_say_of_the_target():
    levels = pd.Series(list("abcd") * 50)
    rows = np.arange(200)
    mean = np.tile([3.0, 1.0, 4.0, 2.0], 50)
    assert np.argsort(predictor(coded(levels), mean, rows, 5)[:4]).tolist() == [1, 3, 0, 2]
    classes = np.tile([0, 1, 0, 2], 50)
    order = predictor(coded(levels), classes, rows, 5)[:4]
    assert abs(order[0] - order[2]) == 1  # levels of the same class are neighbours


def test_rare_levels_share_a_code():
    levels = pd.Series(["often"] * 10 + [f"rare {i}" for i in range(4)])
    assert len(set(predictor(coded(levels), np.arange(14.0), np.arange(14), 5))) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1, got 0"),
        ({"min_samples_leaf": None}, "min_samples_leaf must be a whole number of at least 1, got None"),
        ({"min_samples_leaf": True}, "min_samples_leaf must be a whole number of at least 1, got True"),
        ({"max_depth": 1.5}, "max_depth must be a whole number of at least 1, got 1.5"),
        ({"smoothing": "spline"}, "smoothing must be null or 'density', got 'spline'"),
        ({"stopping": "ctree"}, "stopping must be null or 'rpart', got 'ctree'"),
        ({"visit_order": "ab"}, "visit_order must be a list of column names, got 'ab'"),
        (
            {"visit_order": ["age", "vot"]},
            r"visit_order must name columns of the table, got 'vot' \(did you mean 'vote'",
        ),
        ({"visit_order": ["age"]}, r"visit_order must name every column once, got \['vote'\] absent"),
        (
            {"visit_order": ["age", "vote", "age"]},
            "visit_order must name every column once, got a name twice",
        ),
    ],
)
def test_wrong_options_are_named(options, sentence):
    train = pd.DataFrame({"age": [1, 2], "vote": ["a", "b"]})
    with pytest.raises(InputError, match=sentence):
        CART.function(job(train), **options)


def test_empty_tables_are_refused():
    train = pd.DataFrame({"age": [1.0]})
    with pytest.raises(InputError, match="cart needs a record"):
        cart(job(train.head(0), 5))
    with pytest.raises(InputError, match="cart needs a record"):
        cart(job(train, 0))


def test_cells_that_cannot_be_compared_are_refused_without_showing_them():
    with pytest.raises(InputError, match="column 'lists' must hold plain values") as caught:
        cart(job(pd.DataFrame({"lists": [["secret"], ["b"]]})))
    assert "secret" not in str(caught.value)
