"""Risk by level, in joint subgroups and in groups: plain loops, hand-made tables and awkward columns."""

import datetime
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.groups import (
    COLUMNS,
    Reached,
    all_records,
    constant_guess,
    groups,
    risk_by,
    strongest_columns,
)
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.tables.tables import Tables

Z = 1.959963984540054


def wilson(share, n):
    middle, half = share + Z * Z / (2 * n), Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def interval(values, binary):
    n, mean = len(values), sum(values) / len(values)
    squares = sum((v - mean) ** 2 for v in values)
    if binary or n == 1 or squares == 0:
        return wilson(mean, n)
    half = student.ppf(0.975, n - 1) * math.sqrt(squares / (n - 1) / n)
    return max(0.0, mean - half), min(1.0, mean + half)


def by_hand(scores, cells):
    """Return {cell: (records, risk, lower, upper)} in loops; scores may be None."""
    there = [(s, c) for s, c in zip(scores, cells, strict=True) if s is not None and not math.isnan(s)]
    binary, found = all(s in (0, 1) for s, _ in there), {}
    for cell in {c for _, c in there}:
        values = [s for s, c in there if c == cell]
        found[cell] = (len(values), sum(values) / len(values), *interval(values, binary))
    return found


def close(row, expected):
    return list(row[["records", "risk", "lower", "upper"]]) == pytest.approx(list(expected), abs=1e-9)


LETTERS = st.sampled_from(["a", "b", "ü", None])
records = st.lists(st.tuples(st.sampled_from([0.0, 1.0, math.nan]), LETTERS, st.booleans()), min_size=1, max_size=40)


@given(records.filter(lambda rows: any(not math.isnan(r[0]) for r in rows)))
def test_levels_are_counted_as_in_loops(rows):
    scores, letters, flags = (list(each) for each in zip(*rows, strict=True))
    table = pd.DataFrame({"letter": pd.Series(letters, dtype=object), "flag": flags})
    names = [(str(f), "missing" if v is None else v) for f, v in zip(flags, letters, strict=True)]
    found = risk_by(scores, table, ["letter", "flag"])
    for place, column in enumerate(("flag", "letter")):
        expected = by_hand(scores, [cell[place] for cell in names])
        part = found[found["column"] == column]
        assert set(part["level"]) == set(expected)
        assert all(close(row, expected[row["level"]]) for _, row in part.iterrows())


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), min_size=2, max_size=30), st.integers(0, 2**32 - 1))
def test_shares_have_a_t_interval(shares, seed):
    groups = np.random.default_rng(seed).choice(["p", "q"], len(shares)).tolist()
    found, expected = risk_by(shares, pd.DataFrame({"g": groups}), "g"), by_hand(shares, groups)
    assert all(close(row, expected[row["level"]]) for _, row in found.iterrows())


def holds(level, value):
    """Tell whether a value lies in the bin that a label names."""
    if level.startswith("≤"):
        return value <= float(level[2:])
    if level.startswith(">"):
        return value > float(level[2:])
    if level.startswith("("):
        low, high = re.fullmatch(r"\((\S+), (\S+)\]", level).groups()
        return float(low) < value <= float(high)
    return value == float(level)


@given(st.lists(st.integers(-30, 30) | st.sampled_from([0, 0, 0, 30]), min_size=1, max_size=80), st.integers(2, 6))
def test_bins_hold_the_values_that_their_names_say(values, bins):
    found = risk_by([1.0] * len(values), pd.DataFrame({"v": values}), "v", bins=bins)
    assert len(found) <= bins
    assert (len(found) > 1) == (len(set(values)) > 1)
    for _, row in found.iterrows():
        assert row["records"] == sum(holds(row["level"], v) for v in values)
    assert found["records"].sum() == len(values)


def test_bins_are_of_equal_size_without_ties_and_follow_the_scored_records():
    found = risk_by([1, 0] * 50, pd.DataFrame({"v": np.random.default_rng(0).normal(size=100)}), "v", bins=4)
    assert list(found["records"]) == [25] * 4
    scored = risk_by([1, 1, 0, 0, math.nan], pd.DataFrame({"v": [1.5, 2.5, 1.5, 2.5, 1e9]}), "v")
    assert list(scored["level"]) == ["1.5", "2.5"]


def test_zero_inflated_numbers_keep_the_zero_apart():
    table = pd.DataFrame({"gain": [0] * 90 + list(range(100, 110)), "loss": [*range(-10, 0), *[7] * 90]})
    found = risk_by([0] * 90 + [1] * 10, table, ["gain", "loss"])
    assert (list(found["level"]), list(found["risk"][:2])) == (["0", "> 0", "≤ -1", "7"], [0, 1])


def test_dates_and_durations_have_readable_bins():
    days = pd.date_range("2020-01-01", periods=100, freq="D")
    table = pd.DataFrame({"day": days, "zoned": days.tz_localize("Asia/Tokyo")})
    table["second"] = pd.date_range("2020-01-01", periods=100, freq="s")
    table["stay"] = pd.to_timedelta(np.arange(100), unit="D")
    table.loc[99, "day"] = pd.NaT
    found = risk_by([0, 1] * 50, table, list(table.columns), bins=2).groupby("column")["level"].agg(list)
    ends = {"day": "2020-02-19", "zoned": "2020-02-19", "second": "2020-01-01", "stay": "49 days"}
    assert dict(found) == {c: [f"≤ {end}", f"> {end}", *["missing"] * (c == "day")] for c, end in ends.items()}
    finer = risk_by([0, 1] * 50, table, "second", bins=4)["level"]
    assert list(finer)[1] == "(2020-01-01 00:00:24, 2020-01-01 00:00:49]"


def test_levels_that_would_look_the_same_are_told_apart():
    table = pd.DataFrame({"c": pd.Series([1, "1", 1.0, True, 2.5, "missing", None, np.nan, pd.NA, "<b>$x$'"])})
    found = risk_by([1, 0, 1, 1, 0, 0, 1, 1, 0, 1], table, "c").set_index("level")
    assert list(found.index) == ["1", "2.5", "'1'", '"<b>$x$\'"', "'missing'", "missing"]
    assert list(found["records"]) == [3, 1, 1, 1, 1, 3]
    assert list(found["risk"]) == pytest.approx([1, 0, 0, 1, 0, 2 / 3])


def test_numbers_are_in_order_of_value_text_after_them_and_ordered_categories_in_theirs_without_unused_ones():
    values = [10, 9, Decimal("9.5"), "b", "a", datetime.date(2021, 5, 1), False]
    found = risk_by([1] * 7, pd.DataFrame({"c": pd.Series(values, dtype=object)}), "c")
    assert list(found["level"]) == ["0", "9", "9.5", "10", "a", "b", "2021-05-01"]

    sizes = pd.Categorical(["s", "l", "m", "l"], categories=["xs", "s", "m", "l"], ordered=True)
    plain = pd.Categorical(["s", "l", "m", "l"], categories=["s", "m", "z", "l"])
    found = risk_by([1, 0, 1, 0], pd.DataFrame({"size": sizes, "plain": plain}), ["size", "plain"])
    assert list(found["level"]) == ["l", "m", "s", "s", "m", "l"]


@pytest.mark.parametrize(
    ("column", "levels"),
    [
        (pd.array([True, None, False, True], dtype="boolean"), ["False", "True", "missing"]),
        (pd.array([1, None, 3, 3], dtype="Int64"), ["1", "3", "missing"]),
        (pd.array(["x", None, "y", "y"], dtype="string"), ["x", "y", "missing"]),
        ([2**62, 2**62, -(2**62), 0], ["-4.612e+18", "0", "4.612e+18"]),  # numbers are binned as floats
        (pd.Series([10**30, 10**30, 5, None], dtype=object), ["5", str(10**30), "missing"]),
        ([None] * 4, ["missing"]),
        ([math.nan] * 4, ["missing"]),
        ([1e300, -1e300, 1e-300, 0], ["-1e+300", "0", "1e-300", "1e+300"]),
    ],
)
def test_awkward_columns(column, levels):
    found = risk_by([1, 0, 1, 0], pd.DataFrame({"c": column}), "c")
    assert (list(found["level"]), found["records"].sum()) == (levels, 4)


def test_scores_of_any_numeric_kind():
    table = pd.DataFrame({"c": ["x", "x", "y"]})
    for scores in ([1, 0, 1], np.array([True, False, True]), pd.Series([1, 0, 1], index=[7, 7, 9], dtype="Int64")):
        assert list(risk_by(scores, table, "c")["risk"]) == [0.5, 1]
    nullable = pd.Series([True, None, False], dtype="boolean")
    assert list(risk_by(nullable, table, "c")["records"]) == [1, 1]


BIG = pd.DataFrame({"c": ["secret"] * 3, "v": [1.0, math.inf, 2.0]})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 0], BIG, "c"), "scores must hold one number a record, got 2 for 3 records"),
        (([math.nan] * 3, BIG, "c"), "scores must hold at least one scored record, got none of 3"),
        (([0, 1, 2], BIG, "c"), "scores must lie in [0, 1], got 0 to 2"),
        ((["secret"] * 3, BIG, "c"), "scores must be numbers, one a record"),
        (([1, 0, 1], BIG, "d"), "columns must name columns of the table, got 'd'"),
        (([1, 0, 1], BIG, []), "columns must name at least one column"),
        (([1, 0, 1], BIG, "v"), "column 'v' must hold finite numbers, got an infinity"),
        (([1, 0, 1], BIG, "c", 1), "bins must be a whole number of at least 2, got 1"),
        (([1, 0, 1], BIG, "c", 5, 1.0), "confidence must be a number in (0, 1), got 1.0"),
        (([1, 0, 1], BIG["c"], "c"), "table must be a pandas DataFrame, got Series"),
        (([1, 0, 1], BIG.rename(columns={"v": "c"}), "c"), "table must have columns with distinct names"),
        (([1], pd.DataFrame({"c": [["secret"]]}), "c"), "column 'c' must hold single values"),
    ],
)
def test_bad_input_is_told_in_a_sentence_without_cells(arguments, words):
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        risk_by(*arguments)
    assert "secret" not in str(caught.value)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_of_rows_columns_and_categories_and_index_labels_move_nothing(seed, binary):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    scores = rng.integers(0, 2, n).astype(float) if binary else rng.random(n)
    table = pd.DataFrame({"a": rng.choice(["x", "y", "z"], n)})
    table["b"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    table["c"] = pd.Categorical(rng.choice(["p", "q"], n), categories=["p", "q"])
    order = rng.permutation(n)
    other = table.iloc[order][["c", "b", "a"]].assign(c=lambda t: t["c"].cat.reorder_categories(["q", "p"]))
    other.index = rng.integers(0, 3, n)
    before, after = risk_by(scores, table, ["a", "b", "c"]), risk_by(scores[order], other, ["c", "a", "b"])
    pd.testing.assert_frame_equal(before, after, check_exact=True)


def table(n=600, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({f"c{i}": pd.Categorical(rng.choice(["a", "b", "c"], n)) for i in range(columns)})


def reached(n=600, seed=1):
    rng = np.random.default_rng(seed)
    away = np.where(rng.random(n) < 0.2, np.nan, rng.random(n) * 0.5)
    return Reached(np.where(rng.random(n) < 0.1, np.nan, rng.random(n)), away, (rng.random(n) < 0.6).astype(float))


def test_numbers_of_a_pair_are_those_of_its_records():
    frame, scores = table(), reached()
    rows = groups(scores, frame, 2).rows
    assert len(rows) == 27
    row = rows[rows["group"] == (("c0", "b"), ("c2", "a"))].iloc[0]
    own = ((frame["c0"] == "b") & (frame["c2"] == "a") & ~np.isnan(scores.as_member)).to_numpy()
    assert row["records"] == own.sum()
    means = [np.nanmean(each[own]) for each in (scores.as_member, scores.guess, scores.as_control, scores.adds)]
    assert list(row[["risk", "guess", "control", "adds"]]) == pytest.approx(means)
    assert row["adds_lower"] < row["adds"] < row["adds_upper"]


def test_intervals_of_one_column_are_those_of_risk_by_at_the_widened_level():
    frame, scores = table(columns=1), reached()
    for confidence, simultaneous in ((0.95, False), (1 - 0.05 / 6, True)):
        rows = groups(scores, frame, 1, simultaneous=simultaneous).rows
        expected = risk_by(scores.as_member, frame.astype(str), ["c0"], confidence=confidence)
        assert rows[["lower", "upper"]].to_numpy().tolist() == pytest.approx(expected[["lower", "upper"]].to_numpy())


def test_chance_alone_names_no_group():
    found = 0
    for seed in range(40):
        rng, frame = np.random.default_rng(seed), table(400, 6, seed)
        scores = Reached(rng.random(400), rng.random(400), np.ones(400))
        found += bool((groups(scores, frame, 2).rows["adds_lower"] > 0).any())
    assert found <= 5  # of 40 at 5 %: P(more than 5) < 0.02


def test_groups_of_few_people_are_left_out():
    frame = pd.DataFrame({"c": pd.Categorical(["a"] * 30 + ["b"] * 9 + ["d"] * 12)})
    scores = Reached(np.linspace(0, 1, 51), np.zeros(51), np.ones(51))
    assert [g[0][1] for g in groups(scores, frame).rows["group"]] == ["a", "d"]
    people = np.r_[np.arange(30), np.arange(100, 109), np.repeat(200, 12)]  # all of d is one person
    assert [g[0][1] for g in groups(scores, frame, entities=people).rows["group"]] == ["a"]


def test_of_many_columns_the_pairs_are_of_the_strongest():
    frame = table(600, COLUMNS + 20, 3)
    hit = (frame["c40"] == "a").to_numpy()
    scores = Reached(np.where(hit, 0.9, 0.1), np.full(600, 0.1), np.ones(600))
    columns = {c for group in groups(scores, frame, 2).rows["group"] for c, _ in group}
    assert "c40" in columns
    assert len(columns) == COLUMNS


def test_nothing_known_of_control_is_no_number():
    row = all_records(Reached(np.array([1.0, 0.0]), np.full(2, np.nan), np.full(2, np.nan)))
    assert (row["records"], row["risk"]) == (2, 0.5)
    assert np.isnan([row["control"], row["adds"], row["adds_lower"], row["guess"]]).all()


@pytest.mark.parametrize("metric", ["zero_cap", "rapid", "inference"])
@pytest.mark.parametrize("column", ["vote", "income"])
def test_the_constant_guess_is_the_best_answer_of_the_metric(metric, column):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"vote": rng.choice(list("aab"), 90), "income": rng.integers(20, 30, 90).astype(float)})
    frame.loc[:3, "income"] = np.nan
    right = constant_guess(frame, column, METRICS[metric].group, {})
    if (metric, column) == ("inference", "income"):  # its tolerance is its own affair
        assert np.isnan(right).all()
        return
    expected, within = METRICS[metric].yardsticks.best_answer(Tables(frame, frame), sensitive=column), 1e-12
    if (metric, column) == ("rapid", "vote"):
        expected, within = 60 / 90, 0.1
    share = np.nansum(right) / (len(frame) if metric == "zero_cap" else (~np.isnan(right)).sum())
    assert share == pytest.approx(expected, abs=within)


def test_screening_takes_the_columns_that_differ():
    frame = table(600, 8, 9)
    scores = np.where(frame["c5"] == "b", 0.9, 0.1) + 0.05 * np.random.default_rng(0).random(600)
    scores[:20] = np.nan
    assert strongest_columns(scores, frame, 1) == ["c5"]
    assert strongest_columns(scores, frame.assign(c5=pd.Categorical(["x"] * 600)), 99).count("c5") == 0
