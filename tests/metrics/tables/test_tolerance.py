"""Dates, durations and years as what is guessed: how near is near, against plain loops."""

import statistics
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeRegressor

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.rapid.null_distribution import permutation_null

RNG = np.random.default_rng(8)
SHARED = RNG.integers(0, 12, 40)
DAYS, RELEASED = ((SHARED * 30 + RNG.integers(0, 60, 40)).astype(float) for _ in range(2))
DAY = pd.Timedelta("1 day")
TREE = DecisionTreeRegressor(min_samples_leaf=3)
START = pd.Timestamp("2015-03-01")
MEASURES = ["rapid", "inference", "attribute_inference_risk"]
COLUMNS = {
    "date": lambda days: START + pd.to_timedelta(days, unit="D"),
    "date in seconds": lambda days: (START + pd.to_timedelta(days, unit="D")).astype("datetime64[s]"),
    "date with zone": lambda days: (START + pd.to_timedelta(days, unit="D")).tz_localize("UTC"),
    "duration": lambda days: pd.to_timedelta(days, unit="D"),
}


def tables(form="date"):
    columns = [COLUMNS[form](pd.Series(days).to_numpy()) for days in (DAYS, RELEASED)]
    return [pd.DataFrame({"k": SHARED.astype(str), "s": column}) for column in columns]


def guess_s(name, real, release, **options):
    """Have a measure attack ``s`` by ``k``, RAPID by a tree."""
    options = ({"attacker": TREE} if name == "rapid" else {}) | options
    return METRICS[name](real, release, quasi_identifiers=["k"], sensitive="s", **options)


def quartiles_apart(values):
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low


TOLERANCES = [
    ({}, 0.1 * quartiles_apart(DAYS)),
    ({"tolerance": 0.3}, 0.3 * quartiles_apart(DAYS)),
    ({"tolerance": "0.3 iqr"}, 0.3 * quartiles_apart(DAYS)),
    ({"tolerance": "30 days"}, 30),
    ({"tolerance": "36 hours"}, 1.5),
]

dated = pytest.mark.parametrize("form", COLUMNS)
within = pytest.mark.parametrize(("options", "days"), TOLERANCES)


@dated
@within
def test_rapid_counts_who_is_missed_by_fewer_days(form, options, days):
    found = guess_s("rapid", *tables(form), **options)
    began = 0 if form == "duration" else (START - pd.Timestamp(0)) / DAY
    guesses = (found.records["guessed"] - began).tolist()
    assert np.corrcoef(guesses, RELEASED)[0, 1] > 0.8
    hits = [abs(y - p) < days for y, p in zip(DAYS, guesses, strict=True)]
    assert found.value == pytest.approx(sum(hits) / len(hits))
    assert 0 < found.value < 1 or days < 3
    assert found.details["tolerance_days"] == pytest.approx(days)
    assert found.details["mae"] == pytest.approx(np.mean([abs(y - p) for y, p in zip(DAYS, guesses, strict=True)]))
    best = max(sum(abs(y - c) < days for y in DAYS) for c in np.arange(-40, 460, 0.25)) / len(DAYS)
    assert found.details["guess"] == pytest.approx(best)
    near = [[abs(y - p) < days for y in DAYS] for p in guesses]
    assert found.details["null_real_mean"] == pytest.approx(np.mean(near))


@dated
@within
def test_claims_about_dates_are_right_within_so_many_days(form, options, days):
    found = guess_s("inference", *tables(form), **options)
    records = found.records
    guess = (pd.Series(records["guessed"]) - tables(form)[0]["s"]).dt.total_seconds() / 86400 + DAYS
    assert records["score"].tolist() == [float(abs(y - p) <= days + 1e-9) for y, p in zip(DAYS, guess, strict=True)]
    shares = [np.mean([abs(y - p) <= days + 1e-9 for y in DAYS]) for p in guess]
    assert records["baseline"].tolist() == pytest.approx(shares)
    assert found.details["tolerance_days"] == pytest.approx(days)


@dated
@within
def test_credits_for_dates_are_of_those_within_so_many_days(form, options, days):
    found = guess_s("attribute_inference_risk", *tables(form), **options)
    for key, truth, score in zip(SHARED, DAYS, found.records["score"], strict=True):
        near = [abs(truth - p) <= days + 1e-9 for k, p in zip(SHARED, RELEASED, strict=True) if k == key]
        assert score == pytest.approx(np.mean(near))
    assert found.details["tolerance_days_s"] == pytest.approx(days)


@pytest.mark.parametrize("name", MEASURES)
def test_when_a_calendar_begins_moves_nothing(name):
    later = [t.assign(s=t["s"] + 36525 * DAY) for t in tables()]
    first, second = (guess_s(name, *each) for each in (tables(), later))
    assert (first.value, first.details["guess"]) == (second.value, pytest.approx(second.details["guess"]))
    assert first.details["guess"] < 0.5


def test_the_null_of_dates_has_the_same_rule():
    found = guess_s("rapid", *tables(), permutations=4)
    roles = {"quasi_identifiers": ["k"], "sensitive": "s", "attacker": TREE, "permutations": 4}
    null = permutation_null(Tables(*tables()), **roles)
    assert null.observed == found.value
    assert found.details["null_synthetic_mean"] == null.mean < 0.5 < found.value + 0.5


YEARS = pd.DataFrame({"k": SHARED.astype(str), "s": 1950 + SHARED * 5.0})


@pytest.mark.parametrize("name", MEASURES)
def test_years_are_warned_of_until_the_tolerance_is_of_their_spread(name):
    with pytest.warns(UserWarning, match=r"wider than the column.* 100% of the records.*tolerance '0\.1 iqr'"):
        assert guess_s(name, YEARS, YEARS).details["guess"] > 0.9 or name == "inference"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = guess_s(name, YEARS, YEARS, tolerance="0.1 iqr")
    reach = 0.1 * quartiles_apart(YEARS["s"])
    constant = max(np.mean(np.abs(YEARS["s"] - c) < reach) for c in np.arange(1950, 2010, 0.5))
    if name == "rapid":
        assert found.details["guess"] == pytest.approx(constant)
    assert found.details["guess"] < 0.5


def test_a_column_of_nearly_one_value_is_no_fault_of_the_tolerance():
    real = pd.DataFrame({"k": list("ab") * 20, "s": [0.0] * 39 + [900.0]})
    found = guess_s("rapid", real, real, attacker=DummyRegressor())
    assert (found.details["guess"], found.warning) == (0.975, None)


NO_TOLERANCE = "tolerance must be a number, a duration such as '30 days'"


@pytest.mark.parametrize("name", MEASURES)
def test_a_text_that_is_no_tolerance_is_refused(name):
    for text in ("5%", "30", "soon", "-3 days", "0 iqr", "nan iqr", "inf iqr", "iqr", "NaT", ""):
        with pytest.raises(InputError, match=NO_TOLERANCE):
            guess_s(name, *tables(), tolerance=text)
    with pytest.raises(InputError, match=r"tolerance of numbers must be .*, got '3 days'"):
        guess_s(name, YEARS, YEARS, tolerance="3 days")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("rapid", {"error": "stabilized_relative"}, "error of dates"),
        ("rapid", {"error": "absolute", "tolerance": 5}, "error of dates"),
        ("rapid", {"error": "stabilized_relative", "tolerance": "3 days"}, "error must be absolute"),
        ("inference", {"tolerance": "3 days", "scale": 2.0}, "scale must be left out"),
    ],
)
def test_an_error_that_needs_a_zero_and_a_scale_beside_units_are_refused_for_dates(name, options, said):
    with pytest.raises(InputError, match=said):
        guess_s(name, *tables(), **options)


def test_no_share_is_taken_of_no_spread():
    same = tables()[0].assign(s=START)
    with pytest.raises(InputError, match=r"tolerance must be .* where the middle half of the values are equal"):
        guess_s("rapid", same, same)
    assert guess_s("rapid", same, same, tolerance="1 day").value == 1
    for name in MEASURES[1:]:
        assert guess_s(name, same, same).value == 1
        assert guess_s(name, same, same.assign(s=START + DAY)).value == 0
