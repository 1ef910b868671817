"""The GDA score against the original scoring class, and a grade that is monotone."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics import InputError
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import WHOLE, ColumnScore, gda_score, gda_view, grade, susceptibility_floor
from synthrisk.metrics.study.ledger import Measure

REFERENCE = Path(__file__).parents[2] / "reference" / "gda"
SCORES = {k: v for k, v in json.loads((REFERENCE / "scores.json").read_text()).items() if "average" in v}
ONES = {k: v for k, v in json.loads((REFERENCE / "scores.json").read_text()).items() if "worst" in v}
NODES = [0, 0.5, 0.75, 0.9, 0.95, 1], [1e-5, 1e-4, 1e-3, 1e-2, 1]


def column(name, counts, share, base):
    """Return our column from the original's counts; cells belong to all columns together there."""
    many = counts["numConfidenceRatios"]
    tried = (counts["claimTrials"], counts["claimMade"], counts["claimCorrect"])
    known, read = base["knowledgeCells"] * share, base["attackCells"] * share
    return ColumnScore(name, *tried, counts["sumConfidenceRatios"] / many if many else 0, 1.0, known, read)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("which", ["average", "worst"])
def test_scores_of_the_original(name, which):
    case = SCORES[name]
    expected = case[which]  # of the worst column all cells count; which one that is, is for the grade to say
    counts = {c: v for c, v in case["input"]["col"].items() if c in expected["columnsUsed"]}
    columns = [column(c, v, 1 / len(counts), case["input"]["base"]) for c, v in counts.items()]
    found = gda_score(columns, case["input"]["tableStats"]["numColumns"])
    assert (set(found.columns), found.claims) == (set(expected["columnsUsed"]), expected["totalClaims"])
    numbers = found.confidence_improvement, found.claim_probability, found.susceptibility, found.prior_knowledge
    due = ("confidenceImprovement", "claimProbability", "susceptibility", "knowledgeNeeded", "workNeeded")
    assert (*numbers, found.work) == pytest.approx(tuple(expected[each] for each in due))


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


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_grade_never_rises_with_confidence_or_claims(first, second, seldom, often):
    low, high = sorted((first, second))
    few, many = sorted((seldom, often))
    assert 0 <= grade(high, many) <= grade(low, few) + 1e-12 <= 1 + 1e-12
    assert max(grade(high, few), grade(low, many)) <= grade(low, few) + 1e-12


def test_the_worst_columns_come_first():
    columns = [ColumnScore("a", 50, 50, 45, 0.2), ColumnScore("b", 50, 25, 10, 0.4), ColumnScore("c", 200, 20, 19, 0.1)]
    found = [gda_score(columns, 4, k) for k in (None, 2, 1)]
    assert [each.columns for each in found] == [("c", "a", "b"), ("c", "a"), ("c",)]
    assert found[2].confidence_improvement == columns[2].confidence_improvement
    assert found[2].grade == pytest.approx(max(columns[2].grade, susceptibility_floor(0.25)))
    one = [ColumnScore("a", 10, 10, 10, 0.1)]
    assert gda_score([*one, replace(one[0], column="b")], 4).grade <= gda_score(one, 4).grade  # nor rises the floor


def test_nothing_claimed_is_defended_and_hides_not_what_is_learned_of_other_columns():
    assert (grade(math.nan, 0.0), math.isnan(grade(math.nan, 0.5))) == (1, True)
    silent, known = ColumnScore("a", 50, 0, 0, math.nan), ColumnScore("b", 50, 50, 45, 0.2)
    alone, both = gda_score([silent], 2), gda_score([silent, known], 2)
    assert np.isnan([silent.confidence_improvement, alone.confidence_improvement]).all()
    assert (silent.claim_probability, alone.grade, both.claim_probability) == (0, 1, 0.5)
    assert both.confidence_improvement == known.confidence_improvement == pytest.approx(0.875)


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


NOTHING = Estimate(0.5, 0.4, 0.6)
TOLD = {"attempts": 100.0, "claims": 40.0, "correct": 30.0, "statistical_confidence": 0.5, "susceptibility": 0.8}
TOLD |= {"prior_knowledge": 5.0, "work": 25.0}


def finding(sensitive, variant_of=None, **more):
    measure = Measure("inference", "inference", sensitive, "key_class", variant_of)
    details = {name: (value, -1.0) for name, value in (TOLD | more).items()}
    return Finding("cart", "synthesizer", measure, NOTHING, NOTHING, NOTHING, details=details)


def test_members_counts_make_the_columns_of_the_view_and_both_overall_scores():
    (view,) = gda_view([finding("a"), finding("b", correct=40.0)], of=8)
    given = (0.5, 0.8, 200, 1000)
    assert view.columns == (ColumnScore("a", 100, 40, 30, *given), ColumnScore("b", 100, 40, 40, *given))
    overall = view.overall.confidence_improvement, view.overall.susceptibility, view.overall.prior_knowledge
    assert overall == pytest.approx(((0.5 + 1) / 2, 0.2, 5))
    assert (list(view.weakest), view.weakest[None], view.weakest[1].columns) == ([None, 1], view.overall, ("b",))
    assert view.weakest[1].susceptibility == pytest.approx(0.1)
    a, b = gda_view([finding("a"), finding("b", claims=0.0)], of=8)[0].columns
    assert (a.prior_knowledge, a.work) == (5, 25)  # cells known and read for each claim
    assert np.isnan([b.prior_knowledge, b.work]).all()


@pytest.mark.parametrize("name", ONES)
def test_susceptibility_of_a_column_is_what_the_original_says_of_one(name):
    case = ONES[name]  # the original scores the worst column as a data set of which that column alone was attacked
    of, (worst,) = case["input"]["tableStats"]["numColumns"], case["worst"]["columnsUsed"]
    (view,) = gda_view([finding(worst, susceptibility=1.0)], of=of)
    assert view.susceptibility(view.columns[0]) == pytest.approx(case["worst"]["susceptibility"], abs=1e-12)


def test_susceptibilities_add_up_and_as_many_of_the_weakest_columns_as_are_asked_for():
    open_cells = {"a": 10, "b": 4, "c": 7}  # of 5 columns and 10 records
    (view,) = gda_view([finding(name, susceptibility=cells / 10) for name, cells in open_cells.items()], of=5)
    assert [view.susceptibility(c) for c in view.columns] == pytest.approx([10 / 50, 4 / 50, 7 / 50])
    assert view.overall.susceptibility == pytest.approx(21 / 50)
    (view,) = gda_view([finding("a"), finding("b", correct=40.0), finding("c", correct=20.0)], of=8, weakest=(2, 5))
    two, every = view.weakest[2], view.weakest[5]
    assert (two.columns, every.columns, two.claims, len(view.overall.columns)) == (("b", "a"), ("b", "a", "c"), 80, 3)
    assert (two.confidence_improvement, two.susceptibility) == pytest.approx(((1 + 0.5) / 2, 0.2))


def test_claims_about_whole_records_are_one_column_and_what_ifs_and_measures_without_claims_passed_over():
    (view,) = gda_view([finding(None)], of=8)
    assert (view.columns[0].column, view.overall.susceptibility) == (WHOLE, pytest.approx(0.8))
    other = Finding("cart", "synthesizer", Measure("rapid", "rapid", "a"), NOTHING, NOTHING, NOTHING)
    assert gda_view([other, finding("a", variant_of="inference"), finding("a", attempts=0.0)], of=8) == []
