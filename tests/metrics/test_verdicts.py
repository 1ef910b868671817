"""Verdicts at their boundaries, control checks by simulation, exit codes."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.findings import Attacked, Finding, Interval, find
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.power import Power
from synthrisk.metrics.results import StudyResult, league_table
from synthrisk.metrics.verdicts import Check, check_controls, check_limits, judge, worst

ZERO = Measure("zero_cap", "zero_cap", "income")
KINDS = {"copy": "copy", "fresh": "fresh", "leaky": "leaky", "marginals": "marginals"}
FINE = Estimate(0.3, 0.28, 0.32)


def line(name, memorization, risk=FINE, guess=0.5, measure=ZERO):
    role = "control" if name in KINDS else "synthesizer"
    return Finding(name, role, measure, risk, FINE, memorization, guess)


def around(value, half):
    return Estimate(value, value - half, value + half)


COPY = line("copy", around(0.5, 0.03))
PASSED, FAILED = Check("fresh", "m", "around 0", True, "it is"), Check("fresh", "m", "around 0", False, "it is not")
LIMIT = "memorization/zero_cap.income"


def word(memorization, limit, checks=(PASSED,)):
    (verdict,) = judge([COPY, line("cart", memorization)], {LIMIT: limit}, checks, ["copy"])
    return verdict.word


# Words


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (0.11, 0.2, "RISK"),
        (0.1, 0.2, "INCONCLUSIVE"),
        (math.nextafter(0.1, 1), 0.2, "RISK"),
        (0.0, 0.09, "NO EVIDENCE"),
        (0.0, 0.1, "INCONCLUSIVE"),
        (0.0, math.nextafter(0.1, 0), "NO EVIDENCE"),
        (0.05, 0.15, "INCONCLUSIVE"),
        (0.1, 0.1, "INCONCLUSIVE"),
        (math.nan, math.nan, "INCONCLUSIVE"),
        (math.nan, 0.05, "INCONCLUSIVE"),
        (0.2, math.nan, "INCONCLUSIVE"),
    ],
)
def test_words_at_the_boundaries(lower, upper, expected):
    found = Estimate(0.1, lower, upper)
    assert word(found, 0.1) == expected
    assert word(found, 0.1, (PASSED, FAILED)) == "INVALID"


def test_reasons_say_why():
    none = judge([line("cart", replace(NOT_ESTIMABLE))], {LIMIT: 0.1}, [], [])[0]
    assert "no interval: not scored" in none.reason
    invalid = judge([line("cart", around(0, 0.1))], {LIMIT: 0.1}, [PASSED, FAILED], [])[0]
    assert invalid.reason == f"control fresh on {FAILED.measure}: expected {FAILED.expectation}, seen it is not"
    assert "straddles 0.1" in judge([line("cart", around(0.1, 0.1))], {LIMIT: 0.1}, [], [])[0].reason


def test_controls_and_other_measures_get_no_verdict():
    found = [COPY, line("cart", around(0, 0.01)), line("cart", around(0, 0.01), measure=Measure("rapid", "rapid"))]
    assert [(v.synthesizer, v.quantity) for v in judge(found, {LIMIT: 0.1}, [], ["copy"])] == [("cart", LIMIT)]


def test_limits_that_name_nothing_are_refused():
    check_limits([LIMIT, "risk/zero_cap.income"], [ZERO])
    for name, words in (
        ("memory/zero_cap.income", "quantity"),
        ("risk/rapid", "zero_cap.income"),
        ("zero_cap.income", "quantity"),
        ("risk/", "measure"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            check_limits([name], [ZERO])


@pytest.mark.parametrize("name", ["distance_to_closest_record", "membership_inference_risk"])
def test_a_limit_is_on_a_signal(name):
    """Of distances and of the membership attack only the member/control difference may carry a verdict."""
    measure = Measure(name, name)
    check_limits([f"memorization/{name}"], [measure])
    with pytest.raises(InputError, match=f"memorization/{name}"):
        check_limits([f"risk/{name}"], [measure])


# Controls


def failing(*findings):
    return [(c.control, c.expectation) for c in check_controls(findings, KINDS) if not c.passed]


def test_controls_that_behave():
    marginals = line("marginals", around(0, 0.02), around(0.49, 0.02))
    assert failing(COPY, line("fresh", around(0.01, 0.02)), line("leaky", around(0.07, 0.02)), marginals) == []


def test_a_copy_that_no_measure_sees():
    blind, seeing = line("copy", around(0.01, 0.03)), line("copy", around(0.5, 0.03), measure=Measure("b", "rapid"))
    assert failing(blind) == [("copy", "a copy of the training rows shows memorization")]
    assert failing(blind, seeing) == []
    assert failing(line("copy", around(-0.5, 0.03))) != []


def hits(value, half, control, details=None, name="hitting_rate"):
    found = line("copy", around(value, half), measure=Measure(name, name))
    return replace(found, risk_control=around(control, 0.01), details=details or {})


def test_a_copy_that_is_not_hit_where_it_must_be_is_caught():
    """Memorization is 1 - success on control records where a copy cannot but be hit, and only there."""
    words = "memorization is 1 - success on control records"
    assert failing(hits(0.8, 0.02, 0.2)) == []
    assert failing(hits(0.81, 0.02, 0.2)) == []
    assert failing(hits(0.6, 0.02, 0.2)) == [("copy", words)]
    pure, mixed = {"ceiling": (1.0, 1.0)}, {"ceiling": (0.98, 0.97)}
    assert failing(hits(0.6, 0.02, 0.2, pure, "zero_cap")) == [("copy", words)]
    assert failing(hits(0.6, 0.02, 0.2, mixed, "zero_cap")) == []  # no number is known beforehand
    assert failing(hits(0.6, 0.02, 0.2, name="rapid")) == []
    exact = hits(0.8, 0.0, 1 - 0.8)  # equal but for the last bit, and no width
    assert failing(exact) == []


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.copied is not None])
def test_a_copy_has_the_score_that_its_metric_declares(name):
    table = pd.DataFrame({"a": [1.0, 2.5, None, 2.5], "b": ["x", None, "y", "x"], "c": [True, False, True, True]})
    own = {"quasi_identifiers": ["a"], "sensitive": "b"}
    score = METRICS[name](table, table, **{k: own[k] for k in METRICS[name].needs})
    assert (score.records["score"] == METRICS[name].copied).all()


def test_a_fresh_that_leaks_or_repels_is_caught():
    for value in (0.06, -0.06):
        assert failing(COPY, line("fresh", around(value, 0.02))) == [("fresh", "memorization around 0")]


def test_marginals_that_beat_the_guess_are_caught_and_below_is_fine():
    assert failing(line("marginals", around(0, 0.02), around(0.6, 0.02))) == [("marginals", "no gain over the guess")]
    assert failing(line("marginals", around(0, 0.02), around(0.1, 0.02))) == []
    assert failing(line("marginals", around(0, 0.02), around(0.6, 0.02), guess=math.nan)) == []


@pytest.mark.parametrize(
    ("name", "checked"), [("inference", False), ("linkability", False), ("membership", True), ("zero_cap", True)]
)
def test_claims_about_entities_with_several_records_beat_the_guess_by_luck(name, checked):
    """Of an entity with more records more is claimed, and more is right: no release has to say anything for that."""
    beats = line("marginals", around(0, 0.02), around(0.6, 0.02), measure=Measure(name, name))
    assert [c.passed for c in check_controls([beats], KINDS, entities=True)] == [False] * checked
    assert [c.passed for c in check_controls([beats], KINDS)] == [False]


def test_leaky_lies_between_fresh_and_copy():
    fresh = line("fresh", around(0.0, 0.02))
    assert failing(COPY, fresh, line("leaky", around(-0.2, 0.02))) == [("leaky", "memorization not below fresh")]
    assert failing(COPY, fresh, line("leaky", around(0.9, 0.02))) == [("leaky", "memorization not above copy")]


def test_a_control_of_another_name_is_known_by_its_kind():
    found = line("ideal", around(0.2, 0.02))
    assert [c.passed for c in check_controls([found], {"ideal": "fresh"})] == [False]
    assert check_controls([found], {}) == []


def simulated(rng, gap, interval, noise=0.2, n=150, R=3, K=3):
    held_out = np.stack([rng.permutation(n) % K for _ in range(R)])[:, None, :] == np.arange(K)[None, :, None]
    scores = rng.uniform(0.3, 0.6, n) + rng.normal(0, noise, held_out.shape) + gap * ~held_out
    return find("fresh", "control", ZERO, Attacked(scores, ~held_out, held_out), interval)


def alarms(measures, studies, gap, interval=None):
    rng, interval = np.random.default_rng(8), interval or Interval()
    failed = 0
    for _ in range(studies):
        found = [simulated(rng, gap, interval) for _ in range(measures)]
        failed += not all(c.passed for c in check_controls(found, KINDS, interval.confidence))
    return failed / studies


def test_sound_studies_pass_and_leaking_ones_do_not():
    assert alarms(measures=1, studies=600, gap=0.0) <= 0.022
    assert alarms(measures=12, studies=120, gap=0.0) <= 0.045
    assert alarms(measures=12, studies=20, gap=0.08) == 1.0


def test_sound_studies_pass_at_other_confidence_too():
    assert alarms(measures=1, studies=300, gap=0.0, interval=Interval(confidence=0.8)) <= 0.03


# The leak that would have been seen


def stated(reason):
    found = re.search(r"about ([\d.]+)%", reason)
    return None if found is None else float(found[1]) / 100


def told(found, copy=COPY):
    return judge([copy, found], {LIMIT: 0.4}, [], ["copy"])[0].reason


def test_no_evidence_names_a_leak_and_other_words_do_not():
    assert stated(told(line("cart", around(0.01, 0.05)))) is not None
    assert stated(judge([COPY, line("cart", around(0.01, 0.05))], {LIMIT: 0.03}, [], ["copy"])[0].reason) is None
    assert stated(judge([line("cart", around(0.01, 0.05))], {LIMIT: 0.4}, [], [])[0].reason) is None
    assert "does not see even a copy" in told(line("cart", around(0.01, 0.05)), line("copy", around(0.01, 0.05)))


def test_no_evidence_says_why_no_leak_is_known():
    cart = line("cart", around(0.01, 0.05))
    (verdict,) = judge([cart], {LIMIT: 0.4}, [], [])
    assert verdict.word == "NO EVIDENCE"
    assert verdict.reason.endswith("is not known: no copy of the training rows was released to compare with")
    alone = replace(cart, memorization=NOT_ESTIMABLE)
    (verdict,) = judge([COPY, alone], {f"risk/{ZERO.key}": 1.0}, [], ["copy"])
    assert verdict.word == "NO EVIDENCE"
    assert verdict.reason.endswith("is not known: memorization has no interval")


@pytest.mark.parametrize("quantity", ["risk", "risk_control", "memorization"])
def test_no_evidence_names_it_in_whatever_quantity(quantity):
    (verdict,) = judge([COPY, line("cart", around(0.01, 0.05))], {f"{quantity}/{ZERO.key}": 1.0}, [], ["copy"])
    assert verdict.word == "NO EVIDENCE"
    assert stated(verdict.reason) == stated(told(line("cart", around(0.01, 0.05))))


def test_the_power_option_replaces_the_reckoned_leak():
    found = Power(0.023, 0.5, ((0.01, False), (0.05, True)))
    cart = line("cart", around(0.01, 0.05))
    (verdict,) = judge([COPY, cart], {LIMIT: 0.4}, [], ["copy"], {ZERO.key: found})
    assert verdict.reason.endswith(found.words)
    assert "2.3%" in verdict.reason
    (other,) = judge([COPY, cart], {LIMIT: 0.4}, [], ["copy"], {"rapid.income": found})
    assert other.reason == told(cart)
    (above,) = judge([COPY, cart], {LIMIT: 0.03}, [], ["copy"], {ZERO.key: found})
    assert "2.3%" not in above.reason


def test_a_better_measure_sees_a_smaller_leak():
    shares = [stated(told(line("cart", around(0.0, half)))) for half in (0.01, 0.02, 0.05)]
    assert shares == sorted(shares)
    assert len(set(shares)) == 3


def test_a_leak_that_would_have_been_seen_is_seen_four_times_in_five():
    rng = np.random.default_rng(9)
    seen = []
    for _ in range(400):
        share = stated(told(replace(simulated(rng, 0.0, Interval()), synthesizer="cart", role="synthesizer")))
        seen.append(simulated(rng, share * COPY.memorization.value, Interval()).memorization.lower > 0)
    assert np.mean(seen) >= 0.76


def test_no_leak_is_claimed_where_even_a_copy_would_be_missed():
    assert stated(told(line("cart", around(0.0, 0.3)), line("copy", around(0.2, 0.1)))) is None


# The study


def study(checks=(), verdicts=(), failures=None):
    settings = {"cart": {}, "copy": {}}
    return StudyResult("id", "name", [COPY], checks, verdicts, failures or {}, settings=settings)


def verdict(memorization, checks=()):
    return judge([line("cart", memorization)], {LIMIT: 0.1}, checks, [])


def test_exit_codes():
    assert study().exit_code == 0
    assert study([PASSED], verdict(around(0.0, 0.01))).exit_code == 0
    assert study([PASSED], verdict(around(0.1, 0.05))).exit_code == 1  # not shown to be kept
    assert study([PASSED], verdict(around(0.3, 0.05))).exit_code == 1
    assert study(failures={"cart": "no"}).exit_code == 1
    assert study([PASSED, FAILED], verdict(around(0.3, 0.05), [FAILED]), {"cart": "no"}).exit_code == 3
    assert study([PASSED]).valid
    assert study([PASSED], verdict(around(0.0, 0.01))).passed
    assert not study([PASSED], verdict(around(0.1, 0.05))).passed
    assert not study([PASSED]).passed  # without a limit nothing was judged
    assert (study([PASSED]).controls, study().controls) == ("as expected", "none run")
    assert not study([FAILED]).valid


def test_the_word_of_a_synthesizer_is_its_worst():
    assert worst(["NO EVIDENCE", "RISK", "INCONCLUSIVE"]) == "RISK"
    assert worst(["NO EVIDENCE", "INCONCLUSIVE"]) == "INCONCLUSIVE"
    assert worst(["RISK", "INVALID"]) == "INVALID"
    assert worst([]) == ""
    risky = study(verdicts=verdict(around(0.3, 0.05)))
    assert (risky.verdict("cart"), risky.verdict("copy")) == ("RISK", "")
    assert study(failures={"cart": "no"}).verdict("cart") == "FAILED"


def test_the_league_table_has_a_row_a_finding():
    table = league_table(study())
    assert table.loc[0, ["synthesizer", "measure", "memorization"]].tolist() == ["copy", "zero_cap.income", 0.5]
    assert table.loc[0, ["memorization_lower", "memorization_upper"]].tolist() == pytest.approx([0.47, 0.53])


def test_a_limit_without_attribute_holds_for_all():
    other = Measure("zero_cap", "zero_cap", "sex")
    check_limits(["memorization/zero_cap"], [ZERO, other])
    found = [line("cart", around(0.3, 0.01)), line("cart", around(0.0, 0.01), measure=other)]
    words = {v.quantity: v.word for v in judge(found, {"memorization/zero_cap": 0.1}, [])}
    assert words == {"memorization/zero_cap.income": "RISK", "memorization/zero_cap.sex": "NO EVIDENCE"}
