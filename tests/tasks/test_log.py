import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

from samples.estimates import around
from synthrisk.metrics.intervals.epsilon import EpsilonBound
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.validity import check_release, summarise
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.workspace.references import store

INCOME = Measure("zero_cap", "zero_cap", "income")


def finding(name: str, role: str, value: float, measure=INCOME) -> Finding:
    risks = around(value, 0.1), around(0.3, 0.1), NOT_ESTIMABLE
    return Finding(name, role, measure, *risks, 0.5, release_risk=(value, np.nan))


def result(study_id="s-1", value=0.6, **parts) -> StudyResult:
    whole = StudyResult(
        study_id=study_id,
        name="people",
        findings=[finding("cart", "synthesizer", value), finding("copy", "reference", 0.9)],
        checks=[Check("copy", "all", "shows", np.bool_(True), "seen")],
        verdicts=[Verdict("cart", "risk/zero_cap.income", 0.5, "RISK", "above")],
        failures={"broken": "cell: KeyError in x.py"},
        facts={"data_digest": "d", "seed": "1"},
        settings={
            "cart": {"role": "synthesizer", "kind": "cart", "min_samples_leaf": "5"},
            "broken": {"role": "synthesizer", "kind": "callable"},
            "copy": {"role": "reference", "kind": "copy"},
        },
    )
    return replace(whole, **parts)


LOOKED_AT = summarise([check_release(*(pd.DataFrame({"x": np.arange(40.0) % k}) for k in (40, 40, 1)))])


def kept(client, run, name):
    return Path(client.download_artifacts(run.info.run_id, f"{name}.json")).read_text()


def tabled(client, run, name):
    return pd.DataFrame(**json.loads(kept(client, run, name)))


def study_run(logged, also=""):
    client = MlflowClient(logged.uri)
    (run,) = client.search_runs([logged.experiment_id], f"tags.role = 'study'{also}")
    return client, run


@pytest.fixture(scope="module")
def written(tmp_path_factory, logged_of):
    folder = tmp_path_factory.mktemp("log")
    table = store(pd.DataFrame({"age": [1, 2, 3], "income": pd.Categorical(["a", "b", "a"])}), folder)
    (folder / "report.html").write_text("<p>report</p>")
    logged = [
        logged_of(each, table, folder, str(folder / "report.html"))
        for each in (result(), result("s-2", 0.7, releases={"cart": LOOKED_AT}))
    ]
    return folder, logged


@pytest.fixture
def log(written, logged_of):
    folder, _ = written
    return lambda study, name, **columns: logged_of(
        study, store(pd.DataFrame({"age": [1, 2, 3]} | columns), folder), folder, experiment=name
    )


def test_runs_of_a_second_study_join_the_experiment_and_each_reads_back(written):
    folder, (one, two) = written
    assert one.experiment_id == two.experiment_id
    assert not set(one.runs.values()) & set(two.runs.values())
    client = MlflowClient(one.uri)
    cart = client.get_run(one.runs["cart"])
    own = {"synthesizer": "cart", "kind": "cart", "min_samples_leaf": "5"}
    assert cart.data.params == own | {"seed": "1", "table_digest": "d"}
    tags = {name: cart.data.tags[name] for name in ("kind", "verdict", "data_digest")}
    assert tags == {"kind": "cart", "verdict": "RISK", "data_digest": "d"}
    assert cart.data.metrics["risk/zero_cap.income"] == 0.6
    assert not any("lower" in key for key in cart.data.metrics)  # nothing is limited
    assert not any(k.startswith("memorization") for k in cart.data.metrics)  # not estimable is no number
    assert [m.step for m in client.get_metric_history(cart.info.run_id, "risk_release/zero_cap.income")] == [0]
    assert cart.info.artifact_uri.startswith((folder / "artifacts").as_uri())


def test_a_failed_run_says_why_and_what_the_releases_have_shown_is_a_tag_and_a_table(written):
    _, (one, two) = written
    broken = MlflowClient(one.uri).get_run(one.runs["broken"])
    told = broken.info.status, broken.data.tags["verdict"], broken.data.tags["failure"], broken.data.metrics
    assert told == ("FAILED", "FAILED", "cell: KeyError in x.py", {})
    client = MlflowClient(two.uri)
    words = "column 'x' is constant in the release, but not among the members"
    assert client.get_run(two.runs["cart"]).data.tags["release"] == words
    assert "release" not in client.get_run(two.runs["broken"]).data.tags
    table = tabled(*study_run(two, " and tags.study_id = 's-2'"), "releases")
    assert (table["invalid"].tolist(), table["rows_of_members"].tolist()) == ([words], [40.0])


def test_study_run_has_its_artifacts(written):
    _, (one, _) = written
    client, run = study_run(one, " and tags.study_id = 's-1'")
    due = {"study.yaml", "tables", "report.html"}
    due |= {f"{name}.json" for name in ("generators", "league", "release_values", "checks", "verdicts")}
    assert {f.path for f in client.list_artifacts(run.info.run_id)} == due
    assert json.loads(kept(client, run, "checks"))[0]["passed"] is True
    assert "NaN" not in kept(client, run, "league")


def test_scores_of_claims_are_an_artifact_with_as_many_columns_as_asked_for(log):
    told = {"attempts": 10.0, "claims": 8.0, "statistical_confidence": 0.5, "susceptibility": 1.0}
    told |= {"prior_knowledge": 1.0, "work": 2.0}
    found = [
        replace(
            finding("cart", "synthesizer", 0.6, Measure("inference", "inference", column)),
            details={name: (value, 0.0) for name, value in (told | {"correct": correct}).items()},
        )
        for column, correct in (("a", 8.0), ("b", 4.0), ("c", 6.0))
    ]
    rows = tabled(*study_run(log(replace(result(), findings=found, weakest=(2, None)), "claims")), "gda")
    who = rows[["synthesizer", "attack", "weakest", "columns"]].to_numpy().tolist()
    assert who == [["cart", "inference", 2, "a, c"], ["cart", "inference", "all", "a, c, b"]]
    assert rows["confidence_improvement"].tolist() == pytest.approx([0.75, 0.5])


def test_rates_that_are_limited_are_metrics_and_all_are_tables_beside_epsilon(log):
    few = replace(NOT_ESTIMABLE, note="fewer than 10000 control scores")
    tpr = {0.01: Estimate(0.03, 0.02, 0.04), 0.001: few}
    own = finding("cart", "synthesizer", 0.6, Measure("membership", "membership"))
    bound = EpsilonBound(1.25, 0.001, "flagged", 0.02)
    found = replace(result(), findings=[replace(own, tpr=tpr, epsilon=bound), finding("copy", "reference", 0.9)])
    logged = log(found, "members")
    client, run = study_run(logged)
    metrics = client.get_run(logged.runs["cart"]).data.metrics
    assert not any(k.startswith(("tpr", "epsilon")) for k in metrics)  # no limit is set on them
    rates, bounds = (tabled(client, run, name) for name in ("tpr", "epsilon"))
    assert rates[["false_positive_rate", "tpr_lower"]].fillna(-1).to_numpy().tolist() == [[0.01, 0.02], [0.001, -1]]
    assert rates["note"].fillna("").tolist() == ["", few.note]
    assert bounds[["synthesizer", "epsilon", "delta", "side"]].to_numpy().tolist() == [["cart", 1.25, 0.001, "flagged"]]
    own = finding("cart", "synthesizer", 0.6, Measure("membership", "membership"))
    limited = replace(own, tpr={0.01: Estimate(0.03, 0.02, 0.04)})
    study = replace(result(), findings=[limited], limits={"tpr/membership": Limit(0.1, "the board")})
    logged = log(study, "rates")
    assert MlflowClient(logged.uri).get_run(logged.runs["cart"]).data.metrics["tpr/membership"] == 0.03


def test_thresholds_on_odd_columns_are_written(log):
    names = ["a#b", "ü", "x=1", "it's", "a//b"]
    measures = [Measure("zero_cap", "zero_cap", name) for name in names]
    odd = result(
        "odd",
        findings=[finding("cart", "synthesizer", 0.6, measure) for measure in measures],
        verdicts=[Verdict("cart", f"risk/{measure.key}", 0.5, "RISK", "above") for measure in measures],
    )
    logged = log(odd, "odd", **{name: ["a", "b", "a"] for name in names})
    run = MlflowClient(logged.uri).get_run(logged.runs["cart"])
    assert len([k for k in run.data.metrics if k.startswith("risk/")]) == len(names)
    assert len([k for k in run.data.tags if k.startswith("verdict.")]) == len(names)
