"""Success on members against success on control records."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.metrics.yardsticks import against_control, gain

NAN = float("nan")


def test_right_and_wrong_scores_have_newcombes_interval():
    members, controls = (pd.Series(np.repeat([1.0, 0.0], counts)) for counts in ([56, 14], [48, 32]))
    found = against_control(members, controls)  # Newcombe 1998, table II, case (a)
    assert found["control_difference"] == pytest.approx(0.2)
    assert found["control_lower"] == pytest.approx(0.0524, abs=5e-5)
    assert found["control_upper"] == pytest.approx(0.3339, abs=5e-5)
    assert found["control_gain"] == pytest.approx((0.8 - 0.6) / 0.4)


def test_other_scores_have_welchs_interval():
    rng = np.random.default_rng(1)
    x, y = rng.random(30), rng.random(50) * 0.5
    found = against_control(pd.Series([*x, NAN]), pd.Series(y))
    expected = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
    assert (found["control_lower"], found["control_upper"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("members", "controls"), [([], [1.0]), ([1.0], []), ([NAN], [1.0])])
def test_a_group_without_scores_has_no_difference(members, controls):
    found = against_control(pd.Series(members, dtype=float), pd.Series(controls, dtype=float))
    assert np.isnan(list(found.values())).all()


def test_one_fractional_score_has_no_interval_and_equal_ones_have_a_point():
    alone = against_control(pd.Series([0.5]), pd.Series([0.25, 0.5]))
    assert alone["control_difference"] == 0.125
    assert np.isnan(alone["control_lower"])
    same = against_control(pd.Series([0.5, 0.5]), pd.Series([0.25, 0.25]))
    assert (same["control_lower"], same["control_upper"]) == (0.25, 0.25)


def test_there_is_no_gain_over_a_perfect_yardstick():
    assert np.isnan(gain(1.0, 1.0))
    assert gain(0.0, 0.5) == -1
