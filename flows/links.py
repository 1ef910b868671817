"""Where the pages of a finished study are, as addresses that a browser takes."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from synthrisk.flows.outcome import Outcome

SERVER = "http://127.0.0.1:5000"
"""Where ``synthrisk ui`` shows runs that are in no server."""


@dataclass(frozen=True)
class Links:
    """Addresses of a study's pages."""

    report: str  # a file of the machine that ran the study
    path: str  # the same as a path
    runs: str  # its runs in MLflow
    start: str  # the command that starts the server of ``runs``; empty where one runs


def links_of(outcome: Outcome) -> Links:
    """Return where the report and the runs of a study are."""
    report, uri = Path(outcome.report).absolute(), outcome.logged.uri
    is_server = uri.startswith("http")
    where = ["--workspace", str(report.parents[2])] if uri.startswith("sqlite:") else ["--tracking-uri", uri]
    return Links(
        report=report.as_uri(),
        path=str(report),
        runs=outcome.logged.view_link(uri if is_server else SERVER),
        start="" if is_server else shlex.join(["synthrisk", "ui", *where]),
    )
