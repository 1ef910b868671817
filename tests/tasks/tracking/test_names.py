import getpass
import subprocess
import sys
from uuid import uuid4

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow import MlflowClient
from mlflow.utils.validation import _validate_metric_name

from samples.judged import judged_study, of_these
from synthrisk.tasks.tracking import names as module
from synthrisk.tasks.tracking.names import commit_of, metric_key, origin
from synthrisk.tasks.tracking.store_outage import keep_waiting, read_waiting
from synthrisk.tasks.workspace.references import store

ODD = ["größe", 'the "x"', "a#b", "a\nb", "[x]", "😀", "50%", "a,b", "it's", "x=y", "a\\b"]
PATHS = ["a/../b", "a//b", "/", "../x", "a/", "."]


@pytest.mark.parametrize("name", [*ODD, *PATHS, "x" * 400])
def test_odd_characters_paths_and_long_names_become_what_mlflow_takes(name):
    key = metric_key("risk", f"rapid.{name}")
    _validate_metric_name(key)
    _validate_metric_name(metric_key("memorization_lower", f"rapid.{name}"))
    assert metric_key("memorization_lower", "rapid.income") == "memorization_lower/rapid.income"
    if name in ODD:
        assert key.startswith("risk/rapid.")
        assert key.isascii()


@given(st.text(min_size=1, max_size=40))
def test_every_column_name_gives_a_key_that_mlflow_takes(name):
    _validate_metric_name(metric_key("risk", f"rapid.{name}"))


LONG = ["x" * 300 + str(n) for n in range(200)]


@pytest.mark.parametrize(
    "names", [LONG, list(map(chr, range(0x4E00, 0x4E00 + 2000))), ("ä", "ö"), ("a#", "a%"), ("größe", "gräße")]
)
def test_columns_apart_have_keys_apart_that_mlflow_takes(names):
    keys = [metric_key("memorization_lower", f"rapid.{name}") for name in names]
    assert len(set(keys)) == len(names)
    for key in keys:
        _validate_metric_name(key)


@pytest.fixture
def repository(tmp_path):
    """A folder under git with one commit; give the folder and the commit."""
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    script = folder / "deep" / "nightly.py"
    script.write_text("pass\n")
    git = ["git", "-C", str(folder), "-c", "user.name=me", "-c", "user.email=me@example.org"]
    for asked in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *asked], check=True)
    told = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return script, told.stdout.strip()


def test_the_user_and_the_command_are_named_but_not_its_arguments(monkeypatch, tmp_path, repository):
    script, commit = repository
    monkeypatch.setattr(sys, "argv", ["/venv/bin/synthrisk", "evaluate", "--tracking-uri", "http://me:secret@host"])
    monkeypatch.chdir(tmp_path)
    told = {name: text for name, text in origin().items() if name.startswith("mlflow.")}
    source = {"mlflow.source.name": "synthrisk evaluate", "mlflow.source.type": "LOCAL"}
    assert told == {"mlflow.user": getpass.getuser(), **source}
    monkeypatch.chdir(script.parent)
    assert origin()["mlflow.source.git.commit"] == commit
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.chdir(tmp_path)
    told = origin()  # of a script the commit is that of its own folder
    assert (told["mlflow.source.name"], told["mlflow.source.git.commit"]) == (str(script), commit)


def test_without_git_or_a_repository_there_is_no_commit(monkeypatch, tmp_path):
    assert commit_of(tmp_path) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) == ""


def test_runs_bear_it_and_link_back_to_the_flow_run(monkeypatch, tmp_path, logged_of):
    run_id, page = str(uuid4()), "http://prefect/runs/flow-run/1"
    told = {module.FLOW_RUN: run_id, module.FLOW_RUN_PAGE: page, "name": "benchmark people"}
    monkeypatch.setattr(module, "_flow_run", lambda: told)
    monkeypatch.setattr(sys, "argv", ["/venv/prefect/flow_engine.py"])
    logged = logged_of(
        of_these(judged_study(), "cart", "broken"), store(pd.DataFrame({"age": [1]}), tmp_path), tmp_path
    )
    runs = MlflowClient(logged.uri).search_runs([logged.experiment_id])
    assert len(runs) == len(logged.runs) + 1
    for run in runs:
        tags = run.data.tags
        assert (tags["prefect_flow_run_id"], tags["prefect_flow_run_url"]) == (run_id, page)
        assert (tags["mlflow.source.name"], tags["mlflow.source.type"]) == ("benchmark people", "JOB")
        assert run.info.user_id == getpass.getuser()
        assert f"]({page})" in tags["mlflow.note.content"]


def test_a_study_that_waits_keeps_who_ran_it(monkeypatch, tmp_path, logged_of):
    monkeypatch.setattr(sys.modules["synthrisk.tasks.log"], "origin", lambda: {"mlflow.user": "somebody"})
    study = judged_study()
    logged_of(study, store(pd.DataFrame({"age": [1]}), tmp_path), tmp_path, offline=True)
    waiting = read_waiting(tmp_path, study.study_id)
    assert waiting.origin == {"mlflow.user": "somebody"}
    keep_waiting(waiting)
    assert read_waiting(tmp_path, study.study_id).origin == waiting.origin
