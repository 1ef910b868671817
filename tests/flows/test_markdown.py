"""Markdown of the artifacts, read back by a parser: any text is shown as it is, in the cell that it was put in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from synthrisk.flows.orchestration.artifacts import plain, table

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
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
def test_any_text_stays_in_its_cell(text):
    found = shown(table(("a", "b"), [(plain(text), "end")], numbers=1))
    assert [each.translate(SPLIT) for each in found] == ["a", "b", spelled(text), "end"]


@given(MARKUP.filter(str.strip))
def test_any_text_is_a_paragraph(text):
    assert [each.translate(SPLIT) for each in shown(plain(text))] == [spelled(text)]


def test_a_bare_address_is_no_link():
    with_links = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    for text in ("http://evil.example", "www.evil.example", "me@evil.example"):
        assert text not in with_links.render(plain(text))
        assert plain(text).translate(SPLIT) == text


def test_a_long_text_loses_its_middle():
    assert plain("a" * 200 + "end", longest=20) == "a" * 10 + "…" + "a" * 6 + "end"
    assert len(plain("x" * 300, longest=80).translate(SPLIT)) == 80


def test_a_long_word_may_be_broken_and_a_path_may_be_copied():
    assert max(map(len, plain("x" * 300).split("\N{ZERO WIDTH SPACE}"))) == 60
    path = "file:" + "/folder" * 30
    assert plain(path) == path


def test_right_to_left_text_does_not_turn_what_follows():
    assert (plain("שלום"), plain("abc")) == ("\N{FIRST STRONG ISOLATE}שלום\N{POP DIRECTIONAL ISOLATE}", "abc")
    assert "\u202e" not in plain("a\u202eb")
