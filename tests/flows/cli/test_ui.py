"""``synthrisk ui``: one small server, whose address is said once it answers, and the pages of the latest study."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pandas as pd
import pytest
from connections import free_port
from waiting import until

from synthrisk.flows.cli import ui
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.workspace.references import store

pytestmark = pytest.mark.proof
NAME = "Köln's [bold] <b>study</b>"
FOUND = Estimate(0.5, 0.4, 0.6)
STUDY = StudyResult(
    "20260101-000000-aaaaaa", NAME,
    [Finding("cart", "synthesizer", Measure("zero_cap", "zero_cap", "a"), FOUND, FOUND, FOUND)], [], [],
    settings={"cart": {"role": "synthesizer", "kind": "cart"}},
)  # fmt: skip
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
from synthrisk.flows.cli.app import main
sys.argv[0] = "synthrisk"
main()
"""
BROWSER = """#!/bin/sh
echo "$1" >> opened.txt
"""


@pytest.fixture
def workspace(tmp_path, logged_of, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = store(pd.DataFrame({"a": [1, 2, 3]}), Path("work"))
    for name in ("20260101-000000-aaaaaa", "20260102-000000-bbbbbb"):
        page = Path(f"work/reports/{name}/report.html")
        page.parent.mkdir(parents=True)
        page.write_text("<html></html>")
        page.with_name("record.html").write_text("<p>record</p>")
        logged_of(replace(STUDY, study_id=name), table, Path("work"), str(page), log_again=True)
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    return tmp_path


def start(*given: object) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-c", COMMAND, *map(str, given), "--workspace", "work"], subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def ends_well(process: subprocess.Popen[str]) -> bool:
    said, wrong = process.communicate(timeout=120)
    assert process.returncode == 0, wrong
    assert "Traceback" not in said + wrong
    return own_processes(process.pid) == []


def own_processes(group: int) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            session = (place / "stat").read_text().rpartition(")")[2].split()[3]
            command = (place / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(session) == group and command:
            found.append(command)
    return found


def test_it_opens_the_latest_study_and_ends_cleanly(workspace, say):
    port = free_port()
    given = ("ui", "--open", NAME, "--port", port)
    process = start(*given)
    try:
        first, second, address = (process.stdout.readline() for _ in range(3))
        assert second.split() == ["record", "work/reports/20260102-000000-bbbbbb/record.html"]
        assert first.split() == ["report", "work/reports/20260102-000000-bbbbbb/report.html"]
        assert re.fullmatch(
            rf"MLflow  http://127\.0\.0\.1:{port}/#/experiments/\d+/runs\S+&viewStateShareKey=\S+\n", address
        )
        assert ("%" in address, len(address) <= 130) == (False, True)
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as answer:  # said only once it answers
            assert answer.status == 200
        opened = wait_for_lines(workspace / "opened.txt", 2)
        mine = [command for command in own_processes(process.pid) if "browser" not in command]
        assert len(mine) == 2, "the command, which is the server, and its one worker"
        assert opened[0] == (workspace / first.split()[1]).as_uri()
        assert opened[1].endswith("&viewStateShareKey=20260102-000000-bbbbbb")

        again = say(*given, "--workspace", "work")  # a second one finds the first
        assert (again.code, "runs already" in again.out) == (0, True)
        assert len(wait_for_lines(workspace / "opened.txt", 4)) == 4
        taken = say("ui", "--port", port, "--workspace", "work")
        assert (taken.code, taken.out, taken.err.count("\n")) == (2, "", 1)
    finally:
        os.kill(process.pid, signal.SIGINT)
    assert ends_well(process)


def wait_for_lines(path: Path, count: int) -> list[str]:
    return until(lambda: path.exists() and (lines := path.read_text().splitlines())[count - 1 :] and lines, seconds=10)


def test_a_name_that_is_none_gets_the_nearest(workspace, say):
    said = say("ui", "--open", "Köln's [bold] <b>studie</b>", "--workspace", "work")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: the experiment must be one of ")
    assert f"did you mean {NAME!r}?" in said.err


@pytest.mark.parametrize(("broken", "words"), [(True, "file is not a database"), (False, "gunicorn")])
def test_a_server_that_does_not_come_up_is_one_sentence_with_what_mlflow_said_of_it(
    workspace, monkeypatch, broken, words
):
    if broken:
        Path("work/mlflow.db").write_bytes(b"SQLite format 3\0" + b"broken" * 20)
    else:
        monkeypatch.setenv("MLFLOW_GUNICORN_OPTS", "--timeout 60")
    process = start("ui", "--port", free_port())
    said, wrong = process.communicate(timeout=120)
    assert (process.returncode, said) == (2, "")
    assert wrong.splitlines()[-1].startswith("Error: the MLflow server must answer at port ")
    assert words in wrong


def test_a_server_that_is_killed_is_told(workspace):
    process = start("ui", "--port", free_port())
    process.stdout.readline()  # it answers
    [worker] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(worker), signal.SIGKILL)
    _, wrong = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "must run until it is stopped" in wrong.splitlines()[-1]


@pytest.mark.parametrize("patience", [0.5, 3.0, 5.0])
def test_ctrl_c_ends_it_at_any_time(workspace, patience):
    process = start("ui", "--port", free_port())
    process.stderr.readline()  # MLflow starts
    time.sleep(patience)
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells the whole group
    assert ends_well(process)


def test_an_address_that_no_browser_opens_is_told_without_its_password(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    ui._open("https://steward:hunter2@tracking.example/#/experiments/1")
    err = capsys.readouterr().err
    assert "open https://" in err
    assert "hunter2" not in err


def test_the_decision_record_of_the_latest_study_is_named_copied_and_opened(workspace):
    latest = Path("work/reports/20260102-000000-bbbbbb")
    (latest / "record.html").unlink()
    process = start("record", STUDY.name)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert "the workspace must hold the decision record" in err
    (latest / "record.html").write_text("<p>record</p>")
    process = start("record", STUDY.name, "--to", "mine.html", "--open")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out.split()) == (0, ["record", "mine.html"]), err
    assert Path("mine.html").read_text() == "<p>record</p>"
    assert Path("opened.txt").read_text().strip() == Path("mine.html").absolute().as_uri()
