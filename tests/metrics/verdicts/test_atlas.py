"""The answers of the atlas, counted again in plain loops."""

from math import comb, isnan, nan

import numpy as np
import pytest

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.identifiers import Released
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.atlas import Look, answers, looks_of


def made(seed: int, studies: int = 7) -> list[Look]:
    rng = np.random.default_rng(seed)
    looks = []
    for table in ("t", "u"):
        for measure in ("m", "n"):
            for leak, doses in {"": [0.0], "a": [0.1, 0.5, 1.0], "b": [2.0, 8.0]}.items():
                for dose in doses:
                    for _ in range(studies):
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
            studies = max(
                sum((x.table, x.leak, x.dose, x.measure) == (answer.table, answer.leak, dose, m) for x in looks)
                for m in ("m", "n")
            )
            counts.append(studies)
            if sum(1 for x in planted if x.dose == dose and x.seen) >= 0.8 * studies:
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
    quiet = [Look("t", "", 0, "m", "tpr", 0.5, True)] * 10
    planted = [Look("t", "a", 1, "m", "tpr", 0.5, True)] * 10
    one = answers(quiet + planted)[0]
    assert (one.seen_full, one.too_loud, isnan(one.smallest), isnan(one.rank)) == (1.0, True, True, True)
    silent = [Look("t", leak, 0, "m", "tpr", 0.5, None) for leak in ("", "a")]
    other = answers(silent)[0]
    assert other.seen_full == 0
    assert isnan(other.alarms)
    assert isnan(other.smallest)


def test_a_study_without_a_number_does_not_see():
    looks = [Look("t", "", 0, m, "tpr", 0.0, False) for m in "mn"] * 4
    looks += [Look("t", "a", 1, "n", "tpr", 1.0, True)] * 4 + [Look("t", "a", 1, "m", "tpr", 1.0, True)] * 3
    by_measure = {each.measure: each for each in answers(looks)}
    assert (by_measure["m"].seen_full, by_measure["n"].seen_full) == (0.75, 1.0)
    assert isnan(by_measure["m"].smallest)
    assert by_measure["n"].smallest == 1


def test_looks_are_of_each_quantity_that_a_finding_has():
    low, high = Estimate(0.5, 0.2, 0.8), Estimate(0.5, -0.2, 0.8)
    group = Finding("x", "reference", Measure("m", "m"), low, low, low)
    finding = Finding(
        "x",
        "reference",
        Measure("m", "m", "income"),
        low,
        low,
        high,
        groups={"outliers": group},
        tpr={0.01: Estimate(0.02, 0.009, 0.03), 0.001: NOT_ESTIMABLE},
    )
    found = {look.quantity: look.seen for look in looks_of([finding], "t", "a", 0.5)}
    assert found == {"memorization": False, "tpr": False, "memorization@outliers": True}


@pytest.mark.parametrize(("lower", "upper", "seen"), [(-0.4, -0.1, True), (-0.4, 0.1, False), (0.1, 0.4, True)])
def test_members_are_seen_by_what_is_missing_too(lower, upper, seen):
    found = Estimate((lower + upper) / 2, lower, upper)
    finding = Finding("x", "reference", Measure("m", "m"), found, found, found, tpr={0.01: Estimate(0.0, 0.0, 0.005)})
    assert {x.quantity: x.seen for x in looks_of([finding], "t", "a", 0.5)} == {"memorization": seen, "tpr": False}


def test_identifiers_that_are_released_are_a_look_of_their_own():
    some = Released(("mail: values of 4 of 10 people in the data are in the release",), 0.4)
    assert looks_of([], "t", "a", 0.5, some) == [Look("t", "a", 0.5, "released/identifiers", "memorization", 0.4, True)]
    none = looks_of([], "t", "", 0, Released())
    assert none == [Look("t", "", 0, "released/identifiers", "memorization", 0.0, False)]
