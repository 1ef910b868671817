from dataclasses import replace

import pytest

from samples.estimates import around
from samples.judged import judged_study
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.tasks.pages.figures import words_of
from synthrisk.tasks.pages.plots import league, risk_curve, risk_utility


def test_the_league_names_all_and_draws_the_limit_of_its_measure():
    result = judged_study()
    axes = league(result, "zero_cap.income")
    names = {label.get_text() for label in axes.get_yticklabels()}
    assert {"cart", "coarse", "copy", "near", "fresh"} <= names
    points = {line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1}
    assert {0.3, 0.02, 0.6} <= points
    limits = len(axes.get_lines())
    assert len(league(replace(result, limits={}), "zero_cap.income").get_lines()) < limits
    assert league(result).figure is not axes.figure


def test_a_risk_curve_is_drawn_of_a_measure_that_has_one():
    result = judged_study()
    curve = tuple(around(0.9 - 0.03 * i, 0.01) for i in range(len(CURVE)))
    drawn = replace(result, findings=[replace(f, curve=curve) for f in result.findings if f.synthesizer == "cart"])
    axes = risk_curve(drawn)
    (line,) = (each for each in axes.get_lines() if len(each.get_xdata()) == len(CURVE))
    assert (list(line.get_ydata()), axes.get_xlabel()) == (pytest.approx([each.value for each in curve]), "threshold")


def test_the_curve_of_a_number_lies_over_its_tolerances():
    curve = tuple(around(0.04 * i, 0.01) for i in range(len(TOLERANCES)))
    own = [f for f in judged_study().findings if f.synthesizer == "cart"]
    found = [replace(f, curve=curve, details={"tolerance": (0.1, 0.1)}) for f in own]
    axes = risk_curve(replace(judged_study(), findings=found))
    assert axes.get_xlabel() == "tolerance"
    ticks = dict(zip(axes.get_xticks(), (t.get_text() for t in axes.get_xticklabels()), strict=True))
    assert [ticks[0.0], ticks[0.2], ticks[1.0]] == ["0", "0.1", "0.5"]
    (line,) = (each for each in axes.get_lines() if len(each.get_xdata()) == len(TOLERANCES))
    assert 0.5 * line.get_xdata() == pytest.approx(0.1 * TOLERANCES)
    assert list(line.get_ydata()) == [each.value for each in curve]
    assert any(list(each.get_xdata()) == pytest.approx([0.2, 0.2]) for each in axes.get_lines())  # the one in force
    assert "0.760 [0.750, 0.770] at tolerance 0.5" in words_of(axes.figure)


def test_the_map_has_a_point_a_generator():
    axes = risk_utility(judged_study())
    assert {"cart", "coarse"} <= {text.get_text() for text in axes.texts}


def test_what_there_is_not_is_refused_with_what_there_is():
    result = judged_study()
    with pytest.raises(InputError, match="result must hold a measure that can be drawn so, got none"):
        risk_curve(result)
    with pytest.raises(InputError, match="result must hold a risk that can be drawn so, got none"):
        risk_utility(replace(result, utility=[]))
    with pytest.raises(InputError, match=r"measure must be one of zero_cap.income, rapid.income, got 'rapit.income'"):
        league(result, "rapit.income")
    with pytest.raises(InputError, match=r"risk must be one of memorization/zero_cap\.income, got 'x'"):
        risk_utility(result, "x")
