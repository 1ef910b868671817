"""Measures that say of a copy what they say of independent columns: seen, said, and never a verdict."""

import math
from dataclasses import replace

import pytest

from samples.estimates import around
from samples.findings import answers, study
from samples.findings import line as finding
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.quantities import empty_measures
from synthrisk.metrics.verdicts.references import check_references
from synthrisk.metrics.verdicts.tables import league_table
from synthrisk.metrics.verdicts.verdicts import Beside, judge

BORN, ILL = Measure("rapid", "rapid", "born"), Measure("zero_cap", "zero_cap", "ill")
ANSWERS = answers("copy", "near", "marginals")
ALL, NONE = Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0)


def line(name, risk=ALL, memorization=NONE, measure=BORN, guess=1.0):
    return finding(name, memorization, measure, risk, risk, guess=guess)


def lines(*risks, measure=BORN):
    """Return a copy, independent columns and a release."""
    names = ("copy", "marginals", "cart")
    return [line(name, risk, measure=measure, guess=0.5) for name, risk in zip(names, risks, strict=True)]


SAME = [line(name) for name in ("copy", "near", "marginals", "cart")]
SEEN = (("copy", 0.9, 0.5), ("near", 0.8, 0.4), ("marginals", 0.4, 0.0), ("cart", 0.5, 0.01))
SEEING = [line(n, around(risk, 0.01), around(m, 0.02), ILL, guess=0.5) for n, risk, m in SEEN]


def words(findings, *limits, answers=ANSWERS, value=0.1):
    found = beside_other_kind(findings, dict.fromkeys(limits, value), [], Beside(answers))
    return {v.quantity: v.word for v in found}


def said(findings, answers=ANSWERS):
    return list(empty_measures(findings, answers).values())


def test_a_copy_at_the_place_of_independent_columns():
    (reason,) = said(SAME)
    assert reason == (
        "a full copy of the training rows, 1.000 [1.000, 1.000], does not lie above independent columns, "
        "1.000 [1.000, 1.000], which know nobody"
    )
    assert (said(SEEING), list(empty_measures(SAME + SEEING, ANSWERS))) == ([], [BORN])


@pytest.mark.parametrize(
    ("copy", "marginals", "empty"),
    [
        *((around(0.50, 0.02), around(0.49, 0.02), True), (around(0.50, 0.02), around(0.45, 0.02), False)),
        (around(0.50, 0.02), around(0.69, 0.02), True),  # mixed key classes: below what knows nobody
        (around(0.50, 0.20), around(0.45, 0.02), False),  # above the other's interval: that it is wide shows nothing
        *((around(0.50, 0.0), around(0.50, 0.0), True), (around(0.5 - 1e-12, 0.0), around(0.5, 0.0), True)),
        (around(0.5, 0.0), around(0.5 - 1e-12, 0.0), True),
        (Estimate(0.5, math.nan, math.nan), Estimate(0.5, math.nan, math.nan), True),
        (Estimate(0.51, math.nan, math.nan), Estimate(0.5, math.nan, math.nan), False),
        *((NOT_ESTIMABLE, around(0.5, 0.0), False), (around(0.5, 0.0), NOT_ESTIMABLE, False)),
    ],
)
def test_the_same_place_is_within_their_intervals(copy, marginals, empty):
    assert bool(said(lines(copy, marginals, ALL))) is empty


def test_a_measure_that_sees_a_copy_by_its_difference_is_not_empty():
    copy = line("copy", around(0.5, 0.02), around(0.3, 0.02), guess=0.5)
    _, marginals, cart = lines(ALL, around(0.69, 0.02), around(0.6, 0.02))
    assert said([copy, marginals, cart]) == []
    found = words([copy, marginals, cart], "risk/rapid.born", "memorization/rapid.born")
    assert found["risk/rapid.born"] == "CANNOT TELL"  # that value tells no copy from what knows nobody
    remembers = replace(cart, memorization=around(0.2, 0.02))
    assert words([copy, marginals, remembers], "memorization/rapid.born") == {"memorization/rapid.born": "RISK"}


def test_a_constant_guess_that_nobody_exceeds():
    (reason,) = said([line("cart", around(0.95, 0.02), guess=0.96)], {})
    assert reason == "one constant guess is right about 96.0% of the records, and no generator lies above it"
    above = [line("cart", around(0.95, 0.02), guess=0.96), line("copy", around(0.99, 0.01), guess=0.96)]
    assert (said(above), said([line("cart", around(0.5, 0.02), guess=0.9)], {})) == ([], [])
    assert said([line("cart", around(0.5, 0.02), guess=math.nan)], {}) == []
    assert said([line("cart", NOT_ESTIMABLE, guess=0.99)], {}) == []


LIMITS = ("risk/rapid.born", "risk_control/rapid.born", "memorization/rapid.born")


def test_an_empty_measure_gives_no_verdict_at_any_limit_and_says_why():
    for value in (0.0, 0.1, 0.999, 1.0):
        assert set(words(SAME, *LIMITS, value=value).values()) == {"CANNOT TELL"}
    for known in ((), ("copy",), ("copy", "near")):  # without independent columns the guess says all
        assert words(SAME, LIMITS[0], answers=answers(*known)) == {LIMITS[0]: "CANNOT TELL"}
    (verdict,) = judge(SAME, {LIMITS[0]: 0.1}, [], Beside(ANSWERS))
    assert verdict.reason.startswith("risk 1.000 [1.000, 1.000] says nothing: a full copy of the training rows, 1")
    assert (verdict.value, verdict.lower) == (1.0, 1.0)
    found = words(SAME + SEEING, *LIMITS, "memorization/zero_cap.ill", "risk/zero_cap.ill")
    own = {"memorization/zero_cap.ill": "NO EVIDENCE", "risk/zero_cap.ill": "RISK"}
    assert found == dict.fromkeys(LIMITS, "CANNOT TELL") | own
    remembers = line("cart", memorization=around(0.3, 0.02))
    assert words([*SAME[:3], remembers], LIMITS[2]) == {LIMITS[2]: "RISK"}  # whatever the copy shows


def test_a_group_and_a_gain_are_judged_by_their_own_place():
    def grouped(finding, risk):
        return replace(finding, groups={"outliers": replace(finding, risk=risk)})

    risks = {"copy": 0.9, "near": 0.8, "marginals": 0.9, "cart": 0.7}
    every = [grouped(f, around(risks[f.synthesizer], 0.01)) for f in SEEING]
    limits = "risk/zero_cap.ill@outliers", "risk/zero_cap.ill"
    assert words(every, *limits) == {limits[0]: "CANNOT TELL", limits[1]: "RISK"}
    beside = {"population": Yardstick(NONE, around(0.5, 0.01), around(0.5, 0.01))}
    gains = [replace(f, yardsticks=beside) for f in SAME]
    assert words(gains, "population_gain/rapid.born") == {"population_gain/rapid.born": "CANNOT TELL"}


def test_it_makes_no_study_invalid_a_blind_one_is_and_it_stands_in_the_results():
    assert all(c.passed for c in (*check_references(SAME, ANSWERS), *check_references(SAME + SEEING, ANSWERS)))
    a_copy_stands_out = around(0.9, 0.01), around(0.4, 0.01), around(0.5, 0.01)
    blind = lines(*a_copy_stands_out, measure=ILL)  # and is no nearer to its members
    assert [c.passed for c in check_references(blind, ANSWERS)] == [False, True]
    result = study(SAME + SEEING, answers=ANSWERS)
    notes = league_table(result).groupby("measure")["note"].first()
    assert notes["rapid.born"].startswith("says nothing in this study: a full copy")
    assert (list(result.empty), notes["zero_cap.ill"]) == (["rapid.born"], "")
