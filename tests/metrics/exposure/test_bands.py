"""Bands of a column: few, round, and none that tells the value of few records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.what_if import bands, names_none, rounded

RNG = np.random.default_rng(0)
BORN = pd.Series(pd.Timestamp("1930-01-01") + pd.to_timedelta(RNG.integers(0, 27_000, 1500), unit="D"))


def test_dates_are_bands_of_round_years():
    found = bands(BORN)
    assert list(found.cat.categories)[::4] == ["before 1940", "from 1990"]
    edges = [1940, *(int(name[-4:]) for name in found.cat.categories[1:-1])]
    assert all(edge % 10 == 0 for edge in edges)
    assert found.value_counts().min() > 100
    for first, last, name in zip(edges, edges[1:], found.cat.categories[1:-1], strict=False):
        assert name == f"{first} to before {last}"
        assert ((found == name) == BORN.dt.year.between(first, last - 1)).all()


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d", "%d %b %Y", "%d. %B %Y", "%Y-%m-%d %H:%M"])
def test_texts_that_are_all_dates_are_taken_by_their_year(form):
    found = bands(BORN.dt.strftime(form))
    assert list(found) == list(bands(pd.Series(pd.to_datetime(BORN.dt.year.astype(str) + "-01-01"))))


def test_numbers_are_cut_at_round_places():
    ages = pd.Series(RNG.integers(18, 90, 1500))
    found = bands(ages)
    assert list(found.cat.categories) == [
        "under 30",
        "30 to under 50",
        "50 to under 60",
        "60 to under 80",
        "80 and more",
    ]
    assert ((found == "30 to under 50") == ((ages >= 30) & (ages < 50))).all()


def test_many_zeros_are_a_band_of_their_own():
    found = bands(pd.Series(np.r_[np.zeros(900), np.arange(100, 200)]))
    assert found.value_counts().tolist() == [900, 100]


def test_the_commonest_values_are_kept_and_the_rest_counted():
    towns = pd.Series([f"t{i:02}" for i in range(20) for _ in range(30 - i)] + [None] * 3)
    found = bands(towns, most=4)
    assert list(found.cat.categories) == ["t00", "t01", "t02", "t03", "all others (16 values)", "missing"]
    assert (found == "missing").sum() == 3


def test_identifiers_tell_no_records_apart():
    found = bands(pd.Series([f"P{i}" for i in range(500)]))
    assert list(found.cat.categories) == ["all values (500)"]
    assert names_none(found)


def test_a_value_that_is_called_as_the_rest_is_keeps_its_name():
    found = bands(pd.Series(["all others (2 values)"] * 12 + ["a", "b"]))
    assert list(found.cat.categories) == ["all others (2 values)", "(all others (2 values))"]


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9), st.integers(-5, 5).map(float)), min_size=30, max_size=80),
    st.integers(2, 6),
)
def test_no_band_of_numbers_is_of_few_records_and_all_are_in_order(values, parts):
    column = pd.Series(values, dtype=float)
    found = bands(column, parts=parts, fewest=10)
    there = column.notna()
    named = [c for c in found.cat.categories if c != "missing" and not c.startswith(("all ", "(all "))]
    counts = found[there].value_counts()
    assert all(counts[name] >= 10 for name in named)
    assert len(found) == len(column)
    assert found.notna().all()
    if column.nunique() > 12:
        codes = found.cat.codes[there].to_numpy()[np.argsort(column[there].to_numpy(), kind="stable")]
        assert (np.diff(codes) >= 0).all()


def test_rounded_numbers_and_dates_are_nobodys_own():
    incomes = pd.Series(RNG.lognormal(10, 1, 1500).round(2))
    found = rounded(incomes)
    assert not set(found) & set(incomes)
    assert (found % 1000 == 0).all()
    assert (found - incomes).abs().max() <= 500
    assert (rounded(BORN) == pd.to_datetime(BORN.dt.year.astype(str) + "-01-01")).all()
    days = pd.Series(pd.to_timedelta(RNG.exponential(3, 500), unit="D"))
    assert (rounded(days) - days).abs().max() <= pd.Timedelta("1.2 hours")
    ages = pd.Series(RNG.integers(18, 90, 500))
    assert rounded(ages).equals(ages)
    assert rounded(pd.Series([1.5, np.nan, 2.5])).equals(pd.Series([1.5, np.nan, 2.5]))


def test_bad_numbers_are_refused():
    with pytest.raises(InputError, match="parts must be"):
        bands(pd.Series([1]), parts=1)
