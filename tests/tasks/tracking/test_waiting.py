"""What a store does not take waits in the workspace: runs are whole or marked, none is left running or there twice."""

import errno
import pickle
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from samples import judged
from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.benchmark import deliver_studies
from synthrisk.metrics import InputError
from synthrisk.metrics.intervals.value_scale import MetricTransform, ValueScale
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


def judged_study(*given, names=("cart",)):
    """Return a study of which few runs are logged."""
    return judged.of_these(judged.judged_study(*given), *names)


def say(folder: Path, statement: str) -> None:
    """Say something to the database of the store itself."""
    with closing(sqlite3.connect(folder / "mlflow.db")) as database, database:
        database.execute(statement)


def runs_in(folder: Path) -> list:
    client = MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    return client.search_runs([e.experiment_id for e in client.search_experiments()])


@pytest.fixture
def table(tmp_path):
    """A table in the workspace."""
    return store(pd.DataFrame({"age": [1, 2, 3], "income": pd.Categorical(["a", "b", "a"])}), tmp_path)


def store_that_goes(folder: Path, runs: int) -> None:
    """Make a store that takes so many runs and no more."""
    opened(f"sqlite:///{folder / 'mlflow.db'}")
    say(folder, GOES.format(runs=runs))


def test_a_study_that_is_there_in_part_is_marked_waits_and_is_delivered_whole_and_once(tmp_path, table, logged_of):
    store_that_goes(tmp_path, 2)
    with pytest.raises(NotLoggedError) as half:
        logged_of(judged_study(FIRST, names=("cart", "coarse")), table, tmp_path)
    there = runs_in(tmp_path)
    assert len(there) == 2
    assert {run.info.status for run in there} <= {"FINISHED", "FAILED"}
    assert all(FIRST in run.data.tags["incomplete"] for run in there)
    assert ids_waiting(tmp_path) == [FIRST]
    assert str(half.value).startswith(f"not logged yet: `synthrisk log {FIRST} --workspace ")
    assert half.value.logged.runs == {}
    assert studies(Tracking(), tmp_path, "people") == []
    assert str(pickle.loads(pickle.dumps(half.value))) == str(half.value)

    say(tmp_path, "DROP TRIGGER gone")
    kept = (tmp_path / "unlogged" / f"{FIRST}.json").read_bytes()
    logged = deliver(tmp_path, FIRST)
    runs = runs_in(tmp_path)
    assert len(runs) == len(logged.runs) + 1
    assert {run.info.run_id for run in runs} > set(logged.runs.values())
    assert not any("incomplete" in run.data.tags for run in runs)
    assert {run.info.status for run in runs} <= {"FINISHED", "FAILED"}
    assert ids_waiting(tmp_path) == []
    assert [study.study_id for study in studies(Tracking(), tmp_path, "people")] == [FIRST]
    with pytest.raises(InputError, match=f"the study must be one that waits .* got '{FIRST}'"):
        deliver(tmp_path, FIRST)

    (tmp_path / "unlogged" / f"{FIRST}.json").write_bytes(kept)  # as where a process ends after its last word
    assert deliver(tmp_path, FIRST).runs == logged.runs
    assert len(runs_in(tmp_path)) == len(logged.runs) + 1
    assert ids_waiting(tmp_path) == []


def test_offline_asks_no_store_and_a_later_study_stays_the_latest(tmp_path, table, logged_of):
    told = logged_of(judged_study(FIRST), table, tmp_path, offline=True)
    assert (told.waits, told.runs, (tmp_path / "mlflow.db").exists()) == ("offline", {}, False)
    time.sleep(0.05)
    logged_of(judged_study(SECOND, {"cart": 0.05, "coarse": 0.02}), table, tmp_path)
    assert deliver_all(tmp_path) == {FIRST: None}
    assert [study.study_id for study in studies(Tracking(), tmp_path, "people")] == [FIRST, SECOND]
    latest = latest_study(Tracking(), tmp_path, "people")
    assert latest is not None
    assert latest.study_id == SECOND
    note = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}").get_experiment_by_name("people").tags
    assert SECOND in note["mlflow.note.content"].partition(":")[0]


def test_one_that_another_process_is_about_is_left_to_it(tmp_path, table, logged_of):
    logged_of(judged_study(FIRST), table, tmp_path, offline=True)
    with held(tmp_path, FIRST) as ours:
        assert ours
        assert deliver(tmp_path, FIRST) is None
        assert deliver_all(tmp_path) == {}
    assert ids_waiting(tmp_path) == [FIRST]


def test_a_server_that_does_not_answer_is_told_in_seconds(tmp_path, table, logged_of):
    logged_of(judged_study(FIRST), table, tmp_path, offline=True, tracking_uri="http://127.0.0.1:9")
    assert isinstance(deliver_all(tmp_path)[FIRST], NotLoggedError)
    with pytest.raises(NotLoggedError, match="not logged yet"):
        deliver(tmp_path, FIRST)
    assert ids_waiting(tmp_path) == [FIRST]


class Calls:
    """What somebody else might put there."""

    def __init__(self, function, *given):
        self.called = function, given

    def __reduce__(self):
        return self.called


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
    again = moved(found, tmp_path)
    keep_waiting(again)
    assert not earlier.exists()
    assert as_json(Waiting, read_waiting(tmp_path, FIRST)) == as_json(Waiting, again)


def moved(waiting: Waiting, folder: Path) -> Waiting:
    """Return a study as it would be kept in another workspace."""
    estimated = waiting.judged.estimated
    sample = replace(estimated.sample, workspace=str(folder))
    return replace(waiting, judged=replace(waiting.judged, estimated=replace(estimated, sample=sample)))


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


def test_a_study_of_another_form_says_what_to_do_and_keeps_no_other_back(tmp_path, table, logged_of):
    for each in (FIRST, SECOND):
        logged_of(judged_study(each), table, tmp_path, offline=True)
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


def test_a_study_without_its_report_is_logged_all_the_same(tmp_path, table, logged_of):
    logged = logged_of(judged_study(FIRST), table, tmp_path, pages=Pages("", {}, "CellError"))
    assert len(runs_in(tmp_path)) == len(logged.runs) + 1
    assert replace(logged.pages, failure="") == Pages("")


class Drawing:
    """Pages that are drawn beside what is logged."""

    def __init__(self, folder, error=None):
        self.folder, self.error, self.runs_before = folder, error, []

    def __call__(self):
        there = runs_in(self.folder) if (self.folder / "mlflow.db").exists() else []
        self.runs_before.append([run.data.tags.get("synthesizer", "study") for run in there])
        if self.error:
            raise self.error
        (self.folder / "drawn.html").write_text("drawn", "utf-8")
        return Pages(str(self.folder / "drawn.html"))


def report_in(folder):
    (study,) = [run for run in runs_in(folder) if run.data.tags["role"] == "study"]
    client = MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    if "report.html" not in [each.path for each in client.list_artifacts(study.info.run_id)]:
        return None
    return Path(client.download_artifacts(study.info.run_id, "report.html")).read_text("utf-8")


def test_pages_are_waited_for_once_and_after_all_else_is_written(tmp_path, table, logged_of):
    pages = Drawing(tmp_path)
    logged = logged_of(judged_study(FIRST), table, tmp_path, pages=pages)
    assert [sorted(each) for each in pages.runs_before] == [sorted([*logged.runs, "study"])]
    assert logged.pages == Pages(str(tmp_path / "drawn.html"))
    assert report_in(tmp_path) == "drawn"
    assert ids_waiting(tmp_path) == []


def test_where_runs_are_to_hold_pages_these_are_waited_for_first(tmp_path, table, logged_of):
    pages = Drawing(tmp_path)
    logged_of(judged_study(FIRST), table, tmp_path, pages=pages, records="full")
    assert pages.runs_before == [[]]


def test_what_is_kept_for_later_is_kept_with_its_pages(tmp_path, table, logged_of):
    pages = Drawing(tmp_path)
    told = logged_of(judged_study(FIRST), table, tmp_path, pages=pages, offline=True)
    assert (told.pages.report, len(pages.runs_before)) == (str(tmp_path / "drawn.html"), 1)
    assert read_waiting(tmp_path, FIRST).pages == told.pages
    deliver(tmp_path, FIRST)
    assert report_in(tmp_path) == "drawn"


def test_a_store_that_goes_does_not_take_the_pages_along(tmp_path, table, logged_of):
    store_that_goes(tmp_path, 1)
    pages = Drawing(tmp_path)
    with pytest.raises(NotLoggedError) as error:
        logged_of(judged_study(FIRST), table, tmp_path, pages=pages)
    assert error.value.logged.pages == read_waiting(tmp_path, FIRST).pages == Pages(str(tmp_path / "drawn.html"))
    assert len(pages.runs_before) == 1


@pytest.mark.parametrize("error", [MlflowException("no"), KeyError()])
def test_pages_that_fail_keep_no_number_from_the_store_and_are_not_its_fault(tmp_path, table, logged_of, error):
    pages = Drawing(tmp_path, error)
    logged = logged_of(judged_study(FIRST), table, tmp_path, pages=pages)
    assert logged.pages.failure
    assert not logged.pages.report
    assert len(pages.runs_before) == 1
    assert len(runs_in(tmp_path)) == len(logged.runs) + 1
    assert not any("incomplete" in run.data.tags for run in runs_in(tmp_path))
    assert (report_in(tmp_path), ids_waiting(tmp_path)) == (None, [])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), full(OSError(errno.ENOSPC, "no room"))])
def test_an_end_while_pages_are_drawn_leaves_a_study_that_is_delivered_with_them(tmp_path, table, logged_of, error):
    with pytest.raises(type(error)):
        logged_of(judged_study(FIRST), table, tmp_path, pages=Drawing(tmp_path, error))
    left = runs_in(tmp_path)
    assert {run.info.status for run in left} <= {"FINISHED", "FAILED"}
    assert all(FIRST in run.data.tags["incomplete"] for run in left)
    assert ids_waiting(tmp_path) == [FIRST]
    if not isinstance(error, KeyboardInterrupt):
        return  # what is delivered does not know why it waits
    logged = deliver(tmp_path, FIRST)
    assert not {run.info.run_id for run in runs_in(tmp_path)} & {run.info.run_id for run in left}
    assert len(runs_in(tmp_path)) == len(logged.runs) + 1
    own = Path(logged.pages.report).read_text("utf-8")
    assert own.replace('"record.html"', '"1_record.html"') == report_in(tmp_path)  # its name in the store
    assert ids_waiting(tmp_path) == []


def test_what_is_neither_pages_nor_a_function_is_refused_before_anything_is_kept(tmp_path, table, logged_of):
    with pytest.raises(InputError, match="pages must be Pages or a function that returns them, got str"):
        logged_of(judged_study(FIRST), table, tmp_path, pages="report.html")
    assert ids_waiting(tmp_path) == []


def test_a_function_that_returns_no_pages_costs_the_pages_alone(tmp_path, table, logged_of):
    logged = logged_of(judged_study(FIRST), table, tmp_path, pages=lambda: None)
    assert logged.pages == Pages("", {}, "pages must be a function that returns Pages, got NoneType of it")
    assert len(runs_in(tmp_path)) == len(logged.runs) + 1


@pytest.fixture
def interrupted(tmp_path, table, logged_of):
    """A study that was interrupted while its pages were drawn."""
    with pytest.raises(KeyboardInterrupt):
        logged_of(judged_study(FIRST), table, tmp_path, pages=Drawing(tmp_path, KeyboardInterrupt()))
    assert read_waiting(tmp_path, FIRST).pages is None


def test_pages_that_end_the_process_are_not_drawn_a_second_time(tmp_path, interrupted, monkeypatch):
    calls = []

    def ends(judged, settings):
        calls.append(settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "fn", ends)
    with pytest.raises(KeyboardInterrupt):
        deliver(tmp_path, FIRST)
    assert deliver_all(tmp_path) == {FIRST: None}
    assert len(calls) == 1
    assert report_in(tmp_path) is None
    assert not any("incomplete" in run.data.tags for run in runs_in(tmp_path))


def test_nothing_is_drawn_for_a_store_that_does_not_answer(tmp_path, interrupted, monkeypatch):
    monkeypatch.setattr(sys.modules["synthrisk.tasks.log"], "answers", lambda uri: False)
    monkeypatch.setattr(report, "fn", lambda judged, settings: pytest.fail("drawn"))
    with pytest.raises(NotLoggedError, match="not logged yet"):
        deliver(tmp_path, FIRST)
    assert read_waiting(tmp_path, FIRST).pages is None


def test_a_page_that_cannot_be_drawn_later_is_said(tmp_path, interrupted, monkeypatch, capsys):
    def breaks(judged, settings):
        raise RunError("ValueError in plots.py")

    monkeypatch.setattr(report, "fn", breaks)
    deliver_studies(FIRST, tmp_path)
    said = capsys.readouterr()
    assert f"logged: study {FIRST}" in said.out
    assert "its report is not written: ValueError in plots.py" in said.err
