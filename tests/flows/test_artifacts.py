"""Prefect's artifacts of studies made by hand: keys, texts that would be markup, 60 synthesizers, many measures."""

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from samples.estimates import around
from synthrisk.flows.orchestration.artifacts import (
    Ended,
    artifact_description,
    artifact_text,
    key_of_name,
    plain,
    table,
)
from synthrisk.flows.outcome import GateError, Outcome, concluded
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import judge
from synthrisk.tasks.tracking.addresses import Logged, Pages

ALIKE = [
    "a_b", "a-b", "a--b", "A-b", "a_b-", "-a_b", "a b", "ä-b", "日本", "日-本", "", "-", "_", "a-x12345678", "x" * 61
]  # fmt: skip


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9_\-]{0,9}", fullmatch=True))
def test_a_key_holds_what_prefect_takes(name):
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", key_of_name(name))


@given(st.lists(st.from_regex(r"[aA0_\-]{0,5}", fullmatch=True), unique=True))
def test_names_that_look_alike_have_keys_of_their_own(names):
    assert len({key_of_name(name) for name in names}) == len(names)


def test_a_name_that_is_the_key_of_another_gets_a_key_of_its_own():
    keys = [key_of_name(name) for name in ALIKE]
    every = [*ALIKE, *(key for key in keys if key not in ALIKE)]
    assert len({key_of_name(name) for name in every}) == len(every)
    assert key_of_name("q3-2026") == "q3-2026"


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PARSER.validateLink = lambda url: True  # ours lead to a file
SPLIT = str.maketrans("", "", "\N{ZERO WIDTH SPACE}\N{WORD JOINER}\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}")
AWKWARD = [
    "<script>alert(1)</script>", "a|b||c", "`code` ``more`` ```fence", "\\| \\\\| \\",
    "[x](http://evil.example) ![y](z)", "**bold** _under_ ~~gone~~ # head", "&lt;b&gt; &#124; &copy;", "- item",
    "1. item", "12) item", "--- ", "=====", "a\nb\r\n\n# c\u2028d", "שלום (0.5) \u202egnp.exe", "'single' \"double\"",
    "x" * 300,
]  # fmt: skip
MARKUP = st.text(st.sampled_from("ab1 \\|`*_[]()<>&#~!-+=.:/@\n;"), max_size=30)


def shown(markdown: str) -> list[str]:
    texts = []
    for token in PARSER.parse(markdown):
        assert token.type not in ("html_block", "fence", "code_block", "hr", "blockquote_open"), token
        if token.type == "inline":
            assert {child.type for child in token.children or []} <= {"text", "text_special"}, token.children
            texts.append("".join(child.content for child in token.children or []))
    return texts


def spelled(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c)[0] != "C")


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_read_as_they_are_in_cells_items_and_headings(text):
    written = plain(text)
    page = f"# {written}\n\n- {written}\n\n{table(('a', 'b'), [(written, 'end')])}\n"
    assert [each.translate(SPLIT) for each in shown(page)] == [spelled(text)] * 2 + ["a", "b", spelled(text), "end"]


@given(MARKUP.filter(str.strip))
def test_any_text_stays_in_its_cell_and_is_a_paragraph(text):
    found = shown(table(("a", "b"), [(plain(text), "end")], numbers=1))
    assert [each.translate(SPLIT) for each in found] == ["a", "b", spelled(text), "end"]
    assert [each.translate(SPLIT) for each in shown(plain(text))] == [spelled(text)]


def test_a_bare_address_is_no_link_and_right_to_left_text_does_not_turn_what_follows():
    with_links = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    for text in ("http://evil.example", "www.evil.example", "me@evil.example"):
        assert text not in with_links.render(plain(text))
        assert plain(text).translate(SPLIT) == text
    assert (plain("שלום"), plain("abc")) == ("\N{FIRST STRONG ISOLATE}שלום\N{POP DIRECTIONAL ISOLATE}", "abc")
    assert "\u202e" not in plain("a\u202eb")


def test_a_long_text_loses_its_middle_a_long_word_may_be_broken_and_a_path_copied():
    assert plain("a" * 200 + "end", longest=20) == "a" * 10 + "…" + "a" * 6 + "end"
    assert len(plain("x" * 300, longest=80).translate(SPLIT)) == 80
    assert max(map(len, plain("x" * 300).split("\N{ZERO WIDTH SPACE}"))) == 60
    path = "file:" + "/folder" * 30
    assert plain(path) == path


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
    logged = Logged(uri, "1", "id-1", {}, Pages(report), experiment="hard", workspace="/w", run="r1")
    return Ended(Outcome(result, logged), "study", "hard", "study hard")


def tokens(text: str) -> list:
    return [each for token in PARSER.parse(text) for each in (token, *(token.children or []))]


def test_each_limit_has_its_sentence_and_of_many_measures_the_rest_are_counted():
    one = ended(["income", "illness", "job"])
    (headline,) = one.answer.synthesizers
    text = artifact_text(one)
    assert len(headline.sentences) == 3
    assert all(text.count(plain(told)) == 1 for told in headline.sentences)
    text = artifact_text(ended([f"column{i}" for i in range(30)]))
    assert text.count("\n### ") == 12
    assert "18 more measures are in the report." in text
    assert "and 24 more" in text  # limits of one owner


@pytest.mark.parametrize("limited", [True, False])
def test_labels_that_would_be_markup_are_text(limited):
    text = artifact_text(ended(LABELS, limited=limited))
    kinds = {token.type for token in tokens(text)}
    assert not kinds & {"html_block", "html_inline", "image", "code_inline", "fence", "code_block", "link_open"}
    assert "x" * 100 not in "".join(line for line in text.splitlines() if line.startswith(("|", "#")))
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    widths = [{len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()} for rows in tables]
    assert widths == [{7}, *[{6}] * (len(LABELS) + limited)]  # the answer, what is limited, then a table a measure
    assert [mark for mark in ("\u202e", "\u202d") if mark in text] == []


def test_sixty_synthesizers_are_all_there_and_the_state_and_a_line_name_the_first():
    names = [f"generator_{i}" for i in range(60)]
    one = ended(["income"], names)
    text = artifact_text(one)
    rows = [line for line in text.splitlines() if re.match(r"\| generator\\_\d+ \| \*\*RISK\*\*", line)]
    assert len(rows) == 60
    assert len(text) < 60_000
    message = concluded(one.outcome).message
    assert message.startswith("RISK: generator_0 may not go out: Who knows income guesses income of 30 more people")
    assert re.search(r"\(at least \d+, limit 10\)\. The artifact of this run names \d+ more\.$", message)
    one = ended(LABELS, names)
    said = artifact_description(one)
    assert said.startswith("study hard: RISK (generator\\_0 RISK +0.300, ")
    assert said.endswith("generator\\_5 RISK +0.300 and 54 more)")
    assert [t for t in tokens(artifact_text(one, [("2026-01-01", said)])) if t.content == "2026-01-01"]


def test_what_failed_or_misbehaved_is_said_before_any_number():
    failed = ended(["income"], failures={"ctgan": "ValueError in fit.py"}, warning="control | members")
    text = artifact_text(failed)
    for told in ("**Not run to the end:** ctgan", "**Mind:** control \\| members"):
        assert text.index(told) < text.index("| synthesizer |")


def test_what_a_server_shows_is_a_link_and_else_a_path_and_a_command():
    one = ended(["income"])
    assert "link_open" not in {token.type for token in tokens(artifact_text(one))}
    assert "- Report, a file where the study ran: /w/reports/1/a b.html\n" in artifact_text(one)
    assert one.links.start == "synthrisk ui --open hard --workspace /w"
    assert "synthrisk ui" in artifact_text(one)
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
