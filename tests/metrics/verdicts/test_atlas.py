"""The answers of the atlas, counted again in plain loops."""

from itertools import product
from math import comb, isnan, nan

import numpy as np
import pytest

from samples.findings import line
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.identifiers import Released
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.atlas import Look, answers, looks_of

MEASURE = Measure("m", "m")


def made(seed: int, studies: int = 7) -> list[Look]:
    rng = np.random.default_rng(seed)
    doses = [("", 0.0), *(("a", dose) for dose in (0.1, 0.5, 1.0)), ("b", 2.0), ("b", 8.0)]
    looks = []
    for table, measure, (leak, dose), _ in product("tu", "mn", doses, range(studies)):
        value = round(float(rng.normal(dose if measure == "m" else 0, 0.3)), 1)
        seen = [None, True, False][rng.choice(3, p=[0.1, *sorted([0.1, 0.8], reverse=dose > 0.4)])]
        if rng.random() < 0.9:
            looks.append(Look(table, leak, dose, measure, "memorization", value, seen))
    return looks


def ranks(values: list[float]) -> list[float]:
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def tail(count: int, n: int, p: float) -> float:
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1))


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_what_plain_loops_count(seed):
    looks = made(seed)
    found = answers(looks)
    assert len(found) == 2 * 2 * 2
    for answer in found:
        planted = [x for x in looks if (x.table, x.measure, x.leak) == (answer.table, answer.measure, answer.leak)]
        none = [x for x in looks if (x.table, x.measure, x.leak) == (answer.table, answer.measure, "")]
        smallest, counts = nan, []
        for dose in sorted({x.dose for x in planted}, reverse=True):
            own = [x.measure for x in looks if (x.table, x.leak, x.dose) == (answer.table, answer.leak, dose)]
            counts.append(max(own.count(m) for m in "mn"))
            if sum(1 for x in planted if x.dose == dose and x.seen) >= 0.8 * counts[-1]:
                smallest = dose
        quiet = [x.seen for x in none if x.seen is not None]
        alarms = sum(quiet)
        assert (answer.studies, answer.alarms, answer.quiet) == (min(counts), alarms / len(quiet), len(quiet))
        if alarms:
            assert tail(alarms, len(quiet), answer.alarms_lower) == pytest.approx(0.025)
        if alarms < len(quiet):
            assert 1 - tail(alarms + 1, len(quiet), answer.alarms_upper) == pytest.approx(0.025)
        assert answer.too_loud == (answer.alarms_lower > 0.05)
        due = nan if answer.too_loud else smallest
        assert answer.smallest == due or (isnan(answer.smallest) and isnan(due))
        full = max(x.dose for x in planted)
        values = [x.value for x in planted if x.dose == full]
        assert answer.value_full == pytest.approx(sum(values) / len(values))
        assert answer.value_none == pytest.approx(sum(x.value for x in none) / len(none))
        both = [*none, *planted]
        a, b = ranks([x.dose for x in both]), ranks([x.value for x in both])
        assert answer.rank == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_a_measure_that_cries_wolf_sees_nothing_and_one_without_intervals_neither():
    one = answers([Look("t", leak, bool(leak), "m", "tpr", 0.5, True) for leak in ("", "a")] * 10)[0]
    assert (one.seen_full, one.too_loud, isnan(one.smallest), isnan(one.rank)) == (1.0, True, True, True)
    other = answers([Look("t", leak, 0, "m", "tpr", 0.5, None) for leak in ("", "a")])[0]
    assert (other.seen_full, isnan(other.alarms), isnan(other.smallest)) == (0, True, True)


def test_a_study_without_a_number_does_not_see():
    looks = [Look("t", "", 0, m, "tpr", 0.0, False) for m in "mn"] * 4
    looks += [Look("t", "a", 1, "n", "tpr", 1.0, True)] * 4 + [Look("t", "a", 1, "m", "tpr", 1.0, True)] * 3
    m, n = sorted(answers(looks), key=lambda each: each.measure)
    assert (m.seen_full, n.seen_full, isnan(m.smallest), n.smallest) == (0.75, 1.0, True, 1)


def test_looks_are_of_each_quantity_that_a_finding_has():
    low, high = Estimate(0.5, 0.2, 0.8), Estimate(0.5, -0.2, 0.8)
    rates = {0.01: Estimate(0.02, 0.009, 0.03), 0.001: NOT_ESTIMABLE}
    finding = line("x", high, MEASURE, groups={"outliers": line("x", low, MEASURE)}, tpr=rates)
    found = {look.quantity: look.seen for look in looks_of([finding], "t", "a", 0.5)}
    assert found == {"memorization": False, "tpr": False, "memorization@outliers": True}


@pytest.mark.parametrize(("lower", "upper", "seen"), [(-0.4, -0.1, True), (-0.4, 0.1, False), (0.1, 0.4, True)])
def test_members_are_seen_by_what_is_missing_too(lower, upper, seen):
    found = Estimate((lower + upper) / 2, lower, upper)
    finding = line("x", found, MEASURE, tpr={0.01: Estimate(0.0, 0.0, 0.005)})
    assert {x.quantity: x.seen for x in looks_of([finding], "t", "a", 0.5)} == {"memorization": seen, "tpr": False}


def test_identifiers_that_are_released_are_a_look_of_their_own():
    some = Released(("mail: values of 4 of 10 people in the data are in the release",), 0.4)
    for told, leak, value, seen in ((some, "a", 0.4, True), (Released(), "", 0.0, False)):
        look = Look("t", leak, 0.5, "released/identifiers", "memorization", value, seen)
        assert looks_of([], "t", leak, 0.5, told) == [look]
