"""The course of a study: independent ends are under way beside each other, and a fault of one leaves the others."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from synthrisk.conf.loader import load
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.study_course import course, sample_of
from synthrisk.tasks.tracking.store_outage import ids_waiting


@dataclass(frozen=True, eq=False)
class Asked:
    name: str
    own: object
    noted: list[str]

    def has_ended(self, seconds=0.0):
        return self.own.has_ended(seconds)

    def failure(self):
        self.noted.append(f"{self.name} is waited for")
        return self.own.failure()

    def result(self):
        return self.own.result()


@dataclass(frozen=True)
class Noted(PlainCalls):
    noted: list[str] = field(default_factory=list)
    found_again: bool = False

    def submit(self, task, *arguments, how=None, **named):
        self.noted.append(task.fn.__name__)
        own = super().submit(task, *[getattr(each, "own", each) for each in arguments], **named)
        return Asked(task.fn.__name__, own, self.noted)

    def call(self, task, *arguments, **named):
        self.noted.append(task.fn.__name__)
        return super().call(task, *arguments, **named)

    def here(self):
        return replace(self, found_again=True)


@pytest.fixture
def ordered(folder, settings):
    def run(calls, name, **parts):
        study = load(settings(folder / name, folder / "people.csv", name=name, **({"metrics": ["zero_cap"]} | parts)))
        course(study, sample_of(study), calls)
        return calls.noted

    return run


def logged(folder, name, wanted=""):
    client = MlflowClient(f"sqlite:///{folder / name / 'mlflow.db'}")
    return client, client.search_runs([client.get_experiment_by_name(name).experiment_id], wanted)


def test_pages_are_waited_for_while_the_study_is_logged_and_only_where_workers_draw_them(ordered, folder):
    first = ordered(Noted(), "beside")
    assert first.index("report") < first.index("expose") < first.index("log") < first.index("report is waited for")
    again = ordered(Noted(), "beside", tracking={"log_again": True})  # findings are found again: pages are drawn here
    assert again.index("report is waited for") < again.index("log")
    client, runs = logged(folder, "beside", "tags.role = 'study'")
    pages = [Path(client.download_artifacts(run.info.run_id, "report.html")).read_text("utf-8") for run in runs]
    assert len(pages) == 2
    assert all(run.data.tags["study_id"] in page for run, page in zip(runs, pages, strict=True))
    assert ids_waiting(folder / "beside") == []


def test_a_study_of_claims_alone_which_expose_no_record_is_logged(ordered, folder):
    ordered(Noted(), "claims", metrics=["singling_out"])
    client, runs = logged(folder, "claims")
    assert not any("incomplete" in run.data.tags for run in runs)
    kept = {run.data.tags["role"]: [a.path for a in client.list_artifacts(run.info.run_id, "records")] for run in runs}
    assert (kept["synthesizer"], ids_waiting(folder / "claims")) == (["records/ledger.parquet"], [])
