import errno
import math
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from samples import judged
from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.benchmark import deliver_studies
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.intervals.value_scale import MetricTransform, ValueScale
from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.log import NotLoggedError, deliver, deliver_all
from synthrisk.tasks.report import report
from synthrisk.tasks.tracking.addresses import Pages
from synthrisk.tasks.tracking.history import latest_study, studies
from synthrisk.tasks.tracking.store import opened
from synthrisk.tasks.tracking.store_outage import Waiting, held, ids_waiting, keep_waiting, read_waiting
from synthrisk.tasks.workspace.failures import RunError, full
from synthrisk.tasks.workspace.records import as_json
from synthrisk.tasks.workspace.references import store

FIRST, SECOND = "20261123-013609-1ddbd6", "20261124-013609-2ddbd6"
GOES = """CREATE TRIGGER gone BEFORE INSERT ON runs WHEN (SELECT count(*) FROM runs) >= {runs}
BEGIN SELECT RAISE(ABORT, 'the store has gone'); END"""


def study_of(study_id=FIRST, memorized=None, names=("cart",)):
    """Return a study of which few runs are logged."""
    return judged.of_these(judged.judged_study(study_id, memorized), *names)


def say(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "mlflow.db")) as database, database:
        database.execute(statement)


def client_of(folder: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")


def runs_in(folder: Path) -> list:
    client = client_of(folder)
    return client.search_runs([e.experiment_id for e in client.search_experiments()])


def is_whole(folder: Path, logged) -> bool:
    """Tell whether all runs of a study are there once, and nothing waits."""
    runs = runs_in(folder)
    assert {run.info.run_id for run in runs} > set(logged.runs.values())
    assert {run.info.status for run in runs} <= {"FINISHED", "FAILED"}
    assert not any("incomplete" in run.data.tags for run in runs)
    assert ids_waiting(folder) == []
    return len(runs) == len(logged.runs) + 1


def is_there_in_part(folder: Path) -> list:
    there = runs_in(folder)
    assert {run.info.status for run in there} <= {"FINISHED", "FAILED"}
    assert all(FIRST in run.data.tags["incomplete"] for run in there)
    assert ids_waiting(folder) == [FIRST]
    return there


@pytest.fixture
def log(tmp_path, logged_of):
    table = store(pd.DataFrame({"age": [1, 2, 3], "income": pd.Categorical(["a", "b", "a"])}), tmp_path)
    return lambda study=None, **options: logged_of(study or study_of(), table, tmp_path, **options)


def store_that_goes(folder: Path, runs: int) -> None:
    opened(f"sqlite:///{folder / 'mlflow.db'}")
    say(folder, GOES.format(runs=runs))


def test_a_study_that_is_there_in_part_is_marked_waits_and_is_delivered_whole_and_once(tmp_path, log):
    store_that_goes(tmp_path, 2)
    with pytest.raises(NotLoggedError) as half:
        log(study_of(names=("cart", "coarse")))
    assert len(is_there_in_part(tmp_path)) == 2
    assert str(half.value).startswith(f"not logged yet: `synthrisk log {FIRST} --workspace ")
    assert (half.value.logged.runs, studies(Tracking(), tmp_path, "people")) == ({}, [])
    assert str(pickle.loads(pickle.dumps(half.value))) == str(half.value)

    say(tmp_path, "DROP TRIGGER gone")
    kept = (tmp_path / "unlogged" / f"{FIRST}.json").read_bytes()
    logged = deliver(tmp_path, FIRST)
    assert is_whole(tmp_path, logged)
    assert [study.study_id for study in studies(Tracking(), tmp_path, "people")] == [FIRST]
    with pytest.raises(InputError, match=f"the study must be one that waits .* got '{FIRST}'"):
        deliver(tmp_path, FIRST)

    (tmp_path / "unlogged" / f"{FIRST}.json").write_bytes(kept)  # as where a process ends after its last word
    assert deliver(tmp_path, FIRST).runs == logged.runs
    assert is_whole(tmp_path, logged)


def test_offline_asks_no_store_pages_are_kept_for_one_process_to_deliver_and_a_later_study_stays_the_latest(
    tmp_path, log
):
    pages = Drawing(tmp_path)
    told = log(pages=pages, offline=True)
    assert (told.waits, told.runs, (tmp_path / "mlflow.db").exists()) == ("offline", {}, False)
    assert (told.pages.report, len(pages.runs_before)) == (str(tmp_path / "drawn.html"), 1)
    assert read_waiting(tmp_path, FIRST).pages == told.pages
    with held(tmp_path, FIRST) as ours:  # another process is about it
        assert (ours, deliver(tmp_path, FIRST), deliver_all(tmp_path)) == (True, None, {})
    log(study_of(SECOND, {"cart": 0.05, "coarse": 0.02}))
    assert deliver_all(tmp_path) == {FIRST: None}
    assert report_in(tmp_path, FIRST) == "drawn"
    assert [study.study_id for study in studies(Tracking(), tmp_path, "people")] == [FIRST, SECOND]
    latest = latest_study(Tracking(), tmp_path, "people")
    assert latest is not None
    assert latest.study_id == SECOND
    note = client_of(tmp_path).get_experiment_by_name("people").tags["mlflow.note.content"]
    assert SECOND in note.partition(":")[0]


def test_a_server_that_does_not_answer_is_told_in_seconds(tmp_path, log):
    log(offline=True, tracking_uri="http://127.0.0.1:9")
    assert isinstance(deliver_all(tmp_path)[FIRST], NotLoggedError)
    with pytest.raises(NotLoggedError, match="not logged yet"):
        deliver(tmp_path, FIRST)
    assert ids_waiting(tmp_path) == [FIRST]


class Calls:
    def __init__(self, *called):
        self.called = called

    def __reduce__(self):
        return self.called[0], self.called[1:]


EARLIER = Path(__file__).with_name("kept_by_0_2_0.study")
"""What version 0.2.0 has kept of one finding of distance_to_closest_record, and itself could not read."""


@pytest.fixture
def earlier(tmp_path):
    """A workspace in which an earlier version has kept a study; gives the file."""
    (tmp_path / "unlogged").mkdir()
    return Path(shutil.copyfile(EARLIER, tmp_path / "unlogged" / f"{FIRST}.study"))


def test_what_an_earlier_version_has_kept_is_read_with_the_names_of_functions(tmp_path, earlier):
    assert ids_waiting(tmp_path) == [FIRST]
    found = read_waiting(tmp_path, FIRST)
    (finding,) = found.judged.result.findings
    assert finding.risk.scale == ValueScale(0.0, 1.0, MetricTransform("distance_to_closest_record"))
    assert (finding.risk.value, finding.risk.lower) == (0.5723641190593006, 0.5439515214935619)
    assert (found.pages, found.experiment) == (Pages("", {"cart": "c.html"}, "no disk"), "people")
    sample = replace(found.judged.estimated.sample, workspace=str(tmp_path))
    again = replace(found, judged=replace(found.judged, estimated=replace(found.judged.estimated, sample=sample)))
    keep_waiting(again)
    assert not earlier.exists()
    assert as_json(Waiting, read_waiting(tmp_path, FIRST)) == as_json(Waiting, again)


@pytest.mark.parametrize(
    "held", [Calls(Path.touch, Path("touched")), Calls(TemporaryDirectory, "touched"), Calls(print), {"no": "study"}]
)
def test_what_we_did_not_keep_is_not_run(tmp_path, earlier, monkeypatch, capsys, held):
    monkeypatch.chdir(tmp_path)
    earlier.write_bytes(pickle.dumps(held))
    with pytest.raises(InputError, match=f"log it with the version that kept it, or run .* delete .*{FIRST}.study"):
        read_waiting(tmp_path, FIRST)
    assert [path.name for path in tmp_path.iterdir()] == ["unlogged"]
    assert capsys.readouterr().out == ""


def test_a_study_of_another_form_says_what_to_do_and_keeps_no_other_back(tmp_path, log):
    for each in (FIRST, SECOND):
        log(study_of(each), offline=True)
    for text, told in (
        ("", "synthrisk that is not named there has kept"),
        ('{"synthrisk": "9.9", "study": {"form": "new"}}', r"got what synthrisk 9\.9 has kept"),
    ):
        (tmp_path / "unlogged" / f"{FIRST}.json").write_text(text)
        with pytest.raises(InputError, match=f"{told}.* run the study again; to give it up, delete .*{FIRST}.json"):
            read_waiting(tmp_path, FIRST)
    with pytest.raises(InputError, match=told):
        deliver_studies(None, tmp_path)
    assert ids_waiting(tmp_path) == [FIRST]


@pytest.mark.parametrize(("pages", "told"), [
    (Pages("", {}, "CellError"), "CellError"),
    (lambda: None, "pages must be a function that returns Pages, got NoneType of it"),
])  # fmt: skip
def test_a_study_without_its_report_is_logged_all_the_same(tmp_path, log, pages, told):
    logged = log(pages=pages)
    assert logged.pages == Pages("", {}, told)
    assert is_whole(tmp_path, logged)


class Drawing:
    def __init__(self, folder, error=None):
        self.folder, self.error, self.runs_before = folder, error, []

    def __call__(self):
        there = runs_in(self.folder) if (self.folder / "mlflow.db").exists() else []
        self.runs_before.append([run.data.tags.get("synthesizer", "study") for run in there])
        if self.error:
            raise self.error
        (self.folder / "drawn.html").write_text("drawn", "utf-8")
        return Pages(str(self.folder / "drawn.html"))


def report_in(folder, study_id=FIRST):
    every = [run for run in runs_in(folder) if run.data.tags["role"] == "study"]
    (study,) = [run for run in every if run.data.tags["study_id"] == study_id]
    client = client_of(folder)
    if "report.html" not in [each.path for each in client.list_artifacts(study.info.run_id)]:
        return None
    return Path(client.download_artifacts(study.info.run_id, "report.html")).read_text("utf-8")


@pytest.mark.parametrize(("records", "before"), [("hashed", ["cart", "study"]), ("full", [])])
def test_pages_are_waited_for_once_after_all_else_unless_runs_are_to_hold_them(tmp_path, log, records, before):
    pages = Drawing(tmp_path)
    logged = log(pages=pages, records=records)
    assert [sorted(each) for each in pages.runs_before] == [before]
    assert logged.pages == Pages(str(tmp_path / "drawn.html"))
    assert is_whole(tmp_path, logged)
    assert report_in(tmp_path) == "drawn"


def test_a_store_that_goes_does_not_take_the_pages_along(tmp_path, log):
    store_that_goes(tmp_path, 1)
    pages = Drawing(tmp_path)
    with pytest.raises(NotLoggedError) as error:
        log(pages=pages)
    assert error.value.logged.pages == read_waiting(tmp_path, FIRST).pages == Pages(str(tmp_path / "drawn.html"))
    assert len(pages.runs_before) == 1


@pytest.mark.parametrize("error", [MlflowException("no"), KeyError()])
def test_pages_that_fail_keep_no_number_from_the_store_and_are_not_its_fault(tmp_path, log, error):
    pages = Drawing(tmp_path, error)
    logged = log(pages=pages)
    assert logged.pages.failure
    assert (logged.pages.report, len(pages.runs_before)) == ("", 1)
    assert is_whole(tmp_path, logged)
    assert report_in(tmp_path) is None


def test_what_is_neither_pages_nor_a_function_is_refused_before_anything_is_kept(tmp_path, log):
    with pytest.raises(InputError, match="pages must be Pages or a function that returns them, got str"):
        log(pages="report.html")
    assert ids_waiting(tmp_path) == []


def left_of(folder, log, error):
    """Return the runs that are left of a study that ends while its pages are drawn."""
    with pytest.raises(type(error)):
        log(pages=Drawing(folder, error))
    return is_there_in_part(folder)


def test_a_full_disk_while_pages_are_drawn_leaves_a_study_that_waits(tmp_path, log):
    assert left_of(tmp_path, log, full(OSError(errno.ENOSPC, "no room")))


@pytest.fixture
def interrupted(tmp_path, log):
    left = left_of(tmp_path, log, KeyboardInterrupt())
    assert read_waiting(tmp_path, FIRST).pages is None
    return left


def test_one_that_was_interrupted_is_delivered_with_pages_that_are_drawn_once_its_store_answers(
    tmp_path, interrupted, monkeypatch
):
    with monkeypatch.context() as away:
        away.setattr(sys.modules["synthrisk.tasks.log"], "answers", lambda uri: False)
        away.setattr(report, "fn", lambda judged, settings: pytest.fail("drawn"))
        with pytest.raises(NotLoggedError, match="not logged yet"):
            deliver(tmp_path, FIRST)
    assert read_waiting(tmp_path, FIRST).pages is None
    logged = deliver(tmp_path, FIRST)
    assert is_whole(tmp_path, logged)
    assert not {run.info.run_id for run in runs_in(tmp_path)} & {run.info.run_id for run in interrupted}
    own = Path(logged.pages.report).read_text("utf-8")
    assert own.replace('"record.html"', '"1_record.html"') == report_in(tmp_path)  # its name in the store


def test_pages_that_end_the_process_are_not_drawn_a_second_time(tmp_path, interrupted, monkeypatch):
    ends = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(report, "fn", ends)
    with pytest.raises(KeyboardInterrupt):
        deliver(tmp_path, FIRST)
    assert (deliver_all(tmp_path), ends.call_count) == ({FIRST: None}, 1)
    assert report_in(tmp_path) is None
    assert not any("incomplete" in run.data.tags for run in runs_in(tmp_path))


def test_a_page_that_cannot_be_drawn_later_is_said(tmp_path, interrupted, monkeypatch, capsys):
    monkeypatch.setattr(report, "fn", Mock(side_effect=RunError("ValueError in plots.py")))
    deliver_studies(FIRST, tmp_path)
    said = capsys.readouterr()
    assert f"logged: study {FIRST}" in said.out
    assert "its report is not written: ValueError in plots.py" in said.err


PLUGIN = '''
import numpy as np
import pandas as pd
from synthrisk.metrics import Metric, Records, Score
from synthrisk.metrics.score import Reduction

def near(tables):
    """Return exp(-mean distance) to the nearest released value: on a scale of its own."""
    own, other = (t[tables.columns[0]].to_numpy(float) for t in (tables.real, tables.synthetic))
    far = np.abs(own[:, None] - other[None, :]).min(axis=1)
    records = pd.DataFrame({"score": np.exp(-far), "far": far}, index=tables.real.index)
    return Score.of("acme_near", records, reduce(records), {}, {})

def reduce(records):
    value = float(np.exp(-records["far"].mean()))
    return Reduction(value, value, {})

records = Records(reduce, mean=False, contribution="far", transform=lambda mean: float(np.exp(-mean)))
NEAR = Metric(name="acme_near", function=near, group="distance", reference="ACME", records=records)
'''
STUDY = """
import os, signal, sys, warnings

import numpy as np
import pandas as pd

from synthrisk.metrics import METRICS
from synthrisk.tasks import attack, estimate, judge, log, sample, synthesize
from synthrisk.tasks.tracking.addresses import Pages

warnings.simplefilter("ignore")
OPTIONS = {
    "train_synthetic_test_real": {"model": "logistic"},
    "rapid": {"attacker": "logistic"},
    "linkability": {"columns_a": ["age", "city"], "columns_b": ["illness"]},
    "singling_out": {"attempts": 20},
}
rng = np.random.default_rng(1)
table = pd.DataFrame({"age": rng.integers(20, 60, 120), "city": rng.choice(["Ulm", "Aalen"], 120)})
table["income"] = rng.normal(30, 9, 120).round(1) + table["age"]
table["illness"] = np.where(rng.random(120) < 0.3, "none", rng.choice(["flu", "cold"], 120))
people = sample.fn(table, ["age", "city"], ["illness"], folds=2, workspace=sys.argv[1])
metrics = [{"name": name, **OPTIONS.get(name, {})} for name, metric in METRICS.items() if metric.installed]
ledgers = [
    attack.fn(synthesize.fn(people, kind, fold=k), metrics)
    for kind in ("cart", "copy") for k in range(2)
]
judged = judge.fn(estimate.fn(ledgers, resamples=100), {"memorization/zero_cap": 0.05}, name="all")
log.fn(judged, experiment="at once", pages=Pages(""))
log.fn(judged, pages=lambda: os.kill(os.getpid(), signal.SIGKILL))
"""
DELIVER = "from synthrisk.flows.cli.app import main; main()"


def python(*given, plugin=None):
    path = {} if plugin is None else {"PYTHONPATH": str(plugin)}
    return subprocess.run([sys.executable, "-c", *given], env=os.environ | path, capture_output=True, text=True)


@pytest.mark.proof
def test_one_of_every_metric_whose_process_is_killed_waits_for_its_plugin_and_is_delivered_with_its_numbers(tmp_path):
    plugin, workspace = tmp_path / "plugin", tmp_path / "w"
    facts = plugin / "acme_near-1.0.dist-info"
    facts.mkdir(parents=True)
    (plugin / "acme_near.py").write_text(PLUGIN)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-near\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[synthrisk.metrics]\nacme_near = acme_near:NEAR\n")
    ended = python(STUDY, str(workspace), plugin=plugin)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    (study_id,) = ids_waiting(workspace)

    with pytest.raises(InputError, match="can be logged where the plug-in is installed that gives acme_near, got none"):
        read_waiting(workspace, study_id)
    said = python(DELIVER, "log", "--workspace", str(workspace))
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"Error: study {study_id} can be logged where the plug-in is installed")
    assert (said.stderr.count("\n"), ids_waiting(workspace)) == (1, [study_id])

    kept = (workspace / "unlogged" / f"{study_id}.json").read_text("utf-8")
    for name in [*(n for n, metric in METRICS.items() if metric.installed), "acme_near"]:
        assert f'"metric":"{name}"' in kept
    transformed = [n for n, metric in METRICS.items() if metric.records.transform is not None]
    assert len(transformed) >= 3
    for name in [*transformed, "acme_near"]:
        assert f'"transform":{{"metric":"{name}"}}' in kept
    said = python(DELIVER, "log", "--workspace", str(workspace), plugin=plugin)
    assert said.stdout.startswith(f"logged: study {study_id} in sqlite:"), said.stderr
    assert (said.returncode, said.stderr) == (0, "")
    assert ids_waiting(workspace) == []
    at_once, late = (numbers_of(workspace, name) for name in ("at once", "all"))
    assert {name for name, _ in late} == {"study", "cart", "copy"}
    assert at_once.keys() == late.keys()
    differ = {key: (v, late[key]) for key, v in at_once.items() if v != late[key]}
    assert {key for key, told in differ.items() if not all(map(math.isnan, told))} == set()
    measured = {key.partition("/")[2] for name, key in late if name == "cart"}
    assert {Measure("acme_near", "acme_near").key, *transformed} <= measured


def numbers_of(workspace: Path, experiment: str) -> dict[tuple[str, str], float]:
    """Return the numbers of the whole runs of an experiment, by synthesizer and name."""
    client = client_of(workspace)
    runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    whole = {r.data.tags.get("synthesizer", "study"): r.data.metrics for r in runs if "incomplete" not in r.data.tags}
    return {(name, key): value for name, metrics in whole.items() for key, value in metrics.items()}
