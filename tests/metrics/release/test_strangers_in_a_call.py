"""Control records that are few, or that are members, in a direct call of a metric."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "c": rng.choice([*"abcd"], n)})


@pytest.mark.parametrize("name", ["membership", "membership_inference_risk"])
def test_too_few_control_records_give_no_value_of_membership(name):
    members = people(600)
    with pytest.warns(UserWarning, match="5 control records for 600 members are too few: at least 20 are needed"):
        found = METRICS[name](members, members, control=people(5, 1))
    assert math.isnan(found.value)
    assert found.reason.startswith("nothing can be compared: 5 control records for 600 members")
    assert all(math.isnan(each) for each in found.details.values())


def test_few_control_records_are_told():
    members = people(600)
    with pytest.warns(UserWarning, match="40 control records for 600 members are few"):
        found = METRICS["membership_inference_risk"](members, members, control=people(40, 1))
    assert found.value > 0.3


def test_a_copy_that_cannot_read_as_one_is_told_and_can_with_as_many_claims_as_members():
    members, control = people(600), people(300, 1)
    with pytest.warns(UserWarning, match="300 control records for 600 members: a copy .* reads as 0.750 at most"):
        found = METRICS["membership"](members, members, control=control)
    assert found.value == pytest.approx(0.75)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = METRICS["membership"](members, members, control=control, claim_share=2 / 3)
        METRICS["membership"](members, members, control=people(590, 1))
    assert whole.value == 1.0


@pytest.mark.parametrize("name", ["membership", "membership_inference_risk"])
def test_control_records_half_of_which_are_members_are_told(name):
    members = people(300)
    control = pd.concat([members[:50], people(51, 1)], ignore_index=True)
    with pytest.warns(UserWarning, match="50 of 101 control records equal a member in all columns"):
        assert not math.isnan(METRICS[name](members, members, control=control).value)
    with pytest.warns(UserWarning, match="they are no strangers"):
        found = METRICS[name](members, members, control=members[:60])
    assert math.isnan(found.value)


def test_a_measure_that_stands_without_control_keeps_its_value():
    members = people(600)
    with pytest.warns(UserWarning, match="too few"):
        found = METRICS["common_rows_proportion"](members, members, control=people(5, 1))
    assert found.value == 1
    assert math.isnan(found.details["control"])
