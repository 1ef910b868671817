"""The saved view on MLflow's true page, in Chromium: the format is MLflow's own and no document describes it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Page, browser, chromium
from synthrisk.tasks.tracking.addresses import run_link

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium"),
]

START = 240  # seconds, on a slow machine
CELLS = """[...document.querySelectorAll('.ag-center-cols-container .ag-row, .ag-pinned-left-cols-container .ag-row')]
  .flatMap(row => [...row.querySelectorAll('.ag-cell')].map(cell =>
    [Number(row.getAttribute('row-index')), cell.getAttribute('col-id'), cell.innerText.trim()]))"""
HEADS = """[...document.querySelectorAll('.ag-header-cell')]
  .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
  .map(head => head.getAttribute('col-id'))"""


@pytest.fixture(scope="module")
def server(kept, tmp_path_factory) -> Iterator[str]:
    """Run MLflow's server on the store of the studies, as ``synthrisk ui`` does; give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    folder = tmp_path_factory.mktemp("server")
    own = ["--backend-store-uri", kept.logged[0].uri, "--host", "127.0.0.1", "--port", port, "--workers", "1"]
    command = [sys.executable, "-m", "mlflow", "server", *own]
    environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "DO_NOT_TRACK": "true"}
    with (folder / "log.txt").open("w") as log:
        streams = {"stdout": log, "stderr": subprocess.STDOUT, "start_new_session": True}
        process = subprocess.Popen(command, cwd=folder, env=environment, **streams)
    try:
        wait_for(f"http://127.0.0.1:{port}", process, folder / "log.txt")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"MLflow's server ended or gave no answer in {START} s: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def page(server) -> Iterator[Page]:
    with browser(2600, 1000) as opened:
        yield opened


def shown(page: Page) -> list[dict[str, str]]:
    """Return the rows of the list of runs, from the top: texts by column."""
    rows: dict[int, dict[str, str]] = {}
    for row, column, text in page.ask(CELLS):
        rows.setdefault(row, {})[column] = text
    return [rows[row] for row in sorted(rows)]


def test_the_link_shows_the_runs_of_the_study_in_order_with_the_answer_as_columns(kept, server, page):
    page.open(kept.logged[0].view_link(server))
    page.wait_for(f"({CELLS}).length > 6 * 5")
    page.wait_until_still()
    rows = shown(page)
    dots = [row["attributes.`Run Name`"].partition(" · ")[0].split() for row in rows]  # colour and name
    assert all(dot == kept.run(name).data.tags["mlflow.runColor"] for dot, name in dots)
    names = [name for _, name in dots]
    assert names == ["copy", "near", "cart", "coarse", "fresh", "broken"]
    columns = ("tags.`verdict`", "metrics.`memorization/deciding`", "metrics.`utility/accuracy`")
    told = {name: tuple(row[column] for column in columns) for name, row in zip(names, rows, strict=True)}
    assert (told["cart"], told["coarse"]) == (("RISK", "0.3", "0.9"), ("NO EVIDENCE", "0.02", "0.85"))
    assert told["broken"] == ("FAILED", "-", "-")
    assert {row["tags.`role`"] for row in rows[:2]} == {"reference"}
    heads = [each for each in page.ask(HEADS) if each.startswith(("attributes", "tags", "metrics"))]
    assert heads == [
        "attributes.`Run Name`",
        *(f"tags.`{tag}`" for tag in ("verdict", "as_if", "worst", "utility", "why", "role")),
        *(
            f"metrics.`{name}`"
            for name in ("memorization/deciding", "memorization/zero_cap.income", "utility/accuracy")
        ),
    ]


def test_it_is_listed_by_name_and_the_note_says_the_answer(kept, server, page):
    page.open(kept.logged[1].view_link(server))
    page.wait_for_text(f"people {kept.studies[1].study_id}")
    page.wait_for_text(f"Latest study, people {kept.studies[1].study_id}: coarse RISK, ctgan NO EVIDENCE")


def test_the_charts_start_with_memorization_against_utility(kept, server, page):
    page.open(kept.logged[0].view_link(server, charts=True))
    page.wait_for_text("the answer\n(2)")
    page.wait_for("document.querySelectorAll('.scatterlayer .point').length >= 5")
    text = page.text()
    assert text.index("the answer\n(2)") < text.index("memorization\n(3)") < text.index("utility\n(1)")
    assert "risk\n(2)" in text
    assert "memorization/zero_cap.income\n(" not in text  # ends of intervals and limits are no charts
    titles = page.ask("[...document.querySelectorAll('.g-xtitle, .g-ytitle')].map(each => each.textContent)")
    assert {"utility/accuracy", "memorization/deciding"} <= set(titles)


def test_a_run_shows_its_verdict_table_and_links(kept, server, page):
    run = kept.run("coarse").info
    page.open(f"{server}/#/experiments/{kept.experiment}/runs/{run.run_id}?workflowType=machine_learning")
    page.wait_for_text("may go out under your limits")
    page.wait_for("document.querySelectorAll('table td').length > 6")
    links = page.ask("[...document.querySelectorAll('a')].map(each => each.href)")
    assert any(f"viewStateShareKey={kept.studies[0].study_id}" in each for each in links)
    page.ask("[...document.querySelectorAll('a')].find(each => each.textContent === 'all runs of this study').click()")
    page.wait_for(f"location.hash.includes('/experiments/{kept.experiment}/runs')")


def test_the_pages_ask_nobody_else(server, page):
    asked = [each for each in page.requests if each.startswith(("http:", "https:", "ws:", "wss:"))]
    assert asked
    assert not [each for each in asked if not each.startswith(server)]


PLACES = """(() => {
  const seen = document.querySelector('.ag-center-cols-viewport').getBoundingClientRect().right
  return [...document.querySelectorAll('.ag-header-cell')].map(head =>
    [head.getAttribute('col-id'), head.getBoundingClientRect().right <= Math.min(seen, innerWidth)])})()"""


def test_the_answer_fits_a_laptop_beside_mlflows_panel(kept, server, tmp_path):
    with browser(1280, 800) as small:
        small.open(kept.logged[0].view_link(server))
        small.wait_for(f"({CELLS}).length > 6 * 4")
        small.wait_until_still()
        small.picture(tmp_path / "runs.png")
        whole = [column for column, fits in small.ask(PLACES) if fits]
    assert {f"tags.`{tag}`" for tag in ("verdict", "as_if", "worst", "utility")} <= set(whole)


def test_the_decision_record_is_the_first_artifact_of_a_study(kept, server, page):
    run = kept.client.search_runs([kept.experiment], "tags.role = 'study'")[0].info.run_id
    page.open(run_link(server, kept.experiment, run, "1_record.html"))
    page.wait_for_text("study.yaml")
    page.wait_until_still()
    text = page.text()
    assert text.index("1_record.html") < text.index("checks.json") < text.index("study.yaml")
