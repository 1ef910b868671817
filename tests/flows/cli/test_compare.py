"""``synthrisk compare``: it says what the studies have said, whole at 80 columns, and what has become worse."""

import html
import io
import json
import os
import re
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from rich.cells import cell_len

from samples.judged import of_these
from synthrisk.flows.terminal.columns import league_cells
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult, league, overview
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.tracking.tables import FILE
from synthrisk.tasks.workspace.references import store

LIMITED, LOST = Measure("zero_cap", "zero_cap", "a@b"), Measure("cap", "zero_cap", "ü")
FREE, USEFUL = Measure("rapid", "rapid", "a"), Measure("accuracy", "accuracy")
RISK, NONE = Estimate(0.6, 0.5, 0.7), replace(NOT_ESTIMABLE, note="no class")
MEMORIZED = Estimate(0.125, 0.1, 0.15)


def finding(name, role, measure, memorized=MEMORIZED):
    if measure == LOST:
        return Finding(name, role, measure, NONE, NONE, NONE)
    return Finding(name, role, measure, RISK, Estimate(0.25, 0.2, 0.3), memorized)


def verdict(measure, word, quantity="risk", name="cart"):
    found, limit = (MEMORIZED, 0.05) if quantity == "memorization" else (RISK, 0.5)
    return Verdict(name, f"{quantity}/{measure.key}", limit, word, "because", found.value, found.lower, found.upper)


SETTINGS = {
    "cart": {"role": "synthesizer", "kind": "cart"}, "broken": {"role": "synthesizer", "kind": "callable"},
    "fresh": {"role": "reference", "kind": "fresh"}, "copy": {"role": "reference", "kind": "copy"},
}  # fmt: skip
FINDINGS = [finding(n, s["role"], m) for n, s in SETTINGS.items() if n != "broken" for m in (LIMITED, FREE, LOST)]
STUDY = StudyResult(
    "20260101-000000-aaaaaa", "people", FINDINGS, [],
    [verdict(LIMITED, "NO EVIDENCE"), verdict(LIMITED, "RISK", "memorization"), verdict(LOST, "INCONCLUSIVE")],
    {"broken": "KeyError in [x].py"},
    limits={
        f"{q}/{m.key}": Limit(value, "board")
        for q, m, value in (("risk", LIMITED, 0.5), ("memorization", LIMITED, 0.05), ("risk", LOST, 0.5))
    },
    settings=SETTINGS, answers={"fresh": "ideal", "copy": "copy"},
    facts={"data_digest": "d1", "records": "3", "interval": "moderated, 0.95"},
    utility=[
        Usefulness(n, s["role"], USEFUL, Estimate(0.8, 0.7, 0.9), NOT_ESTIMABLE, Estimate(0.7, 0.6, 0.8))
        for n, s in SETTINGS.items() if n != "broken"
    ],
)  # fmt: skip

SMALL = of_these(STUDY, "cart")  # of which few runs are logged


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def say_of(monkeypatch, say):
    monkeypatch.setenv("COLUMNS", "80")

    def compare(workspace, *given, code=0):
        said = say("compare", "people", "--workspace", workspace, *given)
        assert said.code == code, said
        if code:
            return said.err
        if not {"--csv", "--json", "--markdown"} & set(given):
            is_whole(said.out, int(os.environ["COLUMNS"]))
        if "--csv" in given:
            return pd.read_csv(io.StringIO(said.out))
        return json.loads(said.out) if "--json" in given else said.out

    return compare


def stored(folder):
    return store(pd.DataFrame({"a": [1, 2, 3]}), folder)


@pytest.fixture(scope="module")
def usual(tmp_path_factory, logged_of):
    folder = tmp_path_factory.mktemp("usual")
    logged_of(STUDY, stored(folder), folder)
    return folder


@pytest.fixture
def shown(usual, say_of):
    return partial(say_of, usual)


@pytest.fixture
def compared(tmp_path, logged_of, say_of, empty_store):
    shutil.copy(empty_store, tmp_path / "mlflow.db")

    def compare(*given, code=0):
        studies = [each for each in given if isinstance(each, StudyResult)]
        for each in studies:
            logged_of(each, stored(tmp_path), tmp_path)
        return say_of(tmp_path, *given[len(studies) :], code=code)

    return compare


ON_LIMIT = re.compile(r"(RISK|NO EVIDENCE|INCONCLUSIVE|CANNOT TELL) on .*limit [\d.]+")


def below(printed, measure):
    told, name = {}, ""
    body = printed.partition(f"\n{measure}")[2].partition("─\n")[2].partition("limits: ")[0]
    for line in body.split("\n\n")[0].splitlines():
        if ON_LIMIT.fullmatch(line.strip()):
            told[name].append(line)
        else:
            name = line.split()[0]
            told[name] = []
    return told


def rows_of(printed, measure):
    _, _, below = printed.partition(f"\n{measure}")
    body = below.partition("─\n")[2]
    rows = [line for line in body.splitlines() if not ON_LIMIT.fullmatch(line.strip())]
    end = next((at for at, line in enumerate(rows) if len(re.split(r"  +", line.strip())) < 2), len(rows))
    return {(cells := re.split(r"  +", line.strip()))[0]: cells[1:] for line in rows[:end]}


def is_whole(printed, width):
    for line in printed.splitlines():
        assert len("".join(c for c in line if c not in "\u2066\u2067\u2068\u2069")) <= width, line
        assert "\x1b" not in line
    for found in re.findall(r"\[[-+.][^\]]*\]|\[\d+[.,][^\]]*\]", printed):
        assert re.fullmatch(r"\[[+-]?\d*\.\d{3}, [+-]?\d*\.\d{3}\]", found), found


def test_the_headline_is_that_of_the_study(shown):
    printed = shown()
    told = {h.synthesizer: h for h in overview(STUDY).headlines}
    body = printed.partition("─\n")[2].splitlines()[:4]
    rows = {(cells := re.split(r"  +", line.strip()))[0]: cells[1:] for line in body}
    assert list(rows) == list(told)
    assert rows["cart"] == ["RISK", "+.125 [+.100, +.150]", "memorization/zero_cap.a@b", ".800"]
    assert rows["cart"][0] == told["cart"].word
    assert rows["copy"][0] == rows["fresh"][0] == "reference"
    assert rows["broken"][0] == "FAILED"
    assert "FAILED   broken: KeyError in [x].py" in printed
    assert [each for each in ("no limit judges: rapid.a", "risk/zero_cap.a@b 0.5") if each not in printed] == []


def test_a_row_bears_the_verdict_on_its_own_measure_and_its_history_what_was_judged_beside_memorization(compared):
    limits = {f"risk/{LIMITED.key}": Limit(0.5, "board")}
    printed = compared(replace(SMALL, verdicts=[verdict(LIMITED, "NO EVIDENCE")], limits=limits), "--all")
    assert rows_of(printed, "zero_cap.a@b")["cart"][-1] == "NO EVIDENCE"
    for measure in ("rapid.a", "cap.ü"):
        assert rows_of(printed, measure)["cart"][-1] == "-"
    assert "NO EVIDENCE" not in compared("--measure", "rapid.a")
    head, _, table = compared("--history").partition(f"\nrisk/{LIMITED.key}\n")
    assert "people, 1 study" in head
    assert re.search(r"NO EVIDENCE +\.\d+ \[\.\d+, \.\d+\] +0\.5", table)
    memorized = head.partition(f"memorization of {LIMITED.key}\n")[2].split("\n\n")[0]
    assert "NO EVIDENCE" not in memorized  # no limit is on it, so that no word is


def test_a_measure_has_the_cells_of_the_study(shown):
    printed = shown("--all")
    for measure, own in league(STUDY).items():
        for row in (each for each in own if measure):
            assert rows_of(printed, measure)[row.synthesizer] == [c.plain for c in league_cells(row)]
    assert rows_of(printed, "accuracy")["cart"] == [".800 [.700, .900]", ".700"]


def test_words_on_what_the_table_does_not_show_are_told_with_it(compared):
    gain = replace(verdict(LIMITED, "INCONCLUSIVE", "control_gain"), value=0.2, lower=0.1, upper=0.3)
    printed = compared(replace(SMALL, verdicts=[gain]), "--measure", "zero_cap.a@b")
    assert "\nzero_cap.a@b  (limit 0.5 on control_gain)\n" in printed
    assert below(printed, "zero_cap.a@b")["cart"] == ["  INCONCLUSIVE on control_gain +.200 [+.100, +.300], limit 0.5"]
    measure = Measure("membership", "membership")
    names = ["hospital_one", "hospital_two"]
    found = [finding(n, "synthesizer", measure) for n in names]
    judged = [
        Verdict(names[0], "tpr/membership", 0.06, "RISK", "because", 0.0823, 0.0704, 0.1),
        Verdict(names[1], "tpr/membership", 0.06, "NO EVIDENCE", "because", 0.0123, 0.0104, 0.02),
    ]
    study = replace(
        SMALL, findings=found, verdicts=judged, limits={"tpr/membership": Limit(0.06, "board")},
        settings={n: {"role": "synthesizer", "kind": "cart"} for n in names}, failures={}, utility=[], answers={},
    )  # fmt: skip
    printed = compared(study, "--all")
    assert "\nmembership  (limit 0.06 on tpr)\n" in printed
    assert below(printed, "membership") == {
        names[0]: ["  RISK on tpr .082 [.070, .100], limit 0.06"],
        names[1]: ["  NO EVIDENCE on tpr .012 [.010, .020], limit 0.06"],
    }


def test_each_word_says_what_it_is_on_with_its_limit(shown):
    printed = shown("--all")
    assert "\nzero_cap.a@b  (limit 0.5 on risk, 0.05 on memorization)\n" in printed
    assert below(printed, "zero_cap.a@b") == {
        "cart": ["  RISK on memorization, limit 0.05", "  NO EVIDENCE on risk, limit 0.5"], "copy": [], "fresh": [],
    }  # fmt: skip
    assert below(printed, "rapid.a") == {"cart": [], "copy": [], "fresh": []}
    assert "\ncap.ü  (limit 0.5 on risk)\n" in printed
    assert below(printed, "cap.ü")["cart"] == []  # the one limit is on a number of the row
    told = shown("--json")["studies"][0]["measures"]
    on = {(row["synthesizer"], row["measure"]): row["on"] for row in told}
    assert on["cart", "zero_cap.a@b"] == "memorization/zero_cap.a@b"
    assert on["cart", "rapid.a"] == on["copy", "zero_cap.a@b"] == ""
    for more in ("--all", "--history"):
        rows = shown("--csv", more).set_index(["synthesizer", "measure"])
        assert rows.loc[("cart", "zero_cap.a@b"), "on"] == "memorization/zero_cap.a@b"
    marked = html.unescape(shown("--markdown", "--all"))
    assert "\nLimit 0.5 on risk, 0.05 on memorization.\n" in marked
    assert "\n* cart, memorization/zero_cap.a@b, limit 0.05: +.125 [+.100, +.150] RISK\n" in marked


def test_an_invalid_or_unjudged_study_says_so_first(compared, tmp_path):
    printed = compared(replace(SMALL, verdicts=[], limits={}))
    assert "No limits: no verdict. Nothing was judged." in printed
    assert re.search(r"cart +not judged", printed)
    assert "NO EVIDENCE" not in printed
    broken = Check("copy", "zero_cap.a@b", "is seen", False, "it was not")
    printed = compared(replace(SMALL, checks=[broken], verdicts=[]))
    assert "INVALID" in printed.partition("synthesizer")[0]
    assert re.search(r"cart +INVALID", printed)


def test_the_latest_study_is_shown(compared):
    later = replace(SMALL, study_id="20260102-000000-bbbbbb", findings=[f for f in SMALL.findings if f.measure == FREE])
    printed = compared(SMALL, replace(later, verdicts=[], limits={}), "--all")
    assert "20260102-000000-bbbbbb" in printed
    assert "zero_cap" not in printed


def test_csv_json_and_markdown_have_whole_tables_and_null(shown):
    rows = shown("--csv")
    assert list(rows["synthesizer"]) == [h.synthesizer for h in overview(STUDY).headlines]
    assert rows.set_index("synthesizer").loc["cart", "worst"] == 0.125
    every = shown("--csv", "--all")
    assert sorted(set(every["measure"])) == ["accuracy", "cap.ü", "rapid.a", "zero_cap.a@b"]
    one = every[(every["measure"] == "rapid.a") & (every["synthesizer"] == "cart")].iloc[0]
    assert (one["verdict"], one["memorization"]) == ("no limit", 0.125)
    told = shown("--json")
    assert told["experiment"] == "people"
    [study] = told["studies"]
    assert [g["synthesizer"] for g in study["generators"]] == [h.synthesizer for h in overview(STUDY).headlines]
    lost = next(m for m in study["measures"] if m["measure"] == "cap.ü" and m["synthesizer"] == "cart")
    assert lost["risk"] is None
    assert {v["word"] for v in study["verdicts"]} == {"NO EVIDENCE", "RISK", "INCONCLUSIVE"}
    assert study["facts"]["data_digest"] == "d1"
    lines = [line for line in shown("--markdown", "--all").splitlines() if line.startswith("|")]
    assert any("| cart | RISK | +.125 [+.100, +.150] |" in line for line in lines)
    assert all(line.endswith("|") for line in lines)


NAMES = [
    "<script>alert('x')</script>", 'say "hi" | [bold]loud[/bold]', "long " * 60, "long " * 59 + "tail", "مولد البيانات",
    "\x1b[31mred\x1b[0m\nnext", "日本語の名前がここにあります、とても長い名前です",
]  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("width", [80, 120])
def test_no_name_breaks_a_line_or_is_taken_for_markup(compared, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    names = NAMES + [f"generator_number_{n}_of_a_long_series" for n in range(13)]
    measure = Measure("rapid", "rapid", "x" * 290)
    study = replace(
        STUDY, findings=[finding(n, "synthesizer", measure) for n in names],
        verdicts=[verdict(measure, "RISK", "memorization", n) for n in names],
        limits={f"memorization/{measure.key}": Limit(0.05, "board")}, failures={}, utility=[],
        settings={n: {"role": "synthesizer", "kind": "cart"} for n in names},
    )  # fmt: skip
    printed = compared(study)
    lines = printed.partition("─\n")[2].partition("limits: ")[0].splitlines()
    body = [line for line in lines if "RISK" in line]
    assert len(body) == len(names) == 20
    assert all(re.match(r"RISK +\+\.125 \[\+\.100, \+\.150\]", line) for line in body), "names stand above numbers"
    assert all(cell_len(line) <= width for line in lines)
    assert "\x1b" not in printed
    beside = " " * body[0].index("memorization")
    shown, above = [], ""
    for line in (line for line in lines if not line.startswith(beside)):
        if line in body:
            shown.append(above.replace(" ", ""))
        above = "" if line in body else above + line
    for name in ("<script>alert('x')</script>", *names[-13:]):
        assert name in shown, "names fold, and are whole"
    assert len(set(shown)) >= 20, "names that look alike are told apart"
    assert len(compared("--csv")) == 20
    assert [g["synthesizer"] for g in compared("--json")["studies"][0]["generators"]] == names
    marked = compared("--markdown")
    rows = [line for line in marked.splitlines() if line.startswith("|")]
    assert (len(rows), len({line.count("|") for line in rows})) == (22, 1)
    assert "<script" not in marked


def contributions(shift, seed=0):
    noise, easy = np.random.default_rng(seed).normal(0, 0.01, 120), np.random.default_rng(7).random(40)
    table = pd.DataFrame({
        "synthesizer": "cart", "record": [f"r{i}" for i in range(40)] * 3, "repetition": np.repeat(range(3), 40),
        f"memorization/{LIMITED.key}": np.tile(easy, 3) + shift + noise,
    })  # fmt: skip
    value = table[f"memorization/{LIMITED.key}"].mean()
    return table, Estimate(value, value - 0.2, value + 0.2)


@pytest.fixture
def logged_with(compared, logged_of, tmp_path):
    def log(study_id, kept, found, measures=(LIMITED, FREE), **facts):
        own = [finding("cart", "synthesizer", measure, found) for measure in measures]
        study = replace(STUDY, study_id=study_id, findings=own, failures={}, utility=[], answers={})
        study = replace(study, settings={"cart": SETTINGS["cart"]}, facts=STUDY.facts | facts)
        logged_of(study, stored(tmp_path), tmp_path, log_again=True)
        client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
        experiment = client.get_experiment_by_name("people").experiment_id
        [run] = client.search_runs([experiment], f"tags.role = 'study' and tags.study_id = '{study_id}'")
        if kept is not None:
            kept.to_parquet(tmp_path / FILE)
            client.log_artifact(run.info.run_id, str(tmp_path / FILE))

    return log


def trend_of(compared, *given):
    return compared("--history", "--csv", *given).set_index("study_id")


def test_what_has_become_worse_is_flagged_record_by_record(compared, logged_with):
    for number, shift in enumerate((0.0, 0.0, 0.05, 0.0), 1):
        kept, found = contributions(shift, seed=number)
        logged_with(f"2026010{number}-000000-aaaaaa", kept, found)
    rows = trend_of(compared, "--measure", LIMITED.key)
    assert list(rows["flag"].fillna("")) == ["", "", "worse", "better"]
    assert list(rows["paired"].astype(str)) == ["nan", "True", "True", "True"]
    worse = rows.iloc[2]
    assert worse["change"] == pytest.approx(0.05, abs=0.01)
    assert 0 < worse["change_lower"] < worse["change"] < worse["change_upper"] < 0.1
    printed = compared("--history")
    assert re.search(r"\+\.0\d\d \[\+\.0\d\d, \+\.0\d\d\]  worse", printed)
    assert [each for each in ("record by record", "1 of 3 changes") if each not in printed] == []


@pytest.mark.parametrize(("second", "facts", "why"), [
    ("kept", {"data_digest": "d2"}, "other data"), ("none", {}, "what each record adds was not kept"),
    ("elsewhere", {}, "kept in another workspace"), ("other mean", {}, "the value is no mean over records"),
])  # fmt: skip
def test_where_records_cannot_be_paired_it_says_why(compared, logged_with, second, facts, why):
    kept, found = contributions(0.0)
    logged_with("20260101-000000-aaaaaa", kept, found)
    kept, found = contributions(0.05, seed=1)
    if second == "elsewhere":
        kept["record"] = "other " + kept["record"]
    if second == "other mean":
        found = replace(found, value=found.value + 0.1, upper=found.upper + 0.1)
    logged_with("20260102-000000-bbbbbb", None if second == "none" else kept, found, **facts)
    last = trend_of(compared, "--measure", LIMITED.key).iloc[-1]
    assert not last["paired"]
    assert why in last["why_not_paired"]
    assert last["change_upper"] - last["change_lower"] == pytest.approx(0.4 * np.sqrt(2), abs=0.11)
    assert f"two independent estimates: {why}" in " ".join(compared("--history").split())


@pytest.mark.parametrize(("methods", "changed"), [((None, "2"), [False, True]), (("2", "2"), [True, True])])
def test_numbers_of_a_changed_meaning_are_not_compared(compared, logged_with, methods, changed):
    found, measures = Estimate(0.1, 0.05, 0.15), (Measure("singling_out", "singling_out"), LIMITED)
    for number, version in enumerate(methods, 1):
        facts = {} if version is None else {"methods": version}
        logged_with(f"2026010{number}-000000-aaaaaa", None, found, measures, **facts)
    rows = compared("--history", "--csv").set_index("measure")
    last = rows[rows["study_id"].str.startswith("20260102")]
    assert last.loc[["singling_out", LIMITED.key], "change"].notna().tolist() == changed
    told = "the earlier number is of another meaning"
    assert last.loc["singling_out", "why_not_paired"].startswith(told) != changed[0]
    assert (f"not compared: {told}" in compared("--history", "--all")) != changed[0]


def test_one_study_has_nothing_to_compare_with(compared, logged_with):
    logged_with("20260101-000000-aaaaaa", *contributions(0.0))
    assert "one study: nothing to compare with" in compared("--history")
    assert compared("--history", "--json")["trend"][0]["change"] is None


def test_what_is_not_there_is_one_sentence_with_the_nearest_name(shown, usual, say):
    assert "did you mean 'rapid.a'?" in shown("--measure", "rapit.a", code=2)
    assert "did you mean 'people'?" in say("compare", "peeple", "--workspace", usual).err


def test_studies_of_an_earlier_version_are_told_of(compared, tmp_path):
    client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    experiment = client.create_experiment("people", (tmp_path / "artifacts").as_uri())
    run = client.create_run(experiment, tags={"role": "study", "study_id": "old"})
    client.set_terminated(run.info.run_id)
    assert "1 of an earlier version cannot be read" in compared(code=2)
    assert "people, study of" in compared(SMALL)


def test_the_history_of_memorization_has_its_word_and_limit(compared):
    limits = {f"memorization/{LIMITED.key}": Limit(0.05, "board")}
    judged = replace(SMALL, verdicts=[verdict(LIMITED, "INCONCLUSIVE", "memorization")], limits=limits)
    printed = compared(judged, "--history")
    memorized = printed.partition(f"memorization of {LIMITED.key}\n")[2].split("\n\n")[0]
    assert re.search(r"INCONCLUSIVE +\+?\.\d+ \[.*\] +0\.05", memorized)
