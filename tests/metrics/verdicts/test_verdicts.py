"""Verdicts at their boundaries, what they must have shown, exit codes, and limits that would have been kept."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from samples.estimates import around
from samples.findings import FAILED, FINE, LIMIT, PASSED, ZERO, answers, line, lines, simulated, study
from samples.kinds import LEARNT, beside_other_kind
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.limits import check_limits
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.verdicts import Beside, judge, limits_kept, quantity_to_limit, worst

NEAREST, ROWS = Measure("dcr", "distance_to_closest_record"), Measure("rows", "common_rows_proportion")
ANSWERS = answers("copy", "near")
COPY, NEAR = lines({"copy": 0.5, "near": 0.5}, 0.03)
CART = line("cart", around(0.01, 0.02))
GAIN = "control_gain/zero_cap.income"


def judged(*findings, limits=None, checks=(PASSED,), **beside):
    """Judge beside a copy and a near copy, unless others are given."""
    given = {f.synthesizer for f in findings}
    every = [f for f in (COPY, NEAR) if f.synthesizer not in given] + list(findings)
    return beside_other_kind(every, limits or {LIMIT: 0.1}, checks, Beside(ANSWERS, **beside))


def only(*findings, **more):
    (verdict,) = judged(*findings, **more)
    return verdict


BOUNDARIES = {
    "RISK": [(0.11, 0.2), (math.nextafter(0.1, 1), 0.2), (-0.3, math.nextafter(-0.1, -1))],
    "NO EVIDENCE": [(0.0, 0.09), (-0.09, 0.09), (0.0, math.nextafter(0.1, 0))],
    "INCONCLUSIVE": [
        *((0.1, 0.2), (-0.1, -0.01), (-0.2, -0.05), (0.0, 0.1), (0.05, 0.15), (0.1, 0.1)),
        *((math.nan, math.nan), (math.nan, 0.05), (0.2, math.nan)),
    ],
}


@pytest.mark.parametrize(("expected", "ends"), [(word, ends) for word, all_ in BOUNDARIES.items() for ends in all_])
def test_words_at_the_boundaries(expected, ends):
    found = line("cart", Estimate(0.1, *ends))
    assert (only(found).word, only(found, checks=(PASSED, FAILED)).word) == (expected, "INVALID")


def test_a_verdict_holds_its_number_and_the_reason_says_why():
    unscored = only(line("cart", replace(NOT_ESTIMABLE, note="no control records")))
    assert unscored.reason == "memorization has no interval: no control records"
    invalid = only(line("cart", around(0, 0.1)), checks=[PASSED, FAILED]).reason
    assert invalid == "reference fresh on all: expected around 0, seen it is not"
    straddling = only(line("cart", around(0.1, 0.04)))
    assert straddling.reason == "memorization +0.100 [+0.060, +0.140] is not wholly inside ±0.1"
    missing = only(line("cart", around(-0.2, 0.05)))
    assert missing.reason.startswith("members are told by what is missing: memorization −0.200")
    assert (missing.value, missing.lower, missing.upper) == pytest.approx((-0.2, -0.25, -0.15))


def test_reference_generators_and_other_measures_get_no_verdict():
    found = judged(CART, line("cart", around(0, 0.01), measure=Measure("rapid", "rapid")))
    assert [(v.synthesizer, v.quantity) for v in found] == [("cart", LIMIT)]


@pytest.mark.parametrize(
    ("name", "measure", "words"),
    [
        *(("memory/zero_cap.income", ZERO, "quantity"), ("risk/rapid", ZERO, "zero_cap.income")),
        *(("zero_cap.income", ZERO, "quantity"), ("risk/", ZERO, "measure")),
        ("risk/zero_cap.income@strangers", ZERO, "@outliers"),
        ("risk_gain/zero_cap.income@outliers", ZERO, "on a group must be on"),
        ("tpr/zero_cap.income", ZERO, "ranks no records"),
        ("memorization/m@outliers", Measure("m", "singling_out"), "no value of a group"),
        ("memorization/m@classes", Measure("m", "common_rows_proportion"), "guesses no sensitive"),
        ("population_gain/m", Measure("m", "singling_out"), "no population yardstick"),
        ("memorization/m", Measure("m", "detection_mlp"), "sanity"),
        # of distances and of the membership attack only the member/control difference may carry a verdict
        ("risk/m", Measure("m", "distance_to_closest_record"), "memorization/m"),
        ("risk/m", Measure("m", "membership_inference_risk"), "memorization/m"),
        *((f"{q}/m", Measure("m", "coverage"), f"on risks.*{q}/m', a utility") for q in ("risk", "memorization")),
        *((f"utility/{m}", Measure("m", "accuracy"), f"on risks.*utility/{m}', a utility") for m in ("m", "other")),
    ],
)
def test_limits_that_name_nothing_or_that_a_measure_cannot_keep_are_refused(name, measure, words):
    with pytest.raises(InputError, match=words if ".*" in words else re.escape(words)):
        check_limits([name], [measure])


def test_limits_that_a_measure_can_keep_are_taken():
    check_limits([LIMIT, "risk/zero_cap.income", f"{LIMIT}@outliers", f"control_gain/{ZERO.label}@classes"], [ZERO])
    for name in ("distance_to_closest_record", "membership_inference_risk"):
        check_limits([f"memorization/{name}", f"control_gain/{name}"], [Measure(name, name)])
    odd = Measure("zero_cap", "zero_cap", "town@outliers")  # the name of a column that ends like a group
    check_limits([f"memorization/{odd.key}", f"memorization/{odd.key}@classes"], [odd])
    assert limited(f"risk/{odd.key}", [odd.key]).group == ""


def test_no_evidence_needs_a_copy_above_the_limit():
    assert only(CART).word == "NO EVIDENCE"
    for copy in (around(0.05, 0.01), around(0.12, 0.03)):
        found = only(line("copy", copy), CART)
        assert (found.word, "even a full copy reaches only" in found.reason) == ("CANNOT TELL", True)
    assert only(line("copy", NOT_ESTIMABLE), CART).reason == "it has no value for a full copy (not scored)"
    (verdict,) = judge([NEAR, CART], {LIMIT: 0.1}, [], Beside(ANSWERS))
    assert (verdict.word, "no copy of the training rows was attacked" in verdict.reason) == ("CANNOT TELL", True)
    assert [v.word for v in judge([CART], {LIMIT: 0.1}, [])] == ["CANNOT TELL"]


def test_the_copy_must_lie_above_in_the_same_quantity_of_the_same_measure():
    blind = lines(dict.fromkeys(("copy", "near", "cart"), 0.01), measure=NEAREST)
    limits = {LIMIT: 0.1, "memorization/dcr": 0.1}
    words = {v.quantity: v.word for v in judged(CART, COPY, NEAR, *blind, limits=limits)}
    assert words == {LIMIT: "NO EVIDENCE", "memorization/dcr": "CANNOT TELL"}
    assert only(CART, limits={GAIN: 0.1}).word == "CANNOT TELL"


def test_no_evidence_needs_a_limited_measure_that_sees_a_near_copy():
    blind = line("near", around(0.0, 0.01))
    found = only(blind, CART)
    assert (found.word, "exact copies only" in found.reason) == ("INCONCLUSIVE", True)
    near = lines({"copy": 0.5, "near": 0.4, "cart": 0.0}, measure=NEAREST)
    both = judged(COPY, blind, CART, *near, limits={LIMIT: 0.1, "memorization/dcr": 0.1})
    assert [v.word for v in both] == ["NO EVIDENCE", "NO EVIDENCE"]
    assert ["a near copy crosses another limit" in v.reason for v in both] == [True, False]
    assert only(COPY, blind, CART, *near).word == "INCONCLUSIVE"  # a measure that nobody limits keeps nobody
    noisy = [*near[:2], line("cart", around(0.0, 0.3), measure=NEAREST)]
    kept, wide = judged(COPY, blind, CART, *noisy, limits={LIMIT: 0.1, "memorization/dcr": 0.1})
    assert (kept.word, wide.word) == ("INCONCLUSIVE", "CANNOT TELL")
    assert "one that sees near copies cannot tell" in kept.reason
    (verdict,) = judge([COPY, CART], {LIMIT: 0.1}, [], Beside(answers("copy")))
    assert (verdict.word, "no near copy was attacked" in verdict.reason) == ("INCONCLUSIVE", True)


def test_no_evidence_needs_an_attack_that_could_answer_and_a_release_that_does_not_lie_on_its_members():
    assert only(replace(CART, reach=0.1)).word == "NO EVIDENCE"
    found = only(replace(CART, reach=0.04))
    assert (found.word, "4.0% of the members" in found.reason) == ("CANNOT TELL", True)
    found = only(CART, near={"cart": "most released rows lie on members"})
    assert (found.word, found.reason.endswith("but most released rows lie on members")) == ("INCONCLUSIVE", True)
    assert only(line("cart", around(0.3, 0.01)), near={"cart": "so"}).word == "RISK"


def test_a_broken_release_is_named_whatever_its_numbers():
    for memorization in (around(0.01, 0.02), around(0.1, 0.1)):
        found = only(line("cart", memorization), broken={"cart": "column x is constant"})
        assert (found.word, found.reason) == ("INVALID RELEASE", "column x is constant")
    assert only(line("cart", around(0.3, 0.01)), broken={"cart": "so"}).word == "RISK"  # damage makes no leak
    assert only(CART, checks=[FAILED], broken={"cart": "so"}).word == "INVALID"


@pytest.mark.parametrize("group", ["outliers", "rare_keys", "classes"])
def test_a_group_is_judged_by_its_own_numbers(group):
    values = {"copy": 0.9, "near": 0.8, "cart": 0.3, "fine": 0.0}
    every = [replace(line(f.synthesizer, around(0.0, 0.01)), groups={group: f}) for f in lines(values)]
    words = {v.synthesizer: v.word for v in judged(*every, limits={f"{LIMIT}@{group}": 0.1})}
    assert words == {"cart": "RISK", "fine": "NO EVIDENCE"}
    assert f"the measure has no {group}" in only(CART, limits={f"{LIMIT}@{group}": 0.1}).reason


def test_no_evidence_needs_a_limit_that_decides_of_the_most_exposed_where_one_is_set():
    every = [
        replace(line(name, around(value, 0.01)), groups={"outliers": line(name, around(value, width))})
        for name, value, width in (("copy", 0.9, 0.01), ("near", 0.8, 0.01), ("cart", 0.0, 0.3))
    ]
    limits = {LIMIT: 0.1, f"{LIMIT}@outliers": 0.1}
    found = judged(*every, limits=limits)
    assert [v.word for v in found] == ["INCONCLUSIVE", "CANNOT TELL"]
    assert (found[0].brief, "of the most exposed" in found[0].reason) == ("most exposed not judged", True)
    assert found[0].advice == found[1].advice
    narrow = [replace(f, groups={"outliers": line(f.synthesizer, f.memorization)}) for f in every]
    pairs = zip(every, narrow, strict=True)
    both = [replace(f, groups=f.groups | {"rare_keys": n.groups["outliers"]}) for f, n in pairs]
    by_keys = judged(*both, limits=limits | {f"{LIMIT}@rare_keys": 0.1})  # which say nothing of outliers
    assert [v.word for v in by_keys if v.word != "CANNOT TELL"] == ["INCONCLUSIVE"] * 2
    assert {v.brief for v in by_keys if v.word == "INCONCLUSIVE"} == {"most exposed not judged"}
    assert [v.word for v in judged(*narrow, limits=limits)] == ["NO EVIDENCE", "NO EVIDENCE"]
    assert only(*every).word == "NO EVIDENCE"  # who sets none asks nothing of them


def test_a_gain_over_control_is_judged_where_the_difference_vanishes():
    every = []
    for name, gain in (("copy", 1.0), ("near", 0.9), ("cart", 1.0)):
        beside = {"control": Yardstick(FINE, around(gain, 0.02), around(0.01, 0.001))}
        every.append(line(name, around(0.01, 0.001), yardsticks=beside))
    (difference, gain) = judged(*every, limits={LIMIT: 0.05, GAIN: 0.05})
    assert (difference.word, gain.word) == ("CANNOT TELL", "RISK")
    assert "even a full copy reaches only" in difference.reason


def test_a_rate_is_judged_where_records_are_ranked():
    member = Measure("membership", "membership")
    rates = {"copy": 0.9, "near": 0.5, "cart": 0.01}
    every = [line(name, around(0.3, 0.01), member, tpr={0.01: around(rate, 0.005)}) for name, rate in rates.items()]
    check_limits(["tpr/membership"], [member])
    verdict = only(*every, limits={"tpr/membership": 0.05})
    assert (verdict.word, verdict.value) == ("NO EVIDENCE", 0.01)
    assert stated(verdict.reason) == pytest.approx(1.78 * 0.005 / 0.89, abs=6e-4)


def stated(reason):
    """Return the leak that would have been seen, as a reason names it."""
    found = re.search(r"about ([\d.]+)%", reason)
    return None if found is None else float(found[1]) / 100


def told(found, copy=COPY):
    return judged(copy, found, limits={LIMIT: 0.4}, checks=[])[0].reason


def test_no_evidence_names_a_leak_the_smaller_the_better_a_measure_and_other_words_do_not():
    shares = [stated(told(line("cart", around(0.0, half)))) for half in (0.01, 0.02, 0.05)]
    assert (shares, len(set(shares))) == (sorted(shares), 3)
    found = line("cart", around(0.01, 0.05))
    assert stated(told(found)) is not None
    assert stated(only(found, limits={LIMIT: 0.03}).reason) is None
    assert stated(told(found, line("copy", around(0.01, 0.05)))) is None
    assert stated(told(line("cart", around(0.0, 0.39)), line("copy", around(0.5, 0.05)))) is None  # a copy is missed
    reached = [replace(f, risk=around(0.9, 0.01)) for f in (COPY, NEAR)]
    verdict = only(*reached, found, limits={f"risk/{ZERO.key}": 0.5})  # a quantity that is not nothing without a leak
    assert (verdict.word, stated(verdict.reason)) == ("NO EVIDENCE", None)


def test_the_power_option_replaces_the_reckoned_leak():
    found, cart = Power(0.023, 0.5, ((0.01, False), (0.05, True))), line("cart", around(0.01, 0.05))
    reason = only(cart, limits={LIMIT: 0.4}, powers={ZERO.key: found}).reason
    assert (reason.endswith(found.words), "2.3%" in reason) == (True, True)
    assert only(cart, limits={LIMIT: 0.4}, powers={"rapid.income": found}).reason == told(cart)
    assert "2.3%" not in only(cart, limits={LIMIT: 0.03}, powers={ZERO.key: found}).reason


def test_a_leak_that_would_have_been_seen_is_seen_four_times_in_five():
    rng = np.random.default_rng(9)
    seen = []
    for _ in range(400):
        share = stated(told(simulated("cart", rng, 0.0, Interval())))
        seen.append(simulated("cart", rng, share * COPY.memorization.value, Interval()).memorization.lower > 0)
    assert np.mean(seen) >= 0.76


def test_exit_codes_and_the_word_of_a_synthesizer_is_its_worst():
    kept, open_, risky = (judged(line("cart", around(v, h))) for v, h in ((0.0, 0.01), (0.1, 0.05), (0.3, 0.05)))
    invalid = study([COPY], judged(line("cart", around(0.3, 0.05)), checks=[FAILED]), checks=[PASSED, FAILED])
    alone, unchecked, failed = study([COPY]), study([COPY], checks=()), study([COPY], failures={"cart": "no"})
    codes = [s.exit_code for s in (unchecked, failed, replace(invalid, failures={"cart": "no"}))]
    codes += [study([COPY], verdicts).exit_code for verdicts in (kept, open_, risky)]
    assert codes == [0, 1, 3, 0, 1, 1]  # also where a limit is not shown to be kept
    assert [s.passed for s in (study([COPY], kept), study([COPY], open_), alone)] == [True, False, False]
    assert (alone.valid, invalid.valid, alone.references, unchecked.references) == (
        *(True, False),
        *("as expected", "none run"),
    )
    assert worst(["NO EVIDENCE", "RISK", "INCONCLUSIVE"]) == "RISK"
    assert (worst(["NO EVIDENCE", "INCONCLUSIVE"]), worst(["RISK", "INVALID"]), worst([])) == (
        *("INCONCLUSIVE", "INVALID", ""),
    )
    words = study([COPY], risky).verdict("cart"), study([COPY], risky).verdict("copy"), failed.verdict("cart")
    assert words == ("RISK", "", "FAILED")


def test_a_limit_without_attribute_holds_for_all():
    other = Measure("zero_cap", "zero_cap", "sex")
    check_limits(["memorization/zero_cap"], [ZERO, other])
    reached = lines({"copy": 0.5, "near": 0.5, "cart": 0.0}, measure=other)
    words = {
        v.quantity: v.word
        for v in judged(COPY, NEAR, line("cart", around(0.3, 0.01)), *reached, limits={"memorization/zero_cap": 0.1})
    }
    assert words == {"memorization/zero_cap.income": "RISK", "memorization/zero_cap.sex": "NO EVIDENCE"}


def row(name, memorization, **more):
    return line(name, memorization, ROWS, **more)


SEEN = row("copy", around(0.5, 0.03)), row("near", around(0.4, 0.03))


def kept(*findings, checks=()):
    """Return what is kept by the measure under test, beside one of what is learnt that is kept too."""
    values = {f.synthesizer: 0.5 if f.synthesizer == "copy" else 0.0 for f in findings}
    found = limits_kept([*findings, *lines(values, measure=LEARNT)], checks, Beside(ANSWERS))
    return [each for each in found if each.quantity == f"memorization/{ROWS.key}"]


def test_the_least_limit_kept_lies_just_above_the_interval_whether_members_are_there_or_missing():
    findings = (row("cart", Estimate(0.02, 0.01, 0.0304)), row("ctgan", Estimate(0, -0.01, 0.03)), *SEEN)
    cart, ctgan = kept(*findings)
    assert (cart.synthesizer, cart.quantity, cart.least) == ("cart", "memorization/rows", 0.031)
    assert ctgan.least == pytest.approx(0.031)
    verdicts = beside_other_kind(findings, {cart.quantity: cart.least}, [], Beside(ANSWERS))
    assert {v.synthesizer: v.word for v in verdicts} == {"cart": "NO EVIDENCE", "ctgan": "NO EVIDENCE"}
    assert kept(row("cart", Estimate(-0.03, -0.0404, -0.02)), *SEEN)[0].least == pytest.approx(0.041)


@pytest.mark.parametrize(
    ("memorization", "beside", "reason"),
    [
        (around(0.01, 0.005), [], "no copy of the training rows was attacked"),
        (around(0.01, 0.005), SEEN[:1], "cover exact copies only"),
        (around(0.01, 0.005), [SEEN[0], row("near", around(0.0, 0.01))], "none has a near copy above"),
        (around(0.01, 0.005), [row("copy", around(0.0, 0.01)), SEEN[1]], "even a full copy reaches only"),
        (around(0.3, 0.03), SEEN, "half of what a full copy reaches"),
    ],
)
def test_no_limit_is_kept_where_a_copy_might_look_the_same(memorization, beside, reason):
    (cart,) = kept(row("cart", memorization), *beside)
    assert (math.isnan(cart.least), reason in cart.reason) == (True, True)


def test_no_limit_is_kept_without_answers_behaving_references_and_an_interval():
    (cart,) = kept(row("cart", around(0.01, 0.005), reach=0.05), *SEEN)
    assert (math.isnan(cart.least), "answer for 5.0% of the members" in cart.reason) == (True, True)
    assert math.isnan(kept(row("cart", around(0.01, 0.005)), *SEEN, checks=[FAILED])[0].least)
    assert kept(row("cart", NOT_ESTIMABLE), *SEEN) == []


def test_the_quantity_that_a_limit_is_best_set_on():
    best = {"zero_cap": "control_gain", "rapid": "control_gain", "membership": "tpr", "singling_out": "memorization"}
    best |= {"distance_to_closest_record": "memorization", "accuracy": "", "hidden_rate": ""}
    assert {name: quantity_to_limit(METRICS[name]) for name in best} == best
