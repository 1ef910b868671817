"""The report as people see it: in Chromium, on a telephone, in the dark, on paper, and by a screen reader's rules.

It needs Chromium, and gets html5lib, pypdf (PyPI) and axe-core (npm) into a folder of its own.
"""

import importlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from functools import cache

import pytest

from browser import browser, chromium
from samples.reported import DISTANCE, PICTURE, RAPID, claiming, finding, study, usual
from samples.studies import report_of
from synthrisk.metrics.verdicts.results import Limit
from synthrisk.tasks.pages.record import record

pytestmark = [pytest.mark.services, pytest.mark.skipif(chromium() is None, reason="Chromium is not installed")]
AXE = "axe-core@4.14.1"
DEFINITION = "Howfaranattackgetsonmembers,asashare"
AWKWARD = ["<script>alert(1)</script>" + "y" * 270, "שלום עולם", "a" * 300]


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """Give a folder with html5lib and pypdf, importable for the time of these tests."""
    folder = tmp_path_factory.mktemp("tools")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*pip, "html5lib==1.1", "pypdf>=5,<7"], check=True)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


@pytest.fixture(scope="module")
def page():
    with browser(1200, 1500) as opened:
        yield opened


def pages():
    awkward = study([finding(n, m) for n in [*AWKWARD, "copy"] for m in (RAPID, DISTANCE)], name=AWKWARD[0])
    claims = [claiming(n, c, 150) for n in ("cart", "copy") for c in ("income", "race")]
    broken = {n: (0.3, 0.2) if n == "fresh" else v for n, v in PICTURE.items()}
    return {
        "usual": usual(),
        "awkward": awkward,
        "claims": study(claims, {}, facts={"columns": "200"}, quasi_identifiers=[f"column_{i}" for i in range(200)]),
        "invalid": study([finding(n, RAPID, *v) for n, v in broken.items()]),
        "failed": study([], failures={"a": "MemoryError"}),
        "wide": study([replace(finding("cart", replace(RAPID, label="m" * 200)), warning="w" * 300)]),
        "many limits": many_limits(),
    }


def many_limits():
    """Return a study of two generators with long names, whose 14 limits were set by several people."""
    measures = [replace(RAPID, label=f"a_measure_with_a_long_name_{i}") for i in range(7)]
    names = [f"{who}-fitted-on-the-whole-table-in-november-2026" for who in ("vendor-a", "vendor-b")]
    every = [(f"{what}/{m.label}.income", i) for i, m in enumerate(measures) for what in ("memorization", "risk")]
    limits = {name: Limit(0.05 + i / 1000, f"the disclosure board of region {i}") for name, i in every}
    columns = [f"quasi_identifier_{i}" for i in range(9)]
    digest, versions = "8940a7bede9244d5", "numpy 2.4.6, pandas 2.3.3, scikit-learn 1.9.1, scipy 1.17.1, mlflow 3.17.2"
    facts = {"records": "6000", "columns": "15", "data_digest": digest, "split_digest": digest, "seed": "1"}
    facts |= {"data": "patients_of_three_hospitals_2019_to_2025.csv", "repetitions": "3", "releases": "15"}
    facts |= {"release_keys": f"{names[0]} {digest}, {names[1]} {digest}", "interval": "moderated, 0.9"}
    facts |= {"versions": versions, "methods": "2", "started": "2026-11-27T13:24:20+00:00"}
    copies = [finding(n, m, *PICTURE[n]) for n in ("copy", "near_copy") for m in measures]
    found = [finding(n, m, 0.45, 0.04 + i / 200) for n in names for i, m in enumerate(measures)]
    return study([*found, *copies], limits, facts=facts, quasi_identifiers=columns, sensitive=["income"])


@cache
def html(name: str) -> str:
    """Return a report; half a second to make, and ten tests look at each."""
    return report_of(pages()[name], "name: " + "x" * 400)


def opened(page, path, text, fragment=""):
    path.write_text(text, "utf-8")
    page.open(path.as_uri() + fragment)
    page.wait_for("document.readyState == 'complete' && location.protocol == 'file:'")
    return path


@pytest.fixture(params=pages())
def shown(request, tmp_path, page):
    """Give the path of a report that the browser has opened."""
    page.look()
    page.resize(1200, 1500)
    return opened(page, tmp_path / "report.html", html(request.param))


@pytest.fixture
def printed(page, tools, tmp_path):
    """Give a function that prints what is open and returns the texts of its pages."""

    def printed():
        read = importlib.import_module("pypdf").PdfReader(page.print(tmp_path / "printed.pdf")).pages
        return [" ".join(each.extract_text().split()) for each in read]

    return printed


def squeezed(texts):
    return "".join("".join(texts).split())


def unfold(page):
    page.ask("document.querySelectorAll('details').forEach(each => each.open = true)")


def test_the_html_is_valid(shown, tools):
    parser = importlib.import_module("html5lib").HTMLParser(strict=False)
    parser.parse(shown.read_text("utf-8"))
    assert parser.errors == []


@pytest.mark.parametrize("width", [390, 768])
def test_nothing_is_lost_off_a_narrow_screen(shown, page, width):
    page.resize(width, 844, mobile=width < 500)
    unfold(page)
    assert page.ask("document.documentElement.scrollWidth") == width
    lost = """[...document.querySelectorAll("body *")].filter(each => !each.closest(".scroll, svg, pre")
        && each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 200))"""
    assert page.ask(lost) == []
    boxes = "[...document.querySelectorAll('.scroll')].every(each => getComputedStyle(each).overflowX == 'auto')"
    assert page.ask(boxes)


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_fault(shown, page, axe, dark):
    page.look(dark=dark)
    unfold(page)
    page.ask(axe + "; 0")
    faults = "found.violations.map(each => [each.id, each.impact, each.nodes[0].html])"
    told = json.loads(page.ask(f"axe.run().then(found => JSON.stringify({faults}))"))
    assert told == []


def test_what_is_printed_is_the_record_unless_more_is_asked_for(shown, page, printed):
    record_alone = printed()
    assert len(record_alone) <= 2
    assert "Datesignature" in squeezed(record_alone).replace(",", "")
    assert DEFINITION not in squeezed(record_alone)
    page.ask("document.querySelector('#definitions').closest('details').open = true")
    chapter = squeezed(printed())
    assert DEFINITION in chapter
    assert "x" * 60 not in chapter  # the provenance stays closed
    assert "Datesignature" not in chapter.replace(",", "")


def test_all_is_printed_where_all_is_asked_for_with_page_numbers_and_the_study(shown, page, printed):
    page.ask("document.querySelector('#print-all').checked = true")
    texts = printed()
    for i, text in enumerate(texts):
        assert f"page {i + 1} of {len(texts)}" in text
        assert "study s-1" in text
    assert DEFINITION in squeezed(texts)  # folded
    assert "x" * 60 in squeezed(texts)  # the settings, folded within a fold


def test_a_printed_page_neither_holds_the_title_alone_nor_parts_what_belongs_together(page, printed, tmp_path):
    measures = [replace(RAPID, label=f"m{i}") for i in range(9)]
    details = {"accuracy": (0.625, 0.5)}
    found = [replace(finding(n, m, *v), details=details) for n, v in PICTURE.items() for m in measures]
    limits = {f"memorization/m{i}.income": Limit(0.05, "") for i in range(9)}
    opened(page, tmp_path / "report.html", report_of(study(found, limits)))
    page.ask("document.querySelector('#print-all').checked = true")
    texts = printed()
    assert "RISK" in texts[0]
    row = "accuracy 0.625 (control 0.500)"
    assert sum(text.count(row) for text in texts) == len(found)
    for text in texts:
        before = re.split(r"verdict ", text.partition(row)[0])[-1]
        assert row not in text or re.search(r"\b(cart|coarse|copy|near_copy|leaky|fresh|marginals)\b", before), before


@pytest.mark.parametrize("name", pages())
def test_the_decision_record_is_two_printed_pages_at_most(name, page, printed, tmp_path):
    opened(page, tmp_path / "record.html", record(pages()[name]))
    assert len(printed()) <= 2


def test_a_line_of_the_contents_opens_what_is_folded(tmp_path, page):
    opened(page, tmp_path / "report.html", report_of(usual()), "#numbers")
    page.wait_for("document.querySelector('#numbers').closest('details').open")


def test_the_page_asks_for_nothing(shown, page):
    asked = [each for each in page.requests if not each.startswith(("file:", "about:", "data:"))]
    assert asked == []
