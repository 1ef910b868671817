"""Checks of the reference generators, by hand and by simulation."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from samples.estimates import around
from samples.findings import FINE, ZERO, answers, simulated
from samples.findings import line as finding
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import check_references

ANSWERS = answers("copy", "fresh", "leaky", "marginals")


def line(name, memorization, risk=FINE, guess=0.5, measure=ZERO):
    return finding(name, memorization, measure, risk, guess=guess)


COPY = line("copy", around(0.5, 0.03))


def failing(*findings):
    return [(c.reference, c.expectation) for c in check_references(findings, ANSWERS) if not c.passed]


def test_a_copy_that_no_measure_sees():
    blind, seeing = line("copy", around(0.01, 0.03)), line("copy", around(0.5, 0.03), measure=Measure("b", "rapid"))
    assert failing(blind) == [("copy", "a copy of the training rows shows memorization")]
    assert failing(blind, seeing) == []
    assert failing(line("copy", around(-0.5, 0.03))) != []
    too_small = line("copy", around(0.2, 0.3))  # its interval holds 0 and plain memorization: it tells nothing
    assert check_references([too_small], ANSWERS) == []


def hits(value, half, control, details=None, name="hitting_rate"):
    found = line("copy", around(value, half), measure=Measure(name, name))
    return replace(found, risk_control=around(control, 0.01), details=details or {})


def test_a_copy_that_is_not_hit_where_it_must_be_is_caught():
    caught = [("copy", "memorization is 1 - success on control records")]
    pure, mixed = {"ceiling": (1.0, 1.0)}, {"ceiling": (0.98, 0.97)}
    for found, due in (
        *((hits(0.8, 0.02, 0.2), []), (hits(0.81, 0.02, 0.2), []), (hits(0.6, 0.02, 0.2), caught)),
        (hits(0.6, 0.02, 0.2, pure, "zero_cap"), caught),
        (hits(0.6, 0.02, 0.2, mixed, "zero_cap"), []),  # no number is known beforehand
        (hits(0.6, 0.02, 0.2, name="rapid"), []),
        (hits(0.8, 0.0, 1 - 0.8), []),  # equal but for the last bit, and no width
    ):
        assert failing(found) == due


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.yardsticks.copied is not None])
def test_a_copy_has_the_score_that_its_metric_declares(name):
    table = pd.DataFrame({"a": [1.0, 2.5, None, 2.5], "b": ["x", None, "y", "x"], "c": [True, False, True, True]})
    own = {"quasi_identifiers": ["a"], "sensitive": "b"}
    score = METRICS[name](table, table, **{k: own[k] for k in METRICS[name].needs})
    assert (score.records["score"] == METRICS[name].yardsticks.copied).all()


def test_marginals_that_beat_the_guess_are_caught_and_below_is_fine():
    assert failing(line("marginals", around(0, 0.02), around(0.6, 0.02))) == [("marginals", "no gain over the guess")]
    assert failing(line("marginals", around(0, 0.02), around(0.1, 0.02))) == []
    assert failing(line("marginals", around(0, 0.02), around(0.6, 0.02), guess=math.nan)) == []


@pytest.mark.parametrize(
    ("name", "checked"), [("inference", False), ("linkability", False), ("membership", True), ("zero_cap", True)]
)
def test_claims_about_entities_with_several_records_beat_the_guess_by_luck(name, checked):
    beats = line("marginals", around(0, 0.02), around(0.6, 0.02), measure=Measure(name, name))
    assert [c.passed for c in check_references([beats], ANSWERS, entities=True)] == [False] * checked
    assert [c.passed for c in check_references([beats], ANSWERS)] == [False]


def test_reference_generators_that_behave_whatever_their_names():
    marginals = line("marginals", around(0, 0.02), around(0.49, 0.02))
    assert failing(COPY, line("fresh", around(0.01, 0.02)), line("leaky", around(0.07, 0.02)), marginals) == []
    found = line("perfect", around(0.2, 0.02))
    assert [c.passed for c in check_references([found], {"perfect": "ideal"})] == [False]
    assert check_references([found], {}) == []


def alarms(measures, studies, gap, interval=None):
    rng, interval = np.random.default_rng(8), interval or Interval()
    failed = 0
    for _ in range(studies):
        found = [simulated("fresh", rng, gap, interval) for _ in range(measures)]
        failed += not all(c.passed for c in check_references(found, ANSWERS, interval.confidence))
    return failed / studies


@pytest.mark.proof
def test_sound_studies_pass_and_leaking_ones_do_not():
    assert alarms(measures=1, studies=300, gap=0.0) <= 0.026  # nominal .01, and 2.8 sd
    assert alarms(measures=12, studies=60, gap=0.0) <= 0.05
    assert alarms(measures=12, studies=10, gap=0.08) == 1.0


def test_sound_studies_pass_at_other_confidence_too():
    assert alarms(measures=1, studies=300, gap=0.0, interval=Interval(confidence=0.8)) <= 0.03


def test_a_fresh_that_leaks_or_repels_and_a_leaky_beyond_fresh_or_copy_are_caught():
    for value in (0.06, -0.06):
        assert failing(COPY, line("fresh", around(value, 0.02))) == [("fresh", "memorization around 0")]
    for value, words in ((-0.2, "memorization not below fresh"), (0.9, "memorization not above copy")):
        leaky = line("leaky", around(value, 0.02))
        assert failing(COPY, line("fresh", around(0.0, 0.02)), leaky) == [("leaky", words)]
