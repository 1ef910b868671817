"""What a limit can tell: it decides where it tells a copy from fresh people, and says what would decide elsewhere."""

import math
import re
from dataclasses import replace

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from samples.estimates import around
from samples.findings import CLOSE, LIMIT, PASSED, RAPID, ZERO, answers, line, lines, study
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import Estimate, Variances
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.limits import SetLimit, Size
from synthrisk.metrics.verdicts.quantities import Limited
from synthrisk.metrics.verdicts.verdicts import LOOK, Beside, judge

ANSWERS = answers("copy", "near", "fresh", "leaky")
STAND = {"copy": 0.5, "near": 0.5, "fresh": 0.0, "cart": 0.0}


def judged(release, copy=0.5, fresh=0.02, value=0.05, size=None, measure=ZERO):
    found = lines({"copy": copy, "near": copy}, 0.02, measure)
    found += [line("fresh", around(0.0, fresh), measure), line("cart", release, measure)]
    beside = Beside(ANSWERS, size=size or Size())
    (verdict,) = beside_other_kind(found, {f"memorization/{measure.key}": value}, [PASSED], beside)
    return verdict


def test_a_limit_decides_nothing_where_fresh_people_could_not_be_shown_to_keep_it():
    wide = judged(around(0.0, 0.08), fresh=0.08)
    assert (wide.word, wide.brief) == ("CANNOT TELL", "noise of 0.080")
    assert judged(around(0.03, 0.025), fresh=0.08).word == "INCONCLUSIVE"  # the release itself is measured well enough
    assert judged(around(0.03, 0.026), fresh=0.026).word == "CANNOT TELL"
    assert judged(around(0.0, 0.045), fresh=0.045).word == "NO EVIDENCE"  # it lies inside, however wide it is
    # wholly beyond 0 are all three, but only .085 + .045 lies beyond 1.5 times the limit
    for value, word in ((0.07, "CANNOT TELL"), (0.085, "INCONCLUSIVE"), (-0.085, "INCONCLUSIVE")):
        assert judged(around(value, 0.045), fresh=0.045, value=0.08).word == word


@pytest.mark.parametrize(
    ("found", "tells"),
    [
        (Estimate(0.013, 0.0, 0.061), False),  # seen: 150 outliers, a copula; half of the interval is .03, noise .048
        *((Estimate(0.02, 0.0, 0.063), False), (Estimate(0.05, 0.03, 0.07), True)),
        (Estimate(0.01, 0.0, 0.05), True),  # it lies below, however wide it is
        (Estimate(0.063, 0.012, 0.116), True),  # wholly above chance, and may lie far beyond: the word stays open
    ],
)
def test_noise_of_a_rate_is_how_far_its_interval_reaches_up_for_it_ends_at_nothing_below(found, tells):
    copies, fresh = [Estimate(0.9, 0.8, 0.95)], [Estimate(0.01, 0.0, 0.033)]
    limit = SetLimit(Limited("tpr", "membership", "outliers"), 0.06, copies, copies, fresh)
    assert (limit.cannot_tell(found, 1.0) is None) == tells


def test_a_noisy_limit_hides_no_crossing_and_is_weighed_against_half_of_what_a_copy_shows():
    crossing = [judged(around(value, 0.08), fresh=0.08) for value in (0.2, -0.2)]
    assert [v.word for v in (*crossing, judged(around(0.2, 0.01), copy=0.04))] == ["RISK"] * 3
    assert judged(around(0.0, 0.045), copy=0.08, fresh=0.045, value=0.05).word == "CANNOT TELL"
    assert judged(around(0.03, 0.015), copy=0.08, fresh=0.015, value=0.05).brief == "may be half a copy"


def test_limits_that_cannot_tell_have_no_part_in_the_word_of_a_generator():
    found = lines(STAND) + lines(STAND | {"cart": 0.01}, 0.09, RAPID) + lines(STAND | {"copy": 0.9}, measure=CLOSE)
    limits = {LIMIT: 0.05, "memorization/rapid.income": 0.05, "memorization/membership": 0.05}
    verdicts = judge(found, limits, [PASSED], Beside(ANSWERS))
    assert [v.word for v in verdicts] == ["NO EVIDENCE", "CANNOT TELL", "NO EVIDENCE"]
    every, silent = study(found, verdicts, limits), study(found, verdicts[1:2], limits)
    words = every.verdict("cart"), every.passed, silent.verdict("cart"), silent.passed
    assert words == ("NO EVIDENCE", True, "INCONCLUSIVE", False)


@pytest.mark.parametrize(("measure", "missing"), [(ZERO, "who is found"), (CLOSE, "what is learnt")])
def test_a_word_of_safety_covers_what_is_learnt_and_who_is_found(measure, missing):
    found = lines(STAND, measure=measure)
    (verdict,) = judge(found, {f"memorization/{measure.key}": 0.05}, [PASSED], Beside(ANSWERS))
    assert (verdict.word, missing in verdict.reason) == ("INCONCLUSIVE", True)


def test_the_planted_leak_must_have_been_seen_by_a_limit_that_decides():
    for leaky, word in ((0.05, "NO EVIDENCE"), (0.005, "INCONCLUSIVE")):
        beside = Beside(ANSWERS, leaked={"leaky": 0.1})
        (verdict,) = beside_other_kind(lines(STAND | {"leaky": leaky}), {LIMIT: 0.05}, [PASSED], beside)
        assert verdict.word == word


@pytest.mark.parametrize("seed", range(3))
def test_what_is_asked_for_decides_when_it_is_brought(seed):
    value, n, c, spread = 0.01 * (seed + 1), 3000, 2000, 1.6
    half = spread * math.sqrt(1 / n + 1 / c)
    verdict = judged(around(value, half), size=Size(n, c, 1, True), value=0.05)
    assert verdict.word == "INCONCLUSIVE"
    if asked := re.match(r"([\d,]+) control records \(there are 2,000\), or a limit of", verdict.advice):
        brought = n, int(asked[1].replace(",", ""))
    else:
        both = re.match(r"([\d,]+) members and ([\d,]+) control records \(there are 3,000 and 2,000\)", verdict.advice)
        brought = tuple(int(text.replace(",", "")) for text in both.groups())
    more = around(value, spread * math.sqrt(1 / brought[0] + 1 / brought[1]))
    assert judged(more, size=Size(*brought, 1, True), value=0.05).word == "NO EVIDENCE"


@pytest.mark.parametrize("members", [1000, 1600])
def test_so_many_people_as_a_rate_asks_for_suffice_and_half_of_them_would_not(members):
    def rate(people: float, value: float):
        ends = confint_proportions_2indep(0.01 * people, people, 0.01 * people, people, method="newcomb", alpha=0.05)
        return Estimate(value, 0.0, value + max(ends))

    def told(size: int) -> tuple[str, str, str] | None:
        given = {"copies": [around(0.9, 0.05)], "ideals": [rate(0.05 * size, 0.01)], "size": Size(size, size, 1, True)}
        limit = SetLimit(Limited("tpr", "membership", "outliers"), 0.06, **given)
        return limit.cannot_tell(rate(0.05 * size, 0.04), 1.0)

    asked = re.match(r"([\d,]+) members and ([\d,]+) control records \(there are", told(members)[2])
    assert asked[1] == asked[2]
    brought = int(asked[1].replace(",", ""))
    assert told(brought) is None
    assert told(brought // 2)


@pytest.mark.parametrize(
    ("quantity", "found", "limit"),
    [
        *(("tpr", Estimate(0.8, 0.381, 0.944), 0.5), ("tpr", Estimate(0.1, 0.019, 0.122), 0.05)),
        *(("tpr", Estimate(1.0, 0.4, 1.0), 0.5), ("tpr_at_0.001", Estimate(0.003, 0.0, 0.006), 0.005)),
        *(("risk", Estimate(0.97, 0.88, 0.985), 0.9), ("population_gain", Estimate(0.04, -0.3, 0.06), 0.05)),
    ],
)
def test_more_is_asked_for_than_there_is_on_whichever_side_of_the_limit_the_value_lies(quantity, found, limit):
    asked = SetLimit(Limited(quantity, "membership"), limit, size=Size(20_000, 1000, 1, True)).would_decide(found)
    numbers = [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) (?:members|control)", asked)]
    assert numbers
    assert numbers[-1] > 1000


@pytest.mark.parametrize("found", [Estimate(math.nan, 0.1, 0.2), Estimate(0.0, 0.0, 0.0), Estimate(0.2, 0.2, 0.2)])
def test_nothing_is_asked_for_where_no_number_would_decide(found):
    told = SetLimit(Limited("tpr", "membership"), 0.1, size=Size(500, 500, 1, True)).would_decide(found)
    assert "members" not in told


@pytest.mark.parametrize(("members", "spread"), [(100_000, 5.0), (12_000, 9.0)])
def test_attempts_are_asked_for_where_so_many_are_drawn(members, spread):
    measure, value = Measure("singling_out", "singling_out"), 0.01

    def judged_by(attempts: int, size: Size):
        half = spread / math.sqrt(attempts)
        found = lines({"copy": 0.5, "near": 0.5}, 0.02, measure) + lines({"fresh": 0.0, "cart": value}, half, measure)
        told = [replace(each, details={"attempts": (float(attempts), math.nan)}) for each in found]
        (verdict,) = beside_other_kind(
            told, {f"memorization/{measure.key}": 0.05}, [PASSED], Beside(ANSWERS, size=size)
        )
        return verdict

    asked = judged_by(10_000, Size(members, members, 1, True))
    assert asked.word in ("INCONCLUSIVE", "CANNOT TELL")
    few = re.match(r"([\d,]+) attempts \(there are 10,000\)", asked.advice)
    more = re.match(r"([\d,]+) attempts on as many members and ([\d,]+) control records \(", asked.advice)
    assert bool(few) == (members == 100_000), asked.advice
    brought = int((few or more)[1].replace(",", ""))
    now = members if few else brought
    assert judged_by(brought, Size(now, now, 1, True)).word == "NO EVIDENCE"


def test_repetitions_are_asked_for_where_they_vary_and_a_limit_that_is_named_is_kept():
    verdict = judged(around(0.03, 0.03), value=0.05)
    limit = float(re.search(r"a limit of ([\d.]+)", verdict.advice)[1])
    assert (limit, judged(around(0.03, 0.03), value=limit).word) == (0.07, "NO EVIDENCE")
    parts = Variances(records=1e-6, between=4e-4, noise=1e-5, count=1000, repetitions=3)
    found = Estimate(0.02, -0.02, 0.06, parts=parts)
    verdict = judged(found, size=Size(1000, 0, 3))
    assert re.match(r"\d+ repetitions \(there are 3\)", verdict.advice)


def test_as_if_is_the_share_of_what_a_copy_shows():
    verdict = judged(around(0.02, 0.01), copy=0.5)
    assert (verdict.as_if, verdict.as_if_upper) == pytest.approx((0.02 / 0.5, 0.03 / 0.48))
    rate = SetLimit(Limited("tpr", "membership"), 0.06, [Estimate(0.81, 0.71, 0.91)])
    assert rate.as_if_copied(Estimate(0.11, 0.09, 0.15)) == pytest.approx((0.10 / 0.80, 0.14 / 0.70))
    assert judged(around(-0.01, 0.005)).as_if == 0


def looks(excess, **more):
    """Return the verdicts on the look at a release that shows so many more members than chance."""
    beside = Beside(ANSWERS, excess={"cart": excess}, **more)
    return [v for v in judge(lines(STAND), {LIMIT: 0.05}, [PASSED], beside) if v.quantity == LOOK]


@pytest.mark.parametrize(
    ("excess", "word"),
    [
        (around(0.1, 0.02), ["RISK"]),
        (replace(around(-0.01, 0.005), note="fewer members than chance"), ["RISK"]),
        *((around(-0.01, 0.02), []), (around(0.03, 0.01), []), (around(0.05, 0.02), ["INCONCLUSIVE"])),
        (around(0.04, 0.05), []),
    ],
)
def test_a_look_that_shows_more_members_than_the_limit_is_a_risk(excess, word):
    assert [v.word for v in looks(excess)] == word


@pytest.mark.parametrize("note", ["0.0% of the members are near", "members are told by what is missing: 0.0% are near"])
def test_a_look_says_once_that_members_are_told_by_what_is_missing(note):
    (look,) = looks(replace(around(-0.1, 0.02), note=note))
    assert look.reason.count("members are told by what is missing") == 1


def test_a_look_that_holds_its_limit_says_what_would_decide():
    (look,) = looks(Estimate(0.04, 0.03, 0.06), size=Size(members=500, controls=500))
    assert look.advice.startswith("4,500 records (there are 1,000), or no limit below 0.07")
    assert look.word == "INCONCLUSIVE"
