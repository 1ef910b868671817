"""Where the pages of a finished study are, as addresses that a browser takes."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from synthrisk.conf.secrets import mask
from synthrisk.flows.outcome import Outcome
from synthrisk.tasks.tracking.logged import not_logged_yet

SERVER = "http://127.0.0.1:5000"
"""Where ``synthrisk ui`` shows runs that are in no server."""


@dataclass(frozen=True)
class Links:
    """Addresses of a study's pages."""

    report: str  # a file of the machine that ran the study; empty where it could not be written
    path: str  # the same as a path
    runs: str  # its runs in MLflow; empty where it is not logged yet
    start: str  # the command that starts the server of ``runs``; empty where one runs
    waits: str  # the line that says how it comes into MLflow, where it is not logged yet


def links_of(outcome: Outcome) -> Links:
    """Return where the report and the runs of a study are."""
    report, logged = Path(outcome.report).absolute(), outcome.logged
    is_server = logged.uri.startswith("http")
    where = ["--tracking-uri", logged.uri]
    if logged.uri.startswith("sqlite:"):
        where = ["--workspace", str(outcome.workspace.absolute())]
    return Links(
        report=mask(report.as_uri()) if outcome.report else "",
        path=mask(str(report)) if outcome.report else "",
        runs="" if logged.waits else mask(logged.view_link(logged.uri if is_server else SERVER)),
        start="" if is_server or logged.waits else shlex.join(["synthrisk", "ui", *where]),
        waits=not_logged_yet(logged) if logged.waits else "",
    )
