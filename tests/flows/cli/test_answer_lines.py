"""The last lines on the terminal: what they say, that they are at most 23, and that none is longer than 80 letters."""

from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.text import Text

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.conf.study import NOT_SAID
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.terminal.answer import Form, _leak_lines, _leaks_briefly, answer_lines
from synthrisk.flows.terminal.tables import full_tables
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.identifiers import RELEASED, Released
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check, PlantedLeak
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.revealing_columns import Carriers
from synthrisk.metrics.verdicts.verdicts import Beside, Verdict
from synthrisk.tasks.tracking.addresses import Logged, Pages

ANSWERS = {"copy": "copy", "near": "near_copy", "leaky": "leak", "fresh": "ideal"}
PASSED, BROKEN = Check("fresh", "all", "around 0", True, "it is"), Check("fresh", "all", "around 0", False, "it is not")
RISK = Estimate(0.3, 0.28, 0.32)
MEASURES = [Measure(name, name, "income") for name in ("zero_cap", "rapid", "generalized_cap")]
USE = Measure("accuracy", "accuracy", "income")
SOURCE = "disclosure board, minutes of 2026-03-01"


def outcome(
    names=("cart",), limits=2, memorization=0.02, checks=(PASSED,), label="income", failures=None, leaky=0.04, **more
):
    measures = [replace(m, sensitive=label) for m in MEASURES]
    reached = {"copy": 0.6, "near": 0.4, "leaky": leaky, "fresh": 0.0}
    findings = [
        Finding(name, "reference" if name in ANSWERS else "synthesizer", m, RISK, RISK, around(value, 0.02))
        for m in measures
        for name, value in dict.fromkeys(names, memorization).items() | reached.items()
    ]
    told = {f"memorization/{m.key}": 0.1 for m in measures[:limits]}
    return Outcome(
        StudyResult(
            "20261123-013609-1ddbd6", "klinik", findings, checks,
            beside_other_kind(findings, told, checks, Beside(ANSWERS, leaked={"leaky": 0.1})) if told else [],
            failures or {}, {name: Limit(value, SOURCE) for name, value in told.items()},
            {"data": "klinik.csv", "records": "6000", "columns": "4", "releases": "6"},
            {f.synthesizer: {"role": f.role} for f in findings} | {n: {"role": "synthesizer"} for n in failures or ()},
            ANSWERS,
            utility=[Usefulness(n, "synthesizer", USE, around(0.8, 0.01), NOT_ESTIMABLE, NOT_ESTIMABLE) for n in names],
            leaked={"leaky": 0.1}, quasi_identifiers=("age", label), sensitive=(label,), **more,
        ),
        Logged(
            "sqlite:///x", "1", "s", {}, Pages(".synthrisk/reports/20261123-013609-1ddbd6/report.html"),
            workspace=".synthrisk",
        ),
    )  # fmt: skip


def lines_of(made, width=80, **changes):
    lines = [line.plain for line in answer_lines(replace(made, result=replace(made.result, **changes)), width)]
    assert len(lines) <= 23
    return lines


def said(*arguments, width=80, **more):
    lines = lines_of(outcome(*arguments, **more), width)
    assert max(map(cell_len, lines)) <= max(width, 80)
    return "\n".join(lines)


def test_the_answer_is_whole():
    text = said()
    for part in (
        "Study klinik, 20261123-013609-1ddbd6",
        "klinik.csv: 6,000 records, 4 columns; 6 releases of each generator",
        "has the release, knows age and income",
        "guesses income",
        f'2 set by "{SOURCE}"',
        "+.020 [.000, +.040]     .800  NO EVIDENCE  keeps 2 of 2 limits",
        "\n  Who knows age and income guesses income of 2 more people in 100 right because",
        " memorization/zero_cap.income\n  Who knows age and income predicts income of 2 more people in 100 clearly\n",
        " memorization/rapid.income\n  at most as if 7 of 100 people had been copied",
        "1 of 3 measures has no limit; the surest memorization among them:",
        "+.020 [.000, +.040] cart, generalized_cap.income",
        "behaved: 1 check passed",
        "copy, near copy, leak of 10.0% seen: by all 2 limits",
        "Report      .synthrisk/reports/20261123-013609-1ddbd6/report.html",
        "Open it     synthrisk ui --open klinik",
    ):
        assert part in text
    assert "%5B" not in text


def test_without_limits_the_first_words_are_that_nothing_was_judged():
    text = said(limits=0)
    assert text.startswith("No limits: no verdict. Nothing was judged.")
    assert [each in text for each in ("3 of 3 measures have no limit", "NO EVIDENCE")] == [True, False]


@pytest.mark.parametrize(("more", "words"), [
    ({"memorization": 0.3}, "RISK  crosses 2 of 2 limits"),
    ({"memorization": 0.1}, "INCONCLUSIVE  interval holds the limit"),
    ({"checks": (BROKEN,)}, "INVALID  references misbehaved"),
    ({"failures": {"ctgan": "no memory"}}, "FAILED  not run to the end"),
])  # fmt: skip
def test_every_verdict_says_why(more, words):
    assert words in said(**more)


def test_lines_of_planted_leaks_name_limits_where_there_is_room_and_say_what_was_not_seen():
    text = said(leaky=0.01)
    assert "INCONCLUSIVE  planted leak not seen" in text
    assert "\n  would decide: more repetitions or records\n" in text
    assert "copy and near copy seen, not leak of 10.0%: by all 2 limits" in text
    seen = Estimate(0.5, 0.4, 0.6)
    names = [f"memorization/common_rows_proportion@{group}" for group in ("outliers", "rare_keys")]
    leaks = [PlantedLeak("copy", "copy", 1.0, name, seen, True) for name in ("tpr/membership", *names)]
    leaks += [PlantedLeak("near", "near_copy", 1.0, name, seen, name == "tpr/membership") for name in names]
    lines = [line.plain for line in _leak_lines(leaks, "limits", 80)]
    assert lines == [
        "Planted     copy seen: by tpr/membership",
        "            copy seen, not near copy: by 2 of 3 limits",
    ]
    assert names[1] in _leak_lines(leaks, "limits", 200)[1].plain
    (line,) = _leak_lines([PlantedLeak("copy", "copy", 1.0, "tpr/membership", seen, False)], "limits", 80)
    assert line.plain == "Planted     copy not seen: by tpr/membership"


def test_lines_of_leaks_are_one_where_a_generator_would_lose_what_its_word_rests_on():
    made = outcome(["cart", "trees"], memorization=0.1)
    names = [f"memorization/common_rows_proportion@{group}" for group in ("outliers", "rare_keys")]
    own = {"word": "INCONCLUSIVE", "brief": "interval holds the limit", "advice": "9,500 members (there are 3,000)"}
    verdicts = [replace(v, **own) for v in made.result.verdicts]
    leaks = [PlantedLeak("copy", "copy", 1.0, name, RISK, True) for name in ("tpr/membership", *names)]
    leaks += [PlantedLeak("near", "near_copy", 1.0, name, RISK, name == "tpr/membership") for name in names]
    assert len(_leak_lines(leaks, "limits", 80)) == 2
    assert [line.plain for line in _leaks_briefly(leaks, "limits")] == [
        "Planted     seen by limits, of 3: copy by 3, near copy by 0"
    ]
    lines = lines_of(made, verdicts=verdicts)
    for start in ("  Who knows age", "  hinges on", "  as if", "  would decide: 9,500 members"):
        assert len([line for line in lines if line.startswith(start)]) == 2
    assert "2 more sentences: -v" in lines
    assert [line.partition("  ")[0] for line in lines[-2:]] == ["Report", "Open it"]


def test_all_tables_say_of_each_limit_what_it_says_of_people_and_why_below():
    lines = [line.plain for line in full_tables(outcome().result) if isinstance(line, Text)]
    (told,) = (line for line in lines if "memorization/zero_cap.income: " in line)
    assert told.startswith("NO EVIDENCE  cart: Who knows age and income guesses income of 2 more people in 100 right")
    assert told.partition("\n             memorization/zero_cap.income: ")[2].startswith("memorization +0.020 [")


def test_what_carries_a_risk_is_brief_where_room_is_short_and_the_record_gives_its_line():
    shares = (("the age at admission", 0.6), ("the highest education", 0.5), ("the occupation of the last year", 0.4))
    names = ("cart", "trees", "vine")
    carriers = {name: Carriers("memorization/zero_cap.income", 0.3, shares, 70, 70) for name in names}
    for count, carried, whole, last in ((1, 1, 1, "Record"), (2, 2, 0, "Report"), (3, 0, 0, "Report")):
        made = outcome(names[:count], memorization=0.3, carriers=carriers)
        lines = lines_of(made)
        assert sum(line.startswith("  the age at admission carries 60%") for line in lines) == carried
        assert sum("the release has 70 of" in line for line in lines) == whole
        assert [line.partition(" ")[0] for line in lines[-2:]] == [last, "Open"]


def test_where_a_kept_limit_is_first_the_line_says_what_is_not_judged():
    made = outcome(limits=1)
    (verdict,) = made.result.verdicts
    why = "no limit that decides here speaks of the most exposed, by @outliers: too few of them"
    own = {"word": "INCONCLUSIVE", "brief": "most exposed not judged", "reason": f"it lies below 0.1, but {why}"}
    text = "\n".join(lines_of(made, verdicts=[replace(verdict, **own)]))
    assert "INCONCLUSIVE  most exposed not judged" in text
    assert -1 < " ".join(text.split()).find(why) < " ".join(text.split()).index("Who knows age and income guesses")


def test_every_limit_that_is_crossed_has_its_sentence_and_what_has_no_room_is_counted():
    both = ("guesses income of 30 more people", "predicts income of 30 more people")
    alone = said(memorization=0.3)
    assert [alone.count(part) for part in both] == [1, 1]
    assert "more sentence" not in alone
    assert alone.index(both[1]) < alone.index("as if 50 of 100")
    two = said(["cart", "trees"], memorization=0.3)
    assert [two.count(part) for part in both] == [2, 1]
    assert "\n1 more sentence (RISK: 1): -v\nNot judged" in two
    many = said([f"vine-{n}" for n in range(60)], memorization=0.3)
    assert "and 55 more: 55 RISK\n117 more sentences (RISK: 117): -v\n" in many


def test_a_limit_in_people_has_its_number_behind_it_where_that_takes_no_line_more():
    made = outcome(memorization=0.1, limits=1)
    (first, *rest) = made.result.verdicts
    for records, whole in (("600 records (there are 300)", True), ("9,600 records (there are 6,000)", False)):
        told = replace(first, word="INCONCLUSIVE", advice=f"{records}, or no limit below 0.06")
        lines = lines_of(made, verdicts=[told, *rest])
        assert f"  would decide: {records}, or no limit below 6 in 100{' (0.06)' * whole}" in lines


def test_sentences_come_by_how_near_they_are_to_their_limit():
    made = outcome()
    (first, *_), near, kept = made.result.verdicts, 0.09, "NO EVIDENCE"
    told = [
        replace(first, quantity=f"memorization/{name}.income", metric=name, word=word, value=value, lower=value)
        for name, word, value in (("rapid", kept, 0.01), ("cap", kept, near), ("zero_cap", "RISK", 0.3))
    ]
    told = [replace(v, upper=v.value) for v in told]
    lines = answer_lines(replace(made, result=replace(made.result, verdicts=told)), 120)
    (where,) = [n for n, line in enumerate(lines) if line.plain.startswith("cart ")]
    text = "\n".join(line.plain for line in lines[where + 1 :])
    assert text.startswith("  Who knows age and income guesses income of 30 more people")
    kept = text.index("\n  NO EVIDENCE  Who knows age and income guesses income of 9")
    assert kept < text.index("predicts income of 1")
    colours = {(s.style, line.plain[s.start : s.end]) for line in lines for s in line.spans}
    assert {("green", "NO EVIDENCE"), ("dim", "memorization/rapid.income")} <= colours


def test_on_no_terminal_each_sentence_has_its_line_and_above_it_they_are_not_said_again():
    made = outcome([f"vine-{n}" for n in range(6)], memorization=0.3)
    lines = [line.plain for line in answer_lines(made, 80, Form(whole=True))]
    assert len([line for line in lines if line.endswith("(at least 28, limit 10) memorization/rapid.income")]) == 6
    assert not [line for line in lines if "more sentence" in line]
    assert [line for line in answer_lines(made, 80, Form(others="above")) if line.plain.endswith("(RISK: 9): above")]


def test_a_verdict_of_a_generator_is_folded_before_what_stands_below_is_left_out():
    words = "keeps 5 of 5 limits, 4 cannot tell, and one is on so many people that it says so at length"
    full = outcome(label=" ".join(["income"] * 8), leaky=0.0)
    (verdict, *rest) = full.result.verdicts
    told = lines_of(full, verdicts=[replace(verdict, brief=words, word="RISK"), *rest])
    assert words in " ".join(" ".join(told).split())


def test_of_one_generator_all_stands_below_it_and_of_three_the_sentences():
    made = outcome(memorization=0.1, limits=1)
    known = tuple(f"marital_status_{n}" for n in range(10))
    facts = made.result.facts | {"data": "real3000.csv", "control": "3000", "columns": "15"}
    (verdict, *rest) = made.result.verdicts
    told = replace(verdict, word="INCONCLUSIVE", advice="9,500 members and 9,500 control records (there are 3,000)")
    text = "\n".join(lines_of(made, verdicts=[told, *rest], quasi_identifiers=known, facts=facts))
    assert "\n  as if 17 of 100 people had been copied" in text
    assert "\n  would decide: 9,500 members" in text
    text, wide = (said(["cart", "trees", "vine"], memorization=0.1, width=width) for width in (80, 120))
    assert (len(text.splitlines()), "\n  would decide" in text) == (23, False)
    for each in (text, wide):
        assert "\n  Who knows age and income guesses income of 10 more people" in each


def test_of_two_generators_what_decides_stands_below_as_far_as_there_is_room():
    whole = said(["cart", "trees"], memorization=0.1)
    for line in ("Who knows age and income guesses income of 10 more people", "as if 17 of 100 people"):
        assert whole.count(f"\n  {line}") == 2
    made = outcome(["cart", "trees"], memorization=0.1, limits=1)
    named = Verdict("cart", RELEASED, 0.0, "RISK", "values are released", brief="real values released")
    found = Released(tuple(f"{name}: values of 9 of 9 people" for name in ("mail", "phone", "street")))
    lines = lines_of(made, verdicts=[*made.result.verdicts, named], released={"cart": found})
    assert [line for line in lines if "street: values of 9 of 9 people" in line]
    first = ("  Who knows age and income guesses income of", f"  values are released {RELEASED}")
    assert [line for line in lines if line.startswith(first)]  # of whichever generator is shown first


def test_the_quantity_stands_in_grey_behind_its_sentence():
    (line,) = (line for line in answer_lines(outcome(), 80) if line.plain.endswith(" memorization/zero_cap.income"))
    assert [(span.style, line.plain[span.start : span.end].strip()) for span in line.spans] == [
        ("dim", "memorization/zero_cap.income")
    ]


@pytest.mark.parametrize("count", [2, 6, 9])
@pytest.mark.parametrize("length", [16, 20, 32, 70])
def test_no_name_of_a_generator_is_cut_and_each_that_is_not_shown_is_counted(count, length):
    names = [f"{'hospital_cart_' * 8}"[: length - 2] + f"-{i}" for i in range(count)]
    lines = said(names).splitlines()
    shown = [line.split()[0] for line in lines if line.startswith("hospital")]
    (more,) = [int(line.split()[1]) for line in lines if line.startswith("and ")] or [0]
    assert shown
    assert set(shown) <= set(names)
    assert len(set(shown)) + more == count


def test_names_with_one_beginning_stay_apart_and_one_with_a_line_break_is_on_one_line():
    lines = said(["hospital_cart_leaf_50", "hospital_cart_leaf_5"]).splitlines()
    (longer,) = (i for i, line in enumerate(lines) if line == "hospital_cart_leaf_50")
    (shorter,) = (i for i, line in enumerate(lines) if line == "hospital_cart_leaf_5")
    for at in (longer, shorter):
        assert lines[at + 1].split()[:3] == ["+.020", "[.000,", "+.040]"]
    for made in (outcome(label="a\nb\x1b[31mc"), outcome(["a\nb\x1b[31mc"])):
        lines = lines_of(made)
        assert not any(c in line for line in lines for c in "\n\x1b")
        assert any("a b [31mc" in line for line in lines)


def test_of_many_generators_the_rest_are_counted_and_without_any_it_says_so():
    assert "and 55 more: 55 NO EVIDENCE" in said([f"vine-{i}" for i in range(60)])
    mixed = outcome([f"vine-{i}" for i in range(60)], failures={f"ctgan-{i}": "no memory" for i in range(7)})
    assert "and 62 more: 55 NO EVIDENCE, 7 FAILED" in "\n".join(line.plain for line in answer_lines(mixed, 80))
    assert "No synthesizer: only reference generators ran." in said([])


def test_of_many_generators_a_risk_among_the_rest_is_named():
    made = outcome([f"vine-{i}" for i in range(9)])
    copied = [replace(v, word="RISK") if v.synthesizer in ("vine-0", "vine-8") else v for v in made.result.verdicts]
    lines = lines_of(made, verdicts=copied)
    named = lines[lines.index("and 4 more: 2 NO EVIDENCE, 2 RISK") + 1]
    assert named in ("  RISK: vine-0, vine-8", "  RISK: vine-8, vine-0")


@pytest.mark.parametrize(
    "label", ["x" * 300, "<script>alert('a')</script>", '[bold]"q"[/bold]', "دخل שכר", "收入" * 40]
)
@pytest.mark.parametrize("width", [80, 120, 40])
def test_no_label_breaks_a_line(label, width):
    assert label[:8] in said(["n" * 100, "cart"], label=label, width=width)


@pytest.mark.parametrize("source", ["", NOT_SAID])
def test_of_limits_that_nobody_is_named_for_it_says_that_it_is_not_said(source):
    made = outcome()
    limits = {name: replace(limit, source=source) for name, limit in made.result.limits.items()}
    assert "Limits      2; who set them is not said" in lines_of(made, limits=limits)
