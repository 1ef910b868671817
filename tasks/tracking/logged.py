"""Where a finished study is: its pages, and its runs in MLflow. Importing this does not import MLflow."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from synthrisk.tasks.tracking.links import compare_link, list_link, run_link, view_link

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

    def page_link(self, server: str, name: str = "report.html") -> str:
        """Return the address of a page of the study among the artifacts of its own run; empty where that is unknown."""
        return run_link(server, self.experiment_id, self.run, name) if self.run and self.pages.report else ""

    def compare_link(self, server: str) -> str:
        """Return the address of the page that compares the synthesizers' runs."""
        return compare_link(server, self.experiment_id, list(self.runs.values()))

    def list_link(self, server: str) -> str:
        """Return the address of the list and charts of this study's runs."""
        return list_link(server, self.experiment_id, self.study_id)


def same_answer(logged: Logged) -> str:
    """Return the line that says that a study has written nothing new, and how it would."""
    marked = f"the same answer as study {logged.study_id}: its runs in MLflow are marked as checked again"
    return f"{marked}, and nothing new is written (--log-again writes it)"


def not_logged_yet(logged: Logged) -> str:
    """Return the line that says how a study comes into MLflow that is not there, and why it is not."""
    command = ["synthrisk", "log", logged.study_id]
    if os.path.relpath(logged.workspace) != _USUAL:
        near = os.path.relpath(logged.workspace)
        command += ["--workspace", logged.workspace if near.startswith("..") else near]
    return f"not logged yet: `{shlex.join(command)}`" + (f" ({logged.waits})" if logged.waits else "")
