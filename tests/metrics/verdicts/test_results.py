"""The answer of a study in a line a synthesizer: each word of safety, each word of doubt, and what stands beside."""

from dataclasses import replace

import pytest

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check, planted_leaks
from synthrisk.metrics.verdicts.results import Limit, StudyResult, overview
from synthrisk.metrics.verdicts.verdicts import Beside, judge

ZERO, CLOSE = Measure("zero_cap", "zero_cap", "income"), Measure("membership", "membership")
RARE, USE = Measure("inference", "inference", "income"), Measure("accuracy", "accuracy", "income")
SHARES, REFERENCES = Measure("common_rows_proportion", "common_rows_proportion"), ("copy", "near", "leaky", "fresh")
ANSWERS = {"copy": "copy", "near": "near_copy", "leaky": "leak", "fresh": "ideal"}
PASSED, BROKEN = Check("fresh", "all", "around 0", True, "it is"), Check("fresh", "all", "around 0", False, "it is not")
RISK = Estimate(0.3, 0.28, 0.32)
FACTS = {"data": "klinik.csv", "records": "6000", "columns": "4", "releases": "6"}


def line(name, memorization, measure=ZERO):
    return Finding(name, "reference" if name in ANSWERS else "synthesizer", measure, RISK, RISK, memorization)


def study(*own, limits=None, checks=(PASSED,), leaky=0.05, failures=None, **more):
    """Return a study in which the reference generators do what they should in every measure of the synthesizers."""
    measures = dict.fromkeys(f.measure for f in own)
    reached = {"copy": 0.6, "near": 0.4, "leaky": leaky, "fresh": 0.0}
    findings = [*own, *(line(n, around(value, 0.02), m) for n, value in reached.items() for m in measures)]
    limits, leaked = limits or {}, {"leaky": 0.1}
    verdicts = beside_other_kind(findings, limits, checks, Beside(ANSWERS, leaked=leaked)) if limits else []
    settings = {f.synthesizer: {"role": f.role} for f in findings} | {
        n: {"role": "synthesizer"} for n in failures or ()
    }
    told = {name: Limit(value, "the board") for name, value in limits.items()}
    return StudyResult(
        "id",
        "demo",
        findings,
        checks,
        verdicts,
        failures or {},
        told,
        FACTS,
        settings,
        ANSWERS,
        leaked=leaked,
        quasi_identifiers=("age", "sex"),
        sensitive=("income",),
        **more,
    )


def headline(*own, name="cart", **more):
    return next(h for h in overview(study(*own, **more)).headlines if h.synthesizer == name)


LIMITS = {"memorization/zero_cap.income": 0.1}


def test_a_synthesizer_that_keeps_all_limits_may_go_out_under_them():
    found = headline(line("cart", around(0.02, 0.01)), limits=LIMITS)
    assert (found.word, found.sentence) == ("NO EVIDENCE", "may go out under your limits")
    assert found.brief == "keeps 1 of 1 limit"


@pytest.mark.parametrize(
    ("memorization", "more", "word", "sentence", "needs"),
    [
        (
            around(0.3, 0.01),
            {},
            "RISK",
            "may not go out: Who knows age and sex guesses income of 30 more people in 100 right because their records "
            "were used (at least 29, limit 10)",
            "",
        ),
        (
            around(0.1, 0.05),
            {},
            "INCONCLUSIVE",
            "cannot say: Who knows age and sex guesses income of 10 more people in 100 right because their records "
            "were used (between 5 and 15, limit 10)",
            "a limit of 16 in 100 (0.16)",
        ),
        (
            NOT_ESTIMABLE,
            {},
            "INCONCLUSIVE",
            "cannot say: Memorization of zero_cap.income has no value",
            "more repetitions or records",
        ),
        (
            around(0.02, 0.01),
            {"checks": (BROKEN,)},
            "INVALID",
            "this study is invalid: reference fresh on all: expected around 0, seen it is not",
            "",
        ),
    ],
)
def test_every_other_word_says_why_it_may_not_and_what_it_needs(memorization, more, word, sentence, needs):
    found = headline(line("cart", memorization), limits=LIMITS, **more)
    assert (found.word, found.sentence, found.would_decide) == (word, sentence, needs)
    assert "may go out" not in found.sentence


def test_a_sentence_that_stands_alone_names_its_synthesizer_and_ends():
    def told(*own, **more):
        return headline(*own, **more).statement

    assert told(line("cart", around(0.02, 0.01)), limits=LIMITS) == "cart may go out under your limits."
    crossed = told(line("cart", around(0.3, 0.01)), limits=LIMITS)
    assert crossed.startswith("cart may not go out: Who knows age and sex guesses income of 30 more people in 100")
    assert crossed.endswith("(at least 29, limit 10).")
    assert told(line("cart", around(0.0, 0.01))) == "cart is not judged: no limit is set."
    assert told(line("cart", NOT_ESTIMABLE), limits=LIMITS).startswith("Nothing can be said of cart: Memorization of ")
    invalid = told(line("cart", around(0.02, 0.01)), limits=LIMITS, checks=(BROKEN,))
    assert invalid.startswith("Nothing can be said of cart, for the study is invalid: reference fresh on all: ")


def test_without_limits_nothing_was_judged():
    found = headline(line("cart", around(0.0, 0.01)))
    assert (found.word, found.sentence) == ("", "not judged: no limit is set")


def test_a_synthesizer_that_failed_says_so():
    found = headline(line("cart", around(0.0, 0.01)), limits=LIMITS, failures={"ctgan": "out of memory"}, name="ctgan")
    assert (found.word, found.worst) == ("FAILED", None)
    assert found.sentence == "cannot say: it was not run to the end: out of memory"


def test_many_reasons_are_counted():
    measures = [replace(ZERO, sensitive=name) for name in ("a", "b", "c", "d")]
    limits = {f"memorization/{m.key}": 0.1 for m in measures}
    found = headline(*(line("cart", around(0.3, 0.01), m) for m in measures), limits=limits)
    assert found.sentence.endswith(", and so say 3 other limits")
    assert (found.brief, len(found.verdicts)) == ("crosses 4 of 4 limits", 4)
    one = headline(line("cart", around(0.3, 0.01), measures[0]), limits={f"memorization/{measures[0].key}": 0.1})
    assert one.brief == "memorization/zero_cap.a above 0.1"


def test_a_limit_that_cannot_tell_vetoes_nothing_and_is_named():
    own = line("cart", around(0.02, 0.01)), replace(line("cart", around(0.02, 0.01), CLOSE), reach=0.02)
    found = headline(*own, limits=LIMITS | {"memorization/membership": 0.1})
    assert found.sentence == "may go out under your limits; 1 limit cannot tell here"
    (silent,) = [v for v in found.verdicts if v.word == "CANNOT TELL"]
    assert (silent.brief, silent.advice) == ("attack reaches 2.0%", "a measure that has an answer for more members")
    unclear = headline(line("cart", around(0.1, 0.05)), own[1], limits=LIMITS | {"memorization/membership": 0.1})
    assert unclear.brief == "interval holds the limit"


def test_the_worst_memorization_is_the_largest_of_the_judged_measures():
    own = line("cart", around(0.02, 0.01)), line("cart", around(0.2, 0.01), CLOSE)
    assert (headline(*own, limits=LIMITS).worst.measure, headline(*own).worst.measure) == (ZERO.key, CLOSE.key)
    assert headline(line("cart", NOT_ESTIMABLE), limits=LIMITS).worst is None


def test_what_no_limit_judges_is_told_with_the_highest_of_it():
    own = [
        line("cart", around(0.02, 0.01)),
        line("cart", around(0.2, 0.01), CLOSE),
        line("cart", around(0.1, 0.01), RARE),
        line("vine", around(0.3, 0.01), RARE),
    ]
    told = overview(study(*own, limits=LIMITS))
    assert ([m.key for m in told.judged], [m.key for m in told.unjudged]) == ([ZERO.key], [CLOSE.key, RARE.key])
    assert (told.highest.synthesizer, told.highest.measure, told.highest.found.value) == ("vine", RARE.key, 0.3)


def test_a_sanity_check_and_a_what_if_are_not_called_unjudged():
    preview = replace(ZERO, label="zero_cap-without-age", variant_of="zero_cap")
    own = [line("cart", around(0.02, 0.01), m) for m in (ZERO, SHARES, preview)]
    keys = [m.key for m in overview(study(*own, limits=LIMITS)).unjudged]
    assert preview.key not in keys
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
    told = overview(study(line("cart", around(0.02, 0.01)), limits=LIMITS))
    assert told.data == "klinik.csv: 6,000 records, 4 columns; 6 releases of each generator"
    drawn = replace(study(line("cart", around(0.02, 0.01))), facts=FACTS | {"drawn": "at random"})
    assert overview(drawn).data.startswith("klinik.csv: 6,000 records drawn at random, 4 columns;")
    assert told.attacker == "has the release, knows age and sex; guesses income"
    many = replace(study(line("cart", around(0.02, 0.01))), quasi_identifiers=[f"c{i}" for i in range(150)])
    many = replace(many, facts=FACTS | {"columns": "200"})
    assert overview(many).attacker.endswith("c7 and 142 more; guesses income")
    assert (told.owners, told.references) == ({"the board": list(LIMITS)}, "behaved: 1 check passed")
    assert "none was checked" in overview(study(line("cart", around(0, 0.01)), checks=())).references
    assert "1 of 1 check failed" in overview(study(line("cart", around(0, 0.01)), checks=(BROKEN,))).references


def test_utility_stands_beside_in_the_first_measure():
    useful = Usefulness("cart", "synthesizer", USE, around(0.8, 0.01), NOT_ESTIMABLE, NOT_ESTIMABLE)
    assert headline(line("cart", around(0.02, 0.01)), utility=[useful]).utility is useful


def test_planted_leaks_are_told_a_copy_first():
    leaks = overview(study(line("cart", around(0.02, 0.01)), limits=LIMITS)).leaks
    assert [(each.words, each.seen) for each in leaks] == [("copy", True), ("near copy", True), ("leak of 10.0%", True)]
    assert {each.quantity for each in leaks} == set(LIMITS)


def test_a_leak_whose_interval_holds_no_leak_is_not_seen():
    leaks = overview(study(line("cart", around(0.02, 0.01)), limits=LIMITS, leaky=0.01)).leaks
    assert [each.seen for each in leaks] == [True, True, False]


def test_of_a_limit_on_risk_the_leaks_are_sought_in_memorization():
    (found,) = planted_leaks([line("copy", around(0.5, 0.1))], ANSWERS, {}, [("risk/zero_cap", ZERO)])
    assert (found.quantity, found.seen, found.share) == ("memorization/zero_cap.income", True, 1.0)


def test_a_claim_of_sight_names_the_larger_leak_that_was_missed():
    own = line("cart", around(0.02, 0.01)), line("cart", around(0.02, 0.01), CLOSE)
    result = study(*own, limits=LIMITS | {"memorization/membership": 0.1})
    leaky = [
        replace(f, memorization=around(0.01, 0.02)) if f.synthesizer == "leaky" and f.measure == ZERO else f
        for f in result.findings
    ]
    seen = [
        replace(f, memorization=around(0.1, 0.02)) if f.synthesizer == "leaky" and f.measure == CLOSE else f
        for f in leaky
    ]
    claimed, _ = judge(seen, dict.fromkeys(result.limits, 0.1), [PASSED], Beside(ANSWERS, leaked={"leaky": 0.1}))
    assert "a leak of about 3.0% of the training rows would have been seen, though the planted leak of 10.0%" in (
        claimed.reason
    )
    assert "its own interval is wider: half width 0.020, here 0.010" in claimed.reason
    (alone,) = headline(line("cart", around(0.02, 0.01)), limits=LIMITS, leaky=0.01).verdicts
    assert (alone.word, alone.brief) == ("INCONCLUSIVE", "planted leak not seen")
    (sound,) = headline(line("cart", around(0.02, 0.01)), limits=LIMITS).verdicts
    assert "though" not in sound.reason
