"""The GDA score against the original scoring class, and a grade that is monotone."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics import InputError
from synthrisk.metrics.study.gda import ColumnScore, gda_score, grade, susceptibility_floor

REFERENCE = Path(__file__).parents[2] / "reference" / "gda"
SCORES = {k: v for k, v in json.loads((REFERENCE / "scores.json").read_text()).items() if "average" in v}
NODES = [0, 0.5, 0.75, 0.9, 0.95, 1], [1e-5, 1e-4, 1e-3, 1e-2, 1]


def column(name, counts, share, base):
    """Return our column from the original's counts; cells belong to all columns together there."""
    statistical = counts["sumConfidenceRatios"] / counts["numConfidenceRatios"] if counts["numConfidenceRatios"] else 0
    known, read = base["knowledgeCells"] * share, base["attackCells"] * share
    return ColumnScore(
        name, counts["claimTrials"], counts["claimMade"], counts["claimCorrect"], statistical, 1.0, known, read
    )


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("which", ["average", "worst"])
def test_scores_of_the_original(name, which):
    case = SCORES[name]
    expected = case[which]  # of the worst column all cells count; which one that is, is for the grade to say
    counts = {c: v for c, v in case["input"]["col"].items() if c in expected["columnsUsed"]}
    columns = [column(c, v, 1 / len(counts), case["input"]["base"]) for c, v in counts.items()]
    found = gda_score(columns, case["input"]["tableStats"]["numColumns"])
    assert set(found.columns) == set(expected["columnsUsed"])
    assert found.confidence_improvement == pytest.approx(expected["confidenceImprovement"])
    assert found.claim_probability == pytest.approx(expected["claimProbability"])
    assert found.susceptibility == pytest.approx(expected["susceptibility"])
    assert found.claims == expected["totalClaims"]
    assert found.prior_knowledge == pytest.approx(expected["knowledgeNeeded"])
    assert found.work == pytest.approx(expected["workNeeded"])


def test_grade_agrees_with_the_original_at_its_nodes():
    seen = 0
    for case in json.loads((REFERENCE / "defense_grid.json").read_text()):
        if case["ci"] in NODES[0] and case["claim_prob"] in NODES[1]:
            assert grade(case["ci"], case["claim_prob"]) == pytest.approx(case["defense"])
            seen += 1
    assert seen == 30


@pytest.mark.parametrize("case", json.loads((REFERENCE / "susceptibility_floor.json").read_text()))
def test_floor_of_the_original(case):
    assert susceptibility_floor(case["susc"]) == pytest.approx(case["floor"], abs=1e-12)


IMPROVEMENTS = st.floats(-1, 1)
PROBABILITIES = st.floats(0, 1)


@given(IMPROVEMENTS, IMPROVEMENTS, PROBABILITIES, PROBABILITIES)
def test_grade_never_rises_with_confidence_or_claims(first, second, seldom, often):
    low, high = sorted((first, second))
    few, many = sorted((seldom, often))
    assert 0 <= grade(high, many) <= grade(low, few) + 1e-12 <= 1 + 1e-12
    assert grade(high, few) <= grade(low, few) + 1e-12
    assert grade(low, many) <= grade(low, few) + 1e-12


def test_the_worst_columns_come_first():
    columns = [ColumnScore("a", 50, 50, 45, 0.2), ColumnScore("b", 50, 25, 10, 0.4), ColumnScore("c", 200, 20, 19, 0.1)]
    assert (gda_score(columns, 4).columns, gda_score(columns, 4, 2).columns) == (("c", "a", "b"), ("c", "a"))
    worst = gda_score(columns, 4, 1)
    assert worst.confidence_improvement == columns[2].confidence_improvement
    assert worst.grade == pytest.approx(max(columns[2].grade, susceptibility_floor(0.25)))


def test_nothing_claimed_is_defended():
    assert grade(float("nan"), 0.0) == 1
    assert np.isnan(grade(float("nan"), 0.5))
    silent = ColumnScore("a", 50, 0, 0, float("nan"))
    assert np.isnan(silent.confidence_improvement)
    assert (silent.claim_probability, gda_score([silent], 2).grade) == (0, 1)


def test_a_silent_column_does_not_hide_what_is_learned_of_the_others():
    silent, known = ColumnScore("a", 50, 0, 0, float("nan")), ColumnScore("b", 50, 50, 45, 0.2)
    both = gda_score([silent, known], 2)
    assert both.confidence_improvement == known.confidence_improvement == pytest.approx(0.875)
    assert both.claim_probability == 0.5
    assert np.isnan(gda_score([silent], 2).confidence_improvement)


def test_more_columns_attacked_never_raise_the_floor():
    one = [ColumnScore("a", 10, 10, 10, 0.1)]
    assert gda_score([*one, ColumnScore("b", 10, 10, 10, 0.1)], 4).grade <= gda_score(one, 4).grade


@pytest.mark.parametrize(
    ("columns", "of", "k", "says"),
    [
        ([], 3, None, "columns must hold a column with attempts"),
        ([ColumnScore("a", 0, 0, 0, 0.0)], 3, None, "columns must hold"),
        ([ColumnScore("a", 1, 1, 1, 0.0)], 0, None, "of must be the number of columns"),
        ([ColumnScore("a", 1, 1, 1, 0.0)], 1, 0, "k must be"),
        ([ColumnScore("a", 1, 1, 1, 0.0)], 1, True, "k must be"),
    ],
)
def test_bad_arguments(columns, of, k, says):
    with pytest.raises(InputError, match=says):
        gda_score(columns, of, k)
