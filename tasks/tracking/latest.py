"""The latest study of an experiment: where its pages are."""

from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Run

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.address import store_of
from synthrisk.tasks.tracking.links import run_link, view_link
from synthrisk.tasks.tracking.past import experiment_named, is_whole, last_run
from synthrisk.tasks.tracking.tags import CHECKED_AGAIN

REPORT = "report.html"


@dataclass(frozen=True)
class Latest:
    """A study, as far as its pages are to be found."""

    experiment: str
    experiment_id: str
    study_id: str
    run_id: str
    report: Path | None  # the page in the workspace, or None where it is not there

    def view(self, server: str) -> str:
        """Return the address of the study's saved view."""
        return view_link(server, self.experiment_id, self.study_id)

    def kept_report(self, server: str) -> str:
        """Return the address of the report among the artifacts of its run."""
        return run_link(server, self.experiment_id, self.run_id, REPORT)


def latest_study(tracking: Tracking, workspace: Path, experiment: str | None) -> Latest | None:
    """Return the latest study of an experiment, or of all; None where none is given and there is none.

    Raises:
        InputError: The store is not there, or has no experiment or no study of this name.
    """
    client = MlflowClient(store_of(tracking, workspace))
    every = [experiment_named(client, experiment)] if experiment is not None else client.search_experiments()
    names = {str(each.experiment_id): str(each.name) for each in every}
    run = _last(client, list(names))
    if run is None:
        if experiment is None:
            return None
        raise InputError(f"the experiment must have a finished study, got none in {experiment!r}")
    study_id = run.data.tags.get("study_id", "")
    report = workspace / "reports" / study_id / REPORT
    place = str(run.info.experiment_id)
    return Latest(names[place], place, study_id, run.info.run_id, report if report.is_file() else None)


def _last(client: MlflowClient, experiments: list[str]) -> Run | None:
    own = "tags.role = 'study'"
    written = client.search_runs(experiments, own, max_results=100, order_by=["start_time DESC"])
    checked, newest = f"{own} and tags.{CHECKED_AGAIN} LIKE '%'", [f"tags.{CHECKED_AGAIN} DESC"]
    again = client.search_runs(experiments, checked, max_results=100, order_by=newest)
    return max(filter(is_whole, [*written, *again]), key=last_run, default=None)
