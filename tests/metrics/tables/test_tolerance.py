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
DAYS = (SHARED * 30 + RNG.integers(0, 60, 40)).astype(float)
RELEASED = (SHARED * 30 + RNG.integers(0, 60, 40)).astype(float)
DAY = pd.Timedelta("1 day")
TREE = DecisionTreeRegressor(min_samples_leaf=3)
START = pd.Timestamp("2015-03-01")
COLUMNS = {
    "date": lambda days: START + pd.to_timedelta(days, unit="D"),
    "date in seconds": lambda days: (START + pd.to_timedelta(days, unit="D")).astype("datetime64[s]"),
    "date with zone": lambda days: (START + pd.to_timedelta(days, unit="D")).tz_localize("UTC"),
    "duration": lambda days: pd.to_timedelta(days, unit="D"),
}


def tables(form="date"):
    real, release = (
        pd.DataFrame({"k": SHARED.astype(str), "s": COLUMNS[form](pd.Series(days).to_numpy())})
        for days in (DAYS, RELEASED)
    )
    return real, release


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


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize(("options", "days"), TOLERANCES)
def test_rapid_counts_who_is_missed_by_fewer_days(form, options, days):
    found = METRICS["rapid"](*tables(form), quasi_identifiers=["k"], sensitive="s", attacker=TREE, **options)
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
    assert found.details["null_real_mean"] == pytest.approx(
        np.mean([[abs(y - p) < days for y in DAYS] for p in guesses])
    )


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize(("options", "days"), TOLERANCES)
def test_claims_about_dates_are_right_within_so_many_days(form, options, days):
    found = METRICS["inference"](*tables(form), quasi_identifiers=["k"], sensitive="s", **options)
    records = found.records
    guess = (pd.Series(records["guessed"]) - tables(form)[0]["s"]).dt.total_seconds() / 86400 + DAYS
    assert records["score"].tolist() == [float(abs(y - p) <= days + 1e-9) for y, p in zip(DAYS, guess, strict=True)]
    shares = [np.mean([abs(y - p) <= days + 1e-9 for y in DAYS]) for p in guess]
    assert records["baseline"].tolist() == pytest.approx(shares)
    assert found.details["tolerance_days"] == pytest.approx(days)


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize(("options", "days"), TOLERANCES)
def test_credits_for_dates_are_of_those_within_so_many_days(form, options, days):
    found = METRICS["attribute_inference_risk"](*tables(form), quasi_identifiers=["k"], sensitive="s", **options)
    for key, truth, score in zip(SHARED, DAYS, found.records["score"], strict=True):
        near = [abs(truth - p) <= days + 1e-9 for k, p in zip(SHARED, RELEASED, strict=True) if k == key]
        assert score == pytest.approx(np.mean(near))
    assert found.details["tolerance_days_s"] == pytest.approx(days)


def test_when_a_calendar_begins_moves_nothing():
    """1970 is no zero: all dates a century later give the same numbers."""
    later = [t.assign(s=t["s"] + 36525 * DAY) for t in tables()]
    for name in ("rapid", "inference", "attribute_inference_risk"):
        options = {"quasi_identifiers": ["k"], "sensitive": "s"} | ({"attacker": TREE} if name == "rapid" else {})
        first, second = (METRICS[name](*each, **options) for each in (tables(), later))
        assert first.value == second.value
        assert first.details["guess"] == pytest.approx(second.details["guess"])
        assert first.details["guess"] < 0.5


def test_the_null_of_dates_has_the_same_rule():
    found = METRICS["rapid"](*tables(), quasi_identifiers=["k"], sensitive="s", attacker=TREE, permutations=4)
    roles = {"quasi_identifiers": ["k"], "sensitive": "s", "attacker": TREE, "permutations": 4}
    null = permutation_null(Tables(*tables()), **roles)
    assert null.observed == found.value
    assert found.details["null_synthetic_mean"] == null.mean < 0.5 < found.value + 0.5


YEARS = pd.DataFrame({"k": SHARED.astype(str), "s": 1950 + SHARED * 5.0})


@pytest.mark.parametrize("name", ["rapid", "inference", "attribute_inference_risk"])
def test_years_are_warned_of_until_the_tolerance_is_of_their_spread(name):
    options = {"quasi_identifiers": ["k"], "sensitive": "s"} | ({"attacker": TREE} if name == "rapid" else {})
    with pytest.warns(UserWarning, match=r"wider than the column.* 100% of the records.*tolerance '0\.1 iqr'"):
        assert METRICS[name](YEARS, YEARS, **options).details["guess"] > 0.9 or name == "inference"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = METRICS[name](YEARS, YEARS, **options, tolerance="0.1 iqr")
    reach = 0.1 * quartiles_apart(YEARS["s"])
    constant = max(np.mean(np.abs(YEARS["s"] - c) < reach) for c in np.arange(1950, 2010, 0.5))
    if name == "rapid":
        assert found.details["guess"] == pytest.approx(constant)
    assert found.details["guess"] < 0.5


def test_a_column_of_nearly_one_value_is_no_fault_of_the_tolerance():
    real = pd.DataFrame({"k": list("ab") * 20, "s": [0.0] * 39 + [900.0]})
    found = METRICS["rapid"](real, real, quasi_identifiers=["k"], sensitive="s", attacker=DummyRegressor())
    assert (found.details["guess"], found.warning) == (0.975, None)


@pytest.mark.parametrize("name", ["rapid", "inference", "attribute_inference_risk"])
@pytest.mark.parametrize("text", ["5%", "30", "soon", "-3 days", "0 iqr", "nan iqr", "inf iqr", "iqr", "NaT", ""])
def test_a_text_that_is_no_tolerance_is_refused(name, text):
    with pytest.raises(InputError, match="tolerance must be a number, a duration such as '30 days'"):
        METRICS[name](*tables(), quasi_identifiers=["k"], sensitive="s", tolerance=text)


@pytest.mark.parametrize("name", ["rapid", "inference", "attribute_inference_risk"])
def test_days_are_no_tolerance_of_plain_numbers(name):
    with pytest.raises(InputError, match=r"tolerance of numbers must be .*, got '3 days'"):
        METRICS[name](YEARS, YEARS, quasi_identifiers=["k"], sensitive="s", tolerance="3 days")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"error": "stabilized_relative"}, "error of dates"),
        ({"error": "absolute", "tolerance": 5}, "error of dates"),
        ({"error": "stabilized_relative", "tolerance": "3 days"}, "error must be absolute"),
    ],
)
def test_an_error_that_needs_a_zero_is_refused_for_dates(options, said):
    with pytest.raises(InputError, match=said):
        METRICS["rapid"](*tables(), quasi_identifiers=["k"], sensitive="s", attacker=TREE, **options)


def test_no_share_is_taken_of_no_spread():
    same = tables()[0].assign(s=START)
    options = {"quasi_identifiers": ["k"], "sensitive": "s"}
    with pytest.raises(InputError, match=r"tolerance must be .* where the middle half of the values are equal"):
        METRICS["rapid"](same, same, **options, attacker=TREE)
    assert METRICS["rapid"](same, same, **options, attacker=TREE, tolerance="1 day").value == 1
    for name in ("inference", "attribute_inference_risk"):
        assert METRICS[name](same, same, **options).value == 1
        assert METRICS[name](same, same.assign(s=START + DAY), **options).value == 0


def test_a_scale_is_no_part_of_a_tolerance_in_units():
    with pytest.raises(InputError, match="scale must be left out"):
        METRICS["inference"](*tables(), quasi_identifiers=["k"], sensitive="s", tolerance="3 days", scale=2.0)
