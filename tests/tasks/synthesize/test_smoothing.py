import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.synthesize.cart import cart, smoothed
from synthrisk.tasks.synthesize.synthesizer import Job


def smooth(column: pd.Series, rows: int = 5000, leaves: np.ndarray | None = None) -> tuple[pd.Series, np.ndarray]:
    rng = np.random.default_rng(0)
    donors = rng.integers(0, len(column), rows)
    drawn = column.take(donors).reset_index(drop=True)
    leaves = np.ones(len(column), dtype=np.int64) if leaves is None else leaves
    return smoothed(column, drawn, donors, leaves, rng), donors


def test_bandwidth_is_silvermans():
    values = np.random.default_rng(1).normal(size=400)
    column = pd.Series(values)
    moved, donors = smooth(column, 20_000)
    inside = np.abs(values[donors]) < 1  # far from the ends, where nothing is reflected
    iqr = np.subtract(*np.quantile(values, [0.75, 0.25]))
    due = 0.9 * min(values.std(ddof=1), iqr / 1.34) * 400**-0.2
    assert np.std(moved.to_numpy()[inside] - values[donors][inside]) == pytest.approx(due, rel=0.03)


def test_values_stay_in_the_range_of_their_leaf_and_do_not_pile_up_at_its_ends():
    rng = np.random.default_rng(2)
    leaves = np.repeat([1, 2], 50)
    column = pd.Series(np.where(leaves == 1, rng.uniform(0, 1, 100), rng.uniform(10, 11, 100)))
    moved, donors = smooth(column, leaves=leaves)
    for leaf in (1, 2):
        own, new = column[leaves == leaf], moved[leaves[donors] == leaf]
        assert new.between(own.min(), own.max()).all()
        assert not new.isin(own).any()


def test_real_values_are_not_released_but_the_dependence_is_kept():
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000)
    train = pd.DataFrame({"x": x, "y": 2 * x + 0.2 * rng.normal(size=2000)})
    release = cart(Job(train, train.head(0), 2000, 1), smoothing="density").synthetic
    assert not release["x"].isin(train["x"]).any()
    assert release["y"].isin(train["y"]).mean() < 0.001
    assert release.corr().iloc[0, 1] > 0.97  # x alone is moved by 0.18 of its deviation: 0.98 at best


def test_the_grid_of_a_column_is_kept():
    rng = np.random.default_rng(4)
    fifties, _ = smooth(pd.Series(rng.permutation(500) * 50 + 7))
    assert ((fifties - 7) % 50 == 0).all()
    cents, _ = smooth(pd.Series(rng.normal(size=500).round(2)))
    assert np.array_equal(cents.round(2), cents)
    days, _ = smooth(pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(500), "D")))
    assert (days == days.dt.normalize()).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "Int64", "UInt8", "float32", "Float64"])
def test_every_numeric_dtype_is_moved_and_kept(dtype):
    column = pd.Series(np.random.default_rng(5).permutation(120)).astype(dtype)
    moved, donors = smooth(column)
    assert moved.dtype == column.dtype
    assert moved.between(0, 119).all()
    assert (moved.to_numpy() != column.to_numpy()[donors]).mean() > 0.5


def test_huge_integers_move_by_whole_steps():
    column = pd.Series(np.random.default_rng(6).permutation(500)) + 2**62
    moved, donors = smooth(column)
    shift = moved.to_numpy() - column.to_numpy()[donors]
    assert 0 < np.abs(shift).max() < 500
    assert moved.between(2**62, 2**62 + 499).all()


def test_zoned_dates_and_durations_move():
    for column in (
        pd.Series(pd.date_range("2020-01-01", periods=500, freq="h", tz="Europe/Vienna")),
        pd.Series(pd.to_timedelta(np.arange(500), "min")),
        pd.Series(pd.date_range("2020-01-01", periods=500, freq="D")).astype("M8[s]"),
    ):
        moved, donors = smooth(column)
        assert moved.dtype == column.dtype
        assert moved.between(column.min(), column.max()).all()
        assert (moved.to_numpy() != column.to_numpy()[donors]).mean() > 0.5


def test_spikes_missing_cells_and_infinities_stay():
    rng = np.random.default_rng(7)
    values = rng.lognormal(8, 1, 1000)
    values[:600], values[600:640], values[640:650] = 0.0, np.nan, np.inf
    column = pd.Series(values)
    moved, donors = smooth(column)
    old = values[donors]
    assert ((moved == 0) == (old == 0)).all()
    assert (moved.isna() == np.isnan(old)).all()
    assert (np.isinf(moved) == np.isinf(old)).all()
    rest = np.isfinite(old) & (old != 0)
    assert (moved[rest] != old[rest]).mean() > 0.99


def test_texts_and_truth_values_stay():
    for column in (pd.Series(list("abc") * 20), pd.Series([True, False] * 30)):
        moved, donors = smooth(column)
        assert (moved.to_numpy() == column.to_numpy()[donors]).all()
