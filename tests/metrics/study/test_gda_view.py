"""The GDA view is read off the findings, and off nothing else."""

import json
from math import isnan
from pathlib import Path

import pytest

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import WHOLE, ColumnScore, gda_view
from synthrisk.metrics.study.ledger import Measure

REFERENCE = Path(__file__).parents[2] / "reference" / "gda"
SCORES = {k: v for k, v in json.loads((REFERENCE / "scores.json").read_text()).items() if "worst" in v}
NOTHING = Estimate(0.5, 0.4, 0.6)


def finding(sensitive, attempts=100.0, claims=40.0, correct=30.0, label="inference", variant_of=None, **more):
    told = {
        "attempts": attempts,
        "claims": claims,
        "correct": correct,
        "statistical_confidence": 0.5,
        "susceptibility": 0.8,
        "prior_knowledge": 5.0,
        "work": 25.0,
    }
    measure = Measure(label, "inference", sensitive, "key_class", variant_of)
    details = {name: (value, -1.0) for name, value in (told | more).items()}
    return Finding("cart", "synthesizer", measure, NOTHING, NOTHING, NOTHING, details=details)


def test_members_counts_make_the_columns_and_both_overall_scores():
    (view,) = gda_view([finding("a"), finding("b", correct=40.0)], of=8)
    assert view.columns == (
        ColumnScore("a", 100, 40, 30, 0.5, 0.8, 200, 1000),
        ColumnScore("b", 100, 40, 40, 0.5, 0.8, 200, 1000),
    )
    assert view.overall.confidence_improvement == pytest.approx((0.5 + 1) / 2)
    assert view.overall.susceptibility == pytest.approx(0.2)
    assert (view.overall.prior_knowledge, list(view.weakest)) == (pytest.approx(5), [None, 1])
    assert (view.weakest[None], view.weakest[1].columns) == (view.overall, ("b",))
    assert view.weakest[1].susceptibility == pytest.approx(0.1)


@pytest.mark.parametrize("name", SCORES)
def test_susceptibility_of_a_column_is_what_the_original_says_of_one(name):
    case = SCORES[name]
    of, (worst,) = case["input"]["tableStats"]["numColumns"], case["worst"]["columnsUsed"]
    (view,) = gda_view([finding(worst, susceptibility=1.0)], of=of)
    assert view.susceptibility(view.columns[0]) == pytest.approx(case["worst"]["susceptibility"], abs=1e-12)


def test_susceptibilities_of_the_columns_add_up_to_that_of_the_attack():
    open_cells = {"a": 10, "b": 4, "c": 7}
    (view,) = gda_view([finding(name, susceptibility=cells / 10) for name, cells in open_cells.items()], of=5)
    assert [view.susceptibility(c) for c in view.columns] == pytest.approx([10 / 50, 4 / 50, 7 / 50])
    assert view.overall.susceptibility == pytest.approx(21 / 50)


def test_cells_known_and_read_are_told_for_each_claim_of_a_column():
    (view,) = gda_view([finding("a", prior_knowledge=5.0, work=25.0), finding("b", claims=0.0)], of=8)
    a, b = view.columns
    assert (a.prior_knowledge, a.work) == (5, 25)
    assert isnan(b.prior_knowledge)
    assert isnan(b.work)


def test_as_many_of_the_weakest_columns_as_are_asked_for():
    found = [finding("a"), finding("b", correct=40.0), finding("c", correct=20.0)]
    (view,) = gda_view(found, of=8, weakest=(2, 5))
    assert [view.weakest[k].columns for k in (2, 5)] == [("b", "a"), ("b", "a", "c")]
    assert view.weakest[2].confidence_improvement == pytest.approx((1 + 0.5) / 2)
    assert (view.weakest[2].claims, view.weakest[2].susceptibility) == (80, pytest.approx(0.2))
    assert len(view.overall.columns) == 3


def test_claims_about_whole_records_are_one_column_of_one():
    (view,) = gda_view([finding(None)], of=8)
    assert (view.columns[0].column, view.overall.susceptibility) == (WHOLE, pytest.approx(0.8))


def test_what_ifs_and_measures_without_claims_are_passed_over():
    other = Finding("cart", "synthesizer", Measure("rapid", "rapid", "a"), NOTHING, NOTHING, NOTHING)
    assert gda_view([other, finding("a", variant_of="inference"), finding("a", attempts=0.0)], of=8) == []
