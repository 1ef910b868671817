"""The site of the docs: built strictly, with a search, without a request to another host."""

import json
import re
from html.parser import HTMLParser

import pytest

from synthrisk.conf.study import Study
from synthrisk.metrics import METRICS

pytestmark = pytest.mark.proof
ELSEWHERE = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)


class Loaded(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster", "action") or (name == "href" and tag != "a"):
                self.addresses.append(value or "")


def loaded(page: str) -> list[str]:
    parser = Loaded()
    parser.feed(page)
    return [each for each in parser.addresses if ELSEWHERE.match(each)]


def test_no_page_loads_anything_from_another_host(site):
    assert loaded('<script src="//cdn.example/x.js"></script><a href="https://a.example">a</a>') == [
        "//cdn.example/x.js"
    ]
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    assert {str(page): found for page in pages if (found := loaded(page.read_text("utf-8")))} == {}
    outside = re.compile(r"(@import|url\()\s*[\"']?\s*(https?:)?//", re.IGNORECASE)
    for text in (*site.rglob("*.css"), *pages):
        assert not outside.search(text.read_text("utf-8")), text
    # the theme fetches these two only for a page that has a diagram, or a repository
    assert not any(re.search(r'class="mermaid"|data-md-component="source"', page.read_text("utf-8")) for page in pages)


def test_words_are_found_by_the_search(site):
    found = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    assert any(each["location"] == "glossary.html#memorization" for each in found)
    assert {f"reference/metrics.html#{name}" for name in METRICS} <= {each["location"] for each in found}


def test_the_reference_names_all_settings_and_commands(site):
    study = (site / "reference" / "study.html").read_text("utf-8")
    assert [key for key in Study.model_fields if f"<code>{key}</code>" not in study] == []
    commands = (site / "reference" / "command_line.html").read_text("utf-8")
    for name in ("benchmark", "evaluate", "init", "compare", "metrics"):
        assert f">synthrisk {name}<" in commands
    assert "epsilon_lower_bound" in (site / "reference" / "python.html").read_text("utf-8")


def test_the_table_of_metrics_is_a_table(site):
    assert "<td>zero_cap</td>" in (site / "metrics.html").read_text("utf-8")
