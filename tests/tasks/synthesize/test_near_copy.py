"""Near copies: no record need stay as it was, each stays where it was, and types stay what they are."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import run
from synthrisk.tasks.synthesize.reference_generators import NEAR_COPY
from synthrisk.tasks.synthesize.synthesizer import Job

N = 400


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, N), unit="D")
    return pd.DataFrame(
        {
            "whole": rng.integers(0, 1000, N),
            "holes": pd.array(np.where(rng.random(N) < 0.2, None, rng.integers(0, 500, N)), dtype="Int64"),
            "broken": np.where(rng.random(N) < 0.1, np.nan, rng.normal(0, 1, N)),
            "counted": np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 900, N).astype(float)),
            "day": days.where(rng.random(N) > 0.1),
            "moment": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**14, N), unit="ns"),
            "lasting": pd.to_timedelta(rng.integers(0, 10**13, N), unit="ns"),
            "level": pd.Categorical(rng.choice(["a", "b", "größe <b>"], N), ["a", "b", "größe <b>", "unused"]),
            "flag": rng.random(N) < 0.3,
            "same": 7,
            "huge": rng.integers(2**62, 2**63 - 1, N),
            "far": rng.choice([-(2**63), 2**63 - 1, 5], N),
        }
    )


@pytest.fixture(scope="module")
def made() -> tuple[pd.DataFrame, pd.DataFrame]:
    job = Job(table(), table().head(0), N, 1)
    return job.train, run(job, NEAR_COPY, {}).synthetic


def test_types_and_columns_stay(made):
    train, release = made
    assert list(release.columns) == list(train.columns)
    assert (release.dtypes == train.dtypes).all()
    assert (release["level"].cat.categories == train["level"].cat.categories).all()


@pytest.mark.parametrize("column", ["whole", "holes", "broken", "counted", "day", "moment", "lasting", "huge"])
def test_numbers_move_by_at_most_two_percent_of_the_range_and_stay_in_it(made, column):
    train, release = (t[column].dropna() for t in made)
    assert release.index.equals(train.index)  # what was missing is missing
    distance = (release - train).abs().max()
    rounding = {"day": pd.Timedelta(12, "h"), "moment": pd.Timedelta(2, "ns"), "lasting": pd.Timedelta(2, "ns")}
    assert distance <= (train.max() - train.min()) / 50 * (1 + 1e-9) + rounding.get(column, 0.5)
    assert train.min() <= release.min() <= release.max() <= train.max()
    assert (release != train).mean() > 0.8


def test_what_is_whole_stays_whole(made):
    _, release = made
    assert (release["counted"].dropna() % 1 == 0).all()
    assert (release["day"].dropna() == release["day"].dropna().dt.normalize()).all()
    assert not (release["broken"].dropna() % 1 == 0).any()


@pytest.mark.parametrize("column", ["level", "flag", "far"])
def test_one_categorical_cell_in_ten_is_drawn_anew_from_those_there_are(made, column):
    train, release = (t[column] for t in made)
    assert set(release) <= set(train)
    assert 0 < (release != train).mean() <= 0.13


def test_a_constant_stays_and_no_change_is_a_copy(made):
    train, release = made
    assert (release["same"] == 7).all()
    plain = run(Job(train, train.head(0), N, 1), NEAR_COPY, {"jitter": 0, "redrawn": 0.0}).synthetic
    pd.testing.assert_frame_equal(plain, train)


def test_another_size_and_a_column_of_nothing():
    train = pd.DataFrame({"a": [1.0, 2.0, 3.0], "nothing": [np.nan] * 3})
    release = run(Job(train, train, 7, 1), NEAR_COPY, {}).synthetic
    assert len(release) == 7
    assert release["nothing"].isna().all()


@pytest.mark.parametrize("options", [{"jitter": -0.1}, {"jitter": 2}, {"redrawn": "much"}, {"redrawn": True}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InputError, match=r"must be a share in \[0, 1\]"):
        run(Job(table(), table(), N, 1), NEAR_COPY, options)


def test_nobody_to_copy_is_refused():
    with pytest.raises(InputError, match="needs a training record, got none"):
        run(Job(table().head(0), table(), 5, 1), NEAR_COPY, {})
