"""Accuracy: against answers counted by hand, and against plain loops that share no code with it."""

import math
from datetime import datetime
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from samples.cells import is_missing
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.utility.accuracy import Step, step_of

ACCURACY = METRICS["accuracy"]


def error(a, r):
    if r is None:
        return 1.0
    largest = max(abs(a), abs(r))
    return 0.0 if largest == 0 else min(1.0, abs(a - r) / largest)


def width(values):
    """Return the width of the ranges of a numeric column, as a fraction, by trying 1, 2, 5, 10 ..."""
    low, high = np.quantile(values, [0.05, 0.95])
    spread = (high - low) or (max(values) - min(values))
    if spread == 0:
        return None
    candidates = [d * Fraction(10) ** p for p in range(-8, 9) for d in (1, 2, 5)]
    return next(w for w in candidates if spread <= 10 * float(w) * (1 + 1e-9))


def condition(value, step):
    if is_missing(value):
        return None
    return value if step is None else math.floor(Fraction(str(value)) / step)


def grouped(rows, steps, by):
    found = {}
    for row in rows:
        key = tuple(condition(row[c], steps.get(c)) for c in by)
        if None not in key:
            found.setdefault(key, []).append(row)
    return found


def answer(rows, statistic, column):
    values = rows if column == "*" else [r[column] for r in rows if not is_missing(r[column])]
    if statistic == "count":
        return len(values)
    if not values:
        return None
    return {"sum": sum, "min": min, "max": max, "mean": lambda v: sum(v) / len(v)}[statistic](values)


def plain(real, release, queries=None):
    """Return accuracy as METRICS describe it, record by record; of tables without dates."""
    names = list(real.columns)
    numeric = [c for c in names if real[c].dtype.kind in "if"]
    ours, theirs = real.to_dict("records"), release.to_dict("records")
    steps = {c: width([r[c] for r in ours if not is_missing(r[c])]) for c in numeric}
    if queries is None:
        queries = [("count", c, ()) for c in names]
        queries += [("count", "*", by) for k in (1, 2) for by in combinations(names, k)]
        queries += [(s, c, ()) for s in ("sum", "mean", "min", "max") for c in numeric]
    scale, right = len(ours) / len(theirs), []
    for statistic, column, by in queries:
        a_groups, r_groups = grouped(ours, steps, by), grouped(theirs, steps, by)
        errors = []
        for key, rows in a_groups.items():
            a = answer(rows, statistic, column)
            if (by and len(rows) < 2) or a is None or (statistic == "count" and a == 0):
                continue
            r = answer(r_groups.get(key, []), statistic, column)
            if r is not None and statistic in ("count", "sum"):
                r *= scale
            errors.append(error(a, r))
        if errors:
            right.append(1 - sum(errors) / len(errors))
    return sum(right) / len(right)


def draw(rng, n):
    x = rng.normal(0, 30, n).round(1)
    x, age = np.where(rng.random(n) < 0.2, np.nan, x), rng.integers(18, 80, n)
    city = pd.Series(rng.choice([*"abcdef"], n)).where(rng.random(n) > 0.1, None)
    flag, tail = rng.random(n) < 0.3, np.where(rng.random(n) < 0.93, 0, rng.integers(1, 1000, n))
    return pd.DataFrame({"x": x, "age": age, "city": city, "flag": flag, "one": 7, "tail": tail})


def found(real, release, **options):
    return ACCURACY(pd.DataFrame(real), pd.DataFrame(release), **options)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_plain_loops_count(seed):
    rng = np.random.default_rng(seed)
    real, release = draw(rng, 60), draw(rng, 45)
    assert ACCURACY(real, release).value == pytest.approx(plain(real, release), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_friendly_queries_are_what_plain_loops_count(seed):
    rng = np.random.default_rng(seed)
    real, release = draw(rng, 80), draw(rng, 50)
    friendly = [{"count": "*", "by": ["city", "flag", "age"]}, {"count": "x", "by": "city"}, {"min": "x"}]
    friendly += [{"mean": "x", "by": ["city"]}, {"sum": "tail", "by": ["flag"]}, {"max": "age", "by": ["city", "flag"]}]
    asked = []
    for q in friendly:
        by, statistic = q.get("by", ()), next(k for k in q if k != "by")
        asked.append((statistic, q[statistic], (by,) if isinstance(by, str) else tuple(by)))
    score = ACCURACY(real, release, queries=friendly)
    assert score.value == pytest.approx(plain(real, release, asked), abs=1e-9)
    assert score.settings["queries"] == friendly
    assert {"count_by_3", "count_by_1", "mean_by_1", "sum_by_1", "max_by_2", "min"} <= set(score.details)


def test_counts_by_hand():
    score = found({"sex": list("fffmm")}, {"sex": list("ffmmmmmmmm")})
    assert score.details["count_by_1"] == pytest.approx(1 - (2 / 3 + 1 / 2) / 2)
    assert score.value == pytest.approx((1 + 5 / 12) / 2)
    assert [score.details[name] for name in ("count", "queries", "answers", "suppressed")] == [1, 2, 3, 0]


def test_a_condition_of_one_person_is_not_asked_and_of_a_constant_column_it_is_equality():
    assert found({"job": ["nurse", "nurse", "spy"]}, {"job": ["nurse", "nurse", "king"]}).value == 1
    assert found({"x": [5.0] * 4}, {"x": [5.0, 5.1]}).details["count_by_1"] == 0.5


def test_suppressed_answers_and_values_that_are_not_released_are_errors():
    real = pd.DataFrame({"c": list("aabb"), "x": [1.0, 1.0, 2.0, 2.0]})
    details = found(real, real.assign(x=np.nan)).details
    assert details["sum"] == details["mean"] == details["min"] == details["max"] == details["count_by_2"] == 0
    assert details["count"] == details["count_by_1"] == 0.5
    # answers: 2 counts, 2 + 2 by one column, 2 by both, 4 of numbers; told: 1 and 2
    assert details["suppressed"] == pytest.approx(1 - 3 / 12)
    details = found({"c": list("aabb")}, {"c": list("aaaa")}).details
    assert (details["count_by_1"], details["suppressed"]) == pytest.approx((1 - (0.5 + 1) / 2, 1 / 3))


@pytest.mark.parametrize(
    ("real", "release", "expected"),
    [
        ([-10.0, -30.0], [-10.0, -20.0], {"sum": 0.75, "mean": 0.75, "min": 2 / 3, "max": 1}),
        ([-10.0, -30.0], [10.0, 30.0], {"sum": 0, "mean": 0, "min": 0, "max": 0}),
        ([-5.0, 5.0], [-7.0, 7.0], {"sum": 1, "mean": 1, "min": 5 / 7, "max": 5 / 7}),
        ([-5.0, 5.0], [5.0, 5.0], {"sum": 0, "mean": 0, "min": 0, "max": 1}),
        ([0.0, 0.0], [0.0, 0.0], {"sum": 1, "mean": 1, "min": 1, "max": 1}),
        ([3.0, 3.0], [3.0], {"sum": 1, "mean": 1, "min": 1, "max": 1}),
        ([2.0, 2.0], [4.0], {"sum": 0.5, "mean": 0.5, "min": 0.5, "max": 0.5}),
        ([1.0, np.nan], [1.0, 1.0], {"sum": 0.5, "mean": 1, "min": 1, "max": 1}),
    ],
    ids=["negative", "other sign", "mean 0", "away from 0", "zeros", "constant", "constant missed", "missing"],
)
def test_numbers_by_hand(real, release, expected):
    details = found({"x": real}, {"x": release}).details
    assert {k: details[k] for k in expected} == pytest.approx(expected)


def test_a_sum_that_is_0_but_for_rounding_is_0_in_any_order_of_rows():
    real = pd.DataFrame({"x": [0.1, 0.2, -0.3] * 5})
    assert ACCURACY(real, pd.DataFrame({"x": sorted(real["x"])})).value == 1
    assert ACCURACY(real, pd.DataFrame({"x": [0.1, 0.2, -0.3]})).value == 1


def test_dates_by_hand():
    day = pd.Timestamp("2020-01-01")
    real = pd.DataFrame({"day": [day, day + pd.Timedelta(days=10)]})
    release = pd.DataFrame({"day": [day + pd.Timedelta(days=5), day + pd.Timedelta(days=9)]})
    details = ACCURACY(real, release).details
    assert {k: details[k] for k in ("mean", "min", "max")} == pytest.approx({"mean": 0.8, "min": 0.5, "max": 0.9})
    assert "sum" not in details
    one = pd.DataFrame({"day": [day] * 3})
    assert (ACCURACY(one, one).value, ACCURACY(one, one + pd.Timedelta(days=1)).details["mean"]) == (1, 0)
    far = {"day": [datetime(1900, 1, 1)] * 2}  # 120 years, and no more than wrong
    assert found(real, far).details["mean"] == 0


def test_durations_are_numbers_and_booleans_categories():
    details = found({"stay": pd.to_timedelta([1, 3], unit="D")}, {"stay": pd.to_timedelta([1, 1], unit="D")}).details
    assert {k: details[k] for k in ("sum", "mean", "max")} == pytest.approx({"sum": 0.5, "mean": 0.5, "max": 1 / 3})
    real, release = (
        {"b": pd.array([True, *rest], dtype="boolean")} for rest in ([True, False, False, pd.NA], [False] * 4)
    )
    details = found(real, release).details
    assert details["count"] == pytest.approx(0.8)  # 4 and 5 values
    assert details["count_by_1"] == pytest.approx(1 - (0.5 + 0.5) / 2)


def test_days_are_cut_on_the_grid():
    real = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(range(96), unit="D")})
    assert ACCURACY(real, real + pd.Timedelta(hours=1)).details["count_by_1"] == 1
    assert 0.8 < ACCURACY(real, real + pd.Timedelta(days=1)).details["count_by_1"] < 1
    assert ACCURACY(real, real + pd.Timedelta(days=200)).details["count_by_1"] == 0


def test_a_column_without_values_is_asked_nothing():
    real = pd.DataFrame({"x": [np.nan, np.nan], "c": [None, None]})
    score = ACCURACY(real, real)
    assert math.isnan(score.value)
    assert score.reason == "no query has an answer in the real table"
    assert ACCURACY(real.assign(y=1), real.assign(y=1)).value == 1


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0, 100], Step(1, 1)),
        ([0, 1], Step(1, -1)),
        (range(17, 91), Step(1, 1)),
        ([0, 22], Step(2, 0)),
        ([-1000, 1000], Step(2, 2)),
        ([0.0] * 99 + [50.0], Step(5, 0)),
        ([3.0, 3.0], None),
    ],
)
def test_the_width_of_ranges(values, step):
    assert step_of(np.array(values, dtype=float)) == step


def test_values_on_a_bound_are_at_its_right():
    places = Step(1, -1).places(np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.29, -0.1, -0.05]))
    assert places.tolist() == [1, 2, 3, 6, 7, 2, -1, -1]
    assert Step(1, -2).places(np.array([0.29, 0.57, 0.58, 1.13])).tolist() == [29, 57, 58, 113]
    assert Step(2, 1).places(np.array([19.99, 20, 39, 40, -1])).tolist() == [0, 1, 1, 2, -1]


def test_control_gives_the_ceiling_at_one_size():
    rng = np.random.default_rng(0)
    real, control = draw(rng, 400), draw(rng, 100)
    score, alone = ACCURACY(real, real, control=control, seed=3), ACCURACY(real, control)
    assert (score.value, score.details["ceiling"]) == (pytest.approx(1, abs=1e-12), alone.value)
    assert score.details["ceiling_count_by_2"] == alone.details["count_by_2"]
    assert alone.value < score.details["thinned"] < 1
    assert score.details["ceiling_rows"] == 100
    order = np.random.default_rng(1).permutation(400)
    again = ACCURACY(real.iloc[order], real.iloc[order], control=control.iloc[::-1], seed=3)
    assert again.details == pytest.approx(score.details, abs=1e-9)
    assert ACCURACY(real, real, control=control, seed=4).details["thinned"] != score.details["thinned"]


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ("friendly", "queries must be generic or a list"),
        ([], "queries must be generic or a list"),
        ({"count": "*"}, "queries must be generic or a list"),
        (["count"], "queries must be mappings"),
        ([{"median": "age"}], "'median'"),
        ([{"by": ["age"]}], "one of count, sum, mean, min, max each, got 0"),
        ([{"count": "age", "mean": "age"}], "got 2 in one"),
        ([{"count": "*"}], "may take '\\*' in a count by columns only"),
        ([{"mean": "*", "by": ["age"]}], "may take '\\*' in a count by columns only"),
        ([{"mean": ["age"]}], "mean one column"),
        ([{"mean": "age", "by": [1]}], "by a list of columns"),
        ([{"mean": "age", "by": ["city", "city"]}], "each column once"),
        ([{"mean": "agge"}], "'agge' .did you mean 'age'"),
        ([{"count": "*", "by": ["citty"]}], "'citty' .did you mean 'city'"),
        ([{"mean": "city"}], "mean of a numeric column, got 'city'"),
        ([{"max": "flag"}], "max of a numeric column, got 'flag'"),
        ([{"sum": "day"}], "sum of numbers or durations, got 'day'"),
    ],
)
def test_queries_that_are_none_are_refused(queries, words):
    table = draw(np.random.default_rng(0), 10).assign(day=pd.Timestamp("2020-01-01"))
    with pytest.raises(InputError, match=words) as caught:
        ACCURACY(table, table, queries=queries)
    assert "\n" not in str(caught.value)
