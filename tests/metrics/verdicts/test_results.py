"""The answer of a study in a line a synthesizer: each word of safety, each word of doubt, and what stands beside."""

from dataclasses import replace

import pytest

from samples.estimates import around
from samples.findings import CLOSE, FAILED, LIMIT, PASSED, ZERO, answers, line, lines
from samples.findings import study as result_of
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import planted_leaks
from synthrisk.metrics.verdicts.results import overview
from synthrisk.metrics.verdicts.verdicts import Beside, judge

RARE, USE = Measure("inference", "inference", "income"), Measure("accuracy", "accuracy", "income")
SHARES = Measure("common_rows_proportion", "common_rows_proportion")
ANSWERS, LEAKED = answers("copy", "near", "leaky", "fresh"), {"leaky": 0.1}


def study(*own, limits=None, checks=(PASSED,), leaky=0.05, failures=None, **more):
    """Return a study in which the reference generators do what they should in every measure of the synthesizers."""
    reached = {"copy": 0.6, "near": 0.4, "leaky": leaky, "fresh": 0.0}
    findings = [*own]
    for measure in dict.fromkeys(f.measure for f in own):
        findings += lines(reached, 0.02, measure)
    verdicts = beside_other_kind(findings, limits, checks, Beside(ANSWERS, leaked=LEAKED)) if limits else []
    roles = {f.synthesizer: {"role": f.role} for f in findings}
    given = {"settings": roles | {n: {"role": "synthesizer"} for n in failures or ()}, "checks": checks}
    given |= {"failures": failures or {}, "facts": FACTS, "answers": ANSWERS, "leaked": LEAKED}
    return result_of(
        findings, verdicts, limits, **given, quasi_identifiers=("age", "sex"), sensitive=("income",), **more
    )


FACTS = {"data": "klinik.csv", "records": "6000", "columns": "4", "releases": "6"}


def headline(*own, name="cart", **more):
    return next(h for h in overview(study(*own, **more)).headlines if h.synthesizer == name)


LIMITS = {LIMIT: 0.1}
KEEPS = line("cart", around(0.02, 0.01))
BOTH = LIMITS | {"memorization/membership": 0.1}
GUESSES = "Who knows age and sex guesses income of"


WHY = "{} more people in 100 right because their records were used"


@pytest.mark.parametrize(
    ("memorization", "checks", "word", "begins", "why", "needs"),
    [
        (
            *(around(0.3, 0.01), PASSED, "RISK", "may not go out"),
            *(f"{GUESSES} {WHY.format(30)} (at least 29, limit 10)", ""),
        ),
        (
            *(around(0.1, 0.05), PASSED, "INCONCLUSIVE", "cannot say"),
            *(f"{GUESSES} {WHY.format(10)} (between 5 and 15, limit 10)", "a limit of 16 in 100 (0.16)"),
        ),
        (
            *(NOT_ESTIMABLE, PASSED, "INCONCLUSIVE", "cannot say"),
            *("Memorization of zero_cap.income has no value", "more repetitions or records"),
        ),
        (
            *(around(0.02, 0.01), FAILED, "INVALID", "this study is invalid"),
            *("reference fresh on all: expected around 0, seen it is not", ""),
        ),
    ],
)
def test_every_other_word_says_why_it_may_not_and_what_it_needs(memorization, checks, word, begins, why, needs):
    found = headline(line("cart", memorization), limits=LIMITS, checks=(checks,))
    assert (found.word, found.sentence, found.would_decide) == (word, f"{begins}: {why}", needs)
    alone = {
        "RISK": f"cart may not go out: {why}.",
        "INCONCLUSIVE": f"Nothing can be said of cart: {why}; it needs {needs}.",
        "INVALID": f"Nothing can be said of cart, for the study is invalid: {why}.",
    }
    assert found.statement == alone[word]


def test_without_limits_nothing_was_judged_and_what_failed_says_so():
    found = headline(line("cart", around(0.0, 0.01)))
    assert (found.word, found.sentence) == ("", "not judged: no limit is set")
    assert found.statement == "cart is not judged: no limit is set."
    failed = headline(KEEPS, limits=LIMITS, failures={"ctgan": "out of memory"}, name="ctgan")
    assert (failed.word, failed.worst) == ("FAILED", None)
    assert failed.sentence == "cannot say: it was not run to the end: out of memory"


def test_many_reasons_are_counted():
    measures = [replace(ZERO, sensitive=name) for name in ("a", "b", "c", "d")]
    limits = {f"memorization/{m.key}": 0.1 for m in measures}
    found = headline(*(line("cart", around(0.3, 0.01), m) for m in measures), limits=limits)
    assert found.sentence.endswith(", and so say 3 other limits")
    assert (found.brief, len(found.verdicts)) == ("crosses 4 of 4 limits", 4)
    one = headline(line("cart", around(0.3, 0.01), measures[0]), limits=dict([*limits.items()][:1]))
    assert one.brief == "memorization/zero_cap.a above 0.1"


def test_a_limit_that_cannot_tell_vetoes_nothing_and_is_named():
    silent = replace(line("cart", around(0.02, 0.01), CLOSE), reach=0.02)
    found = headline(KEEPS, silent, limits=BOTH)
    assert found.sentence == "may go out under your limits; 1 limit cannot tell here"
    (verdict,) = [v for v in found.verdicts if v.word == "CANNOT TELL"]
    assert (verdict.brief, verdict.advice) == ("attack reaches 2.0%", "a measure that has an answer for more members")
    unclear = headline(line("cart", around(0.1, 0.05)), silent, limits=BOTH)
    assert unclear.brief == "interval holds the limit"


def test_the_worst_memorization_is_the_largest_of_the_judged_measures_where_any_is():
    own = KEEPS, line("cart", around(0.2, 0.01), CLOSE)
    assert headline(*own, limits=LIMITS).worst.measure == ZERO.key
    assert headline(*own).worst.measure == CLOSE.key
    assert headline(line("cart", NOT_ESTIMABLE), limits=LIMITS).worst is None
    luck = Estimate(1.0, -0.683, 1.0)  # three records isolated by luck are no headline: the surest is
    assert headline(line("cart", around(0.03, 0.01)), line("cart", luck, CLOSE)).worst.measure == ZERO.key


THREE = {LIMIT: 0.05, "memorization/inference.income": 0.2, "memorization/membership": 0.05}


@pytest.mark.parametrize(
    ("values", "word", "named"),
    [
        ((0.1, 0.5, 0.08), "RISK", "inference"),  # 0.49 is 2.45 limits, 0.09 is 1.8
        *(((0.1, 0.19, 0.01), "RISK", "zero_cap"), ((0.01, 0.195, 0.045), "INCONCLUSIVE", "membership")),
        ((0.01, 0.15, 0.02), "NO EVIDENCE", "inference"),
    ],
)
def test_the_headline_names_the_quantity_that_decides_in_units_of_its_limit(values, word, named):
    own = [line("cart", around(v, 0.01), m) for m, v in zip((ZERO, RARE, CLOSE), values, strict=True)]
    found = headline(*own, limits=THREE)
    assert (found.word, found.worst.measure.split(".")[0]) == (word, named)


def test_what_no_limit_judges_is_told_with_the_highest_of_it_but_for_checks_and_what_ifs():
    preview = replace(ZERO, label="zero_cap-without-age", variant_of="zero_cap")
    own = [line("cart", around(v, 0.01), m) for v, m in ((0.02, ZERO), (0.2, CLOSE), (0.1, RARE), (0.9, preview))]
    told = overview(study(*own, line("vine", around(0.3, 0.01), RARE), limits=LIMITS))
    assert [[m.key for m in each] for each in (told.judged, told.unjudged)] == [[ZERO.key], [CLOSE.key, RARE.key]]
    assert (told.highest.synthesizer, told.highest.measure, told.highest.found.value) == ("vine", RARE.key, 0.3)
    keys = [m.key for m in overview(study(KEEPS, line("cart", around(0.02, 0.01), SHARES), limits=LIMITS)).unjudged]
    assert all(k == SHARES.key for k in keys)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.2, "as if 33 of 100 people had been copied, at most 38 of 100"),
        (0.01, "at most as if 5 of 100 people had been copied"),
        (-0.01, "at most as if 2 of 100 people had been copied"),
    ],
)
def test_as_if_is_told_as_a_leak_only_where_an_interval_shows_one(value, told):
    headline = overview(study(line("cart", around(value, 0.02)), limits=LIMITS)).synthesizers[0]
    assert (headline.gives_away, headline.copied) == (told.startswith("as if"), told)


def test_the_study_is_described():
    told = overview(study(KEEPS, limits=LIMITS))
    assert told.data == "klinik.csv: 6,000 records, 4 columns; 6 releases of each generator"
    drawn = replace(study(KEEPS), facts=FACTS | {"drawn": "at random"})
    assert overview(drawn).data.startswith("klinik.csv: 6,000 records drawn at random, 4 columns;")
    assert told.attacker == "has the release, knows age and sex; guesses income"
    many = replace(study(KEEPS), quasi_identifiers=[f"c{i}" for i in range(150)], facts=FACTS | {"columns": "200"})
    assert overview(many).attacker.endswith("c7 and 142 more; guesses income")
    assert (told.owners, told.references) == ({"the board": list(LIMITS)}, "behaved: 1 check passed")
    assert "none was checked" in overview(study(KEEPS, checks=())).references
    assert "1 of 1 check failed" in overview(study(KEEPS, checks=(FAILED,))).references


def test_a_synthesizer_that_keeps_all_limits_may_go_out_with_its_utility_beside():
    found = headline(KEEPS, limits=LIMITS)
    assert (found.word, found.sentence) == ("NO EVIDENCE", "may go out under your limits")
    assert (found.brief, found.statement) == ("keeps 1 of 1 limit", "cart may go out under your limits.")
    useful = Usefulness("cart", "synthesizer", USE, around(0.8, 0.01), NOT_ESTIMABLE, NOT_ESTIMABLE)
    assert headline(KEEPS, utility=[useful]).utility is useful


def test_planted_leaks_are_told_a_copy_first_and_seen_where_the_interval_holds_more_than_none():
    words = ["copy", "near copy", "leak of 10.0%"]
    for leaky, seen in ((0.05, True), (0.01, False)):
        leaks = overview(study(KEEPS, limits=LIMITS, leaky=leaky)).leaks
        assert [(e.words, e.seen) for e in leaks] == [*zip(words, (True, True, seen), strict=True)]
        assert {each.quantity for each in leaks} == set(LIMITS)
    (found,) = planted_leaks([line("copy", around(0.5, 0.1))], ANSWERS, {}, [("risk/zero_cap", ZERO)])
    assert (found.quantity, found.seen, found.share) == (LIMIT, True, 1.0)  # of a limit on risk too


def test_a_claim_of_sight_names_the_larger_leak_that_was_missed():
    result = study(KEEPS, line("cart", around(0.02, 0.01), CLOSE), limits=BOTH)
    reached = {ZERO: around(0.01, 0.02), CLOSE: around(0.1, 0.02)}
    seen = [replace(f, memorization=reached[f.measure]) if f.synthesizer == "leaky" else f for f in result.findings]
    claimed, _ = judge(seen, dict.fromkeys(result.limits, 0.1), [PASSED], Beside(ANSWERS, leaked=LEAKED))
    missed = "a leak of about 3.0% of the training rows would have been seen, though the planted leak of 10.0%"
    assert missed in claimed.reason
    assert "its own interval is wider: half width 0.020, here 0.010" in claimed.reason
    (alone,) = headline(KEEPS, limits=LIMITS, leaky=0.01).verdicts
    assert (alone.word, alone.brief) == ("INCONCLUSIVE", "planted leak not seen")
    (sound,) = headline(KEEPS, limits=LIMITS).verdicts
    assert "though" not in sound.reason
