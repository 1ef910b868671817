"""Verdicts at their boundaries, what they must have shown, exit codes."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.findings import Attacked, Finding, find
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.tables import groups_table, league_table, limits_table
from synthrisk.metrics.verdicts.verdicts import Beside, check_limits, judge, worst

ZERO, NEAREST = Measure("zero_cap", "zero_cap", "income"), Measure("dcr", "distance_to_closest_record")
ANSWERS = {"copy": "copy", "near": "near_copy"}
FINE = Estimate(0.3, 0.28, 0.32)


def line(name, memorization, measure=ZERO, **more):
    role = "reference" if name in ANSWERS else "synthesizer"
    return Finding(name, role, measure, FINE, FINE, memorization, **more)


COPY, NEAR = line("copy", around(0.5, 0.03)), line("near", around(0.5, 0.03))
PASSED, FAILED = Check("fresh", "m", "around 0", True, "it is"), Check("fresh", "m", "around 0", False, "it is not")
LIMIT = "memorization/zero_cap.income"


def judged(*findings, limits=None, checks=(PASSED,), **beside):
    """Judge beside a copy and a near copy, unless others are given."""
    given = {f.synthesizer for f in findings}
    every = [f for f in (COPY, NEAR) if f.synthesizer not in given] + list(findings)
    return beside_other_kind(every, limits or {LIMIT: 0.1}, checks, Beside(ANSWERS, **beside))


def word(memorization, limit, checks=(PASSED,)):
    (verdict,) = judged(line("cart", memorization), limits={LIMIT: limit}, checks=checks)
    return verdict.word


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (0.11, 0.2, "RISK"),
        (0.1, 0.2, "INCONCLUSIVE"),
        (math.nextafter(0.1, 1), 0.2, "RISK"),
        (0.0, 0.09, "NO EVIDENCE"),
        (-0.09, 0.09, "NO EVIDENCE"),
        (-0.1, -0.01, "INCONCLUSIVE"),
        (-0.2, -0.05, "INCONCLUSIVE"),
        (-0.3, math.nextafter(-0.1, -1), "RISK"),
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
    assert (word(found, 0.1), word(found, 0.1, (PASSED, FAILED))) == (expected, "INVALID")


def test_reasons_say_why():
    (none,) = judged(line("cart", replace(NOT_ESTIMABLE)))
    assert "no interval: not scored" in none.reason
    (invalid,) = judged(line("cart", around(0, 0.1)), checks=[PASSED, FAILED])
    assert invalid.reason == f"reference fresh on {FAILED.measure}: expected {FAILED.expectation}, seen it is not"
    (straddling,) = judged(line("cart", around(0.1, 0.04)))
    assert straddling.reason == "memorization +0.100 [+0.060, +0.140] is not wholly inside ±0.1"
    (missing,) = judged(line("cart", around(-0.2, 0.05)))
    assert missing.reason.startswith("members are told by what is missing: memorization −0.200")


def test_a_verdict_holds_its_number():
    (verdict,) = judged(line("cart", around(0.3, 0.05)))
    assert (verdict.value, verdict.lower, verdict.upper) == pytest.approx((0.3, 0.25, 0.35))


def test_reference_generators_and_other_measures_get_no_verdict():
    found = [line("cart", around(0, 0.01)), line("cart", around(0, 0.01), measure=Measure("rapid", "rapid"))]
    assert [(v.synthesizer, v.quantity) for v in judged(*found)] == [("cart", LIMIT)]


def test_limits_that_name_nothing_are_refused():
    check_limits([LIMIT, "risk/zero_cap.income", f"{LIMIT}@outliers", f"control_gain/{ZERO.label}@classes"], [ZERO])
    for name, words in (
        ("memory/zero_cap.income", "quantity"),
        ("risk/rapid", "zero_cap.income"),
        ("zero_cap.income", "quantity"),
        ("risk/", "measure"),
        ("risk/zero_cap.income@strangers", "@outliers"),
        ("risk_gain/zero_cap.income@outliers", "on a group must be on"),
        ("tpr/zero_cap.income", "ranks no records"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            check_limits([name], [ZERO])


@pytest.mark.parametrize(
    ("name", "measure", "words"),
    [
        ("memorization/m@outliers", Measure("m", "singling_out"), "no value of a group"),
        ("memorization/m@classes", Measure("m", "common_rows_proportion"), "guesses no sensitive"),
        ("population_gain/m", Measure("m", "singling_out"), "no population yardstick"),
        ("risk/m", Measure("m", "coverage"), "utility"),
        ("memorization/m", Measure("m", "detection_mlp"), "sanity"),
    ],
)
def test_limits_that_a_measure_cannot_keep_are_refused(name, measure, words):
    with pytest.raises(InputError, match=words):
        check_limits([name], [measure])


def test_a_column_whose_name_ends_like_a_group_is_a_column():
    odd = Measure("zero_cap", "zero_cap", "town@outliers")
    check_limits([f"memorization/{odd.key}", f"memorization/{odd.key}@classes"], [odd])
    assert limited(f"risk/{odd.key}", [odd.key]).group == ""


@pytest.mark.parametrize("name", ["distance_to_closest_record", "membership_inference_risk"])
def test_a_limit_is_on_a_signal(name):
    measure = Measure(name, name)
    check_limits([f"memorization/{name}", f"control_gain/{name}"], [measure])
    with pytest.raises(InputError, match=f"memorization/{name}"):
        check_limits([f"risk/{name}"], [measure])


CART = line("cart", around(0.01, 0.02))


def only(*findings, **more):
    (verdict,) = judged(*findings, **more)
    return verdict


def test_no_evidence_needs_a_copy_above_the_limit():
    assert only(CART).word == "NO EVIDENCE"
    for copy in (around(0.05, 0.01), around(0.12, 0.03)):
        found = only(line("copy", copy), CART)
        assert found.word == "CANNOT TELL"
        assert "even a full copy reaches only" in found.reason
    assert only(line("copy", NOT_ESTIMABLE), CART).reason == "it has no value for a full copy (not scored)"


def test_no_evidence_needs_a_copy_that_ran():
    (verdict,) = judge([NEAR, CART], {LIMIT: 0.1}, [], Beside(ANSWERS))
    assert verdict.word == "CANNOT TELL"
    assert "no copy of the training rows was attacked" in verdict.reason
    (verdict,) = judge([CART], {LIMIT: 0.1}, [])
    assert verdict.word == "CANNOT TELL"


def test_the_copy_must_lie_above_in_the_same_quantity_of_the_same_measure():
    blind = [line(n, around(0.01, 0.01), NEAREST) for n in ("copy", "near", "cart")]
    limits = {LIMIT: 0.1, "memorization/dcr": 0.1}
    words = {v.quantity: v.word for v in judged(CART, COPY, NEAR, *blind, limits=limits)}
    assert words == {LIMIT: "NO EVIDENCE", "memorization/dcr": "CANNOT TELL"}
    gain = only(CART, limits={"control_gain/zero_cap.income": 0.1})
    assert gain.word == "CANNOT TELL"


def test_no_evidence_needs_a_limited_measure_that_sees_a_near_copy():
    blind = line("near", around(0.0, 0.01))
    found = only(blind, CART)
    assert found.word == "INCONCLUSIVE"
    assert "exact copies only" in found.reason
    near = [line(n, around(v, 0.01), NEAREST) for n, v in (("copy", 0.5), ("near", 0.4), ("cart", 0.0))]
    both = judged(COPY, blind, CART, *near, limits={LIMIT: 0.1, "memorization/dcr": 0.1})
    assert [v.word for v in both] == ["NO EVIDENCE", "NO EVIDENCE"]
    assert "a near copy crosses another limit" in both[0].reason
    assert "a near copy crosses another limit" not in both[1].reason
    unlimited = judged(COPY, blind, CART, *near)
    assert [v.word for v in unlimited] == ["INCONCLUSIVE"]  # a measure that nobody limits keeps nobody from anything


def test_no_evidence_needs_a_near_copy_that_ran():
    (verdict,) = judge([COPY, CART], {LIMIT: 0.1}, [], Beside({"copy": "copy"}))
    assert verdict.word == "INCONCLUSIVE"
    assert "no near copy was attacked" in verdict.reason


def test_no_evidence_needs_an_attack_that_could_answer():
    assert only(replace(CART, reach=0.1)).word == "NO EVIDENCE"
    found = only(replace(CART, reach=0.04))
    assert found.word == "CANNOT TELL"
    assert "4.0% of the members" in found.reason


def test_no_evidence_needs_a_release_that_does_not_lie_on_its_members():
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
    every = [
        replace(line(name, around(0.0, 0.01)), groups={group: line(name, around(value, 0.01))})
        for name, value in (("copy", 0.9), ("near", 0.8), ("cart", 0.3), ("fresh-like", 0.0))
    ]
    words = {v.synthesizer: v.word for v in judged(*every, limits={f"{LIMIT}@{group}": 0.1})}
    assert words == {"cart": "RISK", "fresh-like": "NO EVIDENCE"}
    (lacking,) = judged(CART, limits={f"{LIMIT}@{group}": 0.1})
    assert f"the measure has no {group}" in lacking.reason


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
    both = [
        replace(f, groups=f.groups | {"rare_keys": n.groups["outliers"]}) for f, n in zip(every, narrow, strict=True)
    ]
    by_keys = judged(*both, limits=limits | {f"{LIMIT}@rare_keys": 0.1})  # which say nothing of outliers
    assert [v.word for v in by_keys if v.word != "CANNOT TELL"] == ["INCONCLUSIVE"] * 2
    assert {v.brief for v in by_keys if v.word == "INCONCLUSIVE"} == {"most exposed not judged"}
    assert [v.word for v in judged(*narrow, limits=limits)] == ["NO EVIDENCE", "NO EVIDENCE"]
    assert [v.word for v in judged(*every, limits={LIMIT: 0.1})] == [
        "NO EVIDENCE"
    ]  # who sets none asks nothing of them


def test_a_gain_over_control_is_judged_where_the_difference_vanishes():
    every = []
    for name, gain in (("copy", 1.0), ("near", 0.9), ("cart", 1.0)):
        beside = {"control": Yardstick(FINE, around(gain, 0.02), around(0.01, 0.001))}
        every.append(line(name, around(0.01, 0.001), yardsticks=beside))
    (difference, gain) = judged(*every, limits={LIMIT: 0.05, "control_gain/zero_cap.income": 0.05})
    assert (difference.word, gain.word) == ("CANNOT TELL", "RISK")
    assert "even a full copy reaches only" in difference.reason


def test_a_rate_is_judged_where_records_are_ranked():
    member = Measure("membership", "membership")
    every = [
        line(name, around(0.3, 0.01), member, tpr={0.01: around(rate, 0.005)})
        for name, rate in (("copy", 0.9), ("near", 0.5), ("cart", 0.01))
    ]
    check_limits(["tpr/membership"], [member])
    (verdict,) = judged(*every, limits={"tpr/membership": 0.05})
    assert (verdict.word, verdict.value) == ("NO EVIDENCE", 0.01)
    assert stated(verdict.reason) == pytest.approx(1.78 * 0.005 / 0.89, abs=6e-4)


def stated(reason):
    found = re.search(r"about ([\d.]+)%", reason)
    return None if found is None else float(found[1]) / 100


def told(found, copy=COPY):
    return judged(copy, found, limits={LIMIT: 0.4}, checks=[])[0].reason


def test_no_evidence_names_a_leak_and_other_words_do_not():
    assert stated(told(line("cart", around(0.01, 0.05)))) is not None
    assert stated(judged(line("cart", around(0.01, 0.05)), limits={LIMIT: 0.03})[0].reason) is None
    assert stated(told(line("cart", around(0.01, 0.05)), line("copy", around(0.01, 0.05)))) is None


def test_no_leak_is_named_for_a_quantity_that_is_not_nothing_without_one():
    reached = [replace(f, risk=around(0.9, 0.01)) for f in (COPY, NEAR)]
    (verdict,) = judged(*reached, line("cart", around(0.01, 0.05)), limits={f"risk/{ZERO.key}": 0.5})
    assert verdict.word == "NO EVIDENCE"
    assert stated(verdict.reason) is None


def test_the_power_option_replaces_the_reckoned_leak():
    found = Power(0.023, 0.5, ((0.01, False), (0.05, True)))
    cart = line("cart", around(0.01, 0.05))
    (verdict,) = judged(cart, limits={LIMIT: 0.4}, powers={ZERO.key: found})
    assert verdict.reason.endswith(found.words)
    assert "2.3%" in verdict.reason
    (other,) = judged(cart, limits={LIMIT: 0.4}, powers={"rapid.income": found})
    assert other.reason == told(cart)
    (above,) = judged(cart, limits={LIMIT: 0.03}, powers={ZERO.key: found})
    assert "2.3%" not in above.reason


def test_a_better_measure_sees_a_smaller_leak():
    shares = [stated(told(line("cart", around(0.0, half)))) for half in (0.01, 0.02, 0.05)]
    assert (shares, len(set(shares))) == (sorted(shares), 3)


def simulated(rng, gap, interval, noise=0.2, n=150, R=3, K=3):
    held_out = np.stack([rng.permutation(n) % K for _ in range(R)])[:, None, :] == np.arange(K)[None, :, None]
    scores = rng.uniform(0.3, 0.6, n) + rng.normal(0, noise, held_out.shape) + gap * ~held_out
    return find("cart", "synthesizer", ZERO, Attacked(scores, ~held_out, held_out), interval)


def test_a_leak_that_would_have_been_seen_is_seen_four_times_in_five():
    rng = np.random.default_rng(9)
    seen = []
    for _ in range(400):
        share = stated(told(simulated(rng, 0.0, Interval())))
        seen.append(simulated(rng, share * COPY.memorization.value, Interval()).memorization.lower > 0)
    assert np.mean(seen) >= 0.76


def test_no_leak_is_claimed_where_even_a_copy_would_be_missed():
    assert stated(told(line("cart", around(0.0, 0.39)), line("copy", around(0.5, 0.05)))) is None


def study(checks=(), verdicts=(), failures=None):
    settings = {"cart": {}, "copy": {}}
    return StudyResult("id", "name", [COPY], checks, verdicts, failures or {}, settings=settings)


def verdict(memorization, checks=()):
    return judged(line("cart", memorization), checks=checks)


def test_exit_codes():
    assert (study().exit_code, study([PASSED], verdict(around(0.0, 0.01))).exit_code) == (0, 0)
    assert study([PASSED], verdict(around(0.1, 0.05))).exit_code == 1  # not shown to be kept
    assert study([PASSED], verdict(around(0.3, 0.05))).exit_code == 1
    assert study(failures={"cart": "no"}).exit_code == 1
    assert study([PASSED, FAILED], verdict(around(0.3, 0.05), [FAILED]), {"cart": "no"}).exit_code == 3
    assert study([PASSED]).valid
    assert study([PASSED], verdict(around(0.0, 0.01))).passed
    assert not study([PASSED], verdict(around(0.1, 0.05))).passed
    assert not study([PASSED]).passed  # without a limit nothing was judged
    assert (study([PASSED]).references, study().references) == ("as expected", "none run")
    assert not study([FAILED]).valid


def test_the_word_of_a_synthesizer_is_its_worst():
    assert worst(["NO EVIDENCE", "RISK", "INCONCLUSIVE"]) == "RISK"
    assert (worst(["NO EVIDENCE", "INCONCLUSIVE"]), worst(["RISK", "INVALID"])) == ("INCONCLUSIVE", "INVALID")
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
    reached = [line(n, around(0.5, 0.01), other) for n in ("copy", "near")]
    found = [COPY, NEAR, *reached, line("cart", around(0.3, 0.01)), line("cart", around(0.0, 0.01), other)]
    words = {v.quantity: v.word for v in judged(*found, limits={"memorization/zero_cap": 0.1})}
    assert words == {"memorization/zero_cap.income": "RISK", "memorization/zero_cap.sex": "NO EVIDENCE"}


def test_the_limits_table_has_the_verdict_and_what_reference_generators_reach():
    found = [COPY, NEAR, line("cart", around(0.3, 0.01))]
    result = StudyResult("id", "n", found, [], judged(*found), limits={LIMIT: Limit(0.1, "me")})
    table = limits_table(result)
    assert table["synthesizer"].tolist() == ["copy", "near", "cart"]
    assert (table["word"].tolist(), table["value"].tolist()) == (["", "", "RISK"], [0.5, 0.5, 0.3])


def test_the_groups_table_has_a_row_a_group_and_quantity():
    own = replace(line("cart", around(0.4, 0.1)), details={"records": (7.0, 7.0)})
    found = replace(line("cart", around(0.3, 0.01)), groups={"outliers": own})
    table = groups_table(StudyResult("id", "n", [found], [], [])).set_index("quantity")
    assert table.loc["memorization", ["group", "records", "value"]].tolist() == ["outliers", 7.0, 0.4]
