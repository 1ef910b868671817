"""The text of the artifact, of studies made by hand: labels that would be markup, 60 synthesizers, many measures."""

import pickle
import re

import pytest
from markdown_it import MarkdownIt

from samples.estimates import around
from synthrisk.flows.orchestration.artifacts import Ended, artifact_description, artifact_text, plain
from synthrisk.flows.outcome import GateError, Outcome, concluded
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import judge
from synthrisk.tasks.tracking.addresses import Logged, Pages

LABELS = [
    "<script>alert('1')</script>", 'a|b "c" `d`', "<img src=x onerror=alert(1)>", "הכנסה | שנתית", "x" * 300,
    "[a](javascript:alert(1))",
]  # fmt: skip


def ended(
    labels, names=("cart",), limited=True, report="/w/reports/1/a b.html", uri="sqlite:////w/mlflow.db", **more
) -> Ended:
    measures = [Measure("zero_cap", "zero_cap", label) for label in labels]
    findings = [
        Finding(name, "synthesizer", m, around(0.4, 0.01), around(0.1, 0.01), around(0.3, 0.01))
        for m in measures
        for name in names
    ]
    limits = {f"memorization/{m.key}": 0.1 for m in measures} if limited else {}
    result = StudyResult(
        "id-1", "hard", findings, [], judge(findings, limits, []),
        limits={name: Limit(value, "the <b>board</b>") for name, value in limits.items()},
        facts={"records": "100", "columns": "9", "releases": "2"},
        settings={name: {"role": "synthesizer"} for name in names}, quasi_identifiers=labels, sensitive=labels, **more,
    )  # fmt: skip
    logged = Logged(uri, "1", "id-1", {}, Pages(report), experiment="hard", run="r1")
    return Ended(Outcome(result, logged), "study", "hard", "study hard")


def tokens(text: str) -> list:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # ours lead to a file
    return [each for token in parser.parse(text) for each in (token, *(token.children or []))]


def test_each_limit_has_its_sentence():
    one = ended(["income", "illness", "job"])
    (headline,) = one.answer.synthesizers
    text = artifact_text(one)
    assert len(headline.sentences) == 3
    assert all(text.count(plain(told)) == 1 for told in headline.sentences)


@pytest.mark.parametrize("limited", [True, False])
def test_labels_that_would_be_markup_are_text(limited):
    text = artifact_text(ended(LABELS, limited=limited))
    found = tokens(text)
    kinds = {token.type for token in found}
    assert not kinds & {"html_block", "html_inline", "image", "code_inline", "fence", "code_block"}
    assert "link_open" not in kinds
    assert "x" * 100 not in "".join(line for line in text.splitlines() if line.startswith(("|", "#")))
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    widths = [{len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()} for rows in tables]
    assert widths == [{7}, *[{6}] * (len(LABELS) + limited)]  # the answer, what is limited, then a table a measure
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
    assert [t for t in tokens(artifact_text(one, [("2026-01-01", said)])) if t.content == "2026-01-01"]


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


def test_what_no_server_shows_is_a_path_and_a_command_and_no_link():
    one = ended(["income"])
    assert "link_open" not in {token.type for token in tokens(artifact_text(one))}
    assert "- Report, a file where the study ran: /w/reports/1/a b.html\n" in artifact_text(one)
    assert one.links.start == "synthrisk ui --open hard --workspace /w"
    assert "synthrisk ui" in artifact_text(one)


def test_what_a_server_shows_is_a_link_that_opens():
    one = ended(["income"], uri="https://mlflow.example/")
    opened = [t.attrGet("href") for t in tokens(artifact_text(one)) if t.type == "link_open"]
    assert opened == [
        "https://mlflow.example/#/experiments/1/runs/r1/artifacts/report.html?workflowType=machine_learning",
        "https://mlflow.example/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=id-1",
    ]
    assert "synthrisk ui" not in artifact_text(one)


def test_a_gate_ends_what_is_not_shown_to_be_kept_as_failed():
    one = ended(["income"])
    state = concluded(one.outcome, gate=True)
    assert (state.type.value, state.name, state.message) == ("FAILED", "RISK", concluded(one.outcome).message)
    with pytest.raises(GateError, match=r"^RISK: cart may not go out") as stopped:
        state.result()
    assert stopped.value.outcome is one.outcome
    assert pickle.loads(pickle.dumps(stopped.value)).outcome.result.study_id == "id-1"
    assert concluded(one.outcome).type.value == "COMPLETED"
    assert concluded(ended(["income"], limited=False).outcome, gate=True).name == "NOT JUDGED"
