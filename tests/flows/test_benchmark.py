"""Whole studies on small tables, with real processes, a real Prefect server and a real MLflow store, read back."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from leaks import dump, holds
from mlflow import MlflowClient
from waiting import until

from synthrisk.conf import load
from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.benchmark import write_parts
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.terminal.answer import close
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.adjusted_differences import ADJUSTED
from synthrisk.metrics.study.findings import utility_table
from synthrisk.metrics.verdicts.tables import league_table
from synthrisk.metrics.verdicts.verdicts import LOOK
from synthrisk.tasks.tracking.history import studies

pytestmark = pytest.mark.proof

ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": "income"}
KEYS = ("zero_cap.income", "rapid.income")
RUN = {
    "synthesizers": [
        "cart", {"name": "mine", "kind": "callable", "path": "generators.py:resample"},
        {"name": "thief", "kind": "copy"},
    ],
    "references": ["copy", "fresh"],
    "metrics": [
        "zero_cap", {"name": "rapid", "attackers": ["logistic"]}, "nearest_neighbour_distance_ratio", "coverage",
    ],
    "thresholds": {"memorization/zero_cap.income": {"value": 0.01, "source": "nobody"}},
    "split": {"holdout": 0.5, "repetitions": 2}, "weakest_columns": [2, "all"],
}  # fmt: skip

FACTS = ("data_digest", "seed", "versions", "threat_model", "records", "releases", "split_digest", "release_keys")
ONE = {"workers": 1}
WHOLE = ("hitting_rate", "distance_to_closest_record", "authenticity", "linkability")
WHOLE_STUDY = {
    "synthesizers": [{"name": "thief", "kind": "copy"}],
    "metrics": [
        *({"name": name} for name in WHOLE[:-1]),
        {"name": "linkability", "columns_a": ["age", "hours"], "columns_b": ["city", "income"]},
        {"name": "membership"},
    ],
    "split": {"holdout": 0.4, "repetitions": 1},
    "bootstrap": {"confidence": 0.95},  # that of a direct call
}


def generators(folder: Path, parts: dict) -> dict:
    return json.loads(json.dumps(parts).replace("generators.py", str(folder / "generators.py")))


@pytest.fixture(scope="session")
def first(run, folder):
    return run("first", **generators(folder, RUN), runner={"workers": 2})


@pytest.fixture(scope="session")
def whole(run):
    return run("whole", **WHOLE_STUDY)


@pytest.fixture(scope="session")
def again(run, first, folder):
    written = stamps(folder / "first")
    return run("first", **generators(folder, RUN), tracking={"log_again": True}), written


@dataclass(frozen=True)
class Resumed:
    code: int
    tracked: bool
    kept: dict[str, int]
    outcome: Outcome


@pytest.fixture(scope="session")
def resumed(run, first, folder, start) -> Resumed:
    parts = generators(folder, RUN) | {"runner": ONE, "tracking": {"records": "full"}}
    study = yaml.safe_load((folder / "first.yaml").read_text()) | parts | {"workspace": str(folder / "alone")}
    (folder / "kill.yaml").write_text(yaml.safe_dump(study))
    process = start("benchmark", "kill.yaml", cwd=folder)
    until(lambda: process.poll() is not None or len([*folder.glob("alone/ledgers/[!.]*")]) >= 2, seconds=600)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {k: v for k, v in stamps(folder / "alone").items() if "/.draft-" not in k}
    tracked = (folder / "alone" / "artifacts").exists()
    return Resumed(process.returncode, tracked, kept, run("alone", **parts))


@pytest.fixture(scope="session")
def alone(resumed) -> Outcome:
    return resumed.outcome


@pytest.fixture(scope="session")
def broken(run, folder):
    failing = {"name": "breaks", "kind": "callable", "path": f"{folder / 'generators.py'}:breaks"}
    return run("broken", synthesizers=["cart", failing], tracking={"records": "none"}, references=["copy"], runner=ONE)


def stamps(workspace: Path) -> dict[str, int]:
    found = [*(workspace / "releases").iterdir(), *(workspace / "ledgers").iterdir()]
    return {f"{p.parent.name}/{p.name}": p.stat().st_mtime_ns for p in found}


def finding_of(outcome, name: str, key: str):
    (found,) = [f for f in outcome.result.findings if (f.synthesizer, f.measure.key) == (name, key)]
    return found


def runs_of(outcome) -> dict:
    client = MlflowClient(outcome.logged.uri)
    found = client.search_runs([outcome.logged.experiment_id], f"tags.study_id = '{outcome.result.study_id}'")
    return {r.data.tags.get("synthesizer", "study"): r for r in found}


def artifact(outcome, name: str, path: str) -> Path:
    client = MlflowClient(outcome.logged.uri)
    return Path(client.download_artifacts(runs_of(outcome)[name].info.run_id, path))


def read(outcome, name: str, table: str):
    return json.loads(artifact(outcome, name, f"{table}.json").read_text())


def tabled(outcome, name: str, table: str) -> pd.DataFrame:
    return pd.DataFrame(**read(outcome, name, table))


def numbers(outcome) -> dict[str, dict[str, float]]:
    return {name: run.data.metrics for name, run in runs_of(outcome).items()}


def told_of(outcome) -> dict:
    return json.loads(json.dumps(as_json(outcome.result), allow_nan=False))


def ledgers(workspace: Path) -> dict[str, pd.DataFrame]:
    found = (workspace / "ledgers").glob("[!.]*")  # a killed process leaves drafts
    return {p.name: pd.read_parquet(p / "ledger.parquet") for p in found}


def test_runs_are_flat_tagged_by_role_and_carry_provenance(first):
    runs = runs_of(first)
    assert {name: run.data.tags["role"] for name, run in runs.items()} == {
        "cart": "synthesizer", "mine": "synthesizer", "thief": "synthesizer", "copy": "reference", "fresh": "reference",
        "study": "study",
    }  # fmt: skip
    assert not any("mlflow.parentRunId" in run.data.tags for run in runs.values())
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    names = [run.info.run_name.partition(" · ") for run in runs.values()]
    assert {name for name, _, _ in names} == {"cart", "mine", "thief", "copy", "fresh", "study spine"}
    assert all(first.result.study_id.startswith(when) and when for _, _, when in names)
    facts = first.result.facts
    for run in runs.values():
        assert {name: run.data.tags[name] for name in FACTS} == {name: facts[name] for name in FACTS}
    assert (facts["records"], facts["releases"]) == ("240", "2")
    assert "age, city" in facts["threat_model"]


def test_findings_are_metrics_and_tables_of_a_run(first):
    logged = numbers(first)
    for finding in first.result.findings:
        own = [logged[finding.synthesizer][f"{name}/{finding.measure.key}"] for name in ("risk", "memorization")]
        assert own == [finding.risk.value, finding.memorization.value]
    own = tabled(first, "cart", "measures").set_index("measure").loc[KEYS[0]]
    lower = finding_of(first, "cart", KEYS[0]).memorization.lower
    assert own["memorization_lower"] == pytest.approx(lower, abs=1e-9)  # ten digits
    assert own["verdict"] == first.result.verdict("cart")
    assert set(tabled(first, "cart", "yardsticks")["yardstick"]) == {"guess", "control", "population"}
    assert tabled(first, "cart", "records/most_exposed")["memorization"].is_monotonic_decreasing


def test_real_table_and_release_are_datasets_of_schema_and_digest_alone(first, secret):
    given = {each.dataset.name: each.dataset for each in runs_of(first)["cart"].inputs.dataset_inputs}
    assert set(given) == {"real", "release"}
    names = [column["name"] for column in json.loads(given["release"].schema)["mlflow_colspec"]]
    assert names == ["age", "city", "hours", "income"]
    assert given["real"].digest == first.result.facts["data_digest"] != given["release"].digest
    assert not any(secret in repr(each.to_dictionary()) for each in given.values())


def test_the_thief_measures_as_a_copy_is_caught_and_is_not_the_lower_one(first):
    for key in KEYS:
        assert finding_of(first, "thief", key).risk.value == finding_of(first, "copy", key).risk.value
    own = {v.quantity: v.word for v in first.result.verdicts if v.synthesizer == "thief"}
    assert (own, first.result.exit_code) == ({"memorization/zero_cap.income": "RISK", LOOK: "RISK"}, 1)
    tags = runs_of(first)["thief"].data.tags
    assert (tags["verdict"], tags["verdict.memorization/zero_cap.income"]) == ("RISK", "RISK")
    assert "thief: RISK" in runs_of(first)["study"].data.tags["verdict"]
    told = {(c.first, c.second): c.lower for c in first.result.comparisons if c.measure.key == KEYS[0]}
    assert told["cart", "thief"] == "cart"
    assert "thief" not in told.values()


def test_study_run_has_league_report_and_settings(first):
    assert len(read(first, "study", "league")["data"]) == len(first.result.findings)
    assert "thief" in artifact(first, "study", Path(first.report).name).read_text()
    logged = yaml.safe_load(artifact(first, "study", "study.yaml").read_text())
    assert load(logged) == load(logged | {"name": "spine"})
    assert {check["passed"] for check in read(first, "study", "checks")} == {True}
    (limit,) = {verdict["limit"] for verdict in read(first, "study", "verdicts")}
    assert (limit, first.result.weakest, logged["weakest_columns"]) == (0.01, (2, None), [2, "all"])


def test_hashed_records_hold_scores_and_no_cells_and_are_not_in_the_order_of_the_table(first, people, folder):
    ledger = pd.read_parquet(artifact(first, "cart", "records/ledger.parquet"))
    assert not {"guessed", "truth", "row"} & set(ledger.columns)
    assert ledger["record"].str.fullmatch("[0-9a-f]{16}").all()
    assert (ledger["record"].nunique(), len(ledger)) == (240, 2 * 2 * 240)
    cells = set(people()["city"]) | set(people()["income"])
    assert not cells & {t for c in ledger.columns for t in ledger[c].astype(str).unique()}
    exposed = pd.read_parquet(artifact(first, "cart", "records/memorization.parquet"))
    assert set(exposed["record"]) == set(ledger["record"])
    part = ledger.loc[(ledger["metric"] == "zero_cap") & (ledger["repetition"] == 0), "score"]
    frames = [f.loc[f["metric"] == "zero_cap", "score"] for f in ledgers(folder / "first").values()]
    own = next(scores for scores in frames if np.array_equal(np.sort(scores), np.sort(part)))
    assert not np.array_equal(own, part)
    assert ledger["record"].is_monotonic_increasing


def test_full_records_name_row_guess_and_truth_and_alone_have_a_page_of_exposure(alone, people, first):
    ledger = pd.read_parquet(artifact(alone, "cart", "records/ledger.parquet"))
    assert {"row", "guessed", "truth"} <= set(ledger.columns)
    rapid = ledger[(ledger["metric"] == "rapid") & (ledger["repetition"] == 1)]
    assert rapid.set_index("row")["truth"].sort_index().tolist() == people()["income"].tolist()
    for outcome, tracked in ((first, False), (alone, True)):
        assert Path(outcome.logged.pages.exposures["cart"]).exists()
        run = MlflowClient(outcome.logged.uri).list_artifacts(runs_of(outcome)["cart"].info.run_id, "records")
        assert ("records/exposure-cart.html" in {f.path for f in run}) == tracked


def test_no_records_and_no_contributions_where_none_are_kept(broken, folder):
    client = MlflowClient(broken.logged.uri)
    own = {f.path for f in client.list_artifacts(runs_of(broken)["cart"].info.run_id)}
    assert (bool(own), "records" in own) == (True, False)
    (study,) = studies(Tracking(), folder / "broken", "spine")
    assert study.contributions().empty
    assert study.generators.set_index("synthesizer")["verdict"].to_dict()["breaks"] == "FAILED"


def test_contributions_make_the_judged_findings_and_are_of_the_same_records_again(first, folder, people, again):
    table, again = (study.contributions() for study in studies(Tracking(), folder / "first", "spine")[:2])
    pd.testing.assert_frame_equal(table, again)
    assert set(table.columns) == {"synthesizer", "record", "repetition", f"risk/{KEYS[0]}", f"memorization/{KEYS[0]}"}
    assert set(table["synthesizer"]) == {"cart", "mine", "thief"}
    assert table["record"].str.fullmatch("[0-9a-f]{16}").all()
    for name, own in table.groupby("synthesizer"):
        assert own["record"].is_monotonic_increasing  # not in the order of the table
        found, means = finding_of(first, name, KEYS[0]), own.groupby("repetition").mean(numeric_only=True).mean()
        assert means[f"risk/{KEYS[0]}"] == pytest.approx(found.risk.value, abs=1e-12)
        if not np.isnan(means[f"memorization/{KEYS[0]}"]):
            assert means[f"memorization/{KEYS[0]}"] == pytest.approx(found.memorization.value, abs=1e-12)


def test_worst_releases_keys_and_studies_read_back_are_what_was_found(first, folder, people):
    study = studies(Tracking(), folder / "first", "spine")[0]
    assert study.study_id == first.result.study_id
    assert study.tags["data_digest"] == first.result.facts["data_digest"]
    said = pd.DataFrame([vars(v) for v in first.result.verdicts])
    for table, due in ((study.league, league_table(first.result)), (study.verdicts, said)):
        pd.testing.assert_frame_equal(table[due.columns], due, check_dtype=False)
    pd.testing.assert_frame_equal(study.utility, utility_table(first.result.utility), check_dtype=False)
    assert set(study.generators["synthesizer"]) == set(first.result.synthesizers)
    found = told_of(first)
    for row in (row for row in found["findings"] if row["measure"] == KEYS[0]):
        assert row["risk"] <= row["worst_release"] < row["worst_release_upper"] <= 1
    assert {"worst_release", "worst_release_upper"} <= set(read(first, "study", "league")["columns"])
    keys = tabled(first, "study", "k_anonymity").set_index(["synthesizer", "of"])
    assert len(keys) == len(found["k_anonymity"]) == 1 + 3 * len(first.result.settings)
    sizes = people().groupby(["age", "city"], dropna=False)["income"].transform("size")
    assert keys.loc[("", "real"), "k_1"] == (sizes == 1).sum()
    counts = keys[["k_1", "k_2", "k_3-4", "k_5-9", "k_10-19", "k_20+"]].sum(axis=1)
    assert counts.tolist() == pytest.approx((keys["records"] - keys["absent"]).tolist())
    assert keys.loc[("copy", "members"), "absent"] == 0
    page = Path(first.report).read_text()
    assert [each for each in ("How rare keys are", "worst of 2 releases") if each not in page] == []


def test_release_risk_is_the_metric_called_by_hand(alone, folder, people):
    cart, found = finding_of(alone, "cart", KEYS[0]), []
    for path in (folder / "alone" / "releases").glob("[!.]*"):
        release = pd.read_parquet(path / "release.parquet")
        score = METRICS["zero_cap"](people(), release, **ROLES)
        for ledger in ledgers(folder / "alone").values():
            own = ledger[ledger["metric"] == "zero_cap"]
            if np.array_equal(own["score"], score.records["score"]):
                found.append(own.loc[own["member"].fillna(False).astype(bool), "score"].mean())
    assert all(any(value == pytest.approx(f, abs=1e-15) for f in found) for value in cart.release_risk)


def test_yardsticks_and_pairs_are_in_mlflow_json_and_on_the_terminal(first, capsys):
    guesses = [f for f in first.result.findings if f.measure.key in KEYS]
    assert all(list(f.yardsticks) == ["guess", "control", "population"] for f in guesses)
    for f in guesses:  # the members are the same, and so is what non-members say of them
        own = tabled(first, f.synthesizer, "measures").set_index("measure")
        assert own.loc[f.measure.key, "population"] == pytest.approx(f.population.value, abs=1e-9)
    assert len({(f.measure.key, f.population.value) for f in guesses}) == len(KEYS)
    found, due = told_of(first), (3 * len(guesses), 3 * 2 * 3)  # yardsticks; pairs, quantities, measures
    assert tuple(len(tabled(first, "study", table)) for table in ("yardsticks", "comparison")) == due
    assert (len(found["yardsticks"]), len(found["comparisons"]), found["power"]) == (*due, [])
    assert "nonmembers" not in {row["synthesizer"] for row in found["findings"]}
    close(first, verbose=True)
    said = " ".join(capsys.readouterr().out.split())
    assert [each for each in ("population: ", "Pairs ", "cart < thief (p") if each not in said] == []


def test_population_is_the_metric_on_the_held_out_records(first, folder, people):
    values = []
    for parts in (folder / "first" / "split").glob("*.npy"):
        for held_out in np.load(parts) == 0:
            members, others = people()[~held_out], people()[held_out]
            values.append(METRICS["zero_cap"](members, others, **ROLES).value)
    cart = finding_of(first, "cart", KEYS[0])
    assert cart.population.value == pytest.approx(np.mean(values), abs=1e-12)
    assert cart.yardsticks["population"].difference.value == pytest.approx(cart.risk.value - np.mean(values), abs=1e-12)


@pytest.mark.parametrize("name", WHOLE)
def test_yardsticks_of_records_that_nothing_is_guessed_of_are_those_of_a_direct_call(whole, folder, people, name):
    (parts,) = (folder / "whole" / "split").glob("*.npy")
    held_out, real = np.load(parts)[0] == 0, people()
    (own,) = (m for m in WHOLE_STUDY["metrics"] if m["name"] == name)
    options = {"control": real[held_out]} | {k: v for k, v in own.items() if k != "name"}
    found = METRICS[name](real[~held_out], real[~held_out], **options)
    finding = finding_of(whole, "thief", name)
    assert list(finding.yardsticks) == [y for y in ("guess", "control", "population") if y in found.details]
    assert "population" in finding.yardsticks
    assert finding.risk.value == pytest.approx(found.value, abs=1e-12)
    for yardstick, each in finding.yardsticks.items():
        assert each.success.value == pytest.approx(found.details[yardstick], abs=1e-12)
        plain = METRICS[name].records.contribution == "score" and each.difference.method != ADJUSTED
        if yardstick == "control" and not plain:
            continue  # of a direct call it is the plain difference of scores
        for part, key in ((each.gain, "gain"), (each.difference, "difference")):
            assert part.value == pytest.approx(found.details[f"{yardstick}_{key}"], abs=1e-9)
            if name != "authenticity":  # right or wrong, and yet crossed in a study: its value is no mean of scores
                ends = [found.details[f"{yardstick}_{'gain_' * (key == 'gain')}{end}"] for end in ("lower", "upper")]
                assert [part.lower, part.upper] == pytest.approx(ends, abs=1e-9)


def test_yardsticks_of_whole_records_are_in_mlflow_json_and_report(whole):
    found = told_of(whole)
    populations = {
        (row["synthesizer"], row["measure"]): row for row in found["yardsticks"] if row["yardstick"] == "population"
    }
    assert set(populations) == {("thief", name) for name in WHOLE}
    measures, page = tabled(whole, "thief", "measures").set_index("measure"), Path(whole.report).read_text()
    for name in WHOLE:
        assert measures.loc[name, "population"] == pytest.approx(populations["thief", name]["success"], abs=1e-9)
        assert populations["thief", name]["difference_lower"] <= populations["thief", name]["difference"]
    assert np.isnan(measures.loc["membership", "population"])
    assert page.count("<td>population</td>") == len(WHOLE)


def test_power_runs_leaks_and_names_the_one_that_is_seen(run, capsys):
    outcome = run(
        "powerful", references=["copy", "fresh"], power={"shares": [0.2, 0.6]}, metrics=["zero_cap"],
        split={"folds": 2, "repetitions": 1}, thresholds={"memorization/zero_cap.income": 0.99},
        tracking={"records": "none"},
    )  # fmt: skip
    power = outcome.result.powers["zero_cap.income"]
    assert [share for share, _ in power.seen] == [0.2, 0.6]
    (verdict,) = outcome.result.verdicts
    assert verdict.word == "CANNOT TELL"
    assert "even a full copy reaches only" in verdict.reason  # no copy of these people reaches .99
    assert set(runs_of(outcome)) == {"cart", "copy", "fresh", "leaky-20pct", "leaky-60pct", "study"}
    assert len(tabled(outcome, "study", "power")) == 2
    close(outcome, verbose=True)
    assert f"zero_cap.income {power.leak}" in " ".join(capsys.readouterr().out.split())


def test_same_study_twice_gives_the_same_numbers_and_computes_nothing_again(first, again, folder):
    second, written = again
    assert second.result.study_id != first.result.study_id
    assert (numbers(second), stamps(folder / "first")) == (numbers(first), written)
    assert len(written) == 2 * 6 * 2  # a release and a ledger of five generators and the population yardstick, twice


def test_ledgers_are_the_same_with_one_worker_and_after_a_kill_which_costs_nothing_that_was_done(
    first, alone, folder, resumed
):
    one, two = ledgers(folder / "alone"), ledgers(folder / "first")
    assert one.keys() == two.keys()
    for key, frame in one.items():
        pd.testing.assert_frame_equal(frame, two[key], check_exact=True)
    assert (resumed.code, resumed.tracked) == (-signal.SIGKILL, False)
    assert 2 <= len([k for k in resumed.kept if k.startswith("ledgers/")]) < 12
    now = stamps(folder / "alone")
    assert ({k: now[k] for k in resumed.kept}, numbers(resumed.outcome)) == (resumed.kept, numbers(first))


def test_a_failed_synthesizer_is_marked_its_text_is_private_and_others_finish(broken, folder, secret, capsys):
    assert (broken.result.exit_code, set(broken.result.failures)) == (1, {"breaks"})
    assert {f.synthesizer for f in broken.result.findings} == {"cart", "copy"}
    runs = runs_of(broken)
    assert {n: r.info.status for n, r in runs.items()} == {
        "cart": "FINISHED", "copy": "FINISHED", "breaks": "FAILED", "study": "FAILED",
    }  # fmt: skip
    assert runs["breaks"].data.tags["verdict"] == "FAILED"
    reason = broken.result.failures["breaks"]
    assert [each for each in ("ValueError in generators.py, line", "in breaks") if each not in reason] == []
    kept = Path(reason.rpartition(" is in ")[2])
    assert kept.is_relative_to(folder / "broken" / "failures")
    assert secret in kept.read_text()
    assert oct(kept.stat().st_mode & 0o777) == "0o600"
    close(broken)
    said = capsys.readouterr().out
    assert [each for each in ("FAILED", "ValueError") if each not in said] == []
    assert secret not in said


@pytest.fixture(scope="session")
def awkward(run, folder, settings):
    rng = np.random.default_rng(3)
    n = 120
    table = pd.DataFrame({
        "person": np.arange(n) // 2 + 10**18,
        "größe [cm] <b>": np.where(rng.random(n) < 0.2, np.nan, rng.normal(170, 9, n).round(1)),
        "a.b/c: \"d\" 'e' #f": rng.choice(["<script>alert(1)</script>", "x,y", "", "NA", "z"], n),
        "flag": rng.random(n) < 0.5, "when": pd.date_range("2020-01-01", periods=n, freq="h").astype(str),
        "huge": rng.integers(0, 9, n) + 2**62, "constant": 1, "[/bold] ü": rng.choice(["ja", "nein"], n),
        "[/bold] ö": rng.choice(["ja", "nein", "vielleicht"], n),
    })  # fmt: skip
    table.to_csv(folder / "awkward.csv", index=False)
    data = {"quasi_identifiers": "*", "sensitive": ["[/bold] ü", "[/bold] ö"], "identifier": "person"}
    files = str(folder / "parts" / "train-{repetition}-{fold}.csv")
    parts = {
        "data": data | {"source": str(folder / "awkward.csv")},
        "split": {"folds": 2, "repetitions": 1, "stratify": "[/bold] ö"},
        "synthesizers": ["cart", {"name": "vendor", "kind": "files", "path": files}], "references": ["marginals"],
        "metrics": [*RUN["metrics"], "distance_to_closest_record", "generalized_cap", "membership"],
        "thresholds": {"risk/rapid.[/bold] ü": 0.5, "risk/rapid.[/bold] ö": 0.5},
    }  # fmt: skip
    write_parts(load(settings(folder / "awkward", folder / "awkward.csv", **parts)), folder / "parts", "csv")
    return run("awkward", "awkward.csv", **parts)


def test_an_awkward_table_is_measured_and_its_names_are_printed(awkward, capsys):
    assert awkward.result.failures == {}
    assert len({(f.synthesizer, f.measure.key) for f in awkward.result.findings}) == 3 * (3 * 2 + 3)
    lost = {f.measure.metric for f in awkward.result.findings if not np.isfinite(f.risk.value)}
    assert lost <= {"nearest_neighbour_distance_ratio"}
    close(awkward, verbose=True)
    assert "rapid.[/bold] ü" in capsys.readouterr().out


def test_of_a_person_with_two_rows_one_is_claimed(awkward):
    found = {f.synthesizer: f for f in awkward.result.findings if f.measure.key == "membership"}
    for finding in found.values():
        assert np.isfinite([finding.risk.value, finding.risk_control.value, finding.memorization.lower]).all()
        assert finding.details["attempts"][0] == 60
    assert found["vendor"].memorization.value > found["cart"].memorization.value


def test_a_release_from_a_file_is_the_file_without_identifier_and_entities_stay_on_one_side(awkward, folder):
    vendor, cart = (finding_of(awkward, name, "zero_cap.[/bold] ü").risk.value for name in ("vendor", "cart"))
    assert vendor > cart
    releases = [pd.read_parquet(path) for path in folder.glob("awkward/releases/*/release.parquet")]
    assert {len(release) for release in releases} <= {58, 60, 62}
    assert not any("person" in release for release in releases)
    assert "person" not in pd.read_csv(folder / "parts" / "train-0-0.csv").columns
    for path in (folder / "awkward" / "split").glob("*.npy"):
        parts = np.load(path)
        assert (parts[:, ::2] == parts[:, 1::2]).all()


def test_prefect_has_runs_logs_and_the_failure_but_no_cell(first, broken, prefect_database, secret):
    time.sleep(3)  # logs and events are written in batches
    prefect_dump = dump(prefect_database)
    wanted = (b"synthesize breaks, repetition 1, fold 1", b'INSERT INTO "log"', b"CellError")
    assert [each for each in wanted if each not in prefect_dump] == []
    assert [part[:40] for part in prefect_dump.split(b"\nINSERT INTO ") if holds(part, secret)] == []
