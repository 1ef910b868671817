from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import check_options, find_synthesizer, run, try_out
from synthrisk.tasks.synthesize.private import _adds_up, _below, _budget, _edges, _known, _plain, _split
from synthrisk.tasks.synthesize.synthesizer import Job
from synthrisk.tasks.synthesize.task import generator

pytestmark = pytest.mark.proof  # compiling its model takes most of a minute
needs_it = pytest.mark.skipif(find_spec("opendp") is None or find_spec("mbi") is None, reason="needs the extra private")

PUBLIC = {
    "age": [0, 99], "weight": [40, 120, None], "born": ["1920-01-01", "2019-12-31"], "sex": ["f", "m", "x"],
    "visits": [0, 1, 3, 20, None],
}  # fmt: skip


def people(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, rows)
    sex = np.where(rng.random(rows) < 0.7, "f", "m").astype(object)
    sex[:3] = "secret"
    return pd.DataFrame({
        "age": age.astype("int16"), "weight": np.where(age > 70, np.nan, rng.normal(70, 10, rows)),
        "born": pd.Timestamp("2020-01-01") - pd.to_timedelta(365 * age, unit="D"), "sex": pd.Categorical(sex),
        "visits": pd.array(np.where(age > 60, None, rng.integers(0, 4, rows)), dtype="Int64"), "smokes": sex == "f",
        "town": np.where(rng.random(rows) < 0.1, None, np.where(sex == "f", "Graz", "Linz")),
    })  # fmt: skip


def release(train: pd.DataFrame, seed: int = 1, **options):
    return run(Job(train, train.head(0), 250, seed), find_synthesizer("mst"), options)


@pytest.fixture(scope="module")
def made():
    return release(people(), epsilon=60, bins=10, public=PUBLIC)


@needs_it
def test_a_mixed_table_keeps_dtypes_shares_and_pairs_within_what_is_public_and_says_what_it_promises(made):
    table, train = made.synthetic, people()
    assert len(table) == 250
    assert table.drop(columns="sex").dtypes.equals(train.drop(columns="sex").dtypes)
    assert list(table["sex"].cat.categories[:3]) == list(train["sex"].cat.categories)
    assert table["age"].between(0, 99).all()
    assert table["weight"].dropna().between(40, 120).all()
    assert table["born"].between("1920-01-01", "2019-12-31").all()
    assert (table["born"] == table["born"].dt.normalize()).all()
    assert set(table["sex"]) <= {"f", "m", "x"}  # a level that is not public never leaves
    assert table["visits"].dropna().between(0, 20).all()
    assert set(table["town"].dropna()) <= {"Graz", "Linz"}  # found with a part of the budget
    assert not table[["age", "born", "sex", "smokes"]].isna().any().any()
    table, train = made.synthetic, people()
    assert (table["sex"] == "f").mean() == pytest.approx((train["sex"] == "f").mean(), abs=0.12)
    assert table["weight"].isna().mean() == pytest.approx(train["weight"].isna().mean(), abs=0.12)
    assert table["age"].mean() == pytest.approx(train["age"].mean(), abs=6)
    assert ((table["sex"] == "f") == table["smokes"]).mean() > 0.8
    (told,) = made.told
    assert (told.rule, told.severity) == ("promise", "note")
    assert told.words.startswith("made with the promise of differential privacy, epsilon 60 and delta 1e-06")


@needs_it
def test_noise_is_no_seeds_and_a_small_epsilon_hides_the_table():
    train = pd.DataFrame({"a": ["only"] * 60, "b": [3] * 60})
    options = {"epsilon": 0.01, "public": {"a": ["only", *"abcdefgh"]}, "assume_public": True}
    first, other = (release(train.assign(b=train.index % 5), **options) for _ in range(2))
    tables = [first.synthetic, other.synthetic]
    assert any((table["a"] != "only").any() for table in tables)  # one of hundreds is as the training table
    assert not tables[0].equals(tables[1])
    assert "read from the training table" in first.told[1].words
    assert first.told[1].words.endswith("out (assume_public): 'b'")


@needs_it
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1, 1e-5), (3, 1e-6), (10, 1e-9)])
def test_the_budget_is_the_conversion_of_the_literature(epsilon, delta):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    rho, alpha = _budget(dp, epsilon, delta), 1 + np.geomspace(1e-3, 1e4, 200_001)
    logs = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    assert np.exp(logs.min()) == pytest.approx(delta, rel=1e-3)
    assert rho + 2 * np.sqrt(rho * np.log(1 / delta)) >= epsilon  # the older bound allows less


@pytest.mark.parametrize("choices", [1, 2, 7, 14, 31])
def test_the_parts_of_the_budget_add_up(choices):
    for rho in np.random.default_rng(choices).random(50):
        half = _below(_below(rho - rho * 0.5))
        split = _split(rho, choices)
        assert 0.9 <= split < 0.92
        assert _adds_up(_below(_below(half - half * split)), choices)


def test_a_record_changes_no_other_ones_code():
    train = people()
    whole = [_plain(train[c], each) for c, each in zip(train, _known(train, PUBLIC, False, 10), strict=True)]
    less = train.drop(index=[0, 7]).reset_index(drop=True)
    for column, each, codes in zip(less, _known(less, PUBLIC, False, 10), whole, strict=True):
        assert _plain(less[column], each) == [code for k, code in enumerate(codes) if k not in (0, 7)]


def test_numbers_fall_into_the_bins_that_hold_them_and_outer_ones_into_the_ends():
    (known,) = _known(pd.DataFrame({"n": [1]}), {"n": [0, 9]}, False, 5)
    assert known.edges.tolist() == [0, 2, 4, 6, 8, 10]
    assert _plain(pd.Series([-5, 0, 1, 2, 9, 50]), known) == [0, 0, 0, 1, 4, 4]
    assert _edges(pd.Series([0.5]), [0.0, 1.0], 4).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert _edges(pd.Series([1]), [0, 1, 10, 99], 4).tolist() == [0, 1, 10, 100]
    for a, b in pairwise(_edges(pd.Series([1]), [0, 2], 20)):
        assert b - a == 1  # never finer than whole numbers


@pytest.mark.parametrize(("options", "sentence"), [
    ({"epsilon": 0}, "epsilon must be a number above 0 and at most 100, got 0"),
    ({"epsilon": "1"}, "epsilon must be a number above 0 and at most 100, got '1'"),
    ({"delta": 1}, "delta must be a number above 0 and below 1, got 1"),
    ({"bins": 0}, "bins must be a whole number from 1 to 1000, got 0"),
    ({"contributions": 1.5}, "contributions must be a whole number of at least 1, got 1.5"),
    ({"assume_public": 1}, "assume_public must be true or false, got 1"),
    ({"public": ["a"]}, "public must name columns with their values, got list"),
    ({"public": {"sex": "f"}}, "public of column 'sex' must be a list of values, got 'f'"),
    ({"public": {"sex": [["f"]]}}, "public of column 'sex' must be a list of values, got [['f']]"),
    ({"public": {"wage": [0, 1]}}, "public must name columns of the table, got 'wage'"),
    ({"public": {"age": [9, 0]}}, "public of the column 'age' must rise from the lowest to the highest value"),
    ({"public": {"age": ["a", "b"]}}, "public of the column 'age' must be finite numbers, got"),
    ({"public": {**PUBLIC, "born": ["yesterday-ish", "x"]}}, "public of the column 'born' must be dates, got"),
    ({}, "mst needs a public range of the numeric column 'age' (public: {age: [low, high]}), or assume_public"),
])  # fmt: skip
def test_wrong_options_are_named_before_anything_runs(options, sentence):
    synthesizer = find_synthesizer("mst")
    asked = options if "public" in options or not options else options | {"public": PUBLIC}
    with pytest.raises(InputError) as refused:  # noqa: PT012 - by one of both
        synthesizer.check(**asked)
        try_out(synthesizer, asked, people(), (1, 1), None, None)
    assert sentence in str(refused.value)


def test_without_a_module_of_the_extra_the_line_that_installs_it_is_said():
    assert find_synthesizer("mst").modules == ("opendp", "mbi", "polars")
    lacking = replace(find_synthesizer("mst"), modules=("pandas", "surely_not_installed"))
    with pytest.raises(InputError, match=r"mst needs the extra 'private', .* pip install 'synthrisk\[private\]'"):
        check_options(lacking, {})


@needs_it
def test_a_generator_carries_the_epsilon_that_it_promises():
    assert generator("a", "mst", {"public": PUBLIC, "epsilon": 3}).epsilon == 3
    assert generator("b", "mst", {}).epsilon == 1
    assert generator("c", "cart", {}).epsilon is None
