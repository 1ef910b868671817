"""What docs show is what is tested, and their links lead somewhere; the site loads nothing from another host."""

import json
import re
import runpy
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from synthrisk.conf import load
from synthrisk.conf.study import Study
from synthrisk.metrics import METRICS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text("utf-8")
PLUGIN = ROOT / "tests" / "plugin"
FILES = [*PLUGIN.glob("acme_*.py"), *(p for end in ("py", "html") for p in PLUGIN.glob(f"acme_*/*.{end}"))]


@pytest.mark.parametrize("name", sorted(str(p.relative_to(PLUGIN)) for p in FILES))
def test_the_page_shows_the_package_as_it_stands(name):
    assert (PLUGIN / name).read_text("utf-8").strip() in PAGE


def test_the_page_shows_entry_points_and_study_as_they_stand_and_readme_is_short():
    entry_points = (ROOT / "tests" / "plugin" / "pyproject.toml").read_text("utf-8").partition("[project.entry")[2]
    assert entry_points.strip() in PAGE
    assert (ROOT / "tests" / "plugin" / "study.yaml").read_text("utf-8").strip() in PAGE
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


PATHS = [ROOT / "README.md", ROOT / "deployments" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in PATHS}


@pytest.mark.parametrize("name", TEXTS)
def test_links_to_files_lead_to_files(name):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", TEXTS[name])
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []


def test_links_to_the_glossary_lead_to_its_words_and_those_to_pages_have_texts():
    heads = re.findall(r"^## (.+)$", TEXTS["docs/glossary.md"], re.MULTILINE)
    words = {re.sub(r"[^a-z -]", "", head.lower()).replace(" ", "-") for head in heads}
    linked = {word for text in TEXTS.values() for word in re.findall(r"glossary\.md#([^)]+)\)", text)}
    assert set() < linked <= words
    assert {name for name, text in TEXTS.items() if re.search(r"\[[\w/.]+\.md\]\(", text)} == set()


TYPED = {
    "May I publish": {"README.md", "docs/first_study.md"}, "GDPR": {"docs/limits.md"},
    "NO EVIDENCE": {"docs/verdicts.md", "docs/glossary.md"}, "exit code": {"docs/vendor_ci.md"},
}  # fmt: skip


@pytest.mark.parametrize("words", TYPED)
def test_what_people_type_into_the_search_stands_in_a_heading(words):
    heads = {name: re.findall(r"^#+ (.+)$", text, re.MULTILINE) for name, text in TEXTS.items()}
    assert {name for name, own in heads.items() if any(words.lower() in head.lower() for head in own)} == TYPED[words]


def test_a_threshold_is_that_of_an_attack():
    said = r"no threshold|--threshold|under (?:these|the) thresholds|(?:set|crosses) (?:a|the|its) threshold\b"
    pages = [path for path in PATHS if path.name not in ("references.md", "paper.md", "speed.md")]
    pages += [*(ROOT / "tasks" / "pages").rglob("*.html")]
    assert [path for path in pages if re.search(said, path.read_text("utf-8"))] == []


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASKED = [Requirement(each) for each in PROJECT["dependencies"]]


def pinned(*names: str) -> dict[str, str]:
    lines = [line for name in names for line in (ROOT / f"{name}.txt").read_text("utf-8").splitlines()]
    return dict(line.lower().split("==") for line in lines if "==" in line)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name)
def test_the_lowest_versions_are_the_lowest_that_are_asked_for(asked):
    (lowest,) = [each.version for each in asked.specifier if each.operator == ">="]
    assert Version(pinned("constraints-lowest")[asked.name]) == Version(lowest)


@pytest.mark.parametrize("name", ["prefect", "mlflow", "pandas"])
def test_the_page_of_versions_says_what_is_tested(name):
    (row,) = [line for line in TEXTS["docs/compatibility.md"].splitlines() if line.startswith(f"| {name} |")]
    tested = pinned("constraints-lowest"), pinned("constraints", "constraints-newest")
    assert [cell.strip() for cell in row.split("|")[3:5]] == [each[name] for each in tested]


SHOWN = {
    "name": "shown", "data": {"source": "adult", "quasi_identifiers": ["age", "sex"], "sensitive": ["income"]},
    "synthesizers": ["cart"], "metrics": ["zero_cap"],
}  # fmt: skip


def test_settings_that_pages_show_are_settings_of_a_study():
    shown = []
    for name in TEXTS.keys() - {"docs/extend.md"}:  # whose generators are those of another package
        for block in re.findall(r"```yaml\n(.*?)```", TEXTS[name], re.DOTALL):
            own = yaml.safe_load(block)
            if set(own) <= {*Study.model_fields, "limits"}:
                load(SHOWN | own | {"data": SHOWN["data"] | own.get("data", {})})
                shown.append(name)
    assert {f"docs/{name}.md" for name in ("atlas", "limits", "machines", "metrics", "several_rows")} <= set(shown)


def test_a_file_of_the_docs_is_linked_by_its_title_but_not_in_code():
    pytest.importorskip("mkdocs")
    hook = runpy.run_path(str(ROOT / "docs" / "generate.py"))["on_page_markdown"]
    text = "| PrivEval: docs/priveval.md; `docs/priveval.md` [here](docs/priveval.md)"
    title = (ROOT / "docs" / "priveval.md").read_text().splitlines()[0].lstrip("# ")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="metrics.md"))
    told = f"| PrivEval: [{title}](priveval.md); `docs/priveval.md` [here](priveval.md)"
    assert hook(text, page=page) == told
    page.file.src_uri = "reference/metrics.md"
    assert f"PrivEval: [{title}](../priveval.md);" in hook(text, page=page)


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


@pytest.mark.proof
def test_no_page_loads_anything_from_another_host(site):
    example = '<script src="//cdn.example/x.js"></script><a href="https://a.example">a</a>'
    assert loaded(example) == ["//cdn.example/x.js"]
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    assert {str(page): found for page in pages if (found := loaded(page.read_text("utf-8")))} == {}
    outside = re.compile(r"(@import|url\()\s*[\"']?\s*(https?:)?//", re.IGNORECASE)
    for text in (*site.rglob("*.css"), *pages):
        assert not outside.search(text.read_text("utf-8")), text
    # the theme fetches these two only for a page that has a diagram, or a repository
    assert not any(re.search(r'class="mermaid"|data-md-component="source"', page.read_text("utf-8")) for page in pages)


@pytest.mark.proof
def test_words_are_found_by_the_search(site):
    found = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    assert any(each["location"] == "glossary.html#memorization" for each in found)
    assert {f"reference/metrics.html#{name}" for name in METRICS} <= {each["location"] for each in found}


@pytest.mark.proof
def test_the_reference_names_all_settings_and_commands_and_the_table_of_metrics_is_a_table(site):
    study = (site / "reference" / "study.html").read_text("utf-8")
    assert [key for key in Study.model_fields if f"<code>{key}</code>" not in study] == []
    commands = (site / "reference" / "command_line.html").read_text("utf-8")
    for name in ("benchmark", "evaluate", "init", "compare", "metrics"):
        assert f">synthrisk {name}<" in commands
    assert "epsilon_lower_bound" in (site / "reference" / "python.html").read_text("utf-8")
    assert "<td>zero_cap</td>" in (site / "metrics.html").read_text("utf-8")
