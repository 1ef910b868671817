"""One release judged: with and without control, against the metrics called by hand."""

import json
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from prefect.client.orchestration import get_client
from prefect.events.filters import EventFilter, EventNameFilter
from scipy.stats import binomtest
from waiting import until

from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.evaluate import evaluate
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.verdicts.verdicts import LOOK

pytestmark = pytest.mark.proof

GIVEN = ("--real", "members.csv", "--synthetic", "release.csv", "--quasi-identifiers", "age,city")
GIVEN += ("--sensitive", "income")
ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": ["income"]}
WORDS = {"memorization/zero_cap.income": "RISK", "risk/zero_cap.income": "CANNOT TELL", LOOK: "RISK"}


@pytest.fixture(scope="session")
def tables(folder, people) -> dict[str, pd.DataFrame]:
    members, controls = people(200, seed=11), people(150, seed=12)
    release = pd.concat([members.head(100), people(100, seed=13)], ignore_index=True)
    found = {"members": members, "controls": controls, "release": release}
    for name, frame in found.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return found


@pytest.fixture(scope="session")
def judged(folder, tables, prefect_database):
    return evaluate(
        str(folder / "members.csv"), str(folder / "release.csv"), **ROLES, control=str(folder / "controls.csv"),
        thresholds={"memorization/zero_cap.income": 0.02, "risk/zero_cap.income": 0.999}, what_if=[{"drop": ["age"]}],
        workspace=str(folder / "judged"),
    )  # fmt: skip


@pytest.fixture(scope="session")
def uncontrolled(folder, tables, evaluate_on_threads):
    return evaluate_on_threads(
        str(folder / "members.csv"), str(folder / "release.csv"), **ROLES, thresholds={"risk/zero_cap.income": 0.1},
        workspace=str(folder / "uncontrolled"),
    )  # fmt: skip


@pytest.fixture
def asked(folder, tables, say, monkeypatch, plain, tmp_path):
    """Give a function that runs the command without Prefect, and returns what it says and its JSON."""
    monkeypatch.chdir(folder)
    to = tmp_path / "new" / "out.json"

    def evaluated(*more: object):
        to.unlink(missing_ok=True)
        said = say("evaluate", *GIVEN, *more, "--json", to, "--workspace", tmp_path / "w")
        return said, json.loads(to.read_text()) if to.exists() else {}

    return evaluated


def findings(outcome) -> dict:
    return {f.measure.label: f for f in outcome.result.findings if f.role == "synthesizer"}


def test_all_metrics_are_measured(judged, uncontrolled):
    assert (judged.result.failures, uncontrolled.result.failures) == ({}, {})
    variants = {f"{name}-without-age" for name, m in METRICS.items() if "quasi_identifiers" in m.needs}
    measured = {name for name, m in METRICS.items() if not m.own_needs}
    assert set(METRICS) - measured == {"linkability"}  # whose columns only a study names
    risks = {name for name in measured if not METRICS[name].is_utility}
    assert set(findings(uncontrolled)) == {name for name in risks if "control" not in METRICS[name].needs}
    assert set(findings(judged)) == risks | variants
    for outcome in (judged, uncontrolled):
        assert {f.measure.label for f in outcome.result.utility} == measured - risks


@pytest.mark.parametrize("name", ["coverage", "accuracy", "quality"])
def test_utility_is_that_of_the_metric_on_the_same_files(judged, uncontrolled, tables, name):
    score = METRICS[name](tables["members"], tables["release"])
    for outcome in (judged, uncontrolled):
        found = next(f for f in outcome.result.utility if f.measure.label == name)
        assert found.value.value == pytest.approx(score.value, abs=1e-12)
        assert np.isnan(found.ceiling.value) == (outcome is uncontrolled)
        assert name in Path(outcome.report).read_text("utf-8")


def test_without_its_extra_a_metric_is_left_out_unless_it_is_asked_for(folder, tables):
    arguments = {name: str(folder / f"{name}.csv") for name in ("real", "synthetic")}
    with patch.object(type(METRICS["quality"]), "installed", property(lambda m: m.package is None)):
        with patch("synthrisk.flows.evaluate.check", side_effect=InputError("stop")) as checked:
            with pytest.raises(InputError, match="stop"):
                evaluate.fn(**arguments, **ROLES)
            asked = {m.name for m in checked.call_args.args[0].metrics}
        with pytest.raises(InputError, match="quality needs SDMetrics"):
            evaluate.fn(**arguments, **ROLES, metrics=["quality"])
    assert asked == {n for n, m in METRICS.items() if "control" not in m.needs} - {"quality", "linkability"}


def test_a_what_if_is_the_metric_on_fewer_columns_and_its_change_is_paired(judged, tables):
    found = findings(judged)["zero_cap-without-age"]
    roles = {"sensitive": "income"}
    everyone = pd.concat([tables["members"], tables["controls"]], ignore_index=True)
    before, after = (
        METRICS["zero_cap"](everyone, tables["release"], quasi_identifiers=known, **roles).records["score"][:200]
        for known in (["age", "city"], ["city"])
    )
    assert found.risk.value == pytest.approx(after.mean(), abs=1e-12)
    assert found.change.value == pytest.approx((after - before).mean(), abs=1e-12)
    assert "What if columns were coarser?" in Path(judged.report).read_text("utf-8")


OF_MEMBERS = ("categorical_cap", "zero_cap", "generalized_cap", "distance_to_closest_record")


@pytest.mark.parametrize(
    ("name", "off"), [*((name, 1e-15) for name in OF_MEMBERS), ("nearest_neighbour_distance_ratio", 0)]
)
def test_value_on_members_is_that_of_the_metric_on_the_same_files_and_does_not_depend_on_controls(
    uncontrolled, judged, tables, name, off
):
    metric = METRICS[name]
    score = metric(tables["members"], tables["release"], **{need: ROLES[need] for need in metric.needs})
    found = findings(uncontrolled)[name]
    assert (found.risk.value, *found.release_risk) == pytest.approx((score.value,) * 2, abs=off, rel=0)
    if name in ("zero_cap", "generalized_cap"):
        assert findings(judged)[name].risk.value == pytest.approx(found.risk.value, abs=1e-15)


def test_values_beside_controls_are_those_of_everybodys_scores(tables, judged):
    everyone = pd.concat([tables["members"], tables["controls"]], ignore_index=True)
    scores = METRICS["zero_cap"](everyone, tables["release"], **ROLES).records["score"]
    own = findings(judged)["zero_cap"]
    assert own.risk.value == pytest.approx(scores[:200].mean(), abs=1e-15)
    assert own.risk_control.value == pytest.approx(scores[200:].mean(), abs=1e-15)


def test_right_or_wrong_scores_have_wilson_and_newcombe_intervals(judged):
    found = findings(judged)["rapid"]
    plain = found.intervals["memorization"]["raw"]
    assert (found.risk.method, found.risk_control.method, plain.method) == ("wilson", "wilson", "newcombe")
    p, q = found.risk, found.risk_control
    for estimate, n in ((p, 200), (q, 150)):
        ends = binomtest(round(estimate.value * n), n).proportion_ci(0.9, method="wilson")
        assert (estimate.lower, estimate.upper) == pytest.approx((ends.low, ends.high))
    d = plain
    assert d.value == pytest.approx(p.value - q.value)
    assert d.lower == pytest.approx(d.value - np.hypot(p.value - p.lower, q.upper - q.value))
    assert d.upper == pytest.approx(d.value + np.hypot(p.upper - p.value, q.value - q.lower))
    assert found.memorization.method == found.yardsticks["control"].gain.method == "adjusted"
    assert found.memorization.upper - found.memorization.lower < d.upper - d.lower


def test_leak_is_seen_judged_and_tracked(judged):
    assert {v.quantity: v.word for v in judged.result.verdicts} == WORDS
    reasons = {v.quantity: v.reason for v in judged.result.verdicts}
    assert "even a full copy reaches only" in reasons["risk/zero_cap.income"]
    assert {f.synthesizer for f in judged.result.findings} == {"release", "copy", "near_copy", "repelled", "fresh"}
    of_copy = {f.measure.key for f in judged.result.findings if f.synthesizer == "copy"}
    assert of_copy == {"zero_cap.income"}  # the limited measure alone
    assert judged.result.exit_code == 1
    assert judged.result.valid
    client = MlflowClient(judged.logged.uri)
    assert client.get_experiment(judged.logged.experiment_id).name == "evaluate"
    run = client.get_run(judged.logged.runs["release"])
    assert run.data.tags["role"] == "synthesizer"
    assert run.data.metrics["risk/zero_cap.income"] == findings(judged)["zero_cap"].risk.value


def test_without_controls_there_is_no_memorization(uncontrolled):
    for found in uncontrolled.result.findings:
        if found.measure.metric == "hidden_rate":  # two files name no row that another was made from
            assert np.isnan(found.risk.value)
            assert "no row link" in found.risk.note
        else:
            assert np.isfinite(found.risk.value)
        assert np.isnan([found.risk_control.value, found.memorization.value, found.memorization.lower]).all()
    (verdict,) = uncontrolled.result.verdicts
    assert (verdict.quantity, verdict.word) == ("risk/zero_cap.income", "RISK")
    assert uncontrolled.result.exit_code == 1


@pytest.mark.parametrize("which", ["judged", "uncontrolled"])
def test_json_is_strict_and_complete(request, which):
    outcome = request.getfixturevalue(which)
    text = json.dumps(as_json(outcome.result), allow_nan=False)
    found = json.loads(text)
    assert found["exit_code"] == outcome.result.exit_code
    assert [row["measure"] for row in found["findings"]] == [f.measure.key for f in outcome.result.findings]
    changed = {row["measure"] for row in found["findings"] if row["change"] is not None}
    named = {"without-age.income", "without-age"}  # what guesses nothing names no attribute
    assert {m.partition("-")[2] for m in changed} == (named if which == "judged" else set())
    assert [row["measure"] for row in found["utility"]] == [f.measure.key for f in outcome.result.utility]
    assert all((row["utility_ceiling"] is None) == (which == "uncontrolled") for row in found["utility"])
    scored = [row for row in found["findings"] if row["risk"] is not None]
    assert all((row["memorization"] is None) == (which == "uncontrolled") for row in scored)


def test_the_population_yardstick_is_that_of_the_direct_call(judged, uncontrolled, tables):
    score = METRICS["rapid"](tables["members"], tables["release"], control=tables["controls"], **ROLES)
    found = findings(judged)["rapid"]
    assert list(found.yardsticks) == ["guess", "control", "population"]
    assert found.yardsticks["population"].difference.method == "newcombe"
    cap = METRICS["zero_cap"](tables["members"], tables["release"], control=tables["controls"], **ROLES).details
    own = findings(judged)["zero_cap"].yardsticks["population"]
    assert own.success.value == pytest.approx(cap["population"], abs=1e-12)
    assert own.difference.value == pytest.approx(cap["population_difference"], abs=1e-12)
    assert own.gain.value == pytest.approx(cap["population_gain"], abs=1e-12)
    assert {"population", "population_lower", "population_upper"} <= set(score.details)
    assert all("population" not in f.yardsticks for f in uncontrolled.result.findings)
    rows = as_json(judged.result)["yardsticks"]
    measured = {(r["measure"], r["yardstick"]) for r in rows}
    assert measured >= {("zero_cap.income", "population"), ("rapid.income", "control")}
    gda = as_json(judged.result)["gda"]
    assert {(r["attack"], r["weakest"]) for r in gda} >= {("inference", "all"), ("inference", 1), ("singling_out", 1)}


def test_singling_out_is_memorization_of_the_isolated_records(judged, tables):
    found = findings(judged)["singling_out"]
    beside = found.yardsticks["control"]
    n, c = len(tables["members"]), len(tables["controls"])
    assert beside.success.value == pytest.approx(n / (n + c))
    per_claim = found.details["isolated"][0] / found.details["claims"][0]
    assert found.memorization.value == pytest.approx(beside.gain.value * per_claim)
    assert found.control_gain == found.details["isolated_gain"][0] == beside.gain.value
    assert found.memorization.lower < found.memorization.value <= found.memorization.upper <= 1
    assert beside.difference.value == pytest.approx(beside.attack.value - beside.success.value)
    assert beside.gain.value == pytest.approx(beside.difference.value / (1 - beside.success.value))
    assert 0 < found.details["isolated_members"][0] <= found.details["isolated"][0]
    assert not any(name.startswith("control_") for name in found.details)
    assert "selective_1" in found.details


def test_the_files_that_were_judged_are_named_by_their_digests_and_without_their_folder(judged, uncontrolled, folder):
    asked = {"release_file": "release.csv", "real_file": "members.csv", "held_out_file": "controls.csv"}
    told = {
        fact: f"{n}, SHA-256 begins with {sha256((folder / n).read_bytes()).hexdigest()[:16]}"
        for fact, n in asked.items()
    }
    assert {fact: judged.result.facts[fact] for fact in asked} == told
    assert "held_out_file" not in uncontrolled.result.facts
    record = Path(judged.report).with_name("record.html").read_text("utf-8")
    assert all(words in record for words in told.values())
    assert str(folder) not in record
    assert "twins_share" not in judged.result.facts  # one release that was given: none was split


def test_event_says_whether_the_release_passed(judged, uncontrolled):
    due = [WORDS, {"risk/zero_cap.income": "RISK"}]

    def events() -> list[dict]:
        wanted = EventFilter(event=EventNameFilter(name=["synthetic-data.evaluated"]))
        with get_client(sync_client=True) as client:
            reply = client._client.post("/events/filter", json={"filter": wanted.model_dump(mode="json"), "limit": 50})
        return [e for e in reply.json()["events"] if e["payload"]["verdicts"] in due]

    until(lambda: all(each in [e["payload"]["verdicts"] for e in events()] for each in due), "no such events")
    assert {e["resource"]["prefect.resource.id"] for e in events()} == {"synthetic-data.release"}
    assert not any(e["payload"]["passed"] for e in events())


def test_a_metric_that_cannot_be_scored_says_why(asked, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "250")
    said, found = asked("--metric", "membership_inference_risk", "--metric", "hidden_rate")
    assert said.code == 0, said
    reason = "no control records: nobody to tell the members from"
    assert f"Not scored   membership_inference_risk: {reason} (release, copy, near_copy)" in said.out
    assert "Not scored   hidden_rate: no row link" in said.out
    rows = {row["measure"]: row for row in found["findings"]}
    assert (rows["membership_inference_risk"]["risk"], rows["membership_inference_risk"]["note"]) == (None, reason)
    assert "no row link" in rows["hidden_rate"]["note"]
    (report,) = (tmp_path / "w" / "reports").glob("*/report.html")
    assert [each for each in (reason, "no row link") if each not in report.read_text("utf-8")] == []


def test_noise_on_what_is_guessed_is_tried_by_what_guesses(asked):
    metrics = ("--metric", "zero_cap", "--metric", "singling_out")
    said, told = asked(*metrics, "--noise", "income=0.5")
    assert said.code == 0, said
    found = {row["measure"]: row["risk"] for row in told["findings"]}
    assert sorted(found) == ["singling_out", "zero_cap-income-noise-50-percent.income", "zero_cap.income"]
    assert found["zero_cap-income-noise-50-percent.income"] < found["zero_cap.income"]
    said, _ = asked(*metrics, "--noise", "income=2")
    told = "Usage error: --noise must be <column>=<share above 0 and at most 1>, got 'income=2'"
    assert (said.code, said.err.splitlines()[-1]) == (2, told)


@pytest.mark.parametrize("metric", ["hidden_rate", "zero_cap"])
def test_links_give_the_hidden_rate(asked, tables, tmp_path, metric):
    links = pd.DataFrame({"row": [*range(100), *[-1] * 100]})
    links.to_csv(tmp_path / "links.csv", index=False)
    said, told = asked("--metric", metric, "--links", tmp_path / "links.csv")
    assert said.code == 0, said
    found = {row["synthesizer"]: row["risk"] for row in told["findings"] if row["measure"] == "hidden_rate"}
    due = METRICS["hidden_rate"](tables["members"], tables["release"], links=links["row"].to_numpy())
    assert (found["release"], due.details["linked"]) == (pytest.approx(due.value), 0.5)
    assert due.value > 0.9
    links.head(2).to_csv(tmp_path / "short.csv", index=False)
    said, _ = asked("--metric", metric, "--links", tmp_path / "short.csv")
    assert said.code == 2
    assert "must name a real row for each of 200 synthetic rows, got 2" in said.err


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_links_beside_an_empty_row_of_the_real_table_are_refused_for_they_may_count_it(say, tables, tmp_path, suffix):
    rows = tables["members"].astype(object)
    rows = pd.concat([rows.head(9), pd.DataFrame([[None] * rows.shape[1]], columns=rows.columns), rows.iloc[9:]])
    real, release, links = (tmp_path / f"{name}" for name in (f"real.{suffix}", "release.csv", "links.csv"))
    rows.to_csv(real, index=False) if suffix == "csv" else rows.to_excel(real, index=False)
    tables["release"].to_csv(release, index=False)
    pd.DataFrame({"row": [*range(100), *[-1] * 100]}).to_csv(links, index=False)
    asked = ("evaluate", real, release, *GIVEN[4:], "--metric", "zero_cap", "--workspace", tmp_path / "w")
    said = say(*asked, "--links", links)
    assert (said.code, "has 1 empty row between others: left out; delete them there" in said.err) == (2, True), said
    assert say(*asked).code == 0


def test_command_writes_json_and_ends_with_the_verdicts_code(asked, say, tmp_path):
    limit = ("--threshold", "memorization/zero_cap.income=0.02", "--limit-source", "the board")
    said, told = asked("--control", "controls.csv", "--metric", "zero_cap", *limit)
    assert said.code == 1, said
    assert [each for each in ("RISK", '1 set by "the board"') if each not in said.out] == []
    assert told["verdicts"][0]["word"] == "RISK"
    said = say("compare", "evaluate", "--workspace", tmp_path / "w")
    assert said.code == 0, said
    assert "zero_cap.income" in said.out
    assert Path(tmp_path / "w" / "mlflow.db").exists()


def twice(frame, start):
    again = frame.assign(income=np.where(np.arange(len(frame)) % 3 == 0, frame["income"].iloc[0], frame["income"]))
    person = np.tile(np.arange(start, start + len(frame)), 2)
    return pd.concat([frame, again], ignore_index=True).assign(person=person)


def test_records_of_one_entity_count_once_and_must_be_on_one_side(folder, tables, evaluate_on_threads):
    members, controls = twice(tables["members"], 0), twice(tables["controls"], 1000)
    members.to_csv(folder / "twice.csv", index=False)
    controls.to_csv(folder / "twice_held_out.csv", index=False)
    arguments = {
        "real": str(folder / "twice.csv"), "synthetic": str(folder / "release.csv"),
        "metrics": ["inference", "zero_cap"], "identifier": "person", "workspace": str(folder / "entities")
    } | ROLES  # fmt: skip
    found = findings(evaluate_on_threads(**arguments, control=str(folder / "twice_held_out.csv")))
    alone = {"quasi_identifiers": ["age", "city"], "sensitive": "income", "control": controls.drop(columns="person")}
    for name, counts_records in (("inference", False), ("zero_cap", True)):  # claims count facts
        score = METRICS[name](members, tables["release"], **(alone | {"control": controls}), identifier="person")
        assert found[name].risk.value == pytest.approx(score.value, abs=1e-12)
        by_record = METRICS[name](members.drop(columns="person"), tables["release"], **alone)
        assert (score.value == by_record.value) == counts_records
    controls.assign(person=controls["person"].where(controls["person"] > 1000, 3)).to_csv(
        folder / "shared.csv", index=False
    )
    with pytest.raises(InputError, match=r"control must hold no person of real, .* got 2 records of such"):
        evaluate_on_threads(**arguments, control=str(folder / "shared.csv"))
    with pytest.raises(InputError, match="identifier"):
        evaluate_on_threads(**(arguments | {"identifier": "persn"}))


def test_the_command_without_a_server_says_the_same_as_the_flow_to_the_bit(
    judged, folder, tables, say, plain, monkeypatch, tmp_path
):
    monkeypatch.setattr("synthrisk.flows.evaluate.evaluate", lambda **_: pytest.fail("the flow was run"))
    monkeypatch.setattr("synthrisk.flows.orchestration.server.OwnServer", lambda: pytest.fail("a server was started"))
    said = say(
        *("evaluate", folder / "members.csv", folder / "release.csv", "--control", folder / "controls.csv"),
        *("--quasi-identifiers", "age,city", "--sensitive", "income", "--metric", "all", "--without", "age"),
        *("--threshold", "memorization/zero_cap.income=0.02", "--threshold", "risk/zero_cap.income=0.999"),
        *("--workspace", tmp_path / "plain", "--json", tmp_path / "said.json"),
    )
    assert said.code == judged.result.exit_code, said.err
    ours, theirs = json.loads((tmp_path / "said.json").read_text()), json.loads(json.dumps(as_json(judged.result)))
    for each in (ours, theirs):
        each.pop("study_id")
        each["facts"].pop("started")
    assert ours == theirs
