"""What may go back to the maker of a release: words and whole people in 100, and nothing that is exact."""

import json
import re

import pytest

from synthrisk.flows.terminal.answer import print_vendor_answer, vendor_answer
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import Verdict

EXACT = {"memorization/rapid.income": 0.31415926, "memorization/copies.income": 0.2653589, "tpr/membership": -0.004}


def result(checks=(), limits=EXACT, **more):
    measures = [
        Measure("rapid", "rapid", "income"),
        Measure("copies", "common_rows_proportion", "income"),
        Measure("membership", "membership"),
    ]
    found = Estimate(0.31415926, 0.27182818, 0.35)
    return StudyResult(
        "20261123-013609-1ddbd6", "evaluate",
        [Finding("release", "synthesizer", m, found, found, found) for m in measures], checks,
        [
            Verdict("release", name, 0.125, "RISK", "19 rows equal a real one", value, 0.27182818, 0.35, "19 rows")
            for name, value in limits.items()
        ],
        limits={name: Limit(0.125, "the board") for name in limits}, settings={"release": {"role": "synthesizer"}},
        warnings=("19 rows are real",), **more,
    )  # fmt: skip


def test_shares_are_of_whole_people_equal_rows_have_none_and_nothing_exact_is_told(capsys):
    assert vendor_answer(result()) == {"word": "RISK", "exit_code": 1, "limits": [
        {"quantity": "memorization/rapid.income", "word": "RISK", "limit": 12.5, "people_in_100": 31},
        {"quantity": "memorization/copies.income", "word": "RISK", "limit": 12.5, "people_in_100": None},
        {"quantity": "tpr/membership", "word": "RISK", "limit": 12.5, "people_in_100": 0},
    ]}  # fmt: skip
    print_vendor_answer(result())
    assert capsys.readouterr().out == (
        "Verdict  RISK\n"
        "limit on                     at most     found  of 100 people\n"
        "memorization/rapid.income       12.5        31  RISK\n"
        "memorization/copies.income      12.5         -  RISK\n"
        "tpr/membership                  12.5         0  RISK\n"
    )
    print_vendor_answer(result())
    told = capsys.readouterr().out + json.dumps(vendor_answer(result()))
    assert not re.search(r"\.3|\.27|\.26|\.00|-0|19|report|2026", told)
    answer = vendor_answer(result(limits={"tpr/membership": NOT_ESTIMABLE.value}))
    assert [each["people_in_100"] for each in answer["limits"]] == [None]


@pytest.mark.parametrize(("more", "word", "code"), [
    ({"limits": {}}, "NOT JUDGED", 0),
    ({"checks": [Check("fresh", "all", "around 0", False, "31 of 100")]}, "INVALID", 3),
    ({"limits": {}, "failures": {"release": "no file at vendor.csv, 19 rows"}}, "FAILED", 1),
])  # fmt: skip
def test_without_a_verdict_the_word_alone_is_told(more, word, code, capsys):
    assert vendor_answer(result(**more)) == {"word": word, "exit_code": code, "limits": []}
    print_vendor_answer(result(**more))
    assert capsys.readouterr().out == f"Verdict  {word}\n"
