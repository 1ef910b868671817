import logging
import os
from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sdv")

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import find_synthesizer, run
from synthrisk.tasks.synthesize.sdv import decoded, encoded
from synthrisk.tasks.synthesize.synthesizer import Job

ONCE = {"gaussian_copula": {"default_distribution": "norm"}, "tvae": {"epochs": 1}}
NETS = ("tvae", "ctgan", "copulagan")  # which learn for seconds
ALL = {**ONCE, "ctgan": {"epochs": 1}, "copulagan": {"epochs": 1, "default_distribution": "norm"}}


def awkward(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame({
        "x": x.round(2), "y": np.where(x > 1.5, np.nan, 2 * x), "key": np.arange(n) + 2**53 + 1,
        "small": rng.integers(-5, 5, n).astype("int8"),
        "Int64": pd.array(np.where(x > 1, None, rng.integers(0, 9, n)), dtype="Int64"), "bool": x > 0,
        "boolean": pd.array(np.where(x > 1, None, x > 0), dtype="boolean"),
        "category": pd.Categorical(np.where(x > 0, "ü", "b"), ["unused", "ü", "b"], ordered=True),
        "codes": pd.Categorical(rng.integers(0, 3, n)),
        "text": np.where(x > 1, None, np.where(x > 0, 'a "quoted", one', "it's")),
        "day": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D")),
        "zoned": pd.Series(pd.date_range("2020-01-01", periods=n, freq="h", tz="Europe/Vienna")),
        "duration": pd.to_timedelta(rng.integers(0, 1000, n), "s"), "nothing": np.full(n, np.nan),
        "constant": "same",
    })  # fmt: skip


def release(name: str, options: dict[str, object], seed: int = 1, train: pd.DataFrame | None = None) -> pd.DataFrame:
    train = awkward() if train is None else train
    return run(Job(train, train.head(0), 200, seed), find_synthesizer(name), options).synthetic


@cache
def awkward_release(name: str) -> pd.DataFrame:
    return release(name, ALL[name])


def each_of(names) -> list:
    return [pytest.param(name, marks=pytest.mark.proof if name in NETS else ()) for name in names]


@pytest.mark.parametrize("name", each_of(ALL))
def test_awkward_tables_come_back_in_their_dtypes(name):
    train = awkward()
    got = awkward_release(name)
    assert (got.dtypes.tolist(), len(got)) == (train.dtypes.tolist(), 200)
    for column in ("bool", "boolean", "category", "codes", "text", "nothing", "constant"):
        assert set(got[column].dropna()) <= set(train[column].dropna()), column
    for column in ("x", "key", "small", "Int64", "day", "zoned", "duration"):
        assert got[column].dropna().between(train[column].min(), train[column].max()).all(), column
    assert (got["day"].dropna() == got["day"].dropna().dt.normalize()).all()
    assert np.array_equal(got["x"].round(2), got["x"])


@pytest.mark.parametrize("name", each_of(ONCE))
def test_a_seed_gives_the_same_release_and_another_seed_another(name):
    first = awkward_release(name)
    np.random.seed(4)  # noqa: NPY002 - another state of the process than the first found
    pd.testing.assert_frame_equal(first, release(name, ONCE[name]))
    assert not first.equals(release(name, ONCE[name], seed=2))


@pytest.mark.parametrize("name", each_of(ONCE))
def test_global_state_is_put_back_and_nothing_is_said(capsys, caplog, name):
    import torch

    caplog.set_level(logging.INFO)
    before = np.random.get_state()[1].copy(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
    levels, variable = logging.getLogger("sdv").level, os.environ.get("LOKY_MAX_CPU_COUNT")
    train = pd.concat([awkward()] * 2, ignore_index=True)  # from 500 rows on SDV starts processes
    release(name, ONCE[name], train=train)
    assert np.array_equal(before[0], np.random.get_state()[1])  # noqa: NPY002
    assert torch.equal(before[1], torch.get_rng_state())
    assert before[2] == torch.get_num_threads()
    assert (levels, variable) == (logging.getLogger("sdv").level, os.environ.get("LOKY_MAX_CPU_COUNT"))
    said = capsys.readouterr()
    assert said.out == said.err == caplog.text == ""


@pytest.mark.proof
def test_options_are_honoured_and_a_dependence_is_learned():
    train = pd.DataFrame({"x": np.random.default_rng(1).exponential(size=400)})
    normal, gamma = (release("gaussian_copula", {"default_distribution": d}, train=train) for d in ("norm", "gamma"))
    assert abs(gamma["x"].mean() - train["x"].mean()) < 0.3
    assert not normal.equals(gamma)
    single = release("gaussian_copula", {"numerical_distributions": {"x": "norm"}}, train=train)
    pd.testing.assert_frame_equal(single, normal)
    longer, once = (release("tvae", {"epochs": epochs}, train=train.head(100)) for epochs in (3, 1))
    assert not longer.equals(once)
    rng = np.random.default_rng(2)
    x = rng.normal(size=490)  # from 500 on SDV starts processes
    train = pd.DataFrame({"x": x, "y": x + 0.3 * rng.normal(size=490), "z": rng.normal(size=490)})
    got = release("gaussian_copula", {"default_distribution": "norm"}, train=train)
    assert got["x"].corr(got["y"]) == pytest.approx(train["x"].corr(train["y"]), abs=0.05)
    assert abs(got["x"].corr(got["z"])) < 0.2


def test_constant_tables_need_no_fit_and_the_plain_table_goes_there_and_back():
    train = pd.DataFrame({"a": [1, 1], "b": ["x", "x"], "c": [np.nan, np.nan]})
    got = release("ctgan", {}, train=train)
    pd.testing.assert_frame_equal(got, pd.concat([train] * 100, ignore_index=True))
    train = awkward().drop(columns="key")  # floats cannot hold its last digit
    plain, sdtypes = encoded(train)
    assert set(sdtypes.values()) == {"numerical", "categorical"}
    assert not {"nothing", "constant"} & set(plain)
    assert not plain.isin(["ü", 'a "quoted", one', "it's"]).any().any()
    pd.testing.assert_frame_equal(decoded(plain, train), train)


@pytest.mark.parametrize("name", ALL)
def test_one_record_and_infinities_are_refused(name):
    with pytest.raises(InputError, match="SDV needs 2 training records, got 1"):
        release(name, ALL[name], train=awkward().head(1))
    with pytest.raises(InputError, match="SDV needs finite numbers, got an infinity in column 'x'"):
        release(name, ALL[name], train=pd.DataFrame({"x": [1.0, np.inf, 2.0]}))


@pytest.mark.parametrize(("name", "options", "sentence"), [
    ("tvae", {"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
    ("ctgan", {"epochs": "3"}, "epochs must be a whole number of at least 1, got '3'"),
    ("ctgan", {"batch_size": 15}, "batch_size must be even and a multiple of pac = 10, got 15"),
    ("tvae", {"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
    ("gaussian_copula", {"default_distribution": "normal"}, "a distribution must be one of norm, beta"),
    ("gaussian_copula", {"numerical_distributions": {"z": "norm"}}, "must name columns of the table, got 'z'"),
])  # fmt: skip
def test_wrong_options_are_named(name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        release(name, options)
