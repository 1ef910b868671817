"""What Prefect shows of studies that ended in every way, read back from its server: artifacts, events, logs, tags."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import httpx
import pytest
import yaml
from mlflow import MlflowClient
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.server.events.schemas.automations import EventTrigger
from prefect.server.events.schemas.events import ReceivedEvent
from waiting import until

from synthrisk.flows.benchmark import benchmark
from synthrisk.flows.evaluate import evaluate
from synthrisk.flows.orchestration.artifacts import asset_key, key_of_name
from synthrisk.flows.outcome import GateError, concluded
from synthrisk.metrics.verdicts.results import overview
from synthrisk.metrics.verdicts.verdicts import LOOK

pytestmark = pytest.mark.proof

PARTED, RELEASES = key_of_name("Parted_1"), key_of_name("Releases of <b>us</b>")
ZERO = "memorization/zero_cap.income"
MADE = "prefect.asset.materialization.succeeded"
SMALL = {
    "metrics": ["zero_cap"], "split": {"holdout": 0.5, "repetitions": 2}, "population_yardstick": False,
    "exposure": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def parted(run, folder):
    broken = {"name": "breaks", "kind": "callable", "path": f"{folder / 'generators.py'}:breaks"}
    parts = {
        "name": "Parted_1", "synthesizers": [{"name": "thief", "kind": "copy"}, broken, "marginals"],
        "references": ["copy", "near_copy"], "thresholds": {ZERO: {"value": 0.3, "source": "the board"}},
    }  # fmt: skip
    return [run("parted", **SMALL | parts) for _ in range(2)]


@pytest.fixture(scope="module")
def unjudged(run):
    return run("unjudged", **SMALL | {"name": "unjudged", "references": [], "split": {"folds": 2, "repetitions": 1}})


@pytest.fixture(scope="module")
def invalid(run, people, folder):
    people(3).assign(income=list("aba")).to_csv(folder / "three.csv", index=False)
    parts = {
        "name": "invalid", "synthesizers": ["marginals"], "references": ["fresh"],
        "split": {"folds": 3, "repetitions": 1}, "thresholds": {"risk/zero_cap.income": 0.5},
    }  # fmt: skip
    return run("unsound", "three.csv", **SMALL | parts)


@pytest.fixture(scope="module")
def released(folder, people, evaluate_on_threads):
    people(120, seed=21).to_csv(folder / "own.csv", index=False)
    people(80, seed=22).to_csv(folder / "others.csv", index=False)
    return evaluate_on_threads(
        str(folder / "own.csv"), str(folder / "own.csv"), ["age", "city"], ["income"],
        control=str(folder / "others.csv"), metrics=["zero_cap"], thresholds={ZERO: 0.1},
        experiment="Releases of <b>us</b>", workspace=str(folder / "released"),
    )  # fmt: skip


def asked(path: str, **wanted):
    with get_client(sync_client=True) as client:
        return client._client.post(f"/{path}/filter", json=wanted).json()


def versions(key: str) -> list:
    found = asked("artifacts", artifacts={"key": {"any_": [key]}}, sort="CREATED_DESC")
    return [SimpleNamespace(**each) for each in found]


def flow_run(key: str):
    with get_client(sync_client=True) as client:
        return client.read_flow_run(UUID(versions(key)[0].flow_run_id))


def runs_of(study: str) -> list[dict]:
    return asked("flow_runs", flow_runs={"tags": {"all_": [f"study:{study}"]}})


def seen(name: str, resource: str) -> list[dict]:
    return asked("events", filter={"event": {"name": [name]}, "resource": {"id": [resource]}}, limit=50)["events"]


def events(name: str, resource: str, count: int = 1) -> list[dict]:
    until(lambda: len(seen(name, resource)) >= count, name, pause=0.5)
    return seen(name, resource)


def lines(run_id: UUID) -> dict[str, int]:
    def told() -> list[dict]:
        found = asked("logs", logs={"flow_run_id": {"any_": [str(run_id)]}}, sort="TIMESTAMP_ASC", limit=200)
        ended = [each["message"] for each in found if "Finished in state" in each["message"]]
        return found if any("Completed()" not in each for each in ended) else []  # that of the run, not of its tasks

    return {each["message"]: each["level"] for each in until(told, pause=0.5)}


def headlines(outcome) -> dict:
    return {each.synthesizer: each for each in overview(outcome.result).synthesizers}


def test_the_artifact_holds_the_answer_and_a_version_lists_those_before_it(parted):
    pages = versions(f"study-{PARTED}")
    assert len(pages) == 2
    for page, outcome in zip(pages, reversed(parted), strict=True):
        assert page.data.startswith("# study Parted\\_1: FAILED\n")
        assert outcome.result.study_id in page.data
        for each in headlines(outcome).values():
            start = f"- **{each.synthesizer}**: "
            (line,) = (line for line in page.data.splitlines() if line.startswith(start))
            beside = {"What carries it": each.carried, "What would decide": each.would_decide}
            more = "".join(f" {head}: {told}." for head, told in beside.items() if told)
            assert line.removeprefix(start).replace("\\", "") == f"{each.sentence}.{more}"
            assert f"| {each.synthesizer} | **{each.word}** |" in page.data
        for words in (
            "**Not run to the end:** breaks.", "### zero\\_cap.income", "| near\\_copy | reference |",
            "**Limits of the board:** memorization/zero\\_cap.income",
        ):  # fmt: skip
            assert words in page.data
    new, old = versions(f"study-{PARTED}")
    own = headlines(parted[0])
    worst = f"{own['thief'].worst.found.value:+.3f}"
    assert old.description.startswith(f"study Parted\\_1: FAILED (thief RISK {worst}, breaks FAILED, marginals ")
    assert f"UTC | {old.description} |" in new.data
    assert "before this one" not in old.data


def test_without_a_server_of_mlflow_there_is_a_path_and_a_command_in_place_of_links(parted):
    assert not versions(f"report-study-{PARTED}") + versions(f"mlflow-study-{PARTED}")
    page = versions(f"study-{PARTED}")[0].data.replace("\\", "")
    (path,) = re.findall(r"a file where the study ran: (\S+)", page)
    assert Path(path).read_text("utf-8").startswith("<!")
    assert "](" not in page
    assert f"synthrisk ui --open Parted_1 --workspace {parted[1].workspace}" in page


def test_tables_releases_and_reports_are_assets(parted, folder, secret, released):
    real, (first, second) = asset_key(str(folder / "people.csv")), parted[1].releases["thief"]
    assert "breaks" not in parted[1].releases
    made = [events(MADE, asset_key(place), 2)[0] for place in (first, second)]
    for event in made:
        assert event["payload"] == {
            "study": "Parted_1", "study_id": parted[1].result.study_id, "synthesizer": "thief", "verdict": "RISK",
        }  # fmt: skip
        assert {each["prefect.resource.id"] for each in event["related"]} >= {real, "synthrisk"}
    (report,) = events(MADE, asset_key(parted[1].report))
    assert report["payload"]["verdicts"] == {name: each.word for name, each in headlines(parted[1]).items()}
    assert (report["payload"]["verdict"], report["payload"]["passed"]) == ("FAILED", False)
    lineage = {each["prefect.resource.id"] for each in report["related"]}
    assert lineage >= {real, asset_key(first), asset_key(second), f"prefect.flow-run.{flow_run(f'study-{PARTED}').id}"}
    assert events("prefect.asset.referenced", real)
    assert secret not in json.dumps([*made, report])
    own, others = (asset_key(str(folder / name)) for name in ("own.csv", "others.csv"))
    (copied,) = (events(MADE, asset_key(place))[0] for place in released.releases["release"])
    assert {each["prefect.resource.id"] for each in copied["related"]} >= {own, others}
    assert copied["payload"]["verdict"] == "RISK"
    assert events("prefect.asset.referenced", own)
    assert seen(MADE, own) == []


def test_a_gate_ends_the_run_as_failed_under_the_name_of_its_verdict(parted, folder):
    study = yaml.safe_load((folder / "parted.yaml").read_text("utf-8")) | {"name": "gated"}
    study["synthesizers"] = study["synthesizers"][:1]
    with pytest.raises(GateError, match=r"^RISK: thief may not go out"):
        benchmark(study, gate=True)
    run = flow_run("study-gated")
    assert (run.state.type.value, run.state.name) == ("FAILED", "RISK")
    assert events("synthrisk.verdict.risk", "synthrisk.study.gated.thief")


def test_the_state_and_the_tags_say_who_and_why(parted):
    run = flow_run(f"study-{PARTED}")
    assert (run.state.type.value, run.state.name) == ("COMPLETED", "FAILED")
    own = headlines(parted[1])
    assert f"RISK: thief {own['thief'].sentence}." in run.state.message
    failure = parted[1].result.failures["breaks"]
    assert f"FAILED: Nothing can be said of breaks: it was not run to the end: {failure}." in run.state.message
    words = {each.word for each in headlines(parted[1]).values()} - {"NO EVIDENCE"}
    assert words >= {"RISK", "FAILED"}
    assert set(run.tags) == {"study:Parted_1", *(f"verdict:{word}" for word in words)}
    assert {each["name"] for each in runs_of("Parted_1")} == {"benchmark Parted_1", "study Parted_1"}


def test_the_log_has_a_line_a_verdict_and_runs_in_mlflow_bear_their_flow_run(parted):
    for outcome in parted:
        client, study = MlflowClient(outcome.logged.uri), f"tags.study_id = '{outcome.logged.study_id}'"
        found = client.search_runs([outcome.logged.experiment_id], study)
        assert len(found) == len(outcome.logged.runs) + 1
        (bearing,) = {run.data.tags["prefect_flow_run_id"] for run in found}
        with get_client(sync_client=True) as prefect:
            assert prefect.read_flow_run(UUID(bearing)).name == "benchmark Parted_1"
    found = lines(versions(f"study-{PARTED}")[0].flow_run_id)
    told = {v.synthesizer: f"{v.word}: {v.synthesizer}, {v.quantity}: {v.reason}" for v in parted[1].result.verdicts}
    assert (found[told["thief"]], found[told["marginals"]]) == (30, 20)
    (failed,) = (text for text in found if text.startswith("FAILED: Nothing can be said of breaks: "))
    assert found[failed] == 30


def test_events_and_tasks_are_named_and_say_what_ended_and_what_is_a_risk(parted, unjudged, secret):
    assert names(parted[1]) >= {
        "synthesize thief, repetition 1", "attack thief, repetition 2", "bootstrap thief", "compare", "judge", "report",
        "log",
    }  # fmt: skip
    assert names(unjudged) >= {"synthesize cart, repetition 1, fold 2", "attack cart, repetition 1, fold 1"}
    resource = f"synthrisk.study.{PARTED}"
    finished, _ = events("synthrisk.study.finished", resource, 2)
    due = {"prefect.resource.name": "study Parted_1", "synthrisk.verdict": "FAILED", "synthrisk.passed": "false"}
    assert finished["resource"].items() >= due.items()
    told = finished["payload"]
    assert told["study_id"] in {outcome.result.study_id for outcome in parted}
    assert told["verdicts"] == {name: each.word for name, each in headlines(parted[1]).items()}
    assert (told["passed"], told["failed"]) == (False, "breaks")
    assert [each in told["links"] for each in ("report", "command", "mlflow")] == [True, True, False]
    assert flow_runs(finished) == [f"prefect.flow-run.{flow_run(f'study-{PARTED}').id}"]
    (risk, _) = events("synthrisk.verdict.risk", f"{resource}.thief", 2)
    assert sorted(risk["payload"]["limits"]) == [LOOK, ZERO]
    assert risk["payload"]["why"] == headlines(parted[1])["thief"].sentence
    assert risk["payload"]["message"].startswith("thief may not go out: ")
    assert told["message"].startswith("Study Parted_1 has ended. ")
    assert headlines(parted[1])["thief"].statement in told["message"]
    assert risk["resource"]["synthrisk.synthesizer"] == "thief"
    assert events("synthrisk.verdict.risk", f"{resource}.thief", 2)[2:] == []
    for event in (finished, risk):
        assert len(json.dumps(event["payload"])) < 2_000
        assert secret not in json.dumps(event)


def names(outcome) -> set[str]:
    runs = [run["id"] for run in runs_of(outcome.result.name) if run["name"].startswith("study ")]
    found = asked("task_runs", task_runs={"flow_run_id": {"any_": runs}})
    assert all(f"study:{outcome.result.name}" in each["tags"] for each in found)
    return {each["name"] for each in found}


def flow_runs(event: dict) -> list[str]:
    return [r["prefect.resource.id"] for r in event["related"] if r["prefect.resource.role"] == "flow-run"]


def test_the_triggers_of_the_readme_hear_these_events(parted):
    page = (Path(__file__).parents[2] / "deployments" / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    ((deployed,),) = [each["triggers"] for each in yaml.safe_load(example)["deployments"]]
    (custom,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    resource = f"synthrisk.study.{PARTED}"
    risk = events("synthrisk.verdict.risk", f"{resource}.thief")[0]
    finished = events("synthrisk.study.finished", resource)[0]
    named = re.findall(r"event\.payload\.(\w+)", str(deployed.pop("parameters")))
    assert set(named) <= set(risk["payload"])
    assert len(named) == 3
    for trigger, hears, other in ((deployed, risk, finished), (json.loads(custom), finished, risk)):
        read = EventTrigger.model_validate(trigger)
        assert read.covers(ReceivedEvent.model_validate(hears))
        assert read.expects(hears["event"])
        assert not read.expects(other["event"])


def test_without_limits_everything_says_that_nothing_was_judged(unjudged):
    (page,) = versions("study-unjudged")
    assert page.data.startswith("# study unjudged: NOT JUDGED\n\n**Nothing was judged:** no limit is set")
    told = [each in page.data for each in ("| cart | not judged |", "| cart | no limit |", "NO EVIDENCE")]
    assert told == [True, True, False]
    run = flow_run("study-unjudged")
    assert (run.state.name, run.state.message) == ("NOT JUDGED", "NOT JUDGED: cart is not judged: no limit is set.")
    assert "verdict:NOT JUDGED" in run.tags
    assert lines(run.id)["NOT JUDGED: cart is not judged: no limit is set."] == 20
    (event,) = events("synthrisk.study.finished", "synthrisk.study.unjudged")
    assert (event["payload"]["verdicts"], event["resource"]["synthrisk.passed"]) == ({"cart": "NOT JUDGED"}, "false")


def test_an_invalid_study_says_so_first_and_in_all_places(invalid):
    (page,) = versions("study-invalid")
    reason = invalid.result.invalid
    assert page.data.replace("\\", "").startswith(f"# study invalid: INVALID\n\n**This study is INVALID:** {reason}")
    assert "| marginals | **INVALID** |" in page.data
    run = flow_run("study-invalid")
    assert run.state.name == "INVALID"
    assert run.state.message.startswith(f"The study is INVALID, so no verdict may be read: {reason}.")
    (event,) = events("synthrisk.study.finished", "synthrisk.study.invalid")
    assert (event["payload"]["invalid"], event["payload"]["verdict"]) == (reason, "INVALID")
    assert {level for text, level in lines(run.id).items() if text.startswith("INVALID: marginals")} == {30}
    why = "at least 2 held-out records"
    assert (invalid.result.exit_code, {v.word for v in invalid.result.verdicts}) == (3, {"INVALID"})
    assert why in invalid.result.failures["fresh"]
    client = MlflowClient(invalid.logged.uri)
    found = client.search_runs([invalid.logged.experiment_id])
    tags = {run.data.tags.get("synthesizer", "study"): run.data.tags for run in found}
    told = tags["study"]["invalid"]
    assert (tags["study"]["references"], told) == ("failed", tags["marginals"]["invalid"])
    assert [each for each in ("reference fresh on all: expected runs, seen", why) if each not in told] == []
    assert told in concluded(invalid).message
    assert why in Path(invalid.report).read_text("utf-8").split("<nav")[0]


@pytest.mark.parametrize("gate", [False, True])
def test_what_a_study_ends_in_is_kept_where_the_server_answers_its_last_state_twice(invalid, monkeypatch, gate):
    send, hooks = httpx.Client.send, benchmark.on_completion_hooks

    def twice(client, request, **options):  # as Prefect's client does where the first answer is late
        if request.url.path.endswith("set_state") and b'"name":"INVALID"' in request.content.replace(b": ", b":"):
            assert json.loads(send(client, request, **options).read())["status"] == "ACCEPT"
        return send(client, request, **options)

    monkeypatch.setattr(httpx.Client, "send", twice)
    assert hooks == benchmark.on_failure_hooks == evaluate.on_completion_hooks == evaluate.on_failure_hooks
    ends = Flow(lambda: concluded(invalid, gate=gate), name="ends", on_completion=hooks, on_failure=hooks)
    if not gate:
        assert ends() is invalid
        return
    with pytest.raises(GateError, match=r"^The study is INVALID") as stopped:
        ends()
    assert stopped.value.outcome is invalid


def test_a_release_is_announced_under_its_experiment(released):
    resource = f"synthrisk.evaluate.{RELEASES}"
    (event,) = events("synthrisk.verdict.risk", f"{resource}.release")
    assert event["resource"]["prefect.resource.name"] == "release own.csv"
    (page,) = versions(f"evaluate-{RELEASES}")
    assert page.data.startswith("# release own.csv: RISK")
    assert set(flow_run(page.key).tags) == {"study:Releases of <b>us</b>", "verdict:RISK"}
    run = flow_run(page.key)
    assert (run.name, run.state.name) == ("evaluate own.csv", "RISK")
    assert {each["name"] for each in runs_of("Releases of <b>us</b>")} == {run.name, "study own.csv"}
