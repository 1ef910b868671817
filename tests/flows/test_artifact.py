"""The text of the artifact, of studies made by hand: labels that would be markup, 60 synthesizers, many measures."""

import re

import pytest
from markdown_it import MarkdownIt

from samples.estimates import around
from synthrisk.flows.artifact import artifact_description, artifact_text
from synthrisk.flows.ended import Ended
from synthrisk.flows.outcome import Outcome, concluded
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.results import Limit, StudyResult
from synthrisk.metrics.study.verdicts import judge
from synthrisk.tasks.log import Logged, Pages

LABELS = [
    "<script>alert('1')</script>",
    'a|b "c" `d`',
    "<img src=x onerror=alert(1)>",
    "הכנסה | שנתית",
    "x" * 300,
    "[a](javascript:alert(1))",
]


def ended(labels, names=("cart",), limited=True, report="/w/reports/1/a b.html", **more) -> Ended:
    measures = [Measure("zero_cap", "zero_cap", label) for label in labels]
    findings = [
        Finding(name, "synthesizer", m, around(0.4, 0.01), around(0.1, 0.01), around(0.3, 0.01))
        for m in measures
        for name in names
    ]
    limits = {f"memorization/{m.key}": 0.1 for m in measures} if limited else {}
    result = StudyResult(
        "id-1",
        "hard",
        findings,
        [],
        judge(findings, limits, []),
        limits={name: Limit(value, "the <b>board</b>") for name, value in limits.items()},
        facts={"records": "100", "columns": "9", "releases": "2"},
        settings={name: {"role": "synthesizer"} for name in names},
        quasi_identifiers=labels,
        sensitive=labels,
        **more,
    )
    logged = Logged("sqlite:////w/mlflow.db", "1", "id-1", {}, Pages(report))
    return Ended(Outcome(result, logged), "study", "hard", "study hard")


def tokens(text: str) -> list:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # ours lead to a file
    found = parser.parse(text)
    return [each for token in found for each in (token, *(token.children or []))]


@pytest.mark.parametrize("limited", [True, False])
def test_labels_that_would_be_markup_are_text(limited):
    text = artifact_text(ended(LABELS, limited=limited))
    found = tokens(text)
    kinds = {token.type for token in found}
    assert not kinds & {"html_block", "html_inline", "image", "code_inline", "fence", "code_block"}
    assert sum(token.type == "link_open" for token in found) == 2
    assert "x" * 100 not in "".join(line for line in text.splitlines() if line.startswith(("|", "#")))
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    widths = [{len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()} for rows in tables]
    assert widths == [{7}, *[{6}] * len(LABELS)]  # the answer, then a table a measure
    for mark in ("\u202e", "\u202d"):
        assert mark not in text


def test_sixty_synthesizers_are_all_there_and_the_state_names_the_first():
    names = [f"generator_{i}" for i in range(60)]
    one = ended(["income"], names)
    text = artifact_text(one)
    rows = [line for line in text.splitlines() if re.match(r"\| generator\\_\d+ \| \*\*RISK\*\*", line)]
    assert len(rows) == 60
    assert len(text) < 60_000
    message = concluded(one.outcome).message
    assert message.startswith("RISK: generator_0 may not go out: Who knows income guesses income of 30 more people")
    assert re.search(r"\(at least \d+, limit 10\)\. The artifact of this run names \d+ more\.$", message)


def test_the_description_is_a_line_that_later_versions_can_list():
    one = ended(LABELS, [f"generator_{i}" for i in range(60)])
    said = artifact_description(one)
    assert said.startswith("study hard: RISK (generator\\_0 RISK +0.300, ")
    assert said.endswith("generator\\_5 RISK +0.300 and 54 more)")
    rows = [t for t in tokens(artifact_text(one, [("2026-01-01", said)])) if t.content == "2026-01-01"]
    assert rows


def test_of_many_measures_the_first_are_shown_and_the_rest_counted():
    text = artifact_text(ended([f"column{i}" for i in range(30)]))
    assert text.count("\n### ") == 12
    assert "18 more measures are in the report." in text
    assert "and 24 more" in text  # limits of one owner


def test_what_failed_or_misbehaved_is_said_before_any_number():
    failed = ended(["income"], failures={"ctgan": "ValueError in fit.py"}, warning="control | members")
    text = artifact_text(failed)
    assert text.index("**Not run to the end:** ctgan") < text.index("| synthesizer |")
    assert text.index("**Mind:** control \\| members") < text.index("| synthesizer |")


def test_a_report_in_a_folder_with_a_blank_is_a_link():
    (report, _) = (t.attrGet("href") for t in tokens(artifact_text(ended(["income"]))) if t.type == "link_open")
    assert report == "file:///w/reports/1/a%20b.html"
    assert "where the study ran: /w/reports/1/a b.html\n" in artifact_text(ended(["income"]))


def test_where_no_server_runs_the_command_that_starts_one_is_named():
    assert ended(["income"]).links.start == "synthrisk ui --workspace /w"
