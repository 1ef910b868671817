"""Columns in groups: what is named is shared by ten records, and nobody's own value is an edge or a name."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.utility.bins import FEWEST, MISSING, OTHERS, groups_of


def named(groups):
    return dict(zip(groups.names, groups.shown_shares.round(9), strict=True))


def test_common_categories_are_named_by_size_and_rare_ones_are_others():
    column = pd.Series(["cook"] * 20 + ["nurse"] * 60 + ["spy"] * 9 + ["smith"] * 11 + [None] * 4)
    found = groups_of(column)
    assert found.names == ("nurse", "cook", "smith", OTHERS, MISSING)
    assert found.shares(found.places) == pytest.approx(np.array([60, 20, 11, 9, 4]) / 104)
    shown = found.shown_shares  # the others and missing are fewer than ten: their share is not told, nor to be reckoned
    assert shown[:3] == pytest.approx(np.array([60, 20, 11]) / 91)
    assert np.isnan(shown[3:]).all()


def test_others_and_missing_are_shown_where_they_are_ten():
    found = groups_of(pd.Series(["a"] * 80 + ["b"] * 6 + ["c"] * 4 + [None] * 10))
    assert named(found) == {"a": 0.8, OTHERS: 0.1, MISSING: 0.1}


def test_records_of_one_person_are_one():
    column, people = pd.Series(["a"] * 40 + ["b"] * 40), np.r_[np.arange(40), np.repeat(7, 40)]
    assert groups_of(column).names[:2] == ("a", "b")
    assert groups_of(column, people).names == ("a", OTHERS, MISSING)
    ages = pd.Series([20.0] * 5 + [99.5] * 40 + list(range(30, 60)))
    alone = groups_of(ages, np.r_[np.arange(5), np.repeat(100, 40), np.arange(200, 230)])
    assert not any("99" in name for name in alone.names)
    assert (alone.counts[:-2] >= FEWEST).all()


def test_few_numbers_are_values_and_many_are_bins_between_round_edges():
    assert groups_of(pd.Series([0, 1, 2, 3] * 30)).names == ("0", "1", "2", "3", OTHERS, MISSING)
    found = groups_of(pd.Series(np.repeat(np.arange(17, 91), 12)))
    assert found.names[:3] == ("under 20", "20 to 30", "30 to 40")
    assert found.is_binned
    assert found.names[-3] in ("90 or more", "80 or more")
    gain = pd.Series(np.r_[np.zeros(900), np.round(np.random.default_rng(1).lognormal(8, 1.5, 300))])
    found = groups_of(gain)  # a number that many have is a group beside the bins
    assert named(found)["exactly 0"] == 0.75
    assert len(found.names) > 6
    assert found.place(pd.Series([0.0, 1e9]))[0] == 0
    assert found.names[found.place(pd.Series([1e9]))[0]].endswith("or more")


@pytest.mark.parametrize("missing", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("spread", [0.3, 3, 40, 5000])
def test_people_of_one_record_each_are_the_records(spread, missing):
    rng = np.random.default_rng(4)
    numbers = np.where(rng.random(900) < missing, np.nan, rng.normal(0, spread, 900).round(1))
    column = pd.Series(numbers, name="x")
    found, of_people = groups_of(column), groups_of(column, rng.permutation(900))
    for part in ("names", "counts", "places"):
        assert list(getattr(found, part)) == list(getattr(of_people, part))


def test_dates_are_cut_at_the_calendar():
    born = pd.Series(pd.Timestamp("1931-03-07") + pd.to_timedelta(np.arange(0, 30000, 10), unit="D"))
    assert "1950 to 1960" in groups_of(born).names
    times = pd.Series(pd.Timestamp("2020-01-05") + pd.to_timedelta(np.arange(300) * 7, unit="h"))
    assert "2020-02" not in groups_of(times).names
    assert any(name.startswith("2020-0") for name in groups_of(times).names)
    waits = pd.Series(pd.to_timedelta(np.arange(500) * 3 + 0.7, unit="h"))
    assert any("days" in name for name in groups_of(waits).names)


def test_columns_without_a_group_say_so():
    for column in ([f"free text {i}" for i in range(200)], pd.Series([None] * 50, dtype=object), [1.0, 2.0, 3.0]):
        assert "shared by 10" in groups_of(pd.Series(column)).reason
    assert "nobody's value" in groups_of(pd.Series(np.arange(1, 500))).reason  # each whole number is one record's


@pytest.mark.parametrize("seed", range(6))
def test_nobody_is_an_edge_the_smallest_or_the_largest(seed):
    rng = np.random.default_rng(seed)
    pay = pd.Series(np.round(rng.lognormal(10, 1, 800), -2))
    pay[0], pay[1] = 13.0, 98765432.0
    found, counts = groups_of(pay), pay.value_counts()
    rare = {f"{value:.0f}" for value in counts.index[counts < FEWEST]}
    words = {word for name in found.names for word in name.split()}
    assert not words & rare
    assert len(found.names) > 4


def test_a_release_is_placed_by_value_and_the_unseen_is_among_the_others():
    found = groups_of(pd.Series(["a"] * 20 + ["b"] * 20 + ["x"]))
    placed = found.place(pd.Series(["b", "x", "never seen", None, "a"]))
    assert [found.names[place] for place in placed] == ["b", OTHERS, OTHERS, MISSING, "a"]
    codes = groups_of(pd.Series([1, 2] * 20).astype("category"))
    assert [codes.names[p] for p in codes.place(pd.Series([2.0, 3.0]))] == ["2", OTHERS]
    numbers = groups_of(pd.Series([1.5, 2.5] * 20))
    for cells, kind in ((["1.5"], "numbers"), (pd.to_datetime(["2020-01-01"]), "dates")):
        with pytest.raises(InputError, match=kind):
            numbers.place(pd.Series(cells))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(-40, 40), st.floats(-1e6, 1e6, width=32)), min_size=1, max_size=120),
    st.integers(1, 15),
)
def test_groups_of_numbers_are_large_enough_and_hold_their_cells(values, times):
    column = pd.Series(values * times, dtype="float64")
    found = groups_of(column)
    counts = [sum(int(place) == i for place in found.places) for i in range(found.size)]  # a plain loop
    assert counts == found.counts.tolist()
    assert all(count >= FEWEST for count in counts[:-2]) or found.reason
    for cell, place in zip(column, found.places, strict=True):
        name = found.names[place]
        if name == MISSING:
            assert np.isnan(cell)
        elif name.startswith("under "):
            assert cell < float(name.split()[1])
        elif name.endswith(" or more"):
            assert cell >= float(name.split()[0])
        elif " to " in name:
            low, high = name.split(" to ")
            assert float(low) <= cell < float(high)
