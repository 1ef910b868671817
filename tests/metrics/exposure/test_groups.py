"""Groups of records: risk, guess and control of the same records, intervals widened for the choice."""

import numpy as np
import pandas as pd
import pytest

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
    assert row["risk"] == pytest.approx(scores.as_member[own].mean())
    assert row["guess"] == pytest.approx(scores.guess[own].mean())
    assert row["control"] == pytest.approx(np.nanmean(scores.as_control[own]))
    assert row["adds"] == pytest.approx(np.nanmean(scores.adds[own]))
    assert row["adds_lower"] < row["adds"] < row["adds_upper"]


def test_intervals_of_one_column_are_those_of_risk_by_at_the_widened_level():
    frame, scores = table(columns=1), reached()
    rows = groups(scores, frame, 1).rows
    for confidence, simultaneous in ((0.95, False), (1 - 0.05 / 6, True)):
        rows = groups(scores, frame, 1, simultaneous=simultaneous).rows
        expected = risk_by(scores.as_member, frame.astype(str), ["c0"], confidence=confidence)
        assert rows[["lower", "upper"]].to_numpy().tolist() == pytest.approx(expected[["lower", "upper"]].to_numpy())


def test_chance_alone_names_no_group():
    """Of groups that differ by chance alone, the surest of hundreds crosses zero in 19 of 20 tables or more."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = table(400, 6, seed)
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
    found = groups(scores, frame, 2)
    columns = {c for group in found.rows["group"] for c, _ in group}
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
    if (metric, column) == ("inference", "income"):
        assert np.isnan(right).all()  # its tolerance is its own affair
        return
    best = METRICS[metric].yardsticks.best_answer
    expected = best(Tables(frame, frame), sensitive=column) if (metric, column) != ("rapid", "vote") else 60 / 90
    share = np.nansum(right) / (len(frame) if metric == "zero_cap" else (~np.isnan(right)).sum())
    assert share == pytest.approx(expected, abs=0.1 if (metric, column) == ("rapid", "vote") else 1e-12)


def test_screening_takes_the_columns_that_differ():
    frame = table(600, 8, 9)
    scores = np.where(frame["c5"] == "b", 0.9, 0.1) + 0.05 * np.random.default_rng(0).random(600)
    scores[:20] = np.nan
    assert strongest_columns(scores, frame, 1) == ["c5"]
    assert strongest_columns(scores, frame.assign(c5=pd.Categorical(["x"] * 600)), 99).count("c5") == 0
