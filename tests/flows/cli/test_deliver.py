"""Studies that are not logged yet: the verdict is told all the same, the command and the next study deliver them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from connections import free_port
from mlflow import MlflowClient

from synthrisk.tasks.tracking.store_outage import ids_waiting

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def judge(say, people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("deliver")
    people(120, seed=1).to_csv(folder / "real.csv", index=False)
    people(120, seed=2).to_csv(folder / "release.csv", index=False)
    roles = ("--quasi-identifiers", "age,city", "--sensitive", "income", "--metric", "zero_cap")
    rest = (*roles, "--references", "none", "--threshold", "risk/zero_cap=0.01", "--workspace", folder / "w")
    return folder, lambda *more: say("evaluate", folder / "real.csv", folder / "release.csv", *rest, *more)


@pytest.fixture(scope="module")
def offline(judge):
    folder, judged = judge
    (folder / "w").mkdir()
    (folder / "w" / "reports").touch()
    said = judged("--offline", "--tracking-uri", f"http://127.0.0.1:{free_port()}")
    return said, re.search(r"not logged yet: `synthrisk log (\S+) --workspace \S+`", said.out)[1]


def test_the_exit_code_is_the_verdicts_and_a_server_still_away_is_told_in_a_line(offline, judge, say):
    said, study_id = offline
    assert said.code == 1
    assert [each for each in ("RISK", f"synthrisk log {study_id}") if each not in said.out] == []
    assert re.search(r"Report +not written: \w+Error in ", said.out)
    assert "Traceback" not in said.err
    said = say("log", study_id, "--workspace", judge[0] / "w")
    assert (said.code, said.err.count("\n"), ids_waiting(judge[0] / "w")) == (4, 1, [study_id])
    assert said.err.startswith(f"Error: not logged yet: `synthrisk log {study_id}")
    said = say("log", "20200101-000000-aaaaaa", "--workspace", judge[0] / "w")
    assert (said.code, study_id in said.err) == (2, True)


def test_the_next_study_delivers_the_one_before_and_the_command_what_is_left(offline, judge, say):
    folder, judged = judge
    kept = judged("--offline")
    study_id = re.search(r"synthrisk log (\S+)", kept.out)[1]
    said = judged("--json", folder / "again.json")
    assert f"logged: study {study_id}, which an earlier run had left" in said.err
    assert f"study {offline[1]} is still not logged: not logged yet: `synthrisk log {offline[1]}" in said.err
    client = MlflowClient(f"sqlite:///{folder / 'w' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("evaluate").experiment_id
    (run,) = client.search_runs([experiment], "tags.role = 'study'")
    assert (run.data.tags["study_id"], run.info.status) == (study_id, "FINISHED")
    assert "checked_again" in run.data.tags
    assert json.loads((folder / "again.json").read_text())["study_id"] == study_id
    assert f"the same answer as study {study_id}: its runs in MLflow are marked as checked again" in said.err
    assert "the same answer" not in judged("--log-again").err
    assert len(client.search_runs([experiment], "tags.role = 'study'")) == 2
    another = re.search(r"synthrisk log (\S+)", judged("--offline").out)[1]
    delivered = say("log", another, "--workspace", folder / "w")
    assert (delivered.code, delivered.out.startswith(f"study {another} in sqlite:")) == (0, True)
    assert "the same answer as study " in delivered.out
    assert ids_waiting(folder / "w") == [offline[1]]


def test_a_benchmark_runs_in_the_workspace_that_its_command_names(judge, say, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    study = {
        "name": "small",
        "data": {"source": str(judge[0] / "real.csv"), "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
        "split": {"holdout": 0.5, "repetitions": 1}, "synthesizers": ["marginals"], "references": [],
        "metrics": ["zero_cap"], "population_yardstick": False, "exposure": False, "workspace": "of_the_study",
    }  # fmt: skip
    Path("small.yaml").write_text(yaml.safe_dump(study))
    asked = ("benchmark", "small.yaml", "--workspace", "mine")
    said = [say(*asked), say(*asked, "--json", "again.json"), say(*asked, "--log-again")]
    assert [each.code for each in said] == [0, 0, 0]
    assert ["the same answer as study" in each.err for each in said] == [False, True, False]
    assert (Path("mine", "mlflow.db").exists(), Path("of_the_study").exists()) == (True, False)
    client = MlflowClient(f"sqlite:///{tmp_path / 'mine' / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("small").experiment_id])
    assert len(runs) == 4
    (checked,) = {run.data.tags["study_id"] for run in runs if "checked_again" in run.data.tags}
    assert json.loads(Path("again.json").read_text())["study_id"] == checked
    given = runs[0].inputs.dataset_inputs[0].dataset
    assert (given.source_type, json.loads(given.source)) == ("local", {"uri": str(judge[0] / "real.csv")})
