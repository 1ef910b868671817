"""Utility of a synthesizer from that of its releases: means and intervals by hand, and no threshold on it."""

import math

import pytest
from scipy import stats

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.score import Ceiling
from synthrisk.metrics.study.findings import usefulness, utility_table
from synthrisk.metrics.study.ledger import Measure, OfUtility
from synthrisk.metrics.verdicts.verdicts import check_limits

ACCURACY = Measure("accuracy", "accuracy")
NAN = float("nan")


def released(value, ceiling=None, of_ceiling=None, **details):
    beside = None if ceiling is None else Ceiling(ceiling, value - 0.1, 5.0, of_ceiling)
    return OfUtility(value, details, beside)


def test_value_and_ceiling_are_means_over_repetitions_with_an_interval():
    values = {(0, 0): 0.8, (0, 1): 0.6, (1, 0): 0.9, (1, 1): 0.8, (2, 0): 0.5, (2, 1): 0.6}
    found = usefulness(
        "cart",
        "synthesizer",
        ACCURACY,
        {k: released(v, v / 2, mean=v, of_ceiling={"mean": 0.1}) for k, v in values.items()},
    )
    means = [0.7, 0.85, 0.55]
    half = stats.t.ppf(0.975, 2) * 0.15 / math.sqrt(3)
    assert (found.value.value, found.value.lower) == (pytest.approx(sum(means) / 3), pytest.approx(0.7 - half))
    assert found.value.upper == 1 < 0.7 + half  # no utility is more than 1
    assert found.ceiling.value == pytest.approx(0.35)
    assert found.thinned.value == found.at_one_size.value == pytest.approx(0.6)
    assert (found.releases, found.details) == (tuple(values.values()), {"mean": pytest.approx((0.7, 0.1))})


def test_without_control_there_is_no_ceiling():
    found = usefulness("cart", "synthesizer", ACCURACY, {(0, 0): released(0.8, sum=0.7)})
    assert found.value.value == found.at_one_size.value == 0.8
    assert math.isnan(found.value.lower)
    assert math.isnan(found.ceiling.value)
    assert found.details["sum"][0] == 0.7
    assert math.isnan(found.details["sum"][1])


def test_a_release_that_has_no_value_says_why():
    nothing = OfUtility(NAN, reason="no query has an answer")
    found = usefulness("cart", "synthesizer", ACCURACY, {(0, 0): nothing})
    assert math.isnan(found.value.value)
    assert found.reason == "no query has an answer"
    row = utility_table([found]).iloc[0]
    assert (row["synthesizer"], row["measure"], row["note"]) == (
        "cart",
        "accuracy",
        "not scored; no query has an answer",
    )


@pytest.mark.parametrize("name", ["risk/accuracy", "memorization/accuracy", "utility/accuracy", "utility/other"])
def test_a_threshold_on_a_utility_is_refused(name):
    with pytest.raises(InputError, match=f"limits must be on risks.*'{name}', a utility"):
        check_limits([name], [ACCURACY, Measure("zero_cap", "zero_cap", "income")])
