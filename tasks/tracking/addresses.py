"""Addresses of the store, of MLflow pages, and of a finished study; to import this does not import MLflow."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from synthrisk.conf import Study, resolve
from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError

if TYPE_CHECKING:
    from synthrisk.tasks.tracking_block import SynthriskTracking

RECORD = "record.html"
"""The decision record, beside the report."""

FIRST = "1_record.html"
"""The decision record among the artifacts of a study, which MLflow lists by name: before all others."""

_RECORDS = ("none", "hashed", "full")  # each tracks more than the one before


def uri_of(tracking: Tracking) -> str | None:
    """Return the address that a study names, itself or through a block; None where it names none.

    Raises:
        InputError: There is no such block, or a variable is not set.
    """
    if tracking.block:
        return resolve(_block(tracking.block).uri.get_secret_value())
    return resolve(tracking.uri) if tracking.uri else None


def with_block(study: Study) -> Study:
    """Return a study with the workspace of its block, if that has one, and with no more of records than it allows.

    Raises:
        InputError: There is no such block.
    """
    if not study.tracking.block:
        return study
    workspace = _block(study.tracking.block).workspace or study.workspace
    return study.model_copy(update={"tracking": allowed(study.tracking), "workspace": workspace})


def allowed(tracking: Tracking) -> Tracking:
    """Return where results go with no more of single records than the block allows.

    Raises:
        InputError: There is no such block.
    """
    if not tracking.block:
        return tracking
    records = min(tracking.records, _block(tracking.block).records, key=_RECORDS.index)
    return tracking.model_copy(update={"records": records})


def _block(name: str) -> "SynthriskTracking":
    from synthrisk.tasks.tracking_block import SynthriskTracking

    try:
        found = SynthriskTracking.load(name, _sync=True)  # type: ignore[call-arg]  # Prefect adds it to both kinds
    except ValueError:
        raise InputError(
            f"tracking.block must name a block of Prefect of the type SynthriskTracking, got {name!r}, which is none"
        ) from None
    return cast("SynthriskTracking", found)


def store_address(tracking: Tracking, workspace: Path) -> str:
    """Return where runs go: what the study or its block names, or SQLite in the workspace."""
    return uri_of(tracking) or f"sqlite:///{workspace.absolute() / 'mlflow.db'}"


def store_of(tracking: Tracking, workspace: Path) -> str:
    """Return the address of the store that a study has logged to."""
    if not tracking.uri and not (workspace / "mlflow.db").exists():
        raise InputError(f"the workspace must hold a study's results, got none in {workspace}; run synthrisk benchmark")
    return store_address(tracking, workspace)


_ML = "workflowType=machine_learning"  # without it an experiment opens on a page about traces


def view_link(server: str, experiment_id: str, key: str, *, charts: bool = False) -> str:
    """Return the address of a saved view: its table, or its charts."""
    shown = "&compareRunsMode=CHART" if charts else ""
    return f"{server}/#/experiments/{experiment_id}/runs?{_ML}&viewStateShareKey={quote(key)}{shown}"


def compare_link(server: str, experiment_id: str, runs: Sequence[str]) -> str:
    """Return the address of the page that compares runs."""
    given = (quote(json.dumps(list(ids), separators=(",", ":"))) for ids in (runs, [experiment_id]))
    return f"{server}/#/compare-runs?{_ML}&runs={next(given)}&experiments={next(given)}"


def run_link(server: str, experiment_id: str, run_id: str, artifact: str = "") -> str:
    """Return the address of the page of a run, or of one of its artifacts."""
    place = f"/artifacts/{quote(artifact)}" if artifact else ""
    return f"{server}/#/experiments/{experiment_id}/runs/{run_id}{place}?{_ML}"


def own_runs(study_id: str) -> str:
    """Return the filter that leaves the generators' runs of one study."""
    return f"tags.study_id = '{study_id}' and tags.role != 'study'"


_USUAL = ".synthrisk"  # the workspace of commands that name none


@dataclass(frozen=True)
class Pages:
    """Where the pages of a study are: its report, and a page of exposure a synthesizer."""

    report: str  # its path; empty where it could not be written
    exposures: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""  # why there is no report


@dataclass(frozen=True)
class Logged:
    """Where a study is: MLflow store (without user and password), experiment, run ids by synthesizer, and pages."""

    uri: str
    experiment_id: str
    study_id: str  # of the study that has these runs
    runs: dict[str, str]
    pages: Pages
    experiment: str = ""  # name of the experiment
    workspace: str = ""  # folder in which all that the study has made is kept
    waits: str = ""  # why it is not logged yet, so that it has no runs; empty where it is
    checked_again: bool = False  # whether these are the runs of an earlier study, which gave the same answer
    run: str = ""  # id of the study's own run, which has its pages; empty where that is not known

    def view_link(self, server: str, *, charts: bool = False) -> str:
        """Return the address of this study's saved view, the page to open first: its table, or its charts."""
        return view_link(server, self.experiment_id, self.study_id, charts=charts)

    def page_link(self, server: str) -> str:
        """Return the address of the report among the artifacts of the study's own run; empty where that is unknown."""
        known = self.run and self.pages.report
        return run_link(server, self.experiment_id, self.run, "report.html") if known else ""


def same_answer(logged: Logged) -> str:
    """Return the line that says that a study has written nothing new, and how it would."""
    marked = f"the same answer as study {logged.study_id}: its runs in MLflow are marked as checked again"
    return f"{marked}, and nothing new is written (--log-again writes it)"


def not_logged_yet(logged: Logged) -> str:
    """Return the line that says how a study comes into MLflow that is not there, and why it is not."""
    command = ["synthrisk", "log", logged.study_id]
    near = os.path.relpath(logged.workspace)
    if near != _USUAL:
        command += ["--workspace", logged.workspace if near.startswith("..") else near]
    return f"not logged yet: `{shlex.join(command)}`" + (f" ({logged.waits})" if logged.waits else "")
