"""MLflow's evaluator: the numbers of ``evaluate`` in a run that somebody else has begun, on which MLflow can gate."""

import json
from importlib.metadata import entry_points
from pathlib import Path

import mlflow
import pytest
from mlflow import MlflowClient
from mlflow.models import MetricThreshold
from mlflow.models.evaluation.validation import ModelValidationFailedException

from synthrisk.flows.cli.evaluator import Evaluator
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.store import opened

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own, of all that it imports for an evaluation
ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": "income"}
UPPER = "memorization/zero_cap.income/upper"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    opened(f"sqlite:///{tmp_path / 'mine.db'}")  # sooner than MLflow makes its tables
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mine.db'}")
    mlflow.set_experiment("theirs")
    yield mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(before)


def judged(release, **config):
    with mlflow.start_run() as run:
        found = mlflow.models.evaluate(
            data=release, model_type="synthetic table", evaluators="synthrisk", evaluator_config=config
        )
    return run.info.run_id, found


def test_mlflow_finds_it_by_its_entry_point():
    (point,) = entry_points(group="mlflow.model_evaluator", name="synthrisk")
    assert point.load() is Evaluator
    assert Evaluator().can_evaluate(model_type=None, evaluator_config={"real": "real.csv"})
    assert not Evaluator().can_evaluate(model_type="classifier", evaluator_config={})


def test_a_release_is_judged_in_the_active_run_and_mlflow_can_gate_on_it(store, people, say, secret):
    real, control, copy = people(120, 1), people(120, 2), people(120, 1)
    config = {"real": real, "control": control, **ROLES, "limit": 0.05, "metrics": ["zero_cap"]}
    run_id, found = judged(copy, **config)
    client = MlflowClient(store)
    run = client.get_run(run_id)
    assert (run.data.tags["verdict"], run.info.status) == ("RISK", "FINISHED")
    assert found.metrics["memorization/zero_cap.income"] == run.data.metrics["memorization/zero_cap.income"] > 0.2
    names = {each.path for each in client.list_artifacts(run_id)}
    tables = {f"{name}.json" for name in ("measures", "limits", "verdicts", "checks", "league", "intervals")}
    assert tables | {"1_record.html", "report.html", "records", "study.yaml", "contributions.parquet"} <= names
    sources = {each.dataset.name: json.loads(each.dataset.source) for each in run.inputs.dataset_inputs}
    given = [sources[name]["tags"]["mlflow.source.name"] for name in ("real", "release")]
    assert [*given, run.data.params["path"]] == ["a data frame"] * 3
    assert ".given-" not in Path(client.download_artifacts(run_id, "study.yaml")).read_text("utf-8")
    assert secret not in Path(client.download_artifacts(run_id, "report.html")).read_text("utf-8")
    gate = {UPPER: MetricThreshold(threshold=0.05, greater_is_better=False)}
    with pytest.raises(ModelValidationFailedException):
        mlflow.validate_evaluation_results(gate, found)
    assert len(client.search_runs([run.info.experiment_id])) == 1  # no run of its own
    for name, table in {"real": real, "control": control, "copy": copy}.items():
        table.to_csv(f"{name}.csv", index=False)
    asked = ("--metric", "zero_cap", "--limit", 0.05, "--json", "said.json", "--offline", "--references", "none")
    roles = ("--quasi-identifiers", "age,city", "--sensitive", "income", "--workspace", "other")
    assert say("evaluate", "real.csv", "copy.csv", "--control", "control.csv", *asked, *roles).code == 1
    told = json.loads(Path("said.json").read_text("utf-8"))
    (same,) = [f for f in told["findings"] if f["synthesizer"] == "release" and f["measure"] == "zero_cap.income"]
    assert same["memorization"] == found.metrics["memorization/zero_cap.income"]


@pytest.mark.parametrize(("config", "sentence"), [
    ({"real": "real.csv", "controls": "c.csv"}, "evaluator_config takes real, control, .*got 'controls'"),
    ({"real": 3}, "real must be a path or a data frame, got int"), ({"real": "none.csv", **ROLES}, "none.csv"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(store, people, config, sentence):
    with pytest.raises(InputError, match=sentence):
        judged(people(50), **config)
