import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

from samples.estimates import around
from samples.judged import judged_study, of_these
from synthrisk.metrics.intervals.epsilon import EpsilonBound
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.validity import check_release, summarise
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, overview
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.tracking.names import params_of
from synthrisk.tasks.tracking.numbers import numbers_of
from synthrisk.tasks.workspace.references import store

INCOME, MEMBERSHIP = Measure("zero_cap", "zero_cap", "income"), Measure("membership", "membership")


def finding(measure=INCOME, **others):
    made = Finding("cart", "synthesizer", measure, around(0.6, 0.1), around(0.3, 0.1), NOT_ESTIMABLE, 0.5)
    return replace(made, **others)


def kept_as(client, run, name):
    return Path(client.download_artifacts(run.info.run_id, f"{name}.json")).read_text()


@pytest.fixture
def log(kept, logged_of):
    """Give a function that logs a study of cart in an experiment of its own, and returns what reads it back."""

    def log(name, **parts):
        study = replace(of_these(judged_study(limits={}), "cart"), **parts)
        columns = [f.measure.sensitive for f in study.findings if f.measure.sensitive]
        table = store(pd.DataFrame({"age": [1, 2, 3]} | {name: ["a", "b", "a"] for name in columns}), kept.folder)
        logged = logged_of(study, table, kept.folder, experiment=name)
        client = MlflowClient(logged.uri)
        (run,) = client.search_runs([logged.experiment_id], "tags.role = 'study'")
        return client.get_run(logged.runs["cart"]).data, lambda name: json.loads(kept_as(client, run, name))

    return log


def test_runs_of_a_second_study_join_the_experiment_and_each_reads_back(kept):
    one, two = kept.logged
    assert one.experiment_id == two.experiment_id
    assert not set(one.runs.values()) & set(two.runs.values())
    cart = kept.run("cart")
    assert cart.data.params == params_of(kept.studies[0], "cart")
    tags = {name: cart.data.tags[name] for name in ("kind", "verdict", "data_digest")}
    assert tags == {"kind": "cart", "verdict": "RISK", "data_digest": "d" * 16}
    assert [m.step for m in kept.client.get_metric_history(one.runs["cart"], "risk_release/zero_cap.income")] == [0, 1]
    assert cart.info.artifact_uri.startswith((kept.folder / "artifacts").as_uri())


def test_what_is_not_estimable_is_no_number():
    study = judged_study(limits={}, findings=[finding(release_risk=(0.6, np.nan))])
    numbers = numbers_of(study, overview(study), "cart")
    assert not any(each.key.startswith("memorization") for each in numbers)
    assert [each.step for each in numbers if each.key == "risk_release/zero_cap.income"] == [0]


def test_a_failed_run_says_why_and_what_the_releases_have_shown_is_a_tag_and_a_table(kept, log):
    broken = kept.run("broken")
    told = broken.info.status, broken.data.tags["verdict"], broken.data.tags["failure"], broken.data.metrics
    assert told == ("FAILED", "FAILED", "cell: KeyError in x.py", {})
    assert "release" not in broken.data.tags
    looked_at = summarise([check_release(*(pd.DataFrame({"x": np.arange(40.0) % k}) for k in (40, 40, 1)))])
    check = Check("copy", "all", "shows", np.bool_(True), "seen")
    cart, read = log("releases", releases={"cart": looked_at}, checks=[check])
    words = "column 'x' is constant in the release, but not among the members"
    assert cart.tags["release"] == words
    table = pd.DataFrame(**read("releases"))
    assert (table["invalid"].tolist(), table["rows_of_members"].tolist()) == ([words], [40.0])
    assert read("checks")[0]["passed"] is True


def test_study_run_has_its_artifacts_the_decision_record_first(kept):
    run = kept.run("study")
    due = {"study.yaml", "tables", "report.html", "1_record.html"}
    due |= {
        f"{name}.json" for name in ("generators", "league", "release_values", "checks", "verdicts", "utility", "limits")
    }
    places = [f.path for f in kept.client.list_artifacts(run.info.run_id)]
    assert set(places) == due
    assert places[0] == min(places, key=str.casefold) == "1_record.html"
    assert "NaN" not in kept_as(kept.client, run, "league")


def test_scores_of_claims_are_an_artifact_with_as_many_columns_as_asked_for(log):
    told = {"attempts": 10.0, "claims": 8.0, "statistical_confidence": 0.5, "susceptibility": 1.0}
    told |= {"prior_knowledge": 1.0, "work": 2.0}
    found = [
        finding(Measure("inference", "inference", c), details={n: (v, 0.0) for n, v in (told | {"correct": k}).items()})
        for c, k in (("a", 8.0), ("b", 4.0), ("c", 6.0))
    ]
    _, read = log("claims", findings=found, weakest=(2, None), facts={"data_digest": "d", "columns": "3"})
    rows = pd.DataFrame(**read("gda"))
    who = rows[["synthesizer", "attack", "weakest", "columns"]].to_numpy().tolist()
    assert who == [["cart", "inference", 2, "a, c"], ["cart", "inference", "all", "a, c, b"]]
    assert rows["confidence_improvement"].tolist() == pytest.approx([0.75, 0.5])


def test_rates_that_are_limited_are_metrics_and_all_are_tables_beside_epsilon(log):
    few = replace(NOT_ESTIMABLE, note="fewer than 10000 control scores")
    bound, tpr = EpsilonBound(1.25, 0.001, "flagged", 0.02), {0.01: Estimate(0.03, 0.02, 0.04), 0.001: few}
    found = [finding(MEMBERSHIP, tpr=tpr, epsilon=bound)]
    cart, read = log("members", findings=found)
    assert not any(k.startswith(("tpr", "epsilon")) for k in cart.metrics)  # no limit is set on them
    rates, bounds = (pd.DataFrame(**read(name)) for name in ("tpr", "epsilon"))
    assert rates[["false_positive_rate", "tpr_lower"]].fillna(-1).to_numpy().tolist() == [[0.01, 0.02], [0.001, -1]]
    assert rates["note"].fillna("").tolist() == ["", few.note]
    assert bounds[["synthesizer", "epsilon", "delta", "side"]].to_numpy().tolist() == [["cart", 1.25, 0.001, "flagged"]]
    limited = judged_study(limits={}, findings=found)
    limited = replace(limited, limits={"tpr/membership": Limit(0.1, "the board")})
    numbers = {each.key: each.value for each in numbers_of(limited, overview(limited), "cart")}
    assert numbers["tpr/membership"] == 0.03


def test_thresholds_on_odd_columns_are_written(log):
    measures = [Measure("zero_cap", "zero_cap", name) for name in ("a#b", "ü", "x=1", "it's", "a//b")]
    verdicts = [Verdict("cart", f"risk/{measure.key}", 0.5, "RISK", "above") for measure in measures]
    cart, _ = log("odd", findings=[finding(measure) for measure in measures], verdicts=verdicts)
    assert len([k for k in cart.metrics if k.startswith("risk/")]) == len(measures)
    assert len([k for k in cart.tags if k.startswith("verdict.")]) == len(measures)
